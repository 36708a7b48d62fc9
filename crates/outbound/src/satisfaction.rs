//! The mail that asks a customer how a closed conversation was: who gets it, and what it says.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use base::states::Status;
use db::Tx;
use mail::AutoSubmission;
use model::contacts::blocked_senders;
use model::conversations::Conversation;
use model::guests::ratings::{self, NewQuestion};
use model::guests::satisfaction::{self, SatisfactionMode};
use model::mailboxes;
use model::messages::mail_language::{self, salutation};
use model::messages::recipients::Party;
use translation::t;

use crate::drafts::{self, Automatic};
use crate::{away_reply, messages, reminders};

/// Asks the customer of a conversation how it was, if it is still closed and they may be asked.
pub fn ask(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    let ws = cx.actor.ws;
    satisfaction::end_question(tx, ws, &conversation.id)?;
    let mode = satisfaction::mode_of(tx, ws, &conversation.mailbox)?;
    let is_over = conversation.status == Status::Closed
        && conversation.removed.is_none()
        && conversation.merged_into.is_none()
        && !conversation.held
        && conversation.risk.is_none()
        && !conversation.circle.is_sandbox();
    if !is_over || mode == SatisfactionMode::Off || !may_be_asked(tx, cx, conversation)? {
        return Ok(());
    }
    let question = NewQuestion::prepare(tx, cx, conversation, mode)?;
    let page = question.link(cx);
    let stop = format!("{page}/stop");
    let (inbox, workspace): (String, String) = tx.one(
        "SELECT m.name, w.name FROM mailboxes m JOIN workspaces w ON w.ws = m.ws
         WHERE m.ws = ?1 AND m.id = ?2",
        &[&ws, &conversation.mailbox],
    )?;
    let name = conversation.contact_name.clone();
    let reader = mail_language::of_conversation(tx, ws, &conversation.id)?;
    let text = reader.run(|| words(name.as_deref(), &workspace, mode, &page));
    let email = conversation.contact_email.to_string();
    let to = serde_json::to_string(&[Party { name, email }])?;
    let automatic = Automatic {
        text: &text,
        from_name: Some(inbox),
        to: &to,
        unsubscribe: Some(&stop),
        leads_to: None,
        submission: AutoSubmission::Generated,
    };
    let message = drafts::send_automatic(tx, cx, conversation, &automatic)?;
    question.open(tx, cx, conversation, &message)
}

/// True for a customer whom the team answered, who accepts our mail, and who was not asked about this
/// conversation before.
fn may_be_asked(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<bool> {
    let (ws, email) = (cx.actor.ws, &conversation.contact_email);
    let is_person = !mail::is_unattended(email.as_str())
        && !away_reply::is_inbox(tx, email.as_str())?
        && !blocked_senders::is_blocked(tx, ws, &conversation.circle, email.as_str())?;
    Ok(is_person
        && wrote_as_person(tx, ws, conversation)?
        && was_answered(tx, ws, conversation)?
        && !ratings::is_asked(tx, ws, &conversation.id)?
        && !ratings::is_asked_lately(tx, cx, email)?
        && !ratings::is_opted_out(tx, cx, email)?
        && !reminders::refuses_mail(tx, ws, email, conversation.created_at)?
        && !mailboxes::is_deleted(tx, ws, &conversation.mailbox)?
        && messages::can_leave(tx, cx, conversation)?)
}

/// True when the newest mail of the other side that is no automatic reply may be answered automatically:
/// mail of lists and of programs may not.
fn wrote_as_person(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<bool> {
    let newest: Option<(bool,)> = tx.opt(
        "SELECT no_automatic_reply FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND NOT auto_reply
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&ws, &conversation.id],
    )?;
    Ok(newest.is_some_and(|(no_automatic_reply,)| !no_automatic_reply))
}

fn was_answered(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<bool> {
    let answer: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND status = 'sent'
           AND automatic = FALSE LIMIT 1",
        &[&ws, &conversation.id],
    )?;
    Ok(answer.is_some())
}

fn words(name: Option<&str>, workspace: &str, mode: SatisfactionMode, page: &str) -> String {
    let mut text = format!(
        "{}\n\n{}\n\n",
        salutation(name),
        t!("your conversation with {workspace} is closed. How was it?", workspace),
    );
    for score in mode.scores() {
        text.push_str(&format!("{}: {page}?score={score}\n", mode.word(*score)));
    }
    text.push_str(&format!(
        "\n{}\n\n{}\n{}\n",
        t!("A link opens a page, where you send your answer and can add a few words."),
        t!("If something is still open, just answer this e-mail."),
        t!("Never to be asked again: {link}", link = format!("{page}/stop")),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mail_has_a_link_for_each_choice_and_a_way_out() {
        let text = words(Some("Ann"), "Acme", SatisfactionMode::Two, "https://m/r/x");
        for part in [
            "Hello Ann,\n",
            "conversation with Acme is closed. How was it?",
            "It was good: https://m/r/x?score=5\n",
            "It was not good: https://m/r/x?score=1\n",
            "Never to be asked again: https://m/r/x/stop\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let five = words(None, "Acme", SatisfactionMode::Five, "https://m/r/x");
        assert_eq!(five.matches("?score=").count(), 5);
    }
}
