//! Limits of one SMTP session.

/// The limits of one session. Exceeding one is refused with a reply.
#[derive(Clone, Debug)]
pub struct SessionLimits {
    /// Bytes of a mail, announced as `SIZE`.
    pub message_bytes: usize,
    /// Recipients of one mail.
    pub recipients: usize,
    /// Commands of one session.
    pub commands: usize,
    /// Mistakes of one session, recipients that do not exist included.
    pub errors: usize,
    /// Bytes of a command line.
    pub command_bytes: usize,
}

impl Default for SessionLimits {
    fn default() -> SessionLimits {
        SessionLimits {
            message_bytes: 25 * 1024 * 1024,
            recipients: 100,
            commands: 10_000,
            errors: 20,
            command_bytes: 2_048,
        }
    }
}

/// Bytes of a mail that is refused are read no further than this many times the largest mail.
pub(super) const PATIENCE_WITH_LARGE: usize = 4;
