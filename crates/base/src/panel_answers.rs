//! The customer panel: the port to the owner's app, and what it answered in the last minute.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::concurrency::future::BoxFuture;
use crate::limits::{MINUTE_MS, PANEL_ANSWERS, PANEL_CALLS, PANEL_CALLS_OF_WORKSPACE};

/// How long an answer is shown again without asking.
pub const PANEL_ANSWER_MS: i64 = MINUTE_MS;

/// Posts to the app of a workspace's owner.
pub trait PanelCaller: Send + Sync {
    fn post<'a>(&'a self, call: &'a PanelCall) -> BoxFuture<'a, PanelReply>;
}

/// One signed call.
pub struct PanelCall {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// For how long the whole of it is waited for.
    pub within: Duration,
    /// Bytes of a body that are read.
    pub most_bytes: usize,
}

crate::debug_without_secrets!(PanelCall {});

/// What came of a call. The sentence is for the owner, and repeats nothing that came back.
pub enum PanelReply {
    Answer {
        code: u16,
        body: Vec<u8>,
        /// False where the body goes on beyond what is read.
        is_whole: bool,
    },
    Failed(String),
}

/// What an answer is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelKey {
    pub ws: i64,
    pub conversation: String,
    pub address: String,
}

/// An answer that came in time and was right, as JSON of bounded size.
#[derive(Clone, Debug)]
pub struct RecentAnswer {
    pub at: i64,
    pub body: Arc<str>,
}

/// The port and the answers; shared by all clones of the app.
#[derive(Default)]
pub struct PanelAnswers {
    caller: OnceLock<Arc<dyn PanelCaller>>,
    answers: Mutex<VecDeque<(PanelKey, RecentAnswer)>>,
    under_way: Mutex<HashMap<i64, usize>>,
}

impl PanelAnswers {
    /// Calls through this from now on; the first one counts.
    pub fn connect(&self, caller: Arc<dyn PanelCaller>) {
        let _ = self.caller.set(caller);
    }

    /// The port; a command of the operator has none.
    pub fn caller(&self) -> Option<Arc<dyn PanelCaller>> {
        self.caller.get().cloned()
    }

    pub fn recent(&self, key: &PanelKey, now: i64) -> Option<RecentAnswer> {
        let mut answers = lock(&self.answers);
        answers.retain(|(_, answer)| is_recent(answer, now));
        answers.iter().find(|(known, _)| known == key).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer for a minute; the oldest goes where there are too many.
    pub fn keep(&self, key: PanelKey, answer: RecentAnswer) {
        let mut answers = lock(&self.answers);
        answers.retain(|(known, other)| *known != key && is_recent(other, answer.at));
        while answers.len() >= PANEL_ANSWERS {
            answers.pop_front();
        }
        answers.push_back((key, answer));
    }

    /// Asks anew next time.
    pub fn forget(&self, key: &PanelKey) {
        lock(&self.answers).retain(|(known, _)| known != key);
    }

    /// Forgets all answers of a workspace, because another app is asked from now on.
    pub fn forget_workspace(&self, ws: i64) {
        lock(&self.answers).retain(|(known, _)| known.ws != ws);
    }

    /// A place for a call of a workspace; `None` while too many are under way.
    pub fn begin(&self, ws: i64) -> Option<PanelTurn<'_>> {
        let mut under_way = lock(&self.under_way);
        let own = under_way.get(&ws).copied().unwrap_or(0);
        let all: usize = under_way.values().sum();
        if own >= PANEL_CALLS_OF_WORKSPACE || all >= PANEL_CALLS {
            return None;
        }
        under_way.insert(ws, own + 1);
        Some(PanelTurn { answers: self, ws })
    }
}

/// A call that is under way, until it is dropped.
pub struct PanelTurn<'a> {
    answers: &'a PanelAnswers,
    ws: i64,
}

impl Drop for PanelTurn<'_> {
    fn drop(&mut self) {
        let mut under_way = lock(&self.answers.under_way);
        match under_way.get_mut(&self.ws) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(under_way.remove(&self.ws)),
        }
    }
}

fn is_recent(answer: &RecentAnswer, now: i64) -> bool {
    (0..PANEL_ANSWER_MS).contains(&(now - answer.at))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(conversation: usize) -> PanelKey {
        PanelKey { ws: 1, conversation: conversation.to_string(), address: "a@x.example".into() }
    }

    fn answer(at: i64) -> RecentAnswer {
        RecentAnswer { at, body: "{}".into() }
    }

    #[test]
    fn an_answer_is_shown_for_a_minute() {
        let answers = PanelAnswers::default();
        answers.keep(key(1), answer(1_000));
        assert!(answers.recent(&key(1), 1_000 + PANEL_ANSWER_MS - 1).is_some());
        assert!(answers.recent(&key(2), 1_000).is_none());
        assert!(answers.recent(&key(1), 1_000 + PANEL_ANSWER_MS).is_none());
        answers.keep(key(1), answer(5_000));
        answers.forget(&key(1));
        assert!(answers.recent(&key(1), 5_000).is_none());
    }

    #[test]
    fn so_many_answers_stay_and_the_oldest_goes() {
        let answers = PanelAnswers::default();
        for n in 0..=PANEL_ANSWERS {
            answers.keep(key(n), answer(0));
        }
        assert!(answers.recent(&key(0), 0).is_none());
        assert!(
            answers.recent(&key(1), 0).is_some()
                && answers.recent(&key(PANEL_ANSWERS), 0).is_some()
        );
        answers.forget_workspace(1);
        assert!(answers.recent(&key(1), 0).is_none());
    }

    #[test]
    fn a_workspace_has_a_few_calls_under_way_and_leaves_room_for_others() {
        let answers = PanelAnswers::default();
        let turns: Vec<_> = (0..PANEL_CALLS_OF_WORKSPACE).map(|_| answers.begin(1)).collect();
        assert!(turns.iter().all(Option::is_some));
        assert!(answers.begin(1).is_none() && answers.begin(2).is_some());
        drop(turns);
        assert!(answers.begin(1).is_some());
    }
}
