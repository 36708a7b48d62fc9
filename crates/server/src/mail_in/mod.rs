//! Mail that comes in: SMTP, LMTP, IMAP, services that send mail for apps, and who wrote it.

pub mod authentication;
pub mod imap;
pub mod services;
pub mod smtp;
