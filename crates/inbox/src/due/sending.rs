use db::{FromRow, Row, Tx};
use mail::{Address, Letter};
use metrics::counter;

use super::lanes::Room;
use super::owners::Owners;
use super::{LEASE_MS, Outcome, Parcel, Worker};
use crate::actor::{Actor, Circle};
use crate::app::{App, Cx, PAGES};
use crate::error::{Error, Result};
use crate::ids::{ConversationId, MessageId, WorkspaceId};
use crate::limits::{DAY_MS, MINUTE_MS};
use crate::messages::{self, Party};
use crate::sandbox;

/// A message is tried for this long.
pub(super) const RETRY_FOR_MS: i64 = 2 * DAY_MS;
/// Messages on their way to the relay at once, in all and of one workspace.
pub(super) const IN_FLIGHT: usize = 32;
pub(super) const IN_FLIGHT_EACH: usize = 8;
/// Messages claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 50;
/// Message-IDs named in `References`: the first and the latest.
const REFERENCES: usize = 20;

const WORKSPACES: Owners = Owners {
    oldest: "SELECT ws FROM messages WHERE sends_at <= ?1 ORDER BY sends_at LIMIT ?2",
    next: "SELECT min(ws) FROM messages WHERE sends_at IS NOT NULL AND ws > ?1",
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
    parcel: Parcel,
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
            let place = self.messages.enter(&claimed.actor.ws.to_string());
            let worker = self.clone();
            self.tasks.spawn(async move {
                worker.send_claimed(claimed).await;
                drop(place);
            });
        }
        Ok(count)
    }

    async fn send_claimed(&self, claimed: Claimed) {
        let outcome = self.relay.send(&claimed.parcel).await;
        let message = claimed.message.clone();
        counter!("mailroom_messages_total", "outcome" => outcome.word()).increment(1);
        match &outcome {
            Outcome::Delivered => tracing::info!(%message, "a message left"),
            Outcome::Later(reason) => tracing::warn!(%message, reason, "a message must wait"),
            Outcome::Never(reason) => tracing::warn!(%message, reason, "a message was refused"),
        }
        if let Err(error) = self.record_sending(claimed, outcome).await {
            tracing::error!(%message, %error, "what became of a message was not recorded");
        }
    }

    async fn record_sending(&self, claimed: Claimed, outcome: Outcome) -> Result<()> {
        let actor = claimed.actor.clone();
        let recorded = self.app.act(&actor, move |tx, cx| {
            let (message, mut conversation) =
                messages::load_outgoing(tx, cx.actor, &claimed.message)?;
            match &outcome {
                Outcome::Delivered => messages::mark_sent(tx, cx, &mut conversation, &message),
                Outcome::Later(_) if cx.now - claimed.first_try_at < RETRY_FOR_MS => {
                    try_again(tx, cx, &claimed)
                }
                Outcome::Later(_) | Outcome::Never(_) => messages::mark_failed(tx, cx, &message),
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
        let left = room.all.min(CLAIMED_AT_ONCE) - claims.claimed.len();
        claims.last = ws;
        for due in due_messages(tx, ws, now, room.of(&ws.to_string()).min(left))? {
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
        if claims.claimed.len() == room.all.min(CLAIMED_AT_ONCE) {
            break;
        }
    }
    Ok(claims)
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
             JOIN workspaces w ON w.ws = m.ws
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
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
    let sheet: Sheet = tx.one(
        "SELECT conversation, header_id, from_name, from_email, to_list, cc_list, subject, text,
                automatic, unsubscribe, attempts, first_try_at
         FROM messages WHERE ws = ?1 AND id = ?2",
        &[&due.ws, &due.message],
    )?;
    let letter = Letter {
        answers: chain(tx, due.ws, &sheet.conversation)?,
        at: sheet.first_try_at,
        ..sheet.letter
    };
    let everyone = letter.to.iter().chain(&letter.cc);
    let parcel = Parcel {
        message_id: letter.message_id.clone(),
        sender: letter.from.email.clone(),
        recipients: everyone.map(|address| address.email.clone()).collect(),
        bytes: mail::compose(&letter),
    };
    Ok(Claimed {
        actor: cx.actor.clone(),
        message: due.message.clone(),
        attempts: sheet.attempts,
        first_try_at: sheet.first_try_at,
        parcel,
    })
}

struct Sheet {
    conversation: ConversationId,
    letter: Letter,
    attempts: i64,
    first_try_at: i64,
}

impl FromRow for Sheet {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        let conversation = row.take()?;
        let message_id = row.take()?;
        let from = Address { name: row.take()?, email: row.take()? };
        let letter = Letter {
            message_id,
            answers: Vec::new(),
            from,
            to: addresses(&row.take::<String>()?),
            cc: addresses(&row.take::<String>()?),
            subject: row.take()?,
            text: row.take()?,
            at: 0,
            automatic: row.take()?,
            unsubscribe: row.take()?,
        };
        Ok(Sheet { conversation, letter, attempts: row.take()?, first_try_at: row.take()? })
    }
}

fn addresses(json: &str) -> Vec<Address> {
    let parties: Vec<Party> = serde_json::from_str(json).unwrap_or_default();
    parties.into_iter().map(|party| Address { name: party.name, email: party.email }).collect()
}

/// The Message-IDs of the conversation's mail so far: the first, and the latest.
fn chain(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<Vec<String>> {
    let latest: Vec<(String,)> = tx.all(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, conversation, &(REFERENCES as i64 - 1)],
    )?;
    let first: Option<(String,)> = tx.opt(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY at, id LIMIT 1",
        &[&ws, conversation],
    )?;
    let mut chain: Vec<String> = latest.into_iter().rev().map(|(id,)| id).collect();
    if let Some((first,)) = first.filter(|(first,)| chain.first() != Some(first)) {
        chain.insert(0, first);
    }
    Ok(chain)
}

fn try_again(tx: &mut Tx<'_>, cx: &Cx<'_>, claimed: &Claimed) -> Result<()> {
    tx.exec(
        "UPDATE messages SET sends_at = ?3 WHERE ws = ?1 AND id = ?2 AND status = 'sending'",
        &[&cx.actor.ws, &claimed.message, &(cx.now + retry_after(claimed.attempts))],
    )?;
    Ok(())
}
