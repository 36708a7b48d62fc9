//! Fills an empty database with a dump, in one transaction.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use base::error::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::{Cell, TableShape, Tx};
use model::installation::{QuietReason, begin_quiet};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::BLOBS;
use super::dump::{
    DUMP_FORMAT, DumpContents, DumpEnd, DumpHeader, TableEnd, TableHeader, accepted_uploads,
    dumped_tables, schema_version,
};

/// Rows that are written at once, and their bytes.
pub(super) const BATCH_ROWS: usize = 1_000;
pub(super) const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// The longest line; a row holds at most a mail's text or a blob of the database.
const LINE_BYTES: u64 = 512 * 1024 * 1024;

/// The first line of a dump.
pub(super) fn dump_header(input: &mut dyn BufRead) -> Result<DumpHeader> {
    let header: DumpHeader = parse(&next_line(input)?)?;
    if header.mailroom_dump != DUMP_FORMAT {
        return Err(refusal("it has a format that this version of Mailroom does not know"));
    }
    Ok(header)
}

/// True when nobody has worked with this database.
pub fn is_empty(tx: &mut Tx<'_>) -> Result<bool> {
    let (workspaces,): (i64,) = tx.one("SELECT count(*) FROM workspaces", &[])?;
    Ok(workspaces == 0)
}

/// Fills the tables of an empty database of the same schema. The installation is quiet afterwards,
/// and search finds nothing until the index is rebuilt.
pub fn load(
    tx: &mut Tx<'_>,
    input: &mut dyn BufRead,
    quiet: QuietReason,
    now: i64,
) -> Result<DumpContents> {
    let DumpHeader { schema, workspace, .. } = dump_header(input)?;
    if workspace.is_some() {
        return Err(refusal("it holds one workspace; use `mailroom workspace restore`"));
    }
    if schema != schema_version(tx)? {
        return Err(refusal("it has another schema than this database"));
    }
    if !is_empty(tx)? {
        return Err(Error::Conflict(
            "There is a workspace in this database already. Restore into an empty one.".into(),
        ));
    }
    let tables: BTreeMap<String, TableShape> =
        dumped_tables(tx)?.into_iter().map(|table| (table.name.clone(), table)).collect();
    for table in tables.values() {
        tx.clear_table(table)?;
    }
    let mut contents = DumpContents { schema, ..DumpContents::default() };
    loop {
        let line = next_line(input)?;
        if let Ok(end) = parse::<DumpEnd>(&line) {
            if !end.complete || end.tables != contents.tables.len() as u64 {
                return Err(damaged_error());
            }
            break;
        }
        let header: TableHeader = parse(&line)?;
        let table = tables.get(&header.table).ok_or_else(damaged_error)?;
        if !header.columns.iter().eq(table.columns.iter().map(|column| &column.name)) {
            return Err(damaged_error());
        }
        let rows = load_table(tx, table, input, &mut contents.files)?;
        contents.tables.insert(header.table, rows);
    }
    go_on_numbering(tx)?;
    contents.uploads = accepted_uploads(tx)?;
    begin_quiet(tx, quiet, now)?;
    contents.files.sort();
    contents.files.dedup();
    Ok(contents)
}

fn load_table(
    tx: &mut Tx<'_>,
    table: &TableShape,
    input: &mut dyn BufRead,
    files: &mut Vec<String>,
) -> Result<u64> {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let blob = (table.name == BLOBS).then(|| place("hash").zip(place("packed"))).flatten();
    let (mut batch, mut bytes, mut rows) = (Vec::new(), 0, 0);
    loop {
        let line = next_line(input)?;
        if line.starts_with('{') {
            let end: TableEnd = parse(&line)?;
            if end.end != table.name || end.rows != rows {
                return Err(damaged_error());
            }
            tx.fill(table, &batch)?;
            return Ok(rows);
        }
        let row = row_of(&line, table.columns.len())?;
        if let Some((hash, packed)) = blob
            && let (Cell::Text(hash), Cell::Null) = (&row[hash], &row[packed])
        {
            files.push(hash.clone());
        }
        bytes += line.len();
        rows += 1;
        batch.push(row);
        if batch.len() == BATCH_ROWS || bytes >= BATCH_BYTES {
            tx.fill(table, &batch)?;
            batch.clear();
            bytes = 0;
        }
    }
}

pub(super) fn row_of(line: &str, width: usize) -> Result<Vec<Cell>> {
    let values: Vec<Value> = parse(line)?;
    let row: Option<Vec<Cell>> = values.into_iter().map(cell_of).collect();
    row.filter(|row| row.len() == width).ok_or_else(damaged_error)
}

fn cell_of(value: Value) -> Option<Cell> {
    match value {
        Value::Null => Some(Cell::Null),
        Value::Number(number) => number.as_i64().map(Cell::Int),
        Value::String(text) => Some(Cell::Text(text)),
        Value::Object(object) => match (object.get("b"), object.get("r")) {
            (Some(Value::String(bytes)), None) => STANDARD.decode(bytes).ok().map(Cell::Bytes),
            (None, Some(Value::String(number))) => number.parse().ok().map(Cell::Real),
            _ => None,
        },
        Value::Bool(_) | Value::Array(_) => None,
    }
}

/// PostgreSQL counts in sequences, which go on behind the numbers that were loaded.
fn go_on_numbering(tx: &mut Tx<'_>) -> Result<()> {
    if tx.pick(true, false) {
        return Ok(());
    }
    for (sequence, table) in
        [("conversation_nums", "conversations"), ("document_nums", "documents")]
    {
        let _: Option<(i64,)> = tx.opt(
            &format!(
                "SELECT setval('{sequence}', greatest((SELECT coalesce(max(num), 0) FROM {table}), 1),
                     EXISTS (SELECT 1 FROM {table}))"
            ),
            &[],
        )?;
    }
    Ok(())
}

pub(super) fn next_line(input: &mut dyn BufRead) -> Result<String> {
    let mut line = Vec::new();
    input.take(LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(damaged_error());
    }
    String::from_utf8(line).map_err(|_| damaged_error())
}

pub(super) fn parse<T: DeserializeOwned>(line: &str) -> Result<T> {
    serde_json::from_str(line).map_err(|_| damaged_error())
}

pub(super) fn damaged_error() -> Error {
    refusal("it is damaged or incomplete")
}

pub(super) fn refusal(why: &str) -> Error {
    Error::Conflict(format!("This backup cannot be restored: {why}."))
}
