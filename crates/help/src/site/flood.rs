//! How many help pages one client network reads in a minute. It is counted in memory: reading writes nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base::limits::{HELP_READS_A_MINUTE, MINUTE_MS};

/// Networks that are remembered; beyond these the minutes that are over are forgotten first.
const NETWORKS: usize = 20_000;

#[derive(Default)]
pub struct ReadCounts(Mutex<HashMap<String, (i64, u32)>>);

impl ReadCounts {
    /// False for a network that has to wait. A search counts as `cost` pages.
    pub fn take(&self, network: &str, cost: u32, now: i64) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= NETWORKS && !counts.contains_key(network) {
            counts.retain(|_, (begun, _)| now - *begun < MINUTE_MS);
            if counts.len() >= NETWORKS {
                return false;
            }
        }
        let (begun, taken) = counts.entry(network.to_owned()).or_insert((now, 0));
        if now - *begun >= MINUTE_MS {
            (*begun, *taken) = (now, 0);
        }
        *taken = taken.saturating_add(cost);
        *taken <= HELP_READS_A_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_reads_much_waits_for_the_next_minute() {
        let counts = ReadCounts::default();
        for _ in 0..HELP_READS_A_MINUTE {
            assert!(counts.take("192.0.2.1", 1, 1_000));
        }
        assert!(!counts.take("192.0.2.1", 1, 2_000) && counts.take("192.0.2.2", 1, 2_000));
        assert!(counts.take("192.0.2.1", 1, 1_000 + MINUTE_MS));
        let few = HELP_READS_A_MINUTE / 4;
        assert!(
            (0..few).all(|_| counts.take("192.0.2.3", 4, 0)) && !counts.take("192.0.2.3", 4, 0)
        );
    }
}
