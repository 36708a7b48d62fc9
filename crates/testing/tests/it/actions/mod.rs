//! What people do in the app and at the command line.

mod agent_replay;
mod answers;
mod contacts;
mod corrections;
mod inbox_access;
mod merging;
mod merging_together;
mod people;
mod races;
mod reading;
mod saved_replies;
mod seen;
mod send_later;
mod sending;
mod sent_twice;
mod snooze;
mod topics;
mod triage;
mod watching;
mod writing;
