//! What people write: composers, approvals, answers.

mod answers;
mod approvals;
mod asking;
mod compose;
mod composers;
mod interrupted;
mod send_later;
