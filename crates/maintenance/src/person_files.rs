//! Writes everything about one person as files: JSON, mails as they came, and attachments.

use std::collections::BTreeSet;
use std::io;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{MessageId, UploadId};
use db::{Arg, Column, Json, TableShape, Tx};
use model::contacts::contact_addresses;
use model::guests::secure;
use model::messages::recipients::Party;
use serde_json::{Map, Value, json};

use super::dump::dumped_tables;

/// Receives each file: its path in the folder, and its bytes.
pub type FileSink<'a> = dyn FnMut(&str, &[u8]) -> io::Result<()> + 'a;

/// Whether an export has the words and files of protected messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectedWords {
    LeftOut,
    InTheClear,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersonExport {
    pub conversations: u64,
    pub messages: u64,
    /// Raw mails and attachments.
    pub files: u64,
    /// Those that are lost or damaged: a sentence stands in the place of each.
    pub unreadable: u64,
}

/// Columns of internal use, and secrets.
const LEFT_OUT: &[&str] = &["ws", "num", "old_token", "key", "packed", "raw_hash", "content_hash"];
/// What stands in the place of a file.
const UNREADABLE: &str = "This file is lost or damaged. `mailroom check` tells more.\n";
/// Columns that name a person.
const ADDRESSES: &[&str] = &["email", "guest_email"];
/// The longest name of a file, in bytes, beside the id in front of it.
const NAME_BYTES: usize = 200;

/// Writes what the workspace has of a person, under all of their addresses: their own conversations,
/// their part of those with others, and what else is kept under an address.
pub fn export_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    write: &mut FileSink<'_>,
) -> Result<PersonExport> {
    let tables = dumped_tables(tx)?;
    let addresses = contact_addresses::of_team(tx, cx.actor.ws, email)?;
    let mut kept = Map::new();
    let mut conversations: Vec<(String, bool)> = Vec::new();
    for address in &addresses {
        records(tx, cx.actor.ws, &tables, address, &mut kept)?;
        for (id, is_own) in conversations_of(tx, cx.actor.ws, address, &addresses)? {
            match conversations.iter_mut().find(|(known, _)| *known == id) {
                Some((_, own)) => *own |= is_own,
                None => conversations.push((id, is_own)),
            }
        }
    }
    if conversations.is_empty() && kept.is_empty() {
        return Err(Error::NotFound("person"));
    }
    let ids: Vec<&String> = conversations.iter().map(|(id, _)| id).collect();
    let person = json!({
        "email": email,
        "addresses": addresses,
        "conversations": ids,
        "records": kept,
    });
    let mut writing = ConversationFiles::new(&tables, ProtectedWords::InTheClear, write);
    writing.json("person.json", &person)?;
    for (id, is_own) in &conversations {
        writing.export.conversations += 1;
        if *is_own {
            writing.conversation(tx, cx, id)?;
        } else {
            writing.part(tx, cx, id, &addresses)?;
        }
    }
    Ok(writing.export)
}

/// The conversations of an address, and whether all of each is the person's: with what was merged in
/// of somebody else, only their part of it is.
fn conversations_of(
    tx: &mut Tx<'_>,
    ws: i64,
    address: &EmailAddress,
    addresses: &[EmailAddress],
) -> Result<Vec<(String, bool)>> {
    let own: Vec<(String,)> = tx.all(
        "SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2",
        &[&ws, address],
    )?;
    let mut found = Vec::new();
    for (id,) in own {
        let merged: Vec<(EmailAddress,)> = tx.all(
            "SELECT contact_email FROM conversations WHERE ws = ?1 AND merged_into = ?2",
            &[&ws, &id],
        )?;
        let is_own = merged.iter().all(|(contact,)| addresses.contains(contact));
        found.push((id, is_own));
    }
    let others: Vec<(String,)> = tx.all(
        "SELECT p.conversation FROM participants p
         CROSS JOIN conversations c
         WHERE p.ws = ?1 AND p.email = ?2 AND c.ws = p.ws AND c.id = p.conversation
           AND c.contact_email <> ?2",
        &[&ws, address],
    )?;
    found.extend(others.into_iter().map(|(id,)| (id, false)));
    Ok(found)
}

/// Adds the rows of all tables that are kept under an address.
fn records(
    tx: &mut Tx<'_>,
    ws: i64,
    tables: &[TableShape],
    email: &EmailAddress,
    kept: &mut Map<String, Value>,
) -> Result<()> {
    for table in tables.iter().filter(|table| has(table, "ws")) {
        let column = ADDRESSES.iter().find(|column| has(table, column));
        let mut rows = match column {
            Some(column) => rows_with(tx, table, &format!("{column} = ?2"), &[&ws, email])?,
            None if table.name == "app_mail" => {
                let place = tx.pick("instr", "strpos");
                let listed = format!("\"{}\"", email.as_str());
                rows_with(tx, table, &format!("{place}(to_list, ?2) > 0"), &[&ws, &listed])?
            }
            None => continue,
        };
        // Whom else it went to is not about the person.
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            row.remove("to_list");
        }
        if rows.is_empty() {
            continue;
        }
        match kept.get_mut(&table.name) {
            Some(Value::Array(known)) => known.extend(rows),
            _ => drop(kept.insert(table.name.clone(), Value::Array(rows))),
        }
    }
    Ok(())
}

db::row! {
    struct ExportedMessage from "m" {
        id: MessageId,
        from_email: EmailAddress,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        raw_hash: Option<String>,
        secure: bool,
    }
}

impl ExportedMessage {
    fn concerns(&self, addresses: &[EmailAddress]) -> bool {
        let mut to = self.to_list.iter().chain(self.cc_list.iter()).chain(self.bcc_list.iter());
        addresses.contains(&self.from_email) || to.any(|party| addresses.contains(&party.address()))
    }
}

/// An export of conversations that is being written.
pub(super) struct ConversationFiles<'a, 'w> {
    tables: &'a [TableShape],
    protected: ProtectedWords,
    pub export: PersonExport,
    write: &'a mut FileSink<'w>,
}

impl<'a, 'w> ConversationFiles<'a, 'w> {
    pub fn new(
        tables: &'a [TableShape],
        protected: ProtectedWords,
        write: &'a mut FileSink<'w>,
    ) -> Self {
        ConversationFiles { tables, protected, export: PersonExport::default(), write }
    }

    /// Everything in a conversation of the person.
    fn conversation(&mut self, tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
        let all = self.rows(tx, cx, id)?;
        self.json(&format!("{id}/conversation.json"), &Value::Object(all))?;
        self.write_files(tx, cx, id)
    }

    /// The rows of a conversation, by their tables.
    pub fn rows(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<Map<String, Value>> {
        let mut all = Map::new();
        for table in self.tables.iter().filter(|table| has(table, "ws")) {
            let condition = match table.name.as_str() {
                "conversations" => "id = ?2",
                // What somebody of the team has not sent is theirs, and sealed.
                "autosaves" => continue,
                "uploads" | "requested_documents" => {
                    "request IN (
                         SELECT id FROM document_requests WHERE ws = ?1 AND conversation = ?2
                     )"
                }
                _ if has(table, "conversation") => "conversation = ?2",
                _ => continue,
            };
            let rows = rows_with(tx, table, condition, &[&cx.actor.ws, &id])?;
            if !rows.is_empty() {
                all.insert(table.name.clone(), Value::Array(rows));
            }
        }
        Ok(all)
    }

    /// The mails and files of a conversation.
    pub fn write_files(&mut self, tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
        let messages = messages_of(tx, cx.actor.ws, id)?;
        self.mails(tx, cx, id, &messages)?;
        self.files(tx, cx, id, None)?;
        self.uploads(tx, cx, id)
    }

    /// What the person wrote or got in a conversation of somebody else.
    fn part(
        &mut self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        id: &str,
        addresses: &[EmailAddress],
    ) -> Result<()> {
        let mut messages = messages_of(tx, cx.actor.ws, id)?;
        messages.retain(|message| message.concerns(addresses));
        let mut rows = Vec::new();
        for table in self.tables.iter().filter(|table| table.name == "messages") {
            for message in &messages {
                rows.extend(rows_with(tx, table, "id = ?2", &[&cx.actor.ws, &message.id])?);
            }
        }
        // Others do not see who else got it in secret.
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            row.remove("bcc_list");
        }
        self.json(&format!("{id}/conversation.json"), &json!({ "messages": rows }))?;
        self.mails(tx, cx, id, &messages)?;
        let ids: BTreeSet<&str> = messages.iter().map(|message| message.id.as_str()).collect();
        self.files(tx, cx, id, Some(&ids))
    }

    /// Mails as they came, and the words of protected ones where they are wanted.
    fn mails(
        &mut self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &str,
        messages: &[ExportedMessage],
    ) -> Result<()> {
        for message in messages {
            self.export.messages += 1;
            let id = &message.id;
            if let Some(hash) = &message.raw_hash {
                let bytes = cx.blobs.get(tx, cx.actor.ws, hash)?;
                self.file_or_sentence(&format!("{conversation}/mails/{id}.eml"), bytes)?;
            }
            if message.secure && self.protected == ProtectedWords::InTheClear {
                let content = secure::load(tx, cx, id)?;
                let name = format!("{conversation}/protected/{id}.txt");
                (self.write)(&name, content.text.as_bytes())?;
                for file in &content.files {
                    let bytes = secure::file_bytes(tx, cx, file)?;
                    let name = safe_name(&file.filename);
                    self.file(&format!("{conversation}/protected/{}-{name}", file.id), &bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The files of a conversation, or those of some of its messages.
    fn files(
        &mut self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        id: &str,
        only: Option<&BTreeSet<&str>>,
    ) -> Result<()> {
        let files: Vec<(String, String, String, Option<String>)> = tx.all(
            "SELECT id, filename, hash, message FROM documents WHERE ws = ?1 AND conversation = ?2
             UNION ALL
             SELECT id, filename, hash, message FROM attachments
             WHERE ws = ?1 AND conversation = ?2 AND key IS NULL",
            &[&cx.actor.ws, &id],
        )?;
        for (file, filename, hash, message) in files {
            let is_wanted = only.is_none_or(|only| {
                message.as_deref().is_some_and(|message| only.contains(message))
            });
            if is_wanted {
                let bytes = cx.blobs.get(tx, cx.actor.ws, &hash)?;
                let name = format!("{id}/attachments/{file}-{}", safe_name(&filename));
                self.file_or_sentence(&name, bytes)?;
            }
        }
        Ok(())
    }

    /// Files that the person uploaded and nobody filed yet.
    fn uploads(&mut self, tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
        let uploads: Vec<(UploadId, String)> = tx.all(
            "SELECT u.id, u.filename FROM document_requests r
             CROSS JOIN uploads u
             WHERE r.ws = ?1 AND r.conversation = ?2 AND u.ws = r.ws AND u.request = r.id
               AND u.state IN ('checking', 'kept')",
            &[&cx.actor.ws, &id],
        )?;
        for (upload, filename) in uploads {
            let bytes = cx.blobs.partial_uploads().bytes(&upload);
            let name = format!("{id}/uploads/{upload}-{}", safe_name(&filename));
            self.file_or_sentence(&name, bytes.ok())?;
        }
        Ok(())
    }

    /// A file, or a sentence in its place where it is lost or damaged.
    fn file_or_sentence(&mut self, name: &str, bytes: Option<Vec<u8>>) -> Result<()> {
        match bytes {
            Some(bytes) => self.file(name, &bytes),
            None => {
                self.export.unreadable += 1;
                Ok((self.write)(&format!("{name}.unreadable.txt"), UNREADABLE.as_bytes())?)
            }
        }
    }

    fn file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.export.files += 1;
        Ok((self.write)(name, bytes)?)
    }

    fn json(&mut self, name: &str, value: &Value) -> Result<()> {
        let text = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
        Ok((self.write)(name, &text)?)
    }
}

fn messages_of(tx: &mut Tx<'_>, ws: i64, conversation: &str) -> Result<Vec<ExportedMessage>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2 ORDER BY m.at",
            ExportedMessage::COLUMNS
        ),
        &[&ws, &conversation],
    )?)
}

pub(super) fn has(table: &TableShape, column: &str) -> bool {
    table.columns.iter().any(|known| known.name == column)
}

/// The rows of the workspace `?1` of which a condition is true.
fn rows_with(
    tx: &mut Tx<'_>,
    table: &TableShape,
    condition: &str,
    args: &[&dyn Arg],
) -> Result<Vec<Value>> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let sql =
        format!("SELECT {} FROM {} WHERE ws = ?1 AND {condition}", quoted.join(", "), table.name);
    let mut rows = Vec::new();
    tx.each(&sql, args, |row| {
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

/// A file name that stays in its folder and is not too long for it.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '_' };
    let mut short = String::new();
    for c in name.chars().map(safe) {
        if short.len() + c.len_utf8() > NAME_BYTES {
            break;
        }
        short.push(c);
    }
    short.trim_start_matches('.').to_owned()
}
