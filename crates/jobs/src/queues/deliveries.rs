//! Deliveries to webhooks in the queue: listed, held, released, tried again, discarded.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::time::Moment;
use db::{Arg, Tx};
use model::messages::send_failure::SendFailure;
use serde_json::{Value, json};

use super::queue_cursor::{number, word};
use super::{
    COUNTED, QueueAct, QueueContext, QueueItem, QueueKind, QueueState, WaitReason, under_way,
};

/// Between the ids of the webhook and the event.
const SEPARATOR: char = '/';
/// Webhooks that one page looks at; the cursor leads on.
const WEBHOOKS_LOOKED_AT: usize = 1_000;

db::row! {
    struct DeliveryInQueue from "d" {
        ws: i64,
        webhook: String,
        event: String,
        event_type: String = "d.type",
        state: String,
        created_at: i64,
        next_attempt_at: Option<i64>,
        attempts: i64,
        held_at: Option<i64>,
        held_by: Option<String>,
        lease_until: Option<i64>,
        url: String = "h.url",
        webhook_state: String = "h.state",
        circle: Circle = "h.circle",
        slug: String = "w.slug",
        tried_at: Option<i64> = "(SELECT t.at FROM delivery_attempts t
             WHERE t.ws = d.ws AND t.webhook = d.webhook AND t.event = d.event
             ORDER BY t.number DESC LIMIT 1)",
        status: Option<i64> = "(SELECT t.status FROM delivery_attempts t
             WHERE t.ws = d.ws AND t.webhook = d.webhook AND t.event = d.event
             ORDER BY t.number DESC LIMIT 1)",
        answer: Option<String> = "(SELECT t.answer FROM delivery_attempts t
             WHERE t.ws = d.ws AND t.webhook = d.webhook AND t.event = d.event
             ORDER BY t.number DESC LIMIT 1)",
    }
}

fn select(tx: &Tx<'_>, index: &'static str) -> String {
    format!(
        "SELECT {} FROM deliveries d{} CROSS JOIN webhooks h CROSS JOIN workspaces w
         WHERE h.ws = d.ws AND h.id = d.webhook AND w.ws = d.ws",
        DeliveryInQueue::COLUMNS,
        tx.pick(index, ""),
    )
}

/// Those that wait for an attempt: webhook by webhook, the next one first.
pub(super) fn list_open(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (mut webhook, mut at, mut event) = match after {
        Some(key) => (word(key, 0)?.to_owned(), number(key, 1)?, word(key, 2)?.to_owned()),
        None => (String::new(), i64::MIN, String::new()),
    };
    let mut found: Vec<(Vec<String>, QueueItem)> = Vec::new();
    for _ in 0..WEBHOOKS_LOOKED_AT {
        let left = most - found.len() as i64;
        if left <= 0 {
            break;
        }
        if !webhook.is_empty() {
            let rows = open_of(tx, context, &webhook, (at, &event), left)?;
            found.extend(rows.into_iter().map(|row| {
                let at = row.next_attempt_at.unwrap_or(0).to_string();
                (vec![row.webhook.clone(), at, row.event.clone()], row.item(context))
            }));
        }
        (at, event) = (i64::MIN, String::new());
        match next_webhook(tx, context, &webhook)? {
            Some(next) => webhook = next,
            None => break,
        }
    }
    found.truncate(most as usize);
    Ok(found)
}

/// The next webhook that something waits for.
fn next_webhook(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: &str,
) -> Result<Option<String>> {
    let next: Option<(String,)> = match context.ws {
        Some(ws) => tx.opt(
            "SELECT id FROM webhooks WHERE ws = ?1 AND id > ?2 ORDER BY id LIMIT 1",
            &[&ws, &after],
        )?,
        None => tx.opt(
            "SELECT webhook FROM deliveries WHERE next_attempt_at IS NOT NULL AND webhook > ?1
             ORDER BY webhook, next_attempt_at LIMIT 1",
            &[&after],
        )?,
    };
    Ok(next.map(|(id,)| id))
}

fn open_of(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    webhook: &str,
    (at, event): (i64, &str),
    most: i64,
) -> Result<Vec<DeliveryInQueue>> {
    let mut args: Vec<&dyn Arg> = vec![&webhook, &at, &event, &most];
    let state = match context.state {
        Some(QueueState::Waiting) => " AND d.attempts = 0",
        Some(QueueState::Sending) => {
            args.push(&context.now);
            " AND d.lease_until > ?5"
        }
        Some(QueueState::Retrying) => {
            args.push(&context.now);
            " AND d.attempts > 0 AND (d.lease_until IS NULL OR d.lease_until <= ?5)"
        }
        _ => "",
    };
    let sql = format!(
        "{} AND d.webhook = ?1 AND d.next_attempt_at IS NOT NULL
           AND (d.next_attempt_at, d.event) > (?2, ?3){state}{}
         ORDER BY d.next_attempt_at, d.event LIMIT ?4",
        select(tx, " INDEXED BY deliveries_due_of"),
        circle_condition(context, args.len() + 1),
    );
    rows(tx, context, &sql, &args)
}

pub(super) fn list_held(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, webhook, event) = match after {
        Some(key) => (number(key, 0)?, word(key, 1)?, word(key, 2)?),
        None => (context.ws.unwrap_or(0), "", ""),
    };
    let place = match context.ws {
        Some(_) => "d.ws = ?1 AND (d.webhook, d.event) > (?2, ?3)",
        None => "(d.ws, d.webhook, d.event) > (?1, ?2, ?3)",
    };
    let sql = format!(
        "{} AND d.held_at IS NOT NULL AND {place}{} ORDER BY d.ws, d.webhook, d.event LIMIT ?4",
        select(tx, " INDEXED BY deliveries_held"),
        circle_condition(context, 5),
    );
    let rows = rows(tx, context, &sql, &[&ws, &webhook, &event, &most])?;
    Ok(rows.into_iter().map(|row| (row.key(), row.item(context))).collect())
}

/// Those that were dropped, the latest first; events are kept for 30 days.
pub(super) fn list_failed(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, webhook, event) = match after {
        Some(key) => (number(key, 0)?, word(key, 1)?, word(key, 2)?),
        None => (context.ws.unwrap_or(i64::MAX), "~", "~"),
    };
    let place = match context.ws {
        Some(_) => "d.ws = ?1 AND (d.webhook, d.event) < (?2, ?3)",
        None => "(d.ws, d.webhook, d.event) < (?1, ?2, ?3)",
    };
    let sql = format!(
        "{} AND d.state = 'failed' AND {place}{}
         ORDER BY d.ws DESC, d.webhook DESC, d.event DESC LIMIT ?4",
        select(tx, " INDEXED BY deliveries_failed"),
        circle_condition(context, 5),
    );
    let rows = rows(tx, context, &sql, &[&ws, &webhook, &event, &most])?;
    Ok(rows.into_iter().map(|row| (row.key(), row.item(context))).collect())
}

/// Webhooks of a private inbox, or one that is for some, are shown to those who see it.
fn circle_condition(context: &QueueContext<'_>, first: usize) -> String {
    match context.circles {
        Some(_) => format!(
            " AND (h.circle IN ('team', 'sandbox') OR h.circle IN (?{first}, ?{}))",
            first + 1
        ),
        None => String::new(),
    }
}

fn rows(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    sql: &str,
    args: &[&dyn Arg],
) -> Result<Vec<DeliveryInQueue>> {
    let mut args = args.to_vec();
    let pair = context.circles.map(|circles| circles.pair());
    if let Some((first, second)) = &pair {
        args.push(*first);
        args.push(*second);
    }
    Ok(tx.all(sql, &args)?)
}

/// Deliveries that wait or are held for webhooks of inboxes that the actor does not see.
pub(super) fn count_unseen(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<i64> {
    let (first, second) = cx.actor.circles.pair();
    let mut found = 0;
    for condition in ["d.next_attempt_at IS NOT NULL", "d.held_at IS NOT NULL"] {
        let (count,): (i64,) = tx.one(
            &format!(
                "SELECT count(*) FROM (
                     SELECT 1 FROM webhooks h CROSS JOIN deliveries d
                     WHERE h.ws = ?1 AND h.circle NOT IN ('team', 'sandbox')
                       AND h.circle NOT IN (?2, ?3)
                       AND d.ws = h.ws AND d.webhook = h.id AND {condition} LIMIT ?4
                 ) AS unseen"
            ),
            &[&cx.actor.ws, first, second, &COUNTED],
        )?;
        found += count;
    }
    Ok(found)
}

pub(super) fn is_here(tx: &mut Tx<'_>, ws: i64, id: &str) -> Result<bool> {
    let Some((webhook, event)) = id.split_once(SEPARATOR) else { return Ok(false) };
    let sql = "SELECT event FROM deliveries WHERE ws = ?1 AND webhook = ?2 AND event = ?3";
    Ok(tx.opt::<(String,)>(sql, &[&ws, &webhook, &event])?.is_some())
}

/// A delivery that waits, is held, was dropped or skipped; one that was delivered is in no queue.
pub(super) fn find(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    id: &str,
) -> Result<Option<QueueItem>> {
    let Some((webhook, event)) = id.split_once(SEPARATOR) else { return Ok(None) };
    let ws = context.ws.unwrap_or(0);
    let sql = format!(
        "{} AND d.ws = ?1 AND d.webhook = ?2 AND d.event = ?3 AND d.state <> 'delivered'{}",
        select(tx, ""),
        circle_condition(context, 4),
    );
    let found = rows(tx, context, &sql, &[&ws, &webhook, &event])?;
    Ok(found.into_iter().next().map(|row| row.item(context)))
}

/// Every attempt, without what the receiver answered.
pub(super) fn details(tx: &mut Tx<'_>, item: &QueueItem) -> Result<Value> {
    let (webhook, event) = item.id.split_once(SEPARATOR).unwrap_or_default();
    let attempts: Vec<(Moment, i64, Option<i64>)> = tx.all(
        "SELECT at, took, status FROM delivery_attempts
         WHERE ws = ?1 AND webhook = ?2 AND event = ?3 ORDER BY number",
        &[&item.ws, &webhook, &event],
    )?;
    let attempt = |(at, took, status): (Moment, i64, Option<i64>)| json!({ "at": at, "tookMs": took, "status": status });
    Ok(json!({ "attempts": attempts.into_iter().map(attempt).collect::<Vec<_>>() }))
}

impl DeliveryInQueue {
    fn key(&self) -> Vec<String> {
        vec![self.ws.to_string(), self.webhook.clone(), self.event.clone()]
    }

    fn item(self, context: &QueueContext<'_>) -> QueueItem {
        let leased = self.lease_until.is_some_and(|until| until > context.now);
        let state = match self.state.as_str() {
            "failed" | "skipped" => QueueState::Failed,
            _ if self.held_at.is_some() => QueueState::Held,
            _ if leased => QueueState::Sending,
            _ if self.attempts > 0 => QueueState::Retrying,
            _ => QueueState::Waiting,
        };
        let wait_reason = match state {
            QueueState::Failed | QueueState::GivenUp => WaitReason::Failed,
            QueueState::Held => WaitReason::Held,
            QueueState::Sending => WaitReason::BeingSent,
            _ if context.quiet => WaitReason::Quiet,
            _ if self.webhook_state == "paused" => WaitReason::WebhookPaused,
            _ if self.webhook_state == "off" => WaitReason::WebhookOff,
            QueueState::Retrying => WaitReason::Deferred,
            QueueState::Waiting => WaitReason::Due,
        };
        let last_outcome = self.tried_at.map(|_| match self.status {
            Some(status) => {
                let sentence = format!("the receiver answered {status}");
                SendFailure { code: status.to_string(), text: capitalize(&sentence) }
            }
            None => SendFailure::new("no-answer", self.answer.as_deref().unwrap_or_default(), ""),
        });
        QueueItem {
            kind: QueueKind::Webhooks,
            id: format!("{}{SEPARATOR}{}", self.webhook, self.event),
            workspace: self.slug,
            state,
            wait_reason,
            target: self.url,
            attempts: self.attempts,
            since: Moment(self.created_at),
            next_attempt_at: self
                .next_attempt_at
                .filter(|_| state != QueueState::Sending)
                .map(Moment),
            held_at: self.held_at.map(Moment),
            held_by: self.held_by.filter(|_| state == QueueState::Held),
            last_outcome,
            conversation_id: None,
            event_type: Some(self.event_type),
            subject: None,
            circle: self.circle,
            ws: self.ws,
        }
    }
}

fn capitalize(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

pub(super) fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    item: &QueueItem,
    act: QueueAct,
    by: &str,
) -> Result<()> {
    let ids = item.id.split_once(SEPARATOR);
    let (webhook, event) = ids.ok_or(Error::NotFound("webhook delivery"))?;
    let key: [&dyn Arg; 3] = [&cx.actor.ws, &webhook, &event];
    if item.state == QueueState::Sending {
        return Err(under_way("The event"));
    }
    let refuse = |sentence: &str| Err(Error::invalid("delivery", sentence));
    match (act, item.state) {
        (QueueAct::Hold, QueueState::Waiting | QueueState::Retrying) => {
            let sql = format!(
                "UPDATE deliveries SET held_at = ?4, held_by = ?5, next_attempt_at = NULL {OF_KEY}
                   AND state = 'waiting' AND next_attempt_at IS NOT NULL"
            );
            settle(tx, &sql, &[key[0], key[1], key[2], &cx.now, &by])?;
        }
        (QueueAct::Hold, _) => return refuse("does not wait for an attempt, so it cannot be held"),
        (QueueAct::Release, QueueState::Held) => {
            let sql = format!(
                "UPDATE deliveries SET held_at = NULL, held_by = NULL, next_attempt_at = ?4 {OF_KEY}
                   AND held_at IS NOT NULL"
            );
            settle(tx, &sql, &[key[0], key[1], key[2], &cx.now])?;
        }
        (QueueAct::Release, _) => return refuse("is not held"),
        (QueueAct::Retry, QueueState::Held) => return refuse("is held; release it instead"),
        (QueueAct::Retry, QueueState::Retrying | QueueState::Waiting) => {
            let sql = format!(
                "UPDATE deliveries SET next_attempt_at = ?4, lease_until = NULL {OF_KEY}
                   AND next_attempt_at IS NOT NULL"
            );
            settle(tx, &sql, &[key[0], key[1], key[2], &cx.now])?;
        }
        (QueueAct::Retry, _) => {
            must_be_active(tx, &key)?;
            let sql = format!(
                "UPDATE deliveries
                 SET state = 'waiting', attempts = 0, next_attempt_at = ?4, lease_until = NULL {OF_KEY}
                   AND state IN ('failed', 'skipped')"
            );
            settle(tx, &sql, &[key[0], key[1], key[2], &cx.now])?;
            forget_failures(tx, cx, webhook, event)?;
        }
        (QueueAct::Discard, QueueState::Failed | QueueState::GivenUp) => {
            return refuse("is in no queue any more: it was dropped");
        }
        (QueueAct::Discard, _) => {
            let sql = format!(
                "UPDATE deliveries SET state = 'failed', next_attempt_at = NULL, held_at = NULL,
                    held_by = NULL {OF_KEY} AND state = 'waiting'"
            );
            settle(tx, &sql, &key)?;
            forget_failures(tx, cx, webhook, event)?;
        }
    }
    tx.wake(Queue::Deliveries);
    Ok(())
}

const OF_KEY: &str = "WHERE ws = ?1 AND webhook = ?2 AND event = ?3";

/// A change of one row that is there.
fn settle(tx: &mut Tx<'_>, sql: &str, args: &[&dyn Arg]) -> Result<()> {
    match tx.exec(sql, args)? {
        0 => Err(Error::NotFound("webhook delivery")),
        _ => Ok(()),
    }
}

fn must_be_active(tx: &mut Tx<'_>, key: &[&dyn Arg; 3]) -> Result<()> {
    let (state,): (String,) =
        tx.one("SELECT state FROM webhooks WHERE ws = ?1 AND id = ?2", &key[..2])?;
    match state.as_str() {
        "active" => Ok(()),
        _ => Err(Error::invalid("webhook", "is not active; resume it first")),
    }
}

fn forget_failures(tx: &mut Tx<'_>, cx: &Cx<'_>, webhook: &str, event: &str) -> Result<()> {
    tx.exec(
        "DELETE FROM job_failures WHERE ws = ?1 AND queue = ?2 AND job = ?3",
        &[&cx.actor.ws, &Queue::Deliveries, &format!("{webhook} {event}")],
    )?;
    Ok(())
}
