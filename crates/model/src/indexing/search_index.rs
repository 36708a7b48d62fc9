//! What search knows of a conversation: its messages, drafts, notes, documents and tags.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, DocumentId, MessageId, NoteId};
use db::{Json, Tx};
use search::{HAS_FILE, HAS_NOTE, IndexRowKey, IndexedText, NewWordList};

use crate::messages::attachments::AttachmentInfo;
use crate::messages::recipients::Party;

/// Messages of a conversation that are in memory at once.
const MESSAGES_AT_ONCE: i64 = 100;
/// Messages of a very long conversation that quoted lines are compared with, the latest.
const COMPARED: i64 = 20;
/// The entry of a conversation's tags; the others are named by the id of a note or document.
const TAGS: &str = "tags";

db::row! {
    /// A message as search knows it.
    struct FoundMessage from "m" {
        num: i64 = "c.num",
        id: MessageId,
        at: i64,
        conversation: ConversationId,
        serial: i64,
        discarded_at: Option<i64>,
        subject: String,
        counted_at: Option<i64>,
        from_name: Option<String>,
        from_email: String,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        text: String,
        quoted: Option<String>,
        attachments: Json<Vec<AttachmentInfo>>,
        secure: bool,
    }
}

impl FoundMessage {
    fn place(&self) -> IndexRowKey<'_> {
        IndexRowKey { num: self.num, conversation: &self.conversation, serial: self.serial }
    }

    /// A secure message is found by subject and people alone. Whose name a draft leaves under may
    /// still change.
    fn text(&self) -> IndexedText<'_> {
        let from = [self.from_name.as_deref(), Some(self.from_email.as_str())];
        let has_left = self.counted_at.is_some();
        let everybody = self.to_list.iter().chain(self.cc_list.iter()).chain(self.bcc_list.iter());
        let people = IndexedText {
            subject: &self.subject,
            from: from.into_iter().flatten().filter(|_| has_left).collect(),
            to: everybody.flat_map(names).collect(),
            ..IndexedText::default()
        };
        if self.secure {
            return people;
        }
        let files: Vec<&str> = self.attachments.iter().map(|file| file.filename.as_str()).collect();
        let has = if files.is_empty() { Vec::new() } else { vec![HAS_FILE] };
        let quoted = self.quoted.as_deref().unwrap_or_default();
        IndexedText { text: &self.text, quoted, files, has, ..people }
    }
}

/// The name and the address of somebody.
pub fn names(party: &Party) -> impl Iterator<Item = &str> {
    party.name.as_deref().into_iter().chain([party.email.as_str()])
}

/// Writes a message that has just left into the index.
pub fn index_sent(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<()> {
    let message = load(tx, ws, id)?;
    search::index_sent(tx, ws, message.place(), &message.text())
}

/// Makes a new draft findable.
pub fn new_draft(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<()> {
    let message = load(tx, ws, id)?;
    search::add(tx, ws, message.place(), &message.text())
}

/// Brings the index up to date with a draft that was changed or discarded.
pub fn draft(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<()> {
    let ws = cx.actor.ws;
    let message = load(tx, ws, id)?;
    match message.discarded_at {
        Some(_) => search::remove(tx, ws, message.place(), cx.now),
        None => search::replace(tx, ws, message.place(), &message.text(), cx.now),
    }
}

fn load(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<FoundMessage> {
    Ok(tx.one(
        &format!(
            "SELECT {} FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.ws = ?1 AND m.id = ?2",
            FoundMessage::COLUMNS
        ),
        &[&ws, id],
    )?)
}

/// Keeps those of a mail's quoted lines that stand nowhere else in its conversation, so that it is found
/// by them; returns them.
pub fn keep_quoted(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    quoted: &str,
) -> Result<String> {
    if quoted.is_empty() {
        return Ok(String::new());
    }
    let unknown = match search::unknown_lines(tx, place.num, quoted)? {
        Some(unknown) => unknown,
        None => beside_latest(tx, ws, place, quoted)?,
    };
    if !unknown.is_empty() {
        tx.exec_soon(
            "UPDATE messages SET quoted = ?4 WHERE ws = ?1 AND conversation = ?2 AND serial = ?3",
            &[&ws, place.conversation, &place.serial, &unknown],
        )?;
    }
    Ok(unknown)
}

/// The lines with words that the latest messages of a conversation do not have.
fn beside_latest(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>, quoted: &str) -> Result<String> {
    let texts: Vec<(String, Option<String>)> = tx.all(
        "SELECT text, quoted FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND serial <> ?3 ORDER BY at DESC, id DESC LIMIT ?4",
        &[&ws, place.conversation, &place.serial, &COMPARED],
    )?;
    let texts = texts.iter().flat_map(|(text, quoted)| [Some(text), quoted.as_ref()]).flatten();
    let words: Vec<String> = texts.flat_map(|text| search::index_words(text)).collect();
    Ok(search::lines_beside(quoted, &words.iter().map(String::as_str).collect()))
}

/// Makes a new note findable.
pub fn new_note(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    id: &NoteId,
    (author, body): (&str, &str),
) -> Result<()> {
    let entry = new_entry(tx, ws, conversation, id.as_str())?;
    search::add(tx, ws, entry.place(conversation), &note_text(author, body))
}

/// Writes the row of a note again.
pub fn note(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId, id: &NoteId) -> Result<()> {
    let (author, body): (String, String) = tx.one(
        "SELECT author_name, body FROM notes WHERE ws = ?1 AND conversation = ?2 AND id = ?3",
        &[&ws, conversation, id],
    )?;
    let entry = entry(tx, ws, conversation, id.as_str())?;
    search::extend(tx, ws, entry.place(conversation), &note_text(&author, &body))
}

pub(super) fn note_text<'a>(author: &'a str, body: &'a str) -> IndexedText<'a> {
    IndexedText { from: vec![author], text: body, has: vec![HAS_NOTE], ..IndexedText::default() }
}

/// Makes a document findable in its conversation by its name, what was read in it, and its text.
pub fn document(
    tx: &mut Tx<'_>,
    (ws, now): (i64, i64),
    id: &DocumentId,
    words: &[&str],
) -> Result<()> {
    let (conversation, text): (Option<ConversationId>, Option<String>) =
        tx.one("SELECT conversation, text FROM documents WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let Some(conversation) = conversation else { return Ok(()) };
    let entry = entry(tx, ws, &conversation, id.as_str())?;
    let text = document_text(text.as_deref(), words);
    match entry.is_new {
        true => search::add(tx, ws, entry.place(&conversation), &text),
        false => search::replace(tx, ws, entry.place(&conversation), &text, now),
    }
}

pub(super) fn document_text<'a>(text: Option<&'a str>, words: &[&'a str]) -> IndexedText<'a> {
    IndexedText {
        text: text.unwrap_or_default(),
        files: words.to_vec(),
        has: vec![HAS_FILE],
        ..IndexedText::default()
    }
}

/// Makes a conversation findable by its tags, before its row says them.
pub fn tags(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    tags: &[String],
) -> Result<()> {
    let ws = cx.actor.ws;
    let entry = entry(tx, ws, conversation, TAGS)?;
    let (place, text) = (entry.place(conversation), tags_text(tags));
    if entry.is_new {
        return search::add(tx, ws, place, &text);
    }
    match entry.tags.iter().all(|tag| tags.contains(tag)) {
        true => search::extend(tx, ws, place, &text),
        false => search::replace(tx, ws, place, &text, cx.now),
    }
}

pub(super) fn tags_text(tags: &[String]) -> IndexedText<'_> {
    let files = tags.iter().map(String::as_str).collect();
    IndexedText { files, ..IndexedText::default() }
}

/// Writes the row of a document or of the tags again, after all rows of the conversation were taken out.
pub(super) fn write_entry(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    item: Option<&DocumentId>,
    text: &IndexedText<'_>,
) -> Result<()> {
    let entry = entry(tx, ws, conversation, item.map_or(TAGS, DocumentId::as_str))?;
    search::extend(tx, ws, entry.place(conversation), text)
}

/// The row of the index that a note, a document or the tags have.
struct IndexEntry {
    num: i64,
    serial: i64,
    is_new: bool,
    /// The tags that the conversation has.
    tags: Json<Vec<String>>,
}

impl IndexEntry {
    fn place<'a>(&self, conversation: &'a ConversationId) -> IndexRowKey<'a> {
        IndexRowKey { num: self.num, conversation, serial: self.serial }
    }
}

fn entry(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    item: &str,
) -> Result<IndexEntry> {
    let known: Option<(i64, i64, Json<Vec<String>>)> = tx.opt(
        "SELECT c.num, e.serial, c.tags FROM index_entries e
         JOIN conversations c ON c.ws = e.ws AND c.id = e.conversation
         WHERE e.ws = ?1 AND e.conversation = ?2 AND e.item = ?3",
        &[&ws, conversation, &item],
    )?;
    if let Some((num, serial, tags)) = known {
        return Ok(IndexEntry { num, serial, is_new: false, tags });
    }
    new_entry(tx, ws, conversation, item)
}

fn new_entry(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    item: &str,
) -> Result<IndexEntry> {
    let (num, serial): (i64, i64) = tx.one(
        "UPDATE conversations SET next_entry = next_entry + 1
         WHERE ws = ?1 AND id = ?2 RETURNING num, next_entry - 1",
        &[&ws, conversation],
    )?;
    tx.exec_soon(
        "INSERT INTO index_entries (ws, conversation, item, serial) VALUES (?1, ?2, ?3, ?4)",
        &[&ws, conversation, &item, &serial],
    )?;
    Ok(IndexEntry { num, serial, is_new: true, tags: Json(Vec::new()) })
}

/// What stands in a row of the index.
pub enum IndexedItem {
    Message(MessageId),
    Note(NoteId),
    Document(DocumentId),
    Tags,
}

/// The item of a conversation that has this serial in the index.
pub fn item(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    serial: i64,
) -> Result<Option<IndexedItem>> {
    if serial < search::FIRST_ENTRY {
        let found: Option<(MessageId,)> = tx.opt(
            "SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2 AND serial = ?3",
            &[&ws, conversation, &serial],
        )?;
        return Ok(found.map(|(id,)| IndexedItem::Message(id)));
    }
    let found: Option<(String,)> = tx.opt(
        "SELECT item FROM index_entries WHERE ws = ?1 AND conversation = ?2 AND serial = ?3",
        &[&ws, conversation, &serial],
    )?;
    Ok(found.and_then(|(item,)| {
        let note = NoteId::parse(&item).map(IndexedItem::Note);
        let document = || DocumentId::parse(&item).map(IndexedItem::Document);
        note.or_else(document).or_else(|| (item == TAGS).then_some(IndexedItem::Tags))
    }))
}

/// Writes the rows of a conversation's messages again; returns how many.
pub fn messages(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<usize> {
    each_message(tx, ws, conversation, |tx, message| {
        search::extend(tx, ws, message.place(), &message.text())
    })
}

/// Adds the words of a conversation's messages to a list.
pub(super) fn list_message_words(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    list: &mut NewWordList,
) -> Result<()> {
    each_message(tx, ws, conversation, |_, message| {
        list.add(ws, &message.text());
        Ok(())
    })?;
    Ok(())
}

/// Shows the messages of a conversation, a page after the other; returns how many they are.
fn each_message(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    mut see: impl FnMut(&mut Tx<'_>, &FoundMessage) -> Result<()>,
) -> Result<usize> {
    let sql = format!(
        "SELECT {} FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL AND (m.at, m.id) > (?3, ?4)
         ORDER BY m.at, m.id LIMIT ?5",
        FoundMessage::COLUMNS
    );
    let (mut count, mut after) = (0, (i64::MIN, String::new()));
    loop {
        let page: Vec<FoundMessage> =
            tx.all(&sql, &[&ws, conversation, &after.0, &after.1, &MESSAGES_AT_ONCE])?;
        for message in &page {
            see(tx, message)?;
        }
        count += page.len();
        match page.last() {
            Some(last) if page.len() as i64 == MESSAGES_AT_ONCE => {
                after = (last.at, last.id.to_string());
            }
            _ => return Ok(count),
        }
    }
}
