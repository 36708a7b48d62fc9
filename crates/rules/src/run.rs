//! Running the rules on what happened, once.

use base::actor::{Actor, Circle, Principal};
use base::app::{App, Cx};
use base::error::Result;
use base::ids::{MessageId, WorkspaceId};
use base::limits::{DAY_MS, MINUTE_MS};
use db::Tx;
use model::conversations::{self, Conversation};
use model::figures::counters::{self, Counter};
use model::rule_queue::RuleEvent;

use super::acts::perform;
use super::conditions::{case_of, first_failing, is_for};
use super::rule::{RuleActKind, TeamRule, all};

/// The sorting helper is waited for so long, because rules may ask for topic, urgency and language.
const SORTING_MS: i64 = MINUTE_MS;
const SORTING_AGAIN_MS: i64 = 500;
/// Rules do not run on mail that is older, which is fetched late: somebody dealt with it.
const RECENT_MS: i64 = DAY_MS;
/// What the first rule that says it settles: the rules below do not change it again.
const FIRST_WINS: [RuleActKind; 3] =
    [RuleActKind::Assign, RuleActKind::Topic, RuleActKind::Urgency];

/// Runs the rules on one queued thing and takes it out of the queue, in one transaction, so that they
/// run once. False where another process has it.
pub fn run_due(tx: &mut Tx<'_>, app: &App, ws: i64, id: &str) -> Result<bool> {
    let now = app.clock.now();
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(String, String, RuleEvent, String, i64)> = tx.opt(
        &format!(
            "SELECT conversation, message, event, rule, created_at FROM rule_jobs
             WHERE ws = ?1 AND id = ?2 AND due_at <= ?3{lock}"
        ),
        &[&ws, &id, &now],
    )?;
    let Some((conversation, message, event, only, created_at)) = due else { return Ok(false) };
    let workspaces: Vec<(WorkspaceId,)> =
        tx.read_once("workspaces", "SELECT id FROM workspaces WHERE ws = ?1", &[&ws])?;
    let Some((workspace,)) = workspaces.into_iter().next() else {
        // It was deleted meanwhile.
        dequeue(tx, ws, id)?;
        return Ok(true);
    };
    let place: Option<(Circle, Option<i64>)> = tx.opt(
        "SELECT circle, sorts_at FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation],
    )?;
    let (circle, sorts_at) = place.unwrap_or_else(|| (Circle::team(), None));
    let actor = Actor::system(ws, workspace, circle);
    let found = conversations::load(tx, &actor, &conversation).ok();
    if let Some(found) = &found {
        // One that was merged meanwhile is another.
        let is_itself = found.id.as_str() == conversation;
        let sorts_at = if is_itself { sorts_at } else { sorts_at_of(tx, ws, found)? };
        if sorts_at.is_some() && now < created_at + SORTING_MS {
            tx.exec_soon(
                "UPDATE rule_jobs SET due_at = ?3 WHERE ws = ?1 AND id = ?2",
                &[&ws, &id, &(now + SORTING_AGAIN_MS)],
            )?;
            return Ok(true);
        }
    }
    dequeue(tx, ws, id)?;
    let Some(mut conversation) = found.filter(|one| !one.held && one.removed.is_none()) else {
        return Ok(true);
    };
    let message = MessageId::parse(&message);
    let case = case_of(tx, ws, &conversation, message.as_ref())?;
    let is_waited_for = conversation.waiting_since.is_some_and(|since| since <= created_at);
    let is_past = match event {
        RuleEvent::Unanswered => !is_waited_for,
        RuleEvent::Tagged => false,
        _ => case.arrived_at < created_at - RECENT_MS,
    };
    if is_past {
        return Ok(true);
    }
    // What a rule does starts no other.
    let before = conversation.clone();
    let mut settled = Vec::new();
    for rule in all(tx, ws)? {
        let is_meant = only.is_empty() || rule.id.as_str() == only;
        if !rule.enabled || !is_meant || !is_for(&rule, event, &case) {
            continue;
        }
        if first_failing(&rule, &case, &before).is_some() {
            continue;
        }
        apply(tx, app, &actor, &rule, &mut conversation, &mut settled)?;
        if rule.is_last {
            break;
        }
    }
    Ok(true)
}

fn dequeue(tx: &mut Tx<'_>, ws: i64, id: &str) -> Result<()> {
    tx.exec_soon("DELETE FROM rule_jobs WHERE ws = ?1 AND id = ?2", &[&ws, &id])?;
    Ok(())
}

fn sorts_at_of(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<Option<i64>> {
    let (sorts_at,): (Option<i64>,) = tx.one(
        "SELECT sorts_at FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation.id],
    )?;
    Ok(sorts_at)
}

/// Does what a rule says, in its name, except what an earlier rule has settled.
fn apply(
    tx: &mut Tx<'_>,
    app: &App,
    actor: &Actor,
    rule: &TeamRule,
    conversation: &mut Conversation,
    settled: &mut Vec<RuleActKind>,
) -> Result<()> {
    let actor = Actor { who: Principal::Rule { name: rule.actor_name() }, ..actor.clone() };
    let cx: Cx<'_> = app.cx(&actor);
    for act in rule.acts.iter() {
        if settled.contains(&act.act) {
            continue;
        }
        if perform(tx, &cx, rule, act, conversation)? && FIRST_WINS.contains(&act.act) {
            settled.push(act.act);
        }
    }
    count_run(tx, &cx, rule, conversation)
}

/// Notes that a rule ran. Its own row says when to the minute, so that conversations that come together
/// do not wait for one another.
fn count_run(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    conversation: &Conversation,
) -> Result<()> {
    let ws = cx.actor.ws;
    if rule.last_run_at.is_none_or(|at| at + MINUTE_MS <= cx.now) {
        tx.exec_soon(
            "UPDATE rules SET last_run_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, &rule.id, &cx.now],
        )?;
    }
    let counter = Counter::RuleRuns(&rule.id);
    counters::add(tx, ws, &Circle::team(), counter, conversation.id.as_str(), 1)
}
