//! Writing to a customer: a draft for a person to approve, or a message that is sent after the undo
//! window.

use base::actor::Principal;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{MessageId, RequestId};
use base::states::{Direction, MessageStatus};
use base::string_enum::string_enum;
use base::time::Moment;
use bookings::offers::{self, CheckedOffer};
use db::Tx;
use mail::AutoSubmission;
use model::conversations::agent_acts::{self, AgentActKind};
use model::conversations::follow_ups;
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, Conversation, NewConversation};
use model::documents::document_requests::{self, RequestedDocument};
use model::figures::report_facts;
use model::guests::secure::{self, PROTECTED, ProtectedContent, ProtectedFile, SecureSendOptions};
use model::indexing::search_index;
use model::installation::mail_secret;
use model::mailboxes::{self, Mailbox};
use model::messages::draft_outcomes::{self, DraftOutcome};
use model::messages::helper_drafts;
use model::messages::recipients::{Party, RecipientList};
use model::messages::written_text::WrittenText;
use model::people::agent_limits::unusual::{self, JudgedMessage};
use model::people::agent_limits::words::{MessageWords, words_of_message};
use model::people::agent_limits::{self, PolicyNote};
use model::people::notifications::facts::{self, NoticeKind};
use model::webhooks::events::{self, DraftWaiting, EventActor};

use crate::messages::{self, NewMessage, OutgoingMessage};
use crate::scheduling::{self, MessageTimes, WriterKind};

/// Other open drafts that the result of a reply lists.
const LISTED_DRAFTS: i64 = 20;

string_enum! {
    /// `draft` waits for a person's approval; `scheduled` goes out on its own.
    ReplyStatus { Draft = "draft", Scheduled = "scheduled" }
}

/// The result of a reply.
pub struct ReplyResult {
    pub message_id: MessageId,
    pub status: ReplyStatus,
    /// When it leaves, after the undo window.
    pub sends_at: Option<Moment>,
    /// The document request that goes with it.
    pub request_id: Option<RequestId>,
    /// A sentence on what happens next.
    pub note: String,
    /// The other drafts of the conversation that wait for a person.
    pub other_drafts: Vec<MessageId>,
    /// Why it is a draft although it was to be sent.
    pub policy: Option<PolicyNote>,
}

/// The input of a new message.
#[derive(Default)]
pub struct DraftContent<'a> {
    pub recipients: RecipientList,
    pub text: &'a str,
    pub summary: Option<&'a str>,
    pub documents: &'a [RequestedDocument],
    pub due_date: Option<&'a str>,
    /// The Markdown that the text was made from; `None` for plain text.
    pub markdown: Option<&'a str>,
    /// The message that it passes on.
    pub forwards: Option<&'a MessageId>,
    /// Whether the words are kept on a page, as far as the writer has said.
    pub secure: SecureSendOptions,
    /// Files of a secure message, sealed already.
    pub files: Vec<ProtectedFile>,
    /// Times to pick from, whose links stand under the text.
    pub offer: Option<CheckedOffer>,
    pub times: MessageTimes,
}

impl DraftContent<'_> {
    /// All that the recipients will read.
    fn words(&self, conversation: &Conversation) -> MessageWords {
        let asked = self.documents.iter().map(RequestedDocument::words);
        words_of_message(conversation, self.text, asked)
    }

    fn content(&self) -> WrittenText {
        WrittenText { text: self.text.to_owned(), markdown: self.markdown.map(str::to_owned) }
    }
}

/// Writes a draft; nothing reaches the customer before a person approves it.
pub fn keep_as_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &DraftContent<'_>,
) -> Result<ReplyResult> {
    if draft.times.leaves_at.is_some() {
        let sentence = "needs send, because a draft leaves once a person approves it";
        return Err(Error::invalid("sendAt", sentence));
    }
    let words = draft.words(conversation);
    let judged = judge_content(tx, cx, conversation, draft, &words)?;
    wait_for_person(tx, cx, conversation, draft, &judged, None)
}

/// A message as its writer's limits see it.
fn judge_content<'a>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &'a DraftContent<'_>,
    words: &'a MessageWords,
) -> Result<JudgedMessage<'a>> {
    Ok(JudgedMessage {
        recipients: &draft.recipients,
        words,
        has_files: !draft.files.is_empty() || draft.forwards.is_some(),
        is_secure: secure::days_of(tx, cx, conversation, draft.secure)?.is_some(),
        summary: draft.summary,
    })
}

/// Writes a draft that its writer's limits allow; `policy` says why, where it was to be sent.
fn wait_for_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &DraftContent<'_>,
    judged: &JudgedMessage<'_>,
    policy: Option<PolicyNote>,
) -> Result<ReplyResult> {
    agent_limits::messages::admit_draft(tx, cx, conversation, judged)?;
    draft.times.check_follow_up(cx, cx.now)?;
    let other_drafts = waiting_drafts(tx, cx, conversation)?;
    let message = write(tx, cx, conversation, draft)?;
    unusual::note_of_draft(tx, cx, conversation, &message.id, judged)?;
    agent_limits::messages::count_draft(tx, cx, conversation, &message.id)?;
    conversations::note_drafts(tx, cx, conversation)?;
    agent_acts::note_made(tx, cx, AgentActKind::Wrote, &conversation.id, message.id.as_str())?;
    let (place, assignee) = (conversation.notice_place(), conversation.assignee.as_ref());
    facts::note_for_team(tx, cx, place, NoticeKind::DraftWaits, assignee)?;
    let event = DraftWaiting {
        conversation_id: &conversation.id,
        message_id: &message.id,
        drafted_by: EventActor::of(cx.actor),
    };
    events::record(tx, cx, &conversation.circle, &event)?;
    Ok(ReplyResult {
        message_id: message.id,
        status: ReplyStatus::Draft,
        sends_at: None,
        request_id: message.request,
        note: "Waits for a person to approve it.".into(),
        other_drafts,
        policy,
    })
}

/// Writes a message that is sent after the undo window, or later, unless it is stopped. What the policy of
/// an agent does not let leave waits as a draft.
pub fn send(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &DraftContent<'_>,
) -> Result<ReplyResult> {
    scheduling::must_not_wait_with_offer(draft.times, draft.offer.is_some())?;
    let leaves_at = draft.times.departure(tx, cx, conversation, WriterKind::Person)?;
    let words = draft.words(conversation);
    let judged = judge_content(tx, cx, conversation, draft, &words)?;
    let policy = agent_limits::messages::judge_sending(tx, cx, conversation, &judged, leaves_at)?;
    if let Some(note) = policy {
        return wait_for_person(tx, cx, conversation, draft, &judged, Some(note));
    }
    draft.times.check_follow_up(cx, leaves_at)?;
    let other_drafts = waiting_drafts(tx, cx, conversation)?;
    let message = write(tx, cx, conversation, draft)?;
    unusual::note_of_draft(tx, cx, conversation, &message.id, &judged)?;
    let recipients = &draft.recipients;
    agent_limits::messages::count_message(tx, cx, conversation, &message.id, recipients)?;
    agent_acts::note_made(tx, cx, AgentActKind::Wrote, &conversation.id, message.id.as_str())?;
    let written = draft.content();
    scheduling::schedule_at(tx, cx, conversation, &message, &written, leaves_at)?;
    let sends_at = Moment(leaves_at);
    let day = match draft.times.leaves_at {
        Some(_) => format!("on {} ", sends_at.day()),
        None => String::new(),
    };
    Ok(ReplyResult {
        message_id: message.id,
        status: ReplyStatus::Scheduled,
        sends_at: Some(sends_at),
        request_id: message.request,
        note: match messages::can_leave(tx, cx, conversation)? {
            true => {
                format!("Leaves {day}at {} UTC unless someone stops it.", sends_at.clock_time())
            }
            false => "Waits until an owner or admin sets up a server for outgoing mail.".into(),
        },
        other_drafts,
        policy: None,
    })
}

/// Starts the conversation of a first mail to a customer. The turn event is recorded when the mail
/// was sent.
pub fn begin_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    subject: &str,
    recipients: &RecipientList,
) -> Result<Conversation> {
    let contact = match (recipients.problem(), recipients.to.first()) {
        (None, Some(contact)) => contact,
        (problem, _) => return Err(Error::invalid("to", problem.unwrap_or_default())),
    };
    let conversation = conversations::begin(
        tx,
        cx,
        &NewConversation {
            circle: &mailbox.circle,
            mailbox: &mailbox.id,
            subject,
            contact_name: contact.name.as_deref(),
            contact_email: &contact.email,
            reference: None,
            listed_at: cx.now,
        },
    )?;
    conversations::announce_beginning(tx, cx, &conversation)?;
    Ok(conversation)
}

/// Refuses when another draft of the conversation waits for a person, so that two agents do not
/// draft the same answer.
pub fn must_be_only_draft(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    match waiting_drafts(tx, cx, conversation)?.first() {
        None => Ok(()),
        Some(draft) => Err(Error::Conflict(format!(
            "The draft {draft} already waits in this conversation; nothing was written."
        ))),
    }
}

/// Takes a draft out of the queue and the timeline.
pub fn discard(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &OutgoingMessage,
    reason: &str,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET discarded_at = ?3 WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, &draft.id, &cx.now],
    )?;
    search_index::draft(tx, cx, &draft.id)?;
    conversations::note_drafts(tx, cx, conversation)?;
    if draft.secure {
        secure::forget(tx, cx, &draft.id)?;
    }
    if draft.author.is_none() {
        draft_outcomes::note(tx, cx, &draft.id, DraftOutcome::Discarded, 0.0)?;
    }
    if matches!(cx.actor.who, Principal::Person { .. }) {
        let (ws, author) = (cx.actor.ws, draft.author.as_deref());
        let author = helper_drafts::counted_author(tx, ws, &draft.id, author)?;
        let place = &conversation.report_place();
        report_facts::count_draft(tx, cx, place, author.as_deref(), None)?;
    }
    let discarded =
        TimelineEvent::Discarded { message_id: draft.id.clone(), reason: reason.to_owned() };
    timeline::record(tx, cx, &conversation.id, &discarded)
}

/// The drafts of a conversation that wait for a person, the oldest first.
pub(crate) fn waiting_drafts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<MessageId>> {
    let waiting: Vec<(MessageId,)> = tx.all(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND status = 'draft' AND discarded_at IS NULL
         ORDER BY at, id LIMIT ?3",
        &[&cx.actor.ws, &conversation.id, &LISTED_DRAFTS],
    )?;
    Ok(waiting.into_iter().map(|(id,)| id).collect())
}

/// A mail of the service itself to a customer.
pub struct Automatic<'a> {
    pub text: &'a str,
    /// In whose name it is written.
    pub from_name: Option<String>,
    /// The recipients, as a message's row keeps them.
    pub to: &'a str,
    /// The unsubscribe link.
    pub unsubscribe: Option<&'a str>,
    /// The secure message that it leads to.
    pub leads_to: Option<&'a MessageId>,
    pub submission: AutoSubmission,
}

/// Writes a mail that no person or agent wrote; it leaves at once.
pub fn send_automatic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    automatic: &Automatic<'_>,
) -> Result<MessageId> {
    let draft = DraftContent {
        recipients: RecipientList::contact(conversation),
        text: automatic.text,
        secure: SecureSendOptions { secure: Some(false), days: None },
        ..DraftContent::default()
    };
    let message = write_row(tx, cx, conversation, &draft, None)?;
    if mailboxes::is_deleted(tx, cx.actor.ws, &conversation.mailbox)? {
        return Ok(message.id);
    }
    tx.exec_soon(
        "UPDATE messages SET status = 'scheduled', sends_at = ?3, from_name = ?4, to_list = ?5,
            automatic = TRUE, unsubscribe = ?6, leads_to = ?7, auto_replied = ?8
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            &message.id,
            &cx.now,
            &automatic.from_name,
            &automatic.to,
            &automatic.unsubscribe,
            &automatic.leads_to,
            &(automatic.submission == AutoSubmission::Replied),
        ],
    )?;
    tx.wake(Queue::Messages);
    Ok(message.id)
}

/// The draft, and apart from it the words of a secure one.
fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &DraftContent<'_>,
) -> Result<OutgoingMessage> {
    let ws = cx.actor.ws;
    let days = secure::days_of(tx, cx, conversation, draft.secure)?;
    if days.is_some() && draft.forwards.is_some() {
        return Err(Error::invalid("secure", "a message that is passed on cannot be protected"));
    }
    let message = write_row(tx, cx, conversation, draft, days)?;
    if let Some(days) = days {
        let content = ProtectedContent {
            text: draft.text.to_owned(),
            markdown: draft.markdown.map(str::to_owned),
            summary: draft.summary.map(str::to_owned),
            files: draft.files.clone(),
        };
        secure::insert(tx, cx, (&conversation.id, &message.id), &content, days)?;
    }
    search_index::new_draft(tx, ws, &message.id)?;
    Ok(message)
}

/// The draft's row, with its document request. Its Message-ID is fixed here, before any try to
/// send it.
fn write_row(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &DraftContent<'_>,
    secure_days: Option<i64>,
) -> Result<OutgoingMessage> {
    let ws = cx.actor.ws;
    let is_secure = secure_days.is_some();
    let shown = |words| if is_secure { None } else { words };
    let text = if is_secure { PROTECTED } else { draft.text };
    let id = MessageId::new(cx.ids, cx.now);
    let request = match draft.documents {
        [] => None,
        items => {
            Some(document_requests::create(tx, cx, &conversation.id, &id, items, draft.due_date)?)
        }
    };
    let (address,): (EmailAddress,) = tx.one(
        "SELECT address FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation.mailbox],
    )?;
    let secret = mail_secret::mail_secret(tx, cx)?;
    let header_id =
        mail::signed_message_id(secret.as_bytes(), id.as_str(), address.message_id_domain());
    let subject = match draft.forwards {
        Some(_) => forward_subject(&conversation.subject),
        None => subject_of_next(tx, ws, conversation)?,
    };
    let author = cx.actor.member();
    let author = author.as_ref().map(|author| author.as_str());
    let message = NewMessage {
        id: id.clone(),
        direction: Direction::Outbound,
        status: Some(MessageStatus::Draft),
        at: cx.now,
        counted_at: None,
        header_id: &header_id,
        header_key: None,
        answers: &ancestors(tx, ws, conversation)?,
        from: Party { name: Some(cx.actor.name().to_owned()), email: address.into() },
        recipients: draft.recipients.clone(),
        subject: &subject,
        text,
        attachments: Vec::new(),
        raw_hash: None,
        content_hash: None,
        authentication: None,
        has_html: false,
        withheld: None,
        author,
        summary: shown(draft.summary),
        request: request.as_ref(),
        sends_at: None,
        markdown: shown(draft.markdown),
        forwards: draft.forwards,
        secure: is_secure,
    };
    let serial = messages::insert(tx, cx, conversation, &message)?;
    if let Some(offer) = &draft.offer {
        let guest = draft.recipients.to.first();
        offers::create(tx, cx, conversation, &id, guest, offer)?;
    }
    if let Some(at) = draft.times.follow_up_at {
        follow_ups::keep(tx, ws, &id, at)?;
    }
    Ok(OutgoingMessage {
        id,
        conversation: conversation.id.clone(),
        mailbox: conversation.mailbox.clone(),
        serial,
        status: MessageStatus::Draft,
        text: text.to_owned(),
        author: author.map(str::to_owned),
        revision: 1,
        edited: false,
        request,
        subject,
        markdown: shown(draft.markdown).map(str::to_owned),
        forwards: draft.forwards.cloned(),
        secure: is_secure,
        leads_to: None,
    })
}

/// The Message-ID for In-Reply-To: that of the latest received mail.
fn ancestors(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<Vec<String>> {
    let latest: Option<(String,)> = tx.opt(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound'
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&ws, &conversation.id],
    )?;
    Ok(latest.into_iter().map(|(header_id,)| header_id).collect())
}

/// The subject of the next message: with `Re:`, unless it is the first mail.
fn subject_of_next(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<String> {
    let earlier: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL LIMIT 1",
        &[&ws, &conversation.id],
    )?;
    Ok(match earlier {
        Some(_) => reply_subject(&conversation.subject),
        None => conversation.subject.clone(),
    })
}

fn reply_subject(subject: &str) -> String {
    let is_reply = subject.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:"));
    if is_reply { subject.to_owned() } else { format!("Re: {subject}").trim_end().to_owned() }
}

fn forward_subject(subject: &str) -> String {
    let is_forward = subject.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("fwd:"));
    if is_forward { subject.to_owned() } else { format!("Fwd: {subject}").trim_end().to_owned() }
}
