//! Managing a webhook: its secret, its state, and its delivery log.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{EventId, WebhookId};
use base::limits::{LOG_ITEMS, OLD_SECRET_MS};
use base::string_enum::string_enum;
use base::time::Moment;
use db::{Arg, Tx};
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::webhooks::State;
use model::webhooks::events::{self, WebhookTest};
use model::webhooks::registration::{forget_webhook, format_of};
use model::webhooks::webhook_signing;
use serde::Serialize;

/// Gives a webhook a new secret, shown this once. The old one signs too for 24 hours. That of a chat is its address.
pub fn rotate_secret(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<String> {
    note(tx, cx, id, Action::WebhookRotated)?;
    if format_of(tx, cx, id)?.is_chat() {
        let sentence = "is of a chat, whose address is the secret; add the new address instead";
        return Err(Error::invalid("webhook", sentence));
    }
    let secret = webhook_signing::new_secret(cx.ids);
    let kept = sealing::seal(cx, &sealing::webhook_purpose(cx.actor.ws, id), &secret);
    tx.exec(
        "UPDATE webhooks SET old_secret = secret, old_secret_until = ?3, secret = ?4
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &(cx.now + OLD_SECRET_MS), &kept],
    )?;
    Ok(secret)
}

/// Nothing is sent to a paused webhook; its deliveries are logged as skipped.
pub fn pause_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<()> {
    note(tx, cx, id, Action::WebhookPaused)?;
    tx.exec("UPDATE webhooks SET state = 'paused' WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    tx.exec(
        "UPDATE deliveries SET state = 'skipped', next_attempt_at = NULL, lease_until = NULL
         WHERE ws = ?1 AND webhook = ?2 AND next_attempt_at IS NOT NULL",
        &[&cx.actor.ws, id],
    )?;
    Ok(())
}

/// Resumes deliveries and resets the failure count. Skipped deliveries can be redelivered by hand.
pub fn resume_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<()> {
    note(tx, cx, id, Action::WebhookResumed)?;
    tx.exec(
        "UPDATE webhooks SET state = 'active', failing_since = NULL WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    Ok(())
}

/// Removes a webhook and its log.
pub fn delete_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<()> {
    note(tx, cx, id, Action::WebhookDeleted)?;
    forget_webhook(tx, cx, id)
}

/// Records the actor's change of a webhook in the audit log.
fn note(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId, action: Action) -> Result<()> {
    let circle = find(tx, cx, id)?;
    let (url,): (String,) =
        tx.one("SELECT url FROM webhooks WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    audit_log::record(tx, cx, &circle, action, &url, "")
}

/// Sends `webhook.test` to this one webhook, under the same rules as any event.
pub fn send_test_event(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<EventId> {
    let circle = find(tx, cx, id)?;
    events::record_for_one(tx, cx, &circle, id, &WebhookTest { endpoint_id: id })
}

string_enum! {
    /// The state of a delivery.
    DeliveryState {
        Waiting = "waiting",
        Delivered = "delivered",
        Failed = "failed",
        Skipped = "skipped",
    }
}

/// Which deliveries of a log are shown.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    pub state: Option<DeliveryState>,
    /// An event's name, such as `client.replied`.
    pub event_type: Option<String>,
    /// Only older ones than this.
    pub before: Option<EventId>,
}

db::row! {
    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct LoggedDelivery from "d" {
        pub event: EventId,
        #[serde(rename = "type")]
        pub event_type: String = "d.type",
        pub state: DeliveryState,
        pub created_at: Moment,
        pub next_attempt_at: Option<Moment>,
        /// Somebody holds it in the queue.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub held: bool = "d.held_at IS NOT NULL",
        /// The envelope exactly as it is sent; empty when the event is not kept any more.
        #[serde(skip)]
        pub body: String =
            "coalesce((SELECT e.body FROM events e WHERE e.ws = d.ws AND e.id = d.event), '')",
    } later {
        pub attempts: Vec<LoggedAttempt>,
    }
}

db::row! {
    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct LoggedAttempt from "delivery_attempts" {
        pub at: Moment,
        pub took_ms: i64 = "delivery_attempts.took",
        /// Null without a response.
        pub status: Option<i64>,
        /// The start of the response, or a sentence on why there is none.
        pub answer: String,
    }
}

/// One page of a webhook's log, newest first, with every try.
pub fn delivery_log(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &WebhookId,
    filter: &LogFilter,
) -> Result<Vec<LoggedDelivery>> {
    find(tx, cx, id)?;
    let before = filter.before.as_ref().map_or("~", |event| event.as_str());
    let mut conditions = String::new();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, id, &before, &LOG_ITEMS];
    match &filter.state {
        // Spelled out, because the indexes of these hold no others.
        Some(DeliveryState::Failed) => conditions.push_str(" AND d.state = 'failed'"),
        Some(DeliveryState::Skipped) => conditions.push_str(" AND d.state = 'skipped'"),
        Some(state) => {
            args.push(state);
            conditions.push_str(&format!(" AND d.state = ?{}", args.len()));
        }
        None => {}
    }
    if let Some(event_type) = &filter.event_type {
        args.push(event_type);
        conditions.push_str(&format!(" AND d.type = ?{} AND d.attempts >= 0", args.len()));
    }
    let index = index_for(tx, filter);
    let mut deliveries: Vec<LoggedDelivery> = tx.all(
        &format!(
            "SELECT {} FROM deliveries d {index}
             WHERE d.ws = ?1 AND d.webhook = ?2 AND d.event < ?3{conditions}
             ORDER BY d.event DESC LIMIT ?4",
            LoggedDelivery::COLUMNS
        ),
        &args,
    )?;
    for delivery in &mut deliveries {
        delivery.attempts = tx.all(
            &format!(
                "SELECT {} FROM delivery_attempts
                 WHERE ws = ?1 AND webhook = ?2 AND event = ?3 ORDER BY number",
                LoggedAttempt::COLUMNS
            ),
            &[&cx.actor.ws, id, &delivery.event],
        )?;
    }
    Ok(deliveries)
}

/// Without this SQLite's planner scans the whole log in its order instead of the few requested
/// rows.
fn index_for(tx: &Tx<'_>, filter: &LogFilter) -> &'static str {
    let index = match (&filter.state, &filter.event_type) {
        (Some(DeliveryState::Failed), _) => "INDEXED BY deliveries_failed",
        (Some(DeliveryState::Skipped), _) => "INDEXED BY deliveries_skipped",
        (_, Some(_)) => "INDEXED BY deliveries_by_type",
        (_, None) => "",
    };
    tx.pick(index, "")
}

/// Sends an event once more, with the same id and a schedule of its own.
pub fn redeliver(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId, event: &EventId) -> Result<()> {
    find(tx, cx, id)?;
    let (state,): (State,) =
        tx.one("SELECT state FROM webhooks WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    if state != State::Active {
        return Err(Error::invalid("webhook", "is not active; resume it first"));
    }
    let planned = tx.exec(
        "UPDATE deliveries
         SET state = 'waiting', attempts = 0, next_attempt_at = ?4, held_at = NULL, lease_until = NULL
         WHERE ws = ?1 AND webhook = ?2 AND event = ?3",
        &[&cx.actor.ws, id, event, &cx.now],
    )?;
    if planned == 0 {
        return Err(Error::NotFound("event in this webhook's log"));
    }
    tx.wake(Queue::Deliveries);
    Ok(())
}

/// A version of a webhook's latest deliveries, which changes with every attempt.
pub fn latest_deliveries(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &WebhookId,
) -> Result<Vec<(String, String, i64)>> {
    find(tx, cx, id)?;
    Ok(tx.all(
        "SELECT event, state, attempts FROM deliveries
         WHERE ws = ?1 AND webhook = ?2 ORDER BY event DESC LIMIT ?3",
        &[&cx.actor.ws, id, &LOG_ITEMS],
    )?)
}

/// The circle of a webhook that the actor may manage. Another person's private webhook is not
/// found.
pub(crate) fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<Circle> {
    cx.actor.must_administer()?;
    let found: Option<(Circle,)> =
        tx.opt("SELECT circle FROM webhooks WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let found = found.filter(|(circle,)| looks_after(cx, circle));
    found.map(|(circle,)| circle).ok_or(Error::NotFound("webhook"))
}

/// A private webhook may be managed by people who see its circle, and by the operator at the
/// command line.
pub(crate) fn looks_after(cx: &Cx<'_>, circle: &Circle) -> bool {
    match &cx.actor.who {
        Principal::Person { .. } if circle.is_closed() => cx.actor.sees(circle),
        _ => true,
    }
}
