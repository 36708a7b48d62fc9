//! What leaves: drafts, messages and when they leave, and the mails that follow from what happens.

pub mod agent_undo;
pub mod app_mail;
pub mod approval_links;
pub mod approval_mail;
pub mod away_reply;
pub mod chat_links;
pub mod chat_messages;
pub mod document_request;
pub mod drafts;
pub mod failed_messages;
pub mod link_mail;
pub mod messages;
pub mod own_drafts;
pub mod reminders;
pub mod removals;
pub mod satisfaction;
pub mod scheduling;
mod service_words;
pub mod services;
pub mod taking_back;
pub mod unusual_words;
