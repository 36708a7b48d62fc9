//! Reads everything and reports what does not fit together. It changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::files::blobs::Blobs;
use db::{Store, Tx};
use serde::Serialize;

use super::dump::{accepted_uploads, dumped_tables};

/// Findings of one rule that are named; further ones are counted.
const NAMED: usize = 20;

/// A column that names a row of another table of the same workspace.
struct Reference {
    from: &'static str,
    column: &'static str,
    to: &'static str,
    key: &'static str,
}

const fn reference(from: &'static str, column: &'static str, to: &'static str) -> Reference {
    Reference { from, column, to, key: "id" }
}

const fn blob(from: &'static str, column: &'static str) -> Reference {
    Reference { from, column, to: "blobs", key: "hash" }
}

const fn of_field(from: &'static str) -> Reference {
    Reference { from, column: "field", to: "fields", key: "name" }
}

const REFERENCES: &[Reference] = &[
    reference("approval_links", "message", "messages"),
    reference("approval_links", "person", "users"),
    reference("answer_versions", "answer", "answers"),
    reference("attachments", "message", "messages"),
    reference("booking_hosts", "type", "booking_types"),
    reference("booking_offers", "conversation", "conversations"),
    reference("bookings", "conversation", "conversations"),
    reference("host_bookings", "booking", "bookings"),
    blob("attachments", "hash"),
    reference("contact_forms", "mailbox", "mailboxes"),
    of_field("company_fields"),
    of_field("contact_fields"),
    reference("conversation_fields", "conversation", "conversations"),
    of_field("conversation_fields"),
    reference("conversation_links", "conversation", "conversations"),
    reference("conversation_tags", "conversation", "conversations"),
    reference("conversation_tags", "tag", "tags"),
    reference("conversations", "mailbox", "mailboxes"),
    reference("document_requests", "conversation", "conversations"),
    reference("documents", "conversation", "conversations"),
    blob("documents", "hash"),
    reference("documents", "message", "messages"),
    reference("form_posts", "conversation", "conversations"),
    reference("form_posts", "message", "messages"),
    reference("graph_folders", "mailbox", "mailboxes"),
    reference("help_pages", "answer", "answers"),
    reference("helper_drafts", "message", "messages"),
    reference("imap_accounts", "mailbox", "mailboxes"),
    reference("mentions", "conversation", "conversations"),
    reference("messages", "conversation", "conversations"),
    reference("messages", "mailbox", "mailboxes"),
    blob("messages", "raw_hash"),
    reference("notes", "conversation", "conversations"),
    reference("notice_choices", "person", "users"),
    reference("notice_facts", "conversation", "conversations"),
    reference("notice_settings", "person", "users"),
    reference("outgoing_servers", "mailbox", "mailboxes"),
    reference("participants", "conversation", "conversations"),
    reference("passkeys", "person", "users"),
    reference("passwords", "person", "users"),
    blob("previews", "preview"),
    reference("provider_accounts", "person", "users"),
    reference("push_subscriptions", "person", "users"),
    reference("ratings", "conversation", "conversations"),
    reference("ratings", "message", "messages"),
    reference("recipient_outcomes", "message", "messages"),
    reference("recovery_codes", "person", "users"),
    reference("report_recipients", "person", "users"),
    reference("requested_documents", "request", "document_requests"),
    blob("saved_reply_files", "hash"),
    reference("secure_links", "message", "messages"),
    reference("secure_messages", "message", "messages"),
    reference("sent_copies", "message", "messages"),
    reference("sessions", "person", "users"),
    reference("timeline_events", "conversation", "conversations"),
    reference("totp_secrets", "person", "users"),
    reference("uploads", "request", "document_requests"),
];

/// Something that does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// `missing-row`, `missing-blob`, `damaged-blob`, `index`, `counter` or `database`.
    pub kind: &'static str,
    /// The table that it is in.
    pub table: String,
    /// The row, or what is missing.
    pub id: String,
    pub sentence: String,
}

/// What was read, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The rows of each table.
    pub tables: BTreeMap<String, u64>,
    pub blobs: u64,
    pub blob_bytes: u64,
    pub findings: Vec<CheckFinding>,
    /// How many there are in all; of each kind some are named.
    pub found: u64,
}

/// Checks the database and its blobs, on one consistent snapshot.
pub async fn check(store: &Store, blobs: &Blobs) -> Result<CheckReport> {
    let blobs = blobs.clone();
    store.read(move |tx| check_all(tx, &blobs)).await
}

fn check_all(tx: &mut Tx<'_>, blobs: &Blobs) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    check_database(tx, &mut report)?;
    for table in dumped_tables(tx)? {
        let mut rows = 0;
        // Every value is read, so that one that cannot be is found.
        tx.each_row(&table, |_| {
            rows += 1;
            Ok(())
        })?;
        report.tables.insert(table.name, rows);
    }
    for reference in REFERENCES {
        check_reference(tx, reference, &mut report)?;
    }
    check_blobs(tx, blobs, &mut report)?;
    check_uploads(tx, blobs, &mut report)?;
    check_index(tx, &mut report)?;
    check_counts(tx, &mut report)?;
    Ok(report)
}

impl CheckReport {
    fn add(&mut self, kind: &'static str, table: &str, found: Vec<(String, String)>) {
        self.found += found.len() as u64;
        let named = found.into_iter().take(NAMED);
        self.findings.extend(named.map(|(id, sentence)| CheckFinding {
            kind,
            table: table.to_owned(),
            id,
            sentence,
        }));
    }
}

/// SQLite looks through its own file, the full-text index included.
fn check_database(tx: &mut Tx<'_>, report: &mut CheckReport) -> Result<()> {
    if tx.pick(false, true) {
        return Ok(());
    }
    let said: Vec<(String,)> = tx.all("SELECT integrity_check FROM pragma_integrity_check", &[])?;
    let found = said.into_iter().filter(|(line,)| line != "ok");
    let found = found.map(|(line,)| (String::new(), format!("SQLite says: {line}"))).collect();
    report.add("database", "", found);
    Ok(())
}

fn check_reference(
    tx: &mut Tx<'_>,
    Reference { from, column, to, key }: &Reference,
    report: &mut CheckReport,
) -> Result<()> {
    let missing: Vec<(i64, String)> = tx.all(
        &format!(
            "SELECT DISTINCT f.ws, f.{column} FROM {from} f
             WHERE f.{column} IS NOT NULL AND f.{column} <> '' AND NOT EXISTS (
                 SELECT 1 FROM {to} t WHERE t.ws = f.ws AND t.{key} = f.{column}
             )"
        ),
        &[],
    )?;
    let kind = if *to == "blobs" { "missing-blob" } else { "missing-row" };
    let told = |(_, id): (i64, String)| {
        let sentence = format!("{from}.{column} names {id}, which is not in {to}.");
        (id, sentence)
    };
    report.add(kind, from, missing.into_iter().map(told).collect());
    Ok(())
}

fn check_blobs(tx: &mut Tx<'_>, blobs: &Blobs, report: &mut CheckReport) -> Result<()> {
    let (mut missing, mut damaged) = (Vec::new(), Vec::new());
    let (mut count, mut bytes, mut seen) = (0, 0, BTreeSet::new());
    tx.each("SELECT hash, size, packed FROM blobs ORDER BY ws, hash", &[], |row| {
        let (hash, size): (String, i64) = (row.take()?, row.take()?);
        let packed: Option<Vec<u8>> = row.take()?;
        count += 1;
        bytes += size.unsigned_abs();
        // Workspaces share files: each is read once.
        if packed.is_none() && !seen.insert(hash.clone()) {
            return Ok(());
        }
        let packed = match packed {
            Some(packed) => Some(packed),
            None => blobs.read_file(&hash).ok(),
        };
        match packed {
            None => missing.push((hash.clone(), format!("The file of the blob {hash} is gone."))),
            Some(packed) if !Blobs::is_whole(&hash, size, &packed) => {
                damaged.push((hash.clone(), format!("The bytes of the blob {hash} are damaged.")));
            }
            Some(_) => {}
        }
        Ok(())
    })?;
    (report.blobs, report.blob_bytes) = (count, bytes);
    report.add("missing-blob", "blobs", missing);
    report.add("damaged-blob", "blobs", damaged);
    Ok(())
}

/// The files of finished uploads.
fn check_uploads(tx: &mut Tx<'_>, blobs: &Blobs, report: &mut CheckReport) -> Result<()> {
    let gone = accepted_uploads(tx)?;
    let gone = gone.into_iter().filter(|upload| blobs.partial_uploads().read(upload).is_err());
    let told = gone.map(|upload| {
        let sentence = format!("The file of the upload {upload} is gone.");
        (upload.as_str().to_owned(), sentence)
    });
    report.add("missing-blob", "uploads", told.collect());
    Ok(())
}

fn check_index(tx: &mut Tx<'_>, report: &mut CheckReport) -> Result<()> {
    let is_indexed = match tx.pick(true, false) {
        // Rows from before numbers were spread still have their former ones.
        true => format!(
            "i.rowid IN ({}, c.num << 20 | m.serial)",
            search::message_rowid_sql("c.num", "m.serial")
        ),
        false => "i.ws = m.ws AND i.conversation = m.conversation AND i.serial = m.serial".into(),
    };
    let messages: Vec<(String,)> = tx.all(
        &format!(
            "SELECT m.id FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.counted_at IS NOT NULL AND m.serial < ?1
               AND NOT EXISTS (SELECT 1 FROM message_index i WHERE {is_indexed})"
        ),
        &[&search::ROWS_OF_CONVERSATION],
    )?;
    let documents: Vec<(String,)> = tx.all(
        &format!(
            "SELECT d.id FROM documents d
             WHERE (d.circle = 'sandbox' OR d.kind IS NOT NULL OR d.extract_at IS NOT NULL)
               AND NOT EXISTS (SELECT 1 FROM document_index i WHERE i.{} = d.num)",
            tx.pick("rowid", "num")
        ),
        &[],
    )?;
    let told = |(id,): (String,)| {
        let sentence = format!("Search does not know {id}. `mailroom reindex` mends it.");
        (id, sentence)
    };
    for (name, table) in search::missing_word_indexes(tx)? {
        let sentence = format!("The index {name} is missing. `mailroom reindex` creates it.");
        report.add("index", table, vec![(name.to_owned(), sentence)]);
    }
    report.add("index", "messages", messages.into_iter().map(told).collect());
    report.add("index", "documents", documents.into_iter().map(told).collect());
    Ok(())
}

/// Stored counts, and the same counted now.
const COUNTS: &[(&str, &str)] = &[
    (
        "open",
        "SELECT c.ws, c.circle, 'open:' || c.mailbox, count(*) FROM conversations c
         WHERE c.view = 'open' GROUP BY 1, 2, 3",
    ),
    (
        "tag",
        "SELECT t.ws, c.circle, 'tag:' || t.tag, count(*) FROM conversation_tags t
         JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation GROUP BY 1, 2, 3",
    ),
    (
        "topic-open",
        "SELECT c.ws, c.circle, 'topic-open:' || c.topic, count(*) FROM conversations c
         JOIN topics t ON t.ws = c.ws AND t.id = c.topic
         WHERE c.view = 'open' GROUP BY 1, 2, 3",
    ),
];

type Counted = BTreeMap<(i64, String, String), i64>;

fn check_counts(tx: &mut Tx<'_>, report: &mut CheckReport) -> Result<()> {
    for (kind, sql) in COUNTS {
        let counted = counts(tx, sql)?;
        let stored = counts(
            tx,
            &format!(
                "SELECT ws, circle, what, CAST(sum(n) AS BIGINT) FROM counters
                 WHERE what LIKE '{kind}:%' GROUP BY 1, 2, 3"
            ),
        )?;
        let keys: BTreeSet<_> = counted.keys().chain(stored.keys()).collect();
        let of = |counts: &Counted, key| counts.get(key).copied().unwrap_or(0);
        let wrong = keys.into_iter().filter(|key| of(&counted, key) != of(&stored, key));
        let told = wrong.map(|key| {
            let (stored, counted) = (of(&stored, key), of(&counted, key));
            (key.2.clone(), format!("The counter {} says {stored}; it is {counted}.", key.2))
        });
        let told = told.collect();
        report.add("counter", "counters", told);
    }
    let wrong: Vec<(String,)> = tx.all(
        "SELECT c.id FROM conversations c WHERE c.message_count <> (
             SELECT count(*) FROM messages m
             WHERE m.ws = c.ws AND m.conversation = c.id AND m.counted_at IS NOT NULL
         )",
        &[],
    )?;
    let told = |(id,): (String,)| {
        let sentence = format!("{id} counts another number of messages than it has.");
        (id, sentence)
    };
    report.add("counter", "conversations", wrong.into_iter().map(told).collect());
    Ok(())
}

fn counts(tx: &mut Tx<'_>, sql: &str) -> Result<Counted> {
    let rows: Vec<(i64, String, String, i64)> = tx.all(sql, &[])?;
    Ok(rows.into_iter().map(|(ws, circle, what, n)| ((ws, circle, what), n)).collect())
}
