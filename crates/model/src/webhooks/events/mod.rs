//! Events for other apps (API section 6), written in the transaction of the change they tell of.

mod bookings;

use base::actor::{Actor, Circle, Principal};
use base::app::Cx;
use base::assignee::Assignee;
use base::error::Result;
use base::ids::{ConversationId, EventId, MailboxId, MessageId, RequestId, WebhookId};
use base::limits::EVENT_SUMMARY_CHARS;
use base::queue::Queue;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::messages::send_failure::SendFailure;
use bookings::{BOOKING_CANCELLED, BOOKING_CREATED};

pub use bookings::{BookingChange, BookingEvent, record_booking};

string_enum! {
    /// Whose turn it is (API section 3.2).
    Turn { Ours = "ours", Theirs = "theirs", Done = "done" }
}

/// A type of event (API section 6.2). The OpenAPI document and the filter of the delivery log are
/// made from [`EVENTS`].
pub struct WebhookEventType {
    pub name: &'static str,
    /// When it is sent, as a sentence without its full stop.
    pub when: &'static str,
    /// True when only webhooks that choose it are told of it.
    pub by_choice: bool,
    /// The schema of each field of `data` but `summary` and `url`. A name that ends in `?` is of a
    /// field that may be missing.
    pub fields: fn() -> Value,
}

/// Every type of event, in the order of the OpenAPI document.
pub const EVENTS: &[&WebhookEventType] = &[
    &ASK_COMPLETED,
    &CLIENT_REPLIED,
    &CONVERSATION_ASSIGNED,
    &TURN_CHANGED,
    &DRAFT_APPROVED,
    &MESSAGE_SENT,
    &BOOKING_CREATED,
    &BOOKING_CANCELLED,
    &SCOUT_HELD,
    &CONVERSATION_CREATED,
    &MESSAGE_FAILED,
    &WEBHOOK_TEST,
];

const ASK_COMPLETED: WebhookEventType = WebhookEventType {
    name: "ask.completed",
    when: "Everything asked of a client is in",
    by_choice: false,
    fields: || {
        json!({
            "ask_id": id_schema("req"),
            "kind": { "type": "string", "examples": ["documents"] },
            "conversation_id": id_schema("cnv"),
        })
    },
};

const CLIENT_REPLIED: WebhookEventType = WebhookEventType {
    name: "client.replied",
    when: "Someone wrote back on a conversation",
    by_choice: false,
    fields: || {
        json!({
            "conversation_id": id_schema("cnv"),
            "message_id": id_schema("msg"),
            "mailbox_id": id_schema("mbx"),
            "secure": { "type": "boolean" },
            "reference?": { "type": "string" },
        })
    },
};

const CONVERSATION_ASSIGNED: WebhookEventType = WebhookEventType {
    name: "conversation.assigned",
    when: "A conversation was given to someone or to nobody",
    by_choice: false,
    fields: || {
        json!({
            "conversation_id": id_schema("cnv"),
            "assignee": nullable(named(&["user", "agent"])),
            "assigned_by": named(&["user", "agent", "system"]),
        })
    },
};

const TURN_CHANGED: WebhookEventType = WebhookEventType {
    name: "turn.changed",
    when: "Whose turn it is changed",
    by_choice: false,
    fields: || {
        let turn = json!({ "type": "string", "enum": Turn::NAMES });
        json!({
            "conversation_id": id_schema("cnv"),
            "turn": turn,
            "previous": nullable(turn.clone()),
            "assignee": nullable(named(&["user", "agent"])),
        })
    },
};

const DRAFT_APPROVED: WebhookEventType = WebhookEventType {
    name: "draft.approved",
    when: "A person approved a draft",
    by_choice: false,
    fields: || {
        json!({
            "conversation_id": id_schema("cnv"),
            "message_id": id_schema("msg"),
            "drafted_by": {
                "type": "object",
                "required": ["type", "id"],
                "properties": {
                    "type": { "enum": ["user", "agent", null] },
                    "id": { "type": ["string", "null"] },
                },
            },
            "approved_by": named(&["user", "agent", "system"]),
            "edited": { "type": "boolean" },
        })
    },
};

const MESSAGE_SENT: WebhookEventType = WebhookEventType {
    name: "message.sent",
    when: "An e-mail went out",
    by_choice: false,
    fields: || {
        json!({
            "conversation_id": id_schema("cnv"),
            "message_id": id_schema("msg"),
            "mailbox_id": id_schema("mbx"),
            "author": nullable(member(&["user", "agent"])),
            "secure": { "type": "boolean" },
        })
    },
};

const SCOUT_HELD: WebhookEventType = WebhookEventType {
    name: "scout.held",
    when: "A likely scam was held",
    by_choice: false,
    fields: || json!({ "conversation_id": id_schema("cnv") }),
};

const CONVERSATION_CREATED: WebhookEventType = WebhookEventType {
    name: "conversation.created",
    when: "A conversation began",
    by_choice: true,
    fields: || json!({ "conversation_id": id_schema("cnv"), "mailbox_id": id_schema("mbx") }),
};

const MESSAGE_FAILED: WebhookEventType = WebhookEventType {
    name: "message.failed",
    when: "An e-mail could not be delivered",
    by_choice: true,
    fields: || {
        json!({
            "conversation_id": id_schema("cnv"),
            "message_id": id_schema("msg"),
            "mailbox_id": id_schema("mbx"),
            "reason": {
                "type": "object",
                "required": ["code", "text"],
                "properties": {
                    "code": { "type": "string" },
                    "text": { "type": "string" },
                },
            },
        })
    },
};

const WEBHOOK_TEST: WebhookEventType = WebhookEventType {
    name: "webhook.test",
    when: "Someone pressed Send test event",
    by_choice: false,
    fields: || json!({ "endpoint_id": id_schema("whk") }),
};

/// The schema of an id with a prefix.
pub fn id_schema(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}_[0-9a-z]+$") })
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn member(types: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": ["type", "id"],
        "properties": {
            "type": { "enum": types },
            "id": { "type": ["string", "null"] },
            "name": { "type": ["string", "null"] },
        },
    })
}

fn named(types: &[&str]) -> Value {
    let mut schema = member(types);
    schema["required"] = json!(["type", "id", "name"]);
    schema
}

/// Something that happened to a conversation. `summary` and `url` are added when it is recorded.
pub enum Event<'a> {
    ClientReplied {
        message: &'a MessageId,
        mailbox: &'a MailboxId,
        reference: Option<&'a str>,
        /// It was written on a secure page.
        secure: bool,
    },
    ConversationAssigned {
        assignee: Option<&'a Assignee>,
    },
    TurnChanged {
        turn: Turn,
        previous: Option<Turn>,
        assignee: Option<&'a Assignee>,
    },
    DraftApproved {
        message: &'a MessageId,
        drafted_by: Option<&'a str>,
        edited: bool,
    },
    MessageSent {
        message: &'a MessageId,
        mailbox: &'a MailboxId,
        author: Option<&'a str>,
        /// It went out as a link to a secure page.
        secure: bool,
    },
    ScoutHeld,
    ConversationCreated {
        mailbox: &'a MailboxId,
    },
    MessageFailed {
        message: &'a MessageId,
        mailbox: &'a MailboxId,
        failure: &'a SendFailure,
    },
    AskCompleted {
        request: &'a RequestId,
    },
    WebhookTest {
        endpoint: &'a WebhookId,
    },
}

/// What a webhook hears of an event, beside the conversation.
struct EventContent {
    event_type: &'static WebhookEventType,
    /// One line from names of things that happened, people and agents; never the mail's words.
    summary: String,
    /// The fields of `data` that only this type has.
    fields: Value,
}

/// The envelope of section 2.10, in its own order.
#[derive(Serialize)]
struct Envelope<'a> {
    id: &'a EventId,
    #[serde(rename = "type")]
    kind: &'static str,
    version: u32,
    created_at: Moment,
    workspace: &'a str,
    livemode: bool,
    data: Map<String, Value>,
}

/// Where an event belongs: the conversation it is about, and who may hear of it.
#[derive(Clone, Copy)]
pub struct EventSubject<'a> {
    pub conversation: &'a ConversationId,
    pub circle: &'a Circle,
}

/// Writes an event, and a delivery for each webhook that may hear it.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    about: EventSubject<'_>,
    event: &Event<'_>,
) -> Result<()> {
    let content = event.content(cx.actor);
    let event_type = content.event_type;
    if event_type.by_choice && !is_chosen(tx, cx, about.circle, event_type)? {
        return Ok(());
    }
    let id = write(tx, cx, about.circle, Some(about.conversation), content)?;
    plan(tx, cx, about.circle, None, &id, event_type)
}

/// True when a webhook of the circle chose this type of event.
fn is_chosen(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    event_type: &WebhookEventType,
) -> Result<bool> {
    let found: Option<(WebhookId,)> = tx.opt(
        "SELECT id FROM webhooks
         WHERE ws = ?1 AND circle = ?2 AND livemode = ?3 AND chosen_events LIKE ?4 LIMIT 1",
        &[&cx.actor.ws, circle, &!circle.is_sandbox(), &in_list(event_type)],
    )?;
    Ok(found.is_some())
}

/// A pattern for the JSON list of chosen events that has this one.
fn in_list(event_type: &WebhookEventType) -> String {
    format!("%\"{}\"%", event_type.name)
}

/// Writes an event that only one webhook hears.
pub fn record_for_one(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    webhook: &WebhookId,
    event: &Event<'_>,
) -> Result<EventId> {
    let content = event.content(cx.actor);
    let event_type = content.event_type;
    let id = write(tx, cx, circle, None, content)?;
    plan(tx, cx, circle, Some(webhook), &id, event_type)?;
    Ok(id)
}

fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    conversation: Option<&ConversationId>,
    content: EventContent,
) -> Result<EventId> {
    let id = EventId::new(cx.ids, cx.now);
    let livemode = !circle.is_sandbox();
    let kind = content.event_type.name;
    let envelope = Envelope {
        id: &id,
        kind,
        version: 1,
        created_at: Moment(cx.now),
        workspace: cx.actor.workspace.as_str(),
        livemode,
        data: data(cx, conversation, content, livemode),
    };
    let body = serde_json::to_string(&envelope)?;
    tx.exec(
        "INSERT INTO events (ws, id, circle, type, conversation, body, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[&cx.actor.ws, &id, circle, &kind, &conversation, &body, &cx.now],
    )?;
    tx.wake(Queue::Events);
    Ok(id)
}

/// Plans a delivery for each webhook of the circle that hears such events, or for one of them.
fn plan(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    only: Option<&WebhookId>,
    id: &EventId,
    event_type: &WebhookEventType,
) -> Result<()> {
    let chosen = if event_type.by_choice { in_list(event_type) } else { "%".into() };
    let planned = tx.exec(
        "INSERT INTO deliveries (ws, webhook, event, type, state, attempts, next_attempt_at, created_at)
         SELECT h.ws, h.id, ?1, CAST(?6 AS TEXT),
                CASE WHEN h.state = 'active' AND w.plan <> 'free' THEN 'waiting' ELSE 'skipped' END,
                0,
                CASE WHEN h.state = 'active' AND w.plan <> 'free' THEN CAST(?2 AS BIGINT) END,
                CAST(?2 AS BIGINT)
         FROM webhooks h JOIN workspaces w ON w.ws = h.ws
         WHERE h.ws = ?3 AND h.circle = ?4 AND h.livemode = ?5
           AND h.id = coalesce(CAST(?7 AS TEXT), h.id) AND h.chosen_events LIKE ?8",
        &[
            id,
            &cx.now,
            &cx.actor.ws,
            circle,
            &!circle.is_sandbox(),
            &event_type.name,
            &only,
            &chosen,
        ],
    )?;
    if planned > 0 {
        tx.wake(Queue::Deliveries);
    }
    Ok(())
}

fn data(
    cx: &Cx<'_>,
    conversation: Option<&ConversationId>,
    content: EventContent,
    livemode: bool,
) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("summary".into(), clipped(content.summary).into());
    if let Some(conversation) = conversation {
        if livemode {
            let url = format!("{}/conversations/{conversation}", cx.public_url);
            data.insert("url".into(), url.into());
        }
        data.insert("conversation_id".into(), conversation.as_str().into());
    }
    if let Value::Object(own) = content.fields {
        data.extend(own);
    }
    data
}

impl Event<'_> {
    /// What is said of the event when the actor did it.
    fn content(&self, actor: &Actor) -> EventContent {
        let name = actor.name();
        let (event_type, summary, fields): (&'static WebhookEventType, String, Value) = match self {
            Event::ClientReplied { message, mailbox, reference, secure } => {
                let mut fields = json!({
                    "message_id": message.as_str(),
                    "mailbox_id": mailbox.as_str(),
                    "secure": secure,
                });
                if let Some(reference) = reference {
                    fields["reference"] = json!(reference);
                }
                (&CLIENT_REPLIED, "The customer wrote back on a conversation".into(), fields)
            }
            Event::ConversationAssigned { assignee } => {
                let summary = match assignee {
                    Some(assignee) => {
                        format!("{name} assigned a conversation to {}", assignee.name)
                    }
                    None => format!("{name} took a conversation off its assignee"),
                };
                let fields = json!({ "assignee": assignee, "assigned_by": doer(actor) });
                (&CONVERSATION_ASSIGNED, summary, fields)
            }
            Event::TurnChanged { turn, previous, assignee } => {
                let summary = match turn {
                    Turn::Ours => "A conversation is the team's turn",
                    Turn::Theirs => "A conversation is waiting on the customer",
                    Turn::Done => "A conversation was closed",
                };
                let fields = json!({ "turn": turn, "previous": previous, "assignee": assignee });
                (&TURN_CHANGED, summary.into(), fields)
            }
            Event::DraftApproved { message, drafted_by, edited } => {
                let nobody = json!({ "type": null, "id": null });
                let fields = json!({
                    "message_id": message.as_str(),
                    "drafted_by": writer(*drafted_by).unwrap_or(nobody),
                    "approved_by": doer(actor),
                    "edited": edited,
                });
                (&DRAFT_APPROVED, format!("{name} approved a draft"), fields)
            }
            Event::MessageSent { message, mailbox, author, secure } => {
                let fields = json!({
                    "message_id": message.as_str(),
                    "mailbox_id": mailbox.as_str(),
                    "author": writer(*author),
                    "secure": secure,
                });
                (&MESSAGE_SENT, "A message went out to the customer".into(), fields)
            }
            Event::ScoutHeld => {
                (&SCOUT_HELD, "A mail that looks like a scam was held".into(), json!({}))
            }
            Event::ConversationCreated { mailbox } => {
                let fields = json!({ "mailbox_id": mailbox.as_str() });
                (&CONVERSATION_CREATED, "A conversation began".into(), fields)
            }
            Event::MessageFailed { message, mailbox, failure } => {
                let fields = json!({
                    "message_id": message.as_str(),
                    "mailbox_id": mailbox.as_str(),
                    "reason": failure,
                });
                (&MESSAGE_FAILED, "A message could not be delivered".into(), fields)
            }
            Event::AskCompleted { request } => {
                let fields = json!({ "ask_id": request.as_str(), "kind": "documents" });
                (&ASK_COMPLETED, "Everything asked of the customer is in".into(), fields)
            }
            Event::WebhookTest { endpoint } => {
                let fields = json!({ "endpoint_id": endpoint.as_str() });
                (&WEBHOOK_TEST, format!("{name} sent a test event"), fields)
            }
        };
        EventContent { event_type, summary, fields }
    }
}

/// Who did it: a person, an agent, or the service.
fn doer(actor: &Actor) -> Value {
    match &actor.who {
        Principal::Agent { id, name, .. } => {
            json!({ "type": "agent", "id": id.as_str(), "name": name })
        }
        Principal::Person { id, name, .. } => {
            json!({ "type": "user", "id": id.as_str(), "name": name })
        }
        Principal::System | Principal::Rule { .. } => {
            json!({ "type": "system", "id": null, "name": actor.name() })
        }
    }
}

fn writer(id: Option<&str>) -> Option<Value> {
    let id = id?;
    let kind = if id.starts_with("agt_") { "agent" } else { "user" };
    Some(json!({ "type": kind, "id": id }))
}

fn clipped(summary: String) -> String {
    summary.chars().take(EVENT_SUMMARY_CHARS).collect()
}

#[cfg(test)]
mod tests;
