//! Writes a whole workspace in open formats: lines of JSON for what it has many of, and for each
//! conversation its mails as they came and its files.

use std::io;

use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use db::{Column, Tx};
use serde_json::{Map, Value, json};

use super::dump::dumped_tables;
use super::person_files::{ConversationFiles, FileSink, PersonExport, ProtectedWords};

/// Conversations whose ids are read at once.
const PAGE: i64 = 500;

/// A table that is written as lines: the name of its file, its rows, and the columns that are anybody's.
pub struct ExportedTable {
    pub file: &'static str,
    from: &'static str,
    columns: &'static [&'static str],
}

/// What a workspace has beside conversations. Secrets and what only this program can use are not among it.
pub const WORKSPACE_TABLES: &[ExportedTable] = &[
    ExportedTable {
        file: "people.jsonl",
        from: "users",
        columns: &["id", "email", "name", "role", "duty", "signature", "created_at"],
    },
    ExportedTable {
        file: "inboxes.jsonl",
        from: "mailboxes",
        columns: &["id", "address", "name", "circle", "signature", "created_at"],
    },
    ExportedTable {
        file: "contacts.jsonl",
        from: "contacts",
        columns: &["email", "name", "circle", "last_at"],
    },
    ExportedTable {
        file: "tags.jsonl",
        from: "tags",
        columns: &["id", "name", "circle", "created_at"],
    },
    ExportedTable {
        file: "topics.jsonl",
        from: "topics",
        columns: &["id", "name", "words", "created_at"],
    },
    ExportedTable {
        file: "contact_forms.jsonl",
        from: "contact_forms",
        columns: &["id", "mailbox", "slug", "title", "intro", "thanks", "fields", "created_at"],
    },
    ExportedTable {
        file: "branding.jsonl",
        from: "brandings",
        columns: &["chosen_colour", "colour", "logo", "in_mail", "changed_at"],
    },
    ExportedTable {
        file: "fields.jsonl",
        from: "fields",
        columns: &["name", "owner", "kind", "choices", "created_at"],
    },
    ExportedTable {
        file: "company_fields.jsonl",
        from: "company_fields",
        columns: &["company", "field", "circle", "value"],
    },
    ExportedTable {
        file: "contact_fields.jsonl",
        from: "contact_fields",
        columns: &["email", "field", "circle", "value"],
    },
    ExportedTable {
        file: "answers.jsonl",
        from: "answers",
        columns: &[
            "id",
            "circle",
            "title",
            "body",
            "help_body",
            "language",
            "section",
            "slug",
            "audience",
            "help_state",
            "original",
            "created_at",
            "changed_at",
        ],
    },
    ExportedTable {
        file: "saved_replies.jsonl",
        from: "saved_replies",
        columns: &["id", "name", "folder", "body", "created_at", "changed_at", "uses", "used_at"],
    },
];

/// Shows each row of a table as one JSON object, one after the other.
pub fn export_table(
    tx: &mut Tx<'_>,
    ws: i64,
    table: &ExportedTable,
    mut see: impl FnMut(&Value) -> io::Result<()>,
) -> Result<u64> {
    let sql = format!("SELECT {} FROM {} WHERE ws = ?1", table.columns.join(", "), table.from);
    let mut rows = 0;
    tx.each(&sql, &[&ws], |row| {
        let mut shown = Map::new();
        for name in table.columns {
            let value = match row.take_column()? {
                Column::Int(number) => json!(number),
                Column::Bool(truth) => json!(truth),
                Column::Real(number) => json!(number),
                Column::Text(text) => json!(text),
                Column::Null | Column::Bytes(_) => Value::Null,
            };
            shown.insert((*name).to_owned(), value);
        }
        rows += 1;
        see(&Value::Object(shown)).map_err(|error| db::StoreError::Rows(error.to_string()))
    })?;
    Ok(rows)
}

/// The next conversations in the order in which they began, without those of the sandbox.
pub fn next_conversations(
    tx: &mut Tx<'_>,
    ws: i64,
    after: i64,
) -> Result<Vec<(i64, ConversationId)>> {
    Ok(tx.all(
        "SELECT num, id FROM conversations
         WHERE ws = ?1 AND num > ?2 AND circle <> 'sandbox' ORDER BY num LIMIT ?3",
        &[&ws, &after, &PAGE],
    )?)
}

/// Writes the files of a conversation; returns its line, or `None` if it is gone meanwhile.
pub fn export_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    protected: ProtectedWords,
    write: &mut FileSink<'_>,
) -> Result<Option<(Value, PersonExport)>> {
    let tables = dumped_tables(tx)?;
    let tags: Vec<(String,)> = tx.all(
        "SELECT t.name FROM conversation_tags c JOIN tags t ON t.ws = c.ws AND t.id = c.tag
         WHERE c.ws = ?1 AND c.conversation = ?2 ORDER BY t.name",
        &[&cx.actor.ws, id],
    )?;
    let mut files = ConversationFiles::new(&tables, protected, write);
    let mut rows = files.rows(tx, cx, id.as_str())?;
    let own = rows.remove("conversations").and_then(|own| own.as_array()?.first().cloned());
    let Some(Value::Object(mut line)) = own else { return Ok(None) };
    line.insert("tags".into(), tags.into_iter().map(|(tag,)| Value::from(tag)).collect());
    for (name, from) in [
        ("messages", "messages"),
        ("notes", "notes"),
        ("documents", "documents"),
        ("attachments", "attachments"),
        ("timeline", "timeline_events"),
        ("bookings", "bookings"),
        ("formPosts", "form_posts"),
        ("fields", "conversation_fields"),
        ("links", "conversation_links"),
    ] {
        line.insert(name.into(), rows.remove(from).unwrap_or_else(|| json!([])));
    }
    files.write_files(tx, cx, id.as_str())?;
    Ok(Some((Value::Object(line), files.export)))
}
