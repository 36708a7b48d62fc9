//! A small SMTP client (RFC 5321): one session with one server, which says of every recipient what
//! became of the mail. It is written by hand because the usual clients give up a whole mail at its
//! first refused recipient, and because exactly what a server has answered decides whether a mail
//! may be sent again.

mod extensions;
mod reply;
mod session;
mod stream;
mod text;
mod tls;

pub use session::{ConnectFailure, Dial, Login, Security, SmtpClientSession, TransactionOutcome};
pub use stream::SmtpTimeouts;
pub use tls::{checked, unchecked};
