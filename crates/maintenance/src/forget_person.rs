//! Removes a person: their conversations with everything in them, what they wrote elsewhere, and what
//! is kept under their address, from the tables, the search index and the blobs.

use std::collections::BTreeSet;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, ConversationId, MessageId, TagId};
use base::states::Status;
use base::usage::{self, UsageKind};
use db::{Arg, Json, TableShape, Tx};
use model::contacts::contact_addresses;
use model::conversations::{self, Conversation};
use model::conversations::{merges, sorter_examples};
use model::erasure;
use model::figures::counters::{self, Counter};
use model::guests::secure;
use model::installation::audit_log::{self, Action};
use outbound::app_mail;

use super::dump::dumped_tables;
use super::person_files::has;

/// Hashes that are looked up at once.
const HASHES_AT_ONCE: usize = 200;
/// Columns that name a blob.
const BLOB_COLUMNS: &[(&str, &str)] = &[
    ("messages", "raw_hash"),
    ("documents", "hash"),
    ("attachments", "hash"),
    ("saved_reply_files", "hash"),
    ("previews", "preview"),
];

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgottenPerson {
    /// All addresses of theirs.
    pub addresses: Vec<EmailAddress>,
    pub conversations: u64,
    pub messages: u64,
    pub documents: u64,
    /// Conversations of others, in which what they wrote and their address are gone.
    pub redacted: u64,
    pub blobs: u64,
    pub bookings: u64,
}

/// Removes a person from a workspace, in one transaction. [`super::purge`] follows: it removes the
/// files that no row refers to any more.
pub fn forget_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
) -> Result<ForgottenPerson> {
    if tx.pick(true, false) {
        // Bytes of deleted rows are overwritten.
        let _: Vec<(i64,)> = tx.all("PRAGMA secure_delete = ON", &[])?;
    }
    let mut forgetting = Forgetting {
        ws: cx.actor.ws,
        now: cx.now,
        tables: dumped_tables(tx)?,
        hashes: BTreeSet::new(),
        done: ForgottenPerson::default(),
    };
    let mut found = false;
    let addresses = contact_addresses::of_team(tx, cx.actor.ws, email)?;
    for address in &addresses {
        refuse_member(tx, cx, address)?;
        found |= forget_address(tx, cx, &mut forgetting, address)?;
    }
    if !found {
        return Err(Error::NotFound("person"));
    }
    forgetting.blobs(tx)?;
    let done = ForgottenPerson { addresses, ..forgetting.done };
    let said = format!("{} conversations, {} messages", done.conversations, done.messages);
    audit_log::record(tx, cx, &Circle::team(), Action::ContactForgotten, &said, "")?;
    Ok(done)
}

/// Removes what is kept of one address of the person; false when there is nothing.
fn forget_address(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    forgetting: &mut Forgetting,
    email: &EmailAddress,
) -> Result<bool> {
    part_from_others(tx, cx, email)?;
    let own: Vec<(ConversationId,)> = tx.all(
        "SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2",
        &[&cx.actor.ws, email],
    )?;
    let others: Vec<(ConversationId,)> = tx.all(
        "SELECT p.conversation FROM participants p
         CROSS JOIN conversations c
         WHERE p.ws = ?1 AND p.email = ?2 AND c.ws = p.ws AND c.id = p.conversation
           AND c.contact_email <> ?2",
        &[&cx.actor.ws, email],
    )?;
    for (id,) in &own {
        forgetting.conversation(tx, cx, id)?;
    }
    for (id,) in &others {
        forgetting.redact(tx, cx, id, email)?;
    }
    merges::forget_participant(tx, cx.actor.ws, email)?;
    let rows = forgetting.records(tx, email)?;
    Ok(!own.is_empty() || !others.is_empty() || rows > 0)
}

/// Undoes merges of other people's conversations into those of the person, which are removed.
fn part_from_others(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    // The latest first: what was merged into one of those before comes along with it.
    let latest = "SELECT m.id, m.circle FROM conversations c
         JOIN conversations m ON m.ws = c.ws AND m.merged_into = c.id
         JOIN merges g ON g.ws = m.ws AND g.source = m.id
         WHERE c.ws = ?1 AND c.contact_email = ?2 AND m.contact_email <> ?2
         ORDER BY g.merged_at DESC, m.id LIMIT 1";
    let ws = cx.actor.ws;
    while let Some((id, circle)) = tx.opt::<(ConversationId, Circle)>(latest, &[&ws, email])? {
        let actor = Actor::system(ws, cx.actor.workspace.clone(), circle);
        merges::undo_merge(tx, &Cx { actor: &actor, ..*cx }, id.as_str())?;
    }
    Ok(())
}

fn refuse_member(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    let member: Option<(String,)> =
        tx.opt("SELECT id FROM users WHERE ws = ?1 AND email = ?2", &[&cx.actor.ws, email])?;
    match member {
        Some(_) => Err(Error::Conflict(
            "This is the address of a member of the team. Remove them first with `mailroom user \
             remove`."
                .into(),
        )),
        None => Ok(()),
    }
}

/// A removal that is under way.
pub(super) struct Forgetting {
    pub ws: i64,
    now: i64,
    tables: Vec<TableShape>,
    /// Blobs that something removed named.
    pub hashes: BTreeSet<String>,
    pub done: ForgottenPerson,
}

impl Forgetting {
    /// Removes a conversation with everything in it.
    fn conversation(&mut self, tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
        let mut conversation = self.load(tx, id)?;
        conversations::settle(tx, cx, &mut conversation, Status::Closed)?;
        let tags: Vec<(TagId,)> = tx.all(
            "SELECT tag FROM conversation_tags WHERE ws = ?1 AND conversation = ?2",
            &[&self.ws, id],
        )?;
        for (tag,) in &tags {
            let (circle, tagged) = (&conversation.circle, Counter::Tagged(tag));
            counters::add(tx, self.ws, circle, tagged, id.as_str(), -1)?;
        }
        // Before the rows that lead to them: those of files, requests and events.
        let attached: Vec<(String,)> = tx.all(
            "SELECT hash FROM attachments WHERE ws = ?1 AND conversation = ?2",
            &[&self.ws, id],
        )?;
        self.hashes.extend(attached.into_iter().map(|(hash,)| hash));
        self.requests_and_events(tx, id)?;
        self.bookings(tx, "conversation", id.as_str())?;
        let messages: Vec<(MessageId,)> =
            tx.all("SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2", &[&self.ws, id])?;
        for (message,) in &messages {
            self.message(tx, cx, &conversation, message)?;
        }
        self.documents(tx, "conversation", id.as_str())?;
        // The words of notes, files and tags.
        let entries: Vec<(i64,)> = tx.all(
            "SELECT serial FROM index_entries WHERE ws = ?1 AND conversation = ?2",
            &[&self.ws, id],
        )?;
        let entries: Vec<i64> = entries.into_iter().map(|(serial,)| serial).collect();
        search::forget_conversation(tx, self.ws, (conversation.num, id), &entries)?;
        sorter_examples::forget_conversation(tx, self.ws, &conversation.circle, id)?;
        let key: [&dyn Arg; 2] = [&self.ws, id];
        tx.exec("DELETE FROM helper_findings WHERE ws = ?1 AND found = ?2", &key)?;
        for table in self.tables.iter().filter(|table| has(table, "conversation")) {
            let sql = format!("DELETE FROM {} WHERE ws = ?1 AND conversation = ?2", table.name);
            tx.exec(&sql, &key)?;
        }
        for table in ["merges", "merged_items"] {
            tx.exec(&format!("DELETE FROM {table} WHERE ws = ?1 AND source = ?2"), &key)?;
        }
        tx.exec("DELETE FROM conversations WHERE ws = ?1 AND id = ?2", &key)?;
        self.done.conversations += 1;
        Ok(())
    }

    pub(super) fn load(&self, tx: &mut Tx<'_>, id: &ConversationId) -> Result<Conversation> {
        let sql = format!(
            "SELECT {} FROM conversations WHERE ws = ?1 AND id = ?2",
            Conversation::COLUMNS
        );
        Ok(tx.one(&sql, &[&self.ws, id])?)
    }

    /// Removes a message with everything that hangs on it.
    pub(super) fn message(
        &mut self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
        id: &MessageId,
    ) -> Result<()> {
        let (serial, raw, is_secure): (i64, Option<String>, bool) = tx.one(
            "SELECT serial, raw_hash, secure FROM messages WHERE ws = ?1 AND id = ?2",
            &[&self.ws, id],
        )?;
        self.hashes.extend(raw);
        if is_secure && let Ok(content) = secure::load(tx, cx, id) {
            self.hashes.extend(content.files.into_iter().map(|file| file.hash));
        }
        search::forget_mail(tx, self.ws, (conversation.num, &conversation.id), serial)?;
        self.documents(tx, "message", id.as_str())?;
        for table in self.tables.iter().filter(|table| has(table, "message")) {
            let sql = format!("DELETE FROM {} WHERE ws = ?1 AND message = ?2", table.name);
            tx.exec(&sql, &[&self.ws, id])?;
        }
        tx.exec("DELETE FROM messages WHERE ws = ?1 AND id = ?2", &[&self.ws, id])?;
        usage::add_held(tx, self.ws, UsageKind::Messages, id.as_str(), -1)?;
        self.done.messages += 1;
        Ok(())
    }

    /// Removes documents with their search words and previews.
    fn documents(&mut self, tx: &mut Tx<'_>, column: &str, value: &str) -> Result<()> {
        let found: Vec<(i64, String, i64)> = tx.all(
            &format!("SELECT num, hash, size FROM documents WHERE ws = ?1 AND {column} = ?2"),
            &[&self.ws, &value],
        )?;
        for (num, hash, size) in found {
            search::forget_document(tx, num)?;
            tx.exec("DELETE FROM documents WHERE num = ?1", &[&num])?;
            usage::add_held(tx, self.ws, UsageKind::DocumentBytes, value, -size)?;
            self.hashes.insert(hash);
            self.done.documents += 1;
        }
        Ok(())
    }

    /// Removes what hangs on the document requests and the events of a conversation.
    fn requests_and_events(&self, tx: &mut Tx<'_>, id: &ConversationId) -> Result<()> {
        let of = |table| format!("(SELECT id FROM {table} WHERE ws = ?1 AND conversation = ?2)");
        let key: [&dyn Arg; 2] = [&self.ws, id];
        for (table, column, parents) in [
            ("uploads", "request", "document_requests"),
            ("requested_documents", "request", "document_requests"),
            ("deliveries", "event", "events"),
            ("delivery_attempts", "event", "events"),
        ] {
            let sql = format!("DELETE FROM {table} WHERE ws = ?1 AND {column} IN {}", of(parents));
            tx.exec(&sql, &key)?;
        }
        Ok(())
    }

    /// Removes appointments with the time that they take, and the events that tell of them.
    fn bookings(&mut self, tx: &mut Tx<'_>, column: &str, value: &str) -> Result<()> {
        let found: Vec<(BookingId,)> = tx.all(
            &format!("SELECT id FROM bookings WHERE ws = ?1 AND {column} = ?2"),
            &[&self.ws, &value],
        )?;
        let place = tx.pick("instr", "strpos");
        for (booking,) in found {
            let told: [&dyn Arg; 2] = [&self.ws, &format!("\"{booking}\"")];
            let of = format!("(SELECT id FROM events WHERE ws = ?1 AND {place}(body, ?2) > 0)");
            for table in ["deliveries", "delivery_attempts"] {
                tx.exec(&format!("DELETE FROM {table} WHERE ws = ?1 AND event IN {of}"), &told)?;
            }
            tx.exec(&format!("DELETE FROM events WHERE ws = ?1 AND {place}(body, ?2) > 0"), &told)?;
            let key: [&dyn Arg; 2] = [&self.ws, &booking];
            tx.exec("DELETE FROM host_bookings WHERE ws = ?1 AND booking = ?2", &key)?;
            tx.exec("DELETE FROM bookings WHERE ws = ?1 AND id = ?2", &key)?;
            self.done.bookings += 1;
        }
        Ok(())
    }

    /// Removes what is kept under the address itself; says how many rows there were.
    fn records(&mut self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<u64> {
        let mut rows = 0;
        for table in self.tables.iter().filter(|table| has(table, "ws") && has(table, "email")) {
            let sql = format!("DELETE FROM {} WHERE ws = ?1 AND email = ?2", table.name);
            rows += tx.exec(&sql, &[&self.ws, email])?;
        }
        let before = self.done.bookings;
        self.bookings(tx, "guest_email", email.as_str())?;
        rows += self.done.bookings - before;
        rows += tx.exec(
            "DELETE FROM booking_offers WHERE ws = ?1 AND guest_email = ?2",
            &[&self.ws, email],
        )?;
        let place = tx.pick("instr", "strpos");
        // Notices to the team that tell of the person.
        rows += tx.exec(
            &format!("DELETE FROM notices WHERE ws = ?1 AND {place}(lower(text), ?2) > 0"),
            &[&self.ws, email],
        )?;
        // What somebody began to write to them, searches for them, and test cases that name them.
        for (table, texts) in [
            ("autosaves", "to_line || ' ' || cc_line || ' ' || bcc_line"),
            ("saved_views", "q"),
            ("eval_cases", "definition"),
            ("eval_results", "verdicts || ' ' || outcome"),
        ] {
            rows += tx.exec(
                &format!("DELETE FROM {table} WHERE ws = ?1 AND {place}(lower({texts}), ?2) > 0"),
                &[&self.ws, email],
            )?;
        }
        self.audit_log(tx, email)?;
        rows += self.app_mail(tx, email)?;
        self.domain(tx, email)?;
        self.kept_answers(tx, email)?;
        self.kept_calls(tx, email)?;
        Ok(rows)
    }

    /// Mail of apps to the person goes; where it went to others as well, only the address does.
    fn app_mail(&self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<u64> {
        let place = tx.pick("instr", "strpos");
        let told: Vec<(bool, String, Json<Vec<EmailAddress>>, bool)> = tx.all(
            &format!(
                "SELECT livemode, header_key, to_list, conversation IS NULL FROM app_mail
                 WHERE ws = ?1 AND {place}(to_list, ?2) > 0"
            ),
            &[&self.ws, &format!("\"{}\"", email.as_str())],
        )?;
        let rows = told.len() as u64;
        for (livemode, key, mut to, is_unanswered) in told {
            to.retain(|address| address != email);
            let row: [&dyn Arg; 3] = [&self.ws, &livemode, &key];
            if to.is_empty() && is_unanswered {
                app_mail::forget(tx, self.ws, livemode, &key)?;
            } else if to.is_empty() {
                tx.exec(
                    "DELETE FROM app_mail WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                    &row,
                )?;
            } else {
                tx.exec(
                    "UPDATE app_mail SET to_list = ?4
                     WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                    &[&self.ws, &livemode, &key, &to],
                )?;
            }
        }
        Ok(rows)
    }

    /// The domain is forgotten with its last contact.
    fn domain(&self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<()> {
        let Some(domain) = email.domain() else { return Ok(()) };
        tx.exec(
            "DELETE FROM correspondents WHERE ws = ?1 AND domain = ?2 AND NOT EXISTS (
                 SELECT 1 FROM contacts c WHERE c.ws = ?1 AND c.email LIKE ?3
             )",
            &[&self.ws, &domain, &format!("%@{domain}")],
        )?;
        tx.exec(
            "DELETE FROM company_fields WHERE ws = ?1 AND company = ?2 AND NOT EXISTS (
                 SELECT 1 FROM contacts c WHERE c.ws = ?1 AND c.email LIKE ?3
             )",
            &[&self.ws, &domain, &format!("%@{domain}")],
        )?;
        Ok(())
    }

    /// First answers to API requests are kept for a day; those that name the person go now.
    fn kept_answers(&self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<()> {
        let kept: Vec<(String, String, Vec<u8>)> =
            tx.all("SELECT agent, key, body FROM idempotency_keys WHERE ws = ?1", &[&self.ws])?;
        let names = |body: &[u8]| email.is_in(&String::from_utf8_lossy(body));
        for (agent, key, _) in kept.iter().filter(|(_, _, body)| names(body)) {
            tx.exec(
                "DELETE FROM idempotency_keys WHERE ws = ?1 AND agent = ?2 AND key = ?3",
                &[&self.ws, agent, key],
            )?;
        }
        Ok(())
    }

    /// What keys called is kept for a while; calls that name the person go now.
    fn kept_calls(&self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<()> {
        let place = tx.pick("instr", "strpos");
        tx.exec(
            &format!(
                "DELETE FROM agent_calls WHERE ws = ?1
                   AND ({place}(lower(arguments), ?2) > 0 OR {place}(lower(coalesce(error, '')), ?2) > 0)"
            ),
            &[&self.ws, &email.as_str()],
        )?;
        Ok(())
    }

    /// Removes blobs that nothing names any more. Workspaces share files: one that another still has
    /// stays.
    fn blobs(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.previews(tx)?;
        let hashes: Vec<String> = std::mem::take(&mut self.hashes).into_iter().collect();
        for some in hashes.chunks(HASHES_AT_ONCE) {
            let mut needed = BTreeSet::new();
            for (table, column) in BLOB_COLUMNS {
                needed.extend(self.still_referenced(tx, table, column, some)?);
            }
            for hash in some.iter().filter(|hash| !needed.contains(*hash)) {
                self.done.blobs += u64::from(erasure::drop_blob(tx, self.ws, hash, self.now)?);
            }
        }
        Ok(())
    }

    /// The previews and scaled copies of removed files are blobs as well.
    fn previews(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let hashes: Vec<String> = self.hashes.iter().cloned().collect();
        for hash in &hashes {
            let is_needed: Option<(i64,)> = tx.opt(
                "SELECT num FROM documents WHERE ws = ?1 AND hash = ?2 LIMIT 1",
                &[&self.ws, hash],
            )?;
            if is_needed.is_none() {
                self.hashes.extend(erasure::take_previews(tx, self.ws, hash)?);
            }
        }
        Ok(())
    }

    /// Those of the hashes that a column still names.
    fn still_referenced(
        &self,
        tx: &mut Tx<'_>,
        table: &str,
        column: &str,
        hashes: &[String],
    ) -> Result<Vec<String>> {
        let places: Vec<String> = (2..hashes.len() + 2).map(|place| format!("?{place}")).collect();
        let mut args: Vec<&dyn Arg> = vec![&self.ws];
        args.extend(hashes.iter().map(|hash| hash as &dyn Arg));
        let sql = format!(
            "SELECT DISTINCT {column} FROM {table} WHERE ws = ?1 AND {column} IN ({})",
            places.join(", ")
        );
        let found: Vec<(String,)> = tx.all(&sql, &args)?;
        Ok(found.into_iter().map(|(hash,)| hash).collect())
    }
}
