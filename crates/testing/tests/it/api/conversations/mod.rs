//! Operations on conversations.

mod add_note;
mod assign_conversation;
mod customer_panel;
mod get_conversation;
mod linked_items;
mod list_conversations;
mod list_rows;
mod set_fields;
mod set_sorting;
mod set_status;
mod start_conversation;
mod tag_conversation;
