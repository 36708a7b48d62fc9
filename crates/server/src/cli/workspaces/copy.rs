//! `copy`: a whole installation into another database, with its blobs and its key.

use std::io::{BufReader, BufWriter, ErrorKind, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};

use base::app::App;
use base::files::blobs::Blobs;
use base::files::private_files::{file_options, make_folder};
use base::ids::UploadId;
use clap::Args;
use db::{DatabaseUrl, Store, StoreOptions};
use maintenance::dump::{self, DumpContents, DumpScope};
use maintenance::load;
use model::installation::QuietReason;
use node::data_lock::settle_database;
use node::quiet::HOW_TO_GO_ON;
use node::vault::KEY_FILE;
use serde_json::json;

use crate::cli::Json;
use crate::cli::backups::backup::{about_missing, findings, finish};
use crate::cli::backups::backup_words::lines;
use crate::cli::command::{CommandFailure, CommandResult, print, sentence};
use crate::serve::{open_app, open_app_as_is, open_blobs};
use crate::settings::Settings;

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
        let target = self.target(settings)?;
        let app = open_app_as_is(settings)?;
        let (contents, missing) = copy(&app, settings, &target).await?;
        let copied = open_app(&target, "")?;
        let report = finish(&copied).await?;
        drop(copied);
        settle_database(&target.database_url, &target.data);
        let rows: u64 = contents.tables.values().sum();
        let blobs = contents.files.len() + contents.uploads.len() - missing.len();
        let answer = json!({
            "tables": contents.tables,
            "rows": rows,
            "blobs": blobs,
            "missingBlobs": missing,
            "data": target.data,
            "blobsFolder": target.blobs,
            "quiet": true,
            "check": { "ok": report.found == 0, "findings": report.findings },
        });
        let said = [
            format!("Copied {rows} rows of {} tables and {blobs} blobs.", contents.tables.len()),
            about_missing(&missing),
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

    /// The settings of the copy. Folders are told apart by where they are, not by how they are spelled.
    fn target(&self, settings: &Settings) -> Result<Settings, String> {
        let mut target = settings.clone();
        target.database_url = self.to.clone();
        let to = DatabaseUrl::parse(&self.to).map_err(|error| format!("--to: {error}"))?;
        if is_same_database(&settings.database_url, &to) {
            return Err("--to: names the database that is to be copied".into());
        }
        let folder = match (&self.to_data, &to) {
            (Some(folder), _) => Some(folder.clone()),
            (None, DatabaseUrl::Sqlite(path)) => path.parent().map(Path::to_path_buf),
            (None, DatabaseUrl::Postgres(_)) => None,
        };
        if let Some(folder) = folder {
            let folder = if folder.as_os_str().is_empty() { ".".into() } else { folder };
            make_folder(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            if !is_same(&folder, &settings.data) {
                target.blobs = folder.join("blobs");
                target.data = folder;
            }
        }
        if let Some(blobs) = &self.to_blobs {
            target.blobs = blobs.clone();
            target.bucket = None;
        }
        Ok(target)
    }
}

fn is_same_database(from: &str, to: &DatabaseUrl) -> bool {
    match (DatabaseUrl::parse(from), to) {
        (Ok(DatabaseUrl::Sqlite(from)), DatabaseUrl::Sqlite(to)) => is_same(&from, to),
        (Ok(from), to) => from == *to,
        (Err(_), _) => false,
    }
}

/// True when two paths lead to the same file or folder.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Copies key and blobs, then streams all tables from one database into the other: only then is there
/// a workspace, so that a copy that broke off can be repeated. Says which blobs are missing.
async fn copy(
    app: &App,
    from: &Settings,
    to: &Settings,
) -> Result<(DumpContents, Vec<String>), String> {
    let read = |tx: &mut db::Tx<'_>| {
        Ok::<_, base::error::Error>((
            dump::schema_version(tx)?,
            dump::file_hashes(tx)?,
            dump::accepted_uploads(tx)?,
        ))
    };
    let (schema, files, uploads) = app.store.read(read).await.map_err(sentence)?;
    let steps = model::schema::MIGRATIONS.iter().filter(|step| step.version <= schema);
    let steps: Vec<db::Migration> = steps.copied().collect();
    let store = Store::open(&to.database_url, &StoreOptions::default(), &steps)
        .map_err(|error| format!("--to: the database cannot be opened: {error}"))?;
    if !store.read(load::is_empty).await.map_err(sentence)? {
        return Err("There is a workspace in that database already. Copy into an empty one.".into());
    }
    copy_key(from, to)?;
    let other = other_blobs(from, to)?;
    copy_files(&app.blobs, other.as_ref(), &files, &uploads)?;
    let contents = copy_tables(app, &store).await?;
    // What came in meanwhile; the rest is there already.
    let missing = copy_files(&app.blobs, other.as_ref(), &contents.files, &contents.uploads)?;
    Ok((contents, missing))
}

async fn copy_tables(app: &App, store: &Store) -> Result<DumpContents, String> {
    let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    let (mut reader, mut writer) = (Some(reader), Some(writer));
    let now = app.clock.now();
    let source = app.store.read(move |tx| {
        // A lost connection is found by the first statement, before the pipe is taken.
        dump::schema_version(tx)?;
        write_to(tx, writer.take())
    });
    let filled = store.write(move |tx| read_from(tx, reader.take(), now));
    let (source, filled) = tokio::join!(source, filled);
    let contents = filled.map_err(sentence)?;
    source.map_err(sentence)?;
    Ok(contents)
}

fn write_to(tx: &mut db::Tx<'_>, writer: Option<PipeWriter>) -> base::error::Result<()> {
    let writer = writer.ok_or_else(interrupted_error)?;
    dump::dump(tx, &DumpScope::Installation, &mut BufWriter::new(writer), &mut |_, _| {})?;
    Ok(())
}

fn read_from(
    tx: &mut db::Tx<'_>,
    reader: Option<PipeReader>,
    now: i64,
) -> base::error::Result<DumpContents> {
    let reader = reader.ok_or_else(interrupted_error)?;
    load::load(tx, &mut BufReader::new(reader), QuietReason::Copied, now)
}

/// A stream cannot begin again.
fn interrupted_error() -> base::error::Error {
    base::error::Error::Conflict(
        "The copy was interrupted and nothing was kept. Begin it again.".into(),
    )
}

/// Puts the key into the folder of the copy. One of another installation stays as it is.
fn copy_key(from: &Settings, to: &Settings) -> Result<(), String> {
    let (old, new) = (from.data.join(KEY_FILE), to.data.join(KEY_FILE));
    let told = |error: std::io::Error| format!("{}: {error}", new.display());
    let secret = std::fs::read(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    match file_options().write(true).create_new(true).open(&new) {
        Ok(mut file) => file.write_all(&secret).and_then(|()| file.sync_all()).map_err(told),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if std::fs::read(&new).map_err(told)? == secret {
                return Ok(());
            }
            Err(format!(
                "{} is the key of another installation. Choose another folder with --to-data.",
                new.display()
            ))
        }
        Err(error) => Err(told(error)),
    }
}

/// The blobs of the copy; `None` where both have the same.
fn other_blobs(from: &Settings, to: &Settings) -> Result<Option<Blobs>, String> {
    // A bucket is shared by both.
    if to.bucket.is_some() {
        return Ok(None);
    }
    make_folder(&to.blobs).map_err(|error| format!("{}: {error}", to.blobs.display()))?;
    if from.bucket.is_none() && is_same(&from.blobs, &to.blobs) {
        return Ok(None);
    }
    open_blobs(to).map(Some)
}

/// Copies the files that the other folder lacks; says which are missing here.
fn copy_files(
    blobs: &Blobs,
    other: Option<&Blobs>,
    files: &[String],
    uploads: &[UploadId],
) -> Result<Vec<String>, String> {
    let Some(other) = other else { return Ok(Vec::new()) };
    let mut missing = Vec::new();
    let mut settle = |name: &str, copied: std::io::Result<()>| match copied {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            missing.push(name.to_owned());
            Ok(())
        }
        copied => copied.map_err(|error| format!("The blob {name} could not be copied: {error}")),
    };
    for hash in files {
        if !other.has_file(hash).map_err(|error| error.to_string())? {
            let packed = blobs.read_file(hash);
            settle(hash, packed.and_then(|packed| other.adopt_file(hash, &packed)))?;
        }
    }
    for upload in uploads {
        let bytes = blobs.partial_uploads().bytes(upload);
        let copied = bytes.and_then(|bytes| other.partial_uploads().adopt(upload, &bytes));
        settle(upload.as_str(), copied)?;
    }
    Ok(missing)
}
