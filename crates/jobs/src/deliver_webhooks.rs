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
use base::unless_resting;
use db::Tx;
use metrics::{counter, histogram};
use model::installation::sealing;
use model::webhooks::{State, WebhookFormat};
use outbound::chat_messages;
use tracing::Instrument;

use super::{WebhookResponse, WebhookSender};
use crate::delivery_attempts::{DeliveryAttempt, DeliveryJob, record};
use crate::runs::concurrency::{FreeSlots, JobSlot, JobSlots};
use crate::runs::failures::{JobRevival, JobRule, send_no_notice};
use crate::runs::fair_share::{FairShare, FairShareCursor, fair_share};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};

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
/// The same for one of a chat.
const ADDRESS_SHUT: &str = "The address does not open with the secret.key of this server.";

const WEBHOOKS: FairShare = fair_share!(outward "deliveries", "webhook", "next_attempt_at");

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
        concat!(
            "SELECT (SELECT next_attempt_at FROM deliveries WHERE next_attempt_at IS NOT NULL AND ",
            unless_resting!(),
            " ORDER BY next_attempt_at LIMIT 1)"
        )
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
        let answer = match claimed.request(at) {
            Some(call) => self.webhook_sender.post(&call).await,
            None if claimed.format.is_chat() => WebhookResponse::Failed(ADDRESS_SHUT.into()),
            None => WebhookResponse::Failed(SECRET_SHUT.into()),
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
        if webhook.state != State::Active || !webhook.plan.has_api() || webhook.is_of_sample {
            claims.set_aside += set_aside(tx, &webhook, now)?;
            continue;
        }
        let places = webhook.places(free, &claims);
        let before = claims.claimed.len();
        let secrets = webhook.secrets(app, now);
        claim_of(tx, app, &webhook, &secrets, places.min(most - before), &mut claims)?;
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
        format: WebhookFormat,
        circle: Circle,
        state: State,
        made_by: UserId,
        failing: bool = "h.failing_since IS NOT NULL",
        is_of_sample: bool = "w.sample_of IS NOT NULL",
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
    if ends_transaction(&error) {
        return Err(error);
    }
    let due: Vec<(i64, String, String)> = tx.all(
        "SELECT ws, webhook, event FROM deliveries WHERE webhook = ?1 AND next_attempt_at <= ?2
         ORDER BY next_attempt_at LIMIT ?3",
        &[&webhook, &now, &(CLAIMED_AT_ONCE as i64)],
    )?;
    Ok(due.into_iter().map(|row| (DueJob::from(row), Error::NotFound("webhook"))).collect())
}

/// True for an error after which no further statement can run in its transaction.
fn ends_transaction(error: &Error) -> bool {
    matches!(error, Error::Store(db::StoreError::Sqlite(_) | db::StoreError::Postgres(_)))
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

/// Nothing is sent while a webhook is paused or off, or where its workspace has no plan for it or is a sample.
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
    app: &App,
    webhook: &Webhook,
    secrets: &[String],
    most: usize,
    claims: &mut Claims,
) -> Result<()> {
    let now = app.clock.now();
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
        let actor = Actor::system(webhook.ws, webhook.workspace.clone(), webhook.circle.clone());
        let body = match webhook.body(tx, &app.cx(&actor), body) {
            Ok(body) => body,
            Err(error) if ends_transaction(&error) => return Err(error),
            Err(error) => {
                let job = DueJob::from((webhook.ws, webhook.id.to_string(), event));
                claims.unreadable.push((job, error));
                continue;
            }
        };
        claims.claimed.push(DeliveryJob {
            actor,
            webhook: webhook.id.clone(),
            event: id,
            format: webhook.format,
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

    /// What is posted for an event: itself, or for a chat a message about it.
    fn body(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, event: String) -> Result<String> {
        if self.format.is_chat() {
            return chat_messages::message_body(tx, cx, (self.format, &self.made_by), &event);
        }
        Ok(event)
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
