//! Merging two conversations, undoing it, and splitting a message off.

mod recount;
mod refusals;
mod rows;
mod standing;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MemberId, MessageId};
use base::states::{Direction, Status};
use db::{Json, Tx};
use serde::{Deserialize, Serialize};

use crate::conversations::tags::{self, TagName};
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{self, Conversation, NewConversation};
use crate::conversations::{leaving, sorting, targets};
use crate::fields::stored_values;
use crate::indexing::index_rebuild;
use crate::linked_items;
use crate::messages::recipients::{self, Party};
use crate::people::agent_limits::changes::ConversationAct;
use crate::people::members;
use rows::MovedRows;

pub use refusals::{MergeRefusal, count_messages, counted_refusal, refusal};

/// How both conversations stood before a merge, as far as it changed them.
#[derive(Serialize, Deserialize)]
struct BeforeMerge {
    snoozed_until: Option<i64>,
    /// The tags of the source.
    tags: Vec<String>,
    /// Those of them that the target did not have.
    tagged: Vec<String>,
    /// Who the target was given to because the source was theirs.
    assignee: Option<MemberId>,
    /// The reference that the target got from the source.
    reference: Option<String>,
    /// The fields that the target got from the source.
    #[serde(default)]
    fields: Vec<String>,
    /// The items that the target was linked to by the source.
    #[serde(default)]
    links: Vec<String>,
    /// The target's status, where the source opened it.
    status: Option<Status>,
    /// Until when the target was snoozed, where the source opened it.
    target_snoozed_until: Option<i64>,
    /// Until when the target was snoozed because the source was.
    given_snooze: Option<i64>,
    /// Addresses that took part in the source alone.
    participants: Vec<String>,
    /// Conversations that were merged into the source before.
    led_to_source: Vec<ConversationId>,
}

/// Merges a conversation into another one: its messages and all that belongs to them go over, and its
/// id leads there from now on.
pub fn merge(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &mut Conversation,
    target: &mut Conversation,
) -> Result<()> {
    let ws = cx.actor.ws;
    if let Some(refusal) = counted_refusal(tx, ws, source, target)? {
        return Err(Error::invalid("into", refusal.sentence()));
    }
    for one in [&*source, &*target] {
        conversations::admit_change(tx, cx, one, ConversationAct::Change)?;
    }
    let mut before = BeforeMerge {
        snoozed_until: source.snoozed_until,
        tags: source.tags.to_vec(),
        tagged: Vec::new(),
        assignee: None,
        reference: None,
        fields: Vec::new(),
        links: Vec::new(),
        status: None,
        target_snoozed_until: None,
        given_snooze: None,
        participants: rows::add_participants(tx, ws, &source.id, &target.id)?,
        led_to_source: lead_on(tx, ws, &source.id, &target.id)?,
    };
    move_tags(tx, cx, source, target, &mut before)?;
    index_rebuild::forget(tx, ws, (source.num, &source.id))?;
    index_rebuild::forget(tx, ws, (target.num, &target.id))?;
    let moved = rows::all(tx, ws, &source.id)?;
    rows::carry_over(tx, ws, &moved, &source.id, &target.id)?;
    rows::move_unsent(tx, cx, &source.id, &target.id)?;
    rows::add_watchers(tx, ws, &source.id, &target.id)?;
    index_rebuild::rebuild(tx, ws, &target.id)?;
    recount::recount(tx, ws, &source.id)?;
    recount::recount(tx, ws, &target.id)?;
    let stood = (source.status, source.snoozed_until);
    rows::mark_unread(tx, ws, source, &target.id)?;
    conversations::set_merged(tx, cx, source, Some(&target.id))?;
    *target = conversations::load_itself(tx, cx.actor, target.id.as_str())?;
    leaving::refresh_view(tx, cx, target)?;
    take_on(tx, cx, source, target, &mut before)?;
    standing::open_target(tx, cx, stood, target, &mut before)?;
    sorting::schedule(tx, cx, target)?;
    targets::refresh(tx, cx, &target.id)?;
    save(tx, cx, source, target, &before)?;
    rows::note_moved(tx, ws, &source.id, &moved)?;
    let merged = TimelineEvent::Merged {
        conversation_id: source.id.clone(),
        subject: source.subject.clone(),
    };
    timeline::record(tx, cx, &target.id, &merged)
}

/// Leads the ids of what was merged into a conversation to where that one goes.
fn lead_on(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<Vec<ConversationId>> {
    let led: Vec<(ConversationId,)> =
        tx.all("SELECT id FROM conversations WHERE ws = ?1 AND merged_into = ?2", &[&ws, from])?;
    for (id,) in &led {
        tx.exec_soon(
            "UPDATE conversations SET merged_into = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, id, to],
        )?;
    }
    Ok(led.into_iter().map(|(id,)| id).collect())
}

fn move_tags(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &mut Conversation,
    target: &mut Conversation,
    before: &mut BeforeMerge,
) -> Result<()> {
    for name in &before.tags {
        let tag = TagName::new(name);
        before.tagged.extend(tags::put_on(tx, cx, target, &tag)?);
        tags::take_off(tx, cx, source, &tag)?;
    }
    if !before.tags.is_empty() {
        tags::save_names(tx, cx, source)?;
        tags::save_names(tx, cx, target)?;
    }
    Ok(())
}

/// What the target gets of the source where it had nothing itself.
fn take_on(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &Conversation,
    target: &mut Conversation,
    before: &mut BeforeMerge,
) -> Result<()> {
    if let (None, Some(id)) = (&target.assignee, &source.assignee)
        && let Some(assignee) = members::in_circle(tx, cx.actor.ws, &target.circle, id)?
    {
        conversations::assign(tx, cx, target, Some(&assignee))?;
        target.assignee = Some(id.clone());
        before.assignee = Some(id.clone());
    }
    if let (None, Some(reference)) = (&target.reference, &source.reference) {
        set_reference(tx, cx, target, Some(reference))?;
        before.reference = Some(reference.clone());
    }
    before.fields = stored_values::lend(tx, cx.actor.ws, &source.id, &target.id)?;
    before.links = linked_items::lend(tx, cx, &source.id, &target.id)?;
    Ok(())
}

fn set_reference(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    reference: Option<&str>,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET reference = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &reference],
    )?;
    conversation.reference = reference.map(str::to_owned);
    Ok(())
}

fn save(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &Conversation,
    target: &Conversation,
    before: &BeforeMerge,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO merges (ws, source, target, merged_at, before) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[&cx.actor.ws, &source.id, &target.id, &cx.now, &Json(before)],
    )?;
    Ok(())
}

/// The conversations that were merged into one, and can come back.
pub fn merged_into(
    tx: &mut Tx<'_>,
    ws: i64,
    target: &ConversationId,
) -> Result<Vec<ConversationId>> {
    let found: Vec<(ConversationId,)> =
        tx.all("SELECT id FROM conversations WHERE ws = ?1 AND merged_into = ?2", &[&ws, target])?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// Undoes a merge: what came from the merged conversation goes back to it, and so does its id. What was
/// written since stays where it is. Returns the conversation that is back.
pub fn undo_merge(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<Conversation> {
    let ws = cx.actor.ws;
    let mut source = conversations::load_itself(tx, cx.actor, id)?;
    let found: Option<(i64, Json<BeforeMerge>)> = tx.opt(
        "SELECT merged_at, before FROM merges WHERE ws = ?1 AND source = ?2",
        &[&ws, &source.id],
    )?;
    let Some((merged_at, before)) = found else { return Err(Error::NotFound("merge")) };
    let mut target = conversations::load(tx, cx.actor, id)?;
    index_rebuild::forget(tx, ws, (source.num, &source.id))?;
    index_rebuild::forget(tx, ws, (target.num, &target.id))?;
    let moved = rows::load_moved(tx, ws, &source.id, &target.id)?;
    rows::carry_over(tx, ws, &moved, &target.id, &source.id)?;
    rows::drop_participants(tx, ws, &target.id, &before.participants, merged_at)?;
    forget_merge(tx, ws, &source.id)?;
    for led in &before.led_to_source {
        tx.exec_soon(
            "UPDATE conversations SET merged_into = ?4
             WHERE ws = ?1 AND id = ?2 AND merged_into = ?3",
            &[&ws, led, &target.id, &source.id],
        )?;
    }
    give_back(tx, cx, &mut source, &mut target, &before)?;
    standing::put_target_back(tx, cx, &mut target, &before, (merged_at, &source.id))?;
    index_rebuild::rebuild(tx, ws, &source.id)?;
    index_rebuild::rebuild(tx, ws, &target.id)?;
    recount::recount(tx, ws, &source.id)?;
    recount::recount(tx, ws, &target.id)?;
    conversations::set_merged(tx, cx, &mut source, None)?;
    if before.snoozed_until.is_some() {
        let status = source.status;
        conversations::put_back(tx, cx, &mut source, status, before.snoozed_until)?;
    }
    for parted in [&source, &target] {
        sort_again(tx, cx, parted)?;
        leaving::note(tx, ws, &parted.id)?;
        targets::refresh(tx, cx, &parted.id)?;
    }
    for (on, of) in [(&source.id, &target.id), (&target.id, &source.id)] {
        let undone = TimelineEvent::MergeUndone { conversation_id: of.clone() };
        timeline::record(tx, cx, on, &undone)?;
    }
    conversations::load_itself(tx, cx.actor, source.id.as_str())
}

/// Has a conversation sorted that has other mail than before, and keeps what was learned from it true.
fn sort_again(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    sorting::keep_examples_true(tx, cx.actor.ws, &conversation.circle, &conversation.id)?;
    sorting::schedule(tx, cx, conversation)
}

fn forget_merge(tx: &mut Tx<'_>, ws: i64, source: &ConversationId) -> Result<()> {
    for table in ["merges", "merged_items"] {
        let sql = format!("DELETE FROM {table} WHERE ws = ?1 AND source = ?2");
        tx.exec_soon(&sql, &[&ws, source])?;
    }
    Ok(())
}

/// Takes an address out of what merges can be undone with.
pub fn forget_participant(tx: &mut Tx<'_>, ws: i64, email: &EmailAddress) -> Result<()> {
    let place = tx.pick("instr", "strpos");
    let found: Vec<(ConversationId, Json<BeforeMerge>)> = tx.all(
        &format!("SELECT source, before FROM merges WHERE ws = ?1 AND {place}(before, ?2) > 0"),
        &[&ws, email],
    )?;
    for (source, mut before) in found {
        before.participants.retain(|address| address != email.as_str());
        tx.exec_soon(
            "UPDATE merges SET before = ?3 WHERE ws = ?1 AND source = ?2",
            &[&ws, &source, &before],
        )?;
    }
    Ok(())
}

/// Takes from the target what it got with the source, unless somebody changed it since.
fn give_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &mut Conversation,
    target: &mut Conversation,
    before: &BeforeMerge,
) -> Result<()> {
    for name in &before.tagged {
        tags::take_off(tx, cx, target, &TagName::new(name))?;
    }
    for name in &before.tags {
        tags::put_on(tx, cx, source, &TagName::new(name))?;
    }
    if !before.tags.is_empty() {
        tags::save_names(tx, cx, source)?;
        tags::save_names(tx, cx, target)?;
    }
    if before.assignee.is_some() && target.assignee == before.assignee {
        conversations::assign(tx, cx, target, None)?;
    }
    if before.reference.is_some() && target.reference == before.reference {
        set_reference(tx, cx, target, None)?;
    }
    stored_values::take_back(tx, cx.actor.ws, &source.id, &target.id, &before.fields)?;
    linked_items::take_back(tx, cx.actor.ws, &target.id, &before.links)?;
    Ok(())
}

/// Splits a received or sent message off into a conversation of its own, which later mail that answers
/// it joins.
pub fn split(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<Conversation> {
    let ws = cx.actor.ws;
    if conversation.held || conversation.removed.is_some() {
        return Err(Error::invalid("messageId", "is held, or in the spam or the trash"));
    }
    conversations::admit_change(tx, cx, conversation, ConversationAct::Change)?;
    if refusals::are_too_long(tx, ws, &[&conversation.id])? {
        return Err(Error::invalid("into", MergeRefusal::TooLong.sentence()));
    }
    let (counted_at, direction, from, subject) = split_message(tx, ws, conversation, message)?;
    let contact = match direction {
        Direction::Inbound => from,
        Direction::Outbound => recipients::of_message(tx, ws, message)?
            .to
            .into_iter()
            .next()
            .unwrap_or(Party { name: None, email: conversation.contact_email.to_string() }),
    };
    let mut new = conversations::begin(
        tx,
        cx,
        &NewConversation {
            circle: &conversation.circle,
            mailbox: &conversation.mailbox,
            subject: &subject,
            contact_name: contact.name.as_deref(),
            contact_email: &contact.email,
            reference: conversation.reference.as_deref(),
            listed_at: counted_at,
        },
    )?;
    carry_warning(tx, ws, conversation, &mut new)?;
    index_rebuild::forget(tx, ws, (conversation.num, &conversation.id))?;
    let moved = MovedRows::of_message(tx, ws, message)?;
    rows::carry_over(tx, ws, &moved, &conversation.id, &new.id)?;
    rows::take_part(tx, ws, &new.id, message)?;
    index_rebuild::rebuild(tx, ws, &conversation.id)?;
    index_rebuild::rebuild(tx, ws, &new.id)?;
    recount::recount(tx, ws, &conversation.id)?;
    recount::recount(tx, ws, &new.id)?;
    let origin = (conversation.assignee.as_ref(), conversation.status);
    settle_split(tx, cx, &mut new, direction, origin)?;
    leaving::note(tx, ws, &conversation.id)?;
    sort_again(tx, cx, conversation)?;
    sorting::schedule(tx, cx, &new)?;
    targets::refresh(tx, cx, &conversation.id)?;
    let split =
        TimelineEvent::Split { conversation_id: new.id.clone(), message_id: message.clone() };
    timeline::record(tx, cx, &conversation.id, &split)?;
    let from = TimelineEvent::SplitFrom { conversation_id: conversation.id.clone() };
    timeline::record(tx, cx, &new.id, &from)?;
    conversations::load_itself(tx, cx.actor, new.id.as_str())
}

/// A warning does not say which message it is about, so both conversations carry it.
fn carry_warning(
    tx: &mut Tx<'_>,
    ws: i64,
    origin: &Conversation,
    new: &mut Conversation,
) -> Result<()> {
    if origin.risk.is_none() {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET risk = ?3, risk_reasons = ?4 WHERE ws = ?1 AND id = ?2",
        &[&ws, &new.id, &origin.risk, &origin.risk_reasons],
    )?;
    new.risk = origin.risk;
    new.risk_reasons = origin.risk_reasons.clone();
    Ok(())
}

/// Where a message is that was split off from this conversation before.
pub fn split_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<Option<ConversationId>> {
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message],
    )?;
    let Some((now_in,)) = found.filter(|(now_in,)| *now_in != conversation.id) else {
        return Ok(None);
    };
    let told: Vec<(Json<SplitOrigin>,)> = tx.all(
        "SELECT data FROM timeline_events
         WHERE ws = ?1 AND conversation = ?2 AND event = 'split-from' LIMIT 1",
        &[&cx.actor.ws, &now_in],
    )?;
    let is_from_here = told.iter().any(|(origin,)| origin.conversation_id == conversation.id);
    Ok(is_from_here.then_some(now_in))
}

/// What the timeline of a conversation says that was split off.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SplitOrigin {
    conversation_id: ConversationId,
}

/// The new conversation keeps the assignee and the turn of the one it was split off from.
fn settle_split(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    new: &mut Conversation,
    direction: Direction,
    (assignee, status): (Option<&MemberId>, Status),
) -> Result<()> {
    if let Some(id) = assignee
        && let Some(assignee) = members::in_circle(tx, cx.actor.ws, &new.circle, id)?
    {
        conversations::assign(tx, cx, new, Some(&assignee))?;
    }
    let status = match direction {
        Direction::Inbound if status == Status::Closed => Status::Closed,
        Direction::Inbound => Status::Open,
        Direction::Outbound => Status::Waiting,
    };
    conversations::settle(tx, cx, new, status)?;
    targets::refresh(tx, cx, &new.id)
}

type SplitMessage = (i64, Direction, Party, String);
type SplitRow = (Option<i64>, Direction, Option<String>, String, String);

fn split_message(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<SplitMessage> {
    let found: Option<SplitRow> = tx.opt(
        "SELECT counted_at, direction, from_name, from_email, subject FROM messages
         WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND discarded_at IS NULL",
        &[&ws, message, &conversation.id],
    )?;
    let Some((counted_at, direction, name, email, subject)) = found else {
        return Err(Error::invalid("messageId", "is not a message of this conversation"));
    };
    let Some(counted_at) = counted_at else {
        return Err(Error::invalid("messageId", "has not left yet"));
    };
    let other: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL AND id <> ?3 LIMIT 1",
        &[&ws, &conversation.id, message],
    )?;
    if other.is_none() {
        return Err(Error::invalid("messageId", "is the only message of this conversation"));
    }
    Ok((counted_at, direction, Party { name, email }, subject))
}
