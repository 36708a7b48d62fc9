//! A conversation's timeline as a person sees it: authors, attachments and document requests.

use std::collections::HashMap;

use db::{Json, Tx};
use serde_json::{Map, Value};

use super::document_requests::{RequestCard, card};
use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{AttachmentId, ConversationId, DocumentId, MessageId, NoteId, RequestId};
use crate::base::limits::READ_TEXT_CHARS;
use crate::base::states::{Direction, MessageStatus};
use crate::model::attachments;
use crate::model::recipients::Party;
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

    /// Ids of the same millisecond sort in creation order across kinds.
    fn order(&self) -> &str {
        let id = match self {
            TimelineEntry::Message(message) => message.id.as_str(),
            TimelineEntry::Note(note) => note.id.as_str(),
            TimelineEntry::Event(event) => &event.id,
        };
        id.split_once('_').map_or(id, |(_, rest)| rest)
    }
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct MessageEntry from "m" {
        pub id: MessageId,
        pub at: i64,
        pub serial: i64,
        pub direction: Direction,
        /// `None` for mail that came in.
        pub status: Option<MessageStatus>,
        pub from_name: Option<String>,
        pub from_email: String,
        pub to: Json<Vec<Party>> = "m.to_list",
        pub cc: Json<Vec<Party>> = "m.cc_list",
        pub bcc: Json<Vec<Party>> = "m.bcc_list",
        pub text: String,
        /// True when the mail is kept as it came.
        pub has_original: bool = "m.raw_hash IS NOT NULL",
        pub has_html: bool,
        /// The id of the person or agent who wrote it.
        pub author: Option<String>,
        pub summary: Option<String>,
        pub revision: i64,
        pub sends_at: Option<i64>,
        /// The Markdown that it was written in; `None` for plain text.
        pub markdown: Option<String>,
        /// The message that it passes on.
        pub forwards: Option<MessageId>,
        request: Option<RequestId>,
    } later {
        /// True when the text is truncated.
        pub cut: bool,
        pub files: Vec<FiledAs>,
        /// Its document request, with the state.
        pub asks: Option<RequestCard>,
    }
}

#[derive(Clone, Debug)]
pub struct FiledAs {
    pub place: FilePlace,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
}

/// Where a message's file is stored: received attachments are in the library, ours belong to the
/// message.
#[derive(Clone, Debug)]
pub enum FilePlace {
    Document(DocumentId),
    Attachment(AttachmentId),
}

db::row! {
    pub struct NoteEntry from "notes" {
        pub id: NoteId,
        pub at: i64,
        pub author: String,
        pub author_name: String,
        pub body: String,
    }
}

db::row! {
    pub struct EventEntry from "timeline_events" {
        pub id: String,
        pub at: i64,
        pub actor_name: String,
        event: String,
        data: Json<Map<String, Value>>,
    }
}

impl EventEntry {
    pub fn event(&self) -> StoredTimelineEvent {
        StoredTimelineEvent::read(&self.event, &self.data)
    }
}

/// The latest entries of a conversation, oldest first, and whether there are older ones. At most
/// `most` messages, notes and events each.
pub(super) fn entries(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    most: i64,
) -> Result<(Vec<TimelineEntry>, bool)> {
    let ws = cx.actor.ws;
    let mut messages: Vec<MessageEntry> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL
             ORDER BY m.at DESC, m.id DESC LIMIT ?3",
            MessageEntry::COLUMNS
        ),
        &[&ws, id, &(most + 1)],
    )?;
    let notes: Vec<NoteEntry> = tx.all(
        &format!(
            "SELECT {} FROM notes WHERE ws = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT ?3",
            NoteEntry::COLUMNS
        ),
        &[&ws, id, &(most + 1)],
    )?;
    let events: Vec<EventEntry> = tx.all(
        &format!(
            "SELECT {} FROM timeline_events
             WHERE ws = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT ?3",
            EventEntry::COLUMNS
        ),
        &[&ws, id, &(most + 1)],
    )?;
    let most = most as usize;
    let older = [messages.len(), notes.len(), events.len()].iter().any(|len| *len > most);
    messages.truncate(most);
    attach_files(tx, ws, id, &mut messages)?;
    for message in &mut messages {
        message.cut_long_text();
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

/// Adds to each message its documents and attachments.
pub(super) fn attach_files(
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
    /// Cuts a text that is longer than a page shows. Drafts are not truncated, because a person
    /// approves the whole text.
    pub(super) fn cut_long_text(&mut self) {
        // Most messages are shorter in bytes already, and need no counting.
        if self.status != Some(MessageStatus::Draft)
            && self.text.len() > READ_TEXT_CHARS
            && let Some((end, _)) = self.text.char_indices().nth(READ_TEXT_CHARS)
        {
            self.text.truncate(end);
            self.cut = true;
        }
    }

    /// True for what was received or has left.
    pub fn is_mail(&self) -> bool {
        matches!(self.status, None | Some(MessageStatus::Sent))
    }

    pub fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }
}
