//! Shorthand for the rules of the domain: what a key sees and does, what the store holds, and
//! chance that can be repeated.

use inbox::actions;
use inbox::base::actor::{Actor, Plan, authenticate};
use inbox::base::api_key::KeyHash;
use inbox::base::ids::{MessageId, WebhookId};
use inbox::base::time::Moment;
use inbox::model::mailboxes::Mailbox;
use inbox::{Cx, Error, FiledMail, IncomingMail};
use mail::{Attachment, Mail, Risk, Warning};
use serde_json::{Value, json};

use super::{Answer, Key, TestApp, eventually};

/// Pages that a walk may have before it counts as endless.
const PAGES: usize = 1_000;

impl TestApp {
    /// The conversations that a query such as `view=all&limit=2` lists.
    pub async fn list(&self, key: &Key, query: &str) -> Vec<Value> {
        items(&self.get(key, &format!("/conversations?{query}")).await.is(200))
    }

    /// Their subjects, which tests use as names.
    pub async fn subjects(&self, key: &Key, query: &str) -> Vec<String> {
        texts(&self.list(key, query).await, "subject")
    }

    /// The subjects of what a search finds, whatever its status.
    pub async fn found(&self, key: &Key, q: &str) -> Vec<String> {
        self.subjects(key, &query(&[("view", "all"), ("q", q)])).await
    }

    /// Every page of a list, from one `Link` to the next.
    pub async fn pages(&self, key: &Key, path: &str) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next {
            assert!(pages.len() < PAGES, "a walk without an end: {path}");
            let answer = self.get(key, &path).await.is(200);
            pages.push(items(&answer));
            next = answer.next();
        }
        pages
    }

    /// The ids that a whole walk gives, in its order.
    pub async fn walk(&self, key: &Key, path: &str) -> Vec<String> {
        texts(&self.pages(key, path).await.concat(), "id")
    }

    /// Posts to `/conversations/{id}/{what}`.
    pub async fn on(&self, key: &Key, id: &impl ToString, what: &str, body: Value) -> Answer {
        self.post(key, &format!("/conversations/{}/{what}", id.to_string()), body).await
    }

    /// A draft's id.
    pub async fn draft(&self, key: &Key, id: &impl ToString, text: &str) -> String {
        let answer = self.on(key, id, "replies", json!({ "body": text })).await.is(201);
        text_of(&answer.json(), "messageId")
    }

    /// A scheduled message's id.
    pub async fn schedule(&self, key: &Key, id: &impl ToString, text: &str) -> String {
        let body = json!({ "body": text, "send": true });
        text_of(&self.on(key, id, "replies", body).await.is(201).json(), "messageId")
    }

    /// Sends a reply from the support inbox, undo window and all.
    pub async fn sent(&self, key: &Key, id: &impl ToString, text: &str) -> String {
        let message = self.schedule(key, id, text).await;
        self.mark_sent(&self.support, &message).await;
        message
    }

    /// The timeline's items of one type: `message`, `note` or `event`.
    pub async fn timeline(&self, key: &Key, id: &impl ToString, kind: &str) -> Vec<Value> {
        let read = self.read(key, id).await;
        let all = read["timeline"].as_array().unwrap().iter();
        all.filter(|item| item["type"] == kind).cloned().collect()
    }

    /// The timeline's events as `name data`.
    pub async fn timeline_events(&self, key: &Key, id: &impl ToString) -> Vec<(String, Value)> {
        let events = self.timeline(key, id, "event").await;
        events.iter().map(|event| (text_of(event, "event"), event["data"].clone())).collect()
    }

    /// What somebody tries and may not.
    pub async fn refused<T, F>(&self, actor: &Actor, operation: F) -> Error
    where
        F: FnMut(&mut db::Tx<'_>, &Cx<'_>) -> inbox::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.app.act(actor, operation).await {
            Ok(_) => panic!("this should have been refused"),
            Err(error) => error,
        }
    }

    /// Mailroom itself, where this inbox is seen.
    pub fn service(&self, mailbox: &Mailbox) -> Actor {
        Actor::system(self.owner.ws, self.owner.workspace.clone(), mailbox.circle.clone())
    }

    /// The actor that a key acts as.
    pub async fn agent(&self, key: &Key) -> Actor {
        let hash = KeyHash::of(&key.key).unwrap();
        let found = self.app.store.read(move |tx| authenticate(tx, &hash)).await;
        found.unwrap().0
    }

    /// Many mails to one inbox in one transaction.
    pub async fn deliver_all(&self, mailbox: &Mailbox, mails: Vec<Mail>) -> Vec<FiledMail> {
        let incoming: Vec<IncomingMail> =
            mails.into_iter().map(|mail| self.incoming(mailbox, mail)).collect();
        let (service, mailbox) = (self.service(mailbox), mailbox.clone());
        self.act(&service, move |tx, cx| {
            incoming.iter().map(|mail| inbox::receive(tx, cx, &mailbox, mail)).collect()
        })
        .await
    }

    /// A mail with the blobs of its attachments.
    pub fn incoming(&self, mailbox: &Mailbox, mut mail: Mail) -> IncomingMail {
        if mail.delivered_to.is_empty() {
            mail.delivered_to = mailbox.address.to_string();
        }
        let put = |file: &Attachment| self.app.blobs.put(&file.bytes).unwrap();
        let attachments = mail.attachments.iter().map(put).collect();
        IncomingMail { mail, raw: None, attachments, joins: None }
    }

    /// The Message-ID of one of our messages.
    pub async fn header_id(&self, message: &str) -> String {
        let id = MessageId::parse(message).unwrap();
        let ws = self.owner.ws;
        let read = self.app.store.read(move |tx| {
            tx.one::<(String,)>(
                "SELECT header_id FROM messages WHERE ws = ?1 AND id = ?2",
                &[&ws, &id],
            )
        });
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
    }

    /// Changes rows behind the domain's back, where no operation does it yet.
    pub async fn exec(&self, sql: &str) {
        let sql = sql.to_owned();
        self.act(&self.owner, move |tx, _| Ok(tx.exec(&sql, &[])?)).await;
    }

    pub async fn events_since(&self, count: usize) -> Vec<Value> {
        self.events().await.split_off(count)
    }

    pub async fn event_types_since(&self, count: usize) -> Vec<String> {
        texts(&self.events_since(count).await, "type")
    }

    pub async fn webhook(&self, maker: &Actor, private: bool, livemode: bool) -> WebhookId {
        let url = actions::check_url("https://example.com/hook", false).unwrap();
        let made =
            self.act(maker, move |tx, cx| actions::add_webhook(tx, cx, &url, private, livemode));
        made.await.id
    }

    /// Planned deliveries as (webhook, event type, state), in the order of the events.
    pub async fn deliveries(&self) -> Vec<(String, String, String)> {
        let ws = self.owner.ws;
        let read = self.app.store.read(move |tx| {
            tx.all::<(String, String, String)>(
                "SELECT d.webhook, e.type, d.state
                 FROM deliveries d JOIN events e ON e.ws = d.ws AND e.id = d.event
                 WHERE d.ws = ?1 ORDER BY d.event, d.webhook",
                &[&ws],
            )
        });
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"))
    }

    /// Waits for transactions of other tests on the same PostgreSQL that began before what this
    /// test wrote: `GET /events` goes no further than the oldest of the whole server.
    pub async fn settled(&self) {
        let open = |tx: &mut db::Tx<'_>| {
            let sql = tx.pick(
                "SELECT 0",
                "SELECT count(*) FROM events
                 WHERE txn >= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)",
            );
            Ok::<_, db::StoreError>(tx.one::<(i64,)>(sql, &[])?.0)
        };
        eventually(async || self.app.store.read(open).await.unwrap() == 0).await;
    }

    pub async fn set_plan(&self, plan: Plan) {
        self.act(&self.owner, move |tx, cx| actions::set_plan(tx, cx, plan)).await;
    }

    /// A person puts a conversation away.
    pub async fn snooze(&self, person: &Actor, id: &impl ToString, until: i64) {
        let id = id.to_string();
        self.act(person, move |tx, cx| actions::snooze(tx, cx, &id, until)).await;
    }

    pub async fn release(&self, id: &impl ToString) {
        let id = id.to_string();
        self.act(&self.owner, move |tx, cx| actions::release_held(tx, cx, &id)).await;
    }

    /// The present time as the API writes it.
    pub fn iso(&self) -> String {
        Moment(self.now()).iso()
    }
}

pub fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn items(answer: &Answer) -> Vec<Value> {
    answer.json().as_array().expect("a list").clone()
}

/// One text field of each.
pub fn texts(values: &[Value], field: &str) -> Vec<String> {
    values.iter().map(|value| text_of(value, field)).collect()
}

pub fn text_of(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no text {field} in {value}")).to_owned()
}

/// The names of an object's fields, in order.
pub fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(|k| &**k).collect();
    names.sort_unstable();
    names
}

/// What the scam check says of a mail that it holds.
pub fn held_warning() -> Option<Warning> {
    let reasons = vec!["The link leads elsewhere".into()];
    Some(Warning { risk: Risk::Phishing, reasons, hold: true })
}

pub fn file(filename: &str, bytes: &[u8]) -> Attachment {
    let content_type = "application/pdf".into();
    Attachment { filename: filename.into(), content_type, bytes: bytes.into() }
}

/// Chance from a seed, the same on every machine.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The seeds a randomized rule runs with: the one in `MAILROOM_TEST_SEED`, or a few fixed ones.
pub fn seeds() -> Vec<u64> {
    match std::env::var("MAILROOM_TEST_SEED") {
        Ok(seed) => vec![seed.parse().expect("MAILROOM_TEST_SEED is a number")],
        Err(_) => vec![1, 20, 300],
    }
}
