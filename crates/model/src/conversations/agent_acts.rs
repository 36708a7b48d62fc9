//! What agents change and make, kept so that it can be undone: written by the operation that does it, in
//! its transaction. Acts of people and of Mailroom itself are not kept here.

use base::actor::{Actor, Principal};
use base::app::Cx;
use base::error::Result;
use base::ids::{AgentId, BookingId, ConversationId, UndoId};
use base::limits::AGENT_ACTS_KEPT_MS;
use base::string_enum::string_enum;
use db::{Json, Tx};

use crate::conversations::Conversation;
use crate::conversations::conversation_state::{ConversationState, LaterWork};

string_enum! {
    /// What an agent did to a conversation: changed its status, tags, assignee, topic, urgency or snooze, or
    /// made something in it. What it wrote is a message, as a draft or to be sent; what it withdrew is one
    /// that an agent wrote. An appointment that it moved or cancelled was rebooked.
    AgentActKind {
        Changed = "changed",
        Noted = "noted",
        Merged = "merged",
        Split = "split",
        Wrote = "wrote",
        Booked = "booked",
        Rebooked = "rebooked",
        Withdrew = "withdrew",
    }
}

db::row! {
    /// One step of an act, as it is undone.
    #[derive(Clone, Debug)]
    pub struct AgentActStep from "agent_acts" {
        pub id: UndoId,
        pub step: i64,
        pub at: i64,
        pub kind: AgentActKind,
        /// None for an appointment that belongs to no conversation.
        pub conversation: Option<ConversationId> = "nullif(agent_acts.conversation, '')",
        /// The note, message, booking or conversation that was made; empty for a change.
        pub thing: String,
        pub before: Option<Json<ConversationState>>,
        pub after: Option<Json<ConversationState>>,
    }
}

/// Keeps what an agent changed of a conversation, as a step of an act. False when it changed nothing.
pub fn note_change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (act, step): (&UndoId, i64),
    before: &ConversationState,
    after: &Conversation,
) -> Result<bool> {
    let state = ConversationState::of(after);
    if state == *before {
        return Ok(false);
    }
    let states = Some((before, &state));
    insert(tx, cx, (act, step), (AgentActKind::Changed, Some(&after.id), ""), states)?;
    Ok(true)
}

/// The same for an operation on one conversation, which is an act of its own.
pub fn note_single_change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    before: &ConversationState,
    after: &Conversation,
) -> Result<()> {
    if matches!(cx.actor.who, Principal::Agent { .. }) {
        note_change(tx, cx, (&UndoId::new(cx.ids, cx.now), 0), before, after)?;
    }
    Ok(())
}

/// Keeps what an agent made in a conversation: the id of a note, a message, a booking, or of the
/// conversation that was split off or merged away.
pub fn note_made(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: AgentActKind,
    conversation: &ConversationId,
    thing: &str,
) -> Result<()> {
    note_thing(tx, cx, kind, (Some(conversation), thing))
}

/// The same for an appointment, which may belong to no conversation.
pub fn note_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: AgentActKind,
    conversation: Option<&ConversationId>,
    booking: &BookingId,
) -> Result<()> {
    note_thing(tx, cx, kind, (conversation, booking.as_str()))
}

fn note_thing(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: AgentActKind,
    (conversation, thing): (Option<&ConversationId>, &str),
) -> Result<()> {
    if !matches!(cx.actor.who, Principal::Agent { .. }) {
        return Ok(());
    }
    let act = UndoId::new(cx.ids, cx.now);
    insert(tx, cx, (&act, 0), (kind, conversation, thing), None)
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (act, step): (&UndoId, i64),
    (kind, conversation, thing): (AgentActKind, Option<&ConversationId>, &str),
    states: Option<(&ConversationState, &ConversationState)>,
) -> Result<()> {
    let Principal::Agent { id: agent, .. } = &cx.actor.who else { return Ok(()) };
    tx.exec(
        "INSERT INTO agent_acts (
             ws, agent, id, step, at, kind, conversation, thing, before, after
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &[
            &cx.actor.ws,
            agent,
            act,
            &step,
            &cx.now,
            &kind,
            &conversation.map_or("", ConversationId::as_str),
            &thing,
            &states.map(|(before, _)| Json(before)),
            &states.map(|(_, after)| Json(after)),
        ],
    )?;
    Ok(())
}

/// In conversations that the actor sees, or about appointments that belong to none and that the actor sees.
const SEEN: &str = "COALESCE(
    (SELECT c.circle FROM conversations c
     WHERE c.ws = agent_acts.ws AND c.id = agent_acts.conversation),
    (SELECT b.circle FROM bookings b
     WHERE b.ws = agent_acts.ws AND b.id = agent_acts.thing AND agent_acts.conversation = '')
) IN (?4, ?5)";

/// The steps of one act that are not undone, the latest first, and whether the agent did it since
/// a time at all.
pub fn steps_of(
    tx: &mut Tx<'_>,
    actor: &Actor,
    agent: &AgentId,
    act: &UndoId,
    since: i64,
) -> Result<(bool, Vec<AgentActStep>)> {
    let known: Option<(i64,)> = tx.opt(
        "SELECT step FROM agent_acts WHERE ws = ?1 AND agent = ?2 AND id = ?3 AND at >= ?4 LIMIT 1",
        &[&actor.ws, agent, act, &since],
    )?;
    if known.is_none() {
        return Ok((false, Vec::new()));
    }
    let (first, second) = actor.circles.pair();
    let steps = tx.all(
        &format!(
            "SELECT {} FROM agent_acts
             WHERE ws = ?1 AND agent = ?2 AND id = ?3 AND undone_at IS NULL AND {SEEN}
             ORDER BY step DESC",
            AgentActStep::COLUMNS
        ),
        &[&actor.ws, agent, act, first, second],
    )?;
    Ok((true, steps))
}

/// What an agent did since a time and what is not undone, the latest first.
pub fn steps_since(
    tx: &mut Tx<'_>,
    actor: &Actor,
    agent: &AgentId,
    since: i64,
    most: i64,
) -> Result<Vec<AgentActStep>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM agent_acts
             WHERE ws = ?1 AND agent = ?2 AND at >= ?3 AND undone_at IS NULL AND {SEEN}
             ORDER BY at DESC, id DESC, step DESC LIMIT ?6",
            AgentActStep::COLUMNS
        ),
        &[&actor.ws, agent, &since, first, second, &most],
    )?)
}

/// The timeline events by which a conversation gets another place.
const MOVES: &[&str] = &[
    "status",
    "snoozed",
    "follow-up",
    "held",
    "released",
    "spam",
    "not-spam",
    "deleted",
    "restored",
    "merged",
    "merge-undone",
];

/// What others did to a conversation since an act of an agent. What undoing the agent's acts wrote into the
/// timeline does not count, nor what Mailroom and its rules did.
pub fn later_work(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    conversation: &ConversationId,
    since: i64,
) -> Result<LaterWork> {
    let ws = cx.actor.ws;
    let events: Vec<(String,)> = tx.all(
        "SELECT DISTINCT e.event FROM timeline_events e
         WHERE e.ws = ?1 AND e.conversation = ?2 AND e.at > ?4 AND e.at < ?5
           AND e.actor <> '' AND e.actor <> ?3
           AND NOT EXISTS (
               SELECT 1 FROM agent_acts a
               WHERE a.ws = e.ws AND a.agent = ?3 AND a.undone_at = e.at
           )",
        &[&ws, conversation, agent, &since, &cx.now],
    )?;
    let note: Option<(i64,)> = tx.opt(
        "SELECT at FROM notes
         WHERE ws = ?1 AND conversation = ?2 AND at > ?4 AND author <> ?3 AND hidden_at IS NULL
         LIMIT 1",
        &[&ws, conversation, agent, &since],
    )?;
    let message: Option<(i64,)> = tx.opt(
        "SELECT at FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND at > ?4 AND direction = 'outbound'
           AND author <> ?3 AND discarded_at IS NULL
         LIMIT 1",
        &[&ws, conversation, agent, &since],
    )?;
    let wrote = note.is_some() || message.is_some();
    Ok(LaterWork {
        assigned: events.iter().any(|(event,)| event == "assigned"),
        moved: events.iter().any(|(event,)| MOVES.contains(&event.as_str())),
        wrote,
        any: wrote || !events.is_empty(),
    })
}

/// A step is undone once.
pub fn mark_undone(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<()> {
    tx.exec(
        "UPDATE agent_acts SET undone_at = ?5 WHERE ws = ?1 AND agent = ?2 AND id = ?3 AND step = ?4",
        &[&cx.actor.ws, agent, &step.id, &step.step, &cx.now],
    )?;
    Ok(())
}

/// Deletes acts that are too old to be undone; returns how many.
pub fn forget_old(tx: &mut Tx<'_>, now: i64, most: i64) -> Result<u64> {
    let old: Vec<(i64, String, String, i64)> = tx.all(
        "SELECT ws, agent, id, step FROM agent_acts WHERE at < ?1 ORDER BY at LIMIT ?2",
        &[&(now - AGENT_ACTS_KEPT_MS), &most],
    )?;
    for (ws, agent, id, step) in &old {
        tx.exec(
            "DELETE FROM agent_acts WHERE ws = ?1 AND agent = ?2 AND id = ?3 AND step = ?4",
            &[ws, agent, id, step],
        )?;
    }
    Ok(old.len() as u64)
}
