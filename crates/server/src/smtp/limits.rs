use std::time::Duration;

/// Every limit of the mail doors, by name. What goes beyond one is refused with a sentence.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a mail, told to senders as `SIZE`.
    pub message_bytes: usize,
    /// Bytes of all mails that are being taken in at once.
    pub bytes_at_once: usize,
    /// Mails that are being read and filed at once; further ones wait.
    pub mails_at_once: usize,
    /// Recipients of one mail.
    pub recipients: usize,
    /// Commands of one session.
    pub commands: usize,
    /// Mistakes of one session, recipients that do not exist included.
    pub errors: usize,
    /// Bytes of a command line.
    pub command_bytes: usize,
    /// How long a client may be silent.
    pub silence: Duration,
    /// How long a mail may take to be sent.
    pub message_time: Duration,
    /// How long a session may last.
    pub session_time: Duration,
    /// Connections of everybody.
    pub connections: usize,
    /// Connections of one address, or of one IPv6 network of 64 bits.
    pub connections_each: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            message_bytes: 25 * 1024 * 1024,
            bytes_at_once: 256 * 1024 * 1024,
            mails_at_once: 64,
            recipients: 100,
            commands: 10_000,
            errors: 20,
            command_bytes: 2_048,
            silence: Duration::from_secs(300),
            message_time: Duration::from_secs(900),
            session_time: Duration::from_secs(3_600),
            connections: 500,
            connections_each: 50,
        }
    }
}

/// Bytes of a mail that is refused are read no further than this many times the largest mail.
pub(super) const PATIENCE_WITH_LARGE: usize = 4;
