//! A conversation's timeline as a person sees it: authors, attachments and document requests.

use std::collections::HashMap;
use std::fmt;

use base::app::Cx;
use base::error::Result;
use base::ids::{AttachmentId, ConversationId, DocumentId, EventId, MessageId, NoteId, RequestId};
use base::limits::READ_TEXT_CHARS;
use base::states::{Direction, MessageStatus};
use db::{Arg, FromRow, Json, Row, StoreError, Tx};
use model::authentication::SenderAuthentication;
use model::conversations::timeline::StoredTimelineEvent;
use model::guests::secure::{self, ProtectedState};
use model::messages::attachments;
use model::messages::helper_drafts::DraftSource;
use model::messages::placeholders::signed_text;
use model::messages::recipients::Party;
use model::messages::send_failure::{self, SendFailure};
use serde_json::{Map, Value};

use crate::documents::document_requests::{RequestCard, card};

/// Files of one part of a timeline that are listed.
const FILES: i64 = 1_000;
/// Files of one part whose contents are shown as a card, and the bytes of each.
const CARDS: usize = 10;
const CARD_BYTES: i64 = 64 * 1024;
/// Sorts after every id.
const AFTER_EVERY_ID: &str = "~";

/// Which part of a timeline is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelinePart {
    Newest,
    Before(TimelineCursor),
}

impl TimelinePart {
    /// The place before which its entries are.
    fn end(&self) -> TimelineCursor {
        match self {
            TimelinePart::Newest => {
                TimelineCursor { at: i64::MAX, order: AFTER_EVERY_ID.to_owned() }
            }
            TimelinePart::Before(cursor) => cursor.clone(),
        }
    }
}

/// The place of an entry in its timeline. Written, it is `1794733200000.06a1b2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineCursor {
    at: i64,
    /// The entry's id without its prefix.
    order: String,
}

impl TimelineCursor {
    pub fn parse(text: &str) -> Option<TimelineCursor> {
        let (at, order) = text.split_once('.')?;
        let plain = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
        let fits = (1..=100).contains(&order.len()) && order.bytes().all(plain);
        fits.then_some(TimelineCursor { at: at.parse().ok()?, order: order.to_owned() })
    }

    /// The id that an entry of some kind would have at this place.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.order)
    }
}

impl fmt::Display for TimelineCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at, self.order)
    }
}

/// A part of a timeline, oldest first, and where the part before it ends.
pub struct TimelineEntries {
    pub entries: Vec<TimelineEntry>,
    pub older: Option<TimelineCursor>,
}

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

    fn as_message(&mut self) -> Option<&mut MessageEntry> {
        match self {
            TimelineEntry::Message(message) => Some(message),
            TimelineEntry::Note(_) | TimelineEntry::Event(_) => None,
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
        /// What authentication found; `None` where nothing was checked.
        pub authentication: Option<Json<SenderAuthentication>>,
        /// The id of the person or agent who wrote it.
        pub author: Option<String>,
        pub summary: Option<String>,
        pub revision: i64,
        pub sends_at: Option<i64>,
        /// For how long it can be stopped in all, while it leaves.
        pub waits: Option<i64> = "m.sends_at - m.scheduled_at",
        /// Who holds it in the queue.
        pub held_by: Option<String> = "CASE WHEN m.held_at IS NOT NULL THEN m.held_by END",
        outcome_code: Option<String>,
        outcome_text: Option<String>,
        /// The Markdown that it was written in; `None` for plain text.
        pub markdown: Option<String>,
        /// The message that it passes on.
        pub forwards: Option<MessageId>,
        pub secure: bool,
        request: Option<RequestId>,
    } later {
        /// How far a secure message is.
        pub protected: Option<ProtectedState>,
        /// True when the text is truncated.
        pub cut: bool,
        pub files: Vec<TimelineFile>,
        /// Its document request, with the state.
        pub asks: Option<RequestCard>,
        /// The reader may let it leave at once if it waits.
        pub may_send_now: bool,
        /// What a message of the drafting helper rests on; `None` for those of others.
        pub sources: Option<Vec<DraftSource>>,
    }
}

#[derive(Clone, Debug)]
pub struct TimelineFile {
    pub place: FileLocation,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
    /// The bytes of an invitation or a vCard, if it is small.
    pub content: Option<Vec<u8>>,
}

/// Where a message's file is stored: received attachments are in the library, ours belong to the
/// message.
#[derive(Clone, Debug)]
pub enum FileLocation {
    Document(DocumentId),
    Attachment(AttachmentId),
    /// A file of a secure message.
    Protected(MessageId, AttachmentId),
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

/// Reads one part of a conversation's timeline, oldest first. The newest part reaches back to what
/// the reader has not read, within limits. `drafted` has what the helper's messages rest on.
pub(crate) fn read_part(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    part: &TimelinePart,
    read_at: Option<i64>,
    mut drafted: HashMap<MessageId, Vec<DraftSource>>,
) -> Result<TimelineEntries> {
    let mut found = load(tx, cx, id, part, &PartLimits::USUAL)?;
    let is_all_unread = |found: &TimelineEntries, read_at: i64| {
        found.older.is_some() && found.entries.first().is_some_and(|entry| entry.at() > read_at)
    };
    if let (TimelinePart::Newest, Some(read_at)) = (part, read_at)
        && is_all_unread(&found, read_at)
    {
        found = load(tx, cx, id, part, &PartLimits { until: read_at, ..PartLimits::UNREAD })?;
    }
    let mut messages: Vec<&mut MessageEntry> =
        found.entries.iter_mut().filter_map(TimelineEntry::as_message).collect();
    attach_files(tx, cx, &mut messages)?;
    for message in messages {
        message.sources = drafted.remove(&message.id);
        message.sign_for(cx.actor.name());
        message.cut_long_text();
        if let Some(request) = &message.request {
            message.asks = Some(card(tx, cx, request)?);
        }
    }
    Ok(found)
}

/// How much one part of a timeline holds.
struct PartLimits {
    messages: usize,
    /// Messages, notes and events together.
    entries: usize,
    /// What is not younger than this is left for the next part.
    until: i64,
}

impl PartLimits {
    const USUAL: PartLimits = PartLimits { messages: 20, entries: 80, until: i64::MIN };
    const UNREAD: PartLimits = PartLimits { messages: 40, entries: 200, until: i64::MIN };
}

/// Takes the newest entries before the part's end, of all kinds, in their order.
fn load(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    part: &TimelinePart,
    limits: &PartLimits,
) -> Result<TimelineEntries> {
    let ws = cx.actor.ws;
    let end = part.end();
    let messages: Vec<MessageEntry> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL
               AND (m.at, m.id) < (?3, ?4)
             ORDER BY m.at DESC, m.id DESC LIMIT ?5",
            MessageEntry::COLUMNS
        ),
        &[&ws, id, &end.at, &end.id(MessageId::PREFIX), &(limits.messages as i64 + 1)],
    )?;
    let messages = messages.into_iter().map(|message| TimelineEntry::Message(Box::new(message)));
    let mut entries: Vec<TimelineEntry> = messages.collect();
    entries.extend(notes_and_events(tx, cx, id, &end, limits.entries as i64 + 1)?);
    entries.sort_by(|a, b| (b.at(), b.order()).cmp(&(a.at(), a.order())));
    Ok(take_within(entries, limits))
}

/// The newest notes and events before a place, so many of each.
fn notes_and_events(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    end: &TimelineCursor,
    most: i64,
) -> Result<Vec<TimelineEntry>> {
    let rows: Vec<BesideMessages> = tx.all(
        &format!(
            "SELECT * FROM (
                 SELECT TRUE AS is_note, {note} FROM notes
                 WHERE ws = ?1 AND conversation = ?2 AND (at, id) < (?3, ?4) AND hidden_at IS NULL
                 ORDER BY at DESC, id DESC LIMIT ?6
             ) AS said
             UNION ALL
             SELECT * FROM (
                 SELECT FALSE AS is_note, {event} FROM timeline_events
                 WHERE ws = ?1 AND conversation = ?2 AND (at, id) < (?3, ?5)
                 ORDER BY at DESC, id DESC LIMIT ?6
             ) AS done",
            note = NoteEntry::COLUMNS,
            event = EventEntry::COLUMNS
        ),
        &[&cx.actor.ws, id, &end.at, &end.id(NoteId::PREFIX), &end.id(EventId::PREFIX), &most],
    )?;
    Ok(rows.into_iter().map(|BesideMessages(entry)| entry).collect())
}

/// A note or an event. Both have five columns, of the same types.
struct BesideMessages(TimelineEntry);

impl FromRow for BesideMessages {
    fn from_row(row: &mut Row<'_>) -> std::result::Result<BesideMessages, StoreError> {
        Ok(BesideMessages(match row.take()? {
            true => TimelineEntry::Note(NoteEntry::from_row(row)?),
            false => TimelineEntry::Event(EventEntry::from_row(row)?),
        }))
    }
}

/// What fits the limits, of entries with the newest first.
fn take_within(mut entries: Vec<TimelineEntry>, limits: &PartLimits) -> TimelineEntries {
    let (mut messages, mut end) = (0, entries.len());
    for (place, entry) in entries.iter().enumerate() {
        messages += usize::from(matches!(entry, TimelineEntry::Message(_)));
        if messages > limits.messages || place == limits.entries || entry.at() <= limits.until {
            end = place;
            break;
        }
    }
    let older = (end < entries.len()).then(|| entries[..end].last()).flatten();
    let older = older.map(|last| TimelineCursor { at: last.at(), order: last.order().to_owned() });
    entries.truncate(end);
    entries.reverse();
    TimelineEntries { entries, older }
}

/// Adds to each message its documents and attachments, and the contents of those that are shown as
/// a card.
pub(crate) fn attach_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    messages: &mut [&mut MessageEntry],
) -> Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let ws = cx.actor.ws;
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id.clone()).collect();
    let places: Vec<String> = (3..ids.len() + 3).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&ws, &FILES];
    args.extend(ids.iter().map(|id| id as &dyn Arg));
    let rows: Vec<DocumentRow> = tx.all(
        &format!(
            "SELECT {} FROM documents d
             WHERE d.ws = ?1 AND d.message IN ({}) ORDER BY d.id || '' DESC LIMIT ?2",
            DocumentRow::COLUMNS,
            places.join(", ")
        ),
        &args,
    )?;
    let mut files: HashMap<MessageId, Vec<TimelineFile>> = HashMap::new();
    let mut cards = 0;
    for row in rows {
        let is_card = is_card(&row.content_type, &row.filename)
            && row.size <= CARD_BYTES
            && cards < CARDS
            && row.message.is_some();
        cards += usize::from(is_card);
        let content = if is_card { cx.blobs.get(tx, ws, &row.hash)? } else { None };
        let Some(message) = row.message else { continue };
        files.entry(message).or_default().push(TimelineFile {
            place: FileLocation::Document(row.id),
            filename: row.filename,
            content_type: row.content_type,
            size: row.size,
            content,
        });
    }
    files.values_mut().for_each(|files| files.reverse());
    for file in attachments::of_messages(tx, ws, &ids, FILES)? {
        let Some(message) = file.message else { continue };
        files.entry(message).or_default().push(TimelineFile {
            place: FileLocation::Attachment(file.id),
            filename: file.filename,
            content_type: file.content_type,
            size: file.size,
            content: None,
        });
    }
    for message in messages.iter_mut() {
        message.files = files.remove(&message.id).unwrap_or_default();
    }
    open_secure(tx, cx, messages)
}

/// Gives the secure messages their words and files.
fn open_secure(tx: &mut Tx<'_>, cx: &Cx<'_>, messages: &mut [&mut MessageEntry]) -> Result<()> {
    let sealed = messages.iter().filter(|message| message.secure);
    let sealed: Vec<MessageId> = sealed.map(|message| message.id.clone()).collect();
    let mut states = secure::states(tx, cx, &sealed)?;
    for message in messages {
        let Some(state) = states.remove(&message.id) else { continue };
        let content = &state.content;
        message.text.clone_from(&content.text);
        message.markdown.clone_from(&content.markdown);
        message.summary.clone_from(&content.summary);
        message.files = content
            .files
            .iter()
            .map(|file| TimelineFile {
                place: FileLocation::Protected(message.id.clone(), file.id.clone()),
                filename: file.filename.clone(),
                content_type: file.content_type.clone(),
                size: file.size,
                content: None,
            })
            .collect();
        message.protected = Some(state);
    }
    Ok(())
}

/// True for invitations and vCards.
fn is_card(content_type: &str, filename: &str) -> bool {
    let name = filename.to_ascii_lowercase();
    matches!(
        content_type,
        "text/calendar" | "application/ics" | "text/vcard" | "text/x-vcard" | "text/directory"
    ) || name.ends_with(".ics")
        || name.ends_with(".vcf")
}

db::row! {
    struct DocumentRow from "d" {
        message: Option<MessageId>,
        id: DocumentId,
        filename: String,
        content_type: String,
        size: i64,
        hash: String,
    }
}

impl MessageEntry {
    /// Why it was not delivered, or not to everybody.
    pub fn reason(&self) -> Option<SendFailure> {
        send_failure::of_row(self.status, self.outcome_code.clone(), self.outcome_text.clone())
    }

    /// Cuts a text that is longer than a page shows. Drafts are not truncated, because a person
    /// approves the whole text.
    pub(crate) fn cut_long_text(&mut self) {
        // Most messages are shorter in bytes already, and need no counting.
        if self.status != Some(MessageStatus::Draft)
            && self.text.len() > READ_TEXT_CHARS
            && let Some((end, _)) = self.text.char_indices().nth(READ_TEXT_CHARS)
        {
            self.text.truncate(end);
            self.cut = true;
        }
    }

    /// Puts the reader's name where the helper left it open: whoever approves the draft sends it.
    pub(crate) fn sign_for(&mut self, name: &str) {
        if self.sources.is_some() && self.status == Some(MessageStatus::Draft) {
            self.text = signed_text(name, &self.text);
            self.markdown = self.markdown.as_deref().map(|text| signed_text(name, text));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else() {
        let cursor = TimelineCursor { at: -7, order: "0ab".into() };
        assert_eq!(TimelineCursor::parse(&cursor.to_string()), Some(cursor));
        for bad in ["", "1", "1.", "x.a", "1.A", "1.a b", "1.~", "99999999999999999999.a"] {
            assert_eq!(TimelineCursor::parse(bad), None, "{bad}");
        }
    }
}
