//! Mails as they came, and their files.

pub mod attached_mails;
pub mod document_requests;
pub mod documents;
pub mod files;
pub mod mail_frame;
pub mod originals;
pub mod previews;
