//! What a key may ask for, called as operations.

mod agent_undo;
mod conversations;
mod cursor;
mod drafts;
mod get_reports;
mod hand_over;
mod list_calls;
mod list_events;
mod list_mailboxes;
mod list_messages;
mod list_team;
mod originals;
mod own_drafts;
mod record_sent;
mod reply;
mod request_documents;
mod sandbox;
mod search_answers;
mod search_documents;
mod send_failures;
mod send_later;
mod stop_message;
mod update_conversations;
mod webhooks;
