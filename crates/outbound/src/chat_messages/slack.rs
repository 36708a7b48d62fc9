//! A message as an incoming webhook of Slack takes it: blocks, and a line for notices.

use serde_json::{Value, json};

use super::{ChatMessage, broken_after};

/// Foreign words stand in `plain_text`, which has no markup; only our own links are `mrkdwn`.
pub(super) fn write(message: &ChatMessage) -> Value {
    let mut blocks = vec![json!({ "type": "section", "text": plain(&message.heading) })];
    let facts = message.facts.iter().map(|(label, value)| plain(&format!("{label}: {value}")));
    let facts: Vec<Value> = facts.collect();
    if !facts.is_empty() {
        blocks.push(json!({ "type": "section", "fields": facts }));
    }
    let links = message.links.iter();
    let links = links.map(|(label, address)| format!("<{}|{}>", escape(address), escape(label)));
    let links = links.collect::<Vec<_>>().join(" · ");
    if !links.is_empty() {
        let text = json!({ "type": "mrkdwn", "text": links, "verbatim": true });
        blocks.push(json!({ "type": "section", "text": text }));
    }
    json!({
        "text": summary(message),
        "mrkdwn": false,
        "unfurl_links": false,
        "unfurl_media": false,
        "blocks": blocks,
    })
}

/// The line of a notice: what happened, and the first fact.
fn summary(message: &ChatMessage) -> String {
    let line = match message.facts.first() {
        Some((_, value)) => format!("{}: {value}", message.heading),
        None => message.heading.clone(),
    };
    broken_after(&escape(&line), &['@'])
}

fn plain(text: &str) -> Value {
    json!({ "type": "plain_text", "text": broken_after(text, &['<', '@']), "emoji": false })
}

/// The three characters that Slack reads in text.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
