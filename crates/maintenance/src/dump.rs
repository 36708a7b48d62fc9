//! Writes every table as lines of JSON, the same for SQLite and PostgreSQL.
//!
//! The first line names the format and the schema. A table is a line with its name and columns, a line
//! for each row, and a line with their number; the last line says that nothing is missing. Bytes are
//! `{"b": base64}` and fractions `{"r": decimal}`, so that every value comes back as it was.

use std::collections::BTreeMap;
use std::io::Write;

use base::error::Result;
use base::files::blobs::Blobs;
use base::ids::{UploadId, WorkspaceId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::{Arg, Column, StoreError, TableShape, Tx};
use serde::{Deserialize, Serialize};

use super::{BLOBS, EVENTS, KEY_CHECK, NODE_FILES, NOT_DUMPED, NOT_OF_WORKSPACE, TRANSACTION};

/// The version of the format.
pub(super) const DUMP_FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DumpHeader {
    pub mailroom_dump: u32,
    pub schema: i64,
    /// The one workspace that it holds; `None` for a whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<DumpedWorkspace>,
}

/// A workspace, as a dump names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DumpedWorkspace {
    pub ws: i64,
    pub id: WorkspaceId,
    pub slug: String,
    pub name: String,
}

/// What is dumped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpScope {
    Installation,
    Workspace(DumpedWorkspace),
}

impl DumpScope {
    pub fn workspace(&self) -> Option<&DumpedWorkspace> {
        match self {
            DumpScope::Installation => None,
            DumpScope::Workspace(workspace) => Some(workspace),
        }
    }
}

/// A line that begins a table.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableHeader {
    pub table: String,
    pub columns: Vec<String>,
}

/// A line that ends a table.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableEnd {
    pub end: String,
    pub rows: u64,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DumpEnd {
    pub complete: bool,
    pub tables: u64,
}

/// What a dump holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpContents {
    /// The rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// The hashes of blobs that are files, each once.
    pub files: Vec<String>,
    /// Uploads whose bytes are whole and not yet filed, so that they are files of their own.
    pub uploads: Vec<UploadId>,
    /// The hashes of blobs in the tables whose bytes are not those that came in, each once.
    pub damaged: Vec<String>,
    pub schema: i64,
}

impl DumpContents {
    /// Notes the blob of a row: that it is a file, or damaged.
    pub(super) fn note_blob(&mut self, hash: &str, size: i64, packed: Option<&[u8]>) {
        match packed {
            None => self.files.push(hash.to_owned()),
            Some(packed) if !Blobs::is_whole(hash, size, packed) => {
                self.damaged.push(hash.to_owned());
            }
            Some(_) => {}
        }
    }

    /// Workspaces may share a blob; each is listed once.
    pub(super) fn order_blobs(&mut self) {
        for hashes in [&mut self.files, &mut self.damaged] {
            hashes.sort();
            hashes.dedup();
        }
    }
}

/// The newest schema that the database has.
pub fn schema_version(tx: &mut Tx<'_>) -> Result<i64> {
    let (version,): (i64,) =
        tx.one("SELECT CAST(coalesce(max(version), 0) AS BIGINT) FROM schema_versions", &[])?;
    Ok(version)
}

/// Writes all tables as they are in this transaction. `progress` is told each table and its rows.
pub fn dump(
    tx: &mut Tx<'_>,
    scope: &DumpScope,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<DumpContents> {
    let schema = schema_version(tx)?;
    let workspace = scope.workspace().cloned();
    write_json(out, &DumpHeader { mailroom_dump: DUMP_FORMAT, schema, workspace })?;
    // Files that a customer did not hand over yet stay with the installation.
    let uploads = match scope {
        DumpScope::Installation => accepted_uploads(tx)?,
        DumpScope::Workspace(_) => Vec::new(),
    };
    let mut contents = DumpContents { schema, uploads, ..DumpContents::default() };
    for table in dumped_tables(tx)? {
        // The check of `secret.key` goes with every dump.
        let is_shared = !table.has("ws") && table.name != NODE_FILES;
        if scope.workspace().is_some()
            && (is_shared || NOT_OF_WORKSPACE.contains(&table.name.as_str()))
        {
            continue;
        }
        let ws = scope.workspace().filter(|_| table.has("ws")).map(|workspace| workspace.ws);
        let rows = dump_table(tx, &table, ws, out, &mut contents)?;
        progress(&table.name, rows);
        contents.tables.insert(table.name, rows);
    }
    contents.order_blobs();
    write_json(out, &DumpEnd { complete: true, tables: contents.tables.len() as u64 })?;
    out.flush()?;
    Ok(contents)
}

/// The hashes of blobs that are files, each once.
pub fn file_hashes(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let found: Vec<(String,)> =
        tx.all("SELECT DISTINCT hash FROM blobs WHERE packed IS NULL ORDER BY hash", &[])?;
    Ok(found.into_iter().map(|(hash,)| hash).collect())
}

/// The uploads that a customer finished and nobody filed yet: only the folder has their bytes.
pub fn accepted_uploads(tx: &mut Tx<'_>) -> Result<Vec<UploadId>> {
    let found: Vec<(UploadId,)> =
        tx.all("SELECT id FROM uploads WHERE state IN ('checking', 'kept') ORDER BY id", &[])?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// The tables that go with the data.
pub(super) fn dumped_tables(tx: &mut Tx<'_>) -> Result<Vec<TableShape>> {
    let mut tables = tx.tables()?;
    tables.retain(|table| !NOT_DUMPED.contains(&table.name.as_str()));
    Ok(tables)
}

/// The rows of a table, or those of one workspace.
fn dump_table(
    tx: &mut Tx<'_>,
    table: &TableShape,
    ws: Option<i64>,
    out: &mut dyn Write,
    contents: &mut DumpContents,
) -> Result<u64> {
    let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let place = |name: &str| columns.iter().position(|column| column == name);
    let nulled = (table.name == EVENTS).then(|| place(TRANSACTION)).flatten();
    let kept = (table.name == NODE_FILES).then(|| place("name")).flatten();
    let blob = (table.name == BLOBS).then(|| blob_columns(&columns)).flatten();
    write_json(out, &TableHeader { table: table.name.clone(), columns: columns.clone() })?;
    let (mut rows, mut line) = (0, String::new());
    let condition = if ws.is_some() { "WHERE ws = ?1" } else { "" };
    let args: Vec<&dyn Arg> = ws.iter().map(|ws| ws as &dyn Arg).collect();
    tx.each_row_where(table, condition, &args, |row| {
        if kept.is_some_and(|name| !matches!(row[name], Column::Text(KEY_CHECK))) {
            return Ok(());
        }
        if let Some([hash, size, packed]) = blob
            && let (Column::Text(hash), Column::Int(size)) = (row[hash], row[size])
        {
            match row[packed] {
                Column::Bytes(packed) => contents.note_blob(hash, size, Some(packed)),
                _ => contents.note_blob(hash, size, None),
            }
        }
        line.clear();
        write_row(&mut line, row, nulled)?;
        rows += 1;
        out.write_all(line.as_bytes()).map_err(|error| StoreError::Rows(error.to_string()))
    })?;
    write_json(out, &TableEnd { end: table.name.clone(), rows })?;
    Ok(rows)
}

/// Where the columns of the table of blobs are that say what each is.
pub(super) fn blob_columns(columns: &[String]) -> Option<[usize; 3]> {
    let place = |name: &str| columns.iter().position(|column| column == name);
    Some([place("hash")?, place("size")?, place("packed")?])
}

fn write_row(
    line: &mut String,
    row: &[Column<'_>],
    nulled: Option<usize>,
) -> Result<(), StoreError> {
    for (place, column) in row.iter().enumerate() {
        line.push(if place == 0 { '[' } else { ',' });
        let column = if nulled == Some(place) { Column::Int(0) } else { *column };
        match column {
            Column::Null => line.push_str("null"),
            Column::Int(number) => line.push_str(&number.to_string()),
            Column::Bool(truth) => line.push(if truth { '1' } else { '0' }),
            Column::Real(number) => line.push_str(&format!("{{\"r\":\"{number}\"}}")),
            Column::Text(text) => line.push_str(
                &serde_json::to_string(text)
                    .map_err(|error| StoreError::Rows(error.to_string()))?,
            ),
            Column::Bytes(bytes) => {
                line.push_str("{\"b\":\"");
                STANDARD.encode_string(bytes, line);
                line.push_str("\"}");
            }
        }
    }
    line.push_str("]\n");
    Ok(())
}

fn write_json(out: &mut dyn Write, line: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(line).map_err(std::io::Error::other)?;
    text.push(b'\n');
    Ok(out.write_all(&text)?)
}
