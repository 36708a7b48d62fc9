//! A message as an incoming webhook of Mattermost takes it: Markdown.

use serde_json::{Value, json};

use super::{ChatMessage, broken_after};

/// Characters of Markdown, which a backslash takes its meaning from.
const MARKUP: &[char] =
    &['\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '#', '+', '-', '.', '!', '~', '|', '>'];
/// What Mattermost reads beside Markdown: mentions, emojis and addresses, and HTML.
const READ_BESIDE: &[char] = &['@', ':', '<', '&'];

pub(super) fn write(message: &ChatMessage) -> Value {
    let mut lines = vec![format!("**{}**", escape(&message.heading))];
    let facts = message.facts.iter();
    lines.extend(facts.map(|(label, value)| format!("{}: {}", escape(label), escape(value))));
    let links = message.links.iter();
    let links = links.map(|(label, address)| format!("[{}]({address})", escape(label)));
    let links = links.collect::<Vec<_>>().join(" · ");
    if !links.is_empty() {
        lines.push(links);
    }
    json!({ "text": lines.join("\n") })
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in broken_after(text, READ_BESIDE).chars() {
        if MARKUP.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
