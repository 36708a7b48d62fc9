//! When a message leaves: after the undo window, or at a later time that its writer chose.

use base::actor::Principal;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{AgentId, MailboxId, MemberId, MessageId, UserId};
use base::limits::{LATER_DAYS, LATER_MS, MINUTE_MS, UNDO_CHOICES, UNDO_LIVE_MS, UNDO_SANDBOX_MS};
use base::security::agent_policy::AgentPolicy;
use base::states::MessageStatus;
use base::usage::{self, UsageKind};
use bookings::offers;
use db::Tx;
use model::conversations::leaving;
use model::conversations::timeline::{self, RetiredBy, TimelineEvent};
use model::conversations::{self, Conversation};
use model::documents::document_requests;
use model::guests::secure;
use model::indexing::search_index;
use model::mailboxes::inbox_access;
use model::messages::helper_drafts;
use model::messages::signatures;
use model::messages::undo_time;
use model::messages::written_text::WrittenText;
use quotas::LimitKind;

use crate::messages::{self, OutgoingMessage};

/// The field of the error when no server takes outgoing mail, and what it says.
const NO_RELAY_FIELD: &str = "send";
const NO_RELAY: &str = "Nothing can be sent yet: no server for outgoing mail is set up. An owner or \
                            admin names one, in the settings of the inbox or as MAILROOM_RELAY. \
                            Until then it can be kept as a draft.";

/// The times that the writer of a message chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageTimes {
    /// When it leaves; `None` is the end of the undo window.
    pub leaves_at: Option<i64>,
    /// When the conversation comes back if nobody has answered by then.
    pub follow_up_at: Option<i64>,
}

impl MessageTimes {
    /// When a message that is sent now leaves. A time within the undo window means its end.
    pub fn departure(
        self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
        writer: WriterKind,
    ) -> Result<i64> {
        let earliest = cx.now + undo_window(tx, cx, conversation, writer)?;
        match self.leaves_at {
            None => Ok(earliest),
            Some(at) if at <= cx.now => {
                Err(Error::invalid("sendAt", "The time to leave is over. Choose one to come."))
            }
            Some(at) if at > cx.now + LATER_MS => {
                let sentence = format!("A message can wait for at most {LATER_DAYS} days.");
                Err(Error::invalid("sendAt", sentence))
            }
            Some(at) => Ok(at.max(earliest)),
        }
    }

    /// Refuses a follow-up that would come before the message has left, or too far ahead.
    pub fn check_follow_up(self, cx: &Cx<'_>, departure: i64) -> Result<()> {
        match self.follow_up_at {
            Some(at) if at <= departure => {
                let sentence = "The reminder must come after the message has left.";
                Err(Error::invalid("followUpAt", sentence))
            }
            Some(at) if at > cx.now + LATER_MS => {
                let sentence = format!("A reminder comes after at most {LATER_DAYS} days.");
                Err(Error::invalid("followUpAt", sentence))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Who wrote a message, as far as its undo window goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterKind {
    /// Somebody who can be asked how long they want to be able to stop it.
    Person,
    /// A key, a rule or the helper, whoever approved it.
    Software,
}

impl WriterKind {
    /// Who wrote a draft, by its author.
    pub fn of(author: Option<&str>) -> WriterKind {
        match author.and_then(MemberId::parse) {
            Some(MemberId::User(_)) => WriterKind::Person,
            _ => WriterKind::Software,
        }
    }
}

/// How long a message that the actor sends or approves can be stopped before it leaves.
fn undo_window(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    writer: WriterKind,
) -> Result<i64> {
    match (&cx.actor.who, writer) {
        _ if conversation.circle.is_sandbox() => Ok(UNDO_SANDBOX_MS),
        (Principal::Person { id, .. }, WriterKind::Person) => {
            Ok(undo_time::of_person(tx, cx.actor.ws, id)? * 1_000)
        }
        _ => Ok(software_window(cx.actor.policy())),
    }
}

/// The times that were chosen for a message that waits for them. One that leaves after an undo window was
/// given no time, and a time that comes before the actor could send it again has come.
pub fn chosen_times(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<MessageTimes> {
    type Times = (Option<i64>, Option<i64>, Option<i64>);
    let (sends_at, scheduled_at, follow_up_at): Times = tx.one(
        "SELECT sends_at, scheduled_at, follow_up_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    let Some(at) = sends_at else { return Ok(MessageTimes { leaves_at: None, follow_up_at }) };
    let writer = WriterKind::of(message.author.as_deref());
    let window = undo_window(tx, cx, conversation, writer)?;
    let waits = at - scheduled_at.unwrap_or(cx.now);
    let is_chosen = at > cx.now + window && !is_undo_window(tx, cx, message, waits)?;
    Ok(MessageTimes { leaves_at: is_chosen.then_some(at), follow_up_at })
}

/// True for a time that messages wait without being told to.
fn is_undo_window(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    waits: i64,
) -> Result<bool> {
    let fixed = UNDO_CHOICES.map(|seconds| seconds * 1_000);
    if fixed.contains(&waits) || waits == UNDO_LIVE_MS || waits == UNDO_SANDBOX_MS {
        return Ok(true);
    }
    let Some(agent) = message.author.as_deref().and_then(AgentId::parse) else { return Ok(false) };
    let policy: Option<(Option<String>,)> =
        tx.opt("SELECT policy FROM agents WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, &agent])?;
    let Some((policy,)) = policy else { return Ok(false) };
    Ok(software_window(Some(&AgentPolicy::from_stored(policy.as_deref())?)) == waits)
}

/// How long what software writes can be stopped. The policy of an agent may ask for longer.
fn software_window(policy: Option<&AgentPolicy>) -> i64 {
    let minutes = policy.and_then(|policy| policy.undo_minutes);
    minutes.map_or(UNDO_LIVE_MS, |minutes| UNDO_LIVE_MS.max(minutes * MINUTE_MS))
}

/// Refuses to let a message wait whose offered times may be taken meanwhile.
pub fn must_not_wait_with_offer(times: MessageTimes, offers_times: bool) -> Result<()> {
    if times.leaves_at.is_some() && offers_times {
        let sentence = "A message that offers times cannot wait: they may be taken meanwhile.";
        return Err(Error::invalid("sendAt", sentence));
    }
    Ok(())
}

/// True for people who may let what leaves from an inbox leave at once.
pub fn may_send_now(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<bool> {
    let is_person = matches!(cx.actor.who, Principal::Person { .. });
    Ok(is_person && inbox_access::may_send(tx, cx.actor, mailbox)?)
}

/// Lets a scheduled message leave at once. It is claimed once, whoever asks for it and how often: one
/// that is being sent, or was, stays as it is.
pub fn send_now(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    inbox_access::must_send(tx, cx.actor, &message.mailbox)?;
    let due = tx.exec(
        "UPDATE messages SET sends_at = ?3
         WHERE ws = ?1 AND id = ?2 AND status = 'scheduled' AND held_at IS NULL AND sends_at > ?3",
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if due > 0 {
        tx.exec(
            "UPDATE conversations SET leaves_at = ?3
             WHERE ws = ?1 AND id = ?2 AND leaves_at > ?3",
            &[&cx.actor.ws, &message.conversation, &cx.now],
        )?;
        if message.secure {
            secure::expire_after(tx, cx.actor.ws, &message.id, cx.now)?;
        }
        tx.wake(Queue::Messages);
        let at_once = TimelineEvent::SentNow { message_id: message.id.clone() };
        return timeline::record(tx, cx, &message.conversation, &at_once);
    }
    let (is_held,): (bool,) = tx.one(
        "SELECT held_at IS NOT NULL FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    match message.status {
        MessageStatus::Draft => Err(Error::invalid("message", "was stopped and is a draft again")),
        MessageStatus::Failed => Err(Error::invalid("message", "could not be delivered")),
        MessageStatus::Scheduled if is_held => {
            Err(Error::invalid("message", "is held in the queue; release it there"))
        }
        MessageStatus::Scheduled | MessageStatus::Sending | MessageStatus::Sent => Ok(()),
    }
}

/// Schedules a message for a time, with its upload link if it requests documents.
pub fn schedule_at(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    written: &WrittenText,
    sends_at: i64,
) -> Result<()> {
    inbox_access::must_send(tx, cx.actor, &message.mailbox)?;
    let is_person = matches!(cx.actor.who, Principal::Person { .. });
    if is_person && !messages::can_leave(tx, cx, conversation)? {
        return Err(Error::invalid(NO_RELAY_FIELD, NO_RELAY));
    }
    if !message.secure && secure::is_always_secure(tx, cx.actor.ws, &message.mailbox)? {
        return Err(Error::invalid("secure", secure::ALWAYS_SECURE));
    }
    count_mail(tx, cx, conversation, message)?;
    helper_drafts::retire(tx, cx, conversation, Some(&message.id), RetiredBy::Team)?;
    let text = match &message.request {
        Some(request) => document_requests::open(tx, cx, request, &written.text)?,
        None => written.text.clone(),
    };
    let offer = offers::open(tx, cx, &message.id)?;
    let offered = |text: String| offer.as_ref().map_or(text.clone(), |offer| offer.below(&text));
    let (text, markdown) = (offered(text), written.markdown.clone().map(offered));
    let signature = signature(tx, cx, message)?;
    let quotes = quoted_below(tx, cx, message)?;
    let written = WrittenText { text, markdown };
    let WrittenText { text, markdown } = messages::kept_words(tx, cx, message, written)?;
    let moved = tx.exec(
        "UPDATE messages
         SET status = 'scheduled', sends_at = ?3, text = ?4, markdown = ?5, signature = ?6,
             quotes = ?7, scheduled_at = ?8, revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, &message.id, &sends_at, &text, &markdown, &signature, &quotes, &cx.now],
    )?;
    if moved == 0 {
        return Err(Error::NotFound("draft"));
    }
    if text != message.text {
        search_index::draft(tx, cx, &message.id)?;
    }
    if message.secure {
        secure::open_links(tx, cx, (&conversation.id, &message.id), sends_at)?;
    }
    if conversation.has_draft {
        conversations::note_drafts(tx, cx, conversation)?;
    }
    leaving::note(tx, cx.actor.ws, &conversation.id)?;
    tx.wake(Queue::Messages);
    Ok(())
}

/// Counts a mail that is to leave, and refuses people and agents one beyond the limits. What the workspace does by
/// itself is counted and leaves.
fn count_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    if conversation.circle.is_sandbox() {
        return Ok(());
    }
    if matches!(cx.actor.who, Principal::Person { .. } | Principal::Agent { .. }) {
        quotas::admit(tx, cx, LimitKind::MailsPerHour, 1)?;
        quotas::admit(tx, cx, LimitKind::MailsPerDay, 1)?;
    }
    usage::add_done(tx, cx.actor.ws, UsageKind::Mails, message.id.as_str(), cx.now)
}

/// The signature that a message gets; empty where there is none.
fn signature(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<String> {
    let author = message.author.as_deref().and_then(UserId::parse);
    let (name,): (Option<String>,) = tx.one(
        "SELECT from_name FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    let name = name.unwrap_or_default();
    signatures::in_effect(tx, cx.actor.ws, author.as_ref(), &name, &message.mailbox)
}

/// The message that is quoted below a reply: the newest that was received or sent before it. What was
/// said on a secure page is not quoted, and a secure message quotes nothing.
fn quoted_below(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
) -> Result<Option<MessageId>> {
    if message.forwards.is_some() || message.secure {
        return Ok(None);
    }
    let newest: Option<(MessageId, bool)> = tx.opt(
        "SELECT id, secure FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL AND NOT automatic
           AND forwards IS NULL
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &message.conversation],
    )?;
    Ok(newest.filter(|(_, secure)| !secure).map(|(id, _)| id))
}
