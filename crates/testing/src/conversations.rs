//! Shorthand for what a key sees and does, and what people do in the app.

use actions::conversations::topics;
use actions::inboxes::setup;
use actions::workspace::fields::add_field;
use base::actor::{Actor, Plan};
use base::ids::TopicId;
use base::time::Moment;
use db::Json;
use model::fields::{CustomField, FieldKind, FieldOwner};
use serde_json::{Value, json};

use crate::json::{items, query, text_of, texts};
use crate::{Answer, TestApp, TestKey};

/// Pages that a walk may have before it counts as endless.
const PAGES: usize = 1_000;

impl TestApp {
    /// The whole conversation as this key reads it.
    pub async fn read(&self, key: &TestKey, id: &impl ToString) -> Value {
        self.get(key, &format!("/conversations/{}", id.to_string())).await.is(200).json()
    }

    /// The conversations that a query such as `view=all&limit=2` lists.
    pub async fn list(&self, key: &TestKey, query: &str) -> Vec<Value> {
        items(&self.get(key, &format!("/conversations?{query}")).await.is(200))
    }

    /// Their subjects, which tests use as names.
    pub async fn subjects(&self, key: &TestKey, query: &str) -> Vec<String> {
        texts(&self.list(key, query).await, "subject")
    }

    /// The subjects of what a search finds, whatever its status.
    pub async fn search_subjects(&self, key: &TestKey, q: &str) -> Vec<String> {
        self.subjects(key, &query(&[("view", "all"), ("q", q)])).await
    }

    /// Every page of a list, from one to the next.
    pub async fn pages(&self, key: &TestKey, path: &str) -> Vec<Vec<Value>> {
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
    pub async fn walk(&self, key: &TestKey, path: &str) -> Vec<String> {
        texts(&self.pages(key, path).await.concat(), "id")
    }

    /// Posts to `/conversations/{id}/{what}`.
    pub async fn on(&self, key: &TestKey, id: &impl ToString, what: &str, body: Value) -> Answer {
        self.post(key, &format!("/conversations/{}/{what}", id.to_string()), body).await
    }

    /// A draft's id.
    pub async fn draft(&self, key: &TestKey, id: &impl ToString, text: &str) -> String {
        let answer = self.on(key, id, "replies", json!({ "body": text })).await.is(201);
        text_of(&answer.json(), "messageId")
    }

    /// A scheduled message's id.
    pub async fn schedule(&self, key: &TestKey, id: &impl ToString, text: &str) -> String {
        let body = json!({ "body": text, "send": true });
        text_of(&self.on(key, id, "replies", body).await.is(201).json(), "messageId")
    }

    /// Sends a reply from the support inbox, undo window and all.
    pub async fn send_reply(&self, key: &TestKey, id: &impl ToString, text: &str) -> String {
        let message = self.schedule(key, id, text).await;
        self.mark_sent(&self.support, &message).await;
        message
    }

    /// The timeline's items of one type: `message`, `note` or `event`.
    pub async fn timeline(&self, key: &TestKey, id: &impl ToString, kind: &str) -> Vec<Value> {
        let read = self.read(key, id).await;
        let all = read["timeline"].as_array().unwrap().iter();
        all.filter(|item| item["type"] == kind).cloned().collect()
    }

    /// The timeline's events as `name data`.
    pub async fn timeline_events(&self, key: &TestKey, id: &impl ToString) -> Vec<(String, Value)> {
        let events = self.timeline(key, id, "event").await;
        events.iter().map(|event| (text_of(event, "event"), event["data"].clone())).collect()
    }

    /// A topic of the team's, with words that describe it.
    pub async fn topic(&self, name: &str, words: &str) -> TopicId {
        let (name, words) = (name.to_owned(), words.to_owned());
        self.act(&self.owner, move |tx, cx| topics::add_topic(tx, cx, &name, &words)).await
    }

    /// A field of contacts or conversations; a choice names what it can be.
    pub async fn field(&self, key: &str, owner: FieldOwner, kind: FieldKind, choices: &[&str]) {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let field = CustomField { key: key.to_owned(), owner, kind, choices: Json(choices) };
        self.act(&self.owner, move |tx, cx| add_field(tx, cx, &field)).await;
    }

    pub async fn set_plan(&self, plan: Plan) {
        self.act(&self.owner, move |tx, cx| setup::set_plan(tx, cx, plan)).await;
    }

    /// A person puts a conversation away.
    pub async fn snooze(&self, person: &Actor, id: &impl ToString, until: i64) {
        let id = id.to_string();
        self.act(person, move |tx, cx| actions::conversations::snooze::snooze(tx, cx, &id, until))
            .await;
    }

    pub async fn release(&self, id: &impl ToString) {
        let id = id.to_string();
        self.act(&self.owner, move |tx, cx| {
            actions::conversations::snooze::release_held(tx, cx, &id)
        })
        .await;
    }

    /// The present time as the API writes it.
    pub fn iso(&self) -> String {
        Moment(self.now()).iso()
    }
}
