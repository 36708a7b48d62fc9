//! Mail of the past, taken over from another system: it keeps its dates and threads, and nothing else
//! happens: no event, no notice, no sorting, no draft, no automatic answer.

use std::collections::HashSet;
use std::sync::Arc;

use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs::{self, Blobs};
use base::limits::SUBJECT_THREAD_MS;
use base::states::{Direction, MessageStatus, Status};
use db::Tx;
use mail::{Authentication, AuthorKind, Mail};
use model::contacts::correspondents;
use model::contacts::{self, ContactEvidence};
use model::conversations::{self, Conversation, NewConversation};
use model::documents::{self, NewDocument};
use model::figures::counted_mail::{self, CountedMail};
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use model::messages::recipients::{self, Party, RecipientList};
use outbound::messages::{self, NewMessage};

use super::completion;
use super::import_turns::file_in_turns;
use super::parsing;
use super::routes::RecipientInbox;
use crate::duplicates::{self, KnownMail, MailIdentity, MailLookup, UnknownMail};
use crate::incoming_mail::IncomingMail;
use crate::mail_dates::MailDates;
use crate::own_mail::sent;
use crate::receive;
use crate::threading;
use crate::{InboundMail, MailSource};

/// Threads that parse a batch.
const PARSERS: usize = 4;

/// A mail of the past.
#[derive(Clone, Debug)]
pub struct ImportedMail {
    pub raw: Vec<u8>,
    /// When the mailbox there took it, in milliseconds; else its `Date:` counts.
    pub taken_at: Option<i64>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    Filed {
        direction: Direction,
        /// True when it began a conversation.
        begins: bool,
        attachments: usize,
    },
    /// The inbox had it already.
    Known,
    /// The inbox has a mail with the same Message-ID that says the same; other bytes differ, such as
    /// those that machines on the way added.
    SameContent,
    /// The inbox had it without these files, which it has now.
    Completed { attachments: usize },
}

impl ImportOutcome {
    fn of_known(known: &KnownMail) -> ImportOutcome {
        if known.same_bytes { ImportOutcome::Known } else { ImportOutcome::SameContent }
    }
}

/// An inbox that mail is taken over into.
#[derive(Clone, Debug)]
pub struct ImportTarget {
    pub inbox: RecipientInbox,
    /// The addresses whose mail is ours: it is filed as sent.
    pub own: Arc<HashSet<EmailAddress>>,
}

/// The addresses of a workspace's inboxes, whose mail is its own.
pub fn own_addresses(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<EmailAddress>> {
    let found: Vec<(EmailAddress,)> =
        tx.all("SELECT address FROM mailboxes WHERE ws = ?1 AND circle <> 'sandbox'", &[&ws])?;
    Ok(found.into_iter().map(|(address,)| address).collect())
}

/// Mails whose bytes are kept and parsed, ready to be filed.
pub struct ReadMails(Vec<HistoryMail>);

/// Keeps the bytes of mails and parses them, which needs no transaction: the batch before may be filed
/// meanwhile.
pub async fn read_mails(
    app: &App,
    target: &ImportTarget,
    mails: Vec<ImportedMail>,
) -> Result<ReadMails> {
    Ok(ReadMails(read_all(app, &target.inbox.mailbox, mails).await?))
}

/// Reads mails and files them.
pub async fn import(
    app: &App,
    target: &ImportTarget,
    mails: Vec<ImportedMail>,
) -> Result<Vec<ImportOutcome>> {
    let read = read_mails(app, target, mails).await?;
    file_mails(app, target, read).await
}

/// Files mails in their order, in turns with others that write. Those that the inbox has are left as
/// they are, so that a batch may be repeated.
pub async fn file_mails(
    app: &App,
    target: &ImportTarget,
    ReadMails(read): ReadMails,
) -> Result<Vec<ImportOutcome>> {
    let own = target.own.clone();
    file_in_turns(app, &target.inbox, read, move |tx, cx, mailbox, past| {
        file(tx, cx, mailbox, &own, past)
    })
    .await
}

/// The mails that a dry run has counted, which a run would know by then.
#[derive(Default)]
pub struct CountedIdentities(HashSet<String>);

/// What would become of mails, without filing any.
pub async fn preview(
    app: &App,
    target: &ImportTarget,
    mails: Vec<ImportedMail>,
    counted: &mut CountedIdentities,
) -> Result<Vec<ImportOutcome>> {
    let (reading, mailbox) = (app.reading.clone(), target.inbox.mailbox.clone());
    let address = mailbox.address.to_string();
    let parsed = spawn_blocking(move || {
        let parsed = mails.into_iter().map(|past| {
            let raw_hash = Blobs::hash_of(&past.raw);
            let content_hash = mail::content_hash(&past.raw);
            let read = parsing::read_only(&reading, &delivery_of(past.raw));
            let mail = read.into_mail(&address, Authentication::default().dmarc, None);
            PreviewedMail { mail, raw_hash, content_hash }
        });
        parsed.collect::<Vec<_>>()
    });
    let parsed = Arc::new(parsed.await?);
    let (ws, looked_up, own) = (target.inbox.ws, Arc::clone(&parsed), target.own.clone());
    let outcomes = app.store.read(move |tx| {
        let outcomes = looked_up.iter().map(|previewed| {
            let mail = &previewed.mail;
            if let Some(known) = duplicates::find_known(tx, ws, &mailbox.id, &previewed.identity())?
            {
                return Ok(ImportOutcome::of_known(&known));
            }
            let from_us = is_own(&own, &EmailAddress::new(&mail.from.email));
            let is_sent = from_us && !sent::others(&mailbox, mail).is_empty();
            let direction = if is_sent { Direction::Outbound } else { Direction::Inbound };
            let attachments = mail.attachments.len();
            Ok(ImportOutcome::Filed { direction, begins: false, attachments })
        });
        outcomes.collect::<Result<Vec<_>>>()
    });
    let outcomes = outcomes.await?.into_iter().zip(parsed.iter());
    Ok(outcomes.map(|(outcome, mail)| counted.after(outcome, mail)).collect())
}

/// A mail of a dry run.
struct PreviewedMail {
    mail: Mail,
    raw_hash: String,
    content_hash: String,
}

impl PreviewedMail {
    fn identity(&self) -> MailIdentity<'_> {
        MailIdentity::new(&self.mail, &self.raw_hash, &self.content_hash)
    }
}

impl CountedIdentities {
    /// The outcome of a mail after those that were counted before it.
    fn after(&mut self, outcome: ImportOutcome, mail: &PreviewedMail) -> ImportOutcome {
        let ImportOutcome::Filed { .. } = outcome else { return outcome };
        let is_new_content = self.0.insert(mail.identity().key());
        let is_new_bytes = self.0.insert(mail.raw_hash.clone());
        match (is_new_content, is_new_bytes) {
            (true, _) => outcome,
            (false, true) => ImportOutcome::SameContent,
            (false, false) => ImportOutcome::Known,
        }
    }
}

/// A mail of the past as one that is received.
fn delivery_of(raw: Vec<u8>) -> InboundMail {
    InboundMail { sender: None, recipients: Vec::new(), source: MailSource::OurServer, raw }
}

fn is_own(own: &HashSet<EmailAddress>, from: &EmailAddress) -> bool {
    own.contains(from) || own.contains(&from.without_tag())
}

/// A parsed mail, its own date and when the mailbox took it.
pub(super) struct HistoryMail {
    incoming: IncomingMail,
    reply_to: Vec<mail::Address>,
    date: Option<i64>,
    taken_at: Option<i64>,
}

/// Parses the mails on a few threads, in their order.
pub(super) async fn read_all(
    app: &App,
    mailbox: &Mailbox,
    mails: Vec<ImportedMail>,
) -> Result<Vec<HistoryMail>> {
    let size = mails.len().div_ceil(PARSERS).max(1);
    let mut parts = Vec::new();
    let mut mails = mails.into_iter().peekable();
    while mails.peek().is_some() {
        let part: Vec<ImportedMail> = mails.by_ref().take(size).collect();
        let (blobs, reading) = (app.blobs.clone(), app.reading.clone());
        let mailbox = mailbox.clone();
        parts.push(spawn_blocking(move || {
            let read = part.into_iter().map(|past| {
                let delivery = delivery_of(past.raw);
                let stored = parsing::keep_and_read(&blobs, &reading, &delivery)?;
                let (date, reply_to) = (stored.mail.date, stored.mail.reply_to.clone());
                let incoming = stored.into_past(&mailbox);
                Ok(HistoryMail { incoming, reply_to, date, taken_at: past.taken_at })
            });
            read.collect::<Result<Vec<_>>>()
        }));
    }
    let mut read = Vec::new();
    for part in parts {
        read.extend(part.await??);
    }
    Ok(read)
}

fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    own: &HashSet<EmailAddress>,
    read: &HistoryMail,
) -> Result<ImportOutcome> {
    let (incoming, dates) = (&read.incoming, read.dates(cx.now));
    // Ids and rows are of the time of the mail, so that everything sorts to where it belongs.
    let then = &Cx { now: dates.arrived_at, ..*cx };
    let unknown = match duplicates::look_up(tx, then, mailbox, incoming)? {
        MailLookup::Duplicate(known) => return Ok(ImportOutcome::of_known(&known)),
        MailLookup::Unknown(unknown) => unknown,
    };
    let from_us = is_own(own, &EmailAddress::new(&incoming.mail.from.email));
    let filing = PastFiling { mailbox, incoming, dates, now: cx.now, settles: true };
    if from_us && !sent::others(mailbox, &incoming.mail).is_empty() {
        let joins = filing.find_answered(tx, then)?;
        return Ok(filing.file_sent(tx, then, unknown, joins)?.1);
    }
    // A form of our own site writes from us to us; an answer goes to whom it names.
    let is_other = |to: &&mail::Address| !is_own(own, &EmailAddress::new(&to.email));
    let named = read.reply_to.iter().find(is_other).filter(|_| from_us);
    let author = named.unwrap_or(&incoming.mail.from);
    let arrived_at = filing.dates.arrived_at;
    let thread = threading::find_thread(tx, then, mailbox, &incoming.mail, arrived_at, None)?;
    Ok(filing.file_received(tx, then, unknown, thread.joins, author)?.1)
}

/// Files a mail of another help desk in its conversation; without one it begins one. The caller settles
/// the conversation. `None` in place of it when the inbox has the mail already.
pub(super) fn file_in(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    (read, direction): (&HistoryMail, Direction),
    joins: Option<Conversation>,
) -> Result<(Option<Conversation>, ImportOutcome)> {
    let (incoming, dates) = (&read.incoming, read.dates(cx.now));
    let then = &Cx { now: dates.arrived_at, ..*cx };
    let unknown = match duplicates::look_up(tx, then, mailbox, incoming)? {
        MailLookup::Duplicate(_) => return Ok((None, ImportOutcome::Known)),
        // What a help desk tells of a mail differs from the mail itself, which may be here.
        MailLookup::Unknown(unknown) if unknown.shares_its_id() => {
            return Ok(match completion::complete(tx, then, mailbox, incoming, &unknown)? {
                0 => (None, ImportOutcome::Known),
                attachments => (None, ImportOutcome::Completed { attachments }),
            });
        }
        MailLookup::Unknown(unknown) => unknown,
    };
    let filing = PastFiling { mailbox, incoming, dates, now: cx.now, settles: false };
    let filed = match direction {
        Direction::Outbound => filing.file_sent(tx, then, unknown, joins)?,
        Direction::Inbound => {
            filing.file_received(tx, then, unknown, joins, &incoming.mail.from)?
        }
    };
    let (conversation, outcome) = filed;
    Ok((Some(conversation), outcome))
}

impl HistoryMail {
    /// The Message-ID that it names itself by.
    pub(super) fn message_id(&self) -> Option<&str> {
        self.incoming.mail.message_id.as_deref()
    }

    fn dates(&self, now: i64) -> MailDates {
        MailDates::of_fetched(self.date, self.taken_at.or(self.date), now)
    }
}

/// A mail that is being filed. The context's time is that of the mail; `now` is the present.
struct PastFiling<'a> {
    mailbox: &'a Mailbox,
    incoming: &'a IncomingMail,
    dates: MailDates,
    now: i64,
    /// False where the caller settles the conversation, once for all its mails.
    settles: bool,
}

impl PastFiling<'_> {
    fn mail(&self) -> &Mail {
        &self.incoming.mail
    }

    /// The conversation that a mail of ours answers, or that its answer began.
    fn find_answered(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<Conversation>> {
        match sent::find_answered(tx, cx, self.mailbox, self.mail())? {
            None => sent::answering(tx, cx, self.mailbox, self.mail(), self.dates.arrived_at),
            joins => Ok(joins),
        }
    }

    fn file_received(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        unknown: UnknownMail,
        joins: Option<Conversation>,
        author: &mail::Address,
    ) -> Result<(Conversation, ImportOutcome)> {
        let mail = self.mail();
        let begins = joins.is_none();
        let contact = (author.name.as_deref(), author.email.as_str());
        let mut conversation = self.conversation(tx, cx, joins, contact)?;
        let is_latest = begins || self.dates.arrived_at >= conversation.last_message_at;
        self.write(tx, cx, &mut conversation, Direction::Inbound, unknown)?;
        // The sender of the mail was added with it.
        let is_another = author.email != mail.from.email;
        if is_another && !EmailAddress::new(&author.email).is_for(&self.mailbox.address) {
            recipients::add_participant(tx, cx.actor.ws, &conversation.id, &author.email)?;
        }
        let is_person = mail.kind == AuthorKind::Person;
        if is_person {
            let evidence = ContactEvidence::Unproven;
            contacts::note(tx, cx, &conversation.circle, &Party::from(author), evidence)?;
        }
        if is_latest && (is_person || begins) {
            self.settle(tx, cx, &mut conversation, Status::Open)?;
        } else if self.settles && conversation.status == Status::Closed {
            conversations::wait_since(tx, cx, &mut conversation, None)?;
        }
        Ok((conversation, self.outcome(Direction::Inbound, begins)))
    }

    fn file_sent(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        unknown: UnknownMail,
        joins: Option<Conversation>,
    ) -> Result<(Conversation, ImportOutcome)> {
        let mail = self.mail();
        let others = sent::others(self.mailbox, mail);
        let contact = others.first().copied().unwrap_or(&mail.from);
        let begins = joins.is_none();
        let contact = (contact.name.as_deref(), contact.email.as_str());
        let mut conversation = self.conversation(tx, cx, joins, contact)?;
        let is_latest = begins || self.dates.arrived_at >= conversation.last_message_at;
        self.write(tx, cx, &mut conversation, Direction::Outbound, unknown)?;
        for address in &others {
            let party = Party::from(*address);
            if mail.kind == AuthorKind::Person {
                correspondents::note(tx, cx, &conversation.circle, &address.email)?;
            }
            let evidence = ContactEvidence::of_sent(mail.kind);
            contacts::note(tx, cx, &conversation.circle, &party, evidence)?;
        }
        if is_latest {
            self.settle(tx, cx, &mut conversation, Status::Waiting)?;
        }
        Ok((conversation, self.outcome(Direction::Outbound, begins)))
    }

    fn outcome(&self, direction: Direction, begins: bool) -> ImportOutcome {
        let attachments = self.mail().attachments.len();
        ImportOutcome::Filed { direction, begins, attachments }
    }

    fn conversation(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        joins: Option<Conversation>,
        (contact_name, contact_email): (Option<&str>, &str),
    ) -> Result<Conversation> {
        match joins {
            Some(conversation) => Ok(conversation),
            None => conversations::begin(
                tx,
                cx,
                &NewConversation {
                    circle: &self.mailbox.circle,
                    mailbox: &self.mailbox.id,
                    subject: &self.mail().subject,
                    contact_name,
                    contact_email,
                    reference: None,
                    listed_at: self.dates.arrived_at,
                },
            ),
        }
    }

    /// The status after its latest mail. What is long over is closed.
    fn settle(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &mut Conversation,
        status: Status,
    ) -> Result<()> {
        if !self.settles || conversation.held {
            return Ok(());
        }
        let is_over = self.now - self.dates.arrived_at > SUBJECT_THREAD_MS;
        let status = if is_over { Status::Closed } else { status };
        conversations::settle(tx, cx, conversation, status)?;
        // It may have been closed before this mail was counted.
        match status {
            Status::Closed => conversations::wait_since(tx, cx, conversation, None),
            _ => Ok(()),
        }
    }

    fn write(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &mut Conversation,
        direction: Direction,
        unknown: UnknownMail,
    ) -> Result<()> {
        let (mail, incoming) = (self.mail(), self.incoming);
        let id = unknown.id.clone();
        if let Some(raw) = &incoming.raw {
            blobs::keep(tx, cx.actor.ws, raw)?;
        }
        let attachments = mail.attachments.iter().map(|file| AttachmentInfo {
            filename: file.filename.clone(),
            content_type: file.content_type.clone(),
            size: file.bytes.len() as i64,
        });
        let message = NewMessage {
            id: id.clone(),
            direction,
            status: (direction == Direction::Outbound).then_some(MessageStatus::Sent),
            at: self.dates.sent_at,
            counted_at: Some(self.dates.arrived_at),
            header_id: &unknown.header_id,
            header_key: Some(&unknown.header_key),
            answers: &mail.answers,
            from: Party::from(&mail.from),
            recipients: RecipientList {
                to: mail.to.iter().map(Party::from).collect(),
                cc: mail.cc.iter().map(Party::from).collect(),
                bcc: Vec::new(),
            },
            subject: &mail.subject,
            text: &mail.text,
            attachments: attachments.collect(),
            has_html: mail.has_html && incoming.raw.is_some(),
            authentication: None,
            raw_hash: incoming.raw.as_ref().map(|raw| raw.hash.as_str()),
            content_hash: Some(&unknown.content_hash),
            withheld: None,
            author: None,
            summary: None,
            request: None,
            sends_at: None,
            markdown: None,
            forwards: None,
            secure: false,
        };
        let serial = messages::insert(tx, cx, conversation, &message)?;
        if direction == Direction::Inbound && mail.kind == AuthorKind::AutoReply {
            messages::mark_auto_reply(tx, cx.actor.ws, &id)?;
        }
        if direction == Direction::Inbound && mail.no_automatic_reply {
            messages::mark_no_automatic_reply(tx, cx.actor.ws, &id)?;
        }
        for (file, blob) in mail.attachments.iter().zip(&incoming.attachments) {
            if direction == Direction::Inbound {
                let document = NewDocument {
                    message: Some(&id),
                    filename: &file.filename,
                    content_type: &file.content_type,
                    blob,
                };
                documents::file_unread(tx, cx, conversation, &document)?;
            }
        }
        let counted = CountedMail {
            at: self.dates.arrived_at,
            direction,
            automatic: false,
            secure_answer: None,
            text: &mail.text,
            sorts: false,
        };
        counted_mail::count_mail(tx, cx, conversation, &counted)?;
        let everyone = std::iter::once(&mail.from).chain(&mail.to).chain(&mail.cc);
        let is_other =
            |to: &&mail::Address| !EmailAddress::new(&to.email).is_for(&self.mailbox.address);
        for address in everyone.filter(is_other) {
            recipients::add_participant(tx, cx.actor.ws, &conversation.id, &address.email)?;
        }
        receive::index(tx, cx, conversation, serial, mail, &mail.text)
    }
}
