//! An event as a message of a chat: what happened, to which conversation, and links. Never a mail's own words but its
//! subject. Each product's form and markup has a file of its own.

mod mattermost;
mod slack;
mod teams;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use base::states::Status;
use db::Tx;
use model::conversations::{self, Conversation};
use model::mailboxes;
use model::messages::mail_language;
use model::people::notifications::wording::clip;
use model::webhooks::WebhookFormat;
use model::webhooks::events::{
    ConversationAssigned, DraftWaiting, EVENTS, MessageFailed, MessageFlagged, SatisfactionRated,
    ScoutHeld, TargetMissed, WebhookEvent, WebhookTest,
};
use serde_json::Value;
use translation::t;

use crate::chat_links::{self, ChatAct};

const SUBJECT_CHARS: usize = 150;
const NAME_CHARS: usize = 80;
const REASON_CHARS: usize = 300;
/// Reasons of a warning that a message has.
const REASONS: usize = 2;

/// A message before a product's markup.
struct ChatMessage {
    /// What happened.
    heading: String,
    /// Labels, and what they say.
    facts: Vec<(&'static str, String)>,
    /// Words, and where they lead.
    links: Vec<(&'static str, String)>,
}

/// What is posted to a chat for an event, in the language of whoever added the webhook. The actor sees what the webhook
/// hears: of a conversation that is elsewhere by now, nothing is said but that something happened.
pub fn message_body(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (format, maker): (WebhookFormat, &UserId),
    event: &str,
) -> Result<String> {
    let event: Value = serde_json::from_str(event)?;
    let reader = mail_language::of_person(tx, cx.actor.ws, maker)?;
    let message = reader.run(|| message_of(tx, cx, &event))?;
    let body = match format {
        WebhookFormat::Slack => slack::write(&message),
        WebhookFormat::Mattermost => mattermost::write(&message),
        WebhookFormat::Teams => teams::write(&message),
        WebhookFormat::Mailroom => event,
    };
    Ok(body.to_string())
}

fn message_of(tx: &mut Tx<'_>, cx: &Cx<'_>, event: &Value) -> Result<ChatMessage> {
    let heading = heading(event);
    let Some(conversation) = conversation_of(tx, cx, event)? else {
        return Ok(ChatMessage { heading, facts: Vec::new(), links: Vec::new() });
    };
    let inbox = mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?;
    let name = conversation.contact_name.clone().filter(|name| !name.trim().is_empty());
    let from = name.unwrap_or_else(|| conversation.contact_email.to_string());
    let facts = [
        (t!("Subject"), one_line(&conversation.subject, SUBJECT_CHARS)),
        (t!("From"), one_line(&from, NAME_CHARS)),
        (t!("Inbox"), one_line(&inbox.map_or_else(String::new, |it| it.name), NAME_CHARS)),
        (t!("Why"), one_line(&reason(event, &conversation), REASON_CHARS)),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Ok(ChatMessage { heading, facts, links: links(tx, cx, event, &conversation)? })
}

fn heading(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or_default();
    if kind == WebhookTest::TYPE.name {
        return t!("This is a test: what happens in Mailroom will be told here.").to_owned();
    }
    let known = EVENTS.iter().find(|known| known.name == kind);
    translation::sentence(known.map_or(kind, |known| known.when)).into_owned()
}

fn conversation_of(tx: &mut Tx<'_>, cx: &Cx<'_>, event: &Value) -> Result<Option<Conversation>> {
    let Some(id) = event["data"]["conversation_id"].as_str() else { return Ok(None) };
    match conversations::load(tx, cx.actor, id) {
        Ok(conversation) => Ok(Some(conversation)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why it is told, where the event alone does not say it.
fn reason(event: &Value, conversation: &Conversation) -> String {
    let data = &event["data"];
    let name = |member: &str| one_line(data[member]["name"].as_str().unwrap_or(""), NAME_CHARS);
    let kind = event["type"].as_str().unwrap_or_default();
    if [ScoutHeld::TYPE.name, MessageFlagged::TYPE.name].contains(&kind) {
        let reasons = conversation.risk_reasons.0.iter().take(REASONS);
        let reasons: Vec<_> = reasons.map(|reason| translation::sentence(reason)).collect();
        reasons.join(" ")
    } else if kind == DraftWaiting::TYPE.name {
        t!("Draft by {name}", name = name("drafted_by"))
    } else if kind == ConversationAssigned::TYPE.name && data["assignee"].is_object() {
        t!("Assigned to {name}", name = name("assignee"))
    } else if kind == TargetMissed::TYPE.name && data["target"] == "answer" {
        t!("The first answer is late.").to_owned()
    } else if kind == TargetMissed::TYPE.name {
        t!("It was to be closed by now.").to_owned()
    } else if kind == MessageFailed::TYPE.name {
        translation::sentence(data["reason"]["text"].as_str().unwrap_or("")).into_owned()
    } else if kind == SatisfactionRated::TYPE.name {
        format!("{}/5", data["score"])
    } else {
        String::new()
    }
}

/// The conversation itself, and what can be done by one more click. Held mail is looked at first, and the sandbox is not
/// in the app.
fn links(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    event: &Value,
    conversation: &Conversation,
) -> Result<Vec<(&'static str, String)>> {
    if conversation.circle.is_sandbox() {
        return Ok(Vec::new());
    }
    let id = conversation.id.as_str();
    let open = format!("{}/conversations/{id}", cx.public_url);
    let mut links = vec![(t!("Open the conversation"), open)];
    if conversation.held || conversation.removed.is_some() {
        return Ok(links);
    }
    let draft = event["data"]["message_id"].as_str();
    if let Some(draft) = draft.filter(|_| event["type"] == DraftWaiting::TYPE.name) {
        links.push((t!("Approve"), chat_links::make(tx, cx, ChatAct::Approve, draft)?));
    }
    links.push((t!("Assign to me"), chat_links::make(tx, cx, ChatAct::Assign, id)?));
    if conversation.status != Status::Closed {
        links.push((t!("Close"), chat_links::make(tx, cx, ChatAct::Close, id)?));
    }
    Ok(links)
}

/// One line without characters that nobody sees or that turn the direction of the text.
fn one_line(text: &str, most: usize) -> String {
    let is_hidden = |c: char| match c {
        '\u{ad}' | '\u{61c}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        _ => c.is_control() && !c.is_whitespace(),
    };
    clip(&text.chars().filter(|c| !is_hidden(*c)).collect::<String>(), most)
}

/// The text with a space that nobody sees after each of these characters, so that no product reads a mention, an emoji or
/// an address in it.
fn broken_after(text: &str, marks: &[char]) -> String {
    let mut broken = String::with_capacity(text.len());
    for c in text.chars() {
        broken.push(c);
        if marks.contains(&c) {
            broken.push('\u{200b}');
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message whose subject tries to ping, to link and to look like markup in every product.
    fn hostile() -> ChatMessage {
        let subject = "<!channel> @here @all <@U123> <at>Bo</at> [x](https://evil.example) *b* `c` :fire: \u{202e}#d";
        ChatMessage {
            heading: "A conversation began".into(),
            facts: vec![("Subject", one_line(subject, SUBJECT_CHARS))],
            links: vec![("Open", "https://mail.example/conversations/cnv_1".into())],
        }
    }

    #[test]
    fn a_subject_pings_nobody_in_any_product() {
        for write in [slack::write, mattermost::write, teams::write] {
            let body = write(&hostile()).to_string();
            for ping in ["<!channel>", "@here", "@all", "<@U123>", "\u{202e}"] {
                assert!(!body.contains(ping), "{ping}: {body}");
            }
            assert!(body.contains("https://mail.example/conversations/cnv_1"), "{body}");
        }
    }

    #[test]
    fn a_subject_is_no_markup_in_mattermost() {
        let text = mattermost::write(&hostile())["text"].as_str().unwrap_or_default().to_owned();
        for markup in ["[x](", "https://evil", "*b*", "`c`", ":fire:"] {
            assert!(!text.contains(markup), "{markup}: {text}");
        }
        assert!(text.contains("[Open](https://mail.example/conversations/cnv_1)"), "{text}");
    }

    #[test]
    fn foreign_words_are_plain_text_in_slack_and_runs_without_markup_in_teams() {
        let slack = slack::write(&hostile());
        for field in slack["blocks"][1]["fields"].as_array().into_iter().flatten() {
            assert_eq!(field["type"], "plain_text");
            assert_eq!(field["emoji"], false);
        }
        let teams = teams::write(&hostile());
        assert_eq!(teams["type"], "message");
        let card = &teams["attachments"][0];
        assert_eq!(card["contentType"], "application/vnd.microsoft.card.adaptive");
        for block in card["content"]["body"].as_array().into_iter().flatten() {
            assert_eq!(block["type"], "RichTextBlock");
        }
        assert_eq!(card["content"]["actions"][0]["type"], "Action.OpenUrl");
    }

    #[test]
    fn a_line_is_bounded_and_has_no_hidden_characters() {
        assert_eq!(one_line("a\u{202e}b\n\tc\u{0}\u{200b}", 10), "ab c");
        assert_eq!(one_line(&"x".repeat(500), SUBJECT_CHARS).chars().count(), SUBJECT_CHARS);
    }
}
