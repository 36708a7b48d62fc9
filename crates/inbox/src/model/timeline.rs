//! What happened in a conversation, beside its messages and notes.

use db::Tx;
use serde_json::Value;

use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{ConversationId, EventId};
use crate::base::string_enum::string_enum;

string_enum! {
    /// What ended a snooze, as `by` of the timeline event `woke`.
    WokenBy { Clock = "clock", Customer = "customer" }
}

/// Writes one line into the timeline: who did what.
pub fn note_event(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    event: &str,
    data: Value,
) -> Result<()> {
    tx.exec(
        "INSERT INTO timeline_events (ws, conversation, id, at, actor_name, event, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &cx.actor.ws,
            conversation,
            &EventId::new(cx.ids, cx.now),
            &cx.now,
            &cx.actor.name(),
            &event,
            &data.to_string(),
        ],
    )?;
    Ok(())
}
