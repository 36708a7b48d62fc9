//! Turning a mail into a conversation. SMTP, IMAP and the sandbox all end here.

use db::Tx;
use mail::{Dmarc, Kind, Mail};
use serde_json::json;

use crate::app::Cx;
use crate::blobs::{self, Blob};
use crate::conversations::{self, Beginning, Conversation};
use crate::documents::{self, NewDocument};
use crate::error::{Error, Result};
use crate::events::{self, Event};
use crate::ids::{ConversationId, MessageId};
use crate::limits::{ANSWERS_LOOKED_UP, RISK_REASONS, SUBJECT_THREAD_MS};
use crate::mailboxes::Mailbox;
use crate::messages::{self, NewMessage, Party};
use crate::timeline::{self, WokenBy};
use crate::wire::{AttachmentInfo, Direction, Status};
use crate::words::words;
use crate::{app_mail, search, secrets};

/// A mail and the durable bytes it is made of.
pub struct Incoming {
    pub mail: Mail,
    /// The mail as it came, when it came over a wire.
    pub raw: Option<Blob>,
    /// One for each of the mail's attachments.
    pub attachments: Vec<Blob>,
    /// The conversation it goes on with, where that is known without asking the mail.
    pub joins: Option<ConversationId>,
}

/// Where a mail ended up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub conversation: ConversationId,
    pub message: MessageId,
}

/// Files a mail in the inbox it was delivered to, in one transaction: seen before? thread,
/// message, documents, reopen, events.
pub fn receive(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &Incoming,
) -> Result<Received> {
    let mail = &incoming.mail;
    let id = MessageId::new(cx.ids, cx.now);
    let header_id = header_id(incoming).unwrap_or_else(|| format!("{id}@{NO_MESSAGE_ID}"));
    if let Some(seen) = seen_before(tx, cx, mailbox, &header_id)? {
        return Ok(seen);
    }
    let reference = reference_written_to(mailbox, mail);
    let thread = match &incoming.joins {
        Some(conversation) => joined(tx, cx, mailbox, mail, conversation, reference)?,
        None => find_thread(tx, cx, mailbox, mail, reference.as_deref())?,
    };
    let begins = thread.joins.is_none();
    let answers_app_mail = thread.reference.is_some() || thread.app_mail.is_some();
    let mut conversation = match thread.joins {
        Some(conversation) => conversation,
        None => conversations::begin(
            tx,
            cx,
            &Beginning {
                circle: &mailbox.circle,
                mailbox: &mailbox.id,
                subject: &mail.subject,
                contact_name: mail.from.name.as_deref(),
                contact_email: &mail.from.email,
                reference: thread.reference.as_deref(),
            },
        )?,
    };
    if conversation.reference.is_none() && thread.reference.is_some() {
        give_reference(tx, cx, &mut conversation, thread.reference)?;
    }
    if let Some(header_id) = &thread.app_mail {
        let livemode = !mailbox.circle.is_sandbox();
        app_mail::answered_by(tx, cx.actor.ws, livemode, header_id, &conversation.id, cx.now)?;
    }
    let news = News::of(mail, begins, answers_app_mail);
    let suspicious = mail.warning.as_ref().is_some_and(|warning| warning.hold);
    let held = suspicious || conversation.held;
    let filing = Filing { id: &id, header_id: &header_id, withheld: held.then_some(news) };
    write_message(tx, cx, mailbox, &conversation, incoming, &filing)?;
    conversations::count_mail(tx, cx, &mut conversation, &mail.text)?;
    warn(tx, cx, &mut conversation, mail)?;
    match (held, conversation.held) {
        (true, false) => hold(tx, cx, &conversation)?,
        (true, true) => {}
        (false, _) => announce(tx, cx, &mut conversation, &id, news)?,
    }
    Ok(Received { conversation: conversation.id, message: id })
}

/// The reference in the plus tag of any recipient that is this inbox.
fn reference_written_to(mailbox: &Mailbox, mail: &Mail) -> Option<String> {
    let listed = mail.to.iter().chain(&mail.cc).map(|address| &address.email);
    let tags = std::iter::once(&mail.delivered_to).chain(listed).map(|email| mail::plus_tag(email));
    tags.filter(|(base, _)| *base == mailbox.address).find_map(|(_, reference)| reference)
}

/// What a mail without a Message-ID is called behind the `@`.
const NO_MESSAGE_ID: &str = "no-message-id";

/// A mail without a Message-ID is known by its bytes, so that it is still stored only once.
fn header_id(incoming: &Incoming) -> Option<String> {
    let by_bytes = || Some(format!("{}@{NO_MESSAGE_ID}", incoming.raw.as_ref()?.hash));
    incoming.mail.message_id.clone().or_else(by_bytes)
}

/// The mail as this inbox has it already.
pub(crate) fn seen(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &Incoming,
) -> Result<Option<Received>> {
    match header_id(incoming) {
        Some(header_id) => seen_before(tx, cx, mailbox, &header_id),
        None => Ok(None),
    }
}

fn seen_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    header_id: &str,
) -> Result<Option<Received>> {
    let found: Option<(ConversationId, MessageId)> = tx.opt(
        "SELECT conversation, id FROM messages WHERE ws = ?1 AND mailbox = ?2 AND header_key = ?3",
        &[&cx.actor.ws, &mailbox.id, &messages::header_key(header_id)],
    )?;
    Ok(found.map(|(conversation, message)| Received { conversation, message }))
}

/// Where a mail belongs.
#[derive(Default)]
struct Thread {
    /// The conversation it goes on with; `None` begins a new one.
    joins: Option<Conversation>,
    reference: Option<String>,
    /// The recorded app mail that it answers.
    app_mail: Option<String>,
}

/// A simulated reply goes where it is meant to go; it may answer recorded app mail all the same.
fn joined(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    conversation: &ConversationId,
    reference: Option<String>,
) -> Result<Thread> {
    let answered = answered_app_mail(tx, cx, mailbox, mail)?;
    let (app_mail, sent_for) =
        answered.map_or((None, None), |thread| (thread.app_mail, thread.reference));
    let joins = in_mailbox(tx, cx, mailbox, conversation)?;
    Ok(Thread { joins, reference: sent_for.or(reference), app_mail })
}

/// The first rule that matches wins: recorded app mail, a message we hold that it names, the same
/// sender and subject. A mail that fails its domain's DMARC joins nothing.
fn find_thread(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    reference: Option<&str>,
) -> Result<Thread> {
    let alone = Thread { reference: reference.map(str::to_owned), ..Thread::default() };
    if mail.dmarc == Dmarc::Fail {
        return Ok(alone);
    }
    if let Some(thread) = answered_app_mail(tx, cx, mailbox, mail)? {
        return Ok(Thread { reference: thread.reference.or(alone.reference), ..thread });
    }
    let joins = match named_conversation(tx, cx, mailbox, mail)? {
        Some(conversation) => Some(conversation),
        None => same_subject(tx, cx, mailbox, mail, reference)?,
    };
    Ok(Thread { joins, ..alone })
}

/// API section 4.13.3: only someone the recorded mail went to, or someone already on its
/// conversation, whose mail passes DMARC.
fn answered_app_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
) -> Result<Option<Thread>> {
    if mail.dmarc != Dmarc::Pass {
        return Ok(None);
    }
    let (ws, livemode) = (cx.actor.ws, !mailbox.circle.is_sandbox());
    for header_id in mail.answers.iter().take(ANSWERS_LOOKED_UP) {
        let Some(sent) = app_mail::find(tx, ws, livemode, header_id, cx.now)? else { continue };
        let joins = match &sent.conversation {
            Some(id) => in_mailbox(tx, cx, mailbox, id)?,
            None => None,
        };
        let on_it = match &joins {
            Some(conversation) => is_participant(tx, ws, &conversation.id, &mail.from.email)?,
            None => false,
        };
        if sent.to.contains(&mail.from.email) || on_it {
            let (reference, app_mail) = (sent.reference, Some(sent.header_id));
            return Ok(Some(Thread { joins, reference, app_mail }));
        }
    }
    Ok(None)
}

/// A message of this inbox that the mail names, if its writer took part in that conversation.
fn named_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
) -> Result<Option<Conversation>> {
    for header_id in mail.answers.iter().take(ANSWERS_LOOKED_UP) {
        let named = match seen_before(tx, cx, mailbox, header_id)? {
            Some(named) => Some(named.conversation),
            None => signed_by_us(tx, cx, header_id)?,
        };
        let Some(named) = named else { continue };
        if is_participant(tx, cx.actor.ws, &named, &mail.from.email)? {
            return in_mailbox(tx, cx, mailbox, &named);
        }
    }
    Ok(None)
}

/// The conversation of our message that a Message-ID carries the mark of, however the rest of it
/// was rewritten on the way.
fn signed_by_us(tx: &mut Tx<'_>, cx: &Cx<'_>, header_id: &str) -> Result<Option<ConversationId>> {
    if !header_id.starts_with("msg.") {
        return Ok(None);
    }
    let secret = secrets::mail_secret(tx, cx)?;
    let Some(message) = mail::message_of_id(secret.as_bytes(), header_id) else { return Ok(None) };
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message],
    )?;
    Ok(found.map(|(conversation,)| conversation))
}

/// A conversation of the same contact with the same base subject and reference, active in the
/// last 30 days. A subject that says nothing joins nothing.
fn same_subject(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    reference: Option<&str>,
) -> Result<Option<Conversation>> {
    let base = conversations::base_subject(&mail.subject);
    if base.is_empty() {
        return Ok(None);
    }
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT id FROM conversations
         WHERE ws = ?1 AND mailbox = ?2 AND contact_email = ?3 AND base_subject = ?4
           AND last_message_at > ?5 AND coalesce(reference, '') = ?6
         ORDER BY last_message_at DESC, id DESC LIMIT 1",
        &[
            &cx.actor.ws,
            &mailbox.id,
            &mail.from.email,
            &base,
            &(cx.now - SUBJECT_THREAD_MS),
            &reference.unwrap_or(""),
        ],
    )?;
    match found {
        Some((id,)) => in_mailbox(tx, cx, mailbox, &id),
        None => Ok(None),
    }
}

fn in_mailbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    id: &ConversationId,
) -> Result<Option<Conversation>> {
    match conversations::load(tx, cx.actor, id.as_str()) {
        Ok(found) => Ok(Some(found).filter(|found| found.mailbox == mailbox.id)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_participant(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    email: &str,
) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT email FROM participants WHERE ws = ?1 AND conversation = ?2 AND email = ?3",
        &[&ws, conversation, &email],
    )?;
    Ok(found.is_some())
}

fn give_reference(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    reference: Option<String>,
) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET reference = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &reference],
    )?;
    conversation.reference = reference;
    Ok(())
}

/// What a mail's row needs beside the mail.
struct Filing<'a> {
    id: &'a MessageId,
    header_id: &'a str,
    withheld: Option<News>,
}

fn write_message(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    conversation: &Conversation,
    incoming: &Incoming,
    filing: &Filing<'_>,
) -> Result<()> {
    let (mail, id) = (&incoming.mail, filing.id);
    if let Some(raw) = &incoming.raw {
        blobs::keep(tx, cx.actor.ws, raw)?;
    }
    let attachments = mail.attachments.iter().map(|file| AttachmentInfo {
        filename: file.filename.clone(),
        content_type: file.content_type.clone(),
        size: file.bytes.len() as i64,
    });
    let serial = messages::insert(
        tx,
        cx,
        conversation,
        &NewMessage {
            id: id.clone(),
            direction: Direction::Inbound,
            status: None,
            counted: true,
            header_id: filing.header_id,
            answers: &mail.answers,
            from: Party::from(&mail.from),
            to: mail.to.iter().map(Party::from).collect(),
            cc: mail.cc.iter().map(Party::from).collect(),
            subject: &mail.subject,
            text: &mail.text,
            attachments: attachments.collect(),
            raw_hash: incoming.raw.as_ref().map(|raw| raw.hash.as_str()),
            withheld: filing.withheld.map(News::word),
            author: None,
            summary: None,
            request: None,
            sends_at: None,
        },
    )?;
    for (file, blob) in mail.attachments.iter().zip(&incoming.attachments) {
        let document = NewDocument {
            message: Some(id),
            filename: &file.filename,
            content_type: &file.content_type,
            blob,
        };
        documents::file(tx, cx, conversation, &document)?;
    }
    let everyone = std::iter::once(&mail.from).chain(&mail.to).chain(&mail.cc);
    for address in everyone.filter(|address| mail::plus_tag(&address.email).0 != mailbox.address) {
        tx.exec(
            "INSERT INTO participants (ws, conversation, email) VALUES (?1, ?2, ?3)
             ON CONFLICT (ws, conversation, email) DO NOTHING",
            &[&cx.actor.ws, &conversation.id, &address.email],
        )?;
    }
    index(tx, cx, conversation, serial, mail)
}

fn index(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    serial: i64,
    mail: &Mail,
) -> Result<()> {
    let mut texts: Vec<&str> = vec![&mail.subject];
    for address in std::iter::once(&mail.from).chain(&mail.to).chain(&mail.cc) {
        texts.extend(address.name.as_deref());
        texts.push(&address.email);
    }
    texts.push(&mail.text);
    search::index_mail(tx, cx.actor.ws, conversation, serial, &texts)
}

fn warn(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation, mail: &Mail) -> Result<()> {
    let Some(warning) = &mail.warning else { return Ok(()) };
    let reasons: Vec<&String> = warning.reasons.iter().take(RISK_REASONS).collect();
    tx.exec(
        "UPDATE conversations SET risk = ?3, risk_reasons = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &warning.risk, &json!(reasons).to_string()],
    )?;
    conversation.risk = Some(warning.risk.clone());
    Ok(())
}

words! {
    /// What a mail means for the outside, told at once or, for held mail, when it is released.
    /// An automatic reply is filed and means nothing else.
    News {
        Nothing = "nothing",
        Begins = "begins",
        BeginsAsReply = "begins-as-reply",
        Reply = "reply",
    }
}

impl News {
    fn of(mail: &Mail, begins: bool, answers_app_mail: bool) -> News {
        match (mail.kind, begins, answers_app_mail) {
            (Kind::AutoReply, true, _) => News::Begins,
            (Kind::AutoReply, false, _) => News::Nothing,
            (Kind::Person, true, true) => News::BeginsAsReply,
            (Kind::Person, true, false) => News::Begins,
            (Kind::Person, false, _) => News::Reply,
        }
    }
}

/// Reopens the conversation and tells what happened.
fn announce(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &MessageId,
    news: News,
) -> Result<()> {
    match news {
        News::Nothing => return Ok(()),
        News::Begins => return conversations::announce_turn(tx, cx, conversation),
        News::BeginsAsReply => conversations::announce_turn(tx, cx, conversation)?,
        News::Reply => {
            conversations::wake(tx, cx, conversation, WokenBy::Customer)?;
            conversations::set_status(tx, cx, conversation, Status::Open)?;
        }
    }
    let event = Event::ClientReplied {
        message,
        mailbox: &conversation.mailbox,
        reference: conversation.reference.as_deref(),
    };
    events::record(tx, cx, conversation.subject_of_events(), &event)
}

fn hold(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET held = TRUE WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    let data = json!({ "risk": conversation.risk });
    timeline::note_event(tx, cx, &conversation.id, "held", data)?;
    events::record(tx, cx, conversation.subject_of_events(), &Event::ScoutHeld)
}

/// Releases a held conversation: what its mail meant is told now.
pub fn release(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    if !conversation.held {
        return Ok(());
    }
    let withheld: Vec<(MessageId, News)> = tx.all(
        "SELECT id, withheld FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND withheld IS NOT NULL ORDER BY at, id",
        &[&cx.actor.ws, &conversation.id],
    )?;
    conversations::end_hold(tx, cx, conversation)?;
    timeline::note_event(tx, cx, &conversation.id, "released", json!({}))?;
    for (message, news) in withheld {
        announce(tx, cx, conversation, &message, news)?;
    }
    Ok(())
}
