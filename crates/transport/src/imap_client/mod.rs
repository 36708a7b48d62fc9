//! A client for IMAP servers: connecting with TLS, signing in, and reading a folder.

mod connection;
mod dialer;
mod failures;
mod folder;
mod folder_name;
mod framing;
mod transport;
mod trial;

pub use connection::{ImapConnection, ImapCredential};
pub use dialer::Dialer;
pub use failures::{ImapFault, ImapTimeouts};
pub use folder::{Folder, MailOutline};
pub use transport::ImapWire;
pub use trial::try_out;
