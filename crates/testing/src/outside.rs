//! The world outside of Mailroom, as a test scripts it: a relay that remembers what it was given,
//! a receiver of webhooks that answers as it is told, and a reader of documents that says what it
//! is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base::app::App;
use jobs::{
    BoxFuture, DocumentFile, DocumentReader, ExtractionOutcome, OutgoingMail, Relay, RelayOutcome,
    WebhookRequest, WebhookResponse, WebhookSender, Worker,
};
use model::documents::{DocumentFields, DocumentKind};
use tokio::sync::Notify;

use crate::waiting::until;
use crate::{TestAuthenticator, TestOpenPages, TestPushService};

/// Remembers every mail, and says of each what it was told to say.
#[derive(Default)]
pub struct TestRelay {
    state: Mutex<RelayState>,
    changed: Notify,
}

#[derive(Default)]
struct RelayState {
    sent: Vec<OutgoingMail>,
    /// What it says of the next mails; afterwards they are delivered.
    script: Vec<Said>,
    hangs: bool,
    /// Serves each recipient alone, and never comes to an end with these.
    hangs_for: Option<Vec<String>>,
}

enum Said {
    OfAll(RelayOutcome),
    OfEach(Vec<RelayOutcome>),
}

impl TestRelay {
    /// Every try so far.
    pub fn attempts(&self) -> Vec<OutgoingMail> {
        self.state.lock().unwrap().sent.clone()
    }

    pub fn will_say(&self, outcomes: &[RelayOutcome]) {
        let said = outcomes.iter().cloned().map(Said::OfAll);
        self.state.lock().unwrap().script.extend(said);
    }

    /// What it says of the next mail for each recipient.
    pub fn will_say_of_each(&self, outcomes: &[RelayOutcome]) {
        self.state.lock().unwrap().script.push(Said::OfEach(outcomes.to_vec()));
    }

    /// Takes mails from now on and says nothing of them.
    pub fn hangs(&self) {
        self.state.lock().unwrap().hangs = true;
    }

    /// Serves each recipient alone from now on, and says nothing of these.
    pub fn hangs_for(&self, recipients: &[&str]) {
        let recipients = recipients.iter().map(|to| (*to).to_owned()).collect();
        self.state.lock().unwrap().hangs_for = Some(recipients);
    }

    /// Waits until so many mails were given to it.
    pub async fn was_given(&self, count: usize) {
        until(&self.changed, || self.state.lock().unwrap().sent.len() >= count).await;
    }
}

impl Relay for TestRelay {
    fn send<'a>(&'a self, parcel: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        let mut state = self.state.lock().unwrap();
        state.sent.push(parcel.clone());
        self.changed.notify_waiters();
        let hangs_for = state.hangs_for.as_deref().unwrap_or_default();
        if state.hangs || parcel.recipients.iter().any(|to| hangs_for.contains(to)) {
            return Box::pin(std::future::pending());
        }
        let outcomes = match state.script.is_empty() {
            true => vec![RelayOutcome::Delivered; parcel.recipients.len()],
            false => match state.script.remove(0) {
                Said::OfAll(outcome) => vec![outcome; parcel.recipients.len()],
                Said::OfEach(outcomes) => outcomes,
            },
        };
        Box::pin(async move { outcomes })
    }

    fn parts(&self, recipients: &[String]) -> Vec<Vec<String>> {
        match self.state.lock().unwrap().hangs_for {
            Some(_) => recipients.iter().map(|to| vec![to.clone()]).collect(),
            None => vec![recipients.to_vec()],
        }
    }
}

/// Remembers every call, and answers 200 unless it was told otherwise for that address.
#[derive(Default)]
pub struct TestWebhookSender {
    state: Mutex<SenderState>,
    changed: Notify,
}

#[derive(Default)]
struct SenderState {
    calls: Vec<WebhookRequest>,
    answers: HashMap<String, Manner>,
}

#[derive(Clone)]
enum Manner {
    Answers(WebhookResponse),
    Hangs,
}

impl TestWebhookSender {
    /// Every try so far.
    pub fn calls(&self) -> Vec<WebhookRequest> {
        self.state.lock().unwrap().calls.clone()
    }

    /// Every try so far at one address.
    pub fn calls_to(&self, url: &str) -> Vec<WebhookRequest> {
        self.calls().into_iter().filter(|call| call.url == url).collect()
    }

    /// What this address answers from now on, also to the calls that it let hang.
    pub fn answers(&self, url: &str, answer: WebhookResponse) {
        self.behaves(url, Manner::Answers(answer));
    }

    pub fn answers_status(&self, url: &str, code: u16) {
        self.answers(url, WebhookResponse::Status { code, body: format!("says {code}") });
    }

    /// Takes calls at this address from now on and does not answer.
    pub fn hangs(&self, url: &str) {
        self.behaves(url, Manner::Hangs);
    }

    fn behaves(&self, url: &str, manner: Manner) {
        self.state.lock().unwrap().answers.insert(url.to_owned(), manner);
        self.changed.notify_waiters();
    }

    /// Waits until this address was called so often.
    pub async fn was_called(&self, url: &str, count: usize) {
        until(&self.changed, || self.calls_to(url).len() >= count).await;
    }

    fn manner(&self, url: &str) -> Manner {
        let fine = || Manner::Answers(WebhookResponse::Status { code: 200, body: String::new() });
        self.state.lock().unwrap().answers.get(url).cloned().unwrap_or_else(fine)
    }
}

impl WebhookSender for TestWebhookSender {
    fn post<'a>(&'a self, call: &'a WebhookRequest) -> BoxFuture<'a, WebhookResponse> {
        self.state.lock().unwrap().calls.push(call.clone());
        self.changed.notify_waiters();
        Box::pin(async move {
            loop {
                let changed = self.changed.notified();
                match self.manner(&call.url) {
                    Manner::Answers(answer) => return answer,
                    Manner::Hangs => changed.await,
                }
            }
        })
    }
}

/// Remembers every document, and says of each what it was told to say.
#[derive(Default)]
pub struct TestReader {
    state: Mutex<ReaderState>,
    changed: Notify,
}

#[derive(Default)]
struct ReaderState {
    documents: Vec<DocumentFile>,
    /// What it says of the next documents; afterwards they are something else.
    script: Vec<ExtractionOutcome>,
    hangs: bool,
}

impl TestReader {
    /// The names of the files that it was given, in order.
    pub fn file_names(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.documents.iter().map(|document| document.filename.clone()).collect()
    }

    pub fn bytes_given(&self) -> Vec<Vec<u8>> {
        let state = self.state.lock().unwrap();
        state.documents.iter().map(|document| document.bytes.clone()).collect()
    }

    pub fn will_say(&self, found: &[ExtractionOutcome]) {
        self.state.lock().unwrap().script.extend_from_slice(found);
    }

    /// Takes documents from now on and says nothing of them until it is told to go on.
    pub fn hangs(&self, hangs: bool) {
        self.state.lock().unwrap().hangs = hangs;
        self.changed.notify_waiters();
    }

    /// Waits until so many documents were given to it.
    pub async fn was_given(&self, count: usize) {
        until(&self.changed, || self.state.lock().unwrap().documents.len() >= count).await;
    }
}

impl DocumentReader for TestReader {
    fn read<'a>(&'a self, document: &'a DocumentFile) -> BoxFuture<'a, ExtractionOutcome> {
        self.state.lock().unwrap().documents.push(document.clone());
        self.changed.notify_waiters();
        Box::pin(async move {
            loop {
                let changed = self.changed.notified();
                if !self.state.lock().unwrap().hangs {
                    break;
                }
                changed.await;
            }
            let mut state = self.state.lock().unwrap();
            match state.script.is_empty() {
                true => ExtractionOutcome::Read {
                    kind: DocumentKind::Other,
                    fields: DocumentFields::default(),
                    text: String::new(),
                },
                false => state.script.remove(0),
            }
        })
    }
}

/// The outside of one test.
#[derive(Clone, Default)]
pub struct Outside {
    pub reader: Arc<TestReader>,
    pub relay: Arc<TestRelay>,
    pub webhook_sender: Arc<TestWebhookSender>,
    pub authenticator: Arc<TestAuthenticator>,
    pub push_service: Arc<TestPushService>,
    pub open_pages: Arc<TestOpenPages>,
}

impl Outside {
    /// A worker that reaches this outside.
    pub fn worker(&self, app: &App) -> Worker {
        let (relay, webhook_sender) = (self.relay.clone(), self.webhook_sender.clone());
        Worker::new(app.clone(), relay, webhook_sender, self.reader.clone())
            .with_pushes(self.push_service.clone())
            .with_open_pages(self.open_pages.clone())
    }
}
