//! Mail that arrives: by SMTP and LMTP, from IMAP mailboxes and from services that send for us.

mod authentication;
pub mod imap;
mod services;
mod signed_services;
pub mod smtp;
