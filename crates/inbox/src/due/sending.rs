use std::collections::BTreeMap;

use db::{FromRow, Row, Tx};
use metrics::counter;
use tokio::task::JoinSet;

use super::lanes::Room;
use super::owners::Owners;
use super::parcels::{self, Unsealed};
use super::{LEASE_MS, Outcome, Parcel, Worker, arrivals, claims};
use crate::actor::{Actor, Circle};
use crate::app::{App, Cx, PAGES};
use crate::error::{Error, Result};
use crate::ids::{MessageId, WorkspaceId};
use crate::limits::{DAY_MS, MINUTE_MS};
use crate::messages;
use crate::sandbox;

/// A message is tried for this long.
pub(super) const RETRY_FOR_MS: i64 = 2 * DAY_MS;
/// Messages on their way to the relay at once, in all and of one workspace.
pub(super) const IN_FLIGHT: usize = 32;
pub(super) const IN_FLIGHT_EACH: usize = 8;
/// Messages claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 50;

const WORKSPACES: Owners = Owners {
    oldest: "SELECT ws FROM messages WHERE sends_at <= ?1 ORDER BY sends_at LIMIT ?2",
    next: "SELECT min(ws) FROM (
            SELECT ws FROM messages WHERE sends_at IS NOT NULL AND ws > ?1
            ORDER BY ws, sends_at LIMIT 1
        ) AS planned",
};

/// The wait after a try that was refused for now.
pub fn retry_after(attempts: i64) -> i64 {
    match attempts {
        ..=1 => MINUTE_MS,
        2 => 5 * MINUTE_MS,
        3 => 15 * MINUTE_MS,
        4 => 60 * MINUTE_MS,
        _ => 240 * MINUTE_MS,
    }
}

/// A message whose time has come, claimed.
struct Claimed {
    actor: Actor,
    message: MessageId,
    attempts: i64,
    first_try_at: i64,
    unsealed: Unsealed,
}

/// What a claim did: messages simulated in it, and messages to take to the relay.
struct Claims {
    simulated: usize,
    claimed: Vec<Claimed>,
    last: i64,
}

impl Worker {
    /// Sends the messages whose undo window is over; answers how many were taken on.
    pub(super) async fn send_messages(&self) -> Result<usize> {
        let (app, room, last) = (self.app.clone(), self.messages.room(), self.last_sender.get());
        if room.all == 0 {
            return Ok(0);
        }
        let claims = self.app.store.write(move |tx| claim_due(tx, &app, &room, last)).await?;
        self.last_sender.set(claims.last);
        let count = claims.simulated + claims.claimed.len();
        for claimed in claims.claimed {
            let owner = claimed.actor.ws.to_string();
            let places: Vec<_> =
                (0..claimed.unsealed.places()).map(|_| self.messages.enter(&owner)).collect();
            let worker = self.clone();
            self.tasks.spawn(async move {
                worker.send_claimed(claimed).await;
                drop(places);
            });
        }
        Ok(count)
    }

    async fn send_claimed(&self, claimed: Claimed) {
        let message = claimed.message.clone();
        let outcomes = match self.seal(&claimed.unsealed).await {
            Ok(parcel) => {
                claims::held(self.send_parts(&claimed, parcel), || self.renew(&claimed)).await
            }
            Err(error) => {
                tracing::error!(%message, %error, "a message could not be put together");
                let later = Outcome::Later("its parts could not be read".into());
                vec![later; claimed.unsealed.recipients.len()]
            }
        };
        for outcome in &outcomes {
            counter!("mailroom_messages_total", "outcome" => outcome.word()).increment(1);
            match outcome {
                Outcome::Delivered => tracing::info!(%message, "a message left"),
                Outcome::Later(reason) => tracing::warn!(%message, reason, "a message must wait"),
                Outcome::Never(reason) => tracing::warn!(%message, reason, "a message was refused"),
            }
        }
        if let Err(error) = self.record_sending(claimed, outcomes).await {
            tracing::error!(%message, %error, "what became of a message was not recorded");
        }
    }

    /// Sends to every part of the recipients at once; the outcomes are in the parcel's order.
    async fn send_parts(&self, claimed: &Claimed, parcel: Parcel) -> Vec<Outcome> {
        // Nobody is left when what became of the last of them was known, and then the power failed.
        if parcel.recipients.is_empty() {
            return Vec::new();
        }
        let parts = self.relay.parts(&parcel.recipients);
        let is_whole = parts.len() == 1;
        let mut under_way = JoinSet::new();
        for recipients in parts {
            let (relay, part) = (self.relay.clone(), Parcel { recipients, ..parcel.clone() });
            under_way.spawn(async move {
                let outcomes = relay.send(&part).await;
                (part.recipients, outcomes)
            });
        }
        let mut told = BTreeMap::new();
        while let Some(done) = under_way.join_next().await {
            let Ok((recipients, outcomes)) = done else { continue };
            if !is_whole {
                self.keep_arrivals(claimed, &recipients, &outcomes).await;
            }
            told.extend(recipients.into_iter().zip(outcomes));
        }
        let unsaid = || Outcome::Later("the delivery was broken off".into());
        parcel.recipients.iter().map(|to| told.remove(to).unwrap_or_else(unsaid)).collect()
    }

    async fn keep_arrivals(&self, claimed: &Claimed, recipients: &[String], outcomes: &[Outcome]) {
        let message = claimed.message.clone();
        let (recipients, outcomes) = (recipients.to_vec(), outcomes.to_vec());
        let kept = self.app.act(&claimed.actor, move |tx, cx| {
            arrivals::keep(tx, cx, &message, &recipients, &outcomes)
        });
        if let Err(error) = kept.await {
            let message = &claimed.message;
            tracing::error!(%message, %error, "who has a message was not recorded");
        }
    }

    /// A server may take longer over a mail than a claim lasts, and nobody else may send it then.
    async fn renew(&self, claimed: &Claimed) {
        let (ws, message, attempts) = (claimed.actor.ws, claimed.message.clone(), claimed.attempts);
        let lapses = self.app.clock.now() + LEASE_MS;
        let renewed = self.app.store.write(move |tx| {
            tx.exec(
                "UPDATE messages SET sends_at = ?3
                 WHERE ws = ?1 AND id = ?2 AND status = 'sending' AND attempts = ?4",
                &[&ws, &message, &lapses, &attempts],
            )?;
            Ok::<_, Error>(())
        });
        if let Err(error) = renewed.await {
            tracing::error!(message = %claimed.message, %error, "a claim could not be renewed");
        }
    }

    async fn record_sending(&self, claimed: Claimed, outcomes: Vec<Outcome>) -> Result<()> {
        let actor = claimed.actor.clone();
        let recorded = self.app.act(&actor, move |tx, cx| {
            let (message, mut conversation) =
                messages::load_outgoing(tx, cx.actor, &claimed.message)?;
            let recipients = &claimed.unsealed.recipients;
            let goes_on = cx.now - claimed.first_try_at < RETRY_FOR_MS;
            if goes_on && outcomes.iter().any(|outcome| matches!(outcome, Outcome::Later(_))) {
                arrivals::keep(tx, cx, &claimed.message, recipients, &outcomes)?;
                return try_again(tx, cx, &claimed);
            }
            let end = arrivals::end(tx, cx, &claimed.message, recipients, &outcomes)?;
            match claimed.unsealed.to().any(|to| end.has_it(to)) {
                true => messages::mark_sent(tx, cx, &mut conversation, &message)?,
                false => return messages::mark_failed(tx, cx, &message),
            }
            match end.refused.is_empty() {
                true => Ok(()),
                false => messages::note_refused(tx, cx, &message, &end.refused),
            }
        });
        match recorded.await {
            // Another process took a lapsed claim over and was done first.
            Err(Error::NotFound(_)) => Ok(()),
            recorded => recorded,
        }
    }
}

fn claim_due(tx: &mut Tx<'_>, app: &App, room: &Room, last: i64) -> Result<Claims> {
    let now = app.clock.now();
    let mut claims = Claims { simulated: 0, claimed: Vec::new(), last };
    for ws in WORKSPACES.due(tx, now, &last)? {
        let left = room.all.min(CLAIMED_AT_ONCE).saturating_sub(claims.places());
        claims.last = ws;
        let (own, before) = (room.of(&ws.to_string()).min(left), claims.places());
        for due in due_messages(tx, ws, now, own)? {
            if claims.places() - before >= own {
                break;
            }
            tx.wake(PAGES);
            let actor = Actor::system(due.ws, due.workspace.clone(), due.circle.clone());
            let cx = Cx { now, ..app.cx(&actor) };
            match due.circle.is_sandbox() {
                true => {
                    sandbox::deliver(tx, &cx, &due.message)?;
                    claims.simulated += 1;
                }
                false => claims.claimed.push(claim(tx, &cx, &due)?),
            }
        }
        if claims.places() >= room.all.min(CLAIMED_AT_ONCE) {
            break;
        }
    }
    Ok(claims)
}

impl Claims {
    fn places(&self) -> usize {
        self.claimed.iter().map(|claimed| claimed.unsealed.places()).sum()
    }
}

struct Due {
    ws: i64,
    workspace: WorkspaceId,
    circle: Circle,
    message: MessageId,
}

impl FromRow for Due {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Due {
            ws: row.take()?,
            workspace: row.take()?,
            circle: row.take()?,
            message: row.take()?,
        })
    }
}

/// The messages of a workspace that are due, those that another process holds left alone.
fn due_messages(tx: &mut Tx<'_>, ws: i64, now: i64, most: usize) -> Result<Vec<Due>> {
    let lock = tx.pick("", " FOR UPDATE OF m SKIP LOCKED");
    Ok(tx.all(
        &format!(
            "SELECT m.ws, w.id, c.circle, m.id
             FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             JOIN workspaces w ON w.ws = m.ws
             WHERE m.ws = ?1 AND m.sends_at <= ?2 ORDER BY m.sends_at, m.id LIMIT ?3{lock}"
        ),
        &[&ws, &now, &(most as i64)],
    )?)
}

fn claim(tx: &mut Tx<'_>, cx: &Cx<'_>, due: &Due) -> Result<Claimed> {
    tx.exec(
        "UPDATE messages SET status = 'sending', sends_at = ?3, attempts = attempts + 1,
            first_try_at = coalesce(first_try_at, ?4)
         WHERE ws = ?1 AND id = ?2",
        &[&due.ws, &due.message, &(cx.now + LEASE_MS), &cx.now],
    )?;
    let (attempts, first_try_at): (i64, i64) = tx.one(
        "SELECT attempts, first_try_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&due.ws, &due.message],
    )?;
    Ok(Claimed {
        actor: cx.actor.clone(),
        message: due.message.clone(),
        attempts,
        first_try_at,
        unsealed: parcels::of_message(tx, cx, &due.message)?,
    })
}

fn try_again(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &Claimed) -> Result<()> {
    tx.exec(
        "UPDATE messages SET sends_at = ?3 WHERE ws = ?1 AND id = ?2 AND status = 'sending'",
        &[&cx.actor.ws, &claimed.message, &(cx.now + retry_after(claimed.attempts))],
    )?;
    Ok(())
}
