//! Reads a dump without a database: whether it is whole, which files it names, and which conversations use a
//! blob.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use base::error::Result;
use base::ids::UploadId;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::BLOBS;
use super::dump::{DumpContents, DumpEnd, TableEnd, TableHeader, blob_columns};
use super::load::{damaged_error, dump_header, next_line, parse};

/// Uses of one blob that are named.
const NAMED_USES: usize = 20;
/// The table of uploads, and the states in which an upload is a file of its own.
const UPLOADS: &str = "uploads";
const ACCEPTED: [&str; 2] = ["checking", "kept"];

/// A table whose rows name blobs: the column that does, and those that say where the row belongs.
struct Naming {
    table: &'static str,
    blob: &'static str,
    conversation: &'static str,
    message: &'static str,
    request: &'static str,
}

const fn naming(table: &'static str, blob: &'static str) -> Naming {
    Naming { table, blob, conversation: "conversation", message: "message", request: "request" }
}

const NAMINGS: &[Naming] = &[
    naming("attachments", "hash"),
    naming("documents", "hash"),
    Naming { message: "id", ..naming("messages", "raw_hash") },
    naming("previews", "preview"),
    naming("saved_reply_files", "hash"),
    naming(UPLOADS, "id"),
];

/// A row that uses a blob. It names no words of any mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlobUse {
    pub table: &'static str,
    pub conversation: Option<String>,
    pub message: Option<String>,
    /// The request for documents that an upload belongs to.
    #[serde(skip)]
    request: Option<String>,
}

/// What a dump holds. An error where it is damaged or incomplete.
pub fn scan(input: &mut dyn BufRead) -> Result<DumpContents> {
    let mut contents = DumpContents::default();
    let (mut tables, mut blob, mut upload) = (BTreeMap::new(), None, None);
    let schema = walk(input, &mut |table, row| {
        let Some(row) = row else {
            blob = (table.table == BLOBS).then(|| blob_columns(&table.columns)).flatten();
            upload =
                (table.table == UPLOADS).then(|| place(table, "id").zip(place(table, "state")));
            tables.insert(table.table.clone(), 0);
            return Ok(());
        };
        *tables.entry(table.table.clone()).or_default() += 1;
        if let Some([hash, size, packed]) = blob {
            let row: Vec<Value> = parse(row)?;
            let value = |at: usize| row.get(at).ok_or_else(damaged_error);
            let hash = value(hash)?.as_str().ok_or_else(damaged_error)?;
            let size = value(size)?.as_i64().ok_or_else(damaged_error)?;
            let packed = packed_bytes(value(packed)?)?;
            contents.note_blob(hash, size, packed.as_deref());
        }
        if let Some(Some((id, state))) = upload {
            let row: Vec<Value> = parse(row)?;
            let text = |at: usize| row.get(at).and_then(Value::as_str).ok_or_else(damaged_error);
            if ACCEPTED.contains(&text(state)?) {
                contents.uploads.push(UploadId::parse(text(id)?).ok_or_else(damaged_error)?);
            }
        }
        Ok(())
    })?;
    (contents.schema, contents.tables) = (schema, tables);
    contents.order_blobs();
    Ok(contents)
}

/// Which rows use these blobs and uploads. The dump is read twice, because rows of one table name those of
/// another.
pub fn blob_uses(
    [first, second]: [&mut dyn BufRead; 2],
    wanted: &BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<BlobUse>>> {
    let mut uses: BTreeMap<String, Vec<BlobUse>> = BTreeMap::new();
    walk(first, &mut |table, row| {
        let Some(row) = row else { return Ok(()) };
        let Some(naming) = NAMINGS.iter().find(|naming| naming.table == table.table) else {
            return Ok(());
        };
        let row: Vec<Value> = parse(row)?;
        let text = |column: &str| {
            let value = place(table, column).and_then(|at| row.get(at));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        if let Some(blob) = text(naming.blob).filter(|blob| wanted.contains(blob)) {
            let found = uses.entry(blob).or_default();
            if found.len() < NAMED_USES {
                found.push(BlobUse {
                    table: naming.table,
                    conversation: text(naming.conversation),
                    message: text(naming.message),
                    request: text(naming.request),
                });
            }
        }
        Ok(())
    })?;
    fill_conversations(second, &mut uses)?;
    Ok(uses)
}

/// Adds the conversations of messages and requests.
fn fill_conversations(
    input: &mut dyn BufRead,
    uses: &mut BTreeMap<String, Vec<BlobUse>>,
) -> Result<()> {
    let mut owners: BTreeMap<String, Option<String>> = uses
        .values()
        .flatten()
        .filter(|found| found.conversation.is_none())
        .filter_map(|found| found.message.clone().or_else(|| found.request.clone()))
        .map(|owner| (owner, None))
        .collect();
    if owners.is_empty() {
        return Ok(());
    }
    walk(input, &mut |table, row| {
        let Some(row) = row else { return Ok(()) };
        if !["messages", "document_requests"].contains(&table.table.as_str()) {
            return Ok(());
        }
        let row: Vec<Value> = parse(row)?;
        let text = |column: &str| place(table, column).and_then(|at| row.get(at)?.as_str());
        if let Some(owner) = text("id").and_then(|id| owners.get_mut(id)) {
            *owner = text("conversation").map(str::to_owned);
        }
        Ok(())
    })?;
    for found in uses.values_mut().flatten().filter(|found| found.conversation.is_none()) {
        let owner = found.message.as_ref().or(found.request.as_ref());
        found.conversation = owner.and_then(|owner| owners.get(owner).cloned().flatten());
    }
    Ok(())
}

/// Calls `see` at the beginning of each table, without a row, and with each of its rows as a line. Answers the
/// schema.
pub(super) fn walk(
    input: &mut dyn BufRead,
    see: &mut dyn FnMut(&TableHeader, Option<&str>) -> Result<()>,
) -> Result<i64> {
    let schema = dump_header(input)?.schema;
    let mut tables = 0;
    loop {
        let line = next_line(input)?;
        if let Ok(end) = parse::<DumpEnd>(&line) {
            return if end.complete && end.tables == tables {
                Ok(schema)
            } else {
                Err(damaged_error())
            };
        }
        let table: TableHeader = parse(&line)?;
        tables += 1;
        see(&table, None)?;
        let mut rows = 0;
        loop {
            let line = next_line(input)?;
            if line.starts_with('{') {
                let end: TableEnd = parse(&line)?;
                if end.end != table.table || end.rows != rows {
                    return Err(damaged_error());
                }
                break;
            }
            if !line.starts_with('[') {
                return Err(damaged_error());
            }
            rows += 1;
            see(&table, Some(&line))?;
        }
    }
}

pub(super) fn place(table: &TableHeader, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| column == name)
}

pub(super) fn packed_bytes(value: &Value) -> Result<Option<Vec<u8>>> {
    match value {
        Value::Null => Ok(None),
        value => {
            let text = value.get("b").and_then(Value::as_str).ok_or_else(damaged_error)?;
            STANDARD.decode(text).map(Some).map_err(|_| damaged_error())
        }
    }
}
