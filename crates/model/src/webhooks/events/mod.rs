//! Events for other apps (API section 6), written in the transaction of the change they tell of.

mod declared;
mod event_values;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{EventId, WebhookId};
use base::limits::EVENT_SUMMARY_CHARS;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::{Map, Value};

use super::WebhookFormat;

pub use declared::{
    AgentPaused, AskCompleted, BookingCancelled, BookingCreated, BookingEventFields, ClientReplied,
    ConversationAssigned, ConversationCreated, DraftApproved, DraftWaiting, MessageFailed,
    MessageFlagged, MessageSent, SatisfactionRated, ScoutHeld, TargetMissed, TurnChanged,
    WebhookTest,
};
pub use event_values::{AskKind, DraftAuthor, EventActor, EventAuthor, id_schema};

string_enum! {
    /// Whose turn it is (API section 3.2).
    Turn { Ours = "ours", Theirs = "theirs", Done = "done" }
}

/// Something that happened: what is serialised are the fields of its `data`. `summary` and `url` are
/// added when it is recorded.
pub trait WebhookEvent: Serialize {
    const TYPE: WebhookEventType;

    /// One line from names of things that happened, people and agents; never the mail's words.
    fn summary(&self, actor: &Actor) -> String;
}

/// A type of event (API section 6.2). The OpenAPI document and the filter of the delivery log are
/// made from [`EVENTS`].
pub struct WebhookEventType {
    pub name: &'static str,
    /// When it is sent, as a sentence without its full stop.
    pub when: &'static str,
    /// True when only webhooks that choose it are told of it.
    pub by_choice: bool,
    /// The fields of `data` but `summary` and `url`.
    pub fields: fn() -> Vec<EventField>,
}

impl WebhookEventType {
    const fn new(
        name: &'static str,
        when: &'static str,
        fields: fn() -> Vec<EventField>,
    ) -> WebhookEventType {
        WebhookEventType { name, when, by_choice: false, fields }
    }

    const fn opt_in(mut self) -> WebhookEventType {
        self.by_choice = true;
        self
    }

    /// True when webhooks of this format hear it only if they chose it. A chat hears nothing else, and only of
    /// conversations.
    pub fn is_chosen_by(&self, format: WebhookFormat) -> bool {
        if format.is_chat() {
            (self.fields)().iter().any(|field| field.name == CONVERSATION)
        } else {
            self.by_choice
        }
    }
}

/// A field of an event, with its JSON Schema.
pub struct EventField {
    pub name: &'static str,
    pub schema: Value,
    /// True when it may be missing.
    pub optional: bool,
}

impl EventField {
    fn new(name: &'static str, schema: Value) -> EventField {
        EventField { name, schema, optional: false }
    }

    fn optional(mut self) -> EventField {
        self.optional = true;
        self
    }
}

/// Every type of event, in the order of the OpenAPI document.
pub const EVENTS: &[&WebhookEventType] = &[
    &AskCompleted::TYPE,
    &ClientReplied::TYPE,
    &ConversationAssigned::TYPE,
    &TurnChanged::TYPE,
    &DraftApproved::TYPE,
    &MessageSent::TYPE,
    &BookingCreated::TYPE,
    &BookingCancelled::TYPE,
    &ScoutHeld::TYPE,
    &ConversationCreated::TYPE,
    &MessageFailed::TYPE,
    &AgentPaused::TYPE,
    &MessageFlagged::TYPE,
    &SatisfactionRated::TYPE,
    &DraftWaiting::TYPE,
    &TargetMissed::TYPE,
    &WebhookTest::TYPE,
];

/// What a webhook of a chat hears until somebody chooses otherwise.
pub const CHAT_EVENTS_AT_FIRST: &[&str] = &[
    ScoutHeld::TYPE.name,
    ConversationCreated::TYPE.name,
    DraftWaiting::TYPE.name,
    TargetMissed::TYPE.name,
];

/// The names of all events.
pub fn names() -> Vec<&'static str> {
    EVENTS.iter().map(|event| event.name).collect()
}

/// The names of the events that webhooks of a format hear only if they choose them.
pub fn choosable_names(format: WebhookFormat) -> Vec<&'static str> {
    EVENTS.iter().filter(|event| event.is_chosen_by(format)).map(|event| event.name).collect()
}

/// The names of the events that webhooks of some format choose.
pub fn all_choosable_names() -> Vec<&'static str> {
    let is_chosen = |event: &WebhookEventType| {
        WebhookFormat::ALL.iter().any(|format| event.is_chosen_by(*format))
    };
    EVENTS.iter().filter(|event| is_chosen(event)).map(|event| event.name).collect()
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

/// Writes an event, and a delivery for each webhook of the circle that may hear it.
pub fn record<E: WebhookEvent>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    event: &E,
) -> Result<()> {
    if E::TYPE.by_choice && !is_chosen(tx, cx, circle, &E::TYPE)? {
        return Ok(());
    }
    let id = write(tx, cx, circle, event)?;
    plan(tx, cx, circle, None, &id, &E::TYPE)
}

/// True when a webhook of the circle chose this type of event.
fn is_chosen(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    event_type: &WebhookEventType,
) -> Result<bool> {
    let found: Vec<(WebhookId,)> = tx.read_once(
        "webhooks",
        "SELECT id FROM webhooks
         WHERE ws = ?1 AND circle = ?2 AND livemode = ?3 AND chosen_events LIKE ?4 LIMIT 1",
        &[&cx.actor.ws, circle, &!circle.is_sandbox(), &in_list(event_type)],
    )?;
    Ok(!found.is_empty())
}

/// A pattern for the JSON list of chosen events that has this one.
fn in_list(event_type: &WebhookEventType) -> String {
    format!("%\"{}\"%", event_type.name)
}

/// Writes an event that only one webhook hears.
pub fn record_for_one<E: WebhookEvent>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    webhook: &WebhookId,
    event: &E,
) -> Result<EventId> {
    let id = write(tx, cx, circle, event)?;
    plan(tx, cx, circle, Some(webhook), &id, &E::TYPE)?;
    Ok(id)
}

fn write<E: WebhookEvent>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    event: &E,
) -> Result<EventId> {
    let id = EventId::new(cx.ids, cx.now);
    let livemode = !circle.is_sandbox();
    let fields = fields(event)?;
    let conversation = fields.get(CONVERSATION).and_then(Value::as_str).map(str::to_owned);
    let mut data = Map::new();
    let summary: String = event.summary(cx.actor).chars().take(EVENT_SUMMARY_CHARS).collect();
    data.insert("summary".into(), summary.into());
    if let Some(conversation) = &conversation {
        if livemode {
            let url = format!("{}/conversations/{conversation}", cx.public_url);
            data.insert("url".into(), url.into());
        }
        data.insert(CONVERSATION.into(), conversation.as_str().into());
    }
    data.extend(fields);
    let kind = E::TYPE.name;
    let envelope = Envelope {
        id: &id,
        kind,
        version: 1,
        created_at: Moment(cx.now),
        workspace: cx.actor.workspace.as_str(),
        livemode,
        data,
    };
    let body = serde_json::to_string(&envelope)?;
    tx.exec_soon(
        "INSERT INTO events (ws, id, circle, type, conversation, body, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[&cx.actor.ws, &id, circle, &kind, &conversation, &body, &cx.now],
    )?;
    tx.wake(Queue::Events);
    Ok(id)
}

/// The field of the conversation that an event is about.
const CONVERSATION: &str = "conversation_id";

/// An event that is no JSON object is an error: nobody is told of something empty.
fn fields<E: WebhookEvent>(event: &E) -> Result<Map<String, Value>> {
    match serde_json::to_value(event)? {
        Value::Object(fields) => Ok(fields),
        _ => {
            let sentence = format!("the event {} is no JSON object", E::TYPE.name);
            Err(serde_json::Error::custom(sentence).into())
        }
    }
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
    let hears: Vec<(i64,)> = tx.read_once(
        "webhooks",
        "SELECT CAST(1 AS BIGINT) FROM webhooks
         WHERE ws = ?1 AND circle = ?2 AND livemode = ?3 LIMIT 1",
        &[&cx.actor.ws, circle, &!circle.is_sandbox()],
    )?;
    if hears.is_empty() {
        return Ok(());
    }
    let (named, any) = (in_list(event_type), "%".to_owned());
    let chosen = if event_type.by_choice { &named } else { &any };
    let chosen_by_chat = if only.is_none() { &named } else { &any };
    tx.exec_soon(
        "INSERT INTO deliveries (ws, webhook, event, type, state, attempts, next_attempt_at, created_at)
         SELECT h.ws, h.id, ?1, CAST(?6 AS TEXT),
                CASE WHEN h.state = 'active' AND w.plan <> 'free' THEN 'waiting' ELSE 'skipped' END,
                0,
                CASE WHEN h.state = 'active' AND w.plan <> 'free' THEN CAST(?2 AS BIGINT) END,
                CAST(?2 AS BIGINT)
         FROM webhooks h JOIN workspaces w ON w.ws = h.ws
         WHERE h.ws = ?3 AND h.circle = ?4 AND h.livemode = ?5
           AND h.id = coalesce(CAST(?7 AS TEXT), h.id)
           AND h.chosen_events LIKE
               CASE WHEN h.format = 'mailroom' THEN CAST(?8 AS TEXT) ELSE CAST(?9 AS TEXT) END",
        &[
            id,
            &cx.now,
            &cx.actor.ws,
            circle,
            &!circle.is_sandbox(),
            &event_type.name,
            &only,
            chosen,
            chosen_by_chat,
        ],
    )?;
    tx.wake(Queue::Deliveries);
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::ids::{ConversationId, MailboxId, MessageId};
    use serde::Serializer;

    use super::*;

    #[test]
    fn an_event_says_the_fields_that_its_type_promises() {
        let conversation_id = &ConversationId::parse("cnv_1").expect("an id");
        let message_id = &MessageId::parse("msg_1").expect("an id");
        let mailbox_id = &MailboxId::parse("mbx_1").expect("an id");
        let event = |reference| ClientReplied {
            conversation_id,
            message_id,
            mailbox_id,
            secure: false,
            reference,
        };
        let promised = (ClientReplied::TYPE.fields)();
        let names = |only: fn(&EventField) -> bool| -> Vec<&str> {
            promised.iter().filter(|field| only(field)).map(|field| field.name).collect()
        };
        let said = |reference| -> Vec<String> {
            fields(&event(reference)).expect("fields").into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(said(Some("4711")), names(|_| true));
        assert_eq!(said(None), names(|field| !field.optional));
    }

    #[test]
    fn an_event_that_cannot_be_serialised_is_an_error() {
        struct Broken;

        impl Serialize for Broken {
            fn serialize<S: Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
                Err(S::Error::custom("broken"))
            }
        }

        #[derive(Serialize)]
        struct Empty;

        for_both(&Broken);
        for_both(&Empty);

        fn for_both<E: WebhookEvent>(event: &E) {
            assert!(fields(event).is_err());
        }

        impl WebhookEvent for Broken {
            const TYPE: WebhookEventType = WebhookEventType::new("broken", "Never", Vec::new);

            fn summary(&self, _: &Actor) -> String {
                String::new()
            }
        }

        impl WebhookEvent for Empty {
            const TYPE: WebhookEventType = WebhookEventType::new("empty", "Never", Vec::new);

            fn summary(&self, _: &Actor) -> String {
                String::new()
            }
        }
    }
}
