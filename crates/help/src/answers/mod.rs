//! The pages of the app on which the team writes what it knows.

pub mod form;
pub mod history;
pub mod list;
mod word_changes;
