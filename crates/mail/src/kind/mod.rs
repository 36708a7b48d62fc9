//! Classifies a mail: written by a person, or automatic (bounce, auto-reply, list, report).

mod automatic;
mod bounce;
mod copy;
mod list;
mod reason;
mod report;

use mail_parser::Message;
use serde::Serialize;

use crate::headers::header::Header;
use crate::parsed_mail::ParsedMail;
use report::MultipartReport;

pub use automatic::suppresses_replies;

/// The kinds of mail, as `mailroom inspect` names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MailKind {
    #[default]
    Person,
    /// Out of office and the like.
    AutoReply,
    /// A mail system says that a mail did not arrive, or not yet.
    Bounce,
    /// A mailbox provider says that its user called a mail spam.
    Complaint,
    /// A mail was delivered, or read.
    Receipt,
    /// Sent to many, or by a program: it is filed, and never answered automatically.
    List,
}

/// A failed recipient of a bounce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bounce {
    pub recipient: String,
    /// `5.1.1` and its likes (RFC 3463), told by the bounce or by its words.
    pub status: String,
    /// True when the address does not work and no later try will change that.
    pub hard: bool,
    /// True for an explicit permanent failure.
    #[serde(skip)]
    pub gave_up: bool,
}

/// The kind of a mail, and the message that a report is about.
#[derive(Debug, Default)]
pub struct Classification {
    pub kind: MailKind,
    pub bounces: Vec<Bounce>,
    /// The Message-ID of the mail that bounced, was complained about or was read.
    pub about: Option<String>,
}

/// The first kind that fits: complaint, bounce, receipt, automatic reply, list, person.
pub fn tell(
    message: &Message<'_>,
    header: &Header,
    mail: &ParsedMail,
    text: &str,
) -> Classification {
    let report = MultipartReport::of(message, header);
    if report.is_complaint(header) {
        let about = copy::original(message, text).message_id;
        return Classification { kind: MailKind::Complaint, bounces: Vec::new(), about };
    }
    if let Some(bounces) = bounce::bounces(message, header, mail, &report, text) {
        let about = copy::original(message, text).message_id;
        let kind = if bounces.is_empty() && report.tells_success() {
            MailKind::Receipt
        } else {
            MailKind::Bounce
        };
        return Classification { kind, bounces, about };
    }
    if report.is_receipt() {
        return Classification {
            kind: MailKind::Receipt,
            bounces: Vec::new(),
            about: report.read_message(),
        };
    }
    let kind = if automatic::is_automatic_reply(header, mail) {
        MailKind::AutoReply
    } else if list::is_for_many(header) {
        MailKind::List
    } else {
        MailKind::Person
    };
    Classification { kind, bounces: Vec::new(), about: None }
}
