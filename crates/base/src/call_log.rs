//! The calls of keys that are still to be written down. Calls do not wait for it: what comes in while a
//! write runs goes with the next one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::limits::MINUTE_MS;
use crate::security::api_key::KeyHash;

/// Calls that wait to be written; more are not kept.
const WAITING: usize = 10_000;
/// Calls that one transaction writes.
const WRITTEN_AT_ONCE: usize = 500;
/// Keys of which it is known when a refused call was kept last.
const TOO_FAST_KEYS: usize = 10_000;
/// The status of a call that came too soon after others.
const TOO_MANY: u16 = 429;

/// One call of a key, and what came of it.
#[derive(Clone)]
pub struct CallRecord {
    pub id: String,
    pub key: KeyHash,
    pub at: i64,
    pub operation: &'static str,
    pub status: u16,
    /// The id of the request, as its response names it; empty where there was none.
    pub request: String,
    /// The id of what it is about: in the path, or the conversation that it began.
    pub subject: Option<String>,
    /// As JSON, bounded and without secrets.
    pub arguments: String,
    /// The sentence of a refusal.
    pub error: Option<String>,
    /// Bytes of the arguments as they are kept, and of the answer.
    pub bytes: i64,
}

/// Tells calls of one moment apart, on any node. It is not one of the ids of the app, of which every call would
/// take one.
pub fn new_record_id() -> String {
    static NODE: LazyLock<u32> = LazyLock::new(rand::random);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:012x}{:08x}", COUNT.fetch_add(1, Ordering::Relaxed), *NODE)
}

/// What waits, and whether somebody writes it already.
#[derive(Default)]
pub struct CallLog(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    calls: Vec<CallRecord>,
    is_writing: bool,
    too_fast: HashMap<KeyHash, i64>,
}

impl CallLog {
    /// Adds a call. True when the caller has to write what waits, because nobody does.
    pub fn add(&self, call: CallRecord) -> bool {
        let mut waiting = self.waiting();
        if call.status == TOO_MANY && !waiting.is_first_in_minute(&call) {
            return false;
        }
        if waiting.calls.len() >= WAITING {
            return false;
        }
        waiting.calls.push(call);
        !std::mem::replace(&mut waiting.is_writing, true)
    }

    /// The next calls to write; none ends the writing.
    pub fn take(&self) -> Vec<CallRecord> {
        let mut waiting = self.waiting();
        let most = waiting.calls.len().min(WRITTEN_AT_ONCE);
        waiting.is_writing = most > 0;
        waiting.calls.drain(..most).collect()
    }

    /// The writing failed; the next call begins it again.
    pub fn give_up(&self) {
        self.waiting().is_writing = false;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Of the calls that a key makes too fast one in a minute is kept: they are as many as it likes.
    fn is_first_in_minute(&mut self, call: &CallRecord) -> bool {
        let last = self.too_fast.get(&call.key).copied();
        if last.is_some_and(|last| call.at - last < MINUTE_MS) {
            return false;
        }
        if self.too_fast.len() >= TOO_FAST_KEYS {
            self.too_fast.clear();
        }
        self.too_fast.insert(call.key, call.at);
        true
    }
}
