//! A small SMTP client (RFC 5321): one session with one server, with an outcome for each recipient.
//! It is our own because the usual client libraries fail a whole mail at the first refused
//! recipient, and because the exact reply decides whether a mail may be retried.

mod extensions;
mod reply;
mod session;
mod stream;
mod text;
mod tls;

pub use session::{
    ConnectFailure, ConnectFault, Login, Security, SmtpClientSession, SmtpSessionConfig,
    TransactionOutcome,
};
pub use stream::SmtpTimeouts;
pub use tls::{opportunistic_config, verifying_config};
