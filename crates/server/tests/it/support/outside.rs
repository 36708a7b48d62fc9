//! The world outside of Mailroom, as a test scripts it: a relay that remembers what it was given,
//! and a receiver of webhooks that answers as it is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use inbox::due::{Answer, Call, Courier, Outcome, Parcel, Posting, Relay, Sending};

/// Remembers every mail, and says of each what it was told to say.
#[derive(Default)]
pub struct TestRelay {
    state: Mutex<RelayState>,
}

#[derive(Default)]
struct RelayState {
    sent: Vec<Parcel>,
    /// What it says of the next mails; afterwards they are delivered.
    script: Vec<Outcome>,
}

impl TestRelay {
    /// Every try so far.
    pub fn tries(&self) -> Vec<Parcel> {
        self.state.lock().unwrap().sent.clone()
    }

    pub fn will_say(&self, outcomes: &[Outcome]) {
        self.state.lock().unwrap().script.extend_from_slice(outcomes);
    }
}

impl Relay for TestRelay {
    fn send<'a>(&'a self, parcel: &'a Parcel) -> Sending<'a> {
        let mut state = self.state.lock().unwrap();
        state.sent.push(parcel.clone());
        let outcome = match state.script.is_empty() {
            true => Outcome::Delivered,
            false => state.script.remove(0),
        };
        Box::pin(async move { outcome })
    }
}

/// Remembers every call, and answers 200 unless it was told otherwise for that address.
#[derive(Default)]
pub struct TestCourier {
    state: Mutex<CourierState>,
}

#[derive(Default)]
struct CourierState {
    calls: Vec<Call>,
    answers: HashMap<String, Answer>,
}

impl TestCourier {
    /// Every try so far.
    pub fn calls(&self) -> Vec<Call> {
        self.state.lock().unwrap().calls.clone()
    }

    /// What this address answers from now on.
    pub fn answers(&self, url: &str, answer: Answer) {
        self.state.lock().unwrap().answers.insert(url.to_owned(), answer);
    }

    pub fn answers_status(&self, url: &str, code: u16) {
        self.answers(url, Answer::Status { code, body: format!("says {code}") });
    }
}

impl Courier for TestCourier {
    fn post<'a>(&'a self, call: &'a Call) -> Posting<'a> {
        let mut state = self.state.lock().unwrap();
        state.calls.push(call.clone());
        let fine = || Answer::Status { code: 200, body: String::new() };
        let answer = state.answers.get(&call.url).cloned().unwrap_or_else(fine);
        Box::pin(async move { answer })
    }
}

/// The outside of one test.
#[derive(Clone, Default)]
pub struct Outside {
    pub relay: Arc<TestRelay>,
    pub courier: Arc<TestCourier>,
}
