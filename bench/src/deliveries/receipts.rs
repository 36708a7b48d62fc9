//! What the good receivers got.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// What stands before the conversation of an event.
const CONVERSATION: &[u8] = b"\"conversation_id\":\"";
/// How often arrivals are looked at while they are waited for.
const STEP: Duration = Duration::from_millis(10);

#[derive(Default)]
pub struct Receipts {
    count: AtomicU64,
    /// When the latest timed event of each conversation came.
    at: Mutex<HashMap<String, Instant>>,
}

impl Receipts {
    pub fn count_one(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn time(&self, body: &[u8]) {
        let now = Instant::now();
        if let Some(conversation) = conversation(body) {
            self.at().insert(conversation.to_owned(), now);
        }
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub fn of(&self, conversation: &str) -> Option<Instant> {
        self.at().get(conversation).copied()
    }

    pub fn clear(&self) {
        self.at().clear();
    }

    /// Ready when events of so many conversations have come, or after a while.
    pub async fn wait_for(&self, conversations: usize, patience: Duration) {
        let until = Instant::now() + patience;
        while self.at().len() < conversations && Instant::now() < until {
            sleep(STEP).await;
        }
    }

    fn at(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn conversation(body: &[u8]) -> Option<&str> {
    let start = body.windows(CONVERSATION.len()).position(|window| window == CONVERSATION)?;
    let rest = str::from_utf8(&body[start + CONVERSATION.len()..]).ok()?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::conversation;

    #[test]
    fn the_conversation_of_an_event_is_found_in_its_bytes() {
        let body = br#"{"data":{"summary":"x","conversation_id":"cnv_1","assignee":null}}"#;
        assert_eq!(conversation(body), Some("cnv_1"));
        assert_eq!(conversation(b"{}"), None);
    }
}
