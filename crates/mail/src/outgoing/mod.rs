//! Mail that leaves: its body, its bytes, its signature.

pub mod compose;
pub mod dkim;
pub mod mail_look;
pub mod message_body;
