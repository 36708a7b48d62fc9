//! Operations on what a workspace has beside conversations.

pub(crate) mod get_contact;
pub(crate) mod get_reports;
pub(crate) mod help;
pub(crate) mod list_calls;
pub(crate) mod list_events;
pub(crate) mod list_fields;
pub(crate) mod list_mailboxes;
pub(crate) mod list_rules;
pub(crate) mod list_team;
pub(crate) mod me;
pub(crate) mod pause_agent;
pub(crate) mod resume_agent;
pub(crate) mod sandbox_inbound;
pub(crate) mod search_answers;
pub(crate) mod set_contact_fields;
pub(crate) mod undo_agent;
