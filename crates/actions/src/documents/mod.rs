//! Files of customers, and requests for them.

pub mod document_requests;
pub mod files;
pub mod previews;
