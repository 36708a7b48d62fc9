//! The webhook events of section 6 as OpenAPI webhooks.

use base::ids::{EventId, WorkspaceId};
use base::limits::{HOUR_MS, OLD_SECRET_MS};
use model::webhooks::events::{EVENTS, WebhookEventType, id_schema};
use serde_json::{Map, Value, json};

pub fn webhooks() -> Value {
    let webhooks: Map<String, Value> =
        EVENTS.iter().map(|event| (event.name.to_owned(), webhook(event))).collect();
    Value::Object(webhooks)
}

fn webhook(event: &WebhookEventType) -> Value {
    let header = |name: &str, about: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": true,
            "description": about,
            "schema": { "type": "string" },
        })
    };
    let signature = format!(
        "v1, and a base64 HMAC-SHA256; two for {} hours after a rotation.",
        OLD_SECRET_MS / HOUR_MS
    );
    json!({ "post": {
        "operationId": format!("on_{}", event.name.replace('.', "_")),
        "summary": event.when,
        "description": "Signed as in Standard Webhooks. Events may arrive out of order and more \
            than once; `id` is the same on every try.",
        "security": [],
        "parameters": [
            header("webhook-id", "The event's id."),
            header("webhook-timestamp", "Seconds since 1970 when this try was sent."),
            header("webhook-signature", &signature),
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

fn envelope(event: &WebhookEventType) -> Value {
    let mut properties = json!({
        "summary": {
            "type": "string",
            "maxLength": 200,
            "description": "One line; never the mail's own words.",
        },
        "url": { "type": "string", "format": "uri", "description": "The conversation in the app." },
    });
    let mut required = vec!["summary"];
    for field in (event.fields)() {
        properties[field.name] = field.schema;
        if !field.optional {
            required.push(field.name);
        }
    }
    json!({
        "type": "object",
        "required": ["id", "type", "version", "created_at", "workspace", "livemode", "data"],
        "properties": {
            "id": id_schema(EventId::PREFIX),
            "type": { "type": "string", "const": event.name },
            "version": { "type": "integer", "const": 1 },
            "created_at": { "type": "string", "format": "date-time" },
            "workspace": id_schema(WorkspaceId::PREFIX),
            "livemode": { "type": "boolean", "description": "false for the sandbox." },
            "data": { "type": "object", "required": required, "properties": properties },
        },
    })
}
