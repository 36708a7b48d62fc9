//! The REST door: what a key may ask through it, and every way in which it is refused.

mod bad_input;
mod bodies;
mod direct;
mod documents;
mod errors;
pub mod garbage;
mod idempotency;
mod keys;
mod limits;
mod links;
pub mod mcp;
mod oauth;
mod openapi;
mod order_of_checks;
mod origins;
mod other_ops;
mod plans;
mod rate;
mod sandbox;
mod sandbox_rate;
pub mod schema;
mod scopes;
mod visibility;
mod webhooks;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use api::operations::{self, ReplyInput};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request};
use base::actor::{Actor, Principal};
use base::ids::ConversationId;
use bookings::types::BookingTypeInput;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, TestKey, letter, request, text_of};

pub use other_ops::{ON_FIELDS, ON_PAIRS};

/// Every scope there is (API section 5.5).
pub const ALL: &str = "read write draft send record";
/// The same, and the one that only keys made for it have.
pub const ALL_AND_ADMIN: &str = "read write draft send record admin";
pub const SCOPES: [&str; 5] = ["read", "write", "draft", "send", "record"];

/// An operation as section 4 of the API document tells it, with a request that is right.
#[derive(Clone, Copy)]
pub struct Op {
    pub name: &'static str,
    pub method: &'static str,
    pub path: &'static str,
    /// The scope that this very request needs.
    pub scope: &'static str,
    pub success: u16,
    /// Every field there is; empty for a GET.
    pub body: &'static str,
}

const fn get(name: &'static str, path: &'static str) -> Op {
    Op { name, method: "GET", path, scope: "read", success: 200, body: "" }
}

const fn post(
    name: &'static str,
    path: &'static str,
    scope: &'static str,
    success: u16,
    body: &'static str,
) -> Op {
    Op { name, method: "POST", path, scope, success, body }
}

pub const OPS: &[Op] = &[
    get("me", "/me"),
    get("list_conversations", "/conversations"),
    get("get_conversation", "/conversations/{id}"),
    post("add_note", "/conversations/{id}/notes", "write", 201, r#"{ "body": "Look @Olive" }"#),
    post("set_status", "/conversations/{id}/status", "write", 200, r#"{ "status": "waiting" }"#),
    post(
        "link_item",
        "/conversations/{id}/links",
        "write",
        200,
        r#"{ "url": "https://github.com/acme/shop/issues/12" }"#,
    ),
    post(
        "tag_conversation",
        "/conversations/{id}/tags",
        "write",
        200,
        r#"{ "add": ["shipping"], "remove": ["new"] }"#,
    ),
    post(
        "set_sorting",
        "/conversations/{id}/sorting",
        "write",
        200,
        r#"{ "topic": null, "urgency": "high" }"#,
    ),
    post("assign_conversation", "/conversations/{id}/assign", "write", 200, r#"{ "to": "me" }"#),
    post(
        "reply",
        "/conversations/{id}/replies",
        "draft",
        201,
        r#"{
            "body": "It left on Tuesday.",
            "send": false,
            "summary": "Says when it left",
            "documents": [{ "label": "Receipt", "description": "Any page", "required": false }],
            "to": ["bruno@keller.example"],
            "cc": ["anna@keller.example"],
            "replyAll": false,
            "onlyIfNoDraft": false,
            "secure": false,
            "secureDays": 30
        }"#,
    ),
    post(
        "start_conversation",
        "/conversations",
        "draft",
        201,
        r#"{
            "mailbox": "{inbox}",
            "to": ["bruno@keller.example"],
            "cc": ["anna@keller.example"],
            "subject": "Your lamp",
            "body": "It is here.",
            "send": false,
            "summary": "Says that it is here",
            "secure": false,
            "secureDays": 30
        }"#,
    ),
    post(
        "request_documents",
        "/conversations/{id}/document-requests",
        "draft",
        201,
        r#"{
            "documents": [{ "label": "Passport", "description": "Your photo", "required": true }],
            "message": "One more paper, please.",
            "dueDate": "2026-11-30",
            "send": false,
            "onlyIfNoDraft": false,
            "secure": false,
            "secureDays": 30
        }"#,
    ),
    get("get_reports", "/reports"),
    get("list_mailboxes", "/mailboxes"),
    get("list_rules", "/rules"),
    get("list_tags", "/tags"),
    get("list_team", "/team"),
    get("list_topics", "/topics"),
    get("list_fields", "/fields"),
    get("get_customer_panel", "/conversations/{id}/panel"),
    get("search_answers", "/answers"),
    get("search_documents", "/documents"),
    post(
        "record_sent",
        "/app-mail",
        "record",
        201,
        r#"{
            "messageId": "<order-20418.c1f7a9d2@acme.example>",
            "reference": "order-20418",
            "to": ["bruno@keller.example"],
            "subject": "Your order is on its way",
            "text": "It left today.",
            "html": "<p>It left today.</p>"
        }"#,
    ),
    get("list_booking_types", "/booking-types"),
    get("list_bookings", "/bookings"),
    get("list_messages", "/messages"),
    post("stop_message", "/messages/{id}/stop", "send", 200, "{}"),
    get("list_events", "/events"),
];

/// The operations that only a test key may ask for.
pub const IN_SANDBOX: &[Op] = &[post(
    "sandbox_inbound",
    "/sandbox/inbound",
    "write",
    201,
    r#"{
        "from": "bruno@keller.test",
        "name": "Bruno",
        "subject": "Lamp",
        "text": "It is broken.",
        "conversationId": "{id}",
        "inReplyTo": "<order-20418.c1f7a9d2e4@acme.example>",
        "reference": "order-20418"
    }"#,
)];

/// The operations on a draft that the key wrote itself; any other is not found.
pub const ON_OWN_DRAFTS: &[Op] = &[
    post(
        "update_draft",
        "/messages/{id}/update",
        "draft",
        200,
        r#"{ "body": "It left today.", "summary": "Says when it left" }"#,
    ),
    post("discard_draft", "/messages/{id}/discard", "draft", 200, r#"{ "reason": "Solved." }"#),
];

/// The operations on a document.
pub const ON_DOCUMENTS: &[Op] = &[
    get("download_document", "/documents/{id}/file"),
    get("read_document", "/documents/{id}/text"),
];

/// The operations on a contact, who has an address for an id.
pub const ON_CONTACTS: &[Op] = &[get("get_contact", "/contacts/{id}")];

/// The operations on a secure message that has left; any other is refused.
pub const ON_SECURE_MESSAGES: &[Op] =
    &[post("revoke_message", "/messages/{id}/revoke", "send", 200, "{}")];

/// What a key does to itself. It only reads from then on.
pub const ON_ITSELF: &[Op] = &[post("pause_agent", "/agents/{id}/pause", "send", 200, "{}")];

/// The operations on a booking or its type, of which there are none before [`a_booking`].
pub const ON_BOOKINGS: &[Op] = &[
    get("find_slots", "/booking-types/{id}/slots"),
    post(
        "create_booking",
        "/bookings",
        "send",
        201,
        r#"{
            "typeId": "bkt_0",
            "startsAt": "2026-11-16T10:00:00Z",
            "name": "Bruno",
            "email": "bruno@keller.example",
            "conversationId": "cnv_0",
            "answers": [{ "question": "Why?", "answer": "My lamp" }]
        }"#,
    ),
    post(
        "move_booking",
        "/bookings/{id}/move",
        "send",
        200,
        r#"{ "startsAt": "2026-11-17T09:00:00Z" }"#,
    ),
    post("cancel_booking", "/bookings/{id}/cancel", "send", 200, r#"{ "reason": "Solved." }"#),
];

/// The operations that can send, asked to.
pub const SENDING: &[Op] = &[
    post(
        "reply",
        "/conversations/{id}/replies",
        "send",
        201,
        r#"{ "body": "It left on Tuesday.", "send": true }"#,
    ),
    post(
        "start_conversation",
        "/conversations",
        "send",
        201,
        r#"{
            "mailbox": "{inbox}",
            "to": ["bruno@keller.example"],
            "subject": "Your lamp",
            "body": "It is here.",
            "send": true
        }"#,
    ),
    post(
        "request_documents",
        "/conversations/{id}/document-requests",
        "send",
        201,
        r#"{ "documents": [{ "label": "Passport" }], "send": true }"#,
    ),
];

/// The operations of agents on their own work, and the one that explains tools.
pub const ON_ACTS: &[Op] = &[
    get("help", "/help"),
    post(
        "update_conversations",
        "/conversations/batch",
        "write",
        200,
        r#"{
            "ids": ["{id}"],
            "status": "open",
            "addTags": ["shipping"],
            "removeTags": ["new"],
            "assignee": "me",
            "topic": null, "snoozeUntil": null
        }"#,
    ),
    post("undo", "/undo/{id}", "write", 200, "{}"),
    post(
        "hand_over",
        "/conversations/{id}/handover",
        "read",
        200,
        r#"{ "reason": "The account is another one.", "to": "Olive" }"#,
    ),
];

/// The operations that are no tool.
pub const WITHOUT_TOOLS: &[Op] = &[
    Op { scope: "admin", ..get("list_webhooks", "/webhooks") },
    post(
        "create_webhook",
        "/webhooks",
        "admin",
        201,
        r#"{ "url": "https://shop.example/hook", "format": "mailroom", "events": ["message.flagged"] }"#,
    ),
    Op { method: "DELETE", ..post("unlink_item", "/links/{id}", "write", 200, "") },
    Op { method: "DELETE", ..post("delete_webhook", "/webhooks/{id}", "admin", 200, "") },
    get("list_calls", "/calls"),
    post("resume_agent", "/agents/{id}/resume", "admin", 200, "{}"),
    post("undo_agent", "/agents/{id}/undo", "admin", 200, r#"{ "since": "2026-11-15" }"#),
];

/// The operations of which a repeat makes a second item (API section 7).
pub const CREATING: [&str; 10] = [
    "create_webhook",
    "update_conversations",
    "hand_over",
    "add_note",
    "reply",
    "start_conversation",
    "request_documents",
    "sandbox_inbound",
    "create_booking",
    "move_booking",
];

pub fn op(name: &str) -> &'static Op {
    every_op().find(|op| op.name == name).expect("an operation")
}

/// The operations of every key.
pub fn every_op() -> impl Iterator<Item = &'static Op> {
    let others = [
        IN_SANDBOX,
        ON_OWN_DRAFTS,
        ON_SECURE_MESSAGES,
        ON_BOOKINGS,
        ON_DOCUMENTS,
        ON_CONTACTS,
        ON_PAIRS,
        ON_FIELDS,
        ON_ACTS,
        WITHOUT_TOOLS,
        ON_ITSELF,
    ];
    OPS.iter().chain(others.into_iter().flatten())
}

impl Op {
    pub fn has_id(&self) -> bool {
        self.path.contains("{id}")
    }

    /// The name of its MCP tool.
    pub fn tool(&self) -> &'static str {
        if self.name == "me" { "whoami" } else { self.name }
    }

    /// True when the id in the path is a message's.
    pub fn is_of_message(&self) -> bool {
        self.path.starts_with("/messages")
    }

    /// The path of a conversation, or of the message that [`give_message`] put beside it.
    pub fn at(&self, id: &impl ToString) -> String {
        let id = id.to_string();
        let id = match self.is_of_message() {
            true => beside(&id),
            false => id,
        };
        self.path.replace("{id}", &id)
    }

    /// The body that is right for a live key.
    pub fn json(&self) -> Value {
        let body = self.body.replace("{inbox}", "support@acme.example");
        serde_json::from_str(&body).expect("a body")
    }

    /// The same; empty for a GET.
    pub fn json_or_empty(&self) -> Value {
        if self.method == "GET" { json!({}) } else { self.json() }
    }

    pub fn request(&self, key: Option<&str>, id: &impl ToString) -> Request<Body> {
        let is_test = key.is_some_and(|key| key.starts_with("rk_test_"));
        let inbox = if is_test { "sandbox@acme.test" } else { "support@acme.example" };
        let body = self.body.replace("{id}", &id.to_string()).replace("{inbox}", inbox);
        request(self.method, &self.at(id), key, Body::from(body))
    }

    /// The request that is right, of one conversation.
    pub async fn ask(&self, app: &TestApp, key: &TestKey, id: &impl ToString) -> Answer {
        app.send(self.request(Some(&key.key), id)).await
    }

    pub async fn ask_with(
        &self,
        app: &TestApp,
        key: &TestKey,
        id: &impl ToString,
        body: impl Into<Body>,
    ) -> Answer {
        app.send(request(self.method, &self.at(id), Some(&key.key), body.into())).await
    }
}

pub fn with_header(mut request: Request<Body>, name: &'static str, value: &str) -> Request<Body> {
    let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
    request.headers_mut().insert(HeaderName::from_static(name), value);
    request
}

/// A booking type of the owner's, and a booking of it: their ids.
pub async fn a_booking(app: &TestApp, key: &TestKey) -> (String, String) {
    let kind = app
        .act(&app.owner, |tx, cx| {
            let Principal::Person { id, .. } = &cx.actor.who else { panic!("a person") };
            let weekly = "mon-fri 09:00-17:00";
            actions::bookings::set_hours(tx, cx, id, "UTC", weekly)?;
            let input = BookingTypeInput {
                name: "Call".into(),
                slug: format!("call{}", cx.ids.token(6)),
                hosts: vec![id.clone()],
                ..BookingTypeInput::default()
            };
            actions::bookings::add_booking_type(tx, cx, &input)
        })
        .await;
    let body = json!({
        "typeId": kind.id,
        "startsAt": "2026-11-16T12:00:00Z",
        "name": "Ann",
        "email": "ann@keller.example"
    });
    let made = app.post(key, "/bookings", body).await.is(201).json();
    (kind.id.to_string(), text_of(&made, "id"))
}

/// A conversation of the support inbox, to ask about.
pub async fn a_conversation(app: &TestApp) -> String {
    let mail = app.mail("bruno@keller.example Bruno", "Lamp", "It is broken.").await;
    give_message(app, &app.service(&app.support), &mail.conversation).await;
    mail.conversation.to_string()
}

/// A conversation of the sandbox, to ask about.
pub async fn a_test_conversation(app: &TestApp) -> String {
    let mail = letter("ann@keller.test", "Lamp", "It is broken.");
    let mail = app.deliver(&app.sandbox, mail).await;
    give_message(app, &app.service(&app.sandbox), &mail.conversation).await;
    mail.conversation.to_string()
}

/// Gives a conversation a message that an agent has sent and that can still be stopped. It has the
/// conversation's own id under a message's prefix, so that one id leads to both.
pub async fn give_message(app: &TestApp, service: &Actor, conversation: &ConversationId) {
    let conversation = conversation.to_string();
    app.act(service, move |tx, cx| {
        let known = beside(&conversation);
        let found: Option<(String,)> =
            tx.opt("SELECT id FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, &known])?;
        if found.is_some() {
            return Ok(());
        }
        let reply = ReplyInput {
            id: conversation.clone(),
            body: "On its way.".into(),
            send: true,
            ..ReplyInput::default()
        };
        let made = operations::reply(tx, cx, reply)?.message_id;
        tx.exec(
            "UPDATE messages SET id = ?3, author = 'agt_0' WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &made, &known],
        )?;
        Ok(())
    })
    .await;
}

/// A secure message that has left, in a conversation.
pub async fn a_secure_message(app: &TestApp, key: &TestKey, conversation: &str) -> String {
    let body = json!({ "body": "It is private.", "secure": true, "send": true });
    let made = app.on(key, &conversation, "replies", body).await.is(201).json();
    let message = text_of(&made, "messageId");
    app.mark_sent(&app.support, &message).await;
    message
}

/// The id of the message beside a conversation, and the other way round.
pub fn beside(id: &str) -> String {
    match id.strip_prefix("msg_") {
        Some(rest) => format!("cnv_{rest}"),
        None => id.replacen("cnv_", "msg_", 1),
    }
}

/// The fields that a 400 names, in its order.
pub fn fields_named(answer: &Answer) -> Vec<String> {
    let error = answer.error();
    error
        .split("; ")
        .map(|problem| match problem.split_once(": ") {
            Some((field, sentence)) if !sentence.is_empty() => field.to_owned(),
            _ => panic!("a problem starts with its field: {error}"),
        })
        .collect()
}

/// Every table that anything can be written to by a request.
const TABLES: [&str; 14] = [
    "agents",
    "idempotency_keys",
    "app_mail",
    "conversation_tags",
    "conversations",
    "deliveries",
    "documents",
    "events",
    "timeline_events",
    "messages",
    "notes",
    "requested_documents",
    "document_requests",
    "tags",
];

/// How many rows each table holds: what was written shows in it.
pub async fn rows(app: &TestApp) -> Vec<(String, i64)> {
    let counts = TABLES.map(|table| format!("SELECT '{table}' AS name, count(*) FROM {table}"));
    let sql = format!("{} ORDER BY name", counts.join(" UNION ALL "));
    let counted: Result<_, db::StoreError> = app.app.store.read(move |tx| tx.all(&sql, &[])).await;
    counted.unwrap()
}

/// How many rows one table holds.
pub async fn rows_of(app: &TestApp, table: &str) -> i64 {
    rows(app).await.into_iter().find(|(name, _)| name == table).expect("a table").1
}

/// Does everything at once and waits for all of it.
pub async fn at_once<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, output) in all.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
