//! Conversations of another help desk, taken over with notes, tags, assignee and status. Like all mail of
//! the past ([`super::history`]) they keep their dates, and nobody is told.

use std::collections::{HashMap, HashSet};

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::ids::{ConversationId, MailboxId, MemberId, NoteId, UserId, repeatable_id};
use base::limits::TAG_CHARS;
use base::states::{Direction, Status};
use db::{Json, Tx};
use model::conversations::past_snoozes;
use model::conversations::tags::{self, TagName};
use model::conversations::{self, Conversation};
use model::documents::{self, NewDocument};
use model::indexing::search_index;
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use model::people::members;
use outbound::messages;

use super::history::{self, HistoryMail, ImportOutcome, ImportTarget, ImportedMail};
use super::import_turns::file_in_turns;

/// Characters of a note; help desks allow more than Mailroom's own form.
const NOTE_TEXT_CHARS: usize = 100_000;
/// Tags of one conversation.
const TAGS: usize = 50;

/// A conversation as another help desk has it, or a part of one that is too large for one transaction.
#[derive(Clone, Debug)]
pub struct ImportedConversation {
    /// The Message-ID of its first mail, by which its parts find one another.
    pub first: String,
    pub status: Status,
    /// Until when it is out of the way there, in milliseconds. What has passed counts for nothing.
    pub snoozed_until: Option<i64>,
    pub tags: Vec<String>,
    /// The address of the person who has it there.
    pub assignee: Option<String>,
    /// The oldest first.
    pub mails: Vec<(Direction, ImportedMail)>,
    pub notes: Vec<ImportedNote>,
}

#[derive(Clone, Debug)]
pub struct ImportedNote {
    /// What it is known by there: help desk, conversation and note.
    pub known_by: String,
    /// In milliseconds.
    pub at: i64,
    pub author: String,
    pub author_email: Option<String>,
    pub text: String,
    pub files: Vec<mail::Attachment>,
}

/// What became of a conversation or of a part.
#[derive(Clone, Debug, Default)]
pub struct ConversationOutcome {
    pub mails: Vec<ImportOutcome>,
    pub notes: usize,
    /// Files of notes.
    pub note_files: usize,
    pub tags: usize,
    pub is_assigned: bool,
    /// An assignee who is not on the team here, or does not see this inbox.
    pub unknown_assignee: Option<String>,
}

/// The mails and notes that an inbox has already, by their Message-IDs and by what they are known by.
#[derive(Clone, Debug, Default)]
pub struct KnownParts {
    pub mails: HashSet<String>,
    pub notes: HashSet<String>,
    /// How many files each of the mails has here.
    pub files: HashMap<String, usize>,
    /// The conversation that has one of the mails.
    conversation: Option<ConversationId>,
}

/// Looks mails and notes up, given with their dates, so that nothing is fetched that is here already.
pub async fn known_parts(
    app: &App,
    target: &ImportTarget,
    mails: Vec<String>,
    notes: Vec<(String, i64)>,
) -> Result<KnownParts> {
    let (ws, mailbox) = (target.inbox.ws, target.inbox.mailbox.id.clone());
    app.store
        .read(move |tx| {
            let mut known = KnownParts::default();
            for id in &mails {
                if let Some((found, message)) = messages::with_header_id(tx, ws, &mailbox, id)? {
                    let files: (Json<Vec<AttachmentInfo>>,) = tx.one(
                        "SELECT attachments FROM messages WHERE ws = ?1 AND id = ?2",
                        &[&ws, &message],
                    )?;
                    known.files.insert(id.clone(), files.0.len());
                    known.mails.insert(id.clone());
                    known.conversation = known.conversation.or(Some(found));
                }
            }
            let Some(conversation) = known.conversation.clone() else { return Ok(known) };
            for (known_by, at) in &notes {
                let id = note_id(&mailbox, known_by, *at)?;
                if has_note(tx, ws, &conversation, &id)? {
                    known.notes.insert(known_by.clone());
                }
            }
            Ok(known)
        })
        .await
}

/// What would become of the tags and the assignee of a conversation of which something is filed.
pub async fn preview_marks(
    app: &App,
    target: &ImportTarget,
    known: &KnownParts,
    tags: Vec<String>,
    assignee: Option<String>,
) -> Result<ConversationOutcome> {
    let (ws, circle) = (target.inbox.ws, target.inbox.mailbox.circle.clone());
    let conversation = known.conversation.clone();
    app.store
        .read(move |tx| {
            let found: Option<(Json<Vec<String>>, String)> = match &conversation {
                Some(id) => tx.opt(
                    "SELECT tags, assignee FROM conversations WHERE ws = ?1 AND id = ?2",
                    &[&ws, id],
                )?,
                None => None,
            };
            let (Json(on), given_to) = found.unwrap_or_default();
            let on: HashSet<String> = on.iter().map(|name| TagName::new(name).folded).collect();
            let mut added: HashSet<String> =
                tag_names(&tags).into_iter().map(|tag| tag.folded).collect();
            added.retain(|folded| !on.contains(folded));
            let member = match &assignee {
                Some(email) => assignable(tx, ws, &circle, email)?,
                None => None,
            };
            Ok(ConversationOutcome {
                tags: added.len(),
                is_assigned: member.is_some() && given_to.is_empty(),
                unknown_assignee: assignee.clone().filter(|_| member.is_none()),
                ..ConversationOutcome::default()
            })
        })
        .await
}

/// Conversations whose bytes are kept and parsed, ready to be filed.
pub struct ReadConversations(Vec<ReadConversation>);

/// Keeps the bytes of conversations and parses their mails, which needs no transaction: the batch before
/// may be filed meanwhile.
pub async fn read_conversations(
    app: &App,
    target: &ImportTarget,
    conversations: Vec<ImportedConversation>,
) -> Result<ReadConversations> {
    let (mut read, mut mails, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut directions = Vec::new();
    for conversation in conversations {
        let ImportedConversation { first, status, snoozed_until, tags, assignee, .. } =
            conversation;
        let (its, own): (Vec<Direction>, Vec<ImportedMail>) =
            conversation.mails.into_iter().unzip();
        directions.push(its);
        mails.extend(own);
        notes.push(conversation.notes);
        let (mails, notes) = (Vec::new(), Vec::new());
        read.push(ReadConversation { first, status, snoozed_until, tags, assignee, mails, notes });
    }
    let mut mails = history::read_all(app, &target.inbox.mailbox, mails).await?.into_iter();
    let notes = keep_files(app, notes).await?;
    for ((one, its), notes) in read.iter_mut().zip(directions).zip(notes) {
        one.mails = its.into_iter().zip(mails.by_ref()).collect();
        one.notes = notes;
    }
    Ok(ReadConversations(read))
}

/// Files conversations in their order, in turns with others that write. What the inbox has is left as
/// it is, so that they may be repeated.
pub async fn file_conversations(
    app: &App,
    target: &ImportTarget,
    ReadConversations(read): ReadConversations,
) -> Result<Vec<ConversationOutcome>> {
    file_in_turns(app, &target.inbox, read, file).await
}

/// A conversation whose bytes are kept and parsed.
struct ReadConversation {
    first: String,
    status: Status,
    snoozed_until: Option<i64>,
    tags: Vec<String>,
    assignee: Option<String>,
    mails: Vec<(Direction, HistoryMail)>,
    notes: Vec<ReadNote>,
}

/// A note, and a blob for each of its files.
struct ReadNote {
    note: ImportedNote,
    blobs: Vec<Blob>,
}

/// Keeps the files of the notes of each conversation.
async fn keep_files(app: &App, notes: Vec<Vec<ImportedNote>>) -> Result<Vec<Vec<ReadNote>>> {
    let blobs = app.blobs.clone();
    let keeping = spawn_blocking(move || {
        let kept = |mut note: ImportedNote| -> Result<ReadNote> {
            let kept = note.files.iter().map(|file| blobs.put(&file.bytes));
            let kept = kept.collect::<std::io::Result<Vec<_>>>()?;
            note.files.iter_mut().for_each(|file| file.bytes = Vec::new());
            Ok(ReadNote { note, blobs: kept })
        };
        let of_one = |notes: Vec<ImportedNote>| -> Result<Vec<ReadNote>> {
            notes.into_iter().map(&kept).collect()
        };
        notes.into_iter().map(of_one).collect::<Result<Vec<_>>>()
    });
    keeping.await?
}

fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    read: &ReadConversation,
) -> Result<ConversationOutcome> {
    let mut outcome = ConversationOutcome::default();
    let mut joined = find_begun(tx, cx, mailbox, read)?;
    let mut is_news = false;
    for (direction, mail) in &read.mails {
        let filed = history::file_in(tx, cx, mailbox, (mail, *direction), joined.clone())?;
        if let Some(conversation) = filed.0 {
            is_news = true;
            joined = Some(conversation);
        }
        outcome.mails.push(filed.1);
    }
    let Some(mut conversation) = joined else { return Ok(outcome) };
    for note in &read.notes {
        if file_note(tx, cx, mailbox, &conversation, note)? {
            outcome.notes += 1;
            outcome.note_files += note.blobs.len();
        }
    }
    // What was taken over before, and got no newer mail there, belongs to the team here.
    if is_news {
        settle(tx, cx, &mut conversation, read)?;
        outcome.tags = put_tags(tx, cx, &mut conversation, &read.tags)?;
        if let Some(email) = &read.assignee {
            match assignable(tx, cx.actor.ws, &conversation.circle, email)? {
                Some(member) => outcome.is_assigned = assign(tx, cx, &conversation, &member)?,
                None => outcome.unknown_assignee = Some(email.clone()),
            }
        }
    }
    Ok(outcome)
}

/// The conversation that has a mail of this one already.
fn find_begun(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    read: &ReadConversation,
) -> Result<Option<Conversation>> {
    let own = read.mails.iter().filter_map(|(_, mail)| mail.message_id());
    for id in std::iter::once(read.first.as_str()).chain(own) {
        if let Some((found, _)) = messages::with_header_id(tx, cx.actor.ws, &mailbox.id, id)? {
            return conversations::load(tx, cx.actor, found.as_str()).map(Some);
        }
    }
    Ok(None)
}

/// The status there, without an event. The customer waits if the last word is theirs.
fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    read: &ReadConversation,
) -> Result<()> {
    if conversation.held {
        return Ok(());
    }
    let is_closed = read.status == Status::Closed;
    let snoozed_until = read.snoozed_until.filter(|until| *until > cx.now && !is_closed);
    let status = if snoozed_until.is_some() { Status::Open } else { read.status };
    conversations::settle(tx, cx, conversation, status)?;
    past_snoozes::take_over(tx, cx, conversation, snoozed_until)?;
    let (since,): (Option<i64>,) = tx.one(
        "SELECT min(m.counted_at) FROM messages m
         WHERE m.ws = ?1 AND m.conversation = ?2 AND m.direction = 'inbound'
           AND m.counted_at > coalesce((
               SELECT max(o.counted_at) FROM messages o
               WHERE o.ws = ?1 AND o.conversation = ?2 AND o.direction = 'outbound'
           ), 0)",
        &[&cx.actor.ws, &conversation.id],
    )?;
    let since = since.filter(|_| status != Status::Closed);
    conversations::wait_since(tx, cx, conversation, since)
}

fn put_tags(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    names: &[String],
) -> Result<usize> {
    let mut added = 0;
    for tag in tag_names(names) {
        added += usize::from(tags::put_on(tx, cx, conversation, &tag)?.is_some());
    }
    if added > 0 {
        tags::save_names(tx, cx, conversation)?;
    }
    Ok(added)
}

/// Names of another help desk, as tags may be called here.
fn tag_names(names: &[String]) -> Vec<TagName> {
    let plain = |name: &String| -> String {
        name.chars().filter(|c| !c.is_control()).take(TAG_CHARS).collect()
    };
    let tags = names.iter().take(TAGS).map(|name| TagName::new(&plain(name)));
    tags.filter(|tag| !tag.name.is_empty()).collect()
}

/// The person of an address who may have conversations of a circle.
fn assignable(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &str) -> Result<Option<MemberId>> {
    let Some(member) = person(tx, ws, email)?.map(MemberId::User) else { return Ok(None) };
    Ok(members::in_circle(tx, ws, circle, &member)?.map(|_| member))
}

/// Gives a conversation to a person, without an event. `false` when the team gave it to somebody: it
/// stays with them.
fn assign(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    member: &MemberId,
) -> Result<bool> {
    let changed = tx.exec(
        "UPDATE conversations SET assignee = ?3 WHERE ws = ?1 AND id = ?2 AND assignee = ''",
        &[&cx.actor.ws, &conversation.id, member],
    )?;
    Ok(changed > 0)
}

fn person(tx: &mut Tx<'_>, ws: i64, email: &str) -> Result<Option<UserId>> {
    let found: Option<(UserId,)> = tx.opt(
        "SELECT id FROM users WHERE ws = ?1 AND email = ?2",
        &[&ws, &EmailAddress::new(email)],
    )?;
    Ok(found.map(|(id,)| id))
}

/// Writes a note with its files, and mentions nobody. `false` when the conversation has it.
fn file_note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    conversation: &Conversation,
    read: &ReadNote,
) -> Result<bool> {
    let note = &read.note;
    let id = note_id(&mailbox.id, &note.known_by, note.at)?;
    if has_note(tx, cx.actor.ws, &conversation.id, &id)? {
        return Ok(false);
    }
    let author = match &note.author_email {
        Some(email) => person(tx, cx.actor.ws, email)?,
        None => None,
    };
    let text: String = note.text.chars().take(NOTE_TEXT_CHARS).collect();
    tx.exec_soon(
        "INSERT INTO notes (ws, conversation, id, at, author, author_name, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &cx.actor.ws,
            &conversation.id,
            &id,
            &note.at,
            &author.as_ref().map_or("", |author| author.as_str()),
            &note.author,
            &text,
        ],
    )?;
    search_index::new_note(tx, cx.actor.ws, &conversation.id, &id, (&note.author, &text))?;
    let then = &Cx { now: note.at, ..*cx };
    for (file, blob) in note.files.iter().zip(&read.blobs) {
        let document = NewDocument {
            message: None,
            filename: &file.filename,
            content_type: &file.content_type,
            blob,
        };
        documents::file_unread(tx, then, conversation, &document)?;
    }
    Ok(true)
}

/// A note gets the same id each time, so that it is not written twice.
fn note_id(mailbox: &MailboxId, known_by: &str, at: i64) -> Result<NoteId> {
    let rest = repeatable_id(at, &format!("{mailbox} {known_by}"));
    NoteId::parse(&format!("{}{rest}", NoteId::PREFIX)).ok_or(Error::NotFound("note"))
}

fn has_note(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId, id: &NoteId) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT at FROM notes WHERE ws = ?1 AND conversation = ?2 AND id = ?3",
        &[&ws, conversation, id],
    )?;
    Ok(found.is_some())
}
