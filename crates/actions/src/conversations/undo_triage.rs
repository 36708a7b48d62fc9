//! Undoing the latest act on one or many conversations.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, UndoId};
use base::limits::UNDO_ACT_MS;
use base::states::{Removal, Status};
use db::{Json, Tx};
use model::contacts::blocked_senders;
use model::conversations::{self, Conversation};
use model::conversations::{conversation_state, followers, merges, sorting, tags};
use outbound::removals;

use crate::conversations::pins::{pin, unpin};
use crate::conversations::triage::{ActKind, StateAfter, StateBefore, TRIAGED_AT_ONCE, person};
use crate::sign_in::sessions::own_id;

/// The latest act of a person, while it can be undone.
#[derive(Clone, Debug)]
pub struct UndoOffer {
    pub id: UndoId,
    pub kind: ActKind,
    /// Conversations that it changed.
    pub changed: i64,
}

pub fn undo_offer(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<UndoOffer>> {
    let Ok(me) = person(cx) else { return Ok(None) };
    let found: Option<(UndoId, ActKind, i64)> = tx.opt(
        "SELECT id, act, changed FROM undos
         WHERE ws = ?1 AND person = ?2 AND created_at > ?3 AND changed > 0
         ORDER BY id DESC LIMIT 1",
        &[&cx.actor.ws, &me, &(cx.now - UNDO_ACT_MS)],
    )?;
    Ok(found.map(|(id, kind, changed)| UndoOffer { id, kind, changed }))
}

/// Undoes a batch of an own act; false when nothing is left of it.
pub fn undo_triage(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &UndoId) -> Result<bool> {
    let (ws, me) = (cx.actor.ws, person(cx)?);
    let found: Option<(ActKind, i64)> = tx.opt(
        "SELECT act, created_at FROM undos WHERE ws = ?1 AND person = ?2 AND id = ?3 AND created_at > ?4",
        &[&ws, &me, id, &(cx.now - UNDO_ACT_MS)],
    )?;
    let Some((kind, acted_at)) = found else { return Ok(false) };
    let mut steps: Vec<(ConversationId, Json<StateBefore>, Json<StateAfter>)> = tx.all(
        "SELECT conversation, before, after FROM undo_steps WHERE ws = ?1 AND undo = ?2
         ORDER BY conversation LIMIT ?3",
        &[&ws, id, &(TRIAGED_AT_ONCE as i64)],
    )?;
    if steps.is_empty() {
        tx.exec_soon(
            "DELETE FROM undos WHERE ws = ?1 AND person = ?2 AND id = ?3",
            &[&ws, &me, id],
        )?;
        return Ok(false);
    }
    if kind.is_merge() {
        // What came last goes first: the one before it may have opened the conversation.
        steps.reverse();
    }
    for (conversation, before, after) in &steps {
        tx.exec_soon(
            "DELETE FROM undo_steps WHERE ws = ?1 AND undo = ?2 AND conversation = ?3",
            &[&ws, id, conversation],
        )?;
        if kind.is_merge() {
            undo_merge(tx, cx, conversation)?;
            continue;
        }
        match conversations::load_itself(tx, cx.actor, conversation.as_str()) {
            // Merged into another one since, which is not the one that was acted on.
            Ok(conversation) if conversation.merged_into.is_some() => {}
            Ok(mut conversation) => {
                let act = UndoneAct { kind, acted_at, before: &before.0, after: &after.0 };
                revert(tx, cx, &mut conversation, &act)?;
            }
            Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn undo_merge(tx: &mut Tx<'_>, cx: &Cx<'_>, source: &ConversationId) -> Result<()> {
    match merges::undo_merge(tx, cx, source.as_str()) {
        Ok(_) | Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What an act did to one conversation.
struct UndoneAct<'a> {
    kind: ActKind,
    acted_at: i64,
    before: &'a StateBefore,
    after: &'a StateAfter,
}

/// Puts back what the act changed, unless somebody changed it again since.
fn revert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    act: &UndoneAct<'_>,
) -> Result<()> {
    let UndoneAct { kind, acted_at, before, after } = *act;
    let is_quiet = conversation.last_message_at == after.last_message_at;
    let is_put_away_so = conversation.snoozed_until == after.snoozed_until && is_quiet;
    match kind {
        ActKind::Assigned if conversation.assignee == after.assignee => {
            conversation_state::give_back(tx, cx, conversation, before.assignee.as_ref())
        }
        ActKind::Tagged => {
            let added = tags::sort_names(&before.tagged);
            tags::change(tx, cx, conversation, &[], &added).map(drop)
        }
        ActKind::Closed if conversation.status == Status::Closed && is_put_away_so => {
            conversation_state::put_status_back(tx, cx, conversation, &before.standing(), acted_at)
        }
        ActKind::Reopened if conversation.status == Status::Open && is_put_away_so => {
            conversation_state::put_status_back(tx, cx, conversation, &before.standing(), acted_at)
        }
        ActKind::Snoozed if conversation.snoozed_until.is_some() && is_put_away_so => {
            conversation_state::put_status_back(tx, cx, conversation, &before.standing(), acted_at)
        }
        ActKind::MarkedUnread => read_again(tx, cx, &conversation.id, before.read_at),
        ActKind::Pinned => unpin(tx, cx, &conversation.id).map(drop),
        ActKind::Unpinned => pin(tx, cx, &conversation.id).map(drop),
        ActKind::Followed => {
            followers::unfollow(tx, cx.actor.ws, &conversation.id, own_id(cx)?).map(drop)
        }
        ActKind::Unfollowed => followers::follow(tx, cx, &conversation.id, own_id(cx)?).map(drop),
        ActKind::Spam | ActKind::Blocked if conversation.removed == Some(Removal::Spam) => {
            sorting::teach_spam(tx, cx, conversation, false)?;
            if before.blocked {
                let (circle, email) = (&conversation.circle, &conversation.contact_email);
                blocked_senders::unblock(tx, cx, circle, email)?;
            }
            // What came meanwhile is not thrown away with the rest.
            let to = before.removed.filter(|_| is_quiet);
            removals::set_removed(tx, cx, conversation, to)
        }
        ActKind::Deleted if conversation.removed == Some(Removal::Trash) => {
            removals::set_removed(tx, cx, conversation, before.removed)
        }
        ActKind::Restored if conversation.removed.is_none() && is_quiet => {
            removals::set_removed(tx, cx, conversation, before.removed)
        }
        ActKind::Split => match &before.split_off {
            Some(new) => merge_back(tx, cx, new, conversation),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// What was split off goes back, unless it cannot any more.
fn merge_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    new: &ConversationId,
    origin: &mut Conversation,
) -> Result<()> {
    let mut new = conversations::load_itself(tx, cx.actor, new.as_str())?;
    match new.merged_into.is_some() || merges::refusal(&new, origin).is_some() {
        true => Ok(()),
        false => merges::merge(tx, cx, &mut new, origin),
    }
}

fn read_again(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    read_at: Option<i64>,
) -> Result<()> {
    let Some(read_at) = read_at else { return Ok(()) };
    tx.exec_soon(
        "INSERT INTO read_marks (ws, person, conversation, read_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, person, conversation) DO NOTHING",
        &[&cx.actor.ws, &person(cx)?, id, &read_at],
    )?;
    Ok(())
}
