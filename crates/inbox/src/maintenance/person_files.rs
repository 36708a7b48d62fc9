//! Writes everything about one person as files: JSON, mails as they came, and attachments.

use std::io;

use db::{Column, TableShape, Tx};
use serde_json::{Map, Value, json};

use super::dump::dumped_tables;
use crate::app::Cx;
use crate::base::email_address::EmailAddress;
use crate::base::error::{Error, Result};
use crate::base::ids::MessageId;
use crate::model::secure;

/// Receives each file: its path in the folder, and its bytes.
pub type FileSink<'a> = dyn FnMut(&str, &[u8]) -> io::Result<()> + 'a;

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersonExport {
    pub conversations: u64,
    pub messages: u64,
    /// Raw mails and attachments.
    pub files: u64,
}

/// Columns of internal use, and secrets.
const LEFT_OUT: &[&str] = &["ws", "num", "old_token", "key", "packed", "raw_hash"];

/// Writes what the workspace has of a person: their own conversations, those that they took part in,
/// and what else is kept under their address.
pub fn export_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    write: &mut FileSink<'_>,
) -> Result<PersonExport> {
    let tables = dumped_tables(tx)?;
    let mut export = PersonExport::default();
    let mut kept = Map::new();
    for table in tables.iter().filter(|table| has(table, "ws") && has(table, "email")) {
        let rows = rows_with(tx, table, "email", cx.actor.ws, email)?;
        if !rows.is_empty() {
            kept.insert(table.name.clone(), Value::Array(rows));
        }
    }
    let conversations: Vec<(String,)> = tx.all(
        "SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2
         UNION SELECT conversation FROM participants WHERE ws = ?1 AND email = ?2",
        &[&cx.actor.ws, email],
    )?;
    if conversations.is_empty() && kept.is_empty() {
        return Err(Error::NotFound("person"));
    }
    for (id,) in &conversations {
        export.conversations += 1;
        write_conversation(tx, cx, &tables, id, &mut export, write)?;
    }
    let ids: Vec<&String> = conversations.iter().map(|(id,)| id).collect();
    let person = json!({ "email": email, "conversations": ids, "records": kept });
    write_json(write, "person.json", &person)?;
    Ok(export)
}

fn write_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    tables: &[TableShape],
    id: &str,
    export: &mut PersonExport,
    write: &mut FileSink<'_>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let mut all = Map::new();
    for table in tables {
        let column = match table.name.as_str() {
            "conversations" => "id",
            _ if has(table, "conversation") && has(table, "ws") => "conversation",
            _ => continue,
        };
        let rows = rows_with(tx, table, column, ws, id)?;
        if !rows.is_empty() {
            all.insert(table.name.clone(), Value::Array(rows));
        }
    }
    write_json(write, &format!("{id}/conversation.json"), &Value::Object(all))?;
    write_mails(tx, cx, id, export, write)?;
    let files: Vec<(String, String, String)> = tx.all(
        "SELECT id, filename, hash FROM documents WHERE ws = ?1 AND conversation = ?2
         UNION ALL
         SELECT id, filename, hash FROM attachments
         WHERE ws = ?1 AND conversation = ?2 AND key IS NULL",
        &[&ws, &id],
    )?;
    for (file, filename, hash) in files {
        if let Some(bytes) = cx.blobs.get(tx, ws, &hash)? {
            export.files += 1;
            write(&format!("{id}/attachments/{file}-{}", safe_name(&filename)), &bytes)?;
        }
    }
    Ok(())
}

/// The mails of a conversation as they came, and the words of protected ones.
fn write_mails(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    export: &mut PersonExport,
    write: &mut FileSink<'_>,
) -> Result<()> {
    let messages: Vec<(MessageId, Option<String>, bool)> = tx.all(
        "SELECT id, raw_hash, secure FROM messages WHERE ws = ?1 AND conversation = ?2 ORDER BY at",
        &[&cx.actor.ws, &conversation],
    )?;
    for (message, raw, is_secure) in messages {
        export.messages += 1;
        if let Some(hash) = raw
            && let Some(bytes) = cx.blobs.get(tx, cx.actor.ws, &hash)?
        {
            export.files += 1;
            write(&format!("{conversation}/mails/{message}.eml"), &bytes)?;
        }
        if is_secure {
            let content = secure::load(tx, cx, &message)?;
            write(&format!("{conversation}/protected/{message}.txt"), content.text.as_bytes())?;
            for file in &content.files {
                let bytes = secure::file_bytes(tx, cx, file)?;
                export.files += 1;
                let name = safe_name(&file.filename);
                write(&format!("{conversation}/protected/{}-{name}", file.id), &bytes)?;
            }
        }
    }
    Ok(())
}

pub(super) fn has(table: &TableShape, column: &str) -> bool {
    table.columns.iter().any(|known| known.name == column)
}

fn rows_with(
    tx: &mut Tx<'_>,
    table: &TableShape,
    column: &str,
    ws: i64,
    value: &str,
) -> Result<Vec<Value>> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let sql =
        format!("SELECT {} FROM {} WHERE ws = ?1 AND {column} = ?2", quoted.join(", "), table.name);
    let mut rows = Vec::new();
    tx.each(&sql, &[&ws, &value], |row| {
        let mut shown = Map::new();
        for name in &names {
            let value = match row.take_column()? {
                Column::Int(number) => json!(number),
                Column::Bool(truth) => json!(truth),
                Column::Real(number) => json!(number),
                Column::Text(text) => json!(text),
                Column::Null | Column::Bytes(_) => Value::Null,
            };
            if !value.is_null() && !LEFT_OUT.contains(name) {
                shown.insert((*name).to_owned(), value);
            }
        }
        rows.push(Value::Object(shown));
        Ok(())
    })?;
    Ok(rows)
}

fn write_json(write: &mut FileSink<'_>, name: &str, value: &Value) -> Result<()> {
    let text = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
    Ok(write(name, &text)?)
}

/// A file name that stays in its folder.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '_' };
    let name: String = name.chars().map(safe).take(100).collect();
    name.trim_start_matches('.').to_owned()
}
