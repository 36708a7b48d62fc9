//! Mails as they came, and their files.

pub mod attached_mails;
pub mod document_requests;
pub mod documents;
pub mod files;
pub mod mail_frame;
mod mail_page;
pub mod originals;
pub mod previews;
pub mod scaled_pictures;
