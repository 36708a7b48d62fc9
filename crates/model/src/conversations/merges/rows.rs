//! The rows that go from one conversation to another: messages, notes and what happened, with all that
//! belongs to them.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use db::{Json, Tx};

use crate::conversations::{self, Conversation};
use crate::installation::sealing::{self, autosave_purpose};
use crate::messages::recipients::{self, Party};

/// Tables whose rows go over by their id.
const BY_ID: &[&str] =
    &["notes", "timeline_events", "documents", "document_requests", "bookings", "app_mail"];

/// Tables whose rows follow a message.
const WITH_MESSAGE: &[&str] = &[
    "helper_drafts",
    "secure_messages",
    "secure_links",
    "booking_offers",
    "ratings",
    "attachments",
    "form_posts",
];

/// What happened to a conversation itself; it stays with its id. So do notices that wait (`notice_facts`,
/// `push_messages`): they follow the id when they leave.
const OF_ITSELF: &str = "'status', 'assigned', 'tagged', 'snoozed', 'follow-up', 'woke', 'sorted', 'target-missed', \
     'held', 'released', 'warning-removed', 'spam', 'not-spam', 'deleted', 'restored', 'split-from', \
     'fields-changed', 'panel-pressed'";

/// The column that is a row's id, and what else its key needs.
fn key_of(table: &str) -> (&'static str, &'static str) {
    match table {
        "app_mail" => ("header_key", "livemode IN (TRUE, FALSE)"),
        _ => ("id", "TRUE"),
    }
}

/// Rows of a conversation: messages, and others by their table.
pub struct MovedRows {
    messages: Vec<MessageId>,
    /// The number of a table in [`BY_ID`] and the id of a row.
    others: Vec<(usize, String)>,
}

impl MovedRows {
    /// A message with its files and what it asked for.
    pub fn of_message(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<MovedRows> {
        let documents: Vec<(String,)> = tx.all(
            "SELECT d.id FROM messages m
             JOIN documents d ON d.ws = m.ws AND d.conversation = m.conversation AND d.message = m.id
             WHERE m.ws = ?1 AND m.id = ?2",
            &[&ws, message],
        )?;
        let requests: Vec<(String,)> = tx.all(
            "SELECT r.id FROM messages m
             JOIN document_requests r ON r.ws = m.ws AND r.conversation = m.conversation
               AND r.message = m.id
             WHERE m.ws = ?1 AND m.id = ?2",
            &[&ws, message],
        )?;
        let table = |name: &str| BY_ID.iter().position(|table| *table == name).unwrap_or(0);
        let documents = documents.into_iter().map(|(id,)| (table("documents"), id));
        let requests = requests.into_iter().map(|(id,)| (table("document_requests"), id));
        Ok(MovedRows {
            messages: vec![message.clone()],
            others: documents.chain(requests).collect(),
        })
    }
}

/// All that goes over when a conversation is merged into another one.
pub fn all(tx: &mut Tx<'_>, ws: i64, from: &ConversationId) -> Result<MovedRows> {
    let messages: Vec<(MessageId,)> = tx.all(
        "SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2 ORDER BY at, id",
        &[&ws, from],
    )?;
    let mut others = Vec::new();
    for (table, name) in BY_ID.iter().enumerate() {
        let (id, _) = key_of(name);
        let which = match *name {
            "timeline_events" => format!("event NOT IN ({OF_ITSELF})"),
            _ => "TRUE".to_owned(),
        };
        let sql =
            format!("SELECT {id} FROM {name} WHERE ws = ?1 AND conversation = ?2 AND {which}");
        let found: Vec<(String,)> = tx.all(&sql, &[&ws, from])?;
        others.extend(found.into_iter().map(|(id,)| (table, id)));
    }
    Ok(MovedRows { messages: messages.into_iter().map(|(id,)| id).collect(), others })
}

/// Moves rows of a conversation to another one.
pub fn carry_over(
    tx: &mut Tx<'_>,
    ws: i64,
    moved: &MovedRows,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<()> {
    for message in &moved.messages {
        let serial = conversations::next_serial(tx, ws, to)?;
        tx.exec_soon(
            "UPDATE messages SET conversation = ?4, serial = ?5
             WHERE ws = ?1 AND id = ?2 AND conversation = ?3",
            &[&ws, message, from, to, &serial],
        )?;
        for table in WITH_MESSAGE {
            tx.exec_soon(
                &format!(
                    "UPDATE {table} SET conversation = ?4
                     WHERE ws = ?1 AND message = ?2 AND conversation = ?3"
                ),
                &[&ws, message, from, to],
            )?;
        }
        tx.exec_soon(
            "UPDATE answered_mail SET conversation = ?4
             WHERE ws = ?1 AND message = ?2 AND conversation = ?3
               AND circle = (SELECT circle FROM conversations WHERE ws = ?1 AND id = ?3)",
            &[&ws, message, from, to],
        )?;
    }
    for (table, item) in &moved.others {
        let name = BY_ID[*table];
        let (id, key) = key_of(name);
        tx.exec_soon(
            &format!(
                "UPDATE {name} SET conversation = ?4
                 WHERE ws = ?1 AND {key} AND {id} = ?2 AND conversation = ?3"
            ),
            &[&ws, item, from, to],
        )?;
        if name == "notes" {
            tx.exec_soon(
                "UPDATE mentions SET conversation = ?4
                 WHERE ws = ?1 AND person IN (SELECT id FROM users WHERE ws = ?1)
                   AND id = ?2 AND conversation = ?3",
                &[&ws, item, from, to],
            )?;
        }
    }
    Ok(())
}

/// Moves what people are in the middle of writing, unless they write in both. A text is sealed for the
/// conversation that it is in.
pub fn move_unsent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<()> {
    let ws = cx.actor.ws;
    let unsent: Vec<(String, String)> = tx.all(
        "SELECT a.person, a.body FROM autosaves a
         WHERE a.ws = ?1 AND a.person IN (SELECT id FROM users WHERE ws = ?1)
           AND a.conversation = ?2 AND NOT EXISTS (
               SELECT 1 FROM autosaves b
               WHERE b.ws = ?1 AND b.person = a.person AND b.conversation = ?3
           )",
        &[&ws, from, to],
    )?;
    for (person, body) in unsent {
        let purpose = |place: &ConversationId| autosave_purpose(ws, &person, place.as_str());
        let body = sealing::unseal(cx.sealer, &purpose(from), body)?;
        let body = sealing::seal(cx, &purpose(to), &body);
        tx.exec_soon(
            "UPDATE autosaves SET conversation = ?4, body = ?5
             WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
            &[&ws, &person, from, to, &body],
        )?;
        tx.exec_soon(
            "UPDATE attachments SET conversation = ?4
             WHERE ws = ?1 AND conversation = ?3 AND message IS NULL AND person = ?2",
            &[&ws, &person, from, to],
        )?;
    }
    Ok(())
}

/// Whoever follows or pinned a conversation has the other one from now on.
pub fn add_watchers(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<()> {
    for (table, since) in [("followers", "since"), ("pins", "pinned_at")] {
        let sql = format!(
            "INSERT INTO {table} (ws, conversation, person, {since})
             SELECT ws, ?3, person, {since} FROM {table} WHERE ws = ?1 AND conversation = ?2
             ON CONFLICT (ws, conversation, person) DO NOTHING"
        );
        tx.exec_soon(&sql, &[&ws, from, to])?;
    }
    Ok(())
}

/// Resets the read marks of those who have not read what comes into a conversation.
pub fn mark_unread(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &Conversation,
    to: &ConversationId,
) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM read_marks
         WHERE ws = ?1 AND person IN (SELECT id FROM users WHERE ws = ?1)
           AND conversation = ?2 AND read_at >= ?4 AND NOT EXISTS (
               SELECT 1 FROM read_marks s
               WHERE s.ws = ?1 AND s.person = read_marks.person AND s.conversation = ?3
                 AND s.read_at >= ?4
           )",
        &[&ws, to, &from.id, &from.last_message_at],
    )?;
    Ok(())
}

/// Writes down what went over, so that it can go back.
pub fn note_moved(
    tx: &mut Tx<'_>,
    ws: i64,
    source: &ConversationId,
    moved: &MovedRows,
) -> Result<()> {
    let messages = moved.messages.iter().map(|id| ("messages", id.as_str()));
    let others = moved.others.iter().map(|(table, id)| (BY_ID[*table], id.as_str()));
    for (kind, item) in messages.chain(others) {
        tx.exec_soon(
            "INSERT INTO merged_items (ws, source, kind, item) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (ws, source, kind, item) DO NOTHING",
            &[&ws, source, &kind, &item],
        )?;
    }
    Ok(())
}

/// What went over from a conversation, and what was added to those messages since.
pub fn load_moved(
    tx: &mut Tx<'_>,
    ws: i64,
    source: &ConversationId,
    now_in: &ConversationId,
) -> Result<MovedRows> {
    let messages: Vec<(MessageId,)> = tx.all(
        "SELECT m.id FROM merged_items i JOIN messages m ON m.ws = i.ws AND m.id = i.item
         WHERE i.ws = ?1 AND i.source = ?2 AND i.kind = 'messages' AND m.conversation = ?3
         ORDER BY m.at, m.id",
        &[&ws, source, now_in],
    )?;
    let items: Vec<(String, String)> = tx.all(
        "SELECT kind, item FROM merged_items WHERE ws = ?1 AND source = ?2 AND kind <> 'messages'",
        &[&ws, source],
    )?;
    let numbered = |(kind, item): (String, String)| {
        BY_ID.iter().position(|name| *name == kind).map(|table| (table, item))
    };
    Ok(MovedRows {
        messages: messages.into_iter().map(|(id,)| id).collect(),
        others: items.into_iter().filter_map(numbered).collect(),
    })
}

/// Lets those who took part in a conversation take part in another; returns who did not before.
pub fn add_participants(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<Vec<String>> {
    let new: Vec<(String,)> = tx.all(
        "SELECT p.email FROM participants p
         WHERE p.ws = ?1 AND p.conversation = ?2 AND NOT EXISTS (
             SELECT 1 FROM participants t
             WHERE t.ws = ?1 AND t.conversation = ?3 AND t.email = p.email
         )",
        &[&ws, from, to],
    )?;
    for (email,) in &new {
        tx.exec_soon(
            "INSERT INTO participants (ws, conversation, email) VALUES (?1, ?2, ?3)",
            &[&ws, to, email],
        )?;
    }
    Ok(new.into_iter().map(|(email,)| email).collect())
}

/// Takes those out again who came with a merge, unless they took part since.
pub fn drop_participants(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &ConversationId,
    emails: &[String],
    merged_at: i64,
) -> Result<()> {
    for email in emails {
        tx.exec_soon(
            "DELETE FROM participants WHERE ws = ?1 AND conversation = ?2 AND email = ?3",
            &[&ws, id, email],
        )?;
    }
    let since: Vec<(MessageId,)> = tx.all(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND at >= ?3 AND counted_at IS NOT NULL",
        &[&ws, id, &merged_at],
    )?;
    for (message,) in &since {
        take_part(tx, ws, id, message)?;
    }
    Ok(())
}

/// Lets everybody of a message take part in its conversation.
pub fn take_part(tx: &mut Tx<'_>, ws: i64, id: &ConversationId, message: &MessageId) -> Result<()> {
    let (from_email, direction, to, cc): (String, String, Json<Vec<Party>>, Json<Vec<Party>>) = tx
        .one(
            "SELECT from_email, direction, to_list, cc_list FROM messages WHERE ws = ?1 AND id = ?2",
            &[&ws, message],
        )?;
    let writer = Party { name: None, email: from_email };
    let is_theirs = direction == "inbound";
    let own: Vec<(String,)> = tx.all(
        "SELECT x.address FROM mailboxes x
         JOIN conversations c ON c.ws = x.ws AND c.mailbox = x.id
         WHERE x.ws = ?1 AND c.id = ?2",
        &[&ws, id],
    )?;
    let writers = is_theirs.then_some(&writer);
    for party in writers.into_iter().chain(to.iter()).chain(cc.iter()) {
        if !own.iter().any(|(address,)| *address == party.email) {
            recipients::add_participant(tx, ws, id, &party.address())?;
        }
    }
    Ok(())
}
