//! Limits of the SMTP and LMTP listeners.

use std::time::Duration;

use mail::smtp::SessionLimits;

/// Every limit of the mail doors, by name.
#[derive(Clone, Debug)]
pub struct SmtpLimits {
    /// The limits of one session.
    pub session: SessionLimits,
    /// Bytes of all mails that are being taken in at once.
    pub bytes_at_once: usize,
    /// How long a client may be silent.
    pub silence: Duration,
    /// How long a mail may take to be sent.
    pub message_time: Duration,
    /// How long a session may last.
    pub session_time: Duration,
    /// Connections in total.
    pub connections: usize,
    /// Connections of one address, or of one IPv6 network of 64 bits.
    pub connections_each: usize,
}

impl Default for SmtpLimits {
    fn default() -> SmtpLimits {
        SmtpLimits {
            session: SessionLimits::default(),
            bytes_at_once: 256 * 1024 * 1024,
            silence: Duration::from_secs(300),
            message_time: Duration::from_secs(900),
            session_time: Duration::from_secs(3_600),
            connections: 500,
            connections_each: 50,
        }
    }
}
