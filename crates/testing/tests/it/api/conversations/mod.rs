//! Operations on conversations.

mod add_note;
mod assign_conversation;
mod get_conversation;
mod list_conversations;
mod list_rows;
mod set_sorting;
mod set_status;
mod start_conversation;
mod tag_conversation;
