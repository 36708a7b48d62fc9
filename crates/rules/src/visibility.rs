//! Who sees a rule. One with a condition on an inbox for some is visible only to those who see that inbox.

use base::actor::{Actor, Circle};
use base::error::{Error, Result};
use base::ids::{MailboxId, RuleId};
use db::Tx;
use model::figures::counters::{self, Counter};

use super::rule::{ConditionField, RuleCondition, TeamRule, all};

db::row! {
    /// An inbox that not everybody on the team sees.
    #[derive(Clone, Debug)]
    pub struct ClosedInbox from "mailboxes" {
        pub id: MailboxId,
        pub name: String,
        pub circle: Circle,
    }
}

/// The rules that an actor sees, in their order.
pub fn seen_by(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<TeamRule>> {
    let closed = closed_inboxes(tx, actor.ws)?;
    let mut rules = all(tx, actor.ws)?;
    rules.retain(|rule| is_seen(actor, &closed, rule));
    Ok(rules)
}

/// A rule by id, if the actor sees it.
pub fn by_id(tx: &mut Tx<'_>, actor: &Actor, id: &RuleId) -> Result<TeamRule> {
    let found = seen_by(tx, actor)?.into_iter().find(|rule| rule.id == *id);
    found.ok_or(Error::NotFound("rule"))
}

/// The inboxes that conditions ask for and that not everybody sees.
pub fn asked_for(
    tx: &mut Tx<'_>,
    ws: i64,
    conditions: &[RuleCondition],
) -> Result<Vec<ClosedInbox>> {
    let closed = closed_inboxes(tx, ws)?;
    Ok(inboxes_in(&closed, conditions).cloned().collect())
}

/// Who reads of a rule with these conditions.
pub fn circle_of(tx: &mut Tx<'_>, ws: i64, conditions: &[RuleCondition]) -> Result<Circle> {
    let asked_for = asked_for(tx, ws, conditions)?;
    Ok(asked_for.into_iter().next().map_or_else(Circle::team, |inbox| inbox.circle))
}

/// Deletes the rules that ask for an inbox for some which is deleted: they can never act again, and
/// those who may read them cannot be told from the others any more.
pub fn forget_inbox(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<()> {
    for rule in all(tx, ws)? {
        if rule.conditions.iter().any(|one| asks_for(one, mailbox)) {
            tx.exec_soon("DELETE FROM rules WHERE ws = ?1 AND id = ?2", &[&ws, &rule.id])?;
            counters::forget(tx, ws, &Circle::team(), Counter::RuleRuns(&rule.id))?;
        }
    }
    Ok(())
}

fn is_seen(actor: &Actor, closed: &[ClosedInbox], rule: &TeamRule) -> bool {
    inboxes_in(closed, &rule.conditions).all(|inbox| actor.sees(&inbox.circle))
}

fn inboxes_in<'a>(
    closed: &'a [ClosedInbox],
    conditions: &[RuleCondition],
) -> impl Iterator<Item = &'a ClosedInbox> {
    closed.iter().filter(move |inbox| conditions.iter().any(|one| asks_for(one, &inbox.id)))
}

/// True for a condition that holds in one inbox alone.
fn asks_for(condition: &RuleCondition, mailbox: &MailboxId) -> bool {
    condition.field == ConditionField::Inbox
        && !condition.not
        && condition.value == mailbox.as_str()
}

fn closed_inboxes(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<ClosedInbox>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailboxes
             WHERE ws = ?1 AND circle NOT IN ('team', 'sandbox', 'deleted') ORDER BY id",
            ClosedInbox::COLUMNS
        ),
        &[&ws],
    )?)
}
