//! The mail doors: SMTP and LMTP.
//!
//! `mail::smtp` is the conversation as a machine fed bytes; `connection` runs one over a socket,
//! `listener` takes the connections, `tls` has the certificate. A mail is acknowledged when `inbox::inbound::ingest` has made it durable, never before.
//!
//! Deliberately absent: relaying, authentication of clients, delivery status requests, and trace
//! fields: a mail is kept exactly as it came.

mod connection;
mod limits;
mod listen_address;
mod listener;
mod refusals;
mod tls;

pub use limits::SmtpLimits;
pub use listen_address::{ListenAddress, Networks, SocketAccess, SocketMode, SystemGroup};
pub use listener::{MailListener, MailListeners};
pub use tls::{TlsCertificate, certificate};
