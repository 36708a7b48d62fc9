//! When a document request is complete, and what is still missing.

use base::app::Cx;
use base::error::Result;
use base::ids::RequestId;
use base::states::Status;
use db::Tx;

use crate::conversations::timeline::{self, TimelineEvent, WokenBy};
use crate::conversations::{self, Conversation};
use crate::webhooks::events::{self, AskCompleted, AskKind};

/// A request is complete when every required item has an accepted upload; one with no required
/// item, when every item has one. The event is recorded once, and it becomes the team's turn, as
/// when the customer writes. Returns whether the request is complete.
pub fn complete_if_all_in(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    request: &RequestId,
) -> Result<bool> {
    if !missing(tx, cx.actor.ws, request)?.is_empty() {
        return Ok(false);
    }
    let news = tx.exec(
        "UPDATE document_requests SET completed_at = ?3, remind_at = NULL
         WHERE ws = ?1 AND id = ?2 AND completed_at IS NULL",
        &[&cx.actor.ws, request, &cx.now],
    )?;
    if news == 0 {
        return Ok(true);
    }
    let completed = TimelineEvent::Completed { request_id: request.clone() };
    timeline::record(tx, cx, &conversation.id, &completed)?;
    if !conversation.held {
        conversations::wake(tx, cx, conversation, WokenBy::Customer)?;
        conversations::set_status(tx, cx, conversation, Status::Open)?;
    }
    let event = AskCompleted {
        ask_id: request,
        kind: AskKind::Documents,
        conversation_id: &conversation.id,
    };
    events::record(tx, cx, &conversation.circle, &event)?;
    Ok(true)
}

/// The labels of the items still missing.
pub fn missing(tx: &mut Tx<'_>, ws: i64, request: &RequestId) -> Result<Vec<String>> {
    let missing: Vec<(String,)> = tx.all(
        "SELECT i.label FROM requested_documents i
         WHERE i.ws = ?1 AND i.request = ?2
           AND (i.required = TRUE OR NOT EXISTS (
               SELECT 1 FROM requested_documents o
               WHERE o.ws = i.ws AND o.request = i.request AND o.required = TRUE
           ))
           AND NOT EXISTS (
               SELECT 1 FROM uploads u
               WHERE u.ws = i.ws AND u.request = i.request AND u.item = i.place
                 AND u.state = 'filed'
           )
         ORDER BY i.place",
        &[&ws, request],
    )?;
    Ok(missing.into_iter().map(|(label,)| label).collect())
}
