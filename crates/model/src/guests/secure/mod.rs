//! Secure messages: words and files that are read on a page behind a mailed code, and stand nowhere
//! else. In `messages` they are rows that say only that they are protected, so whatever reads that
//! table (search, snippets, quotes, webhooks, mail) cannot tell more; `content` has the words, sealed.

mod answer_files;
mod answer_forms;
mod content;
mod life;
mod links;
mod page;
mod rules;

pub use answer_files::{ANSWER_BYTES, ANSWER_FILES, take_file};
pub use answer_forms::note_form;
pub use answer_forms::{EarlierAnswer, SENT_BEFORE, earlier_answer};
pub use content::{
    ProtectedContent, ProtectedFile, ProtectedState, file_bytes, load, seal_file, states,
};
pub use content::{forget, insert, replace, seal_file_as};
pub use life::{expire_after, is_open, note_sent, open_links, renew_links};
pub use life::{extend, mark_opened, request_link, revoke};
pub use links::{LinkState, SecureLink, code_subject, enter_code, link_at, link_of, request_code};
pub use links::{address, recipients_left, workspace_of_link};
pub use page::{PageAuthor, PageMessage, SecureFront, SecurePage, file_of_page, front, read};
pub use rules::{ALWAYS_SECURE, SecureSendOptions, days_of};
pub use rules::{SecureRules, SecureSenders, is_always_secure, may_protect, rules_of};

/// What stands where the words of a secure message would.
pub const PROTECTED: &str = "Protected message";
