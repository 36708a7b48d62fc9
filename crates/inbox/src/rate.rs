//! The request rate of each key, shared by every door (API section 8).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::actor::KeyHash;
use crate::limits::{RATE_WINDOW_MS, SANDBOX_INBOUND_PER_MINUTE};
use crate::looks::Looks;

/// Keys remembered before the windows that are over are swept out.
const KEYS_REMEMBERED: usize = 10_000;

pub struct Limiter {
    /// What the calls of agents were about.
    pub looks: Looks,
    per_minute: u32,
    windows: Mutex<HashMap<Counted, Window>>,
}

/// Whose requests are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    Key(KeyHash),
    /// Simulated mail, by all test keys of a workspace.
    Sandbox(i64),
}

#[derive(Clone, Copy)]
struct Window {
    started: i64,
    taken: u32,
}

/// Where a key, or the sandbox, stands after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub limit: u32,
    pub remaining: u32,
    /// Seconds until the full number is there again.
    pub resets_in: i64,
    pub over: bool,
}

impl Limiter {
    pub fn new(per_minute: u32) -> Limiter {
        Limiter { looks: Looks::default(), per_minute, windows: Mutex::new(HashMap::new()) }
    }

    /// Counts one request. Nothing is known of the key yet: see [`Limiter::forget`].
    pub fn take(&self, key: &KeyHash, now: i64) -> Standing {
        self.count(Counted::Key(*key), self.per_minute, now)
    }

    /// Counts one simulated mail, together with those of the workspace's other test keys.
    pub fn take_simulated(&self, ws: i64, now: i64) -> Standing {
        self.count(Counted::Sandbox(ws), SANDBOX_INBOUND_PER_MINUTE, now)
    }

    fn count(&self, counted: Counted, limit: u32, now: i64) -> Standing {
        let mut windows = self.windows();
        if windows.len() >= KEYS_REMEMBERED && !windows.contains_key(&counted) {
            windows.retain(|_, window| now - window.started < RATE_WINDOW_MS);
        }
        let window = windows.entry(counted).or_insert(Window { started: now, taken: 0 });
        if now - window.started >= RATE_WINDOW_MS {
            *window = Window { started: now, taken: 0 };
        }
        let over = window.taken >= limit;
        if !over {
            window.taken += 1;
        }
        let left = window.started + RATE_WINDOW_MS - now;
        Standing {
            limit,
            remaining: limit - window.taken,
            resets_in: (left.max(0) + 999) / 1_000,
            over,
        }
    }

    /// Drops the count of what turned out not to be a key, so that guesses take no memory.
    pub fn forget(&self, key: &KeyHash) {
        self.windows().remove(&Counted::Key(*key));
    }

    /// What a caller without a key is told.
    pub fn untouched(&self) -> Standing {
        let limit = self.per_minute;
        Standing { limit, remaining: limit, resets_in: RATE_WINDOW_MS / 1_000, over: false }
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<Counted, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_within_a_minute_and_ends_with_it() {
        let key = KeyHash::of(&format!("rk_{}", "a".repeat(48))).expect("a key");
        let limiter = Limiter::new(3);
        let over = |now| limiter.take(&key, now).over;
        assert_eq!([over(0), over(1), over(2), over(3)], [false, false, false, true]);
        assert!(over(59_999));
        assert!(!over(60_000));
        assert_eq!(limiter.take(&key, 60_500).resets_in, 60);
    }
}
