//! Puts one workspace of a dump into a database that others work with, in one transaction: beside the one that it is a
//! copy of, in its place, or as it was where it is not there any more.
//!
//! It gets a number of its own, under which its secrets are sealed anew. It is quiet afterwards, and suspended until
//! [`finish`]: search finds nothing before it is indexed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::WorkspaceId;
use base::limits::FORM_SLUG_CHARS;
use base::workspaces::resting::copied_address;
use base::workspaces::samples::SAMPLE_OF_NONE;
use db::{Cell, TableShape, Tx};
use model::erasure::deletions::{self, DeletionCounts};
use model::installation::audit_log::{self, Action};

use super::dump::{DumpedWorkspace, TableHeader, schema_version};
use super::dump_scan::{place, walk};
use super::load::{BATCH_BYTES, BATCH_ROWS, damaged_error, dump_header, parse, refusal, row_of};
use super::workspace_seals::Resealer;
use super::workspace_tables::{CopiedValue, UNIQUE_COLUMNS, is_left_out};
use super::{NOT_DUMPED, NOT_OF_WORKSPACE};

pub use super::workspace_tables::unique_columns;

/// What people read while it is loaded and indexed.
const BEING_RESTORED: &str = "It is being restored.";
/// Numbers of conversations and documents that are reserved at once.
const NUMBERS: i64 = 500;
/// Bytes of a value that nobody knows: as many as those of a hash.
const UNKNOWN_BYTES: usize = 32;
/// The longest slug.
const SLUG_CHARS: usize = 40;
/// Characters around the name of a workspace in the address of a form, and up to which numbers are tried there.
const FORM_END: usize = 4;
const FORM_TRIES: usize = 100;
const RESERVED_SLUGS: [&str; 2] = ["m", "o"];

/// Where a workspace is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspacePlace {
    /// As another workspace of this slug. Its keys, links, webhooks and addresses do nothing: they are the original's.
    Beside { slug: String },
    /// In the place of the workspace of this slug, which is deleted.
    Replacing { slug: String },
    /// Under its own slug, where it is not there any more.
    AsItWas,
}

/// A workspace that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedWorkspace {
    pub ws: i64,
    pub id: WorkspaceId,
    pub slug: String,
    /// The rows of each table that were loaded.
    pub tables: BTreeMap<String, u64>,
    /// The rows of each table that a copy does without.
    pub left_out: BTreeMap<String, u64>,
    /// Secrets that were sealed with another `secret.key`.
    pub unopened: u64,
}

/// The workspace of a dump that holds one alone.
pub fn workspace_of(input: &mut dyn BufRead) -> Result<Option<DumpedWorkspace>> {
    Ok(dump_header(input)?.workspace)
}

/// The workspace of this slug in a dump of an installation, or the only one.
pub fn workspace_in(input: &mut dyn BufRead, slug: Option<&str>) -> Result<DumpedWorkspace> {
    let mut all = Vec::new();
    walk(input, &mut |table, row| {
        let Some(row) = row.filter(|_| table.table == "workspaces") else { return Ok(()) };
        let row = row_of(row, table.columns.len())?;
        let text = |name: &str| match place(table, name).map(|at| &row[at]) {
            Some(Cell::Text(text)) => Ok(text.clone()),
            _ => Err(damaged_error()),
        };
        let deleted = place(table, "deleted_at").is_some_and(|at| row[at] != Cell::Null);
        if let (Some(Cell::Int(ws)), false) = (place(table, "ws").map(|at| &row[at]), deleted) {
            let id = WorkspaceId::parse(&text("id")?).ok_or_else(damaged_error)?;
            all.push(DumpedWorkspace { ws: *ws, id, slug: text("slug")?, name: text("name")? });
        }
        Ok(())
    })?;
    let slugs: Vec<String> = all.iter().map(|one| one.slug.clone()).collect();
    let found = match slug {
        None if all.len() == 1 => all.pop(),
        None => None,
        Some(slug) => all.into_iter().find(|one| one.slug == slug),
    };
    found.ok_or_else(|| {
        Error::Conflict(format!(
            "This backup is of a whole installation. Say --workspace with one of {}.",
            slugs.join(", ")
        ))
    })
}

/// The blobs of a workspace that are files, in the tables of a dump.
pub fn dumped_files(input: &mut dyn BufRead, ws: i64) -> Result<Vec<String>> {
    let mut files = Vec::new();
    walk(input, &mut |table, row| {
        let Some(row) = row.filter(|_| table.table == super::BLOBS) else { return Ok(()) };
        let row: Vec<serde_json::Value> = parse(row)?;
        let value = |name: &str| place(table, name).and_then(|at| row.get(at));
        let is_own = value("ws").and_then(serde_json::Value::as_i64) == Some(ws);
        if let (true, Some(true), Some(hash)) = (
            is_own,
            value("packed").map(serde_json::Value::is_null),
            value("hash").and_then(serde_json::Value::as_str),
        ) {
            files.push(hash.to_owned());
        }
        Ok(())
    })?;
    Ok(files)
}

/// Loads a workspace. `cx` is the operator's.
pub fn load_workspace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &mut dyn BufRead,
    source: &DumpedWorkspace,
    into: &WorkspacePlace,
) -> Result<LoadedWorkspace> {
    let (ws,): (i64,) = tx.one(
        "SELECT CAST(coalesce(max(ws), 0) + 1 AS BIGINT) FROM (
             SELECT ws FROM workspaces UNION ALL SELECT ws FROM deleted_workspaces
         ) AS used",
        &[],
    )?;
    let mut working_keys = None;
    let (id, slug) = match into {
        WorkspacePlace::Beside { slug } => {
            must_be_free(tx, slug)?;
            (WorkspaceId::new(cx.ids, cx.now), slug.clone())
        }
        WorkspacePlace::AsItWas => {
            must_be_free(tx, &source.slug)?;
            (free_id(tx, cx, &source.id)?, source.slug.clone())
        }
        WorkspacePlace::Replacing { slug } => {
            let (keys, id) = make_way(tx, cx, slug)?;
            working_keys = Some(keys);
            (id, slug.clone())
        }
    };
    let tables = tx.tables()?.into_iter().map(|table| (table.name.clone(), table)).collect();
    let mut loader = WorkspaceLoader {
        tx: &mut *tx,
        tables,
        cx,
        source: source.ws,
        is_copy: matches!(into, WorkspacePlace::Beside { .. }),
        target: LoadedWorkspace {
            ws,
            id,
            slug,
            tables: BTreeMap::new(),
            left_out: BTreeMap::new(),
            unopened: 0,
        },
        reseals: Resealer { sealer: cx.sealer, ids: cx.ids, from: source.ws, to: ws, unopened: 0 },
        numbers: BTreeMap::new(),
        form_slugs: BTreeSet::new(),
        batch: Vec::new(),
        bytes: 0,
        of: String::new(),
    };
    let schema = walk(input, &mut |table, row| loader.see(table, row))?;
    loader.flush()?;
    let unopened = loader.reseals.unopened;
    let mut loaded = loader.target;
    loaded.unopened = unopened;
    if schema != schema_version(tx)? {
        return Err(refusal("it has another schema than this database"));
    }
    if loaded.tables.get("workspaces") != Some(&1) {
        return Err(damaged_error());
    }
    tx.exec(
        "INSERT INTO resting_workspaces (ws, suspended_at, reason, quiet_at)
         VALUES (?1, ?2, ?3, ?2)",
        &[&ws, &cx.now, &BEING_RESTORED],
    )?;
    if let Some(keys) = working_keys {
        revoke_others(tx, cx, ws, &keys)?;
    }
    let actor = Actor::system(ws, loaded.id.clone(), Circle::team());
    let own = Cx { actor: &actor, ..*cx };
    audit_log::record(tx, &own, &Circle::team(), Action::WorkspaceRestored, &source.slug, "")?;
    Ok(loaded)
}

/// Ends the loading of a workspace that is indexed: people can work with it. It stays quiet.
pub fn finish(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    tx.exec(
        "UPDATE resting_workspaces SET suspended_at = NULL, reason = ''
         WHERE ws = ?1 AND reason = ?2",
        &[&ws, &BEING_RESTORED],
    )?;
    tx.wake(Queue::Pages);
    Ok(())
}

/// Refuses a slug that is no word of an address, or taken.
fn must_be_free(tx: &mut Tx<'_>, slug: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if slug.is_empty()
        || slug.len() > SLUG_CHARS
        || !slug.bytes().all(is_plain)
        || slug.starts_with('-')
        || slug.ends_with('-')
        || RESERVED_SLUGS.contains(&slug)
    {
        return Err(Error::invalid(
            "name",
            format!("must be at most {SLUG_CHARS} lower-case letters, digits and hyphens"),
        ));
    }
    let taken: Option<(i64,)> = tx.opt("SELECT ws FROM workspaces WHERE slug = ?1", &[&slug])?;
    match taken {
        None => Ok(()),
        Some(_) => Err(Error::Conflict(format!(
            "There is a workspace {slug} already. --as NAME puts another one beside it, --replace {slug} puts it in \
             its place."
        ))),
    }
}

/// The id that it had, unless another workspace has it.
fn free_id(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WorkspaceId) -> Result<WorkspaceId> {
    let taken: Option<(i64,)> = tx.opt("SELECT ws FROM workspaces WHERE id = ?1", &[id])?;
    Ok(if taken.is_some() { WorkspaceId::new(cx.ids, cx.now) } else { id.clone() })
}

/// Deletes the workspace that is replaced: it ends at once, and a job erases it. Returns its keys that work, and its
/// id, which goes on.
fn make_way(tx: &mut Tx<'_>, cx: &Cx<'_>, slug: &str) -> Result<(BTreeSet<String>, WorkspaceId)> {
    let found: Option<(i64, WorkspaceId)> =
        tx.opt("SELECT ws, id FROM workspaces WHERE slug = ?1 AND deleted_at IS NULL", &[&slug])?;
    let (old, id) = found
        .ok_or_else(|| Error::Conflict(format!("There is no workspace {slug} to replace.")))?;
    let keys: Vec<(String,)> =
        tx.all("SELECT id FROM agents WHERE ws = ?1 AND revoked_at IS NULL", &[&old])?;
    let actor = Actor::system(old, id.clone(), Circle::team());
    let own = Cx { actor: &actor, ..*cx };
    let counts = DeletionCounts::of_workspace(tx, &own)?;
    deletions::begin_workspace(tx, &own, &counts)?;
    let unknown = tx.pick(
        "randomblob(32)",
        "decode(md5(CAST(random() AS TEXT)) || md5(CAST(random() AS TEXT)), 'hex')",
    );
    for (table, column, becomes) in UNIQUE_COLUMNS {
        let sql = match becomes {
            CopiedValue::Null => format!("UPDATE {table} SET {column} = NULL WHERE ws = ?1"),
            CopiedValue::Unknown => {
                format!("UPDATE {table} SET {column} = {unknown} WHERE ws = ?1")
            }
            CopiedValue::LeftOut => format!("DELETE FROM {table} WHERE ws = ?1"),
            CopiedValue::Number | CopiedValue::Made => continue,
        };
        tx.exec(&sql, &[&old])?;
    }
    tx.exec("DELETE FROM contact_forms WHERE ws = ?1", &[&old])?;
    tx.exec(
        "UPDATE mailboxes SET address = id || '.' || CAST(ws AS TEXT) || '@closed.invalid'
         WHERE ws = ?1",
        &[&old],
    )?;
    tx.exec(
        "UPDATE workspaces SET id = ?2 WHERE ws = ?1",
        &[&old, &WorkspaceId::new(cx.ids, cx.now)],
    )?;
    Ok((keys.into_iter().map(|(id,)| id).collect(), id))
}

/// Keys that were revoked since the backup stay revoked.
fn revoke_others(tx: &mut Tx<'_>, cx: &Cx<'_>, ws: i64, working: &BTreeSet<String>) -> Result<()> {
    let loaded: Vec<(String,)> =
        tx.all("SELECT id FROM agents WHERE ws = ?1 AND revoked_at IS NULL", &[&ws])?;
    for (id,) in loaded.iter().filter(|(id,)| !working.contains(id)) {
        tx.exec(
            "UPDATE agents SET revoked_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, id, &cx.now],
        )?;
    }
    Ok(())
}

struct WorkspaceLoader<'a, 't> {
    tx: &'a mut Tx<'t>,
    tables: BTreeMap<String, TableShape>,
    cx: &'a Cx<'a>,
    /// Its number in the dump.
    source: i64,
    is_copy: bool,
    target: LoadedWorkspace,
    reseals: Resealer<'a>,
    /// Numbers that were reserved, by table, the next one last.
    numbers: BTreeMap<String, Vec<i64>>,
    /// Of contact forms that were loaded.
    form_slugs: BTreeSet<String>,
    batch: Vec<Vec<Cell>>,
    bytes: usize,
    /// The table of the batch.
    of: String,
}

impl WorkspaceLoader<'_, '_> {
    fn see(&mut self, table: &TableHeader, row: Option<&str>) -> Result<()> {
        let name = table.table.as_str();
        let Some(line) = row else {
            self.flush()?;
            self.of = name.to_owned();
            return Ok(());
        };
        let Some(number) = place(table, "ws") else { return Ok(()) };
        if NOT_OF_WORKSPACE.contains(&name) || NOT_DUMPED.contains(&name) {
            return Ok(());
        }
        let mut row = row_of(line, table.columns.len())?;
        if row[number] != Cell::Int(self.source) {
            return Ok(());
        }
        let shape = self.tables.get(name).ok_or_else(damaged_error)?;
        if !table.columns.iter().eq(shape.columns.iter().map(|column| &column.name)) {
            return Err(refusal("it has another schema than this database"));
        }
        if self.is_copy && is_left_out(name) {
            *self.target.left_out.entry(name.to_owned()).or_default() += 1;
            return Ok(());
        }
        row[number] = Cell::Int(self.target.ws);
        let unopened = self.reseals.unopened;
        self.reseals.reseal(name, &table.columns, &mut row);
        if name == "mail_secrets" && self.reseals.unopened > unopened {
            // Another one is made when it is needed; with this one no mail could be filed.
            *self.target.left_out.entry(name.to_owned()).or_default() += 1;
            return Ok(());
        }
        self.change(table, &mut row)?;
        *self.target.tables.entry(name.to_owned()).or_default() += 1;
        self.bytes += line.len();
        self.batch.push(row);
        if self.batch.len() == BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        if let (false, Some(shape)) = (batch.is_empty(), self.tables.get(&self.of)) {
            self.tx.fill(shape, &batch)?;
        }
        Ok(())
    }

    /// Gives a row what has to be unique, and a copy what is its own.
    fn change(&mut self, table: &TableHeader, row: &mut [Cell]) -> Result<()> {
        let name = table.table.as_str();
        for (_, column, becomes) in UNIQUE_COLUMNS.iter().filter(|(of, ..)| *of == name) {
            let Some(at) = place(table, column) else { return Err(damaged_error()) };
            match becomes {
                CopiedValue::Number => row[at] = Cell::Int(self.next_number(name)?),
                CopiedValue::Null if self.is_copy => row[at] = Cell::Null,
                CopiedValue::Unknown if self.is_copy && row[at] != Cell::Null => {
                    row[at] = Cell::Bytes(self.cx.ids.bytes::<UNKNOWN_BYTES>().to_vec());
                }
                CopiedValue::Made => {
                    if let Cell::Text(text) = &row[at] {
                        let made = self.make_value(name, column, text)?;
                        row[at] = Cell::Text(made);
                    }
                }
                CopiedValue::Null | CopiedValue::Unknown | CopiedValue::LeftOut => {}
            }
        }
        if name == "help_sites"
            && let Some(at) = place(table, "path")
            && let Cell::Text(path) = &row[at]
        {
            row[at] = Cell::Text(self.free_help_path(path)?);
        }
        if self.is_copy && name == "agents" {
            // The key is the original's; the name stays on what it wrote.
            if let Some(at) = place(table, "revoked_at").filter(|at| row[*at] == Cell::Null) {
                row[at] = Cell::Int(self.cx.now);
            }
        }
        if name == "workspaces"
            && let Some(at) = place(table, "sample_of").filter(|at| row[*at] != Cell::Null)
        {
            // It stays a sample; the workspace that has that number here may be somebody else's.
            row[at] = Cell::Int(SAMPLE_OF_NONE);
        }
        if self.is_copy
            && name == "workspaces"
            && let Some(at) = place(table, "name")
            && let Cell::Text(title) = &row[at]
        {
            row[at] = Cell::Text(format!("{title} ({})", self.target.slug));
        }
        Ok(())
    }

    fn make_value(&mut self, table: &str, column: &str, text: &str) -> Result<String> {
        let slug = &self.target.slug;
        Ok(match (table, column) {
            ("workspaces", "id") => self.target.id.to_string(),
            ("workspaces", _) => slug.clone(),
            ("contact_forms", _) => self.free_form_slug(text)?,
            ("mailboxes", _) if self.is_copy => copied_address(text, slug),
            ("mailboxes", _) => {
                let taken: Option<(i64,)> =
                    self.tx.opt("SELECT ws FROM mailboxes WHERE address = ?1", &[&text])?;
                if taken.is_some() {
                    return Err(Error::Conflict(format!(
                        "{text} is an inbox of another workspace. --as NAME restores it beside, with its addresses \
                         off."
                    )));
                }
                text.to_owned()
            }
            _ if self.is_copy => format!("{text}-{slug}"),
            _ => text.to_owned(),
        })
    }

    /// The address of a contact form: as it was, or with the workspace's name at its end where it is the original's, or
    /// another workspace has it by now.
    fn free_form_slug(&mut self, text: &str) -> Result<String> {
        let slug = &self.target.slug;
        let room = FORM_SLUG_CHARS.saturating_sub(slug.len() + FORM_END);
        let start: String = text.chars().take(room).collect();
        let named = format!("{}-{slug}", start.trim_end_matches('-'));
        let first = if self.is_copy { named.clone() } else { text.to_owned() };
        let numbered = (2..FORM_TRIES).map(|number| format!("{named}-{number}"));
        for wanted in [first, named.clone()].into_iter().chain(numbered) {
            let taken: Option<(i64,)> =
                self.tx.opt("SELECT ws FROM contact_forms WHERE slug = ?1", &[&wanted])?;
            if taken.is_none() && self.form_slugs.insert(wanted.clone()) {
                return Ok(wanted);
            }
        }
        Err(Error::Conflict(format!("The address of the contact form {text} is taken.")))
    }

    /// The part of the help pages' address: as it was, or the workspace's name where another workspace has it by now.
    fn free_help_path(&mut self, path: &str) -> Result<String> {
        for wanted in [path.to_owned(), format!("{}-help", self.target.slug)] {
            let taken: Option<(i64,)> =
                self.tx.opt("SELECT ws FROM help_sites WHERE path = ?1", &[&wanted])?;
            if taken.is_none() {
                return Ok(wanted);
            }
        }
        Err(Error::Conflict("The address of the help pages is taken.".into()))
    }

    /// The next number of a conversation or a document.
    fn next_number(&mut self, table: &str) -> Result<i64> {
        let reserved = self.numbers.entry(table.to_owned()).or_default();
        if let Some(number) = reserved.pop() {
            return Ok(number);
        }
        let sequence = if table == "documents" { "document_nums" } else { "conversation_nums" };
        let new: Vec<(i64,)> = if self.tx.pick(true, false) {
            // Nobody else writes before the end of the transaction, and rows of the batch are not in the table yet.
            self.flush()?;
            let (last,): (i64,) = self
                .tx
                .one(&format!("SELECT CAST(coalesce(max(num), 0) AS BIGINT) FROM {table}"), &[])?;
            (last + 1..=last + NUMBERS).map(|number| (number,)).collect()
        } else {
            self.tx.all(
                &format!(
                    "SELECT nextval('{sequence}') FROM generate_series(1, CAST(?1 AS BIGINT))"
                ),
                &[&NUMBERS],
            )?
        };
        let reserved = self.numbers.entry(table.to_owned()).or_default();
        reserved.extend(new.into_iter().rev().map(|(number,)| number));
        reserved.pop().ok_or_else(damaged_error)
    }
}
