//! The mail doors: SMTP and LMTP.
//!
//! `session` is the conversation as a machine fed bytes, `command` and `content` what it reads;
//! `connection` runs one over a socket, `door` takes the connections, `tls` has the certificate.
//! A mail is acknowledged when `inbox::intake::take_in` has made it durable, never before.
//!
//! Deliberately absent: relaying, authentication of clients, delivery status requests, and trace
//! fields: a mail is kept exactly as it came.

mod command;
mod connection;
mod content;
mod door;
mod limits;
mod place;
mod session;
mod tls;

pub use door::{Door, Doors};
pub use limits::Limits;
pub use place::{Networks, Place};
pub use session::{Letter, Protocol, Session, Step};
pub use tls::certificate;
