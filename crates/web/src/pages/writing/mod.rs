//! Where people write, and what waits to leave.

pub mod approvals;
pub mod compose;
pub mod composer;
pub mod new_conversation;
pub mod offer_form;
pub mod offer_times;
pub mod recipients;
pub mod request_documents;
pub mod request_form;
pub mod rich_text;
pub mod schedule_options;
pub mod scheduled;
pub mod secure_text;
pub mod unsent;
pub mod ways_to_write;
