//! Stores a mail's bytes and parses them, off the async threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mail::{AttachedFile, Authentication, Envelope, ParsedMail, Warning};

use super::InboundMail;
use crate::app::App;
use crate::base::blobs::{Blob, Blobs};
use crate::base::blocking::spawn_blocking;
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::inbound::receive::IncomingMail;
use crate::model::authentication::SenderAuthentication;
use crate::model::mailboxes::Mailbox;

/// The file name of an unparseable mail that is attached to itself.
const UNREAD_NAME: &str = "mail.eml";
const UNREAD_TYPE: &str = "message/rfc822";

/// A mail that was kept and read.
pub(super) struct StoredMail {
    pub mail: ParsedMail,
    pub raw: Blob,
    files: Vec<Blob>,
}

pub(super) async fn read(app: &App, delivery: &Arc<InboundMail>) -> Result<StoredMail> {
    let (blobs, delivery) = (app.blobs.clone(), Arc::clone(delivery));
    spawn_blocking(move || keep_and_read(&blobs, &delivery)).await?
}

/// Stores a mail's bytes, then parses it. An unparseable mail is filed with its bytes as an
/// attachment.
pub(super) fn keep_and_read(blobs: &Blobs, delivery: &InboundMail) -> Result<StoredMail> {
    let raw = blobs.put(&delivery.raw)?;
    let read = catch_unwind(AssertUnwindSafe(|| understood(delivery, blobs)));
    let (mail, files) = read.unwrap_or_else(|_| {
        tracing::error!(hash = raw.hash, "mail could not be parsed");
        Ok((unreadable(delivery), vec![raw.clone()]))
    })?;
    Ok(StoredMail { mail, raw, files })
}

fn understood(delivery: &InboundMail, blobs: &Blobs) -> Result<(ParsedMail, Vec<Blob>)> {
    let mut mail = mail::parse(&delivery.raw, envelope(delivery));
    if mail.unread {
        mail.attachments.push(whole(delivery));
    }
    let files = mail.attachments.iter().map(|file| blobs.put(&file.bytes));
    let files = files.collect::<std::io::Result<Vec<_>>>()?;
    Ok((mail, files))
}

fn envelope(delivery: &InboundMail) -> Envelope<'_> {
    Envelope { sender: delivery.sender.as_deref() }
}

/// The placeholder for a mail that could not be parsed.
fn unreadable(delivery: &InboundMail) -> ParsedMail {
    ParsedMail { attachments: vec![whole(delivery)], unread: true, ..ParsedMail::default() }
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
    /// The mail as one inbox files it.
    pub fn incoming(
        &self,
        mailbox: &Mailbox,
        addresses: &[String],
        authentication: &Authentication,
        warning: Option<Warning>,
    ) -> IncomingMail {
        let delivered_to = self.delivered_to(mailbox, addresses);
        IncomingMail {
            mail: self.mail.clone().into_mail(delivered_to, authentication.dmarc, warning),
            authentication: Some(SenderAuthentication::from(authentication)),
            raw: Some(self.raw.clone()),
            attachments: self.files.clone(),
            joins: None,
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
