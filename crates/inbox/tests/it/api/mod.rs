//! What a key may ask for, called as operations.

mod add_note;
mod assign_conversation;
mod cursor;
mod drafts;
mod get_conversation;
mod get_reports;
mod list_conversations;
mod list_events;
mod list_mailboxes;
mod list_messages;
mod list_rows;
mod list_team;
mod originals;
mod own_drafts;
mod record_sent;
mod reply;
mod request_documents;
mod sandbox;
mod search_answers;
mod search_documents;
mod send_later;
mod set_sorting;
mod set_status;
mod start_conversation;
mod stop_message;
mod tag_conversation;
