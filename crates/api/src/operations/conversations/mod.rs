//! Operations on conversations.

pub(crate) mod add_note;
pub(crate) mod assign_conversation;
pub(crate) mod authors;
pub(crate) mod get_conversation;
pub(crate) mod get_customer_panel;
pub(crate) mod hand_over;
pub(crate) mod link_item;
pub(crate) mod list_conversations;
pub(crate) mod list_tags;
pub(crate) mod list_topics;
pub(crate) mod merge_conversations;
mod note_hits;
pub(crate) mod set_fields;
pub(crate) mod set_sorting;
pub(crate) mod set_status;
pub(crate) mod split_conversation;
pub(crate) mod tag_conversation;
pub(crate) mod undo;
pub(crate) mod unlink_item;
pub(crate) mod update_conversations;
pub(crate) mod warning;
