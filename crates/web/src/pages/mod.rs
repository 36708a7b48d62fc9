//! The pages of the app and the forms on them.

pub mod calendar;
pub mod calendar_grid;
pub mod contact;
pub mod conversation;
pub mod custom_fields;
pub mod lists;
pub mod mail_files;
pub mod recurrence_words;
pub mod reports;
pub mod signing_in;
pub mod writing;
