//! Erasing a conversation for good: its rows, its words in the index, and the bytes that nothing else
//! refers to.

pub mod deletions;
pub mod retention;

use std::collections::BTreeSet;

use base::actor::Circle;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MessageId, TagId};
use base::usage::{self, UsageKind};
use db::Tx;

use crate::contacts::contact_erasure;
use crate::conversations::sorter_examples;
use crate::documents::preview_keys::after_keys;
use crate::figures::counters::{self, Counter};
use crate::guests::secure;

/// Tables that lead with the conversation.
const OF_CONVERSATION: &[&str] = &[
    "index_entries",
    "participants",
    "conversation_fields",
    "conversation_links",
    "followers",
    "notices",
    "undo_steps",
    "agent_acts",
    "agent_calls",
    "rule_jobs",
    "notes",
    "timeline_events",
    "guest_sessions",
    "helper_findings",
    "push_messages",
    "app_mail",
    "attachments",
    "documents",
    "document_requests",
    "bookings",
    "events",
    "messages",
];

/// Tables of which a person has rows for conversations.
const OF_PERSON: &[&str] = &["read_marks", "autosaves", "mentions", "notice_facts", "pins"];

/// Tables whose rows belong to a message.
const OF_MESSAGE: &[&str] = &[
    "approval_links",
    "recipient_outcomes",
    "sent_copies",
    "booking_offers",
    "ratings",
    "drafting_jobs",
    "draft_sources",
    "form_posts",
    "helper_drafts",
    "secure_links",
    "secure_messages",
    "sandbox_replies",
];

/// Tables whose rows belong to a document request.
const OF_REQUEST: &[&str] = &["requested_documents", "uploads"];

/// Tables of what a merge can be undone with.
const OF_MERGE: &[&str] = &["merges", "merged_items"];

/// Tables whose rows belong to an event.
const OF_EVENT: &[&str] = &["deliveries", "delivery_attempts"];

/// Erases a conversation. Bytes that nothing else refers to are queued, see [`base::files::blobs`].
pub fn erase(tx: &mut Tx<'_>, cx: &Cx<'_>, num: i64, id: &ConversationId) -> Result<()> {
    // Those that were merged into it have nothing left to lead to.
    let merged: Vec<(i64, ConversationId)> = tx.all(
        "SELECT num, id FROM conversations WHERE ws = ?1 AND merged_into = ?2",
        &[&cx.actor.ws, id],
    )?;
    for (num, id) in &merged {
        erase_one(tx, cx, *num, id)?;
    }
    erase_one(tx, cx, num, id)
}

fn erase_one(tx: &mut Tx<'_>, cx: &Cx<'_>, num: i64, id: &ConversationId) -> Result<()> {
    let (ws, now) = (cx.actor.ws, cx.now);
    forget_words(tx, ws, num, id)?;
    uncount_tags(tx, ws, id)?;
    uncount_usage(tx, ws, id)?;
    let mut hashes = hashes(tx, ws, id)?;
    hashes.extend(protected_hashes(tx, cx, id)?);
    let people = People::of(tx, ws, id)?;
    for table in OF_MESSAGE {
        tx.exec(
            &format!(
                "DELETE FROM {table} WHERE ws = ?1 AND message IN (
                     SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2
                 )"
            ),
            &[&ws, id],
        )?;
    }
    for table in OF_REQUEST {
        tx.exec(
            &format!(
                "DELETE FROM {table} WHERE ws = ?1 AND request IN (
                     SELECT id FROM document_requests WHERE ws = ?1 AND conversation = ?2
                 )"
            ),
            &[&ws, id],
        )?;
    }
    for table in OF_EVENT {
        tx.exec(
            &format!(
                "DELETE FROM {table} WHERE ws = ?1
                   AND webhook IN (SELECT id FROM webhooks WHERE ws = ?1)
                   AND event IN (SELECT id FROM events WHERE ws = ?1 AND conversation = ?2)"
            ),
            &[&ws, id],
        )?;
    }
    tx.exec(
        "DELETE FROM host_bookings WHERE ws = ?1
           AND booking IN (SELECT id FROM bookings WHERE ws = ?1 AND conversation = ?2)",
        &[&ws, id],
    )?;
    // What helpers found of it for other conversations.
    tx.exec("DELETE FROM helper_findings WHERE ws = ?1 AND found = ?2", &[&ws, id])?;
    for table in OF_PERSON {
        tx.exec(
            &format!(
                "DELETE FROM {table} WHERE ws = ?1
                   AND person IN (SELECT id FROM users WHERE ws = ?1) AND conversation = ?2"
            ),
            &[&ws, id],
        )?;
    }
    forget_examples(tx, ws, id)?;
    for table in OF_CONVERSATION {
        tx.exec(&format!("DELETE FROM {table} WHERE ws = ?1 AND conversation = ?2"), &[&ws, id])?;
    }
    for table in OF_MERGE {
        tx.exec(&format!("DELETE FROM {table} WHERE ws = ?1 AND source = ?2"), &[&ws, id])?;
    }
    tx.exec("DELETE FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    people.forget(tx, ws)?;
    for hash in hashes {
        forget_bytes(tx, ws, &hash, now)?;
    }
    Ok(())
}

/// Has SQLite overwrite the bytes of all that `work` deletes.
pub fn overwriting<T>(tx: &mut Tx<'_>, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
    let set = |tx: &mut Tx<'_>, to: &str| -> Result<()> {
        if tx.pick(true, false) {
            let _: Vec<(i64,)> = tx.all(&format!("PRAGMA secure_delete = {to}"), &[])?;
        }
        Ok(())
    };
    set(tx, "ON")?;
    let done = work(tx)?;
    set(tx, "OFF")?;
    Ok(done)
}

/// Those who took part in a conversation.
struct People {
    circle: Circle,
    emails: Vec<EmailAddress>,
}

impl People {
    fn of(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<People> {
        let (circle, contact): (Circle, EmailAddress) = tx.one(
            "SELECT circle, contact_email FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&ws, id],
        )?;
        let others: Vec<(EmailAddress,)> = tx.all(
            "SELECT email FROM participants WHERE ws = ?1 AND conversation = ?2",
            &[&ws, id],
        )?;
        let emails = others.into_iter().map(|(email,)| email).chain([contact]).collect();
        Ok(People { circle, emails })
    }

    /// Forgets those who have no other conversation.
    fn forget(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        let circle = &self.circle;
        self.emails.iter().try_for_each(|email| contact_erasure::forget_last(tx, ws, circle, email))
    }
}

fn forget_words(tx: &mut Tx<'_>, ws: i64, num: i64, id: &ConversationId) -> Result<()> {
    let documents: Vec<(i64,)> =
        tx.all("SELECT num FROM documents WHERE ws = ?1 AND conversation = ?2", &[&ws, id])?;
    for (document,) in documents {
        search::forget_document(tx, document)?;
    }
    let serials: Vec<(i64,)> = tx.all(
        "SELECT serial FROM messages WHERE ws = ?1 AND conversation = ?2
         UNION SELECT serial FROM index_entries WHERE ws = ?1 AND conversation = ?2",
        &[&ws, id],
    )?;
    let serials: Vec<i64> = serials.into_iter().map(|(serial,)| serial).collect();
    search::forget_conversation(tx, ws, (num, id), &serials)
}

/// Takes its messages and documents out of what the workspace holds.
fn uncount_usage(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    let (messages,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM messages WHERE ws = ?1 AND conversation = ?2",
        &[&ws, id],
    )?;
    let (bytes,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM documents
         WHERE ws = ?1 AND conversation = ?2",
        &[&ws, id],
    )?;
    usage::add_held(tx, ws, UsageKind::Messages, id.as_str(), -messages)?;
    usage::add_held(tx, ws, UsageKind::DocumentBytes, id.as_str(), -bytes)
}

fn uncount_tags(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    let (circle,): (Circle,) =
        tx.one("SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let tags: Vec<(TagId,)> = tx.all(
        "SELECT t.id FROM tags t
         JOIN conversation_tags c ON c.ws = t.ws AND c.tag = t.id AND c.conversation = ?2
         WHERE t.ws = ?1",
        &[&ws, id],
    )?;
    for (tag,) in tags {
        counters::add(tx, ws, &circle, Counter::Tagged(&tag), id.as_str(), -1)?;
    }
    Ok(())
}

/// What helpers learned from its mail.
fn forget_examples(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    let (circle,): (Circle,) =
        tx.one("SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    tx.exec(
        "DELETE FROM answered_mail WHERE ws = ?1 AND circle = ?2 AND conversation = ?3",
        &[&ws, &circle, id],
    )?;
    sorter_examples::forget_conversation(tx, ws, &circle, id)?;
    tx.exec(
        "DELETE FROM conversation_tags
         WHERE ws = ?1 AND tag IN (SELECT id FROM tags WHERE ws = ?1) AND conversation = ?2",
        &[&ws, id],
    )?;
    Ok(())
}

/// The bytes that the conversation refers to.
fn hashes(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<BTreeSet<String>> {
    let found: Vec<(String,)> = tx.all(
        "SELECT raw_hash FROM messages WHERE ws = ?1 AND conversation = ?2 AND raw_hash IS NOT NULL
         UNION SELECT hash FROM documents WHERE ws = ?1 AND conversation = ?2
         UNION SELECT hash FROM attachments WHERE ws = ?1 AND conversation = ?2",
        &[&ws, id],
    )?;
    Ok(found.into_iter().map(|(hash,)| hash).collect())
}

/// The files of protected messages, which only their sealed words name.
fn protected_hashes(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<Vec<String>> {
    let messages: Vec<(MessageId,)> = tx.all(
        "SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2 AND secure",
        &[&cx.actor.ws, id],
    )?;
    let mut hashes = Vec::new();
    for (message,) in &messages {
        match secure::load(tx, cx, message) {
            Ok(content) => hashes.extend(content.files.into_iter().map(|file| file.hash)),
            Err(error) if error.is_outage() => return Err(error),
            // One that does not open keeps nothing else from being erased.
            Err(error) => tracing::warn!(%error, %message, "files of a message cannot be found"),
        }
    }
    Ok(hashes)
}

/// Forgets bytes that no row of the workspace refers to any more, and their previews. What only the
/// sealed words of protected messages name is not looked for.
pub fn forget_bytes(tx: &mut Tx<'_>, ws: i64, hash: &str, now: i64) -> Result<()> {
    // Of two erasures at once the later one is tried again, and sees what the other one left.
    tx.exec("UPDATE blobs SET size = size WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
    for used in [
        "messages WHERE ws = ?1 AND raw_hash = ?2",
        "documents WHERE ws = ?1 AND hash = ?2",
        "attachments WHERE ws = ?1 AND hash = ?2",
        "saved_reply_files WHERE ws = ?1 AND hash = ?2",
        "previews WHERE ws = ?1 AND preview = ?2 AND hash <> ?2",
    ] {
        let found: Option<(i64,)> =
            tx.opt(&format!("SELECT CAST(1 AS BIGINT) FROM {used} LIMIT 1"), &[&ws, &hash])?;
        if found.is_some() {
            return Ok(());
        }
    }
    let previews = take_previews(tx, ws, hash)?;
    drop_blob(tx, ws, hash, now)?;
    // Equal previews are one blob, and the preview of a small picture may be the picture.
    for preview in previews.iter().filter(|preview| *preview != hash) {
        forget_bytes(tx, ws, preview, now)?;
    }
    Ok(())
}

/// Removes the rows of the preview and of the scaled copies of a file; the blobs that they named.
pub fn take_previews(tx: &mut Tx<'_>, ws: i64, hash: &str) -> Result<Vec<String>> {
    let end = after_keys(hash);
    let previews: Vec<(Option<String>,)> = tx.all(
        "SELECT preview FROM previews WHERE ws = ?1 AND hash >= ?2 AND hash < ?3",
        &[&ws, &hash, &end],
    )?;
    tx.exec(
        "DELETE FROM previews WHERE ws = ?1 AND hash >= ?2 AND hash < ?3",
        &[&ws, &hash, &end],
    )?;
    Ok(previews.into_iter().filter_map(|(preview,)| preview).collect())
}

/// Removes a blob of a workspace that nothing refers to, and queues its file. False where there is none.
pub fn drop_blob(tx: &mut Tx<'_>, ws: i64, hash: &str, now: i64) -> Result<bool> {
    take_previews(tx, ws, hash)?;
    let row: Option<(bool, i64)> = tx
        .opt("SELECT packed IS NULL, size FROM blobs WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
    tx.exec("DELETE FROM blobs WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
    let found = row.is_some();
    if let Some((_, size)) = row {
        usage::add_held(tx, ws, UsageKind::Bytes, hash, -size)?;
    }
    if row.is_some_and(|(in_folder, _)| in_folder) {
        tx.exec(
            "INSERT INTO unused_blobs (hash, set_aside, due_at) VALUES (?1, FALSE, ?2)
             ON CONFLICT (hash) DO UPDATE SET set_aside = FALSE, due_at = excluded.due_at",
            &[&hash, &now],
        )?;
    }
    Ok(found)
}
