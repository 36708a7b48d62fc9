//! SMTP and LMTP (RFC 5321, RFC 2033) as a state machine without I/O: bytes in, next step out.

mod command;
mod content;
mod limits;
mod refusal;
mod refused_envelope;
mod session;

pub use limits::SessionLimits;
pub use refusal::{REASONS, SmtpRefusal};
pub use refused_envelope::RefusedEnvelope;
pub use session::{Protocol, RecipientReply, SmtpServerSession, SmtpStep, SmtpTransaction};
