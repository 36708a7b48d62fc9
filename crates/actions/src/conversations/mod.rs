//! What people do with conversations, and what they see of them.

pub mod after_triage;
pub mod blocked_senders;
pub mod contacts;
pub mod corrections;
pub mod following;
pub mod merge_together;
pub mod merging;
pub mod open_conversation;
pub mod palette;
pub mod picture_senders;
pub mod pins;
pub mod saved_views;
pub mod search_hits;
pub mod side_column;
pub mod sidebar;
pub mod snooze;
pub mod tags;
pub mod timeline;
pub mod topics;
pub mod triage;
pub mod undo_triage;
