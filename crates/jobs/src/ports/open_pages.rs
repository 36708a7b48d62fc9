//! The port that knows which conversations people have open.

use base::ids::{ConversationId, UserId};

/// The pages that are open in browsers.
pub trait OpenPages: Send + Sync {
    /// True where a person has a conversation in front of them.
    fn has_open(&self, ws: i64, conversation: &ConversationId, person: &UserId, now: i64) -> bool;
}
