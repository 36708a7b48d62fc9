//! A message as a webhook of a Teams workflow takes it: an Adaptive Card.

use serde_json::{Value, json};

use super::{ChatMessage, broken_after};

/// Text stands in runs of a `RichTextBlock`, which have no markup; a mention would need an entity of its own.
pub(super) fn write(message: &ChatMessage) -> Value {
    let mut body = vec![block(vec![run(&message.heading, true)])];
    let facts = message.facts.iter();
    body.extend(
        facts
            .map(|(label, value)| block(vec![run(&format!("{label}: "), true), run(value, false)])),
    );
    let actions = message.links.iter().map(
        |(label, address)| json!({ "type": "Action.OpenUrl", "title": label, "url": address }),
    );
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": actions.collect::<Vec<Value>>(),
    });
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": card,
        }],
    })
}

fn block(runs: Vec<Value>) -> Value {
    json!({ "type": "RichTextBlock", "inlines": runs })
}

fn run(text: &str, is_bold: bool) -> Value {
    let weight = if is_bold { "Bolder" } else { "Default" };
    let text = broken_after(text, &['<', '@']);
    json!({ "type": "TextRun", "text": text, "weight": weight })
}
