//! Backups at the command line: `backup`, `restore`, `copy`, `check` and `reindex`.

use std::io::{BufReader, BufWriter, PipeReader, PipeWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use db::{DatabaseUrl, Store, StoreOptions};
use inbox::App;
use inbox::base::blobs::Blobs;
use inbox::base::time::{Clock, SystemClock};
use inbox::maintenance::check::CheckReport;
use inbox::maintenance::dump::DumpContents;
use inbox::maintenance::{check, dump, load, reindex};
use inbox::model::installation::QuietReason;
use serde_json::json;

use super::Json;
use super::command::{CommandFailure, CommandResult, open, print, sentence};
use crate::backup::{
    BackupManifest, BackupPlace, BackupSource, RestoreTarget, read_passphrase, restore,
    write_backup,
};
use crate::node::quiet::HOW_TO_GO_ON;
use crate::node::vault::KEY_FILE;
use crate::serve::{open_app, open_blobs};
use crate::settings::Settings;

#[derive(Args)]
pub struct Backup {
    /// The folder that holds the backups; further ones add only what is new
    place: String,
    /// Seal the backups with the passphrase in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Leave secret.key out: without it passwords and protected messages of the backup cannot be read
    #[arg(long)]
    without_key: bool,
    /// Remove all but the newest so many backups of this place afterwards
    #[arg(long, value_name = "NUMBER")]
    keep: Option<usize>,
    #[command(flatten)]
    output: Json,
}

impl Backup {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let place = BackupPlace::parse(&self.place)?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let app = open(settings).await?;
        let source = BackupSource {
            store: app.store.clone(),
            blobs: app.blobs.clone(),
            ids: app.ids.clone(),
            key_folder: (!self.without_key).then(|| settings.data.clone()),
        };
        let now = app.clock.now();
        let written = write_backup(&source, &place, passphrase.as_deref(), self.keep, now).await?;
        let manifest = &written.manifest;
        let mut answer = json!(manifest);
        answer["place"] = place.shown().into();
        answer["rows"] = manifest.rows().into();
        answer["newBlobs"] = written.new_blobs.into();
        answer["newBlobBytes"] = written.new_blob_bytes.into();
        answer["missingBlobs"] = json!(written.missing_blobs);
        answer["removed"] = json!(written.removed);
        let said = [
            format!("Backed up to {} as {}: {}", place.shown(), manifest.name, holds(manifest)),
            format!("{} blobs are new.", written.new_blobs),
            about_key(manifest).to_owned(),
            about_missing(&written.missing_blobs),
        ];
        print(self.output, &answer, &lines(&said));
        Ok(())
    }
}

#[derive(Args)]
pub struct Restore {
    /// The folder that holds the backups
    from: String,
    /// The backup's name [default: the newest]
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// The passphrase of sealed backups, in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    output: Json,
}

impl Restore {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let place = BackupPlace::parse(&self.from)?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let target = RestoreTarget {
            database_url: settings.database_url.clone(),
            data: settings.data.clone(),
            blobs: open_blobs(settings)?,
        };
        let now = SystemClock.now();
        let restored =
            restore(&place, self.at.as_deref(), passphrase.as_deref(), &target, now).await?;
        let manifest = &restored.manifest;
        let app = open_app(settings, "").map_err(|error| {
            format!("The tables are restored, but the installation cannot be opened: {error}")
        })?;
        let report = finish(&app).await?;
        let mut answer = json!(manifest);
        answer["rows"] = manifest.rows().into();
        answer["quiet"] = true.into();
        answer["missingBlobs"] = json!(restored.missing_blobs);
        answer["check"] = json!({ "ok": report.found == 0, "findings": report.findings });
        let said = [
            format!("Restored {} from {}: {}", manifest.name, place.shown(), holds(manifest)),
            about_missing(&restored.missing_blobs),
            findings(&report),
            format!("This installation is quiet: it sends and fetches nothing. {HOW_TO_GO_ON}"),
        ];
        print(self.output, &answer, &lines(&said));
        if report.found == 0 { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

#[derive(Args)]
pub struct Copy {
    /// The empty database to fill: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    to: String,
    /// The data folder of the copy, which gets secret.key and the blobs [default: the folder of an
    /// SQLite database, else the same as now]
    #[arg(long, value_name = "FOLDER")]
    to_data: Option<PathBuf>,
    /// The copy's folder of blobs [default: blobs in its data folder]
    #[arg(long, value_name = "FOLDER")]
    to_blobs: Option<PathBuf>,
    #[command(flatten)]
    output: Json,
}

impl Copy {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let mut target = settings.clone();
        target.database_url = self.to.clone();
        let to = DatabaseUrl::parse(&self.to).map_err(|error| format!("--to: {error}"))?;
        let folder = match (&self.to_data, &to) {
            (Some(folder), _) => Some(folder.clone()),
            (None, DatabaseUrl::Sqlite(path)) => path.parent().map(Path::to_path_buf),
            (None, DatabaseUrl::Postgres(_)) => None,
        };
        if let Some(folder) = folder.filter(|folder| *folder != settings.data) {
            target.blobs = folder.join("blobs");
            target.data = folder;
        }
        if let Some(blobs) = self.to_blobs {
            target.blobs = blobs;
            target.bucket = None;
        }
        if target.database_url == settings.database_url {
            return Err("--to: names the database that is to be copied".into());
        }
        let app = open(settings).await?;
        let contents = copy(&app, settings, &target).await?;
        let copied = open_app(&target, "")?;
        let report = finish(&copied).await?;
        let rows: u64 = contents.tables.values().sum();
        let answer = json!({
            "tables": contents.tables,
            "rows": rows,
            "blobs": contents.files.len(),
            "data": target.data,
            "blobsFolder": target.blobs,
            "quiet": true,
            "check": { "ok": report.found == 0, "findings": report.findings },
        });
        let said = [
            format!(
                "Copied {rows} rows of {} tables and {} blobs.",
                contents.tables.len(),
                contents.files.len()
            ),
            findings(&report),
            format!(
                "What came in during or after the copy is not in it: stop the old server before. \
                 Start the new one with --data {} and this database URL. It is quiet: it sends and \
                 fetches nothing. {HOW_TO_GO_ON}",
                target.data.display()
            ),
        ];
        print(self.output, &answer, &lines(&said));
        if report.found == 0 { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

/// Streams all tables from one database into the other, then copies blobs and key.
async fn copy(app: &App, from: &Settings, to: &Settings) -> Result<DumpContents, String> {
    inbox::base::private_files::make_folder(&to.data)
        .map_err(|error| format!("{}: {error}", to.data.display()))?;
    let store = Store::open(&to.database_url, &StoreOptions::default(), inbox::MIGRATIONS)
        .map_err(|error| format!("--to: the database cannot be opened: {error}"))?;
    if !store.read(load::is_empty).await.map_err(sentence)? {
        return Err("There is a workspace in that database already. Copy into an empty one.".into());
    }
    let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    let (mut reader, mut writer) = (Some(reader), Some(writer));
    let now = app.clock.now();
    let source = app.store.read(move |tx| write_to(tx, writer.take()));
    let filled = store.write(move |tx| read_from(tx, reader.take(), now));
    let (source, filled) = tokio::join!(source, filled);
    let contents = filled.map_err(sentence)?;
    source.map_err(sentence)?;
    copy_files(&app.blobs, &contents, from, to)?;
    Ok(contents)
}

fn write_to(tx: &mut db::Tx<'_>, writer: Option<PipeWriter>) -> inbox::Result<()> {
    let writer = writer.ok_or_else(interrupted)?;
    dump::dump(tx, &mut BufWriter::new(writer), &mut |_, _| {})?;
    Ok(())
}

fn read_from(
    tx: &mut db::Tx<'_>,
    reader: Option<PipeReader>,
    now: i64,
) -> inbox::Result<DumpContents> {
    let reader = reader.ok_or_else(interrupted)?;
    load::load(tx, &mut BufReader::new(reader), QuietReason::Copied, now)
}

/// A stream cannot begin again.
fn interrupted() -> inbox::Error {
    inbox::Error::Conflict("The copy was interrupted and nothing was kept. Begin it again.".into())
}

fn copy_files(
    blobs: &Blobs,
    contents: &DumpContents,
    from: &Settings,
    to: &Settings,
) -> Result<(), String> {
    // A bucket is shared by both.
    if to.bucket.is_none() && (to.blobs != from.blobs || from.bucket.is_some()) {
        let other = open_blobs(to)?;
        for hash in &contents.files {
            let copied = blobs.read_file(hash).and_then(|packed| other.adopt_file(hash, &packed));
            copied.map_err(|error| format!("The blob {hash} could not be copied: {error}"))?;
        }
    }
    if to.data != from.data {
        let (old, new) = (from.data.join(KEY_FILE), to.data.join(KEY_FILE));
        std::fs::copy(&old, &new).map_err(|error| format!("{}: {error}", new.display()))?;
    }
    Ok(())
}

/// After the tables: the search index, and proof that everything fits together.
async fn finish(app: &App) -> Result<CheckReport, String> {
    reindex::rebuild_index(&app.store, |_| {}).await.map_err(|error| {
        format!(
            "The search index is not complete: {}. `mailroom reindex` completes it.",
            sentence(error)
        )
    })?;
    check::check(&app.store, &app.blobs).await.map_err(sentence)
}

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    output: Json,
}

impl Check {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let report = check::check(&app.store, &app.blobs).await.map_err(sentence)?;
        let mut answer = json!(report);
        answer["ok"] = (report.found == 0).into();
        let rows: u64 = report.tables.values().sum();
        let said = [
            format!(
                "Read {rows} rows of {} tables and {} blobs.",
                report.tables.len(),
                report.blobs
            ),
            findings(&report),
        ];
        print(self.output, &answer, &lines(&said));
        if report.found == 0 { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

#[derive(Args)]
pub struct Reindex {
    #[command(flatten)]
    output: Json,
}

impl Reindex {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let done = reindex::rebuild_index(&app.store, |_| {}).await.map_err(sentence)?;
        let said = format!(
            "Indexed {} messages, notes and files, and {} documents.",
            done.items, done.documents
        );
        print(self.output, &json!({ "items": done.items, "documents": done.documents }), &said);
        Ok(())
    }
}

fn holds(manifest: &BackupManifest) -> String {
    format!(
        "{} workspaces, {} conversations, {} messages, {} documents, {} blobs as files; {} rows of \
         {} tables, schema {}.",
        manifest.rows_of("workspaces"),
        manifest.rows_of("conversations"),
        manifest.rows_of("messages"),
        manifest.rows_of("documents"),
        manifest.blobs,
        manifest.rows(),
        manifest.tables.len(),
        manifest.schema
    )
}

fn about_key(manifest: &BackupManifest) -> &'static str {
    match (manifest.has_key, manifest.sealed) {
        (true, true) => "secret.key is in it, sealed like everything else with your passphrase.",
        (true, false) => {
            "secret.key is in it, and nothing is encrypted: whoever gets it can read everything. \
             Keep it as safe as the server, or seal it with --passphrase-file."
        }
        (false, _) => {
            "secret.key is NOT in it: keep a copy of it elsewhere. Without it the passwords of \
             mailboxes and protected messages of this backup are lost."
        }
    }
}

fn about_missing(missing: &[String]) -> String {
    match missing.len() {
        0 => String::new(),
        count => format!("{count} blobs are missing; `mailroom check` names them."),
    }
}

fn findings(report: &CheckReport) -> String {
    if report.found == 0 {
        return "Everything fits together.".into();
    }
    let named = report.findings.iter().map(|finding| format!("  {}", finding.sentence));
    let named: Vec<String> = named.collect();
    format!("{} findings:\n{}", report.found, named.join("\n"))
}

fn lines(said: &[String]) -> String {
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    said.join("\n")
}
