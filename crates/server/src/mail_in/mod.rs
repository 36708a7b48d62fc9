//! Incoming mail: SMTP, LMTP, IMAP, webhooks of sending services, and authentication of senders.

pub mod authentication;
pub mod imap;
pub mod services;
pub mod smtp;
