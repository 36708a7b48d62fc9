//! The approval queue: drafts that wait for a person, and scheduled messages.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MessageId, UserId};
use base::states::{ConversationRisk, MessageStatus};
use bookings::agent_acts;
use db::{Json, Tx};
use model::conversations::Conversation;
use model::mailboxes::{self, Mailbox};
use model::messages::{helper_drafts, recipients};
use model::people::agent_limits::unusual::{self, JudgedMessage, Unusual, UnusualKind};
use model::people::agent_limits::words::words_of_message;
use outbound::{messages, scheduling};

use crate::conversation_bookings::{MessageOffer, offer_of};
use crate::conversations::timeline::{MessageEntry, attach_files};
use crate::documents::document_requests::card;
use crate::writing::drafts;
use crate::writing::seen::SeenConversation;

/// Drafts and scheduled messages that a page lists.
const LISTED: i64 = 100;
/// Messages of agents that are looked up at a time to be stopped.
const STOPPED_TOGETHER: i64 = 200;
/// The customer's messages shown beside a draft.
const SAID_SHOWN: i64 = 3;

db::row! {
    /// A draft as it stands in the queue.
    pub struct QueuedDraft from "m" {
        pub id: MessageId,
        pub conversation: ConversationId,
        pub at: i64,
        pub author: Option<String>,
        pub author_name: String = "coalesce(m.from_name, '')",
        pub summary: Option<String>,
        pub subject: String = "c.subject",
        pub contact: String = "coalesce(c.contact_name, c.contact_email)",
        pub risk: Option<ConversationRisk> = "c.risk",
        pub asks: bool = "m.request IS NOT NULL",
        /// What is unusual about it, as far as no person wrote it.
        pub unusual: Option<Json<Vec<UnusualKind>>>,
        /// True when the customer wrote after the draft was made.
        pub wrote_meanwhile: bool = "EXISTS (
            SELECT 1 FROM messages n
            WHERE n.ws = m.ws AND n.conversation = m.conversation
              AND n.direction = 'inbound' AND (n.serial > m.serial OR n.at > m.at)
        )",
    }
}

/// The drafts that wait, oldest first.
pub fn queue(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<QueuedDraft>> {
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailboxes b
             CROSS JOIN messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND m.ws = b.ws AND m.mailbox = b.id
               AND m.status = 'draft' AND m.discarded_at IS NULL AND c.removed IS NULL
             ORDER BY m.at, m.id LIMIT ?4",
            QueuedDraft::COLUMNS
        ),
        &[&cx.actor.ws, first, second, &LISTED],
    )?)
}

/// A draft with everything that a person decides by.
pub struct Decision {
    pub draft: MessageEntry,
    pub conversation: Conversation,
    pub mailbox: Mailbox,
    /// The customer's latest messages, newest first.
    pub said: Vec<MessageEntry>,
    pub seen: SeenConversation,
    /// The times that the draft offers.
    pub offer: Option<MessageOffer>,
    /// What is unusual about it as it stands now, where no person wrote it.
    pub unusual: Vec<Unusual>,
}

impl Decision {
    /// The customer's messages received after the draft was made.
    pub fn said_since(&self) -> impl Iterator<Item = &MessageEntry> {
        // A draft that was merged in has a newer serial than mail that came after it.
        let draft = &self.draft;
        self.said.iter().filter(move |said| said.serial > draft.serial || said.at > draft.at)
    }
}

pub fn look_at_draft(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<Decision> {
    let (found, conversation) =
        messages::load_outgoing(tx, cx.actor, id).map_err(|_| Error::NotFound("draft"))?;
    if found.status != MessageStatus::Draft {
        return Err(Error::NotFound("draft"));
    }
    let ws = cx.actor.ws;
    let columns = MessageEntry::COLUMNS;
    let mut draft: MessageEntry = tx.one(
        &format!("SELECT {columns} FROM messages m WHERE m.ws = ?1 AND m.id = ?2"),
        &[&ws, id],
    )?;
    draft.sources = helper_drafts::in_conversation(tx, ws, &conversation.id)?.remove(id);
    draft.sign_for(cx.actor.name());
    if let Some(request) = draft.request() {
        draft.asks = Some(card(tx, cx, request)?);
    }
    let mut said: Vec<MessageEntry> = tx.all(
        &format!(
            "SELECT {columns} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.direction = 'inbound'
             ORDER BY m.serial DESC LIMIT ?3"
        ),
        &[&ws, &conversation.id, &SAID_SHOWN],
    )?;
    said.iter_mut().for_each(MessageEntry::cut_long_text);
    let mut shown: Vec<&mut MessageEntry> = said.iter_mut().chain([&mut draft]).collect();
    attach_files(tx, cx, &mut shown)?;
    let mailbox = mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?;
    let seen = SeenConversation::now(tx, cx, &conversation.id)?;
    Ok(Decision {
        offer: offer_of(tx, cx, &draft.id)?,
        unusual: unusual_of(tx, cx, &conversation, &draft)?,
        draft,
        mailbox: mailbox.ok_or(Error::NotFound("draft"))?,
        conversation,
        said,
        seen,
    })
}

/// What is unusual about a draft that an agent or a helper wrote.
fn unusual_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &MessageEntry,
) -> Result<Vec<Unusual>> {
    if draft.author.as_deref().is_some_and(|author| UserId::parse(author).is_some()) {
        return Ok(Vec::new());
    }
    let recipients = recipients::of_message(tx, cx.actor.ws, &draft.id)?;
    let asked = draft.asks.iter().flat_map(|request| &request.items);
    let asked = asked.map(|item| (item.label.as_str(), item.description.as_deref()));
    let judged = JudgedMessage {
        recipients: &recipients,
        words: &words_of_message(conversation, &draft.text, asked),
        has_files: !draft.files.is_empty() || draft.forwards.is_some(),
        is_secure: draft.secure,
        summary: None,
    };
    unusual::find(tx, cx, conversation, &judged)
}

db::row! {
    /// A scheduled message, which can still be stopped.
    pub struct ScheduledMessage from "m" {
        pub id: MessageId,
        pub conversation: ConversationId,
        /// `None` while it is held.
        pub sends_at: Option<i64>,
        /// For how long it can be stopped in all.
        pub waits: Option<i64> = "m.sends_at - m.scheduled_at",
        /// Who holds it in the queue.
        pub held_by: Option<String> = "CASE WHEN m.held_at IS NOT NULL THEN m.held_by END",
        pub author: Option<String>,
        pub author_name: String = "coalesce(m.from_name, '')",
        pub subject: String = "c.subject",
        pub contact: String = "coalesce(c.contact_name, c.contact_email)",
        pub text: String,
        pub mailbox: MailboxId,
    } later {
        /// The reader may let it leave at once.
        pub may_send_now: bool,
    }
}

const SCHEDULED_MESSAGES: &str = "FROM mailboxes b
    CROSS JOIN messages m
    JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
    WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND m.ws = b.ws AND m.mailbox = b.id
      AND m.status = 'scheduled'";

/// The scheduled messages, the next one first, those that are held last.
pub fn leaving(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<ScheduledMessage>> {
    let (first, second) = cx.actor.circles.pair();
    let mut leaving: Vec<ScheduledMessage> = Vec::new();
    for order in [
        "AND m.sends_at IS NOT NULL ORDER BY m.sends_at, m.id",
        "AND m.sends_at IS NULL ORDER BY m.id",
    ] {
        let left = LISTED - leaving.len() as i64;
        leaving.extend(tx.all::<ScheduledMessage>(
            &format!("SELECT {} {SCHEDULED_MESSAGES} {order} LIMIT ?4", ScheduledMessage::COLUMNS),
            &[&cx.actor.ws, first, second, &left],
        )?);
    }
    note_rights(tx, cx, &mut leaving)?;
    Ok(leaving)
}

/// Notes which of these messages the actor may let leave at once.
fn note_rights(tx: &mut Tx<'_>, cx: &Cx<'_>, messages: &mut [ScheduledMessage]) -> Result<()> {
    let mut known: Vec<(MailboxId, bool)> = Vec::new();
    for message in messages {
        let found = known.iter().find(|(mailbox, _)| *mailbox == message.mailbox);
        message.may_send_now = match found.map(|(_, may_send_now)| *may_send_now) {
            Some(may_send_now) => may_send_now,
            None => {
                let may_send_now = scheduling::may_send_now(tx, cx, &message.mailbox)?;
                known.push((message.mailbox.clone(), may_send_now));
                may_send_now
            }
        };
    }
    Ok(())
}

/// Stops all that agents have under way and that the actor sees: their messages are drafts again, and
/// bookings stay as they were. What people send or approved stays. Returns how many there were.
pub fn stop_agents(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<usize> {
    let (mut stopped, mut last) = (0, String::new());
    loop {
        let leaving = leaving_of_agents(tx, cx, &last, STOPPED_TOGETHER)?;
        let Some(newest) = leaving.last() else { break };
        last = newest.to_string();
        for message in &leaving {
            drafts::stop_message(tx, cx, message)?;
        }
        stopped += leaving.len();
    }
    loop {
        let planned = agent_acts::list_planned(tx, cx.actor)?;
        if planned.is_empty() {
            return Ok(stopped);
        }
        for act in &planned {
            let booking = bookings::load(tx, cx.actor, act.id.as_str())?;
            agent_acts::stop(tx, cx, &booking)?;
        }
        stopped += planned.len();
    }
}

/// True when there is a message that [`stop_agents`] would stop.
pub fn do_agents_send(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    Ok(!leaving_of_agents(tx, cx, "", 1)?.is_empty())
}

/// The scheduled messages that agents wrote and nobody approved, in the order of their ids after one of
/// them.
fn leaving_of_agents(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    after: &str,
    most: i64,
) -> Result<Vec<MessageId>> {
    let (first, second) = cx.actor.circles.pair();
    let leaving: Vec<(MessageId,)> = tx.all(
        &format!(
            "SELECT m.id {SCHEDULED_MESSAGES} AND m.approved IS NULL AND m.id > ?4
               AND EXISTS (SELECT 1 FROM agents g WHERE g.ws = m.ws AND g.id = m.author)
             ORDER BY m.id LIMIT ?5"
        ),
        &[&cx.actor.ws, first, second, &after, &most],
    )?;
    Ok(leaving.into_iter().map(|(id,)| id).collect())
}

/// One scheduled message, while it can still be stopped.
pub fn under_way(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<Option<ScheduledMessage>> {
    let (first, second) = cx.actor.circles.pair();
    let mut found: Option<ScheduledMessage> = tx.opt(
        &format!(
            "SELECT {} {SCHEDULED_MESSAGES} AND m.id = ?4 AND m.sends_at > ?5",
            ScheduledMessage::COLUMNS
        ),
        &[&cx.actor.ws, first, second, id, &cx.now],
    )?;
    note_rights(tx, cx, found.as_mut_slice())?;
    Ok(found)
}
