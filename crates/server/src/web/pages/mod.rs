//! The pages of the app and the forms on them.

pub(crate) mod approvals;
pub(crate) mod asking;
pub(crate) mod compose;
pub(crate) mod conversation;
pub(crate) mod files;
pub(crate) mod inbox_page;
pub(crate) mod leaving;
pub(crate) mod library;
pub(crate) mod mentions;
pub(crate) mod originals;
pub(crate) mod previews;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod search_page;
pub(crate) mod sign_in;
pub(crate) mod timeline;
