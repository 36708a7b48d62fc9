//! A due delivery of a webhook, an attempt of it, and what follows: success, a retry, a pause.

use std::sync::Arc;

use base::actor::Actor;
use base::app::Cx;
use base::error::Result;
use base::ids::{EventId, UserId, WebhookId};
use base::limits::{DAY_MS, EVENTS_KEPT_MS, MINUTE_MS, duration};
use db::Tx;
use model::people::notices::{Notice, notify};
use model::webhooks::{State, WebhookFormat, webhook_signing};

use super::{WebhookRequest, WebhookResponse};
use crate::runs::runtime::DueJob;

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

/// A due delivery.
#[derive(Clone)]
pub(crate) struct DeliveryJob {
    pub(crate) actor: Actor,
    pub(crate) webhook: WebhookId,
    pub(crate) event: EventId,
    pub(crate) format: WebhookFormat,
    /// What is shown of the address.
    pub(crate) url: String,
    /// For a chat the whole address.
    pub(crate) secrets: Vec<String>,
    pub(crate) body: Arc<str>,
    pub(crate) attempts: i64,
    /// Distinguishes this claim from a later one.
    pub(crate) lease: i64,
}

impl DeliveryJob {
    pub(crate) fn job(&self) -> DueJob {
        let key = vec![self.webhook.to_string(), self.event.to_string()];
        DueJob { ws: self.actor.ws, key }
    }

    /// What is posted. `None` while its secret is sealed: nothing is sent unsigned, and to a chat nothing at all.
    pub(crate) fn request(&self, at: i64) -> Option<WebhookRequest> {
        let first = self.secrets.first()?;
        let body = self.body.clone();
        if self.format.is_chat() {
            let headers = vec![("content-type", "application/json".to_owned())];
            return Some(WebhookRequest { url: first.clone(), headers, body });
        }
        let headers = webhook_signing::headers(&self.event, at, &body, &self.secrets);
        Some(WebhookRequest { url: self.url.clone(), headers, body })
    }
}

/// One attempt and its outcome.
pub(crate) struct DeliveryAttempt {
    pub(crate) at: i64,
    pub(crate) took: i64,
    pub(crate) answer: WebhookResponse,
}

impl DeliveryAttempt {
    pub(crate) fn status(&self) -> Option<i64> {
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

/// Logs an attempt, and ends the delivery or schedules its next attempt.
pub(crate) fn record(
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
