//! What people write: composers, approvals, answers.

mod answers;
mod approvals;
mod approve_by_mail;
mod asking;
pub(super) mod compose;
mod composers;
mod interrupted;
mod send_later;
