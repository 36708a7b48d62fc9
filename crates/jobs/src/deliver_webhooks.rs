//! Delivers events to webhooks (API section 6.1).
//!
//! Claims and outcomes are relaxed writes: deliveries whose outcome is lost in a power cut are
//! repeated with the same event id.

use std::sync::Arc;

use base::actor::{Actor, Circle, Plan};
use base::app::{App, Cx};
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{EventId, UserId, WebhookId, WorkspaceId};
use base::limits::{DAY_MS, EVENTS_KEPT_MS, MINUTE_MS, duration};
use db::Tx;
use metrics::{counter, histogram};
use model::installation::sealing;
use model::people::notices::{Notice, notify};
use model::webhooks::{State, webhook_signing};
use tracing::Instrument;

use super::{WebhookRequest, WebhookResponse, WebhookSender};
use crate::runs::concurrency::{FreeSlots, JobSlot, JobSlots};
use crate::runs::failures::{JobRevival, JobRule, send_no_notice};
use crate::runs::fair_share::{FairShare, FairShareCursor};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};

/// The retry backoff after failed attempts, each with a jitter of a fifth. After the last retry the
/// event is dropped.
pub const RETRIES_MS: [i64; 8] = [
    MINUTE_MS / 2,
    2 * MINUTE_MS,
    10 * MINUTE_MS,
    30 * MINUTE_MS,
    60 * MINUTE_MS,
    180 * MINUTE_MS,
    360 * MINUTE_MS,
    720 * MINUTE_MS,
];
/// A webhook without a success for this long is paused.
const PAUSE_AFTER_MS: i64 = DAY_MS;
/// Concurrent attempts, in total, for all webhooks of a workspace and per webhook.
const IN_FLIGHT: usize = 512;
const IN_FLIGHT_OF_WORKSPACE: usize = 128;
const IN_FLIGHT_EACH: usize = 16;
/// Deliveries claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 64;
/// Deliveries of a webhook that is not active set aside in one transaction.
const SET_ASIDE_AT_ONCE: i64 = 500;
/// The outcomes of an attempt in the metrics.
pub(super) const DELIVERY_OUTCOMES: [&str; 2] = ["delivered", "failed"];
/// The log entry for a webhook whose signing secret cannot be unsealed.
const SECRET_SHUT: &str = "The signing secret does not open with the secret.key of this server.";

const WEBHOOKS: FairShare = FairShare {
    oldest: "SELECT webhook FROM deliveries WHERE next_attempt_at <= ?1
             ORDER BY next_attempt_at LIMIT ?2",
    next: "SELECT webhook, next_attempt_at FROM deliveries
           WHERE next_attempt_at IS NOT NULL AND webhook > ?1
           ORDER BY webhook, next_attempt_at LIMIT 1",
};

/// A delivery that cannot be built is retried, and then marked as failed in its webhook's log.
pub(super) const RULE: JobRule = JobRule {
    queue: Queue::Deliveries,
    retry_at: Some(
        "UPDATE deliveries SET next_attempt_at = ?1, lease_until = NULL
         WHERE ws = ?2 AND webhook = ?3 AND event = ?4 AND next_attempt_at IS NOT NULL",
    ),
    abandon: "UPDATE deliveries
           SET state = 'failed', next_attempt_at = NULL, held_at = NULL, lease_until = NULL
           WHERE ws = ?1 AND webhook = ?2 AND event = ?3",
    revival: JobRevival::Never,
    report: send_no_notice,
};

/// A due delivery.
#[derive(Clone)]
struct DeliveryJob {
    actor: Actor,
    webhook: WebhookId,
    event: EventId,
    url: String,
    secrets: Vec<String>,
    body: Arc<str>,
    attempts: i64,
    /// Distinguishes this claim from a later one.
    lease: i64,
}

struct Claims {
    set_aside: usize,
    claimed: Vec<DeliveryJob>,
    /// Those whose webhook or event cannot be read.
    unreadable: Vec<(DueJob, Error)>,
    last: String,
    full: bool,
    partial: bool,
}

#[derive(Clone)]
pub(super) struct DeliverWebhooks {
    runtime: JobRuntime,
    webhook_sender: Arc<dyn WebhookSender>,
    slots: JobSlots,
    last_webhook: FairShareCursor<String>,
}

impl BackgroundJob for DeliverWebhooks {
    fn queue(&self) -> Queue {
        Queue::Deliveries
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at IS NOT NULL"
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn slots(&self) -> Option<&JobSlots> {
        Some(&self.slots)
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(self.start_due())
    }
}

impl DeliverWebhooks {
    pub(super) fn new(
        runtime: JobRuntime,
        webhook_sender: Arc<dyn WebhookSender>,
    ) -> DeliverWebhooks {
        let slots = JobSlots::new(IN_FLIGHT_EACH, IN_FLIGHT);
        DeliverWebhooks { runtime, webhook_sender, slots, last_webhook: FairShareCursor::default() }
    }

    async fn start_due(&self) -> Result<JobRound> {
        let app = self.runtime.app.clone();
        let (free, last) = (self.slots.free(), self.last_webhook.get());
        if free.all == 0 {
            return Ok(JobRound::without_slots());
        }
        let claim = move |tx: &mut Tx<'_>| claim_due(tx, &app, &free, &last);
        let claims = self.runtime.app.store.write_relaxed(claim).await?;
        let count = claims.set_aside + claims.claimed.len() + claims.unreadable.len();
        let partial = self.last_webhook.advance(claims.last, count, claims.partial);
        let round = JobRound { claimed: count, full: claims.full, partial };
        for claimed in claims.claimed {
            let slot = self.slots.enter(&slot_owner(claimed.actor.ws, &claimed.webhook));
            let (this, job) = (self.clone(), claimed.job());
            let work = async move { this.attempt_delivery(claimed, slot).await };
            self.runtime.start(&RULE, job, work, ());
        }
        for (job, error) in claims.unreadable {
            let span = job.span(RULE.queue);
            self.runtime.settle(&RULE, job, Err(error)).instrument(span).await;
        }
        Ok(round)
    }

    async fn attempt_delivery(&self, claimed: DeliveryJob, slot: JobSlot) -> Result<()> {
        let at = self.runtime.app.clock.now();
        let answer = match claimed.secrets.is_empty() {
            true => WebhookResponse::Failed(SECRET_SHUT.into()),
            false => {
                let headers =
                    webhook_signing::headers(&claimed.event, at, &claimed.body, &claimed.secrets);
                let call = WebhookRequest {
                    url: claimed.url.clone(),
                    headers,
                    body: claimed.body.clone(),
                };
                self.webhook_sender.post(&call).await
            }
        };
        // The slot is released before the outcome is written, because the receiver is done. Few
        // outcomes queue up, because the next claim waits for the same store.
        drop(slot);
        let tried = DeliveryAttempt { at, took: self.runtime.app.clock.now() - at, answer };
        let (webhook, event) = (claimed.webhook.clone(), claimed.event.clone());
        let status = tried.status();
        let [delivered, failed] = DELIVERY_OUTCOMES;
        let outcome = if matches!(status, Some(200..=299)) { delivered } else { failed };
        counter!("mailroom_deliveries_total", "outcome" => outcome).increment(1);
        histogram!("mailroom_delivery_seconds").record(tried.took as f64 / 1_000.0);
        tracing::debug!(%webhook, %event, status, "webhook delivery attempt finished");
        let app = self.runtime.app.clone();
        let record = move |tx: &mut Tx<'_>| record(tx, &app.cx(&claimed.actor), &claimed, &tried);
        self.runtime.app.store.write_relaxed(record).await
    }
}

impl DeliveryJob {
    fn job(&self) -> DueJob {
        let key = vec![self.webhook.to_string(), self.event.to_string()];
        DueJob { ws: self.actor.ws, key }
    }
}

/// One attempt and its outcome.
struct DeliveryAttempt {
    at: i64,
    took: i64,
    answer: WebhookResponse,
}

impl DeliveryAttempt {
    fn status(&self) -> Option<i64> {
        match &self.answer {
            WebhookResponse::Status { code, .. } => Some(i64::from(*code)),
            WebhookResponse::Failed(_) | WebhookResponse::Refused(_) => None,
        }
    }

    fn text(&self) -> &str {
        match &self.answer {
            WebhookResponse::Status { body, .. } => body,
            WebhookResponse::Failed(sentence) | WebhookResponse::Refused(sentence) => sentence,
        }
    }
}

fn claim_due(tx: &mut Tx<'_>, app: &App, free: &FreeSlots, last: &String) -> Result<Claims> {
    let now = app.clock.now();
    let most = free.all.min(CLAIMED_AT_ONCE);
    let due = WEBHOOKS.due(tx, now, last)?;
    let mut claims = Claims {
        set_aside: 0,
        claimed: Vec::new(),
        unreadable: Vec::new(),
        last: due.end,
        full: false,
        partial: due.partial,
    };
    let mut out_of_places = false;
    for id in due.owners {
        let webhook = match load_webhook(tx, &id) {
            Ok(webhook) => webhook,
            Err(error) => {
                claims.unreadable.extend(unreadable(tx, &id, now, error)?);
                continue;
            }
        };
        if webhook.state != State::Active || !webhook.plan.has_api() {
            claims.set_aside += set_aside(tx, &webhook, now)?;
            continue;
        }
        let places = webhook.places(free, &claims);
        let before = claims.claimed.len();
        let secrets = webhook.secrets(app, now);
        claim_of(tx, &webhook, &secrets, now, places.min(most - before), &mut claims)?;
        if claims.claimed.len() == most {
            claims.last = id;
            return Ok(claims);
        }
        out_of_places |= claims.claimed.len() - before == places;
    }
    let waits = claims.set_aside == 0 && claims.unreadable.is_empty();
    claims.full = out_of_places && !claims.partial && waits;
    Ok(claims)
}

db::row! {
    struct Webhook from "h" {
        ws: i64,
        workspace: WorkspaceId = "w.id",
        plan: Plan = "w.plan",
        id: WebhookId,
        url: String,
        circle: Circle,
        state: State,
        failing: bool = "h.failing_since IS NOT NULL",
        secret: String,
        old_secret: Option<String>,
        old_secret_until: Option<i64>,
    }
}

/// The first due deliveries of a webhook that cannot be loaded, none of them claimed.
fn unreadable(
    tx: &mut Tx<'_>,
    webhook: &str,
    now: i64,
    error: Error,
) -> Result<Vec<(DueJob, Error)>> {
    // This error aborts the transaction: no further statement can run in it.
    if matches!(error, Error::Store(db::StoreError::Sqlite(_) | db::StoreError::Postgres(_))) {
        return Err(error);
    }
    let due: Vec<(i64, String, String)> = tx.all(
        "SELECT ws, webhook, event FROM deliveries WHERE webhook = ?1 AND next_attempt_at <= ?2
         ORDER BY next_attempt_at LIMIT ?3",
        &[&webhook, &now, &(CLAIMED_AT_ONCE as i64)],
    )?;
    let jobs = due.into_iter().map(DueJob::from);
    Ok(jobs.map(|job| (job, Error::NotFound("webhook"))).collect())
}

fn load_webhook(tx: &mut Tx<'_>, id: &str) -> Result<Webhook> {
    Ok(tx.one(
        &format!(
            "SELECT {} FROM webhooks h JOIN workspaces w ON w.ws = h.ws WHERE h.id = ?1",
            Webhook::COLUMNS
        ),
        &[&id],
    )?)
}

/// Nothing is sent while a webhook is paused or off, or its workspace has no plan for it.
fn set_aside(tx: &mut Tx<'_>, webhook: &Webhook, now: i64) -> Result<usize> {
    let set_aside = tx.exec(
        "UPDATE deliveries SET state = 'skipped', next_attempt_at = NULL
         WHERE ws = ?1 AND webhook = ?2 AND event IN (
            SELECT event FROM deliveries WHERE webhook = ?2 AND next_attempt_at <= ?3
            ORDER BY next_attempt_at LIMIT ?4
         )",
        &[&webhook.ws, &webhook.id, &now, &SET_ASIDE_AT_ONCE],
    )?;
    Ok(set_aside as usize)
}

fn claim_of(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    secrets: &[String],
    now: i64,
    most: usize,
    claims: &mut Claims,
) -> Result<()> {
    let lock = tx.pick("", " FOR UPDATE OF d SKIP LOCKED");
    let due: Vec<(String, i64, Option<String>)> = tx.all(
        &format!(
            "SELECT d.event, d.attempts, e.body
             FROM deliveries d LEFT JOIN events e ON e.ws = d.ws AND e.id = d.event
             WHERE d.webhook = ?1 AND d.next_attempt_at <= ?2
             ORDER BY d.next_attempt_at, d.event LIMIT ?3{lock}"
        ),
        &[&webhook.id, &now, &(most as i64)],
    )?;
    let lease = now + LEASE_MS;
    for (event, attempts, body) in due {
        tx.exec(
            "UPDATE deliveries SET next_attempt_at = ?4, lease_until = ?4
             WHERE ws = ?1 AND webhook = ?2 AND event = ?3",
            &[&webhook.ws, &webhook.id, &event, &lease],
        )?;
        let (Some(id), Some(body)) = (EventId::parse(&event), body) else {
            let job = DueJob::from((webhook.ws, webhook.id.to_string(), event));
            claims.unreadable.push((job, Error::NotFound("event")));
            continue;
        };
        claims.claimed.push(DeliveryJob {
            actor: Actor::system(webhook.ws, webhook.workspace.clone(), webhook.circle.clone()),
            webhook: webhook.id.clone(),
            event: id,
            url: webhook.url.clone(),
            secrets: secrets.to_vec(),
            body: body.into(),
            attempts,
            lease,
        });
    }
    Ok(())
}

/// The owner of the slots of a webhook.
fn slot_owner(ws: i64, webhook: &WebhookId) -> String {
    format!("{ws} {webhook}")
}

impl Webhook {
    /// The slots that it may still take beside what was claimed in this round.
    fn places(&self, free: &FreeSlots, claims: &Claims) -> usize {
        let owner = slot_owner(self.ws, &self.id);
        let own = match self.failing {
            true => free.of_failing(&owner),
            false => free.of(&owner),
        };
        let prefix = format!("{} ", self.ws);
        let claimed = claims.claimed.iter().filter(|one| one.actor.ws == self.ws).count();
        let taken = free.taken_by(|owner| owner.starts_with(&prefix)) + claimed;
        own.min(IN_FLIGHT_OF_WORKSPACE.saturating_sub(taken))
    }

    /// The valid signing secrets, the newest first. None when they cannot be unsealed: nothing is
    /// sent unsigned.
    fn secrets(&self, app: &App, now: i64) -> Vec<String> {
        let purpose = sealing::webhook_purpose(self.ws, &self.id);
        let old = self.old_secret.clone();
        let old = old.filter(|_| self.old_secret_until.is_some_and(|until| now < until));
        let kept = std::iter::once(self.secret.clone()).chain(old);
        let opened: Result<_> =
            kept.map(|kept| sealing::unseal(&*app.sealer, &purpose, kept)).collect();
        opened.unwrap_or_default()
    }
}

fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &DeliveryJob,
    tried: &DeliveryAttempt,
) -> Result<()> {
    if !log(tx, cx, claimed, tried)? {
        return Ok(());
    }
    match tried.status() {
        Some(200..=299) => mark_delivered(tx, cx, claimed),
        Some(410) => {
            mark_failed(tx, cx, claimed, None)?;
            turn_off(tx, cx, claimed)
        }
        _ => {
            let wait = RETRIES_MS.get(claimed.attempts as usize).map(|wait| vary(cx, *wait));
            mark_failed(tx, cx, claimed, wait)?;
            pause_if_failing(tx, cx, claimed)
        }
    }
}

/// Writes an attempt into the webhook's log; false when the webhook was deleted meanwhile.
fn log(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &DeliveryJob,
    tried: &DeliveryAttempt,
) -> Result<bool> {
    let logged = tx.exec(
        "INSERT INTO delivery_attempts (ws, webhook, event, number, at, took, status, answer)
         SELECT d.ws, d.webhook, d.event, 1 + (
                    SELECT count(*) FROM delivery_attempts t
                    WHERE t.ws = d.ws AND t.webhook = d.webhook AND t.event = d.event
                ), CAST(?4 AS BIGINT), CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS TEXT)
         FROM deliveries d WHERE d.ws = ?1 AND d.webhook = ?2 AND d.event = ?3",
        &[
            &cx.actor.ws,
            &claimed.webhook,
            &claimed.event,
            &tried.at,
            &tried.took,
            &tried.status(),
            &tried.text().replace('\0', ""),
        ],
    )?;
    Ok(logged > 0)
}

fn mark_delivered(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &DeliveryJob) -> Result<()> {
    tx.exec(
        "UPDATE deliveries SET state = 'delivered', next_attempt_at = NULL, held_at = NULL,
            lease_until = NULL, attempts = attempts + 1
         WHERE ws = ?1 AND webhook = ?2 AND event = ?3",
        &[&cx.actor.ws, &claimed.webhook, &claimed.event],
    )?;
    tx.exec(
        "UPDATE webhooks SET failing_since = NULL
         WHERE ws = ?1 AND id = ?2 AND failing_since IS NOT NULL",
        &[&cx.actor.ws, &claimed.webhook],
    )?;
    Ok(())
}

/// Schedules the next retry, or drops the event after the last. An expired lease that another
/// process took over is left to that process.
fn mark_failed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &DeliveryJob,
    wait: Option<i64>,
) -> Result<()> {
    let state = if wait.is_some() { "waiting" } else { "failed" };
    tx.exec(
        "UPDATE deliveries
         SET state = ?5, next_attempt_at = ?6, lease_until = NULL, attempts = attempts + 1
         WHERE ws = ?1 AND webhook = ?2 AND event = ?3 AND next_attempt_at = ?4",
        &[
            &cx.actor.ws,
            &claimed.webhook,
            &claimed.event,
            &claimed.lease,
            &state,
            &wait.map(|wait| cx.now + wait),
        ],
    )?;
    tx.exec(
        "UPDATE webhooks SET failing_since = ?3
         WHERE ws = ?1 AND id = ?2 AND failing_since IS NULL",
        &[&cx.actor.ws, &claimed.webhook, &cx.now],
    )?;
    Ok(())
}

fn vary(cx: &Cx<'_>, wait: i64) -> i64 {
    wait + cx.ids.between(-wait / 5, wait / 5)
}

fn turn_off(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &DeliveryJob) -> Result<()> {
    let turned = end(tx, cx, &claimed.webhook, State::Off)?;
    if !turned {
        return Ok(());
    }
    tell_owner(
        tx,
        cx,
        claimed,
        "A webhook was turned off",
        "Its address answered 410 Gone, so nothing more is sent to it.",
    )
}

/// Pauses a webhook that has failed for a whole day without one success.
fn pause_if_failing(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &DeliveryJob) -> Result<()> {
    let (since,): (Option<i64>,) = tx.one(
        "SELECT failing_since FROM webhooks WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &claimed.webhook],
    )?;
    if since.is_none_or(|since| cx.now - since < PAUSE_AFTER_MS) {
        return Ok(());
    }
    if !end(tx, cx, &claimed.webhook, State::Paused)? {
        return Ok(());
    }
    tell_owner(
        tx,
        cx,
        claimed,
        "A webhook was paused",
        "For a whole day nothing sent to it was accepted. Nothing more is sent until someone \
         resumes it.",
    )
}

/// False when the webhook was not active any more.
fn end(tx: &mut Tx<'_>, cx: &Cx<'_>, webhook: &WebhookId, state: State) -> Result<bool> {
    let ended = tx.exec(
        "UPDATE webhooks SET state = ?3 WHERE ws = ?1 AND id = ?2 AND state = 'active'",
        &[&cx.actor.ws, webhook, &state],
    )?;
    Ok(ended > 0)
}

fn tell_owner(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &DeliveryJob,
    subject: &str,
    what: &str,
) -> Result<()> {
    let owner: Option<(UserId,)> = tx.opt(
        "SELECT u.id FROM webhooks h JOIN users u ON u.ws = h.ws AND u.id = h.made_by
         WHERE h.ws = ?1 AND h.id = ?2",
        &[&cx.actor.ws, &claimed.webhook],
    )?;
    let Some((owner,)) = owner else { return Ok(()) };
    let text = format!(
        "{what}\n\nWebhook: {url} ({id})\nService: {service}\n\n\
         To see every try: mailroom webhook log {id}\n\
         To go on: mailroom webhook resume {id}\n\n\
         Events since then are kept in the log for {kept} and can be sent again with\n\
         mailroom webhook redeliver.",
        url = claimed.url,
        id = claimed.webhook,
        service = cx.public_url,
        kept = duration(EVENTS_KEPT_MS),
    );
    notify(tx, cx, &owner, &Notice { subject, text: &text })
}
