//! What is made of whole mails that nobody tuned to.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod languages;
mod urgencies;
