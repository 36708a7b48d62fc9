//! Outgoing messages in the queue: listed, held, released, tried again, discarded.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::time::Moment;
use db::{Arg, Tx};
use inbound::imap;
use model::conversations::leaving;
use model::conversations::timeline::{self, TimelineEvent};
use model::mailboxes;
use model::messages::recipients;
use model::messages::send_failure::SendFailure;
use outbound::failed_messages;
use outbound::messages::{self, OutgoingMessage};
use serde_json::{Value, json};

use super::queue_cursor::{number, word};
use super::{
    COUNTED, LISTED_MS, QueueAct, QueueContext, QueueItem, QueueKind, QueueState, WaitReason,
    under_way,
};

/// Recipients that a list names.
const NAMED_RECIPIENTS: usize = 3;

db::row! {
    /// Read as text where it can be, so that one unreadable row does not hide the others.
    struct MessageInQueue from "m" {
        ws: i64,
        id: String,
        conversation: String,
        status: String = "coalesce(m.status, '')",
        to_list: String,
        subject: String,
        at: i64,
        sends_at: Option<i64>,
        held_at: Option<i64>,
        held_by: Option<String>,
        lease_until: Option<i64>,
        failed_at: Option<i64>,
        attempts: i64,
        outcome_code: Option<String>,
        outcome_text: Option<String>,
        circle: Circle = "c.circle",
        slug: String = "w.slug",
        /// What the inbox's own server last said, while it fails.
        server_error: Option<String> = "(SELECT coalesce(o.last_error, '') FROM outgoing_servers o
             WHERE o.ws = m.ws AND o.mailbox IN (m.mailbox, '') AND o.failing_since IS NOT NULL
             ORDER BY o.mailbox DESC LIMIT 1)",
        has_server: bool = "EXISTS (SELECT 1 FROM outgoing_servers o
             WHERE o.ws = m.ws AND o.mailbox IN (m.mailbox, ''))",
    }
}

/// Messages with their conversation and workspace; SQLite takes this index.
fn select(tx: &Tx<'_>, index: &'static str) -> String {
    format!(
        "SELECT {} FROM messages m{} {} CROSS JOIN workspaces w WHERE w.ws = m.ws",
        MessageInQueue::COLUMNS,
        tx.pick(index, ""),
        with_conversation(tx),
    )
}

/// Joins each message's conversation, by its key: `OFFSET 0` keeps the planner of PostgreSQL from
/// reading all conversations.
fn with_conversation(tx: &Tx<'_>) -> &'static str {
    tx.pick(
        "CROSS JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation",
        "CROSS JOIN LATERAL (SELECT k.circle FROM conversations k
             WHERE k.ws = m.ws AND k.id = m.conversation OFFSET 0) c",
    )
}

/// Those that wait for their time or for another attempt, the next one first.
pub(super) fn list_open(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, sends_at, id) = match after {
        Some(key) => (number(key, 0)?, number(key, 1)?, word(key, 2)?),
        None => (context.ws.unwrap_or(0), i64::MIN, ""),
    };
    let mut args: Vec<&dyn Arg> = vec![&ws, &sends_at, &id, &most];
    let state = match context.state {
        Some(QueueState::Waiting) => " AND m.status = 'scheduled'",
        Some(QueueState::Sending) => {
            args.push(&context.now);
            " AND m.status = 'sending' AND m.lease_until > ?5"
        }
        Some(QueueState::Retrying) => {
            args.push(&context.now);
            " AND m.status = 'sending' AND (m.lease_until IS NULL OR m.lease_until <= ?5)"
        }
        _ => "",
    };
    let place = match context.ws {
        Some(_) => "m.ws = ?1 AND (m.sends_at, m.id) > (?2, ?3)",
        None => "(m.ws, m.sends_at, m.id) > (?1, ?2, ?3)",
    };
    let select = select(tx, " INDEXED BY messages_due_of");
    let sql = format!(
        "{select} AND m.sends_at IS NOT NULL AND {place}{state}{}
         ORDER BY m.ws, m.sends_at, m.id LIMIT ?4",
        circle_condition(context, args.len() + 1),
    );
    let rows = rows(tx, context, &sql, &args)?;
    let key = |row: &MessageInQueue| {
        vec![row.ws.to_string(), row.sends_at.unwrap_or(0).to_string(), row.id.clone()]
    };
    Ok(rows.into_iter().map(|row| (key(&row), row.item(context))).collect())
}

/// Those that somebody holds.
pub(super) fn list_held(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, id) = match after {
        Some(key) => (number(key, 0)?, word(key, 1)?),
        None => (context.ws.unwrap_or(0), ""),
    };
    let place = match context.ws {
        Some(_) => "m.ws = ?1 AND m.id > ?2",
        None => "(m.ws, m.id) > (?1, ?2)",
    };
    let select = select(tx, " INDEXED BY messages_held");
    let sql = format!(
        "{select} AND m.held_at IS NOT NULL AND {place}{} ORDER BY m.ws, m.id LIMIT ?3",
        circle_condition(context, 4),
    );
    let rows = rows(tx, context, &sql, &[&ws, &id, &most])?;
    let key = |row: &MessageInQueue| vec![row.ws.to_string(), row.id.clone()];
    Ok(rows.into_iter().map(|row| (key(&row), row.item(context))).collect())
}

/// Those that failed in the last 30 days, the latest first.
pub(super) fn list_failed(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, failed_at, id) = match after {
        Some(key) => (number(key, 0)?, number(key, 1)?, word(key, 2)?),
        None => (context.ws.unwrap_or(i64::MAX), i64::MAX, "~"),
    };
    let place = match context.ws {
        Some(_) => "m.ws = ?1 AND (m.failed_at, m.id) < (?2, ?3)",
        None => "(m.ws, m.failed_at, m.id) < (?1, ?2, ?3)",
    };
    let select = select(tx, " INDEXED BY messages_failed_at");
    let sql = format!(
        "{select} AND m.failed_at IS NOT NULL AND m.failed_at > ?4 AND {place}
           AND m.status = 'failed'{}
         ORDER BY m.ws DESC, m.failed_at DESC, m.id DESC LIMIT ?5",
        circle_condition(context, 6),
    );
    let since = context.now - LISTED_MS;
    let rows = rows(tx, context, &sql, &[&ws, &failed_at, &id, &since, &most])?;
    let key = |row: &MessageInQueue| {
        vec![row.ws.to_string(), row.failed_at.unwrap_or(0).to_string(), row.id.clone()]
    };
    Ok(rows.into_iter().map(|row| (key(&row), row.item(context))).collect())
}

/// The condition on the circle, whose arguments follow the others.
fn circle_condition(context: &QueueContext<'_>, first: usize) -> String {
    match context.circles {
        Some(_) => format!(" AND c.circle IN (?{first}, ?{})", first + 1),
        None => String::new(),
    }
}

fn rows(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    sql: &str,
    args: &[&dyn Arg],
) -> Result<Vec<MessageInQueue>> {
    let mut args = args.to_vec();
    let pair = context.circles.map(|circles| circles.pair());
    if let Some((first, second)) = &pair {
        args.push(*first);
        args.push(*second);
    }
    Ok(tx.all(sql, &args)?)
}

/// Messages in the queue, or failed of late, in inboxes that the actor does not see. `OFFSET 0` has
/// PostgreSQL look into each of those inboxes instead of reading the whole queue.
pub(super) fn count_unseen(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<i64> {
    let (first, second) = cx.actor.circles.pair();
    let (long_ago, since) = (i64::MIN, cx.now - LISTED_MS);
    let mut found = 0;
    for (rows, since) in [
        ("m.sends_at > ?2", long_ago),
        ("m.held_at > ?2", long_ago),
        ("m.status = 'failed' AND m.at > ?2 AND m.failed_at > ?2", since),
    ] {
        let of_inbox = "m.ws = b.ws AND m.mailbox = b.id";
        let messages = tx.pick(
            format!("CROSS JOIN messages m ON {of_inbox} AND {rows}"),
            format!(
                "CROSS JOIN LATERAL (SELECT 1 FROM messages m WHERE {of_inbox} AND {rows} OFFSET 0) m"
            ),
        );
        let (count,): (i64,) = tx.one(
            &format!(
                "SELECT count(*) FROM (
                     SELECT 1 FROM mailboxes b {messages}
                     WHERE b.ws = ?1 AND b.circle NOT IN ('team', 'sandbox', 'deleted')
                       AND b.circle NOT IN (?3, ?4) LIMIT ?5
                 ) AS unseen"
            ),
            &[&cx.actor.ws, &since, first, second, &COUNTED],
        )?;
        found += count;
    }
    Ok(found)
}

pub(super) fn is_here(tx: &mut Tx<'_>, ws: i64, id: &str) -> Result<bool> {
    let sql = "SELECT id FROM messages WHERE ws = ?1 AND id = ?2 AND status IS NOT NULL";
    Ok(tx.opt::<(String,)>(sql, &[&ws, &id])?.is_some())
}

/// A message that waits, is held or failed; one that was sent is in no queue.
pub(super) fn find(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    id: &str,
) -> Result<Option<QueueItem>> {
    let ws = context.ws.unwrap_or(0);
    let sql = format!(
        "{} AND m.ws = ?1 AND m.id = ?2
           AND (m.status = 'failed' OR m.sends_at IS NOT NULL OR m.held_at IS NOT NULL){}",
        select(tx, ""),
        circle_condition(context, 3),
    );
    let found = rows(tx, context, &sql, &[&ws, &id])?;
    Ok(found.into_iter().next().map(|row| row.item(context)))
}

/// How it ended for its recipients so far.
pub(super) fn details(tx: &mut Tx<'_>, item: &QueueItem) -> Result<Value> {
    let outcomes: Vec<(String, Option<String>, Option<String>)> = tx.all(
        "SELECT email, refusal, code FROM recipient_outcomes WHERE ws = ?1 AND message = ?2
         ORDER BY email",
        &[&item.ws, &item.id],
    )?;
    let recipients = outcomes.into_iter().map(|(email, refusal, code)| {
        json!({ "email": email, "delivered": refusal.is_none(), "code": code, "text": refusal })
    });
    Ok(json!({ "recipients": recipients.collect::<Vec<_>>() }))
}

impl MessageInQueue {
    fn item(self, context: &QueueContext<'_>) -> QueueItem {
        let leased = self.lease_until.is_some_and(|until| until > context.now);
        let state = match self.status.as_str() {
            "failed" => QueueState::Failed,
            _ if self.held_at.is_some() => QueueState::Held,
            "sending" if leased => QueueState::Sending,
            "sending" => QueueState::Retrying,
            _ => QueueState::Waiting,
        };
        let simulated = self.circle.is_sandbox();
        let is_due = self.sends_at.is_some_and(|at| at <= context.now);
        let wait_reason = match state {
            QueueState::Failed | QueueState::GivenUp => WaitReason::Failed,
            QueueState::Held => WaitReason::Held,
            QueueState::Sending => WaitReason::BeingSent,
            _ if context.quiet && !simulated => WaitReason::Quiet,
            _ if !context.has_relay && !self.has_server && !simulated => WaitReason::NoServer,
            _ if self.server_error.is_some() => WaitReason::ServerFailing,
            QueueState::Retrying => WaitReason::Deferred,
            QueueState::Waiting if is_due => WaitReason::Due,
            QueueState::Waiting => WaitReason::Scheduled,
        };
        let stored = self.outcome_code.zip(self.outcome_text);
        let known = stored.map(|(code, text)| SendFailure { code, text });
        let of_server = self.server_error.filter(|_| wait_reason == WaitReason::ServerFailing);
        let of_server = of_server.map(|error| SendFailure::new("server-failing", &error, ""));
        let last_outcome = known.or(of_server);
        let is_failed = state == QueueState::Failed;
        QueueItem {
            kind: QueueKind::Messages,
            id: self.id,
            workspace: self.slug,
            state,
            wait_reason,
            target: names(&self.to_list),
            attempts: self.attempts,
            since: Moment(if is_failed { self.failed_at.unwrap_or(self.at) } else { self.at }),
            next_attempt_at: self.sends_at.filter(|_| state != QueueState::Sending).map(Moment),
            held_at: self.held_at.map(Moment),
            held_by: self.held_by.filter(|_| state == QueueState::Held),
            last_outcome: match is_failed {
                true => Some(last_outcome.unwrap_or_else(SendFailure::unknown)),
                false => last_outcome,
            },
            conversation_id: Some(self.conversation),
            event_type: None,
            subject: Some(self.subject),
            circle: self.circle,
            ws: self.ws,
        }
    }
}

/// The first recipients of a stored list.
fn names(list: &str) -> String {
    let parties: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let emails: Vec<&str> = parties.iter().filter_map(|party| party["email"].as_str()).collect();
    let mut named = emails.iter().take(NAMED_RECIPIENTS).copied().collect::<Vec<_>>().join(", ");
    if emails.len() > NAMED_RECIPIENTS {
        named.push_str(&format!(" (+{})", emails.len() - NAMED_RECIPIENTS));
    }
    named
}

pub(super) fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    item: &QueueItem,
    act: QueueAct,
    by: &str,
) -> Result<()> {
    let id = MessageId::parse(&item.id).ok_or(Error::NotFound("message"))?;
    if item.state == QueueState::Sending {
        return Err(under_way("The message"));
    }
    let (message, _) = messages::load_outgoing(tx, cx.actor, &id)?;
    match act {
        QueueAct::Hold => hold(tx, cx, &message, by),
        QueueAct::Release => release(tx, cx, &message),
        QueueAct::Retry => retry(tx, cx, item, &message),
        QueueAct::Discard => discard(tx, cx, item, &message, by),
    }
}

fn hold(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage, by: &str) -> Result<()> {
    let held = tx.exec(
        "UPDATE messages SET held_at = ?3, held_by = ?4, held_sends_at = sends_at, sends_at = NULL
         WHERE ws = ?1 AND id = ?2 AND sends_at IS NOT NULL
           AND status IN ('scheduled', 'sending') AND (lease_until IS NULL OR lease_until <= ?3)",
        &[&cx.actor.ws, &message.id, &cx.now, &by],
    )?;
    if held == 0 {
        return Err(Error::invalid("message", "does not wait to leave, so it cannot be held"));
    }
    let event = TimelineEvent::SendHeld { message_id: message.id.clone() };
    timeline::record(tx, cx, &message.conversation, &event)
}

/// It leaves when it would have, or at once where that is past.
fn release(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    let held: Option<(Option<i64>,)> = tx.opt(
        "SELECT held_sends_at FROM messages WHERE ws = ?1 AND id = ?2 AND held_at IS NOT NULL",
        &[&cx.actor.ws, &message.id],
    )?;
    let Some((planned,)) = held else {
        return Err(Error::invalid("message", "is not held"));
    };
    let sends_at = planned.unwrap_or(cx.now).max(cx.now);
    tx.exec(
        "UPDATE messages
         SET sends_at = ?3, held_at = NULL, held_by = NULL, held_sends_at = NULL, lease_until = NULL
         WHERE ws = ?1 AND id = ?2 AND held_at IS NOT NULL",
        &[&cx.actor.ws, &message.id, &sends_at],
    )?;
    tx.wake(Queue::Messages);
    let event = TimelineEvent::SendReleased { message_id: message.id.clone() };
    timeline::record(tx, cx, &message.conversation, &event)
}

fn retry(tx: &mut Tx<'_>, cx: &Cx<'_>, item: &QueueItem, message: &OutgoingMessage) -> Result<()> {
    let refuse = |sentence: &str| Err(Error::invalid("message", sentence));
    match item.state {
        QueueState::Held => return refuse("is held; release it instead"),
        QueueState::Waiting => {
            return refuse("has not been tried yet; it leaves by itself when its time has come");
        }
        QueueState::Failed => revive(tx, cx, message)?,
        QueueState::Retrying | QueueState::Sending | QueueState::GivenUp => {
            let due = tx.exec(
                "UPDATE messages SET sends_at = ?3, lease_until = NULL
                 WHERE ws = ?1 AND id = ?2 AND status = 'sending' AND held_at IS NULL
                   AND (lease_until IS NULL OR lease_until <= ?3)",
                &[&cx.actor.ws, &message.id, &cx.now],
            )?;
            if due == 0 {
                return Err(under_way("The message"));
            }
        }
    }
    tx.wake(Queue::Messages);
    let event = TimelineEvent::SendRetried { message_id: message.id.clone() };
    timeline::record(tx, cx, &message.conversation, &event)
}

/// Schedules a failed message anew, as if it had never been tried.
fn revive(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    if mailboxes::is_deleted(tx, cx.actor.ws, &message.mailbox)? {
        return Err(Error::invalid("message", "is of an inbox that was deleted"));
    }
    let revived = tx.exec(
        "UPDATE messages SET status = 'scheduled', sends_at = ?3, attempts = 0,
            first_attempt_at = NULL, failed_at = NULL, outcome_code = NULL, outcome_text = NULL
         WHERE ws = ?1 AND id = ?2 AND status = 'failed' AND counted_at IS NULL",
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if revived == 0 {
        let sentence = "left and came back; write to another address in a new message";
        return Err(Error::invalid("message", sentence));
    }
    tx.exec(
        "DELETE FROM recipient_outcomes WHERE ws = ?1 AND message = ?2 AND refusal IS NOT NULL",
        &[&cx.actor.ws, &message.id],
    )?;
    leaving::note(tx, cx.actor.ws, &message.conversation)?;
    forget_failures(tx, cx, message)
}

/// It has not left for anybody, or counts as sent to those who have it.
fn discard(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    item: &QueueItem,
    message: &OutgoingMessage,
    by: &str,
) -> Result<()> {
    if item.state == QueueState::Failed {
        return Err(Error::invalid("message", "is in no queue any more: it failed"));
    }
    let interrupted: Option<(i64,)> = tx.opt(
        "SELECT lease_until FROM messages WHERE ws = ?1 AND id = ?2 AND lease_until IS NOT NULL",
        &[&cx.actor.ws, &message.id],
    )?;
    let failure = SendFailure::discard(by, interrupted.is_some());
    let (mut found, mut left) = (Vec::new(), Vec::new());
    let delivered: Vec<(String,)> = tx.all(
        "SELECT email FROM recipient_outcomes
         WHERE ws = ?1 AND message = ?2 AND refusal IS NULL",
        &[&cx.actor.ws, &message.id],
    )?;
    for party in recipients::of_message(tx, cx.actor.ws, &message.id)?.everybody() {
        let email = party.address().to_string();
        match delivered.iter().any(|(known,)| *known == email) {
            true => found.push(email),
            false => left.push(email),
        }
    }
    forget_failures(tx, cx, message)?;
    let (_, mut conversation) = messages::load_outgoing(tx, cx.actor, &message.id)?;
    if found.is_empty() {
        return failed_messages::mark_discarded(tx, cx, &conversation, message, &failure);
    }
    messages::mark_sent(tx, cx, &mut conversation, message)?;
    imap::plan_copy(tx, cx, &message.mailbox, &message.id)?;
    let event = TimelineEvent::SendDiscarded { message_id: message.id.clone() };
    timeline::record(tx, cx, &message.conversation, &event)?;
    match left.is_empty() {
        true => Ok(()),
        false => failed_messages::note_refused(tx, cx, message, &left, &failure),
    }
}

fn forget_failures(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    tx.exec(
        "DELETE FROM job_failures WHERE ws = ?1 AND queue = ?2 AND job = ?3",
        &[&cx.actor.ws, &Queue::Messages, &message.id],
    )?;
    Ok(())
}
