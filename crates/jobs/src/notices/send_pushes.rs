//! Posts notices to people's browsers through their push services (RFC 8030).

use std::sync::Arc;

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::backoff::retry_after;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::limits::{HOUR_MS, PUSH_TTL_MS};
use db::Tx;
use metrics::counter;
use model::people::notifications::dispatch::seen_circle;
use model::people::notifications::push::{self, PushMessage};

use crate::runs::concurrency::JobSlots;
use crate::runs::failures::{JobRule, send_no_notice, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};
use crate::{PushRequest, PushResponse, PushSender};

/// Calls under way at one time.
const IN_FLIGHT: usize = 64;
/// Messages claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 20;
/// How long the proof of who sends is valid. RFC 8292 allows a day; push services' clocks differ.
const PROOF_MS: i64 = 12 * HOUR_MS;

const ROWS: JobRows = job_rows!(outward "push_messages", "due_at", "id");

/// A failed message is reported by the log and the metrics.
pub(crate) const RULE: JobRule = ROWS.deleting(Queue::PushMessages, send_no_notice);

#[derive(Clone)]
pub(crate) struct SendPushes {
    runtime: JobRuntime,
    push_sender: Arc<dyn PushSender>,
    slots: JobSlots,
}

impl BackgroundJob for SendPushes {
    fn queue(&self) -> Queue {
        Queue::PushMessages
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
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

impl SendPushes {
    pub(crate) fn new(runtime: JobRuntime, push_sender: Arc<dyn PushSender>) -> SendPushes {
        SendPushes { runtime, push_sender, slots: JobSlots::new(IN_FLIGHT, IN_FLIGHT) }
    }

    async fn start_due(&self) -> Result<JobRound> {
        let most = self.slots.free().all.min(CLAIMED_AT_ONCE);
        if most == 0 {
            return Ok(JobRound::without_slots());
        }
        let now = self.runtime.app.clock.now();
        let claim = move |tx: &mut Tx<'_>| claim_due(tx, now, most as i64);
        let jobs = self.runtime.app.store.write(claim).await?;
        let claimed = jobs.len();
        for job in jobs {
            let slot = self.slots.enter("push services");
            let (this, own) = (self.clone(), job.clone());
            let work = async move { this.send(own).await };
            self.runtime.start(&RULE, job, work, slot);
        }
        Ok(claimed.into())
    }

    async fn send(&self, job: DueJob) -> Result<()> {
        let (app, own) = (self.runtime.app.clone(), job.clone());
        let load = move |tx: &mut Tx<'_>| prepare(tx, &app, &own);
        let Some((message, request)) = self.runtime.app.store.write(load).await? else {
            return Ok(());
        };
        let response = self.push_sender.push(&request).await;
        let outcome = outcome_of(&response);
        counter!("mailroom_push_messages_total", "outcome" => outcome.as_str()).increment(1);
        if let PushResponse::Failed(reason) | PushResponse::Refused(reason) = &response {
            tracing::debug!(id = job.key[0], reason, "push message was not taken");
        }
        let app = self.runtime.app.clone();
        let record = move |tx: &mut Tx<'_>| record(tx, &app, &job, &message, outcome);
        self.runtime.app.store.write(record).await
    }
}

fn claim_due(tx: &mut Tx<'_>, now: i64, most: i64) -> Result<Vec<DueJob>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, String)> = tx.all(&format!("{}{lock}", ROWS.due), &[&now, &most])?;
    let jobs: Vec<DueJob> = due.into_iter().map(DueJob::from).collect();
    for job in &jobs {
        tx.exec(
            "UPDATE push_messages SET due_at = ?1, attempts = attempts + 1 WHERE ws = ?2 AND id = ?3",
            &job.args(&[&(now + LEASE_MS)]),
        )?;
    }
    Ok::<_, Error>(jobs)
}

/// The message and the call that sends it. What must not leave any more is deleted.
fn prepare(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<Option<(PushMessage, PushRequest)>> {
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = &app.cx(&actor);
    let sees =
        |tx: &mut Tx<'_>, person: &_, conversation: &_| seen_circle(tx, cx, person, conversation);
    let message = push::load(tx, cx, &job.key[0], sees)?;
    let request = match &message {
        Some(message) => request_of(tx, cx, message)?,
        None => None,
    };
    match message.zip(request) {
        Some(found) => Ok(Some(found)),
        None => {
            tx.exec(RULE.abandon, &job.args(&[]))?;
            Ok(None)
        }
    }
}

/// `None` for a message that is too old, or a browser whose key is none.
fn request_of(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &PushMessage) -> Result<Option<PushRequest>> {
    let left = message.created_at + PUSH_TTL_MS - cx.now;
    if left <= 0 {
        return Ok(None);
    }
    let key = push::vapid_key(tx, cx)?;
    let endpoint = message.target.endpoint.clone();
    let proof = key.authorization(&endpoint, cx.public_url, (cx.now + PROOF_MS) / 1_000);
    let Some((body, proof)) = message.target.encrypt(cx.ids, &message.payload).zip(proof) else {
        return Ok(None);
    };
    let urgency = if message.urgent { "high" } else { "normal" };
    let headers = vec![
        ("authorization", proof),
        ("content-encoding", "aes128gcm".to_owned()),
        ("content-type", "application/octet-stream".to_owned()),
        ("ttl", (left / 1_000).to_string()),
        ("urgency", urgency.to_owned()),
        ("topic", message.topic.clone()),
    ];
    Ok(Some(PushRequest { endpoint, headers, body }))
}

/// What becomes of a message and of its subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PushOutcome {
    Delivered,
    /// The browser is not subscribed any more.
    Gone,
    /// Again after this many milliseconds at the least.
    Later(i64),
    Dropped,
}

impl PushOutcome {
    fn as_str(self) -> &'static str {
        match self {
            PushOutcome::Delivered => "delivered",
            PushOutcome::Gone => "gone",
            PushOutcome::Later(_) => "later",
            PushOutcome::Dropped => "dropped",
        }
    }
}

fn outcome_of(response: &PushResponse) -> PushOutcome {
    match response {
        PushResponse::Status { code: 200..=299, .. } => PushOutcome::Delivered,
        PushResponse::Status { code: 404 | 410, .. } => PushOutcome::Gone,
        PushResponse::Status { code: 408 | 429 | 500..=599, retry_after } => {
            PushOutcome::Later(retry_after.unwrap_or(0).clamp(0, PUSH_TTL_MS / 1_000) * 1_000)
        }
        PushResponse::Failed(_) => PushOutcome::Later(0),
        PushResponse::Status { .. } | PushResponse::Refused(_) => PushOutcome::Dropped,
    }
}

fn record(
    tx: &mut Tx<'_>,
    app: &App,
    job: &DueJob,
    message: &PushMessage,
    outcome: PushOutcome,
) -> Result<()> {
    let (ws, now) = (job.ws, app.clock.now());
    match outcome {
        PushOutcome::Later(least) => {
            let due_at = now + retry_after(message.attempts).max(least);
            if due_at < message.created_at + PUSH_TTL_MS {
                let sql = "UPDATE push_messages SET due_at = ?1 WHERE ws = ?2 AND id = ?3";
                tx.exec(sql, &job.args(&[&due_at]))?;
                return Ok(());
            }
        }
        PushOutcome::Gone => drop(push::end(tx, ws, &message.person, &message.subscription)?),
        PushOutcome::Delivered => {
            tx.exec(
                "UPDATE push_subscriptions SET used_at = ?4
                 WHERE ws = ?1 AND person = ?2 AND id = ?3",
                &[&ws, &message.person, &message.subscription, &now],
            )?;
        }
        PushOutcome::Dropped => {}
    }
    tx.exec(RULE.abandon, &job.args(&[]))?;
    Ok(())
}
