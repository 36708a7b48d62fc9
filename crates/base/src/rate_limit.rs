//! The request rate of each key, shared by REST and MCP (API section 8) and, on PostgreSQL, by
//! every node: each node broadcasts its counts by NOTIFY several times a second, and adds the
//! counts that it receives to its own. Nothing is written to tables. Requests since the last
//! broadcast are not counted by the other nodes, so a key that spreads its calls over several nodes
//! may exceed the limit by that much. Counts that cannot be sent because the database is down are
//! lost.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use db::Store;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::limits::{
    HOUR_MS, RATE_WINDOW_MS, SANDBOX_INBOUND_PER_MINUTE, TRACKER_CALLS_PER_MINUTE,
};
use crate::security::api_key::KeyHash;
use crate::time::Clock;

/// Keys remembered before the windows that are over are swept out.
const KEYS_REMEMBERED: usize = 10_000;
/// How often a node broadcasts its counts.
const TOLD_EVERY: Duration = Duration::from_millis(250);
/// The first field of a broadcast.
const MARK: &str = "rate";
/// Counts in one broadcast: a NOTIFY payload must be shorter than 8,000 bytes.
const TOLD_AT_ONCE: usize = 80;

pub struct RateLimiter {
    per_minute: u32,
    windows: Mutex<HashMap<RateKey, Window>>,
    pending: Mutex<PendingCounts>,
}

/// Counts that have not been broadcast to the other nodes yet.
#[derive(Default)]
struct PendingCounts {
    taken: HashMap<RateKey, u32>,
    /// Makes payloads unique, because equal notifications are sent once.
    number: u64,
}

/// The owner of a rate window.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum RateKey {
    Key(KeyHash),
    /// Simulated mail, by all test keys of a workspace.
    Sandbox(i64),
    /// Calls of all keys of a workspace, in an hour.
    Calls(i64),
    /// Calls of the issue trackers of a workspace.
    Trackers(i64),
}

#[derive(Clone, Copy)]
struct Window {
    started: i64,
    length_ms: i64,
    taken: u32,
}

/// The rate limit status of a key, or of the sandbox, after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStatus {
    pub limit: u32,
    pub remaining: u32,
    /// Seconds until the full number is there again.
    pub resets_in: i64,
    pub over: bool,
}

impl RateLimiter {
    pub fn new(per_minute: u32) -> RateLimiter {
        RateLimiter { per_minute, windows: Mutex::default(), pending: Mutex::default() }
    }

    /// Counts one request. The key has not been verified yet: see [`RateLimiter::forget`].
    pub fn take(&self, key: &KeyHash, now: i64) -> RateStatus {
        self.count(RateKey::Key(*key), self.per_minute, now)
    }

    /// Counts one simulated mail, together with those of the workspace's other test keys.
    pub fn take_simulated(&self, ws: i64, now: i64) -> RateStatus {
        self.count(RateKey::Sandbox(ws), SANDBOX_INBOUND_PER_MINUTE, now)
    }

    /// Counts one call of any key of a workspace whose calls are limited.
    pub fn take_call(&self, ws: i64, limit: i64, now: i64) -> RateStatus {
        self.count(RateKey::Calls(ws), u32::try_from(limit).unwrap_or(u32::MAX), now)
    }

    /// Counts one call of an issue tracker of a workspace.
    pub fn take_tracker_call(&self, ws: i64, now: i64) -> RateStatus {
        self.count(RateKey::Trackers(ws), TRACKER_CALLS_PER_MINUTE, now)
    }

    fn count(&self, counted: RateKey, limit: u32, now: i64) -> RateStatus {
        let mut windows = self.windows();
        let window = present(&mut windows, counted, now);
        let over = window.taken >= limit;
        if !over {
            window.taken += 1;
        }
        let left = window.started + window.length_ms - now;
        RateStatus {
            limit,
            remaining: limit.saturating_sub(window.taken),
            resets_in: (left.max(0) + 999) / 1_000,
            over,
        }
    }

    /// Drops the count of an invalid key, so that guesses take no memory.
    pub fn forget(&self, key: &KeyHash) {
        self.windows().remove(&RateKey::Key(*key));
    }

    /// Adds an accepted request to the next broadcast.
    pub fn announce(&self, key: &KeyHash) {
        self.add_pending(RateKey::Key(*key));
    }

    /// The same for a simulated mail.
    pub fn announce_simulated(&self, ws: i64) {
        self.add_pending(RateKey::Sandbox(ws));
    }

    /// The same for a call of a workspace whose calls are limited.
    pub fn announce_call(&self, ws: i64) {
        self.add_pending(RateKey::Calls(ws));
    }

    /// The same for a call of an issue tracker.
    pub fn announce_tracker_call(&self, ws: i64) {
        self.add_pending(RateKey::Trackers(ws));
    }

    fn add_pending(&self, counted: RateKey) {
        let taken = &mut self.pending().taken;
        if taken.len() < KEYS_REMEMBERED || taken.contains_key(&counted) {
            *taken.entry(counted).or_default() += 1;
        }
    }

    /// The payloads of the next broadcast.
    fn take_pending(&self) -> Vec<String> {
        let mut pending = self.pending();
        let taken: Vec<(RateKey, u32)> = pending.taken.drain().collect();
        let pieces = taken.chunks(TOLD_AT_ONCE).map(|taken| {
            pending.number += 1;
            let mut words = format!("{MARK}\t{}", pending.number);
            for (counted, count) in taken {
                words.push_str(&format!("\t{}\t{count}", counted.encode()));
            }
            words
        });
        pieces.collect()
    }

    /// Adds the counts of another node's broadcast.
    fn apply(&self, words: &str, now: i64) {
        let mut words = words.split('\t');
        if words.next() != Some(MARK) || words.next().is_none() {
            return;
        }
        while let (Some(counted), Some(count)) = (words.next(), words.next()) {
            let (Some(counted), Ok(count)) = (RateKey::parse(counted), count.parse::<u32>()) else {
                return;
            };
            let mut windows = self.windows();
            let window = present(&mut windows, counted, now);
            window.taken = window.taken.saturating_add(count);
        }
    }

    /// How many requests a key has left, without counting one.
    pub fn remaining(&self, key: &KeyHash, now: i64) -> u32 {
        let windows = self.windows();
        let window = windows.get(&RateKey::Key(*key));
        let taken = window.filter(|window| now - window.started < RATE_WINDOW_MS);
        self.per_minute.saturating_sub(taken.map_or(0, |window| window.taken))
    }

    /// The status for a caller without a key.
    pub fn full_status(&self) -> RateStatus {
        let limit = self.per_minute;
        RateStatus { limit, remaining: limit, resets_in: RATE_WINDOW_MS / 1_000, over: false }
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<RateKey, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, PendingCounts> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The window that a moment falls into.
fn present(windows: &mut HashMap<RateKey, Window>, counted: RateKey, now: i64) -> &mut Window {
    if windows.len() >= KEYS_REMEMBERED && !windows.contains_key(&counted) {
        windows.retain(|_, window| now - window.started < window.length_ms);
    }
    let new = Window { started: now, length_ms: counted.window_ms(), taken: 0 };
    let window = windows.entry(counted).or_insert(new);
    if now - window.started >= window.length_ms {
        *window = new;
    }
    window
}

impl RateKey {
    fn window_ms(&self) -> i64 {
        match self {
            RateKey::Key(_) | RateKey::Sandbox(_) | RateKey::Trackers(_) => RATE_WINDOW_MS,
            RateKey::Calls(_) => HOUR_MS,
        }
    }

    fn encode(&self) -> String {
        match self {
            RateKey::Key(key) => key.hex(),
            RateKey::Sandbox(ws) => format!("ws{ws}"),
            RateKey::Calls(ws) => format!("calls{ws}"),
            RateKey::Trackers(ws) => format!("trackers{ws}"),
        }
    }

    fn parse(word: &str) -> Option<RateKey> {
        let of_workspace = |prefix: &str, key: fn(i64) -> RateKey| {
            word.strip_prefix(prefix).map(|ws| ws.parse().ok().map(key))
        };
        of_workspace("ws", RateKey::Sandbox)
            .or_else(|| of_workspace("calls", RateKey::Calls))
            .or_else(|| of_workspace("trackers", RateKey::Trackers))
            .unwrap_or_else(|| KeyHash::from_hex(word).map(RateKey::Key))
    }
}

/// Shares the counts with the other nodes until it is stopped, where there can be any.
pub async fn share_rates(
    store: &Store,
    limiter: &RateLimiter,
    clock: &dyn Clock,
    stopping: &CancellationToken,
) {
    let mut wakes = store.wakes();
    let mut time_to_tell = tokio::time::interval(TOLD_EVERY);
    while store.is_shared() && !stopping.is_cancelled() {
        tokio::select! {
            _ = time_to_tell.tick() => {
                for pending in limiter.take_pending() {
                    store.notify_others(pending);
                }
            }
            heard = wakes.recv() => match heard {
                Ok(words) => limiter.apply(&words, clock.now()),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            () = stopping.cancelled() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_within_a_minute_and_ends_with_it() {
        let key = KeyHash::of(&format!("rk_{}", "a".repeat(48))).expect("a key");
        let limiter = RateLimiter::new(3);
        let over = |now| limiter.take(&key, now).over;
        assert_eq!([over(0), over(1), over(2), over(3)], [false, false, false, true]);
        assert!(over(59_999));
        assert!(!over(60_000));
        assert_eq!(limiter.take(&key, 60_500).resets_in, 60);
    }

    #[test]
    fn what_another_node_let_in_counts_here_and_is_told_once() {
        let key = KeyHash::of(&format!("rk_{}", "a".repeat(48))).expect("a key");
        let (here, there) = (RateLimiter::new(5), RateLimiter::new(5));
        for _ in 0..3 {
            assert!(!here.take(&key, 0).over);
            here.announce(&key);
        }
        here.announce_simulated(7);
        here.announce_tracker_call(7);
        let pending = here.take_pending();
        assert!(here.take_pending().is_empty());
        pending.iter().for_each(|pending| there.apply(pending, 10));
        assert_eq!(there.take(&key, 20).remaining, 1);
        assert_eq!(there.take(&key, 30).remaining, 0);
        assert!(there.take(&key, 40).over);
        for other in ["", "pages", "rate", "rate\t1\tnonsense\t4", "rate\t1\tws7\t-4"] {
            there.apply(other, 50);
        }
        assert_eq!(there.take_simulated(7, 60).remaining, SANDBOX_INBOUND_PER_MINUTE - 2);
        assert_eq!(there.take_tracker_call(7, 60).remaining, TRACKER_CALLS_PER_MINUTE - 2);
    }
}
