//! What is removed, or put in order, after a time.

pub(crate) mod empty_trash;
pub(crate) mod erase_deleted;
pub(crate) mod expire_events;
pub(crate) mod index_maintenance;
pub(crate) mod rebuild_index;
pub(crate) mod retire_conversations;
pub(crate) mod upload_cleanup;
