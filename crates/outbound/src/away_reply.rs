//! The automatic reply to mail that comes outside office hours.

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use base::limits::HOUR_MS;
use db::{Json, Tx};
use mail::AutoSubmission;
use model::authentication::SenderAuthentication;
use model::conversations::Conversation;
use model::figures::report_facts::day_number;
use model::mailboxes::office_hours;
use model::messages::recipients::Party;

use crate::drafts::{self, Automatic};
use crate::messages;

/// Mail that is fetched later than this gets no reply.
const RECENT_MS: i64 = HOUR_MS;

db::row! {
    /// What decides whether a mail is answered.
    struct AnsweredMail from "messages" {
        from_name: Option<String>,
        from_email: String,
        auto_reply: bool,
        no_automatic_reply: bool,
        authentication: Option<Json<SenderAuthentication>>,
        counted_at: Option<i64>,
    }
}

/// Writes the automatic reply where the inbox is closed: once a day for each customer, and never to
/// what no person wrote (RFC 3834, section 2) nor to a sender who may be forged. The caller has made
/// sure that the mail is not held.
pub fn reply_if_closed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<()> {
    if conversation.removed.is_some() {
        return Ok(());
    }
    let Some(hours) = office_hours::of(tx, cx.actor.ws, &conversation.mailbox)? else {
        return Ok(());
    };
    if hours.away_reply.is_empty() || conversation.circle.is_sandbox() || !hours.is_closed(cx.now) {
        return Ok(());
    }
    let mail: AnsweredMail = tx.one(
        &format!("SELECT {} FROM messages WHERE ws = ?1 AND id = ?2", AnsweredMail::COLUMNS),
        &[&cx.actor.ws, message],
    )?;
    if !mail.may_be_answered(cx.now) || is_inbox(tx, &mail.from_email)? {
        return Ok(());
    }
    let (name, email) = (mail.from_name, mail.from_email);
    if !messages::can_leave(tx, cx, conversation)? {
        return Ok(());
    }
    let now = jiff::Timestamp::from_millisecond(cx.now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let day = day_number(now.to_zoned(hours.time_zone()).date());
    let is_first = tx.exec(
        "INSERT INTO away_replies (ws, mailbox, email, day) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, mailbox, email, day) DO NOTHING",
        &[&cx.actor.ws, &conversation.mailbox, &email.to_lowercase(), &day],
    )?;
    if is_first == 0 {
        return Ok(());
    }
    // What was noted for earlier days is of no use any more.
    tx.exec_soon(
        "DELETE FROM away_replies WHERE ws = ?1 AND mailbox = ?2 AND email = ?3 AND day < ?4",
        &[&cx.actor.ws, &conversation.mailbox, &email.to_lowercase(), &day],
    )?;
    let (inbox,): (String,) = tx.one(
        "SELECT name FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.mailbox],
    )?;
    let to = serde_json::to_string(&[Party { name, email }])?;
    let automatic = Automatic {
        text: &hours.away_reply,
        from_name: Some(inbox),
        to: &to,
        unsubscribe: None,
        leads_to: None,
        submission: AutoSubmission::Replied,
    };
    drafts::send_automatic(tx, cx, conversation, &automatic)?;
    Ok(())
}

impl AnsweredMail {
    fn may_be_answered(&self, now: i64) -> bool {
        let is_recent = self.counted_at.is_some_and(|at| at >= now - RECENT_MS);
        let is_proven = self.authentication.as_ref().is_none_or(|found| found.proves_sender());
        let is_wanted = !self.auto_reply && !self.no_automatic_reply;
        is_recent && is_proven && is_wanted && !mail::is_unattended(&self.from_email)
    }
}

/// Two inboxes must not answer each other.
pub(crate) fn is_inbox(tx: &mut Tx<'_>, email: &str) -> Result<bool> {
    let address = base::email_address::EmailAddress::new(email).without_tag();
    let found: Option<(String,)> =
        tx.opt("SELECT id FROM mailboxes WHERE address = ?1", &[&address])?;
    Ok(found.is_some())
}
