//! A conversation as an agent saw it: its calls in their order, what an answer held at that time, as far as it is still
//! there, what the agent wrote or changed, and what was refused. Put together from the record of calls, the timeline and
//! the record of acts; nothing is run again.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MessageId, NoteId};
use base::limits::{REPLAYED_CALLS, REPLAYED_ITEMS, REPLAYED_TEXT_CHARS};
use base::states::{Direction, MessageStatus};
use db::{Json, Tx};
use model::conversations::Conversation;
use model::conversations::agent_acts::AgentActKind;
use model::conversations::conversation_state::ConversationState;
use model::people::agent_calls::{self, AgentCall};
use serde_json::{Map, Value};

use crate::integrations::agent_activity::{find_agent, hide_unseen};

/// Operations whose answer has the timeline of a conversation.
const READ_TIMELINES: &[&str] = &["get_conversation"];
/// Operations about several conversations at once, whose calls name none of them.
const MANY_AT_ONCE: &[&str] = &["update_conversations", "undo"];

/// The replay of one conversation.
pub struct AgentReplay {
    pub agent: String,
    pub conversation: Conversation,
    pub steps: Vec<ReplayStep>,
    /// There were more calls than are shown.
    pub has_more: bool,
}

/// A call, with what its answer held and what it did.
pub struct ReplayStep {
    pub call: AgentCall,
    /// What there was to read at that time; `None` for a call whose answer has no timeline.
    pub seen: Option<SeenThen>,
    pub did: Vec<DoneThen>,
}

/// What the timeline held at the time of a call.
#[derive(Default)]
pub struct SeenThen {
    /// Messages, notes and events in all.
    pub count: usize,
    /// Those that were not there at the call before, the oldest first.
    pub new: Vec<SeenItem>,
    /// New ones that are not shown.
    pub more: usize,
}

/// A message, note or event as it is still there.
#[derive(Clone, Debug)]
pub struct SeenItem {
    pub at: i64,
    pub kind: SeenItemKind,
    pub by: String,
    pub text: String,
    /// What has become of it since.
    pub since: Option<ChangedSince>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenItemKind {
    FromCustomer,
    FromTeam,
    Draft,
    Note,
    Event,
}

/// Why something is not shown as the agent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedSince {
    Edited,
    Discarded,
    Hidden,
    /// Its words were erased, or never kept.
    Erased,
    Protected,
}

/// Something that an agent did with a call.
#[derive(Clone, Debug)]
pub struct DoneThen {
    pub kind: AgentActKind,
    /// What it wrote, as far as it is there; or each part that it changed, before and after.
    pub words: Vec<String>,
    /// The message that it wrote.
    pub message: Option<(MessageId, MessageStatus)>,
    pub was_undone: bool,
}

/// Replays a conversation that the actor sees. What was erased with a conversation is gone, and so are its calls.
pub fn replay(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    conversation: &str,
) -> Result<AgentReplay> {
    let (agent, name) = find_agent(tx, cx, agent.as_str())?;
    let conversation = model::conversations::load(tx, cx.actor, conversation)?;
    let (ws, id) = (cx.actor.ws, &conversation.id);
    let mut calls = agent_calls::of_conversation(tx, ws, &agent, id, REPLAYED_CALLS + 1)?;
    let has_more = calls.len() as i64 > REPLAYED_CALLS;
    calls.truncate(REPLAYED_CALLS as usize);
    let acts = acts_in(tx, ws, &agent, id)?;
    for act in &acts {
        let latest = agent_calls::latest_of(tx, ws, &agent, MANY_AT_ONCE, act.at)?;
        let is_nearer = |call: &AgentCall| {
            calls.iter().all(|own| own.at.0 > act.at || own.at.0 < call.at.0 || own.id == call.id)
        };
        if let Some(call) = latest.filter(is_nearer)
            && act.kind == AgentActKind::Changed
            && calls.iter().all(|own| own.id != call.id)
        {
            calls.push(call);
        }
    }
    calls.iter_mut().for_each(|call| hide_unseen(cx, call));
    calls.sort_by(|a, b| (a.at.0, &a.id).cmp(&(b.at.0, &b.id)));
    if calls.is_empty() {
        return Err(Error::NotFound("call"));
    }
    let items = items_of(tx, ws, id)?;
    let mut steps: Vec<ReplayStep> = Vec::with_capacity(calls.len());
    let mut read_until = i64::MIN;
    for call in calls {
        let reads = READ_TIMELINES.contains(&call.operation.as_str()) && call.status < 400;
        let seen = reads.then(|| seen_then(&items, &call, read_until));
        if reads {
            read_until = call.at.0;
        }
        steps.push(ReplayStep { call, seen, did: Vec::new() });
    }
    for act in acts {
        // The act of a call is written in its transaction, so a moment after the call came in.
        let step = steps
            .iter_mut()
            .rev()
            .find(|step| step.call.at.0 <= act.at && step.call.status < 400 && step.seen.is_none());
        if let Some(step) = step {
            let done = done_then(tx, cx, &act)?;
            step.did.push(done);
        }
    }
    Ok(AgentReplay { agent: name, conversation, steps, has_more })
}

db::row! {
    struct ActRow from "agent_acts" {
        at: i64,
        kind: AgentActKind,
        thing: String,
        before: Option<Json<ConversationState>>,
        after: Option<Json<ConversationState>>,
        was_undone: bool = "undone_at IS NOT NULL",
    }
}

/// What an agent did in a conversation, the oldest first.
fn acts_in(
    tx: &mut Tx<'_>,
    ws: i64,
    agent: &AgentId,
    conversation: &ConversationId,
) -> Result<Vec<ActRow>> {
    let mut acts: Vec<ActRow> = tx.all(
        &format!(
            "SELECT {} FROM agent_acts WHERE ws = ?1 AND conversation = ?2 AND agent = ?3
             ORDER BY at DESC, id DESC, step DESC LIMIT ?4",
            ActRow::COLUMNS
        ),
        &[&ws, conversation, agent, &REPLAYED_CALLS],
    )?;
    acts.reverse();
    Ok(acts)
}

fn done_then(tx: &mut Tx<'_>, cx: &Cx<'_>, act: &ActRow) -> Result<DoneThen> {
    let ws = cx.actor.ws;
    let mut done =
        DoneThen { kind: act.kind, words: Vec::new(), message: None, was_undone: act.was_undone };
    if let (Some(before), Some(after)) = (&act.before, &act.after) {
        done.words = differences(before, after);
    }
    if let Some(note) = NoteId::parse(&act.thing) {
        let found: Option<(String,)> =
            tx.opt("SELECT body FROM notes WHERE ws = ?1 AND id = ?2", &[&ws, &note])?;
        done.words.extend(found.map(|(body,)| short(&body)));
    }
    if let Some(message) = MessageId::parse(&act.thing) {
        let found: Option<(String, Option<MessageStatus>)> = tx
            .opt("SELECT text, status FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, &message])?;
        if let Some((text, status)) = found {
            done.words.push(short(&text));
            done.message = status.map(|status| (message, status));
        }
    }
    Ok(done)
}

/// Each part that differs, as `status: open → closed`.
fn differences(before: &ConversationState, after: &ConversationState) -> Vec<String> {
    let parts = |state: &ConversationState| {
        let assignee = state.assignee.as_ref().map(|assignee| assignee.as_str().to_owned());
        [
            ("status", Some(state.standing.status.as_str().to_owned())),
            ("snoozedUntil", state.standing.snoozed_until.map(|at| base::time::Moment(at).iso())),
            ("assignee", assignee),
            ("tags", Some(state.tags.join(", "))),
            ("topic", state.sorting.topic.as_ref().map(|topic| topic.as_str().to_owned())),
            ("urgency", state.sorting.urgency.map(|urgency| urgency.as_str().to_owned())),
        ]
    };
    let word = |value: &Option<String>| match value.as_deref() {
        None | Some("") => "–".to_owned(),
        Some(value) => value.to_owned(),
    };
    let both = parts(before).into_iter().zip(parts(after));
    both.filter(|((_, old), (_, new))| old != new)
        .map(|((name, old), (_, new))| format!("{name}: {} → {}", word(&old), word(&new)))
        .collect()
}

/// An item with when it came to be there.
struct TimedItem {
    /// Mail is in the timeline when it was sent, and there to read when it was received.
    there_at: i64,
    item: SeenItem,
}

db::row! {
    struct MessageThen from "m" {
        at: i64,
        there_at: i64 = "coalesce(m.counted_at, m.at)",
        direction: Direction,
        status: Option<MessageStatus>,
        from_name: Option<String>,
        from_email: String,
        text: String,
        edited: bool,
        secure: bool,
        discarded: bool = "m.discarded_at IS NOT NULL",
    }
}

/// When something happened, who did it, what it was, and its data.
type StoredEvent = (i64, String, String, Json<Map<String, Value>>);

/// The newest messages, notes and events of a conversation, the oldest first.
fn items_of(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Vec<TimedItem>> {
    let messages: Vec<MessageThen> = tx.all(
        &format!(
            "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2
             ORDER BY m.at DESC, m.id DESC LIMIT ?3",
            MessageThen::COLUMNS
        ),
        &[&ws, id, &REPLAYED_ITEMS],
    )?;
    let notes: Vec<(i64, String, String, bool)> = tx.all(
        "SELECT at, author_name, body, hidden_at IS NOT NULL FROM notes
         WHERE ws = ?1 AND conversation = ?2 ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, id, &REPLAYED_ITEMS],
    )?;
    let events: Vec<StoredEvent> = tx.all(
        "SELECT at, actor_name, event, data FROM timeline_events
         WHERE ws = ?1 AND conversation = ?2 ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, id, &REPLAYED_ITEMS],
    )?;
    let mut items: Vec<TimedItem> = messages.into_iter().map(message_item).collect();
    items.extend(notes.into_iter().map(|(at, by, body, hidden)| TimedItem {
        there_at: at,
        item: SeenItem {
            at,
            kind: SeenItemKind::Note,
            by,
            text: short(&body),
            since: hidden.then_some(ChangedSince::Hidden),
        },
    }));
    items.extend(events.into_iter().map(|(at, by, event, data)| {
        let text = match data.is_empty() {
            true => event,
            false => format!("{event} {}", Value::Object(data.0)),
        };
        let text = short(&text);
        let item = SeenItem { at, kind: SeenItemKind::Event, by, text, since: None };
        TimedItem { there_at: at, item }
    }));
    items.sort_by_key(|timed| timed.there_at);
    Ok(items)
}

fn message_item(message: MessageThen) -> TimedItem {
    let since = if message.secure {
        Some(ChangedSince::Protected)
    } else if message.discarded {
        Some(ChangedSince::Discarded)
    } else if message.text.trim().is_empty() {
        Some(ChangedSince::Erased)
    } else {
        message.edited.then_some(ChangedSince::Edited)
    };
    let kind = match (message.direction, message.status) {
        (Direction::Inbound, _) => SeenItemKind::FromCustomer,
        (Direction::Outbound, Some(MessageStatus::Draft)) => SeenItemKind::Draft,
        (Direction::Outbound, _) => SeenItemKind::FromTeam,
    };
    let by = message.from_name.filter(|name| !name.trim().is_empty());
    TimedItem {
        there_at: message.there_at,
        item: SeenItem {
            at: message.at,
            kind,
            by: by.unwrap_or(message.from_email),
            text: short(&message.text),
            since,
        },
    }
}

/// What the answer of a call held, and what of it was new since the call before.
fn seen_then(items: &[TimedItem], call: &AgentCall, read_until: i64) -> SeenThen {
    let asked: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap_or_default();
    let omitted = asked.get("omit").map(Value::to_string).unwrap_or_default();
    let is_omitted = |kind: SeenItemKind| match kind {
        SeenItemKind::Event => omitted.contains("events"),
        SeenItemKind::Note => omitted.contains("team"),
        SeenItemKind::FromCustomer | SeenItemKind::FromTeam | SeenItemKind::Draft => false,
    };
    let there =
        items.iter().filter(|timed| timed.there_at <= call.at.0 && !is_omitted(timed.item.kind));
    let (mut count, mut new) = (0, Vec::new());
    for timed in there {
        count += 1;
        if timed.there_at > read_until {
            new.push(timed.item.clone());
        }
    }
    let more = new.len().saturating_sub(REPLAYED_ITEMS as usize / 4);
    SeenThen { count, new: new.split_off(more), more }
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > REPLAYED_TEXT_CHARS {
        true => line.chars().take(REPLAYED_TEXT_CHARS - 1).chain(['…']).collect(),
        false => line,
    }
}
