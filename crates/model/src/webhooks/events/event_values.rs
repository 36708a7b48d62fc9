//! What the fields of events can hold, each with its JSON Schema.

use base::actor::{Actor, Principal};
use base::assignee::Assignee;
use base::ids::{
    AgentId, BookingId, BookingTypeId, ConversationId, MailboxId, MessageId, RequestId, UserId,
    WebhookId,
};
use base::security::agent_policy::PauseReason;
use base::states::ConversationRisk;
use base::time::Moment;
use serde::Serialize;
use serde_json::{Value, json};

use super::Turn;
use crate::conversations::timeline::TargetKind;
use crate::messages::send_failure::SendFailure;

/// A type that a field of an event can have.
pub trait EventValue {
    fn schema() -> Value;
}

macro_rules! ids {
    ($($id:ident),+) => {
        $(impl EventValue for $id {
            fn schema() -> Value {
                id_schema($id::PREFIX)
            }
        })+
    };
}

ids!(
    AgentId,
    BookingId,
    BookingTypeId,
    ConversationId,
    MailboxId,
    MessageId,
    RequestId,
    UserId,
    WebhookId
);

/// The schema of an id with a prefix such as `cnv_`.
pub fn id_schema(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}[0-9a-z]+$") })
}

impl<T: EventValue + ?Sized> EventValue for &T {
    fn schema() -> Value {
        T::schema()
    }
}

impl<T: EventValue> EventValue for Option<T> {
    fn schema() -> Value {
        json!({ "anyOf": [T::schema(), { "type": "null" }] })
    }
}

impl EventValue for bool {
    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

impl EventValue for i64 {
    fn schema() -> Value {
        json!({ "type": "integer" })
    }
}

impl EventValue for PauseReason {
    fn schema() -> Value {
        json!({ "type": "string", "enum": PauseReason::NAMES })
    }
}

impl EventValue for [ConversationRisk] {
    fn schema() -> Value {
        json!({
            "type": "array",
            "items": { "type": "string", "enum": ConversationRisk::NAMES },
            "examples": [[ConversationRisk::Injection]],
        })
    }
}

impl EventValue for str {
    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl EventValue for Moment {
    fn schema() -> Value {
        json!({ "type": "string", "format": "date-time" })
    }
}

impl EventValue for Turn {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Turn::NAMES })
    }
}

impl EventValue for TargetKind {
    fn schema() -> Value {
        json!({ "type": "string", "enum": TargetKind::NAMES })
    }
}

impl EventValue for SendFailure {
    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["code", "text"],
            "properties": {
                "code": { "type": "string" },
                "text": { "type": "string" },
            },
        })
    }
}

impl EventValue for Assignee {
    fn schema() -> Value {
        member(&["user", "agent"], &["type", "id", "name"])
    }
}

/// Who did it: a person, an agent, or the service.
#[derive(Serialize)]
pub struct EventActor<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: Option<&'a str>,
    name: &'a str,
}

impl<'a> EventActor<'a> {
    pub fn of(actor: &'a Actor) -> EventActor<'a> {
        let (kind, id) = match &actor.who {
            Principal::Agent { id, .. } => ("agent", Some(id.as_str())),
            Principal::Person { id, .. } => ("user", Some(id.as_str())),
            Principal::System | Principal::Rule { .. } => ("system", None),
        };
        EventActor { kind, id, name: actor.name() }
    }
}

impl EventValue for EventActor<'_> {
    fn schema() -> Value {
        member(&["user", "agent", "system"], &["type", "id", "name"])
    }
}

/// Who wrote a message.
#[derive(Serialize)]
pub struct EventAuthor<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
}

impl<'a> EventAuthor<'a> {
    /// The author with this id of a person or an agent.
    pub fn of(id: &'a str) -> EventAuthor<'a> {
        EventAuthor { kind: if id.starts_with("agt_") { "agent" } else { "user" }, id }
    }
}

impl EventValue for EventAuthor<'_> {
    fn schema() -> Value {
        member(&["user", "agent"], &["type", "id"])
    }
}

/// Who drafted a message; both are null for Mailroom's own helper.
#[derive(Serialize)]
pub struct DraftAuthor<'a> {
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    id: Option<&'a str>,
}

impl<'a> DraftAuthor<'a> {
    pub fn of(id: Option<&'a str>) -> DraftAuthor<'a> {
        DraftAuthor { kind: id.map(|id| EventAuthor::of(id).kind), id }
    }
}

impl EventValue for DraftAuthor<'_> {
    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["type", "id"],
            "properties": {
                "type": { "enum": ["user", "agent", null] },
                "id": { "type": ["string", "null"] },
            },
        })
    }
}

/// What was asked of a customer.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AskKind {
    Documents,
}

impl EventValue for AskKind {
    fn schema() -> Value {
        json!({ "type": "string", "examples": ["documents"] })
    }
}

fn member(types: &[&str], required: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "type": { "enum": types },
            "id": { "type": ["string", "null"] },
            "name": { "type": ["string", "null"] },
        },
    })
}
