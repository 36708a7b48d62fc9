//! Mail that arrives: by SMTP and LMTP, from IMAP mailboxes and from services that send for us.

mod authentication;
mod imap;
mod services;
pub mod smtp;
