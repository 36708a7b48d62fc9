//! Sends the messages whose undo window is over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::backoff::retry_after;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MessageId};
use base::limits::DAY_MS;
use base::states::MessageStatus;
use base::unless_resting;
use db::Tx;
use inbound::{imap, sandbox};
use metrics::counter;
use model::conversations::timeline::{self, TimelineEvent};
use model::mailboxes;
use model::mailboxes::outgoing_servers;
use model::messages::send_failure::{self, SendFailure};
use model::people::agent_limits::pausing;
use outbound::{failed_messages, messages};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::outgoing::outgoing_mail::{self, UnsignedMail};
use crate::outgoing::recipient_outcomes;
use crate::outgoing::sending_lanes::{self, OwnServerSlots};
use crate::ports::relay::deliver;
use crate::runs::concurrency::{FreeSlots, JobSlots};
use crate::runs::failures::{JobFailure, JobRevival, JobRule, system};
use crate::runs::fair_share::{FairShare, FairShareCursor, fair_share};
use crate::runs::lease;
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};
use crate::{OutgoingMail, Relay, RelayOutcome};

/// A message is retried for this long.
pub(crate) const RETRY_FOR_MS: i64 = 2 * DAY_MS;
/// Messages being sent concurrently, in all and through the relay of one workspace.
const IN_FLIGHT: usize = 32;
const IN_FLIGHT_EACH: usize = 8;
/// Messages claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 50;
/// While the database is away or cannot write, outcomes are tried to be recorded for this long, with
/// this pause in between.
const RECORDED_WITHIN: Duration = Duration::from_millis(LEASE_MS.unsigned_abs());
const RECORDING_PAUSE: Duration = Duration::from_millis(250);

const WORKSPACES: FairShare = fair_share!(outward "messages", "ws", "sends_at");

/// A message that cannot be composed or recorded is retried, and then marked as failed.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Messages,
    retry_at: Some(
        "UPDATE messages SET sends_at = ?1, lease_until = NULL
         WHERE ws = ?2 AND id = ?3 AND status = 'sending' AND held_at IS NULL",
    ),
    abandon:
        "UPDATE messages SET status = 'failed', sends_at = NULL, lease_until = NULL, held_at = NULL
           WHERE ws = ?1 AND id = ?2 AND status = 'sending'",
    revival: JobRevival::Never,
    report: note_in_timeline,
};

/// A due message, claimed.
#[derive(Clone)]
struct MessageJob {
    actor: Actor,
    message: MessageId,
    attempts: i64,
    first_attempt_at: i64,
    unsigned: UnsignedMail,
}

/// The claimed messages, each with its number of slots and their owner, and the workspace that the
/// round ended with.
struct Claims {
    jobs: Vec<(DueJob, usize, String)>,
    last: i64,
    /// Further workspaces may have some.
    partial: bool,
}

#[derive(Clone)]
pub(crate) struct SendMessages {
    runtime: JobRuntime,
    relay: Arc<dyn Relay>,
    slots: JobSlots,
    last_workspace: FairShareCursor<i64>,
}

impl BackgroundJob for SendMessages {
    fn queue(&self) -> Queue {
        Queue::Messages
    }

    fn earliest(&self) -> &'static str {
        concat!(
            "SELECT (SELECT sends_at FROM messages WHERE sends_at IS NOT NULL AND ",
            unless_resting!(),
            " ORDER BY sends_at LIMIT 1)"
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

impl SendMessages {
    pub(crate) fn new(runtime: JobRuntime, relay: Arc<dyn Relay>) -> SendMessages {
        let slots = JobSlots::new(IN_FLIGHT_EACH, IN_FLIGHT);
        SendMessages { runtime, relay, slots, last_workspace: FairShareCursor::default() }
    }

    /// Starts to send the messages whose undo window is over.
    async fn start_due(&self) -> Result<JobRound> {
        let app = self.runtime.app.clone();
        let (free, last) = (self.slots.free(), self.last_workspace.get());
        if free.all == 0 {
            return Ok(JobRound::without_slots());
        }
        let claim = move |tx: &mut Tx<'_>| claim_due(tx, &app, &free, last);
        let claims = self.runtime.app.store.write(claim).await?;
        let claimed = claims.jobs.len();
        let partial = self.last_workspace.advance(claims.last, claimed, claims.partial);
        for (job, places, owner) in claims.jobs {
            let places: Vec<_> = (0..places).map(|_| self.slots.enter(&owner)).collect();
            let (this, own) = (self.clone(), job.clone());
            let work = async move { this.send_claimed(own).await };
            self.runtime.start(&RULE, job, work, places);
        }
        Ok(JobRound { claimed, full: claimed == 0, partial })
    }

    async fn send_claimed(&self, job: DueJob) -> Result<()> {
        let (app, asked) = (self.runtime.app.clone(), job.clone());
        let loaded = self.runtime.app.store.read(move |tx| load(tx, &app, &asked)).await?;
        let Some(claimed) = loaded else {
            let app = self.runtime.app.clone();
            return self.runtime.app.store.write(move |tx| end_here(tx, &app, &job)).await;
        };
        let message = claimed.message.clone();
        let outgoing = outgoing_mail::sign(&claimed.unsigned).await?;
        let outcomes =
            lease::hold_lease_during(self.send_parts(&claimed, outgoing), || self.renew(&claimed))
                .await;
        for outcome in &outcomes {
            counter!("mailroom_messages_total", "outcome" => outcome.as_str()).increment(1);
            match outcome {
                RelayOutcome::Delivered => tracing::info!(%message, "message sent"),
                RelayOutcome::Later(reason) | RelayOutcome::Unavailable(reason) => {
                    tracing::warn!(%message, %reason, "message deferred, will be retried")
                }
                RelayOutcome::Never(reason) => {
                    tracing::warn!(%message, %reason, "message rejected")
                }
            }
        }
        let recorded = self.record_patiently(&claimed, &outcomes).await;
        if recorded.is_err() {
            // A retry must not send to recipients that already have the message.
            self.record_outcomes(&claimed, &claimed.unsigned.recipients, &outcomes).await;
        }
        recorded
    }

    /// Sends to every part of the recipients at once; the outcomes are in the mail's order.
    async fn send_parts(
        &self,
        claimed: &MessageJob,
        outgoing: Vec<OutgoingMail>,
    ) -> Vec<RelayOutcome> {
        let parts: Vec<OutgoingMail> =
            outgoing.into_iter().flat_map(|mail| self.parts_of(mail)).collect();
        let is_whole = parts.len() == 1;
        let mut under_way = JoinSet::new();
        for part in parts {
            let relay = self.relay.clone();
            let sent = async move {
                let outcomes = deliver(&*relay, &part).await;
                (part.recipients, outcomes)
            };
            under_way.spawn(sent.in_current_span());
        }
        let mut told = BTreeMap::new();
        while let Some(done) = under_way.join_next().await {
            let Ok((recipients, outcomes)) = done else { continue };
            if !is_whole {
                self.record_outcomes(claimed, &recipients, &outcomes).await;
            }
            told.extend(recipients.into_iter().zip(outcomes));
        }
        let unsaid = || RelayOutcome::Later("the delivery was broken off".into());
        let recipients = &claimed.unsigned.recipients;
        recipients.iter().map(|to| told.remove(to).unwrap_or_else(unsaid)).collect()
    }

    /// A mail, once for each group of recipients that the relay sends to at once. There are none after
    /// a crash between storing the last recipient's outcome and recording the message as sent.
    fn parts_of(&self, mail: OutgoingMail) -> Vec<OutgoingMail> {
        if mail.recipients.is_empty() {
            return Vec::new();
        }
        let parts = match &mail.server {
            Some(_) => vec![mail.recipients.clone()],
            None => self.relay.parts(&mail.recipients),
        };
        let part = |recipients| OutgoingMail { recipients, ..mail.clone() };
        parts.into_iter().map(part).collect()
    }

    async fn record_outcomes(
        &self,
        claimed: &MessageJob,
        recipients: &[String],
        outcomes: &[RelayOutcome],
    ) {
        let message = claimed.message.clone();
        let (recipients, outcomes) = (recipients.to_vec(), outcomes.to_vec());
        let kept = self.runtime.app.act(&claimed.actor, move |tx, cx| {
            recipient_outcomes::keep(tx, cx, &message, &recipients, &outcomes)
        });
        if let Err(error) = kept.await {
            let message = &claimed.message;
            tracing::error!(%message, %error, "recipient outcomes could not be recorded");
        }
    }

    /// A mail server may take longer than the lease, and no other process may send the message
    /// meanwhile.
    async fn renew(&self, claimed: &MessageJob) {
        let (ws, message, attempts) = (claimed.actor.ws, claimed.message.clone(), claimed.attempts);
        let lapses = self.runtime.app.clock.now() + LEASE_MS;
        let renewed = self.runtime.app.store.write(move |tx| {
            tx.exec_soon(
                "UPDATE messages SET sends_at = ?3, lease_until = ?3
                 WHERE ws = ?1 AND id = ?2 AND status = 'sending' AND attempts = ?4
                   AND held_at IS NULL",
                &[&ws, &message, &lapses, &attempts],
            )?;
            Ok::<_, Error>(())
        });
        if let Err(error) = renewed.await {
            tracing::error!(message = %claimed.message, %error, "lease could not be renewed");
        }
    }

    /// Records what became of a message. A server may have accepted it, so it would leave twice if the
    /// database is away for a moment, as in a failover, and nobody remembers it.
    async fn record_patiently(
        &self,
        claimed: &MessageJob,
        outcomes: &[RelayOutcome],
    ) -> Result<()> {
        let last = Instant::now() + RECORDED_WITHIN;
        loop {
            match self.record_sending(claimed.clone(), outcomes.to_vec()).await {
                Err(error) if error.is_temporary() && Instant::now() < last => {
                    sleep(RECORDING_PAUSE).await;
                }
                recorded => return recorded,
            }
        }
    }

    async fn record_sending(&self, claimed: MessageJob, outcomes: Vec<RelayOutcome>) -> Result<()> {
        let actor = claimed.actor.clone();
        let recorded = self.runtime.app.act(&actor, move |tx, cx| {
            let (message, mut conversation) =
                messages::load_outgoing(tx, cx.actor, &claimed.message)?;
            let recipients = &claimed.unsigned.recipients;
            note_health(tx, cx, &claimed, &outcomes)?;
            let goes_on = cx.now - claimed.first_attempt_at < RETRY_FOR_MS;
            if goes_on && outcomes.iter().any(RelayOutcome::is_temporary) {
                recipient_outcomes::keep(tx, cx, &claimed.message, recipients, &outcomes)?;
                return try_again(tx, cx, &claimed, &outcomes);
            }
            let end = recipient_outcomes::end(tx, cx, &claimed.message, recipients, &outcomes)?;
            match claimed.unsigned.to().any(|to| end.has_it(to)) {
                true => {
                    messages::mark_sent(tx, cx, &mut conversation, &message)?;
                    imap::plan_copy(tx, cx, &message.mailbox, &message.id)?;
                }
                false if is_still_ours(tx, cx, &claimed)? => {
                    let failure = end.failure.unwrap_or_else(SendFailure::unknown);
                    return failed_messages::mark_failed(tx, cx, &conversation, &message, &failure);
                }
                false => return Ok(()),
            }
            match end.refused.is_empty() {
                true => Ok(()),
                false => {
                    let failure = end.failure.unwrap_or_else(SendFailure::unknown);
                    failed_messages::note_refused(tx, cx, &message, &end.refused, &failure)
                }
            }
        });
        match recorded.await {
            // Another process took over the expired lease and finished first.
            Err(Error::NotFound(_)) => Ok(()),
            recorded => recorded,
        }
    }
}

/// Claims read only keys and numbers, so that a corrupt row fails when it runs, not in the claim.
fn claim_due(tx: &mut Tx<'_>, app: &App, free: &FreeSlots, last: i64) -> Result<Claims> {
    let now = app.clock.now();
    let due = WORKSPACES.due(tx, now, &last)?;
    let mut lanes = Vec::new();
    for ws in due.owners {
        lanes.extend(sending_lanes::lanes(tx, ws)?);
    }
    // The lane that is sending the least comes first, or those with older messages would take every
    // slot that becomes free.
    lanes.sort_by_cached_key(|lane| lane.slots_taken(free));
    let mut claims = Claims { jobs: Vec::new(), last: due.end, partial: due.partial };
    let most = free.all.min(CLAIMED_AT_ONCE);
    let mut own_servers = OwnServerSlots::default();
    for lane in lanes {
        let before = claims.places();
        let room = lane.free(free, &own_servers).min(most.saturating_sub(before));
        if room == 0 {
            continue;
        }
        for message in lane.due(tx, now, room)? {
            if claims.places() - before >= room {
                break;
            }
            if message.is_of_halted_agent && is_stopped(tx, app, lane.ws, &message.id)? {
                continue;
            }
            claim(tx, lane.ws, &message.id, now)?;
            let places = message.places();
            claims.jobs.push((DueJob::from((lane.ws, message.id)), places, lane.owner.clone()));
        }
        own_servers.add(&lane, claims.places() - before);
        if claims.places() >= most {
            claims.last = lane.ws;
            break;
        }
    }
    Ok(claims)
}

impl Claims {
    fn places(&self) -> usize {
        self.jobs.iter().map(|(_, places, _)| places).sum()
    }
}

/// Stops a message of an agent that was paused or revoked as it scheduled it.
fn is_stopped(tx: &mut Tx<'_>, app: &App, ws: i64, id: &str) -> Result<bool> {
    if !pausing::waits_in_vain(tx, ws, id)? {
        return Ok(false);
    }
    let actor = system(tx, ws, Circle::team())?;
    pausing::stop_message(tx, &app.cx(&actor), id)?;
    Ok(true)
}

fn claim(tx: &mut Tx<'_>, ws: i64, id: &str, now: i64) -> Result<()> {
    tx.wake(Queue::Pages);
    tx.exec_soon(
        "UPDATE messages SET status = 'sending', sends_at = ?3, lease_until = ?3,
            attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, ?4)
         WHERE ws = ?1 AND id = ?2",
        &[&ws, &id, &(now + LEASE_MS), &now],
    )?;
    Ok(())
}

/// Records how the server of the message's inbox did, where it has one.
fn note_health(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &MessageJob,
    outcomes: &[RelayOutcome],
) -> Result<()> {
    let Some(server) = &claimed.unsigned.server else { return Ok(()) };
    let unavailable = outcomes.iter().find_map(|outcome| match outcome {
        RelayOutcome::Unavailable(reason) => Some(reason.sentence()),
        RelayOutcome::Delivered | RelayOutcome::Later(_) | RelayOutcome::Never(_) => None,
    });
    match unavailable {
        Some(sentence) => outgoing_servers::note_failing(tx, cx, server, sentence),
        None if outcomes.is_empty() => Ok(()),
        None => outgoing_servers::note_working(tx, cx, server),
    }
}

/// A claimed message with the data to send it and to record the outcome; `None` for one that no server
/// gets, see [`end_here`].
fn load(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<Option<MessageJob>> {
    let (ws, id) = (job.ws, &job.key[0]);
    let Some(circle) = leaving_circle(tx, job)?.filter(|circle| !circle.is_sandbox()) else {
        return Ok(None);
    };
    let (attempts, first_attempt_at): (i64, i64) = tx.one(
        "SELECT attempts, first_attempt_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    let message = MessageId::parse(id).ok_or(Error::NotFound("message"))?;
    let actor = system(tx, ws, circle)?;
    let cx = app.cx(&actor);
    // A message that cannot be loaded could not be recorded as sent either, so it must not be sent.
    messages::load_outgoing(tx, &actor, &message)?;
    let unsigned = outgoing_mail::of_message(tx, &cx, &message)?;
    Ok(Some(MessageJob { actor, message, attempts, first_attempt_at, unsigned }))
}

/// The circle of a claimed message; `None` when it was stopped since, or its inbox was deleted.
fn leaving_circle(tx: &mut Tx<'_>, job: &DueJob) -> Result<Option<Circle>> {
    let (circle, mailbox, status): (Circle, MailboxId, MessageStatus) = tx.one(
        "SELECT c.circle, m.mailbox, m.status
         FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.ws = ?1 AND m.id = ?2",
        &[&job.ws, &job.key[0]],
    )?;
    let leaves = status == MessageStatus::Sending && !mailboxes::is_deleted(tx, job.ws, &mailbox)?;
    Ok(leaves.then_some(circle))
}

/// Ends a message that no server gets: one of the sandbox is simulated, one of a deleted inbox fails.
fn end_here(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<()> {
    match leaving_circle(tx, job)? {
        Some(circle) if circle.is_sandbox() => simulate(tx, app, job),
        // It can leave after all, and does when its lease lapses.
        Some(_) => Ok(()),
        None => {
            tx.wake(Queue::Pages);
            tx.exec_soon(RULE.abandon, &job.args(&[]))?;
            Ok(())
        }
    }
}

fn simulate(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<()> {
    let message = MessageId::parse(&job.key[0]).ok_or(Error::NotFound("message"))?;
    let actor = system(tx, job.ws, Circle::sandbox())?;
    tx.wake(Queue::Pages);
    sandbox::deliver(tx, &app.cx(&actor), &message)
}

/// Records in the timeline that a message is delayed or has failed, and why.
fn note_in_timeline(tx: &mut Tx<'_>, app: &App, failure: &JobFailure) -> Result<()> {
    let (ws, id) = (failure.job.ws, &failure.job.key[0]);
    let (conversation, circle): (ConversationId, Circle) = tx.one(
        "SELECT c.id, c.circle
         FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.ws = ?1 AND m.id = ?2",
        &[&ws, id],
    )?;
    let actor = system(tx, ws, circle)?;
    let (message_id, reason) = (id.clone(), failure.reason.to_owned());
    let event = match failure.given_up {
        true => TimelineEvent::SendFailed { message_id, reason },
        false => TimelineEvent::SendDelayed { message_id, reason },
    };
    tx.wake(Queue::Pages);
    let cx = app.cx(&actor);
    timeline::record(tx, &cx, &conversation, &event)?;
    let known = SendFailure::new("fault", failure.reason, "");
    match (MessageId::parse(id), failure.given_up) {
        (Some(message), true) => failed_messages::note_given_up(tx, &cx, &message, &known),
        (Some(message), false) => send_failure::keep(tx, ws, &message, &known),
        (None, _) => Ok(()),
    }
}

fn try_again(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &MessageJob,
    outcomes: &[RelayOutcome],
) -> Result<()> {
    let waits = outcomes.iter().find(|outcome| outcome.is_temporary());
    if let Some(reason) = waits.and_then(RelayOutcome::reason) {
        send_failure::keep(tx, cx.actor.ws, &claimed.message, &reason.failure())?;
    }
    tx.exec_soon(
        "UPDATE messages SET sends_at = ?3, lease_until = NULL
         WHERE ws = ?1 AND id = ?2 AND status = 'sending' AND attempts = ?4 AND held_at IS NULL",
        &[
            &cx.actor.ws,
            &claimed.message,
            &(cx.now + retry_after(claimed.attempts)),
            &claimed.attempts,
        ],
    )?;
    Ok(())
}

/// False where another process has taken over the expired lease: the message is its to end.
fn is_still_ours(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &MessageJob) -> Result<bool> {
    let (attempts,): (i64,) = tx.one(
        "SELECT attempts FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &claimed.message],
    )?;
    Ok(attempts == claimed.attempts)
}
