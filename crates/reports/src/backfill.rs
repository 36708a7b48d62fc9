//! Counting what happened before there were reports, a few conversations at a time.

use std::collections::HashSet;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::error::Result;
use base::ids::{MessageId, WorkspaceId};
use base::states::{Direction, Status};
use db::{Json, Tx};
use model::conversations::timeline::{StoredTimelineEvent, TimelineEvent};
use model::conversations::{self, Conversation};
use model::figures::report_facts::{
    DraftFate, HELPER_NAME, ReportMeasure, asked_for, count, count_answer, count_draft_of,
    count_received, count_sent,
};
use model::figures::report_histogram::bucket;
use serde_json::{Map, Value};

/// Conversations counted in one transaction, and the pause after it.
const AT_ONCE: i64 = 50;
const PAUSE_MS: i64 = 100;
/// Messages and events of one conversation that are counted.
const OF_EACH: i64 = 2_000;

/// Counts some of the history; answers how many conversations. There is nothing to do when it is 0.
pub fn backfill(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let now = app.clock.now();
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(i64, i64)> = tx.opt(
        &format!(
            "SELECT num, until FROM report_backfill WHERE name = 'history' AND due_at <= ?1{lock}"
        ),
        &[&now],
    )?;
    let Some((num, until)) = due else { return Ok(0) };
    let next: Vec<(i64, i64, String, Circle, WorkspaceId)> = tx.all(
        "SELECT c.num, c.ws, c.id, c.circle, w.id FROM conversations c
         JOIN workspaces w ON w.ws = c.ws
         WHERE c.num > ?1 AND c.created_at < ?2 ORDER BY c.num LIMIT ?3",
        &[&num, &until, &AT_ONCE],
    )?;
    for (_, ws, id, circle, workspace) in &next {
        let actor = Actor::system(*ws, workspace.clone(), circle.clone());
        let cx = Cx { now, ..app.cx(&actor) };
        let conversation = conversations::load(tx, &actor, id)?;
        if !conversation.held {
            count_conversation(tx, &cx, &conversation, until)?;
        }
    }
    match next.last() {
        Some((last, ..)) => tx.exec(
            "UPDATE report_backfill SET num = ?1, due_at = ?2 WHERE name = 'history'",
            &[last, &(now + PAUSE_MS)],
        )?,
        None => tx.exec("DELETE FROM report_backfill WHERE name = 'history'", &[])?,
    };
    Ok(next.len())
}

/// A message as the backfill reads it.
type PastMessage = (MessageId, i64, Direction, bool, Option<String>);

fn count_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    until: i64,
) -> Result<()> {
    let (began, place) = (conversation.created_at, &conversation.report_place());
    count(tx, cx, place, ReportMeasure::Begun, "", began, 1)?;
    if let Some(topic) = &conversation.topic_id {
        count(tx, cx, place, ReportMeasure::Topic, topic.as_str(), began, 1)?;
    }
    let tags: Vec<(String,)> = tx.all(
        "SELECT t.id FROM tags t
         JOIN conversation_tags c ON c.ws = t.ws AND c.tag = t.id
         WHERE t.ws = ?1 AND c.conversation = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    for (tag,) in &tags {
        count(tx, cx, place, ReportMeasure::Tagged, tag, began, 1)?;
    }
    // Mail that was fetched later is counted as it comes, however old it is; ids are in order of time.
    let messages: Vec<PastMessage> = tx.all(
        "SELECT id, counted_at, direction, automatic, author FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL AND counted_at < ?3
           AND id < ?5
         ORDER BY at, id LIMIT ?4",
        &[&cx.actor.ws, &conversation.id, &until, &OF_EACH, &MessageId::new(cx.ids, until)],
    )?;
    count_messages(tx, cx, conversation, &messages)?;
    count_events(tx, cx, conversation, until)
}

/// A row of the timeline: when, the name and the data.
type PastEvent = (i64, String, Json<Map<String, Value>>);

fn count_messages(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    messages: &[PastMessage],
) -> Result<()> {
    let place = &conversation.report_place();
    let mut asked_at = None;
    let mut is_answered = false;
    for (_, at, direction, automatic, author) in messages {
        match direction {
            Direction::Inbound => {
                count_received(tx, cx, place, *at)?;
                asked_at = asked_at.or(Some(*at));
            }
            Direction::Outbound if *automatic => {}
            Direction::Outbound => {
                count_sent(tx, cx, place, author.as_deref().unwrap_or(""), *at)?;
                if let (Some(asked_at), false) = (asked_at, is_answered) {
                    count_answer(tx, cx, place, at - asked_at, *at)?;
                }
                is_answered = true;
            }
        }
    }
    Ok(())
}

/// Closings, and what became of drafts, as the timeline has them. It has no ids of who did it.
fn count_events(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    until: i64,
) -> Result<()> {
    let events: Vec<PastEvent> = tx.all(
        "SELECT at, event, data FROM timeline_events
         WHERE ws = ?1 AND conversation = ?2 AND at < ?3 ORDER BY id LIMIT ?4",
        &[&cx.actor.ws, &conversation.id, &until, &OF_EACH],
    )?;
    let place = &conversation.report_place();
    let mut opened_at = conversation.created_at;
    let mut decided = HashSet::new();
    for (at, event, data) in events {
        let StoredTimelineEvent::Known(event) = StoredTimelineEvent::read(&event, &data.0) else {
            continue;
        };
        match event {
            TimelineEvent::StatusChanged { to: Status::Closed, .. } => {
                let name = bucket(at - opened_at).to_string();
                count(tx, cx, place, ReportMeasure::TimeToClose, &name, at, 1)?;
                count(tx, cx, place, ReportMeasure::Closed, "", at, 1)?;
            }
            TimelineEvent::StatusChanged { from: Status::Closed, .. } => opened_at = at,
            TimelineEvent::Approved { message_id, edited }
                if decided.insert(message_id.clone()) =>
            {
                let fate = if edited { DraftFate::Edited } else { DraftFate::AsIs };
                count_past_draft(tx, cx, conversation, &message_id, Some(fate), at)?;
            }
            TimelineEvent::Discarded { message_id, .. } if decided.insert(message_id.clone()) => {
                count_past_draft(tx, cx, conversation, &message_id, None, at)?;
            }
            TimelineEvent::Uploaded { .. } => {
                count(tx, cx, place, ReportMeasure::DocumentsReceived, "", at, 1)?;
            }
            TimelineEvent::Requested { request_id } => {
                let asked = asked_for(tx, cx.actor.ws, &request_id)?;
                count(tx, cx, place, ReportMeasure::DocumentsAsked, "", at, asked)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn count_past_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    fate: Option<DraftFate>,
    at: i64,
) -> Result<()> {
    let found: Option<(Option<String>,)> =
        tx.opt("SELECT author FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, message])?;
    let Some((author,)) = found else { return Ok(()) };
    let place = &conversation.report_place();
    let author = author.as_deref().unwrap_or(HELPER_NAME);
    count_draft_of(tx, cx, place, author, fate, at)
}
