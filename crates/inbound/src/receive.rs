//! Turning a mail into a conversation. SMTP, IMAP and the sandbox all end here.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs;
use base::ids::{MemberId, MessageId};
use base::limits::{DAY_MS, NOTICE_RECENT_MS, RISK_REASONS};
use base::states::{ConversationRisk, Direction, Removal, Status};
use base::string_enum::string_enum;
use db::{Json, Tx};
use mail::{AuthorKind, Mail, Warning};
use model::contacts::blocked_senders;
use model::contacts::{self, ContactEvidence, ContactStanding};
use model::conversations::followers;
use model::conversations::leaving;
use model::conversations::sorting;
use model::conversations::targets;
use model::conversations::timeline::{self, RetiredBy, TimelineEvent, WokenBy};
use model::conversations::trash;
use model::conversations::{self, Conversation, NewConversation};
use model::documents::{self, NewDocument};
use model::figures::counted_mail::{self, CountedMail};
use model::figures::report_facts::count_received;
use model::indexing::search_index;
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use model::messages::recipients::{self, Party, RecipientList};
use model::messages::{drafting_queue, helper_drafts};
use model::people::notifications::facts::{self, NoticeKind};
use model::rule_queue;
use model::webhooks::events::{self, ClientReplied, MessageFlagged, ScoutHeld};
use outbound::app_mail;
use outbound::away_reply;
use outbound::messages::{self, NewMessage};
use outbound::removals;
use search::{HAS_FILE, IndexRowKey, IndexedText};

use crate::duplicates::{MailLookup, UnknownMail, look_up};
use crate::incoming_mail::{FiledMail, IncomingMail};
use crate::known_quotes;
use crate::mail_dates::MailDates;
use crate::threading::{find_thread, join};

/// Mail that is fetched later than this gets no draft: it was answered long ago.
const DRAFTED_WITHIN_MS: i64 = DAY_MS;

/// Files a mail in its inbox in one transaction, unless it is a duplicate.
pub fn receive(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
) -> Result<FiledMail> {
    match look_up(tx, cx, mailbox, incoming)? {
        MailLookup::Duplicate(known) => Ok(known.filed),
        MailLookup::Unknown(unknown) => {
            file(tx, cx, mailbox, incoming, &MailDates::live(None, cx.now), unknown)
        }
    }
}

/// Files a mail that the inbox does not have: thread, message, documents, reopen, events.
pub fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
    dates: &MailDates,
    unknown: UnknownMail,
) -> Result<FiledMail> {
    let mail = &incoming.mail;
    let id = unknown.id.clone();
    let reference = reference_written_to(mailbox, mail);
    let thread = match &incoming.joins {
        Some(conversation) => join(tx, cx, mailbox, mail, conversation, reference)?,
        None => find_thread(tx, cx, mailbox, mail, dates.arrived_at, reference.as_deref())?,
    };
    let begins = thread.joins.is_none();
    let answers_app_mail = thread.reference.is_some() || thread.app_mail.is_some();
    let mut conversation = match thread.joins {
        Some(conversation) => conversation,
        None => conversations::begin(
            tx,
            cx,
            &NewConversation {
                circle: &mailbox.circle,
                mailbox: &mailbox.id,
                subject: &mail.subject,
                contact_name: mail.from.name.as_deref(),
                contact_email: &mail.from.email,
                reference: thread.reference.as_deref(),
                listed_at: dates.arrived_at,
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
    let is_spam = goes_to_spam(tx, cx, &mut conversation, mail, begins)?;
    let announcement = match is_spam {
        true => InboundAnnouncement::Nothing,
        false => InboundAnnouncement::of(mail, begins, answers_app_mail),
    };
    let suspicious = mail.warning.as_ref().is_some_and(|warning| warning.hold);
    let held = (suspicious && !is_spam) || conversation.held;
    let withheld = held.then_some(announcement);
    let own_words = match begins {
        true => None,
        false => known_quotes::own_words(tx, cx, &conversation, mail)?,
    };
    let text = own_words.unwrap_or(&mail.text);
    let filing = Filing { unknown: &unknown, dates, withheld, text };
    write_message(tx, cx, mailbox, &conversation, incoming, &filing)?;
    let counted = CountedMail {
        at: dates.arrived_at,
        direction: Direction::Inbound,
        automatic: false,
        secure_answer: (mail.kind == AuthorKind::Person && !held).then_some(false),
        text,
        sorts: !held && !is_spam && mail.kind == AuthorKind::Person && !mailbox.circle.is_sandbox(),
    };
    counted_mail::count_mail(tx, cx, &mut conversation, &counted)?;
    if !held {
        count_received(tx, cx, &conversation.report_place(), dates.arrived_at)?;
    }
    helper_drafts::retire(tx, cx, &conversation, None, RetiredBy::Customer)?;
    if !begins && dates.arrived_at < cx.now {
        conversations::mark_unread(tx, cx, &conversation.id, dates.arrived_at)?;
    }
    warn(tx, cx, &mut conversation, &id, mail.warning.as_ref())?;
    match (held, conversation.held) {
        (true, false) => hold(tx, cx, &conversation)?,
        (true, true) => {}
        (false, _) => announce(tx, cx, &mut conversation, &id, announcement)?,
    }
    let is_recent = dates.arrived_at > cx.now - DRAFTED_WITHIN_MS;
    let is_live = !mailbox.circle.is_sandbox();
    if !held && !is_spam && is_recent && is_live && mail.kind == AuthorKind::Person {
        drafting_queue::enqueue_received(tx, cx, &mailbox.id, &id)?;
    }
    Ok(FiledMail { conversation: conversation.id, message: id })
}

/// True for a blocked sender and for a conversation that is spam already. What was deleted comes back
/// when somebody writes.
fn goes_to_spam(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    mail: &Mail,
    begins: bool,
) -> Result<bool> {
    match conversation.removed {
        Some(Removal::Spam) => return Ok(true),
        Some(Removal::Trash) => trash::set_removed(tx, cx, conversation, None)?,
        None => {}
    }
    let from = &mail.from.email;
    // Somebody else's conversation stays where it is, whoever writes into it.
    let is_theirs = begins || conversation.contact_email == EmailAddress::new(from).as_str();
    let is_blocked =
        is_theirs && blocked_senders::is_blocked(tx, cx.actor.ws, &conversation.circle, from)?;
    if is_blocked {
        removals::set_removed(tx, cx, conversation, Some(Removal::Spam))?;
    }
    Ok(is_blocked)
}

/// The reference in the plus tag of any recipient that is this inbox.
fn reference_written_to(mailbox: &Mailbox, mail: &Mail) -> Option<String> {
    let listed = mail.to.iter().chain(&mail.cc).map(|address| &address.email);
    let all = std::iter::once(&mail.delivered_to).chain(listed);
    let mut own = all.map(|to| EmailAddress::new(to)).filter(|to| to.is_for(&mailbox.address));
    own.find_map(|to| to.reference())
}

fn give_reference(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    reference: Option<String>,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET reference = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &reference],
    )?;
    conversation.reference = reference;
    Ok(())
}

/// The values of a mail's row that are not in the mail.
struct Filing<'a> {
    unknown: &'a UnknownMail,
    dates: &'a MailDates,
    withheld: Option<InboundAnnouncement>,
    /// The writer's own words.
    text: &'a str,
}

fn write_message(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    conversation: &Conversation,
    incoming: &IncomingMail,
    filing: &Filing<'_>,
) -> Result<()> {
    let (mail, id) = (&incoming.mail, &filing.unknown.id);
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
            at: filing.dates.sent_at,
            counted_at: Some(filing.dates.arrived_at),
            header_id: &filing.unknown.header_id,
            header_key: Some(&filing.unknown.header_key),
            answers: &mail.answers,
            from: Party::from(&mail.from),
            recipients: RecipientList {
                to: mail.to.iter().map(Party::from).collect(),
                cc: mail.cc.iter().map(Party::from).collect(),
                bcc: Vec::new(),
            },
            subject: &mail.subject,
            text: filing.text,
            attachments: attachments.collect(),
            has_html: mail.has_html && incoming.raw.is_some(),
            authentication: incoming.authentication,
            raw_hash: incoming.raw.as_ref().map(|raw| raw.hash.as_str()),
            content_hash: Some(&filing.unknown.content_hash),
            withheld: filing.withheld.map(InboundAnnouncement::as_str),
            author: None,
            summary: None,
            request: None,
            sends_at: None,
            markdown: None,
            forwards: None,
            secure: false,
        },
    )?;
    if mail.kind == AuthorKind::AutoReply {
        messages::mark_auto_reply(tx, cx.actor.ws, id)?;
    }
    if mail.no_automatic_reply {
        messages::mark_no_automatic_reply(tx, cx.actor.ws, id)?;
    }
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
    for address in everyone.filter(|one| !EmailAddress::new(&one.email).is_for(&mailbox.address)) {
        recipients::add_participant(tx, cx.actor.ws, &conversation.id, &address.email)?;
    }
    if filing.withheld.is_none() && mail.kind == AuthorKind::Person {
        let evidence = ContactEvidence::of_mail(mail.dmarc);
        contacts::note(tx, cx, &conversation.circle, &Party::from(&mail.from), evidence)?;
    }
    index(tx, cx, conversation, serial, mail, filing.text)
}

/// Makes a mail findable by its subject, people and text, and what it quotes that stands nowhere else.
pub(super) fn index(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    serial: i64,
    mail: &Mail,
    text: &str,
) -> Result<()> {
    fn names(address: &mail::Address) -> impl Iterator<Item = &str> {
        address.name.as_deref().into_iter().chain([address.email.as_str()])
    }
    let place = IndexRowKey { num: conversation.num, conversation: &conversation.id, serial };
    let quoted = search_index::keep_quoted(tx, cx.actor.ws, place, &mail.quoted)?;
    let text = IndexedText {
        subject: &mail.subject,
        from: names(&mail.from).collect(),
        to: mail.to.iter().chain(&mail.cc).flat_map(names).collect(),
        text,
        quoted: &quoted,
        files: mail.attachments.iter().map(|file| file.filename.as_str()).collect(),
        has: if mail.attachments.is_empty() { Vec::new() } else { vec![HAS_FILE] },
    };
    search::index_mail(tx, cx.actor.ws, place, &text)
}

/// Marks a conversation with what the scam check found in a message, and tells webhooks that chose it.
pub(super) fn warn(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &MessageId,
    warning: Option<&Warning>,
) -> Result<()> {
    let Some(warning) = warning else { return Ok(()) };
    let risk = ConversationRisk::from(warning.risk);
    let reasons: Vec<&String> = warning.reasons.iter().take(RISK_REASONS).collect();
    tx.exec_soon(
        "UPDATE conversations SET risk = ?3, risk_reasons = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &risk, &Json(reasons)],
    )?;
    conversation.risk = Some(risk);
    // Nobody is told of spam.
    if conversation.removed == Some(Removal::Spam) {
        return Ok(());
    }
    let kinds: Vec<ConversationRisk> = warning.risks().into_iter().map(Into::into).collect();
    let event =
        MessageFlagged { conversation_id: &conversation.id, message_id: message, kinds: &kinds };
    events::record(tx, cx, &conversation.circle, &event)
}

string_enum! {
    /// The events that a mail causes, recorded at once or, for held mail, on release. An automatic
    /// reply to a conversation causes none.
    InboundAnnouncement {
        Nothing = "nothing",
        Begins = "begins",
        BeginsAsReply = "begins-as-reply",
        Reply = "reply",
    }
}

impl InboundAnnouncement {
    fn of(mail: &Mail, begins: bool, answers_app_mail: bool) -> InboundAnnouncement {
        match (mail.kind, begins, answers_app_mail) {
            (AuthorKind::AutoReply, true, _) => InboundAnnouncement::Begins,
            (AuthorKind::AutoReply, false, _) => InboundAnnouncement::Nothing,
            (AuthorKind::Person, true, true) => InboundAnnouncement::BeginsAsReply,
            (AuthorKind::Person, true, false) => InboundAnnouncement::Begins,
            (AuthorKind::Person, false, _) => InboundAnnouncement::Reply,
        }
    }
}

/// Reopens the conversation and records the events.
pub(super) fn announce(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &MessageId,
    announcement: InboundAnnouncement,
) -> Result<()> {
    // Nobody is told of spam, its sender least of all.
    if conversation.removed == Some(Removal::Spam) {
        return Ok(());
    }
    let begins =
        matches!(announcement, InboundAnnouncement::Begins | InboundAnnouncement::BeginsAsReply);
    rule_queue::enqueue_mail(tx, cx, conversation, message, begins)?;
    away_reply::reply_if_closed(tx, cx, conversation, message)?;
    match announcement {
        InboundAnnouncement::Nothing => return Ok(()),
        InboundAnnouncement::Begins => {
            targets::refresh(tx, cx, &conversation.id)?;
            tell_people(tx, cx, conversation, message, NoticeKind::NewConversation)?;
            return announce_beginning(tx, cx, conversation);
        }
        InboundAnnouncement::BeginsAsReply => {
            tell_people(tx, cx, conversation, message, NoticeKind::NewConversation)?;
            announce_beginning(tx, cx, conversation)?;
        }
        InboundAnnouncement::Reply => {
            conversations::wake(tx, cx, conversation, WokenBy::Customer)?;
            leaving::end(tx, cx, conversation)?;
            conversations::set_status(tx, cx, conversation, Status::Open)?;
            tell_people(tx, cx, conversation, message, NoticeKind::Reply)?;
        }
    }
    targets::refresh(tx, cx, &conversation.id)?;
    let (secure,): (bool,) =
        tx.one("SELECT secure FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, message])?;
    let event = ClientReplied {
        conversation_id: &conversation.id,
        message_id: message,
        mailbox_id: &conversation.mailbox,
        secure,
        reference: conversation.reference.as_deref(),
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Tells the person who has the conversation and those who follow it, or those who want to know of new ones; not of automatic mail,
/// nor of mail that was fetched late.
fn tell_people(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    kind: NoticeKind,
) -> Result<()> {
    let (automatic, arrived_at): (bool, Option<i64>) = tx.one(
        "SELECT auto_reply, counted_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message],
    )?;
    if automatic || arrived_at.is_some_and(|at| at < cx.now - NOTICE_RECENT_MS) {
        return Ok(());
    }
    let place = conversation.notice_place();
    match (kind, &conversation.assignee) {
        (NoticeKind::NewConversation, assignee) => {
            facts::note_for_team(tx, cx, place, kind, assignee.as_ref())
        }
        (_, assignee) => {
            for person in followers::of_conversation(tx, cx.actor.ws, conversation)? {
                let kind = match assignee {
                    Some(MemberId::User(assigned)) if *assigned == person => continue,
                    _ => NoticeKind::Followed,
                };
                facts::note(tx, cx, place, kind, &person)?;
            }
            match assignee {
                Some(MemberId::User(person)) => facts::note(tx, cx, place, kind, person),
                _ => Ok(()),
            }
        }
    }
}

fn announce_beginning(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    conversations::announce_beginning(tx, cx, conversation)?;
    conversations::announce_turn(tx, cx, conversation)
}

/// Keeps a conversation from everybody who is told of mail until a person has looked at it.
pub(super) fn hold(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET held = TRUE WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    targets::refresh(tx, cx, &conversation.id)?;
    let held = TimelineEvent::Held { risk: conversation.risk };
    timeline::record(tx, cx, &conversation.id, &held)?;
    let event = ScoutHeld { conversation_id: &conversation.id };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Releases a held conversation: the withheld events of its mail are recorded now.
pub fn release(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    release_with(tx, cx, conversation, ContactEvidence::Team(ContactStanding::Trusted))
}

/// The same without a person, after the writer of this message has proven the address. False where other mail is
/// withheld beside it: anybody can write into a conversation under any address, and the proof says nothing about that.
pub(super) fn release_proven(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &MessageId,
) -> Result<bool> {
    let other: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND withheld IS NOT NULL AND id <> ?3 LIMIT 1",
        &[&cx.actor.ws, &conversation.id, message],
    )?;
    if other.is_some() {
        return Ok(false);
    }
    release_with(tx, cx, conversation, ContactEvidence::Proven)?;
    Ok(true)
}

fn release_with(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    evidence: ContactEvidence,
) -> Result<()> {
    if !conversation.held {
        return Ok(());
    }
    let withheld: Vec<(MessageId, InboundAnnouncement, Option<i64>, String)> = tx.all(
        "SELECT id, withheld, counted_at, from_email FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND withheld IS NOT NULL ORDER BY serial",
        &[&cx.actor.ws, &conversation.id],
    )?;
    conversations::end_hold(tx, cx, conversation)?;
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::Released {})?;
    sorting::schedule(tx, cx, conversation)?;
    for (message, announcement, arrived_at, from) in withheld {
        let from = Party { name: None, email: from };
        contacts::note(tx, cx, &conversation.circle, &from, evidence)?;
        count_received(tx, cx, &conversation.report_place(), arrived_at.unwrap_or(cx.now))?;
        announce(tx, cx, conversation, &message, announcement)?;
    }
    targets::refresh(tx, cx, &conversation.id)
}
