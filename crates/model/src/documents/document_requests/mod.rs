//! Document requests: the items that a customer is asked for, and their texts.
//!
//! Customers read the texts of this folder.

mod completion;

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MessageId, RequestId};
use base::limits::REMIND_AFTER_MS;
use db::Tx;
use mail::{MailSection, MailSectionRow};
use translation::{Reader, t};

use crate::conversations::timeline::{self, TimelineEvent};
use crate::guests::guest_tokens::GuestToken;
use crate::installation::sealing;
use crate::messages::mail_language;
use crate::times::calendar_words::kept_date;

pub use completion::{complete_if_all_in, missing};

/// The generation of a request's first link.
const FIRST_GENERATION: i64 = 1;

/// One asked document (API section 2.9).
#[derive(Clone, Debug)]
pub struct RequestedDocument {
    pub label: String,
    pub description: Option<String>,
    pub required: bool,
}

impl RequestedDocument {
    /// What the customer reads of it.
    pub fn words(&self) -> (&str, Option<&str>) {
        (&self.label, self.description.as_deref())
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        match &self.description {
            Some(description) => format!("{}: {description}", self.label),
            None => self.label.clone(),
        }
    }

    /// What it is called in a checklist.
    fn title(&self) -> String {
        match self.required {
            true => self.label.clone(),
            false => t!("{label} (nice to have)", label = self.label),
        }
    }
}

/// Writes the request of a message. It opens when the message is scheduled.
pub fn create(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    message: &MessageId,
    items: &[RequestedDocument],
    due_date: Option<&str>,
) -> Result<RequestId> {
    let id = RequestId::new(cx.ids, cx.now);
    let token = token(tx, cx, &id, FIRST_GENERATION)?;
    tx.exec(
        "INSERT INTO document_requests (
            ws, id, conversation, message, old_token, token_hash, due_date, created_at
         ) VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7)",
        &[&cx.actor.ws, &id, conversation, message, &token.hash(), &due_date, &cx.now],
    )?;
    for (place, item) in items.iter().enumerate() {
        tx.exec(
            "INSERT INTO requested_documents (ws, request, place, label, description, required)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[
                &cx.actor.ws,
                &id,
                &(place as i64),
                &item.label.trim(),
                &item.description,
                &item.required,
            ],
        )?;
    }
    let requested = TimelineEvent::Requested { request_id: id.clone() };
    timeline::record(tx, cx, conversation, &requested)?;
    Ok(id)
}

/// Opens a request's upload page and puts checklist and link under the message's text. A message
/// that was stopped and scheduled again keeps the existing ones.
pub fn open(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId, text: &str) -> Result<String> {
    let ws = cx.actor.ws;
    let (conversation, due_date): (ConversationId, Option<String>) = tx.one(
        "SELECT conversation, due_date FROM document_requests WHERE ws = ?1 AND id = ?2",
        &[&ws, request],
    )?;
    tx.exec(
        "UPDATE document_requests SET opened_at = ?3 WHERE ws = ?1 AND id = ?2 AND opened_at IS NULL",
        &[&ws, request, &cx.now],
    )?;
    let link = link(tx, cx, request)?;
    if text.contains(&link) {
        return Ok(text.to_owned());
    }
    let items = documents_of(tx, ws, request)?;
    tx.exec(
        "UPDATE document_requests SET note = ?3 WHERE ws = ?1 AND id = ?2 AND note IS NOT NULL",
        &[&ws, request, &text.trim()],
    )?;
    let reader = mail_language::of_conversation(tx, ws, &conversation)?;
    let checklist = reader.run(|| checklist(&items, due_date.as_deref(), &link));
    Ok(format!("{}\n\n{checklist}", text.trim_end()))
}

/// The checklist in the text of a message, as the message's HTML shows it; `None` where the text has none, or one
/// that somebody changed.
pub fn mail_section(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    request: &RequestId,
    text: &str,
) -> Result<Option<MailSection>> {
    let ws = cx.actor.ws;
    let (conversation, due_date): (ConversationId, Option<String>) = tx.one(
        "SELECT conversation, due_date FROM document_requests WHERE ws = ?1 AND id = ?2",
        &[&ws, request],
    )?;
    let link = link(tx, cx, request)?;
    let items = documents_of(tx, ws, request)?;
    // The language may have become known since the text was written.
    let readers = [mail_language::of_conversation(tx, ws, &conversation)?, Reader::default()];
    let sections = readers
        .into_iter()
        .map(|reader| reader.run(|| checklist_section(&items, due_date.as_deref(), &link)));
    let mut written = sections.filter(|section| text.contains(section.lines.trim()));
    Ok(written.next())
}

fn checklist_section(
    items: &[RequestedDocument],
    due_date: Option<&str>,
    link: &str,
) -> MailSection {
    let row = |item: &RequestedDocument| MailSectionRow {
        title: item.title(),
        description: item.description.clone().unwrap_or_default(),
        url: String::new(),
    };
    MailSection {
        lines: checklist(items, due_date, link),
        heading: t!("What we need from you:").to_owned(),
        rows: items.iter().map(row).collect(),
        remark: due_date.map(due_sentence).unwrap_or_default(),
        button: t!("Upload the documents").to_owned(),
        url: link.to_owned(),
    }
}

/// The documents that a request asks for.
pub fn documents_of(
    tx: &mut Tx<'_>,
    ws: i64,
    request: &RequestId,
) -> Result<Vec<RequestedDocument>> {
    let rows: Vec<(String, Option<String>, bool)> = tx.all(
        "SELECT label, description, required FROM requested_documents
         WHERE ws = ?1 AND request = ?2 ORDER BY place",
        &[&ws, request],
    )?;
    let documents = rows.into_iter().map(|(label, description, required)| RequestedDocument {
        label,
        description,
        required,
    });
    Ok(documents.collect())
}

/// The address of a request's upload page.
pub fn link(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId) -> Result<String> {
    let (old, generation): (String, i64) = tx.one(
        "SELECT old_token, generation FROM document_requests WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, request],
    )?;
    let token = match old.is_empty() {
        true => token(tx, cx, request, generation)?.as_str().to_owned(),
        false => sealing::unseal(cx.sealer, &sealing::upload_purpose(cx.actor.ws, request), old)?,
    };
    Ok(format!("{}/u/{token}", cx.public_url))
}

/// Gives a request another link; the one before leads nowhere.
pub fn renew_link(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId) -> Result<()> {
    let (generation,): (i64,) = tx.one(
        "UPDATE document_requests SET generation = generation + 1, old_token = ''
         WHERE ws = ?1 AND id = ?2 RETURNING generation",
        &[&cx.actor.ws, request],
    )?;
    let token = token(tx, cx, request, generation)?;
    tx.exec(
        "UPDATE document_requests SET token_hash = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, request, &token.hash()],
    )?;
    Ok(())
}

fn token(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId, generation: i64) -> Result<GuestToken> {
    GuestToken::derive(tx, cx, &format!("upload {request} {generation}"))
}

/// Sets the text above the upload page's checklist, for requests sent as a message of their own.
/// The text of a reply is not shown there, because it may be about other things.
pub fn explain(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId, note: &str) -> Result<()> {
    tx.exec(
        "UPDATE document_requests SET note = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, request, &note.trim()],
    )?;
    Ok(())
}

/// Records that the requesting message was sent: reminders are counted from now.
pub fn note_sent(tx: &mut Tx<'_>, cx: &Cx<'_>, request: &RequestId) -> Result<()> {
    let asked = tx.exec(
        "UPDATE document_requests SET asked_at = ?3, remind_at = ?4
         WHERE ws = ?1 AND id = ?2 AND asked_at IS NULL AND completed_at IS NULL
           AND closed_at IS NULL AND revoked_at IS NULL AND stopped_at IS NULL",
        &[&cx.actor.ws, request, &cx.now, &next_reminder(cx.now, cx.now)],
    )?;
    if asked > 0 {
        tx.wake(Queue::Reminders);
    }
    Ok(())
}

/// When the next reminder of a request sent at this time is due; `None` after the last.
pub fn next_reminder(asked_at: i64, now: i64) -> Option<i64> {
    REMIND_AFTER_MS.iter().map(|after| asked_at + after).find(|at| *at > now)
}

fn checklist(items: &[RequestedDocument], due_date: Option<&str>, link: &str) -> String {
    let mut text = format!("{}\n", t!("What we need from you:"));
    for item in items {
        text.push_str(&format!("- {}\n", item.title()));
        let description = item.description.as_deref().map(str::trim);
        if let Some(description) = description.filter(|description| !description.is_empty()) {
            text.push_str(&format!("  {description}\n"));
        }
    }
    if let Some(date) = due_date {
        text.push_str(&format!("\n{}\n", due_sentence(date)));
    }
    text.push_str(&format!("\n{}\n", t!("Upload it on this private page: {link}", link)));
    text
}

fn due_sentence(date: &str) -> String {
    t!("Please send it by {date}.", date = kept_date(date))
}

#[cfg(test)]
mod tests {
    use translation::{Language, Reader};

    use super::*;
    use base::limits::DAY_MS;

    #[test]
    fn the_checklist_names_each_item_the_date_and_the_link() {
        let items = [
            RequestedDocument {
                label: "Passport".into(),
                description: Some("The page with your photo".into()),
                required: true,
            },
            RequestedDocument { label: "Old contract".into(), description: None, required: false },
        ];
        assert_eq!(
            checklist(&items, Some("2026-12-01"), "https://m.example/u/x"),
            "What we need from you:\n- Passport\n  The page with your photo\n\
             - Old contract (nice to have)\n\nPlease send it by 1 December 2026.\n\n\
             Upload it on this private page: https://m.example/u/x\n"
        );
        let german = Reader::new(Language::parse("de").unwrap());
        assert_eq!(
            german.run(|| checklist(&items, Some("2026-12-01"), "https://m.example/u/x")),
            "Das brauchen wir von Ihnen:\n- Passport\n  The page with your photo\n\
             - Old contract (wenn vorhanden)\n\nBitte senden Sie es bis 1. Dezember 2026.\n\n\
             Laden Sie es auf dieser privaten Seite hoch: https://m.example/u/x\n"
        );
    }

    #[test]
    fn the_section_of_a_mail_says_what_its_lines_say() {
        let items = [RequestedDocument {
            label: "Passport".into(),
            description: Some("The page with your photo".into()),
            required: false,
        }];
        let section = checklist_section(&items, Some("2026-12-01"), "https://m.example/u/x");
        let MailSectionRow { title, description, .. } = &section.rows[0];
        for part in [title, description, &section.heading, &section.remark, &section.url] {
            assert!(section.lines.contains(part.as_str()), "{part}: {}", section.lines);
        }
    }

    #[test]
    fn reminders_are_due_after_two_four_and_seven_days_and_never_again() {
        let next = |now: i64| next_reminder(1_000, 1_000 + now).map(|at| (at - 1_000) / DAY_MS);
        assert_eq!(next(0), Some(2));
        assert_eq!(next(2 * DAY_MS), Some(4));
        assert_eq!(next(5 * DAY_MS), Some(7));
        assert_eq!(next(7 * DAY_MS), None);
    }
}
