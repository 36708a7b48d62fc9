//! What people write: replies, drafts, answers.

pub mod answer_files;
pub mod answer_folder;
pub mod answer_from_reply;
pub mod answer_pages;
pub mod answers;
pub mod approvals;
pub mod approve_by_mail;
pub mod autosaves;
pub mod completion;
pub mod compose;
pub mod drafts;
pub mod library;
pub mod pressed_buttons;
pub mod saved_replies;
pub mod secure_messages;
pub mod seen;
pub(crate) mod sent_before;
pub mod unsent_files;
