//! The pages of webhook events, made from their table.

use std::fmt::Write;

use model::webhooks::events::{EVENTS, EventField, WebhookEventType};
use serde_json::{Map, Value, json};

use super::schema_words::kind;

pub fn event_page(event: &WebhookEventType) -> String {
    let mut page = format!(
        "# {}\n\n{}. It has ids and one line, never the customer's words.\n\n",
        event.name, event.when
    );
    let goes = if event.by_choice {
        "Only to webhooks that chose it"
    } else {
        "Every webhook of the inbox; events of the sandbox only to test webhooks"
    };
    let also = if event.by_choice { ", once a webhook chose it" } else { "" };
    let _ = write!(
        page,
        "| About | |\n|---|---|\n| Goes to | {goes} |\n| Also in | [`GET /events`](/developers/reference/list_events){also} |\n\
         | Check it | [Receivers that verify](/developers/webhooks) |\n\n\
         ## Fields of data\n\n| Field | Type | What it is |\n|---|---|---|\n",
    );
    for EventField { name, schema, optional } in (event.fields)() {
        let absent = if optional { ", may be absent" } else { "" };
        let _ = writeln!(page, "| `{name}` | {}{absent} | {} |", kind(&schema), about(name));
    }
    page.push_str(
        "| `summary` | string | One line for a log: at most 200 characters, never the mail's own words. |\n\
         | `url` | string, may be absent | The conversation in the app; not in the sandbox. |\n\n\
         ## What your answer means\n\n| Status | What happens |\n|---|---|\n\
         | 2xx | Delivered, when it comes within 10 seconds. Answer first, work later. |\n\
         | 410 | Turns the webhook off and mails its owner. |\n\
         | else | Tried again eight times over a day. Redirects are not followed. |\n\n\
         The same `id` may come again, and events may overtake each other: remember the ids of the last day.\n\n\
         ## Examples\n\n",
    );
    let body = serde_json::to_string_pretty(&example(event)).unwrap_or_default();
    let _ = write!(
        page,
        "```json What we post\n{body}\n```\n\n[See it in the catcher](/developers/catcher)\n"
    );
    page
}

/// All events, for the page on webhooks.
pub fn event_list() -> String {
    let mut list = String::from("| Event | When |\n|---|---|\n");
    for event in EVENTS {
        let choice = if event.by_choice { ", only if the webhook chose it" } else { "" };
        let _ = writeln!(
            list,
            "| [`{0}`](/developers/events/{0}) | {1}{choice} |",
            event.name, event.when
        );
    }
    list
}

/// An event as it is posted, with a value of each field's type.
pub fn example(event: &WebhookEventType) -> Value {
    let mut data = Map::new();
    data.insert("summary".into(), json!(event.when));
    for field in (event.fields)().iter().filter(|field| !field.optional) {
        data.insert(field.name.into(), value(&field.schema));
    }
    json!({
        "id": "evt_01kag13z9x8c7v6b5n4m3k2j1h",
        "type": event.name,
        "version": 1,
        "created_at": "2026-11-15T09:14:03.120Z",
        "workspace": "wsp_01kag0z8m4s6y2t9r5w1q3n7xa",
        "livemode": false,
        "data": data,
    })
}

fn value(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words.first().cloned().unwrap_or_default();
    }
    if let Some(first) = schema["examples"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    if let Some(first) = schema["anyOf"].as_array().and_then(|all| all.first()) {
        return value(first);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("object") => {
            let none = Map::new();
            let fields = schema["properties"].as_object().unwrap_or(&none);
            Value::Object(fields.iter().map(|(name, of)| (name.clone(), value(of))).collect())
        }
        _ if schema["format"] == "date-time" => json!("2026-11-16T10:00:00.000Z"),
        _ => match schema["pattern"].as_str().and_then(|text| text.strip_prefix('^')) {
            Some(pattern) => {
                let prefix = pattern.split('[').next().unwrap_or_default();
                json!(format!("{prefix}01kag0z8m4s6y2t9r5w1q3n7xe"))
            }
            None => json!("usr_01kag0x2p4r6t8v1w3y5z7a9bc"),
        },
    }
}

/// What the fields that events share are.
fn about(name: &str) -> &'static str {
    match name {
        "conversation_id" => "Where it happened. Read it to see what was written.",
        "message_id" => "The message.",
        "mailbox_id" => "The inbox.",
        "secure" => "True for what was written on a protected page; never copy it into plain mail.",
        "reference" => "Your app's reference. It names the address written to, not the writer.",
        "turn" => "Whose turn it is now.",
        "previous" => "Whose turn it was; null when it began.",
        "assignee" => "Who has it now; null for nobody.",
        "author" => "Who wrote it.",
        "edited" => "True when the person changed it before approving.",
        "drafted_by" => "Who drafted it; both null for Mailroom's own helper.",
        "approved_by" | "assigned_by" => "Who did it.",
        "ask_id" => "The document request.",
        "kind" => "What was asked for.",
        "kinds" => "What was found, such as `injection`: text that gives orders to software.",
        "target" => "`answer` for the first answer, `close` for closing it.",
        "starts_at" | "ends_at" => "When, in UTC.",
        _ => "",
    }
}
