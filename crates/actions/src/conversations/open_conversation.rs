//! Reading a conversation in the app.

use std::collections::HashMap;

use base::app::Cx;
use base::assignee::Assignee;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId};
use base::states::{MessageStatus, Status};
use contact_forms::posts::{self, FormSource};
use db::{FromRow, Row, StoreError, Tx};
use model::conversations::merges;
use model::conversations::topics::{self, Topic};
use model::conversations::{self, Conversation};
use model::mailboxes::{InboxWriting, Mailbox};
use model::messages::attachments::OutgoingAttachment;
use model::messages::helper_drafts;
use model::messages::recipients::{self, RecipientList};
use model::people::members;
use model::people::members::Team;
use outbound::scheduling;

use crate::conversations::picture_senders::among_picture_senders;
use crate::conversations::pins::pins;
use crate::conversations::timeline::{
    TimelineCursor, TimelineEntries, TimelineEntry, TimelinePart, read_part,
};
use crate::inboxes::writing_settings::{OwnWriting, WritingSettings, settings_of};
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
    /// The newest of everything in it, by which a live page sees a change.
    pub latest: Vec<String>,
    /// The helper found answers that may fit.
    pub has_offers: bool,
    /// Something was booked in it, or times were offered.
    pub has_bookings: bool,
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
    /// The contact form that it came by.
    pub form: Option<FormSource>,
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
    let PageRow { newest, marks, parts, mailbox, inbox_writing, own_writing } =
        page_row(tx, cx, &found.id)?;
    let drafted = match parts.has_helper_drafts {
        true => helper_drafts::in_conversation(tx, ws, &found.id)?,
        false => HashMap::new(),
    };
    let TimelineEntries { mut entries, older } =
        read_part(tx, cx, &found.id, part, marks.read_at, drafted)?;
    note_sending_right(tx, cx, &found.mailbox, &mut entries)?;
    let seen = SeenConversation { next_number: newest.next_serial };
    let place = AutosaveKey::Conversation(found.id.clone());
    let team = members::team(tx, ws, &found.circle)?;
    Ok(OpenConversation {
        assignee: assignee_of(tx, ws, &found, &team)?,
        team,
        picture_senders: trusted_senders(tx, cx, &entries)?,
        others: other_conversations(tx, cx, &found)?,
        autosave: match parts.has_autosave {
            true => load_autosave(tx, cx, &place)?,
            false => None,
        },
        attached: match parts.has_unsent_files {
            true => list(tx, cx, &place)?,
            false => Vec::new(),
        },
        everybody: recipients::reply_all(tx, cx, &found)?,
        writing: settings_of(tx, cx, &own_writing, &inbox_writing)?,
        topics: topics::all(tx, ws)?,
        form: match parts.has_form {
            true => posts::of_conversation(tx, ws, &found.id)?,
            false => None,
        },
        merged: match parts.has_merged {
            true => merges::merged_into(tx, ws, &found.id)?,
            false => Vec::new(),
        },
        is_pinned: pins(tx, cx)?.contains(&found.id),
        is_followed: marks.is_followed,
        read_at: marks.read_at,
        is_mentioned: marks.is_mentioned,
        has_offers: parts.has_offers,
        has_bookings: parts.has_bookings,
        reader: match cx.actor.member() {
            Some(me) => (me.as_str().to_owned(), cx.actor.name().to_owned()),
            None => (String::new(), String::new()),
        },
        latest: version_of(&found, newest),
        mailbox,
        conversation: found,
        entries,
        older,
        seen,
    })
}

/// Who a conversation is assigned to: nearly always somebody of the team, which is read already.
fn assignee_of(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    team: &Team,
) -> Result<Option<Assignee>> {
    let Some(id) = &conversation.assignee else { return Ok(None) };
    match team.name_of(id) {
        Some(name) => Ok(Some(Assignee::new(id.clone(), name.to_owned()))),
        None => members::find_name(tx, ws, id),
    }
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

/// The latest others with the customer of a conversation.
pub fn other_conversations(
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
    /// The newest of everything in a conversation, which differs after every change.
    struct NewestEntries from "c" {
        next_serial: i64,
        note: Option<String> = "(SELECT n.id FROM notes n
            WHERE n.ws = c.ws AND n.conversation = c.id ORDER BY n.id DESC LIMIT 1)",
        event: Option<String> = "(SELECT e.id FROM timeline_events e
            WHERE e.ws = c.ws AND e.conversation = c.id ORDER BY e.id DESC LIMIT 1)",
        /// Status and revision of the newest messages.
        states: Option<String> = "(SELECT string_agg(newest.state, ',') FROM (
            SELECT coalesce(m.status, '') || ' ' || CAST(m.revision AS TEXT) AS state
            FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2
            ORDER BY m.at DESC, m.id DESC LIMIT ?3
        ) AS newest)",
    }
}

db::row! {
    /// What a page says of its reader.
    struct ReaderMarks from "c" {
        read_at: Option<i64> = "(SELECT r.read_at FROM read_marks r
            WHERE r.ws = c.ws AND r.person = ?4 AND r.conversation = c.id)",
        is_followed: bool = "EXISTS (SELECT 1 FROM followers f
            WHERE f.ws = c.ws AND f.conversation = c.id AND f.person = ?4)",
        is_mentioned: bool = "EXISTS (SELECT 1 FROM mentions m
            WHERE m.ws = c.ws AND m.person = ?4 AND m.conversation = c.id AND m.read_at IS NULL)",
    }
}

db::row! {
    /// What few conversations have. It takes statements of its own, which others are spared.
    struct RareParts from "c" {
        has_autosave: bool = "EXISTS (SELECT 1 FROM autosaves a
            WHERE a.ws = c.ws AND a.person = ?4 AND a.conversation = c.id)",
        has_unsent_files: bool = "EXISTS (SELECT 1 FROM attachments a
            WHERE a.ws = c.ws AND a.conversation = c.id AND a.message IS NULL AND a.person = ?4)",
        has_helper_drafts: bool = "EXISTS (SELECT 1 FROM helper_drafts h
            WHERE h.ws = c.ws AND h.conversation = c.id)",
        has_form: bool = "EXISTS (SELECT 1 FROM form_posts p
            WHERE p.ws = c.ws AND p.conversation = c.id)",
        has_merged: bool = "EXISTS (SELECT 1 FROM conversations o
            WHERE o.ws = c.ws AND o.merged_into = c.id)",
        has_offers: bool = "EXISTS (SELECT 1 FROM helper_findings h
            WHERE h.ws = c.ws AND h.conversation = c.id AND h.kind = 'answer')",
        has_bookings: bool = "EXISTS (SELECT 1 FROM bookings b
                WHERE b.ws = c.ws AND b.conversation = c.id)
            OR EXISTS (SELECT 1 FROM booking_offers o
                WHERE o.ws = c.ws AND o.conversation = c.id)",
    }
}

/// What a page needs of single rows, in one statement.
struct PageRow {
    newest: NewestEntries,
    marks: ReaderMarks,
    parts: RareParts,
    mailbox: Mailbox,
    inbox_writing: InboxWriting,
    own_writing: OwnWriting,
}

impl FromRow for PageRow {
    fn from_row(row: &mut Row<'_>) -> std::result::Result<PageRow, StoreError> {
        Ok(PageRow {
            newest: NewestEntries::from_row(row)?,
            marks: ReaderMarks::from_row(row)?,
            parts: RareParts::from_row(row)?,
            mailbox: Mailbox::from_row(row)?,
            inbox_writing: InboxWriting::from_row(row)?,
            own_writing: OwnWriting::from_row(row)?,
        })
    }
}

fn page_row(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<PageRow> {
    let (first, second) = cx.actor.circles.pair();
    let me = cx.actor.member();
    let me = me.as_ref().map_or("", |me| me.as_str());
    let columns = [
        NewestEntries::COLUMNS,
        ReaderMarks::COLUMNS,
        RareParts::COLUMNS,
        Mailbox::COLUMNS,
        InboxWriting::COLUMNS,
        OwnWriting::COLUMNS,
    ];
    let found: Option<PageRow> = tx.opt(
        &format!(
            "SELECT {} FROM conversations c
             JOIN mailboxes ON mailboxes.ws = c.ws AND mailboxes.id = c.mailbox
             LEFT JOIN users ON users.ws = c.ws AND users.id = ?4
             WHERE c.ws = ?1 AND c.id = ?2 AND mailboxes.circle IN (?5, ?6)",
            columns.join(", ")
        ),
        &[&cx.actor.ws, id, &WATCHED, &me, first, second],
    )?;
    found.ok_or(Error::NotFound("conversation"))
}

/// A version of a conversation's page, which differs after every change.
pub fn latest_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<Vec<String>> {
    let found = conversations::load(tx, cx.actor, id)?;
    let newest: NewestEntries = tx.one(
        &format!(
            "SELECT {} FROM conversations c WHERE c.ws = ?1 AND c.id = ?2",
            NewestEntries::COLUMNS
        ),
        &[&cx.actor.ws, &found.id, &WATCHED],
    )?;
    Ok(version_of(&found, newest))
}

/// All of the row, so that no field can be forgotten, and the newest beside it.
fn version_of(conversation: &Conversation, newest: NewestEntries) -> Vec<String> {
    let NewestEntries { next_serial, note, event, states } = newest;
    let entries = [note, event, states].map(Option::unwrap_or_default);
    let mut version = vec![format!("{conversation:?}"), next_serial.to_string()];
    version.extend(entries);
    version
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
