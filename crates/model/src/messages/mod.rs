//! What a message consists of, and the drafts of the helper.

pub mod answers;
pub mod attachments;
pub mod draft_outcomes;
pub mod drafting_queue;
pub mod helper_drafts;
pub mod mail_language;
pub mod markdown_values;
pub mod originals;
pub mod placeholder_values;
pub mod placeholders;
pub mod recipients;
pub mod sealed_attachments;
pub mod send_effects;
pub mod send_failure;
pub mod signatures;
pub mod undo_time;
pub mod written_text;
