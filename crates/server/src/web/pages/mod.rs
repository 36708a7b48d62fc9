//! The pages of the app and the forms on them.

pub(crate) mod approvals;
pub(crate) mod compose;
pub(crate) mod composer;
pub(crate) mod conversation;
pub(crate) mod conversation_list;
pub(crate) mod document_requests;
pub(crate) mod documents;
pub(crate) mod files;
pub(crate) mod inbox_page;
pub(crate) mod list_query;
pub(crate) mod mentions;
pub(crate) mod originals;
pub(crate) mod previews;
pub(crate) mod recipients;
pub(crate) mod request_documents;
pub(crate) mod request_form;
pub(crate) mod scheduled;
pub(crate) mod search;
pub(crate) mod sign_in;
pub(crate) mod timeline;
pub mod welcome;
