//! Reading a conversation in the app.

use base::app::Cx;
use base::assignee::Assignee;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId};
use base::states::{MessageStatus, Status};
use db::Tx;
use model::conversations::merges;
use model::conversations::topics::{self, Topic};
use model::conversations::{self, Conversation};
use model::mailboxes::{self, Mailbox};
use model::messages::attachments::OutgoingAttachment;
use model::messages::recipients::{self, RecipientList};
use model::people::members;
use model::people::members::Team;
use outbound::scheduling;

use crate::conversations::picture_senders::among_picture_senders;
use crate::conversations::pins::pins;
use crate::conversations::timeline::{
    TimelineCursor, TimelineEntries, TimelineEntry, TimelinePart, read_part,
};
use crate::inboxes::writing_settings::{WritingSettings, writing_settings};
use crate::writing::autosaves::{Autosave, AutosaveKey, load_autosave};
use crate::writing::seen::SeenConversation;
use crate::writing::unsent_files::list;

/// Messages whose state is part of a page's version.
const WATCHED: i64 = 50;
const OTHERS_SHOWN: i64 = 10;

/// A conversation with everything that its page shows.
pub struct OpenConversation {
    pub conversation: Conversation,
    pub mailbox: Mailbox,
    pub assignee: Option<Assignee>,
    pub entries: Vec<TimelineEntry>,
    /// Where the part before this one ends, if there is one.
    pub older: Option<TimelineCursor>,
    pub team: Team,
    pub seen: SeenConversation,
    /// When the reader was last here.
    pub read_at: Option<i64>,
    /// The reader is mentioned in a note that they have not read.
    pub is_mentioned: bool,
    /// The reader's id and name.
    reader: (String, String),
    /// Senders here whose remote pictures the reader always sees.
    pub picture_senders: Vec<String>,
    pub others: Vec<OtherConversation>,
    pub autosave: Option<Autosave>,
    /// The files of the reader's unsent text.
    pub attached: Vec<OutgoingAttachment>,
    /// Everybody that a reply to all goes to.
    pub everybody: RecipientList,
    /// What mail can be about.
    pub topics: Vec<Topic>,
    /// How the reader writes here.
    pub writing: WritingSettings,
    /// Conversations that were merged into it.
    pub merged: Vec<ConversationId>,
    /// The reader keeps it on top of their lists.
    pub is_pinned: bool,
    /// The reader is told when the customer answers.
    pub is_followed: bool,
}

impl OpenConversation {
    /// True when a reply to all goes to more than one.
    pub fn has_others(&self) -> bool {
        self.everybody.to.len() + self.everybody.cc.len() > 1
    }

    /// True when something was received or has left.
    pub fn has_mail(&self) -> bool {
        let mut messages = self.entries.iter().filter_map(|entry| match entry {
            TimelineEntry::Message(message) => Some(message),
            _ => None,
        });
        messages.any(|message| message.is_mail())
    }

    /// True when a message of it can become a conversation of its own.
    pub fn can_split(&self) -> bool {
        let mails = self
            .entries
            .iter()
            .filter(|entry| matches!(entry, TimelineEntry::Message(message) if message.is_mail()));
        let is_shown = !self.conversation.held && self.conversation.removed.is_none();
        is_shown && (mails.count() > 1 || self.older.is_some())
    }

    /// True for what the reader did themselves.
    pub fn is_own(&self, entry: &TimelineEntry) -> bool {
        let (id, name) = &self.reader;
        match entry {
            TimelineEntry::Message(message) => message.author.as_ref() == Some(id),
            TimelineEntry::Note(note) => note.author == *id,
            TimelineEntry::Event(event) => event.actor_name == *name,
        }
    }

    /// True when mail arrived since the reader's last visit.
    pub fn is_news(&self) -> bool {
        self.read_at.is_none_or(|read_at| self.conversation.last_message_at > read_at)
    }
}

db::row! {
    /// Another conversation with the same customer.
    pub struct OtherConversation from "conversations" {
        pub id: ConversationId,
        pub subject: String,
        pub status: Status,
        pub last_message_at: i64,
    }
}

pub fn read_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    part: &TimelinePart,
) -> Result<OpenConversation> {
    let found = conversations::load(tx, cx.actor, id)?;
    let ws = cx.actor.ws;
    let marks = reader_marks(tx, cx, &found.id)?;
    let TimelineEntries { mut entries, older } = read_part(tx, cx, &found.id, part, marks.read_at)?;
    note_sending_right(tx, cx, &found.mailbox, &mut entries)?;
    let seen = SeenConversation { next_number: marks.next_serial };
    let mailbox = mailboxes::seen_by(tx, cx.actor, &found.mailbox)?;
    let place = AutosaveKey::Conversation(found.id.clone());
    Ok(OpenConversation {
        assignee: found.assignee_named(tx, ws)?,
        team: members::team(tx, ws, &found.circle)?,
        picture_senders: trusted_senders(tx, cx, &entries)?,
        others: others(tx, cx, &found)?,
        autosave: load_autosave(tx, cx, &place)?,
        attached: list(tx, cx, &place)?,
        everybody: recipients::reply_all(tx, cx, &found)?,
        writing: writing_settings(tx, cx, &found.mailbox)?,
        topics: topics::all(tx, ws)?,
        merged: merges::merged_into(tx, ws, &found.id)?,
        is_pinned: pins(tx, cx)?.contains(&found.id),
        is_followed: marks.is_followed,
        read_at: marks.read_at,
        is_mentioned: marks.is_mentioned,
        reader: match cx.actor.member() {
            Some(me) => (me.as_str().to_owned(), cx.actor.name().to_owned()),
            None => (String::new(), String::new()),
        },
        mailbox: mailbox.ok_or(Error::NotFound("conversation"))?,
        conversation: found,
        entries,
        older,
        seen,
    })
}

/// Notes that what waits in a conversation may be let go at once.
fn note_sending_right(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    entries: &mut [TimelineEntry],
) -> Result<()> {
    let is_waiting = |entry: &TimelineEntry| {
        matches!(entry, TimelineEntry::Message(message)
            if message.status == Some(MessageStatus::Scheduled))
    };
    if entries.iter().any(is_waiting) && scheduling::may_send_now(tx, cx, mailbox)? {
        for entry in entries {
            if let TimelineEntry::Message(message) = entry {
                message.may_send_now = true;
            }
        }
    }
    Ok(())
}

/// Those who sent HTML here and whose remote pictures the reader always sees.
fn trusted_senders(tx: &mut Tx<'_>, cx: &Cx<'_>, entries: &[TimelineEntry]) -> Result<Vec<String>> {
    let mut senders: Vec<&str> = entries
        .iter()
        .filter_map(|entry| match entry {
            TimelineEntry::Message(message) => {
                message.has_html.then_some(message.from_email.as_str())
            }
            TimelineEntry::Note(_) | TimelineEntry::Event(_) => None,
        })
        .collect();
    senders.sort_unstable();
    senders.dedup();
    among_picture_senders(tx, cx, &senders)
}

fn others(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<OtherConversation>> {
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM conversations
             WHERE ws = ?1 AND contact_email = ?2 AND num > 0 AND circle IN (?3, ?4) AND id <> ?5
               AND merged_into IS NULL
             ORDER BY last_message_at DESC, id DESC LIMIT ?6",
            OtherConversation::COLUMNS
        ),
        &[
            &cx.actor.ws,
            &conversation.contact_email,
            first,
            second,
            &conversation.id,
            &OTHERS_SHOWN,
        ],
    )?)
}

db::row! {
    /// What a page says of its reader, and the newest of everything in the conversation, in one statement.
    struct ReaderMarks from "c" {
        next_serial: i64,
        read_at: Option<i64> = "(SELECT r.read_at FROM read_marks r
            WHERE r.ws = c.ws AND r.person = ?3 AND r.conversation = c.id)",
        is_followed: bool = "EXISTS (SELECT 1 FROM followers f
            WHERE f.ws = c.ws AND f.conversation = c.id AND f.person = ?3)",
        is_mentioned: bool = "EXISTS (SELECT 1 FROM mentions m
            WHERE m.ws = c.ws AND m.person = ?3 AND m.conversation = c.id AND m.read_at IS NULL)",
        note: Option<String> = "(SELECT n.id FROM notes n
            WHERE n.ws = c.ws AND n.conversation = c.id ORDER BY n.id DESC LIMIT 1)",
        event: Option<String> = "(SELECT e.id FROM timeline_events e
            WHERE e.ws = c.ws AND e.conversation = c.id ORDER BY e.id DESC LIMIT 1)",
    }
}

fn reader_marks(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<ReaderMarks> {
    let me = cx.actor.member();
    let me = me.as_ref().map_or("", |me| me.as_str());
    Ok(tx.one(
        &format!(
            "SELECT {} FROM conversations c WHERE c.ws = ?1 AND c.id = ?2",
            ReaderMarks::COLUMNS
        ),
        &[&cx.actor.ws, id, &me],
    )?)
}

/// A version of a conversation's page, which differs after every change.
pub fn latest_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<Vec<String>> {
    let found = conversations::load(tx, cx.actor, id)?;
    let ws = cx.actor.ws;
    let ReaderMarks { next_serial, note, event, .. } = reader_marks(tx, cx, &found.id)?;
    let (note, event) = (note.unwrap_or_default(), event.unwrap_or_default());
    let states: Vec<(String, i64)> = tx.all(
        "SELECT coalesce(status, ''), revision FROM messages
         WHERE ws = ?1 AND conversation = ?2 ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, &found.id, &WATCHED],
    )?;
    // All of the row, so that no field can be forgotten.
    let mut latest = vec![format!("{found:?}"), next_serial.to_string(), note, event];
    latest.extend(states.into_iter().map(|(status, revision)| format!("{status} {revision}")));
    Ok(latest)
}

/// Writes down that the actor has read a conversation up to now.
pub fn mark_read(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let Some(me) = cx.actor.member() else { return Ok(()) };
    tx.exec_soon(
        "UPDATE mentions SET read_at = ?4
         WHERE ws = ?1 AND person = ?2 AND conversation = ?3 AND read_at IS NULL",
        &[&cx.actor.ws, &me, &conversation.id, &cx.now],
    )?;
    tx.exec_soon(
        "INSERT INTO read_marks (ws, person, conversation, read_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, person, conversation) DO UPDATE SET read_at = excluded.read_at",
        &[&cx.actor.ws, &me, &conversation.id, &cx.now],
    )?;
    Ok(())
}
