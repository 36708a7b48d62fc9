//! PostgreSQL: terms that were found to be in many mails. Its index reads all entries of a term before it
//! gives the first, so a frequent term is not looked up again and again to find that it is frequent.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::concurrency::recent_map::RecentMap;

/// Bytes of the terms that are remembered, in each of two generations.
const CACHED_BYTES: usize = 1 << 20;
/// What an entry takes beside its term.
const ENTRY_BYTES: usize = 64;
/// How long an entry is used: until then, what was deleted since may keep a count from being exact.
const MAX_AGE: Duration = Duration::from_secs(600);

/// How many mails at least have a term.
pub struct FrequentTerms(Mutex<RecentMap<String, (i64, Instant)>>);

impl Default for FrequentTerms {
    fn default() -> FrequentTerms {
        FrequentTerms(Mutex::new(RecentMap::new(CACHED_BYTES)))
    }
}

impl FrequentTerms {
    /// True when more than `most` mails were found to have the term.
    pub fn has_more_than(&self, expression: &str, most: i64) -> bool {
        let mut terms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = terms.get(&expression.to_owned());
        found.is_some_and(|(found, at)| found > most && at.elapsed() < MAX_AGE)
    }

    pub fn remember(&self, expression: &str, found: i64) {
        let mut terms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let weight = expression.len() + ENTRY_BYTES;
        terms.insert(expression.to_owned(), (found, Instant::now()), weight);
    }
}
