//! The lanes in which a workspace's messages are sent. An inbox with a server of its own has a lane of
//! its own, and everything else shares one: a server that hangs holds up its own inbox only.

use db::Tx;

use super::concurrency::FreeSlots;
use crate::base::error::Result;
use crate::model::attachments;
use crate::model::outgoing_servers::{self, OwnLane};

/// Messages sent at once through the server of one inbox; providers allow few sessions.
const OWN_LANE_EACH: usize = 2;
/// Messages sent at once in all lanes of single inboxes of a workspace.
const OWN_LANES_TOGETHER: usize = 8;
/// Inboxes with something to send that are looked at in one round.
const INBOXES: usize = 1_000;

/// Messages that are sent through one server.
pub(super) struct SendingLane {
    ws: i64,
    /// The owner of its slots.
    pub owner: String,
    inboxes: LaneInboxes,
}

enum LaneInboxes {
    /// Every inbox of the workspace, which has no server of a single inbox.
    All,
    /// Every inbox but these, which have their own lanes.
    AllBut(Vec<String>),
    /// One inbox, whose server is failing or not.
    One(OwnLane),
}

/// The lanes of a workspace.
pub(super) fn lanes(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<SendingLane>> {
    let own = outgoing_servers::own_lanes(tx, ws)?;
    let shared = match own.is_empty() {
        true => LaneInboxes::All,
        false => LaneInboxes::AllBut(own.iter().map(|lane| lane.mailbox.clone()).collect()),
    };
    let mut lanes = vec![SendingLane { ws, owner: ws.to_string(), inboxes: shared }];
    lanes.extend(own.into_iter().map(|lane| SendingLane {
        ws,
        owner: format!("{}{}", own_lane_prefix(ws), lane.mailbox),
        inboxes: LaneInboxes::One(lane),
    }));
    Ok(lanes)
}

/// How the owners of the slots of a workspace's single inboxes begin.
fn own_lane_prefix(ws: i64) -> String {
    format!("{ws} ")
}

impl SendingLane {
    /// The slots that the lane may still take; `claimed` are those that its workspace's lanes of
    /// single inboxes took in this round.
    pub fn free(&self, free: &FreeSlots, claimed: usize) -> usize {
        let LaneInboxes::One(lane) = &self.inboxes else { return free.of(&self.owner) };
        let taken = free.taken_by(&own_lane_prefix(self.ws)) + claimed;
        let together = OWN_LANES_TOGETHER.saturating_sub(taken);
        let own = match lane.failing {
            true => free.of_failing(&self.owner),
            false => free.at_most(&self.owner, OWN_LANE_EACH),
        };
        own.min(together)
    }

    /// True for the lane of one inbox.
    pub fn is_own(&self) -> bool {
        matches!(self.inboxes, LaneInboxes::One(_))
    }

    /// The due messages with their number of slots, without those that another process has claimed.
    pub fn due(&self, tx: &mut Tx<'_>, now: i64, most: usize) -> Result<Vec<(String, usize)>> {
        let mut due = match &self.inboxes {
            LaneInboxes::All => due_of_all(tx, self.ws, now, most)?,
            LaneInboxes::One(lane) => due_of(tx, self.ws, &lane.mailbox, now, most)?,
            LaneInboxes::AllBut(own) => {
                let mut due = Vec::new();
                for inbox in inboxes_with_mail(tx, self.ws)? {
                    if !own.contains(&inbox) {
                        due.extend(due_of(tx, self.ws, &inbox, now, most)?);
                    }
                }
                due
            }
        };
        due.sort_by(|a, b| (a.sends_at, &a.id).cmp(&(b.sends_at, &b.id)));
        due.truncate(most);
        Ok(due.into_iter().map(|due| (due.id, attachments::places(due.bytes))).collect())
    }
}

db::row! {
    struct DueMessage from "m" {
        id: String,
        sends_at: i64,
        bytes: i64 = "(
            SELECT CAST(coalesce(sum(e.size), 0) AS BIGINT) FROM attachments e
            WHERE e.ws = m.ws AND e.conversation = m.conversation AND e.message = m.id
        )",
    }
}

fn due_of_all(tx: &mut Tx<'_>, ws: i64, now: i64, most: usize) -> Result<Vec<DueMessage>> {
    let lock = tx.pick("", " FOR UPDATE OF m SKIP LOCKED");
    Ok(tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.sends_at <= ?2 ORDER BY m.sends_at, m.id LIMIT ?3{lock}",
            DueMessage::COLUMNS
        ),
        &[&ws, &now, &(most as i64)],
    )?)
}

fn due_of(tx: &mut Tx<'_>, ws: i64, inbox: &str, now: i64, most: usize) -> Result<Vec<DueMessage>> {
    let lock = tx.pick("", " FOR UPDATE OF m SKIP LOCKED");
    Ok(tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.mailbox = ?2 AND m.sends_at <= ?3
             ORDER BY m.sends_at LIMIT ?4{lock}",
            DueMessage::COLUMNS
        ),
        &[&ws, &inbox, &now, &(most as i64)],
    )?)
}

/// The inboxes that have something to send, now or later, one index look-up each.
fn inboxes_with_mail(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    while found.len() < INBOXES {
        let last = found.last().map_or("", String::as_str);
        let next: Option<(String,)> = tx.opt(
            "SELECT mailbox FROM messages
             WHERE ws = ?1 AND mailbox > ?2 AND sends_at IS NOT NULL
             ORDER BY ws, mailbox, sends_at LIMIT 1",
            &[&ws, &last],
        )?;
        match next {
            Some((next,)) => found.push(next),
            None => break,
        }
    }
    Ok(found)
}
