//! Moments in words and zones.

pub mod calendar_words;
pub mod local_times;
pub mod workspace_zone;
