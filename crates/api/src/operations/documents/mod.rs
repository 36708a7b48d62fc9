//! Operations on documents.

pub(crate) mod download_document;
pub(crate) mod read_document;
pub(crate) mod request_documents;
pub(crate) mod search_documents;
