//! Stores a mail's bytes and parses them, off the async threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use base::app::App;
use base::concurrency::blocking::spawn_blocking;
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs::{Blob, Blobs};
use base::mail_reading::{MailReading, ReadingMark};
use mail::{AttachedFile, Authentication, Envelope, ParsedMail, Warning};
use model::authentication::SenderAuthentication;
use model::mailboxes::Mailbox;

use super::{InboundMail, MailSource};
use crate::incoming_mail::IncomingMail;

/// The file name of an unparseable mail that is attached to itself.
const UNREAD_NAME: &str = "mail.eml";
const UNREAD_TYPE: &str = "message/rfc822";
/// The text of a mail that could not be read.
const UNREAD_TEXT: &str = "Mailroom could not read this mail. It is attached as it came.";

/// A mail that was kept and read.
pub(super) struct StoredMail {
    pub mail: ParsedMail,
    pub raw: Blob,
    files: Vec<Blob>,
    content_hash: String,
    /// `None` for a mail that nobody looks into any more, because it ended a process.
    mark: Option<ReadingMark>,
}

pub(super) async fn read(app: &App, delivery: &Arc<InboundMail>) -> Result<StoredMail> {
    let (blobs, reading) = (app.blobs.clone(), app.reading.clone());
    let delivery = Arc::clone(delivery);
    spawn_blocking(move || keep_and_read(&blobs, &reading, &delivery)).await?
}

/// Stores a mail's bytes, then parses it. An unparseable mail is filed with its bytes as an
/// attachment.
pub(super) fn keep_and_read(
    blobs: &Blobs,
    reading: &MailReading,
    delivery: &InboundMail,
) -> Result<StoredMail> {
    let raw = blobs.put(&delivery.raw)?;
    let content_hash = mail::content_hash(&delivery.raw);
    if !reading.is_safe(&raw.hash, &delivery.raw) {
        tracing::error!(hash = raw.hash, "a mail that ended the process is filed unread");
        let mail = header_alone(reading, delivery);
        return Ok(StoredMail { mail, files: vec![raw.clone()], raw, content_hash, mark: None });
    }
    let mark = reading.begin(&raw.hash);
    let read = catch_unwind(AssertUnwindSafe(|| parse_and_store(reading, delivery, blobs)));
    let (mail, files) = read.unwrap_or_else(|_| {
        tracing::error!(hash = raw.hash, "mail could not be parsed");
        Ok((unreadable(delivery), vec![raw.clone()]))
    })?;
    Ok(StoredMail { mail, raw, files, content_hash, mark: Some(mark) })
}

/// The Message-ID that a header names; `None` also for one that cannot be read.
pub async fn message_id_of(app: &App, header: Vec<u8>) -> Result<Option<String>> {
    let reading = app.reading.clone();
    let delivery = InboundMail {
        sender: None,
        recipients: Vec::new(),
        source: MailSource::OurServer,
        raw: header,
    };
    Ok(spawn_blocking(move || read_only(&reading, &delivery).message_id).await?)
}

/// Parses a mail whose bytes are not stored, in the same way.
pub(super) fn read_only(reading: &MailReading, delivery: &InboundMail) -> ParsedMail {
    let hash = Blobs::hash_of(&delivery.raw);
    if !reading.is_safe(&hash, &delivery.raw) {
        return header_alone(reading, delivery);
    }
    let _mark = reading.begin(&hash);
    let read = catch_unwind(AssertUnwindSafe(|| parse(reading, delivery)));
    read.unwrap_or_else(|_| unreadable(delivery))
}

fn parse_and_store(
    reading: &MailReading,
    delivery: &InboundMail,
    blobs: &Blobs,
) -> Result<(ParsedMail, Vec<Blob>)> {
    let mail = parse(reading, delivery);
    let files = mail.attachments.iter().map(|file| blobs.put(&file.bytes));
    let files = files.collect::<std::io::Result<Vec<_>>>()?;
    Ok((mail, files))
}

fn parse(reading: &MailReading, delivery: &InboundMail) -> ParsedMail {
    let mut mail = reading.parser().parse(&delivery.raw, envelope(delivery));
    if mail.unread {
        mail.attachments.push(whole(delivery));
    }
    mail
}

/// What the header of a mail says that nobody looks into, if at least that can be read.
fn header_alone(reading: &MailReading, delivery: &InboundMail) -> ParsedMail {
    let header = mail::header_bytes(&delivery.raw);
    if !reading.parser().survives(&header) {
        return unreadable(delivery);
    }
    let read = catch_unwind(|| mail::parse(&header, envelope(delivery)));
    ParsedMail {
        text: UNREAD_TEXT.into(),
        original: UNREAD_TEXT.into(),
        attachments: vec![whole(delivery)],
        unread: true,
        ..read.unwrap_or_default()
    }
}

fn envelope(delivery: &InboundMail) -> Envelope<'_> {
    Envelope { sender: delivery.sender.as_deref() }
}

/// The placeholder for a mail that could not be parsed.
fn unreadable(delivery: &InboundMail) -> ParsedMail {
    ParsedMail {
        text: UNREAD_TEXT.into(),
        original: UNREAD_TEXT.into(),
        attachments: vec![whole(delivery)],
        unread: true,
        ..ParsedMail::default()
    }
}

fn whole(delivery: &InboundMail) -> AttachedFile {
    AttachedFile {
        filename: UNREAD_NAME.into(),
        content_type: UNREAD_TYPE.into(),
        bytes: delivery.raw.clone(),
        inline: false,
        content_id: None,
        disguised: false,
    }
}

impl StoredMail {
    /// False for a mail that ended a process: nothing may look into its bytes.
    pub fn is_read(&self) -> bool {
        self.mark.is_some()
    }

    /// The mail as one inbox files it.
    pub fn incoming(
        &self,
        mailbox: &Mailbox,
        addresses: &[String],
        authentication: &Authentication,
        warning: Option<Warning>,
    ) -> IncomingMail {
        let delivered_to = self.delivered_to(mailbox, addresses);
        let found = SenderAuthentication {
            signature: self.mail.signature,
            ..SenderAuthentication::from(authentication)
        };
        IncomingMail {
            mail: self.mail.clone().into_mail(delivered_to, authentication.dmarc, warning),
            authentication: Some(found),
            raw: Some(self.raw.clone()),
            attachments: self.files.clone(),
            joins: None,
            content_hash: Some(self.content_hash.clone()),
        }
    }

    /// Mail of the past as one inbox files it, of which nothing was checked. Nothing is copied: its files
    /// may be large.
    pub fn into_past(self, mailbox: &Mailbox) -> IncomingMail {
        let delivered_to = self.delivered_to(mailbox, &[]).to_owned();
        IncomingMail {
            mail: self.mail.into_mail(&delivered_to, Authentication::default().dmarc, None),
            authentication: None,
            raw: Some(self.raw),
            attachments: self.files,
            joins: None,
            content_hash: Some(self.content_hash),
        }
    }

    /// The address of this inbox that the mail was delivered to: one that carries a reference, or
    /// else the first of the envelope.
    fn delivered_to<'a>(&'a self, mailbox: &'a Mailbox, addresses: &'a [String]) -> &'a str {
        let all = addresses.iter().chain(&self.mail.delivered_to);
        let mut referring = all.filter(|address| {
            let address = EmailAddress::new(address);
            address.is_for(&mailbox.address) && address.reference().is_some()
        });
        referring.next().or(addresses.first()).map_or(&mailbox.address, String::as_str)
    }
}
