//! Conversations of another help desk, taken over with notes, tags, assignee and status. Like all mail of
//! the past ([`super::history`]) they keep their dates, and nobody is told.

use std::collections::HashSet;
use std::sync::Arc;

use db::Tx;
use tokio::task::spawn_blocking;

use super::history::{self, HistoryMail, ImportOutcome, ImportTarget, ImportedMail};
use super::routes::{self, RecipientInbox};
use crate::app::{App, Cx};
use crate::base::actor::Actor;
use crate::base::blobs::Blob;
use crate::base::email_address::EmailAddress;
use crate::base::error::{Error, Result};
use crate::base::ids::{ConversationId, MailboxId, MemberId, NoteId, UserId, repeatable_id};
use crate::base::limits::TAG_CHARS;
use crate::base::queue::Queue;
use crate::base::states::{Direction, Status};
use crate::model::conversations::{self, Conversation};
use crate::model::documents::{self, NewDocument};
use crate::model::mailboxes::Mailbox;
use crate::model::tags::{self, TagName};
use crate::model::{members, messages, search_index};

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
            let (mut known, mut conversation) = (KnownParts::default(), None);
            for id in &mails {
                if let Some((found, _)) = messages::with_header_id(tx, ws, &mailbox, id)? {
                    known.mails.insert(id.clone());
                    conversation = conversation.or(Some(found));
                }
            }
            let Some(conversation) = conversation else { return Ok(known) };
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

/// Files conversations in one transaction, in their order. What the inbox has is left as it is, so that
/// they may be repeated.
pub async fn import_conversations(
    app: &App,
    target: &ImportTarget,
    conversations: Vec<ImportedConversation>,
) -> Result<Vec<ConversationOutcome>> {
    let mut read = Vec::with_capacity(conversations.len());
    for conversation in conversations {
        read.push(read_conversation(app, conversation).await?);
    }
    let read = Arc::new(read);
    let RecipientInbox { ws, workspace, mailbox } = target.inbox.clone();
    let actor = Actor::system(ws, workspace, mailbox.circle.clone());
    let app_of = app.clone();
    app.store
        .write(move |tx| {
            tx.wake(Queue::Pages);
            let found = routes::as_it_is(tx, &actor, &mailbox)?;
            let (mailbox, actor) = &found.ok_or(Error::NotFound("inbox"))?;
            let cx = app_of.cx(actor);
            let filed = read.iter().map(|conversation| file(tx, &cx, mailbox, conversation));
            filed.collect::<Result<Vec<_>>>()
        })
        .await
}

/// A conversation whose bytes are kept and parsed.
struct ReadConversation {
    first: String,
    status: Status,
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

async fn read_conversation(
    app: &App,
    conversation: ImportedConversation,
) -> Result<ReadConversation> {
    let ImportedConversation { first, status, tags, assignee, mails, notes } = conversation;
    let (directions, mails): (Vec<Direction>, Vec<ImportedMail>) = mails.into_iter().unzip();
    let mails = history::read_all(app, mails).await?;
    let blobs = app.blobs.clone();
    let notes = spawn_blocking(move || {
        let kept = notes.into_iter().map(|mut note| {
            let kept = note.files.iter().map(|file| blobs.put(&file.bytes));
            let kept = kept.collect::<std::io::Result<Vec<_>>>()?;
            note.files.iter_mut().for_each(|file| file.bytes = Vec::new());
            Ok::<_, Error>(ReadNote { note, blobs: kept })
        });
        kept.collect::<Result<Vec<_>>>()
    });
    let notes = notes.await??;
    let mails = directions.into_iter().zip(mails).collect();
    Ok(ReadConversation { first, status, tags, assignee, mails, notes })
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
        match filed {
            Some((conversation, filed)) => {
                is_news = true;
                joined = Some(conversation);
                outcome.mails.push(filed);
            }
            None => outcome.mails.push(ImportOutcome::Known),
        }
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
        settle(tx, cx, &mut conversation, read.status)?;
        outcome.tags = put_tags(tx, cx, &mut conversation, &read.tags)?;
        if let Some(email) = &read.assignee {
            outcome.is_assigned = assign(tx, cx, &conversation, email)?;
            outcome.unknown_assignee = (!outcome.is_assigned).then(|| email.clone());
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
    status: Status,
) -> Result<()> {
    if conversation.held {
        return Ok(());
    }
    conversations::settle(tx, cx, conversation, status)?;
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
    for name in names.iter().take(TAGS) {
        let name: String = name.chars().filter(|c| !c.is_control()).take(TAG_CHARS).collect();
        let tag = TagName::new(&name);
        if !tag.name.is_empty() && tags::put_on(tx, cx, conversation, &tag)?.is_some() {
            added += 1;
        }
    }
    if added > 0 {
        tags::save_names(tx, cx, conversation)?;
    }
    Ok(added)
}

/// Gives a conversation to the person of this address, without an event. `false` when there is none who
/// sees it. What the team gave to somebody stays with them.
fn assign(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation, email: &str) -> Result<bool> {
    let Some(member) = person(tx, cx, email)?.map(MemberId::User) else { return Ok(false) };
    if members::in_circle(tx, cx.actor.ws, &conversation.circle, &member)?.is_none() {
        return Ok(false);
    }
    tx.exec(
        "UPDATE conversations SET assignee = ?3 WHERE ws = ?1 AND id = ?2 AND assignee = ''",
        &[&cx.actor.ws, &conversation.id, &member],
    )?;
    Ok(true)
}

fn person(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str) -> Result<Option<UserId>> {
    let found: Option<(UserId,)> = tx.opt(
        "SELECT id FROM users WHERE ws = ?1 AND email = ?2",
        &[&cx.actor.ws, &EmailAddress::new(email)],
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
        Some(email) => person(tx, cx, email)?,
        None => None,
    };
    let text: String = note.text.chars().take(NOTE_TEXT_CHARS).collect();
    tx.exec(
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
    search_index::note(tx, cx.actor.ws, &conversation.id, &id)?;
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
