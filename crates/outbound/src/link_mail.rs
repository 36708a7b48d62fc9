//! Mail of the service that leads to a secure message once more: the reminder, and a new link. The row of
//! such a mail holds no link; each recipient's is named when the mail leaves.

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use base::states::Status;
use db::Tx;
use mail::AutoSubmission;
use model::conversations::Conversation;
use model::guests::secure;
use model::messages::recipients::{self, Party};
use model::people::agent_limits::pausing;

use crate::drafts::{self, Automatic};

const REMINDER: &str = "Reminder of a protected message";
const REQUEST_REMINDER: &str = "Reminder of documents";
const NEW_LINK: &str = "New link to a protected message";

/// Opens pages of a secure message again and mails new links, to those who asked for one or else to
/// everybody that it went to.
pub fn send_again(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<()> {
    let emails = secure::renew_links(tx, cx, message)?;
    mail_links(tx, cx, conversation, message, &emails, NEW_LINK)?;
    Ok(())
}

/// Reminds of the documents that a secure message asks for: the mail leads to its page and names none.
pub fn remind_of_request(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<Option<MessageId>> {
    if !secure::is_open(tx, cx, message)? {
        return Ok(None);
    }
    let recipients = recipients::of_message(tx, cx.actor.ws, message)?;
    let emails: Vec<String> =
        recipients.everybody().map(|party| party.address().as_str().to_owned()).collect();
    mail_links(tx, cx, conversation, message, &emails, REQUEST_REMINDER)
}

/// Reminds everybody who has not opened the page, once.
pub fn remind(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE secure_messages SET remind_at = NULL WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message],
    )?;
    let is_over = conversation.status == Status::Closed || conversation.held;
    // Nobody is reminded in the name of an agent that may not act.
    let is_halted = pausing::halt_of_writer(tx, cx.actor.ws, message)?.is_some();
    if is_over || is_halted || !secure::is_open(tx, cx, message)? {
        return Ok(());
    }
    let emails = secure::recipients_left(tx, cx.actor.ws, message)?;
    mail_links(tx, cx, conversation, message, &emails, REMINDER)?;
    Ok(())
}

fn mail_links(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    emails: &[String],
    text: &str,
) -> Result<Option<MessageId>> {
    if emails.is_empty() {
        return Ok(None);
    }
    let parties = recipients::of_message(tx, cx.actor.ws, message)?;
    let is_meant = |party: &&Party| emails.iter().any(|email| party.address() == email.as_str());
    let to: Vec<&Party> = parties.everybody().filter(is_meant).collect();
    if to.is_empty() {
        return Ok(None);
    }
    let (from_name,): (Option<String>,) = tx.one(
        "SELECT from_name FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message],
    )?;
    let to = serde_json::to_string(&to).expect("addresses are JSON");
    let automatic = Automatic {
        text,
        from_name,
        to: &to,
        unsubscribe: None,
        leads_to: Some(message),
        submission: AutoSubmission::Generated,
    };
    drafts::send_automatic(tx, cx, conversation, &automatic).map(Some)
}
