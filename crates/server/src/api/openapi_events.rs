//! The webhook events of section 6 as OpenAPI webhooks.

use serde_json::{Map, Value, json};

/// An event: its name, when it is sent, and its fields beyond `summary` and `url`.
struct Described {
    name: &'static str,
    when: &'static str,
    fields: Value,
}

pub fn webhooks() -> Value {
    let webhooks: Map<String, Value> =
        events().into_iter().map(|event| (event.name.to_owned(), webhook(&event))).collect();
    Value::Object(webhooks)
}

fn webhook(event: &Described) -> Value {
    let header = |name: &str, about: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": true,
            "description": about,
            "schema": { "type": "string" },
        })
    };
    json!({ "post": {
        "operationId": format!("on_{}", event.name.replace('.', "_")),
        "summary": event.when,
        "description": "Signed as in Standard Webhooks. Events may arrive out of order and more \
            than once; `id` is the same on every try.",
        "security": [],
        "parameters": [
            header("webhook-id", "The event's id."),
            header("webhook-timestamp", "Seconds since 1970 when this try was sent."),
            header("webhook-signature", "v1, and a base64 HMAC-SHA256; two for 24 hours after a rotation."),
        ],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": envelope(event) } },
        },
        "responses": {
            "2XX": { "description": "Any 2xx within 10 seconds is delivered." },
            "410": { "description": "Turns the webhook off." },
            "default": { "description": "Anything else is tried again for about a day." },
        },
    } })
}

fn envelope(event: &Described) -> Value {
    let mut properties = json!({
        "summary": {
            "type": "string",
            "maxLength": 200,
            "description": "One line; never the mail's own words.",
        },
        "url": { "type": "string", "format": "uri", "description": "The conversation in the app." },
    });
    let mut required = vec!["summary".to_owned()];
    if let (Some(properties), Some(fields)) = (properties.as_object_mut(), event.fields.as_object())
    {
        for (name, schema) in fields {
            let (name, optional) = match name.strip_suffix('?') {
                Some(name) => (name, true),
                None => (name.as_str(), false),
            };
            properties.insert(name.to_owned(), schema.clone());
            if !optional {
                required.push(name.to_owned());
            }
        }
    }
    json!({
        "type": "object",
        "required": ["id", "type", "version", "created_at", "workspace", "livemode", "data"],
        "properties": {
            "id": id("evt"),
            "type": { "type": "string", "const": event.name },
            "version": { "type": "integer", "const": 1 },
            "created_at": { "type": "string", "format": "date-time" },
            "workspace": id("wsp"),
            "livemode": { "type": "boolean", "description": "false for the sandbox." },
            "data": { "type": "object", "required": required, "properties": properties },
        },
    })
}

fn id(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}_[0-9a-z]+$") })
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn events() -> Vec<Described> {
    let conversation = || id("cnv");
    let who = |types: &[&str]| {
        json!({
            "type": "object",
            "required": ["type", "id"],
            "properties": {
                "type": { "enum": types },
                "id": { "type": ["string", "null"] },
                "name": { "type": ["string", "null"] },
            },
        })
    };
    let named = |types: &[&str]| {
        let mut schema = who(types);
        schema["required"] = json!(["type", "id", "name"]);
        schema
    };
    let assignee = || nullable(named(&["user", "agent"]));
    let doer = || named(&["user", "agent", "system"]);
    let turn = json!({ "type": "string", "enum": ["ours", "theirs", "done"] });
    let moment = || json!({ "type": "string", "format": "date-time" });
    let booking = || {
        json!({
            "booking_id": id("bkg"),
            "booking_type_id": id("bkt"),
            "host_user_id": id("usr"),
            "conversation_id": nullable(conversation()),
            "starts_at": moment(),
            "ends_at": moment(),
        })
    };
    vec![
        Described {
            name: "ask.completed",
            when: "Everything asked of a client is in",
            fields: json!({
                "ask_id": id("req"),
                "kind": { "type": "string", "examples": ["documents"] },
                "conversation_id": conversation(),
            }),
        },
        Described {
            name: "client.replied",
            when: "Someone wrote back on a conversation",
            fields: json!({
                "conversation_id": conversation(),
                "message_id": id("msg"),
                "mailbox_id": id("mbx"),
                "secure": { "type": "boolean" },
                "reference?": { "type": "string" },
            }),
        },
        Described {
            name: "conversation.assigned",
            when: "A conversation was given to someone or to nobody",
            fields: json!({
                "conversation_id": conversation(),
                "assignee": assignee(),
                "assigned_by": doer(),
            }),
        },
        Described {
            name: "turn.changed",
            when: "Whose turn it is changed",
            fields: json!({
                "conversation_id": conversation(),
                "turn": turn,
                "previous": nullable(turn.clone()),
                "assignee": assignee(),
            }),
        },
        Described {
            name: "draft.approved",
            when: "A person approved a draft",
            fields: json!({
                "conversation_id": conversation(),
                "message_id": id("msg"),
                "drafted_by": {
                    "type": "object",
                    "required": ["type", "id"],
                    "properties": {
                        "type": { "enum": ["user", "agent", null] },
                        "id": { "type": ["string", "null"] },
                    },
                },
                "approved_by": doer(),
                "edited": { "type": "boolean" },
            }),
        },
        Described {
            name: "message.sent",
            when: "An e-mail went out",
            fields: json!({
                "conversation_id": conversation(),
                "message_id": id("msg"),
                "mailbox_id": id("mbx"),
                "author": nullable(who(&["user", "agent"])),
                "secure": { "type": "boolean" },
            }),
        },
        Described { name: "booking.created", when: "Someone booked a time", fields: booking() },
        Described { name: "booking.cancelled", when: "A booking was cancelled", fields: booking() },
        Described {
            name: "scout.held",
            when: "A likely scam was held",
            fields: json!({ "conversation_id": conversation() }),
        },
        Described {
            name: "webhook.test",
            when: "Someone pressed Send test event",
            fields: json!({ "endpoint_id": id("whk") }),
        },
    ]
}
