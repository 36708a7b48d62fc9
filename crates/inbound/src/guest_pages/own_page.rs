//! What a customer writes on their own page, filed as a mail from the address that they have proven by a code.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::ids::{ConversationId, MailboxId};
use db::Tx;
use mail::{Address, Attachment, Authentication, AuthorKind, Dmarc, Mail, ParsedMail};
use model::authentication::SenderAuthentication;
use model::guests::guest_forms::GuestFormId;
use model::mailboxes;

use crate::incoming_mail::{FiledMail, IncomingMail};
use crate::receive;
use crate::risk;
use crate::routes;

/// What was written, after its page has checked it.
#[derive(Clone)]
pub struct OwnPageMail {
    /// What one page sends twice is filed once.
    pub id: GuestFormId,
    pub email: EmailAddress,
    pub name: Option<String>,
    pub subject: String,
    pub text: String,
    /// Checked, with the blobs that hold their bytes.
    pub files: Vec<(Attachment, Blob)>,
    /// The conversation that it continues; without one it begins another.
    pub joins: Option<ConversationId>,
}

/// Files it in an inbox. The code has proven the address, so no check of domains is needed; the scam check
/// reads the words.
pub fn receive_own(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    own: &OwnPageMail,
) -> Result<FiledMail> {
    let missing = || Error::NotFound("page");
    let mailbox = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or_else(missing)?;
    let (mailbox, actor) = routes::as_it_is(tx, cx.actor, &mailbox)?.ok_or_else(missing)?;
    let cx = &Cx { actor: &actor, ..*cx };
    let text = mail::clean_text(own.text.trim());
    let from = Address::new(own.name.as_deref(), own.email.as_str());
    let parsed = ParsedMail {
        from: Some(from.clone()),
        subject: own.subject.clone(),
        text: text.clone(),
        original: text.clone(),
        ..ParsedMail::default()
    };
    let proven = Authentication { dmarc: Dmarc::Pass, aligned: true, ..Authentication::default() };
    let warning = risk::warning(tx, cx.actor, cx.sorters, &mailbox, &parsed, &proven)?;
    let mail = Mail {
        message_id: Some(format!(
            "page.{}@{}",
            own.id.as_str(),
            mailbox.address.message_id_domain()
        )),
        answers: Vec::new(),
        from,
        to: vec![Address::new(None, mailbox.address.as_str())],
        cc: Vec::new(),
        delivered_to: mailbox.address.as_str().to_owned(),
        subject: own.subject.clone(),
        text,
        quoted: String::new(),
        kind: AuthorKind::Person,
        no_automatic_reply: false,
        dmarc: Dmarc::Pass,
        warning,
        attachments: own.files.iter().map(|(file, _)| file.clone()).collect(),
        has_html: false,
    };
    let incoming = IncomingMail {
        mail,
        raw: None,
        attachments: own.files.iter().map(|(_, blob)| blob.clone()).collect(),
        authentication: Some(SenderAuthentication::from(&proven)),
        joins: own.joins.clone(),
        content_hash: None,
    };
    receive::receive(tx, cx, &mailbox, &incoming)
}
