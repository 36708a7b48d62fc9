//! The lanes in which a workspace's messages are sent. An inbox with a server of its own has a lane of
//! its own, and everything else shares one: a server that hangs holds up its own inbox only. Lanes
//! that lead to servers of workspaces leave slots to those that lead to the operator's relay, and
//! servers that are known to fail leave slots to those that work.

use std::collections::HashMap;

use base::error::Result;
use db::Tx;
use model::mailboxes::outgoing_servers::{self, OwnLane};
use model::messages::attachments;

use crate::runs::concurrency::FreeSlots;

/// Messages sent at once through the server of one inbox; providers allow few sessions.
const OWN_LANE_EACH: usize = 2;
/// Messages sent at once through the server that a workspace has for all inboxes.
const OWN_SERVER_EACH: usize = 4;
/// Messages sent at once in all lanes of single inboxes of a workspace.
const OWN_LANES_TOGETHER: usize = 8;
/// Messages sent at once through servers of workspaces. Servers that hang leave half of all slots to
/// the operator's relay.
const OWN_SERVERS_IN_ALL: usize = 16;
/// Of these, messages sent at once through servers that failed the last time. A provider that hangs
/// leaves the others to servers of other providers.
const FAILING_SERVERS_IN_ALL: usize = 8;
/// How the owner of the slots of a failing server ends.
const FAILING_MARK: char = '!';
/// Inboxes with something to send that are looked at in one round.
const INBOXES: usize = 1_000;

/// Messages that are sent through one server.
pub(crate) struct SendingLane {
    pub ws: i64,
    /// The owner of its slots, with a mark while the server fails.
    pub owner: String,
    inboxes: LaneInboxes,
    server: LaneServer,
}

enum LaneInboxes {
    /// Every inbox of the workspace, which has no server of a single inbox.
    All,
    /// Every inbox but these, which have their own lanes.
    AllBut(Vec<String>),
    One(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneServer {
    /// The operator's.
    Relay,
    /// One of the workspace, which could be used the last time.
    Own,
    /// One of the workspace, which could not.
    Failing,
}

/// The slots that lanes with servers of workspaces took in one round.
#[derive(Default)]
pub(crate) struct OwnServerSlots {
    /// Of single inboxes, by workspace.
    of_inboxes: HashMap<i64, usize>,
    of_failing: usize,
    of_all: usize,
}

impl OwnServerSlots {
    pub fn add(&mut self, lane: &SendingLane, places: usize) {
        if lane.server != LaneServer::Relay {
            self.of_all += places;
        }
        if lane.server == LaneServer::Failing {
            self.of_failing += places;
        }
        if lane.is_of_one_inbox() {
            *self.of_inboxes.entry(lane.ws).or_default() += places;
        }
    }
}

/// The lanes of a workspace.
pub(crate) fn lanes(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<SendingLane>> {
    let own = outgoing_servers::own_lanes(tx, ws)?;
    let (of_all, of_inboxes): (Vec<OwnLane>, Vec<OwnLane>) =
        own.into_iter().partition(OwnLane::is_for_all);
    let inboxes = match of_inboxes.is_empty() {
        true => LaneInboxes::All,
        false => LaneInboxes::AllBut(of_inboxes.iter().map(|lane| lane.mailbox.clone()).collect()),
    };
    let server = of_all.first().map_or(LaneServer::Relay, LaneServer::of);
    let mut lanes = vec![SendingLane::new(ws, inboxes, server)];
    lanes.extend(of_inboxes.into_iter().map(|lane| {
        let server = LaneServer::of(&lane);
        SendingLane::new(ws, LaneInboxes::One(lane.mailbox), server)
    }));
    Ok(lanes)
}

/// How the owners of the slots of a workspace's single inboxes begin.
fn inbox_prefix(ws: i64) -> String {
    format!("{ws} ")
}

impl LaneServer {
    fn of(lane: &OwnLane) -> LaneServer {
        if lane.failing { LaneServer::Failing } else { LaneServer::Own }
    }
}

impl SendingLane {
    fn new(ws: i64, inboxes: LaneInboxes, server: LaneServer) -> SendingLane {
        // Only the owner of slots that lead to the operator's relay is a number.
        let mut owner = match (server, &inboxes) {
            (LaneServer::Relay, _) => ws.to_string(),
            (_, LaneInboxes::One(inbox)) => format!("{}{inbox}", inbox_prefix(ws)),
            (_, LaneInboxes::All | LaneInboxes::AllBut(_)) => format!("{ws}*"),
        };
        if server == LaneServer::Failing {
            owner.push(FAILING_MARK);
        }
        SendingLane { ws, owner, inboxes, server }
    }

    /// The slots that the lane has, also those that it took before its server failed or worked again.
    pub fn slots_taken(&self, free: &FreeSlots) -> usize {
        let own = self.owner.trim_end_matches(FAILING_MARK);
        free.taken_by(|owner| owner.trim_end_matches(FAILING_MARK) == own)
    }

    /// The slots that the lane may still take; `claimed` are those that lanes took in this round.
    pub fn free(&self, free: &FreeSlots, claimed: &OwnServerSlots) -> usize {
        let each = match (self.server, &self.inboxes) {
            (LaneServer::Relay, _) => return free.of(&self.owner),
            (LaneServer::Failing, _) => 1,
            (LaneServer::Own, LaneInboxes::One(_)) => OWN_LANE_EACH,
            (LaneServer::Own, LaneInboxes::All | LaneInboxes::AllBut(_)) => OWN_SERVER_EACH,
        };
        let is_number = |owner: &str| owner.bytes().all(|byte| byte.is_ascii_digit());
        let in_all = free.taken_by(|owner| !is_number(owner)) + claimed.of_all;
        let mut left = each.saturating_sub(self.slots_taken(free));
        left = left.min(OWN_SERVERS_IN_ALL.saturating_sub(in_all));
        if self.server == LaneServer::Failing {
            let failing = free.taken_by(|owner| owner.ends_with(FAILING_MARK)) + claimed.of_failing;
            left = left.min(FAILING_SERVERS_IN_ALL.saturating_sub(failing));
        }
        if self.is_of_one_inbox() {
            let prefix = inbox_prefix(self.ws);
            let claimed = claimed.of_inboxes.get(&self.ws).copied().unwrap_or(0);
            let of_inboxes = free.taken_by(|owner| owner.starts_with(&prefix)) + claimed;
            left = left.min(OWN_LANES_TOGETHER.saturating_sub(of_inboxes));
        }
        left
    }

    fn is_of_one_inbox(&self) -> bool {
        matches!(self.inboxes, LaneInboxes::One(_))
    }

    /// The due messages, without those that another process has claimed.
    pub fn due(&self, tx: &mut Tx<'_>, now: i64, most: usize) -> Result<Vec<DueMessage>> {
        let mut due = match &self.inboxes {
            LaneInboxes::All => due_of_all(tx, self.ws, now, most)?,
            LaneInboxes::One(inbox) => due_of(tx, self.ws, inbox, now, most)?,
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
        Ok(due)
    }
}

db::row! {
    pub struct DueMessage from "m" {
        pub id: String,
        sends_at: i64,
        bytes: i64 = "(
            SELECT CAST(coalesce(sum(e.size), 0) AS BIGINT) FROM attachments e
            WHERE e.ws = m.ws AND e.conversation = m.conversation AND e.message = m.id
        )",
        /// Its writer is an agent that was paused or revoked.
        pub is_of_halted_agent: bool = "EXISTS (
            SELECT 1 FROM agents a
            WHERE a.ws = m.ws AND a.id = m.author
              AND (a.paused_at IS NOT NULL OR a.revoked_at IS NOT NULL)
        )",
    }
}

impl DueMessage {
    /// How many slots it takes.
    pub fn places(&self) -> usize {
        attachments::places(self.bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::concurrency::JobSlots;

    fn relay(ws: i64) -> SendingLane {
        SendingLane::new(ws, LaneInboxes::All, LaneServer::Relay)
    }

    fn of_all(ws: i64, server: LaneServer) -> SendingLane {
        SendingLane::new(ws, LaneInboxes::All, server)
    }

    fn of_one(ws: i64, inbox: &str, server: LaneServer) -> SendingLane {
        SendingLane::new(ws, LaneInboxes::One(inbox.into()), server)
    }

    /// The slots that these lanes get in one round, one after the other.
    fn claim(lanes: &[SendingLane], slots: &JobSlots) -> Vec<usize> {
        let (free, mut claimed) = (slots.free(), OwnServerSlots::default());
        let places = lanes.iter().map(|lane| {
            let places = lane.free(&free, &claimed);
            claimed.add(lane, places);
            places
        });
        places.collect()
    }

    #[test]
    fn servers_of_workspaces_get_four_for_all_inboxes_two_for_one_and_sixteen_together() {
        let slots = JobSlots::new(8, 32);
        let mut lanes = vec![of_all(1, LaneServer::Own)];
        lanes.extend(["a", "b", "c", "d", "e"].map(|inbox| of_one(1, inbox, LaneServer::Own)));
        lanes.extend([of_one(2, "a", LaneServer::Own), of_all(2, LaneServer::Own), relay(3)]);
        lanes.push(of_all(12, LaneServer::Own));
        assert_eq!(claim(&lanes, &slots), [4, 2, 2, 2, 2, 0, 2, 2, 8, 0]);
    }

    #[test]
    fn servers_that_fail_get_one_each_and_eight_together() {
        let slots = JobSlots::new(8, 32);
        let mut lanes: Vec<_> = (1..=9).map(|ws| of_all(ws, LaneServer::Failing)).collect();
        lanes.push(of_one(10, "a", LaneServer::Own));
        assert_eq!(claim(&lanes, &slots), [1, 1, 1, 1, 1, 1, 1, 1, 0, 2]);
        let _held: Vec<_> = lanes[..8].iter().map(|lane| slots.enter(&lane.owner)).collect();
        assert_eq!(claim(&lanes[8..], &slots), [0, 2]);
    }

    #[test]
    fn a_lane_keeps_its_slots_when_its_server_fails_or_works_again() {
        let slots = JobSlots::new(8, 32);
        let (works, fails) = (of_all(1, LaneServer::Own), of_all(1, LaneServer::Failing));
        let _first = slots.enter(&works.owner);
        assert_eq!(claim(std::slice::from_ref(&fails), &slots), [0]);
        let _second = slots.enter(&fails.owner);
        assert_eq!((works.slots_taken(&slots.free()), fails.slots_taken(&slots.free())), (2, 2));
        assert_eq!(claim(std::slice::from_ref(&works), &slots), [2]);
    }

    #[test]
    fn a_workspace_whose_servers_hang_still_counts_as_sending_nothing_through_the_relay() {
        let slots = JobSlots::new(8, 32);
        let hanging = of_one(1, "a", LaneServer::Own);
        let _held = [slots.enter(&hanging.owner), slots.enter(&hanging.owner)];
        let lanes = [relay(1), hanging, of_one(1, "b", LaneServer::Own), relay(12)];
        let taken: Vec<_> = lanes.iter().map(|lane| lane.slots_taken(&slots.free())).collect();
        assert_eq!(taken, [0, 2, 0, 0]);
    }
}
