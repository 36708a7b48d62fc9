//! What Mailroom makes of a mail, as `mailroom inspect` prints it.

use serde::Serialize;

use crate::headers::address::Address;
use crate::kind::{Bounce, MailKind};
use crate::parse::parse;
use crate::parsed_mail::{Envelope, ParsedMail};
use crate::scam::{Authentication, SenderHistory, check};
use crate::trim::trim;

/// One line of `mailroom inspect FILE… --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    pub file: String,
    pub from: Option<InspectedPerson>,
    pub to: Vec<InspectedPerson>,
    pub subject: String,
    /// ISO 8601 in UTC; null when the mail has no date.
    pub date: Option<String>,
    pub message_id: Option<String>,
    /// Every mail it answers, from the oldest to the nearest.
    pub references: Vec<String>,
    pub kind: MailKind,
    /// The writer's own words.
    pub text: String,
    pub original: String,
    pub attachments: Vec<InspectedFile>,
    pub bounces: Vec<Bounce>,
    pub risk: Option<String>,
    pub risk_reasons: Vec<String>,
    pub score: f64,
}

#[derive(Debug, Serialize)]
pub struct InspectedPerson {
    pub name: Option<String>,
    pub email: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InspectedFile {
    pub filename: String,
    pub content_type: String,
    pub size: usize,
}

/// Inspects a mail by itself: nobody is known, and nothing was authenticated.
pub fn inspect(file: &str, raw: &[u8]) -> Inspection {
    let mail = parse(raw, Envelope::default());
    let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
    Inspection {
        file: file.to_owned(),
        from: mail.from.as_ref().map(person),
        to: mail.to.iter().map(person).collect(),
        date: mail.date.and_then(iso_date),
        references: references(&mail),
        kind: mail.kind,
        attachments: mail
            .attachments
            .iter()
            .map(|file| InspectedFile {
                filename: file.filename.clone(),
                content_type: file.content_type.clone(),
                size: file.bytes.len(),
            })
            .collect(),
        risk: verdict.risk.map(|risk| risk.as_str().to_owned()),
        risk_reasons: verdict.reasons,
        score: verdict.score,
        subject: mail.subject,
        message_id: mail.message_id,
        text: mail.text,
        original: mail.original,
        bounces: mail.bounces,
    }
}

/// Inspects a bare plain text, which is only trimmed.
pub fn inspect_text(file: &str, text: &[u8]) -> Inspection {
    let original = crate::text::charset::decode(text, None);
    Inspection {
        file: file.to_owned(),
        from: None,
        to: Vec::new(),
        subject: String::new(),
        date: None,
        message_id: None,
        references: Vec::new(),
        kind: MailKind::Person,
        text: trim(&original),
        original: crate::text::clean::clean_text(&original),
        attachments: Vec::new(),
        bounces: Vec::new(),
        risk: None,
        risk_reasons: Vec::new(),
        score: 0.0,
    }
}

fn person(address: &Address) -> InspectedPerson {
    InspectedPerson { name: address.name.clone(), email: address.email.clone() }
}

fn references(mail: &ParsedMail) -> Vec<String> {
    let mut references = mail.answers();
    references.reverse();
    references
}

/// Milliseconds as the API writes times.
fn iso_date(milliseconds: i64) -> Option<String> {
    let seconds = milliseconds.div_euclid(1_000);
    let date = mail_parser::DateTime::from_timestamp(seconds);
    date.is_valid().then(|| {
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            date.year,
            date.month,
            date.day,
            date.hour,
            date.minute,
            date.second,
            milliseconds.rem_euclid(1_000)
        )
    })
}
