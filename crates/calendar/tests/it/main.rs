//! What the crate promises, as rules.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod day_parts;
mod feeds;
mod holidays;
mod hostile;
mod hours;
mod invitations;
mod properties;
mod slots;
