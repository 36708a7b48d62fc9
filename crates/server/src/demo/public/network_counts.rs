//! What each network of visitors did lately: visits that it began, requests, and forms.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::limits::{HOUR_MS, MINUTE_MS};

/// Networks remembered; when there are more, new ones wait until others are forgotten.
const NETWORKS: usize = 50_000;

/// What is counted of a network, each in a window of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    Visits,
    Requests,
    Forms,
}

#[derive(Clone, Copy)]
struct CountWindow {
    ends_at: i64,
    count: u32,
}

#[derive(Default)]
pub struct NetworkCounts {
    windows: Mutex<HashMap<(Counted, String), CountWindow>>,
}

impl NetworkCounts {
    /// Counts a visit; false for one too many in an hour.
    pub fn may_begin(&self, network: &str, most: u32, now: i64) -> bool {
        self.take(Counted::Visits, network, most, HOUR_MS, now)
    }

    /// Counts a request; false for one too many in a minute.
    pub fn may_ask(&self, network: &str, most: u32, now: i64) -> bool {
        self.take(Counted::Requests, network, most, MINUTE_MS, now)
    }

    /// The same for what changes something.
    pub fn may_change(&self, network: &str, most: u32, now: i64) -> bool {
        self.take(Counted::Forms, network, most, MINUTE_MS, now)
    }

    fn take(&self, counted: Counted, network: &str, most: u32, window_ms: i64, now: i64) -> bool {
        let mut windows = self.windows();
        let key = (counted, network.to_owned());
        if windows.len() >= NETWORKS && !windows.contains_key(&key) {
            windows.retain(|_, window| window.ends_at > now);
            if windows.len() >= NETWORKS {
                return false;
            }
        }
        let new = CountWindow { ends_at: now + window_ms, count: 0 };
        let window = windows.entry(key).or_insert(new);
        if window.ends_at <= now {
            *window = new;
        }
        window.count = window.count.saturating_add(1);
        window.count <= most
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<(Counted, String), CountWindow>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_begins_so_many_visits_in_an_hour_and_others_are_counted_apart() {
        let counts = NetworkCounts::default();
        assert!(counts.may_begin("a", 2, 0) && counts.may_begin("a", 2, 1));
        assert!(!counts.may_begin("a", 2, 2));
        assert!(counts.may_begin("b", 2, 2));
        assert!(counts.may_ask("a", 1, 2) && !counts.may_ask("a", 1, 3));
        assert!(counts.may_change("a", 1, 3));
        assert!(counts.may_begin("a", 2, HOUR_MS));
    }
}
