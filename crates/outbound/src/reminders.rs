//! When a customer is reminded of a document request, and when no longer.
//!
//! Customers read these texts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MessageId, RequestId};
use base::states::{MessageStatus, Status};
use db::Tx;
use mail::AutoSubmission;
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, Conversation};
use model::documents::document_requests::{link, missing, next_reminder};
use model::messages::mail_language::{self, salutation};
use model::people::agent_limits::pausing::{self, AgentHalt};
use model::times::calendar_words::kept_date;
use translation::t;

use crate::drafts::{self, Automatic};
use crate::{link_mail, messages};

/// Conversations of a customer in which a bounce or a complaint is looked for.
const CONVERSATIONS_LOOKED_AT: i64 = 20;

/// Sends the due reminder of one request, if items are missing and the customer accepts our mail,
/// and schedules the next one. Nobody is reminded in the name of an agent whose key or app is revoked,
/// and none leaves while the agent is paused, unless a person approved the request.
pub fn remind(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    request: &RequestId,
    conversation: &ConversationId,
) -> Result<()> {
    let ws = cx.actor.ws;
    type Found = (MessageId, Option<String>, Option<i64>);
    let (message, due_date, asked_at): Found = tx.one(
        "SELECT message, due_date, asked_at FROM document_requests WHERE ws = ?1 AND id = ?2",
        &[&ws, request],
    )?;
    let asked_at = asked_at.unwrap_or(cx.now);
    let missing = missing(tx, ws, request)?;
    let halt = pausing::halt_of_writer(tx, ws, &message)?;
    let conversation = conversations::load(tx, cx.actor, conversation.as_str())?;
    let goes_on = !missing.is_empty()
        && halt != Some(AgentHalt::Revoked)
        && takes_mail(tx, ws, &conversation, &message, asked_at)?;
    let next = if goes_on { next_reminder(asked_at, cx.now) } else { None };
    tx.exec_soon(
        "UPDATE document_requests SET remind_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, request, &next],
    )?;
    // No reminders in closed or held conversations.
    let is_quiet = halt.is_some() || conversation.status == Status::Closed || conversation.held;
    if !goes_on || is_quiet {
        return Ok(());
    }
    if messages::is_secure(tx, ws, &message)? {
        let sent = link_mail::remind_of_request(tx, cx, &conversation, &message)?;
        return note_reminder(tx, cx, &conversation, request, sent);
    }
    let (from_name, to): (Option<String>, String) = tx.one(
        "SELECT from_name, to_list FROM messages WHERE ws = ?1 AND id = ?2",
        &[&ws, &message],
    )?;
    let page = link(tx, cx, request)?;
    let stop = format!("{page}/stop");
    let reader = mail_language::of_conversation(tx, ws, &conversation.id)?;
    let text = reader
        .run(|| words(conversation.contact_name.as_deref(), &missing, due_date.as_deref(), &page));
    let automatic = Automatic {
        text: &text,
        from_name,
        to: &to,
        unsubscribe: Some(&stop),
        leads_to: None,
        submission: AutoSubmission::Generated,
    };
    let sent = drafts::send_automatic(tx, cx, &conversation, &automatic)?;
    note_reminder(tx, cx, &conversation, request, Some(sent))
}

fn note_reminder(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    request: &RequestId,
    sent: Option<MessageId>,
) -> Result<()> {
    let Some(message_id) = sent else { return Ok(()) };
    let reminded = TimelineEvent::Reminded { request_id: request.clone(), message_id };
    timeline::record(tx, cx, &conversation.id, &reminded)
}

/// False when the requesting message or later mail to this customer bounced, or the customer ever
/// reported our mail as spam.
fn takes_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    message: &MessageId,
    asked_at: i64,
) -> Result<bool> {
    let (status,): (Option<MessageStatus>,) =
        tx.one("SELECT status FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, message])?;
    Ok(status == Some(MessageStatus::Sent)
        && !refuses_mail(tx, ws, &conversation.contact_email, asked_at)?)
}

/// True when mail to a customer bounced since a time, or they ever reported our mail as spam.
pub(crate) fn refuses_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    email: &EmailAddress,
    since: i64,
) -> Result<bool> {
    let refused: Option<(String,)> = tx.opt(
        "SELECT h.id
         FROM (
             SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2 AND num > 0
             ORDER BY last_message_at DESC, id DESC LIMIT ?4
         ) AS c
         CROSS JOIN timeline_events h
         WHERE h.ws = ?1 AND h.conversation = c.id
           AND (h.event = 'spam-complaint' OR (h.event = 'bounced' AND h.at >= ?3))
         LIMIT 1",
        &[&ws, email, &since, &CONVERSATIONS_LOOKED_AT],
    )?;
    Ok(refused.is_some())
}

fn words(name: Option<&str>, missing: &[String], due_date: Option<&str>, page: &str) -> String {
    let mut text = format!("{}\n\n{}\n", salutation(name), t!("we still need from you:"));
    for label in missing {
        text.push_str(&format!("- {label}\n"));
    }
    if let Some(date) = due_date {
        text.push_str(&format!("\n{}\n", t!("Please send it by {date}.", date = kept_date(date))));
    }
    text.push_str(&format!(
        "\n{}\n\n{}\n{}\n",
        t!("Upload it on this private page: {link}", link = page),
        t!("If something is unclear, just answer this e-mail."),
        t!("To get no more reminders: {link}", link = format!("{page}/stop")),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_names_what_is_missing_the_date_the_page_and_the_way_out() {
        let text = words(Some("Ann"), &["Passport".into()], Some("2026-12-01"), "https://m/u/x");
        for part in [
            "Hello Ann,\n",
            "- Passport\n",
            "by 1 December 2026.",
            "private page: https://m/u/x\n",
            "no more reminders: https://m/u/x/stop\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
