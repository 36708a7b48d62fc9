//! A conversation's timeline as a person sees it: who wrote, what was attached, what was asked for.

use std::collections::HashMap;

use db::{FromRow, Row, Tx};

use super::document_requests::{RequestCard, card};
use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{AttachmentId, ConversationId, DocumentId, MessageId, NoteId, RequestId};
use crate::base::limits::READ_TEXT_CHARS;
use crate::base::states::{Direction, MessageStatus};
use crate::model::attachments;
use crate::model::messages::Party;
use crate::model::timeline::StoredTimelineEvent;

/// Files of one conversation that are listed.
const FILES: i64 = 200;

pub enum TimelineEntry {
    Message(Box<MessageEntry>),
    Note(NoteEntry),
    Event(EventEntry),
}

impl TimelineEntry {
    pub fn at(&self) -> i64 {
        match self {
            TimelineEntry::Message(message) => message.at,
            TimelineEntry::Note(note) => note.at,
            TimelineEntry::Event(event) => event.at,
        }
    }

    /// Ids of one moment sort as they were made, whatever their kind.
    fn order(&self) -> &str {
        let id = match self {
            TimelineEntry::Message(message) => message.id.as_str(),
            TimelineEntry::Note(note) => note.id.as_str(),
            TimelineEntry::Event(event) => &event.id,
        };
        id.split_once('_').map_or(id, |(_, rest)| rest)
    }
}

#[derive(Clone, Debug)]
pub struct MessageEntry {
    pub id: MessageId,
    pub at: i64,
    pub serial: i64,
    pub direction: Direction,
    /// `None` for mail that came in.
    pub status: Option<MessageStatus>,
    pub from: Party,
    pub to: Vec<Party>,
    pub cc: Vec<Party>,
    pub bcc: Vec<Party>,
    pub text: String,
    /// True when the text goes on after what is given here.
    pub cut: bool,
    /// True when the mail is kept as it came.
    pub has_original: bool,
    /// The id of the person or agent who wrote it.
    pub author: Option<String>,
    pub summary: Option<String>,
    pub revision: i64,
    pub sends_at: Option<i64>,
    pub files: Vec<FiledAs>,
    /// What it asks for, and what came of it.
    pub asks: Option<RequestCard>,
    request: Option<RequestId>,
}

#[derive(Clone, Debug)]
pub struct FiledAs {
    pub place: FilePlace,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
}

/// Where a letter's file is kept: mail that came in is filed in the library, ours goes along.
#[derive(Clone, Debug)]
pub enum FilePlace {
    Document(DocumentId),
    Attachment(AttachmentId),
}

pub struct NoteEntry {
    pub id: NoteId,
    pub at: i64,
    pub author: String,
    pub author_name: String,
    pub body: String,
}

pub struct EventEntry {
    pub id: String,
    pub at: i64,
    pub actor_name: String,
    pub event: StoredTimelineEvent,
}

pub const MESSAGE: &str = "m.id, m.at, m.serial, m.direction, m.status, m.from_name, m.from_email,
    m.to_list, m.cc_list, m.text, m.raw_hash IS NOT NULL, m.author, m.summary, m.revision,
    m.sends_at, m.request, m.bcc_list";

impl FromRow for MessageEntry {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        let mut message = MessageEntry {
            id: row.take()?,
            at: row.take()?,
            serial: row.take()?,
            direction: row.take()?,
            status: row.take()?,
            from: Party { name: row.take()?, email: row.take()? },
            to: parties(&row.take::<String>()?),
            cc: parties(&row.take::<String>()?),
            bcc: Vec::new(),
            text: row.take()?,
            cut: false,
            has_original: row.take()?,
            author: row.take()?,
            summary: row.take()?,
            revision: row.take()?,
            sends_at: row.take()?,
            files: Vec::new(),
            asks: None,
            request: row.take()?,
        };
        message.bcc = parties(&row.take::<String>()?);
        // What is still a draft is shown whole: a person decides about all of it.
        let is_draft = matches!(message.status, Some(MessageStatus::Draft));
        // Most letters are shorter in bytes already, and need no counting.
        if !is_draft
            && message.text.len() > READ_TEXT_CHARS
            && let Some((end, _)) = message.text.char_indices().nth(READ_TEXT_CHARS)
        {
            message.text.truncate(end);
            message.cut = true;
        }
        Ok(message)
    }
}

fn parties(json: &str) -> Vec<Party> {
    if json == "[]" {
        return Vec::new();
    }
    serde_json::from_str(json).unwrap_or_default()
}

impl FromRow for NoteEntry {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        Ok(NoteEntry {
            id: row.take()?,
            at: row.take()?,
            author: row.take()?,
            author_name: row.take()?,
            body: row.take()?,
        })
    }
}

impl FromRow for EventEntry {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        Ok(EventEntry {
            id: row.take()?,
            at: row.take()?,
            actor_name: row.take()?,
            event: StoredTimelineEvent::read(row.take()?, &row.take::<String>()?),
        })
    }
}

/// The latest entries of a conversation, oldest first, and whether there are older ones. At most
/// `most` letters, notes and events each.
pub fn entries(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    most: i64,
) -> Result<(Vec<TimelineEntry>, bool)> {
    let ws = cx.actor.ws;
    let mut messages: Vec<MessageEntry> = tx.all(
        &format!(
            "SELECT {MESSAGE} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL
             ORDER BY m.at DESC, m.id DESC LIMIT ?3"
        ),
        &[&ws, id, &(most + 1)],
    )?;
    let notes: Vec<NoteEntry> = tx.all(
        "SELECT id, at, author, author_name, body FROM notes
         WHERE ws = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT ?3",
        &[&ws, id, &(most + 1)],
    )?;
    let events: Vec<EventEntry> = tx.all(
        "SELECT id, at, actor_name, event, data FROM timeline_events
         WHERE ws = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT ?3",
        &[&ws, id, &(most + 1)],
    )?;
    let most = most as usize;
    let older = [messages.len(), notes.len(), events.len()].iter().any(|len| *len > most);
    messages.truncate(most);
    attach_files(tx, ws, id, &mut messages)?;
    for message in &mut messages {
        if let Some(request) = &message.request {
            message.asks = Some(card(tx, cx, request)?);
        }
    }
    let messages = messages.into_iter().map(|message| TimelineEntry::Message(Box::new(message)));
    let notes = notes.into_iter().take(most).map(TimelineEntry::Note);
    let events = events.into_iter().take(most).map(TimelineEntry::Event);
    let mut entries: Vec<TimelineEntry> = messages.chain(notes).chain(events).collect();
    entries.sort_by(|a, b| (a.at(), a.order()).cmp(&(b.at(), b.order())));
    Ok((entries, older))
}

/// Gives each letter the documents that it was filed as, and the files that go with it.
pub fn attach_files(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &ConversationId,
    messages: &mut [MessageEntry],
) -> Result<()> {
    let rows: Vec<(MessageId, DocumentId, String, String, i64)> = tx.all(
        "SELECT message, id, filename, content_type, size FROM documents
         WHERE ws = ?1 AND conversation = ?2 AND message IS NOT NULL
         ORDER BY id DESC LIMIT ?3",
        &[&ws, id, &FILES],
    )?;
    let mut files: HashMap<MessageId, Vec<FiledAs>> = HashMap::new();
    for (message, document, filename, content_type, size) in rows.into_iter().rev() {
        let place = FilePlace::Document(document);
        files.entry(message).or_default().push(FiledAs { place, filename, content_type, size });
    }
    for file in attachments::of_conversation(tx, ws, id, FILES)? {
        let Some(message) = file.message else { continue };
        files.entry(message).or_default().push(FiledAs {
            place: FilePlace::Attachment(file.id),
            filename: file.filename,
            content_type: file.content_type,
            size: file.size,
        });
    }
    for message in messages {
        message.files = files.remove(&message.id).unwrap_or_default();
    }
    Ok(())
}

impl MessageEntry {
    pub fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }
}
