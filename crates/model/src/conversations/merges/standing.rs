//! The status of a merge's target: open when the source was, and as before when the merge is undone.

use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use base::states::Status;
use db::Tx;

use crate::conversations::merges::{BeforeMerge, recount};
use crate::conversations::{self, Conversation};

/// Opens the target where the source was open. What was snoozed in the source is snoozed in a target
/// that nobody would look at otherwise.
pub(super) fn open_target(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (status, until): (Status, Option<i64>),
    target: &mut Conversation,
    before: &mut BeforeMerge,
) -> Result<()> {
    let until = until.filter(|until| *until > cx.now);
    let is_away =
        target.status != Status::Open || (target.snoozed_until.is_some() && until.is_none());
    if status != Status::Open || !is_away {
        return Ok(());
    }
    before.status = Some(target.status);
    before.target_snoozed_until = target.snoozed_until;
    before.given_snooze = until;
    conversations::put_back(tx, cx, target, Status::Open, until)?;
    // Nobody waits in a closed one, so this was not counted before.
    recount::recount(tx, cx.actor.ws, &target.id)?;
    *target = conversations::load_itself(tx, cx.actor, target.id.as_str())?;
    Ok(())
}

/// Puts the target back to the status it had, unless somebody changed it or something new came since the
/// merge of the source.
pub(super) fn put_target_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    target: &mut Conversation,
    before: &BeforeMerge,
    merge: (i64, &ConversationId),
) -> Result<()> {
    let Some(status) = before.status else { return Ok(()) };
    let is_as_left = target.status == Status::Open
        && target.snoozed_until.is_none_or(|until| Some(until) == before.given_snooze);
    if !is_as_left || has_news(tx, cx.actor.ws, &target.id, merge)? {
        return Ok(());
    }
    conversations::put_back(tx, cx, target, status, before.target_snoozed_until)
}

/// True when a mail or another merged conversation came into the target since. Those that are merged
/// together have one time, and go over in the order of their ids.
fn has_news(
    tx: &mut Tx<'_>,
    ws: i64,
    target: &ConversationId,
    (merged_at, source): (i64, &ConversationId),
) -> Result<bool> {
    let mail: Option<(String,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND counted_at >= ?3
         LIMIT 1",
        &[&ws, target, &merged_at],
    )?;
    let merged: Option<(String,)> = tx.opt(
        "SELECT m.source FROM conversations c
         JOIN merges m ON m.ws = c.ws AND m.source = c.id
         WHERE c.ws = ?1 AND c.merged_into = ?2
           AND (m.merged_at > ?3 OR (m.merged_at = ?3 AND m.source > ?4))
         LIMIT 1",
        &[&ws, target, &merged_at, source],
    )?;
    Ok(mail.is_some() || merged.is_some())
}
