//! Operations that write, send and stop messages.

pub(crate) mod discard_draft;
pub(crate) mod list_messages;
pub(crate) mod record_sent;
pub(crate) mod reply;
pub(crate) mod revoke_message;
pub(crate) mod start_conversation;
pub(crate) mod stop_message;
pub(crate) mod update_draft;
