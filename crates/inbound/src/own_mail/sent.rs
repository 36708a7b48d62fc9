//! Mail that another program sent from a connected mailbox, found in its folder of sent mail: it joins
//! its conversation as a message of ours, or begins one that waits for the customer.

use std::sync::Arc;

use base::app::{App, Cx};
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs;
use base::limits::SUBJECT_THREAD_MS;
use base::states::{Direction, MessageStatus, Status};
use db::Tx;
use mail::{Address, Authentication, AuthorKind, Dmarc, Mail};
use model::contacts::correspondents;
use model::contacts::{self, ContactEvidence};
use model::conversations::first_answer::note_answer;
use model::conversations::timeline::RetiredBy;
use model::conversations::{self, Conversation, NewConversation};
use model::figures::counted_mail::{self, CountedMail};
use model::figures::report_facts::{self, ReportMeasure, count_sent};
use model::installation::mail_secret;
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use model::messages::helper_drafts;
use model::messages::recipients::{self, Party, RecipientList};
use outbound::messages::{self, NewMessage};

use crate::duplicates::{self, MailLookup};
use crate::imap;
use crate::incoming_mail::{FiledMail, IncomingMail};
use crate::mail_dates::MailDates;
use crate::own_mail::own_copies;
use crate::own_mail::own_markers::OwnMarkers;
use crate::parsing;
use crate::receive;
use crate::routes;
use crate::threading;
use crate::{FetchedMail, InboundMail, IngestError, Ingested};

/// Recipients whose conversations a mail from before may belong to.
const RECIPIENTS_LOOKED_UP: usize = 5;

/// Files a mail of the folder of sent mail. What Mailroom sent itself is a duplicate.
pub async fn ingest_sent(
    app: &App,
    delivery: InboundMail,
    fetched: FetchedMail,
) -> Result<Ingested, IngestError> {
    ingest(app, delivery, fetched).await.map_err(|error| {
        tracing::error!(cause = ?error, "a sent mail could not be filed");
        IngestError
    })
}

async fn ingest(app: &App, delivery: InboundMail, fetched: FetchedMail) -> Result<Ingested> {
    let read = parsing::read(app, &Arc::new(delivery)).await?;
    let actor = fetched.account.actor();
    let mailbox = fetched.account.inbox.mailbox.clone();
    let signs = OwnMarkers::of(&read.mail, &[]);
    // It was sent by somebody who may sign in to the mailbox.
    let by_owner = Authentication { dmarc: Dmarc::Pass, ..Authentication::default() };
    let incoming = read.incoming(&mailbox, &[], &by_owner, None);
    app.act(&actor, move |tx, cx| {
        let Some((mailbox, actor)) = &routes::as_it_is(tx, cx.actor, &mailbox)? else {
            return Ok(Ingested::NoInbox);
        };
        let cx = &Cx { actor, ..*cx };
        let dates = signs.dates(Some(&fetched), cx.now);
        if !imap::is_held(tx, &fetched.account, mailbox)? {
            return Ok(Ingested::NoInbox);
        }
        let joins = match find_answered(tx, cx, mailbox, &incoming.mail)? {
            // The customer's reply to a mail from before was filed first.
            None if dates.arrived_at < fetched.account.created_at => {
                answering(tx, cx, mailbox, &incoming.mail, dates.arrived_at)?
            }
            joins => joins,
        };
        file(tx, cx, mailbox, (&incoming, &signs), &fetched, &dates, joins)
    })
    .await
}

fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    (incoming, signs): (&IncomingMail, &OwnMarkers),
    fetched: &FetchedMail,
    dates: &MailDates,
    joins: Option<Conversation>,
) -> Result<Ingested> {
    let mail = &incoming.mail;
    let others = others(mailbox, mail);
    let Some(contact) = others.first() else { return Ok(Ingested::OwnCopy) };
    let unknown = match duplicates::look_up_fetched(tx, cx, mailbox, incoming, fetched, dates)? {
        MailLookup::Duplicate(known) => return Ok(Ingested::Duplicate(known.filed)),
        MailLookup::Unknown(unknown) => unknown,
    };
    // A provider may give what Mailroom sent another Message-ID.
    let secret = mail_secret::mail_secret(tx, cx)?;
    if own_copies::is_one(tx, cx, &secret, incoming, signs)?
        || own_copies::is_sent_notice(tx, cx, &secret, mailbox, (incoming, signs))?
    {
        return Ok(Ingested::OwnCopy);
    }
    let begins = joins.is_none();
    let mut conversation = match joins {
        Some(conversation) => conversation,
        None => conversations::begin(
            tx,
            cx,
            &NewConversation {
                circle: &mailbox.circle,
                mailbox: &mailbox.id,
                subject: &mail.subject,
                contact_name: contact.name.as_deref(),
                contact_email: &contact.email,
                reference: None,
                listed_at: dates.arrived_at,
            },
        )?,
    };
    let id = unknown.id.clone();
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
        &conversation,
        &NewMessage {
            id: id.clone(),
            direction: Direction::Outbound,
            status: Some(MessageStatus::Sent),
            at: dates.sent_at,
            counted_at: Some(dates.arrived_at),
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
            raw_hash: incoming.raw.as_ref().map(|raw| raw.hash.as_str()),
            content_hash: Some(&unknown.content_hash),
            withheld: None,
            author: None,
            summary: None,
            request: None,
            sends_at: None,
            authentication: None,
            markdown: None,
            forwards: None,
            secure: false,
        },
    )?;
    let is_latest = dates.arrived_at >= conversation.last_message_at;
    let counted = CountedMail {
        at: dates.arrived_at,
        direction: Direction::Outbound,
        automatic: false,
        secure_answer: None,
        text: &mail.text,
        sorts: false,
    };
    note_answer(tx, cx, &mut conversation, dates.arrived_at)?;
    let place = &conversation.report_place();
    if begins {
        report_facts::count(tx, cx, place, ReportMeasure::Begun, "", dates.arrived_at, 1)?;
    }
    count_sent(tx, cx, place, "", dates.arrived_at)?;
    counted_mail::count_mail(tx, cx, &mut conversation, &counted)?;
    helper_drafts::retire(tx, cx, &conversation, None, RetiredBy::Team)?;
    for address in &others {
        // What the provider or a program answers by itself makes nobody trusted.
        if mail.kind == AuthorKind::Person {
            correspondents::note(tx, cx, &conversation.circle, &address.email)?;
        }
        let evidence = ContactEvidence::of_sent(mail.kind);
        contacts::note(tx, cx, &conversation.circle, &Party::from(*address), evidence)?;
        recipients::add_participant(tx, cx.actor.ws, &conversation.id, &address.email)?;
    }
    receive::index(tx, cx, &conversation, serial, mail, &mail.text)?;
    // The latest word is ours, so it is the customer's turn; after a long time nobody waits any more.
    if is_latest && conversation.status == Status::Open && !conversation.held {
        match begins && cx.now - dates.arrived_at > SUBJECT_THREAD_MS {
            // Nobody closes it now, so reports do not count it.
            true => conversations::settle(tx, cx, &mut conversation, Status::Closed)?,
            false => conversations::set_status(tx, cx, &mut conversation, Status::Waiting)?,
        }
    }
    Ok(Ingested::Filed(FiledMail { conversation: conversation.id, message: id }))
}

/// The recipients that are not the inbox itself.
pub(crate) fn others<'a>(mailbox: &Mailbox, mail: &'a Mail) -> Vec<&'a Address> {
    let all = mail.to.iter().chain(&mail.cc);
    all.filter(|to| !EmailAddress::new(&to.email).is_for(&mailbox.address)).collect()
}

/// The conversation of the nearest message of this inbox that the mail answers.
pub(crate) fn find_answered(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
) -> Result<Option<Conversation>> {
    for header_id in mail.answers.iter().take(base::limits::ANSWERS_LOOKED_UP) {
        let found =
            messages::conversations_with_header_id(tx, cx.actor.ws, &mailbox.id, header_id)?;
        if let Some(conversation) = found.first() {
            return conversations::load(tx, cx.actor, conversation.as_str()).map(Some);
        }
    }
    Ok(None)
}

/// The conversation that somebody's reply to this mail began: it has the same subject, and is of about
/// the same time.
pub(crate) fn answering(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    arrived_at: i64,
) -> Result<Option<Conversation>> {
    for contact in others(mailbox, mail).into_iter().take(RECIPIENTS_LOOKED_UP) {
        let found =
            threading::same_subject(tx, cx, mailbox, &contact.email, &mail.subject, arrived_at)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
