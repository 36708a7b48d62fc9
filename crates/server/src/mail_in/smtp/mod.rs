//! The servers for incoming mail: SMTP and LMTP.
//!
//! `mail::smtp` is the protocol as a state machine without I/O; `connection` runs one over a socket,
//! `listener` accepts connections, `shared` counts them. A mail is
//! acknowledged after `inbound::ingest` has committed it, never before.
//!
//! Deliberately absent: relaying, authentication of clients, delivery status requests, and trace
//! fields: a mail is stored exactly as it arrived.

mod connection;
mod limits;
mod listener;
mod refusals;
mod shared;

pub use limits::SmtpLimits;
pub use listener::MailListener;
pub use refusals::start_refusal_counters;
pub use shared::MailListeners;
pub use transport::net::listen_address::ListenAddress;
