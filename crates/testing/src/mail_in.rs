//! Mail from outside: as a parsed mail, and as bytes through the one function that takes mail in.

use std::sync::Mutex;

use base::mail_reading::MailParser;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use inbound::{
    Authenticator, Checking, Credentials, InboundMail, IngestError, Ingested, MailSource, ingest,
};
use mail::{Address, Attachment, Authentication, AuthorKind, Dmarc, Mail, Risk, Warning};
use model::mailboxes::Mailbox;

use crate::TestApp;

impl TestApp {
    /// A mail from somebody to the support inbox.
    pub async fn mail(&self, from: &str, subject: &str, text: &str) -> FiledMail {
        self.deliver(&self.support, letter(from, subject, text)).await
    }

    pub async fn deliver(&self, mailbox: &Mailbox, mail: Mail) -> FiledMail {
        let incoming = self.incoming(mailbox, mail);
        let service = self.service(mailbox);
        let mailbox = mailbox.clone();
        self.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &mailbox, &incoming))
            .await
    }

    /// Lets a scheduled message go out now.
    pub async fn mark_sent(&self, mailbox: &Mailbox, message: &str) {
        let id = base::ids::MessageId::parse(message).unwrap();
        let service = self.service(mailbox);
        self.act(&service, move |tx, cx| {
            let (message, mut conversation) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
            outbound::messages::mark_sent(tx, cx, &mut conversation, &message)
        })
        .await;
    }

    /// Many mails to one inbox in one transaction.
    pub async fn deliver_all(&self, mailbox: &Mailbox, mails: Vec<Mail>) -> Vec<FiledMail> {
        let incoming: Vec<IncomingMail> =
            mails.into_iter().map(|mail| self.incoming(mailbox, mail)).collect();
        let (service, mailbox) = (self.service(mailbox), mailbox.clone());
        self.act(&service, move |tx, cx| {
            incoming.iter().map(|mail| inbound::receive::receive(tx, cx, &mailbox, mail)).collect()
        })
        .await
    }

    /// A mail with the blobs of its attachments.
    pub fn incoming(&self, mailbox: &Mailbox, mut mail: Mail) -> IncomingMail {
        if mail.delivered_to.is_empty() {
            mail.delivered_to = mailbox.address.to_string();
        }
        let put = |file: &Attachment| self.app.blobs.put(&file.bytes).unwrap();
        let attachments = mail.attachments.iter().map(put).collect();
        IncomingMail {
            mail,
            raw: None,
            authentication: None,
            attachments,
            joins: None,
            content_hash: None,
        }
    }

    /// Takes a mail in for these recipients.
    pub async fn ingest(&self, to: &[&str], raw: &str) -> Vec<Result<Ingested, IngestError>> {
        self.ingest_from("ann@x.example", to, raw.as_bytes()).await
    }

    pub async fn ingest_from(
        &self,
        sender: &str,
        to: &[&str],
        raw: &[u8],
    ) -> Vec<Result<Ingested, IngestError>> {
        let delivery = InboundMail {
            sender: Some(sender.to_owned()),
            recipients: to.iter().map(|to| (*to).to_owned()).collect(),
            source: MailSource::OurServer,
            raw: raw.to_vec(),
        };
        ingest(&self.app, &*self.outside.authenticator, delivery).await
    }

    /// Takes a mail in for the support inbox, where it is filed.
    pub async fn arrives(&self, raw: &str) -> FiledMail {
        filed_mail(&self.ingest(&["support@acme.example"], raw).await[0])
    }
}

/// A plain mail; the address before the first space may be followed by a name.
pub fn letter(from: &str, subject: &str, text: &str) -> Mail {
    let (email, name) = match from.split_once(' ') {
        Some((email, name)) => (email, Some(name)),
        None => (from, None),
    };
    Mail {
        message_id: None,
        answers: Vec::new(),
        from: Address::new(name, email),
        to: Vec::new(),
        cc: Vec::new(),
        delivered_to: String::new(),
        subject: subject.into(),
        text: text.into(),
        quoted: String::new(),
        kind: AuthorKind::Person,
        no_automatic_reply: false,
        dmarc: Dmarc::Pass,
        warning: None,
        attachments: Vec::new(),
        has_html: false,
    }
}

/// What the scam check says of a mail that it holds.
pub fn held_warning() -> Option<Warning> {
    let reasons = vec!["The link leads elsewhere".into()];
    Some(Warning { risk: Risk::Phishing, reasons, hold: true })
}

pub fn file(filename: &str, bytes: &[u8]) -> Attachment {
    let content_type = "application/pdf".into();
    Attachment { filename: filename.into(), content_type, bytes: bytes.into() }
}

/// A mail as it comes over the wire, with a Message-ID made of its subject and text.
pub fn raw(from: &str, subject: &str, text: &str) -> String {
    let id: String =
        format!("{subject}.{text}").chars().filter(char::is_ascii_alphanumeric).collect();
    let id: String = id.chars().take(60).collect();
    raw_with(&format!("Message-ID: <{id}@x.example>\r\n"), from, subject, text)
}

/// The same with other fields before it.
pub fn raw_with(fields: &str, from: &str, subject: &str, text: &str) -> String {
    format!(
        "{fields}From: {from}\r\nTo: support@acme.example\r\nSubject: {subject}\r\n\
         Date: Sun, 15 Nov 2026 09:00:00 +0000\r\n\r\n{text}\r\n"
    )
}

pub fn filed_mail(taken: &Result<Ingested, IngestError>) -> FiledMail {
    match taken {
        Ok(Ingested::Filed(received)) => received.clone(),
        other => panic!("it was not filed: {other:?}"),
    }
}

/// Takes every mail for one that can be read.
pub struct TrustingParser;

impl MailParser for TrustingParser {
    fn survives(&self, _raw: &[u8]) -> bool {
        true
    }
}

/// Says of every mail what it was told to say, and remembers where the mails came from.
pub struct TestAuthenticator {
    says: Mutex<Authentication>,
    sources: Mutex<Vec<MailSource>>,
}

impl Default for TestAuthenticator {
    fn default() -> TestAuthenticator {
        let says = Authentication { dmarc: Dmarc::Pass, ..Authentication::default() };
        TestAuthenticator { says: Mutex::new(says), sources: Mutex::default() }
    }
}

impl TestAuthenticator {
    pub fn says(&self, dmarc: Dmarc) {
        self.says.lock().unwrap().dmarc = dmarc;
    }

    pub fn sources(&self) -> Vec<MailSource> {
        self.sources.lock().unwrap().clone()
    }
}

impl Authenticator for TestAuthenticator {
    fn check<'a>(&'a self, credentials: Credentials<'a>) -> Checking<'a> {
        self.sources.lock().unwrap().push(credentials.source.clone());
        let says = *self.says.lock().unwrap();
        Box::pin(async move { says })
    }
}
