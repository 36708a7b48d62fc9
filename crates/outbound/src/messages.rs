//! Messages: writing one, and the states ours go through.

use std::borrow::Cow;

use base::actor::{Actor, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MemberId, MessageId, RequestId};
use base::limits::HEADER_KEY_BYTES;
use base::states::{Direction, MessageStatus, Status, View};
use base::usage::{self, UsageKind};
use db::{Json, Tx};
use model::authentication::SenderAuthentication;
use model::contacts::correspondents;
use model::contacts::{self, ContactEvidence, ContactStanding};
use model::conversations::first_answer::note_answer;
use model::conversations::follow_ups;
use model::conversations::leaving;
use model::conversations::timeline::{self, RetiredBy, TimelineEvent};
use model::conversations::{self, Conversation};
use model::documents::document_requests;
use model::figures::counted_mail::{self, CountedMail};
use model::figures::report_facts::{self, DraftFate, ReportMeasure};
use model::guests::secure::{self, PROTECTED, ProtectedContent};
use model::indexing::search_index;
use model::mailboxes::outgoing_servers;
use model::messages::attachments::AttachmentInfo;
use model::messages::recipients::{self, Party, RecipientList};
use model::messages::written_text::WrittenText;
use model::messages::{drafting_queue, helper_drafts, send_effects};
use model::webhooks::events::{self, EventAuthor, MessageSent};
use quotas::LimitKind;
use sha2::{Digest, Sha256};

db::row! {
    /// An outgoing message: a draft, scheduled or sent.
    #[derive(Clone, Debug)]
    pub struct OutgoingMessage from "m" {
        pub id: MessageId,
        pub conversation: ConversationId,
        pub mailbox: MailboxId,
        pub serial: i64,
        pub status: MessageStatus,
        pub subject: String,
        pub text: String,
        pub author: Option<String>,
        pub revision: i64,
        pub edited: bool,
        pub request: Option<RequestId>,
        /// The Markdown that the text was made from; `None` for plain text.
        pub markdown: Option<String>,
        /// The message that it passes on.
        pub forwards: Option<MessageId>,
        /// Its text here says only that it is protected; `secure` has the words.
        pub secure: bool,
        /// The secure message that it leads to.
        pub leads_to: Option<MessageId>,
    }
}

/// Mails with one Message-ID beyond which it names none of them.
const HEADER_ID_BEARERS: i64 = 20;

/// A message about to be written.
pub struct NewMessage<'a> {
    pub id: MessageId,
    pub direction: Direction,
    pub status: Option<MessageStatus>,
    /// Its place in the timeline: when the sender's side sent it.
    pub at: i64,
    /// When it was received or sent, which orders its conversation in lists; `None` for unsent
    /// messages.
    pub counted_at: Option<i64>,
    pub header_id: &'a str,
    /// What it is looked up by, where another mail of the inbox has its Message-ID already.
    pub header_key: Option<&'a str>,
    pub answers: &'a [String],
    pub from: Party,
    pub recipients: RecipientList,
    pub subject: &'a str,
    pub text: &'a str,
    pub attachments: Vec<AttachmentInfo>,
    pub raw_hash: Option<&'a str>,
    /// What a mail says, by which another with its Message-ID is told apart ([`mail::content_hash`]).
    pub content_hash: Option<&'a str>,
    pub has_html: bool,
    pub authentication: Option<SenderAuthentication>,
    pub withheld: Option<&'a str>,
    pub author: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub request: Option<&'a RequestId>,
    pub sends_at: Option<i64>,
    /// The Markdown that the text was made from; `None` for plain text.
    pub markdown: Option<&'a str>,
    /// The message that it passes on.
    pub forwards: Option<&'a MessageId>,
    /// Its words are kept apart, sealed.
    pub secure: bool,
}

/// Writes a message into a conversation; returns its serial.
pub fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &NewMessage<'_>,
) -> Result<i64> {
    let writes = matches!(cx.actor.who, Principal::Person { .. } | Principal::Agent { .. });
    if writes && message.direction == Direction::Outbound {
        quotas::admit(tx, cx, LimitKind::Messages, 1)?;
    }
    let serial = conversations::next_serial(tx, cx.actor.ws, &conversation.id)?;
    tx.exec_soon(
        "INSERT INTO messages (
            ws, id, conversation, mailbox, serial, at, counted_at, direction, status, header_id,
            header_key, answers, from_name, from_email, to_list, cc_list, bcc_list, subject, text, attachments, raw_hash,
            withheld, author, summary, revision, edited, request, sends_at, has_html,
            authentication, markdown, forwards, secure, content_hash
         ) VALUES (
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
            ?20, ?21, ?22, ?23, ?24, 1, FALSE, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32
         )",
        &[
            &cx.actor.ws,
            &message.id,
            &conversation.id,
            &conversation.mailbox,
            &serial,
            &message.at,
            &message.counted_at,
            &message.direction,
            &message.status,
            &message.header_id,
            &message.header_key.map_or_else(|| header_key(message.header_id), Cow::Borrowed),
            &Json(message.answers),
            &message.from.name,
            &message.from.email,
            &Json(&message.recipients.to),
            &Json(&message.recipients.cc),
            &Json(&message.recipients.bcc),
            &message.subject,
            &message.text,
            &Json(&message.attachments),
            &message.raw_hash,
            &message.withheld,
            &message.author,
            &message.summary,
            &message.request,
            &message.sends_at,
            &message.has_html,
            &message.authentication.map(Json),
            &message.markdown,
            &message.forwards,
            &message.secure,
            &message.content_hash,
        ],
    )?;
    usage::add_held(tx, cx.actor.ws, UsageKind::Messages, message.id.as_str(), 1)?;
    Ok(serial)
}

/// The message of an inbox that has this Message-ID, and its conversation; of several, the one that came
/// first.
pub fn with_header_id(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    header_id: &str,
) -> Result<Option<(ConversationId, MessageId)>> {
    Ok(tx.opt(
        "SELECT conversation, id FROM messages WHERE ws = ?1 AND mailbox = ?2 AND header_key = ?3",
        &[&ws, mailbox, &header_key(header_id)],
    )?)
}

/// The conversations of the messages of an inbox that have this Message-ID, the newest message first.
/// None where more have it than a person could have sent: it names nothing then.
pub fn conversations_with_header_id(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    header_id: &str,
) -> Result<Vec<ConversationId>> {
    // No Message-ID has a space in it, so the range is the key itself and what begins with it and a space.
    let key = header_key(header_id);
    let mut named: Vec<(ConversationId, i64)> = tx.all(
        "SELECT conversation, at FROM messages
         WHERE ws = ?1 AND mailbox = ?2 AND header_key >= ?3 AND header_key < ?4 LIMIT ?5",
        &[&ws, mailbox, &key, &format!("{key}!"), &(HEADER_ID_BEARERS + 1)],
    )?;
    if named.len() as i64 > HEADER_ID_BEARERS {
        return Ok(Vec::new());
    }
    named.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    let mut conversations: Vec<ConversationId> = Vec::new();
    for (conversation, _) in named {
        if !conversations.contains(&conversation) {
            conversations.push(conversation);
        }
    }
    Ok(conversations)
}

/// What a mail is looked up by that has the Message-ID of another.
pub fn header_key_apart(header_id: &str, content_hash: &str) -> String {
    format!("{} {content_hash}", header_key(header_id))
}

/// A Message-ID as it is looked up: itself, or its hash where it is too long for an index.
pub fn header_key(header_id: &str) -> Cow<'_, str> {
    if header_id.len() <= HEADER_KEY_BYTES {
        return Cow::Borrowed(header_id);
    }
    let hash = Sha256::digest(header_id);
    Cow::Owned(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A message of ours that the actor may see, with its conversation.
pub fn load_outgoing(
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: &MessageId,
) -> Result<(OutgoingMessage, Conversation)> {
    let message: Option<OutgoingMessage> = tx.opt(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.id = ?2 AND m.status IS NOT NULL AND m.discarded_at IS NULL",
            OutgoingMessage::COLUMNS
        ),
        &[&actor.ws, id],
    )?;
    let message = message.ok_or(Error::NotFound("message"))?;
    let conversation = conversations::load(tx, actor, message.conversation.as_str())
        .map_err(|_| Error::NotFound("message"))?;
    Ok((message, conversation))
}

/// True for a message whose words are kept on a secure page.
pub fn is_secure(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<bool> {
    let (secure,): (bool,) =
        tx.one("SELECT secure FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    Ok(secure)
}

/// Sets a draft's recipients, as a person gives them. With others than before it is a draft that a person
/// edited, which the answer says.
pub fn address(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    recipients: &RecipientList,
) -> Result<bool> {
    let before = recipients::of_message(tx, cx.actor.ws, id)?;
    let edited = !before.has_addresses_of(recipients);
    let RecipientList { to, cc, bcc } = recipients;
    tx.exec_soon(
        "UPDATE messages
         SET to_list = ?3, cc_list = ?4, bcc_list = ?5, edited = (edited OR ?6)
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &Json(to), &Json(cc), &Json(bcc), &edited],
    )?;
    search_index::draft(tx, cx, id)?;
    Ok(edited)
}

/// True when a server takes the mail of this conversation. Otherwise a person is refused, and what an
/// agent sends waits for a server, as the API promises.
pub fn can_leave(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<bool> {
    Ok(cx.has_relay
        || conversation.circle.is_sandbox()
        || outgoing_servers::carries(tx, cx.actor.ws, &conversation.mailbox)?)
}

/// The words of a message as its row keeps them. Those of a secure one are sealed apart.
pub fn kept_words(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    written: WrittenText,
) -> Result<WrittenText> {
    if !message.secure {
        return Ok(written);
    }
    let content = secure::load(tx, cx, &message.id)?;
    let WrittenText { text, markdown } = written;
    secure::replace(tx, cx, &message.id, &ProtectedContent { text, markdown, ..content })?;
    Ok(WrittenText { text: PROTECTED.to_owned(), markdown: None })
}

/// A message with its words, for somebody who may read them.
pub fn with_words(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: OutgoingMessage,
) -> Result<OutgoingMessage> {
    if !message.secure {
        return Ok(message);
    }
    let ProtectedContent { text, markdown, .. } = secure::load(tx, cx, &message.id)?;
    Ok(OutgoingMessage { text, markdown, ..message })
}

/// Marks received mail that no person wrote.
pub fn mark_auto_reply(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<()> {
    tx.exec_soon("UPDATE messages SET auto_reply = TRUE WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    Ok(())
}

/// Marks received mail that an automatic reply must not answer.
pub fn mark_no_automatic_reply(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET no_automatic_reply = TRUE WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    Ok(())
}

/// Records that a message has gone out: it counts in the list, and it is the customer's turn.
pub fn mark_sent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    let moved = tx.exec(
        "UPDATE messages SET status = 'sent', sends_at = NULL, at = ?3, counted_at = ?3,
            held_at = NULL, lease_until = NULL, outcome_code = NULL, outcome_text = NULL
         WHERE ws = ?1 AND id = ?2 AND status IN ('scheduled', 'sending')",
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if moved == 0 {
        return Err(Error::NotFound("scheduled message"));
    }
    let (automatic,): (bool,) = tx.one(
        "SELECT automatic FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    if !automatic {
        count_sent(tx, cx, conversation, message)?;
    }
    let counted = CountedMail {
        at: cx.now,
        direction: Direction::Outbound,
        automatic,
        text: &message.text,
        secure_answer: None,
        sorts: false,
    };
    counted_mail::count_mail(tx, cx, conversation, &counted)?;
    let recipients = recipients::of_message(tx, cx.actor.ws, &message.id)?;
    let evidence = evidence_of(tx, cx, message, automatic)?;
    for party in recipients.everybody() {
        // Whoever gets automatic mail may have done no more than write.
        if !automatic {
            correspondents::note(tx, cx, &conversation.circle, &party.email)?;
        }
        contacts::note(tx, cx, &conversation.circle, party, evidence)?;
        recipients::add_participant(tx, cx.actor.ws, &conversation.id, &party.address())?;
    }
    search_index::index_sent(tx, cx.actor.ws, &message.id)?;
    if let Some(request) = &message.request {
        document_requests::note_sent(tx, cx, request)?;
    }
    if !automatic {
        helper_drafts::retire(tx, cx, conversation, Some(&message.id), RetiredBy::Team)?;
    }
    if message.author.is_none() {
        helper_drafts::forget_drafted_text(tx, cx.actor.ws, &message.id)?;
    }
    if message.secure {
        secure::note_sent(tx, cx, &message.id)?;
    }
    // An automatic message and one that is passed on are no replies, so they do not change the turn.
    let is_reply = !automatic && message.forwards.is_none();
    if is_reply && !message.secure && !conversation.circle.is_sandbox() {
        drafting_queue::enqueue(tx, cx, &message.id)?;
    }
    leaving::count(tx, cx.actor.ws, &conversation.id)?;
    if conversation.status == Status::Open && is_reply {
        conversations::set_status(tx, cx, conversation, Status::Waiting)?;
    } else if conversation.view == View::Leaving {
        leaving::refresh_view(tx, cx, conversation)?;
    }
    if is_reply {
        follow_ups::begin(tx, cx, conversation, &message.id)?;
    }
    let event = MessageSent {
        conversation_id: &conversation.id,
        message_id: &message.id,
        mailbox_id: &message.mailbox,
        author: message.author.as_deref().map(EventAuthor::of),
        secure: message.secure || message.leads_to.is_some(),
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// What a message that left says about its recipients: a person who wrote or approved it trusts them,
/// an agent of its own accord does not.
fn evidence_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    automatic: bool,
) -> Result<ContactEvidence> {
    if automatic {
        return Ok(ContactEvidence::Unproven);
    }
    let (approved,): (Option<DraftFate>,) = tx.one(
        "SELECT approved FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    let author = message.author.as_deref().and_then(MemberId::parse);
    let by_person = approved.is_some() || !matches!(author, Some(MemberId::Agent(_)));
    Ok(ContactEvidence::Team(match by_person {
        true => ContactStanding::Trusted,
        false => ContactStanding::Written,
    }))
}

/// Counts a message that left for reports: who wrote it, how soon it came, what became of the draft, and
/// the documents that it asks for.
fn count_sent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    if message.forwards.is_none() {
        note_answer(tx, cx, conversation, cx.now)?;
    }
    let place = &conversation.report_place();
    let author = message.author.as_deref();
    let author = helper_drafts::counted_author(tx, cx.actor.ws, &message.id, author)?;
    report_facts::count_sent(tx, cx, place, author.as_deref().unwrap_or_default(), cx.now)?;
    let (approved,): (Option<DraftFate>,) = tx.one(
        "SELECT approved FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    if approved.is_some() {
        report_facts::count_draft(tx, cx, place, author.as_deref(), approved)?;
    }
    if let Some(request) = &message.request {
        let asked = report_facts::asked_for(tx, cx.actor.ws, request)?;
        report_facts::count(tx, cx, place, ReportMeasure::DocumentsAsked, "", cx.now, asked)?;
    }
    Ok(())
}

/// Takes a scheduled message back; it is a draft again.
pub fn stop(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    let stopped = tx.exec(
        "UPDATE messages SET status = 'draft', sends_at = NULL, held_at = NULL, approved = NULL,
            revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'scheduled'",
        &[&cx.actor.ws, &message.id],
    )?;
    if stopped == 0 {
        let sentence = match message.status {
            MessageStatus::Draft => "is a draft and does not leave on its own",
            _ => "has left already and cannot be stopped",
        };
        return Err(Error::invalid("message", sentence));
    }
    conversations::note_drafts(tx, cx, conversation)?;
    if message.author.is_none() {
        helper_drafts::reopen(tx, cx, conversation, &message.id, message.serial)?;
    }
    let undone = TimelineEvent::Undone { message_id: message.id.clone() };
    timeline::record(tx, cx, &conversation.id, &undone)?;
    leaving::note(tx, cx.actor.ws, &conversation.id)?;
    send_effects::take_back(tx, cx, &conversation.id, &message.id)
}

/// The name of the mail's own bytes, where they were kept.
pub fn raw_hash(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    id: &MessageId,
) -> Result<Option<String>> {
    let found: Option<(Option<String>,)> = tx.opt(
        "SELECT raw_hash FROM messages WHERE ws = ?1 AND id = ?2 AND conversation = ?3",
        &[&ws, id, conversation],
    )?;
    Ok(found.and_then(|(hash,)| hash))
}
