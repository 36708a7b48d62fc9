//! Restores one workspace into an installation that others work with, from a backup of it alone or of everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use base::actor::Actor;
use base::app::App;
use base::files::blobs::Blobs;
use maintenance::dump::{DumpedWorkspace, schema_version};
use maintenance::reindex;
use maintenance::workspace_load::{self, LoadedWorkspace, WorkspacePlace};
use maintenance::workspace_verify::verify_workspace;

use super::damage::{DamagedFile, FileFault, damaged_files};
use super::manifest::BackupManifest;
use super::place::BackupPlace;
use super::restore::OnDamage;
use super::run_blocking;
use super::stored_backup::{ScannedTables, StoredBackup, StoredFault};

const NOT_RESTORED: &str = "The workspace could not be restored";

/// What is restored, and where to.
#[derive(Clone)]
pub struct WorkspaceRestore {
    /// The backup's name; `None` for the newest.
    pub at: Option<String>,
    /// The workspace of a backup of a whole installation.
    pub slug: Option<String>,
    pub passphrase: Option<String>,
    pub into: WorkspacePlace,
    pub on_damage: OnDamage,
}

/// A workspace that was restored.
pub struct RestoredWorkspace {
    pub manifest: BackupManifest,
    pub source: DumpedWorkspace,
    pub loaded: LoadedWorkspace,
    /// What differs from the backup.
    pub faults: Vec<String>,
    /// Blobs that are not whole, and were left out.
    pub damaged: Vec<DamagedFile>,
    /// Blobs that are files.
    pub files: u64,
}

/// Why nothing was restored.
pub enum WorkspaceRestoreFailure {
    Refused(String),
    /// It is not whole, and was not to be restored as it is.
    Damaged(Box<BackupManifest>, Vec<DamagedFile>),
}

impl From<String> for WorkspaceRestoreFailure {
    fn from(sentence: String) -> WorkspaceRestoreFailure {
        WorkspaceRestoreFailure::Refused(sentence)
    }
}

/// Restores a workspace, while a server may be running. Its rows come in one transaction, after its blobs: what fails
/// before leaves nothing but blobs that `check --sweep` removes.
pub async fn restore_workspace(
    app: &App,
    place: &BackupPlace,
    restore: WorkspaceRestore,
) -> Result<RestoredWorkspace, WorkspaceRestoreFailure> {
    let (found, asked) = (place.clone(), restore.clone());
    let find = move || StoredBackup::find(&found, asked.at.as_deref(), asked.passphrase.as_deref());
    let backup = run_blocking(find).await??;
    let schema = app.store.read(schema_version).await.map_err(|error| error.to_string())?;
    if schema != backup.manifest.schema {
        return Err(WorkspaceRestoreFailure::Refused(format!(
            "The backup {} was made by Mailroom {}, whose tables are other ones. Restore it with `mailroom restore` or \
             that version into an empty database, let this version open it, and back the workspace up there.",
            backup.manifest.name, backup.manifest.version
        )));
    }
    let (read, blobs, slug) = (backup.clone(), app.blobs.clone(), restore.slug.clone());
    let copying = run_blocking(move || copy_blobs(&read, &blobs, slug.as_deref()));
    let CopiedWorkspace { tables, source, faults, files } = copying.await??;
    let uses = match faults.is_empty() {
        true => BTreeMap::new(),
        false => backup.uses(&tables.file, faults.keys().cloned().collect()).unwrap_or_default(),
    };
    let damaged = damaged_files(faults, uses);
    if restore.on_damage == OnDamage::Refuse && !damaged.is_empty() {
        return Err(WorkspaceRestoreFailure::Damaged(Box::new(backup.manifest), damaged));
    }
    let loaded = load(app, &backup, tables.file, &source, &restore.into).await?;
    let faults = open_workspace(app, &loaded).await?;
    Ok(RestoredWorkspace { manifest: backup.manifest, source, loaded, faults, damaged, files })
}

/// Indexes a workspace that was loaded, compares it with what was loaded, and lets people work with it. Answers what
/// differs.
pub async fn open_workspace(app: &App, loaded: &LoadedWorkspace) -> Result<Vec<String>, String> {
    let (ws, tables, blobs) = (loaded.ws, loaded.tables.clone(), app.blobs.clone());
    reindex::index_workspace(&app.store, ws).await.map_err(sentence)?;
    let verify = move |tx: &mut db::Tx<'_>| verify_workspace(tx, &blobs, ws, &tables);
    let faults = app.store.read(verify).await.map_err(sentence)?;
    let end = move |tx: &mut db::Tx<'_>| workspace_load::finish(tx, ws);
    app.store.write(end).await.map_err(sentence)?;
    Ok(faults)
}

/// The blobs of a workspace are where they have to be.
struct CopiedWorkspace {
    tables: ScannedTables,
    source: DumpedWorkspace,
    faults: BTreeMap<String, FileFault>,
    files: u64,
}

fn copy_blobs(
    backup: &StoredBackup,
    blobs: &Blobs,
    slug: Option<&str>,
) -> Result<CopiedWorkspace, String> {
    let told =
        super::with_context("The backup cannot be read at present, and nothing was restored");
    let tables = backup.scan_tables().map_err(|fault| match fault {
        StoredFault::Place(error) => told(error),
        StoredFault::Lost(sentence) => sentence,
    })?;
    let again = || {
        let mut file = tables.file.try_clone().map_err(&told)?;
        file.seek(SeekFrom::Start(0)).map_err(&told)?;
        Ok::<File, String>(file)
    };
    let source = {
        let head = workspace_head(backup, again()?)?;
        match head {
            Some(only) if slug.is_none_or(|slug| slug == only.slug) => only,
            Some(only) => {
                return Err(format!("This backup is of the workspace {} alone.", only.slug));
            }
            None => {
                let mut lines = backup.lines(again()?).map_err(sentence)?;
                workspace_load::workspace_in(&mut *lines, slug).map_err(sentence)?
            }
        }
    };
    let mut lines = backup.lines(again()?).map_err(sentence)?;
    let files = workspace_load::dumped_files(&mut *lines, source.ws).map_err(sentence)?;
    drop(lines);
    let there: BTreeSet<String> = backup.place.blobs().map_err(&told)?.into_iter().collect();
    let damaged = tables.contents.damaged.iter();
    let mut faults: BTreeMap<String, FileFault> = match backup.manifest.workspace {
        Some(_) => damaged.map(|hash| (hash.clone(), FileFault::Damaged)).collect(),
        None => BTreeMap::new(),
    };
    for hash in &files {
        match backup.read_blob(&there, hash).map_err(&told)? {
            Ok(packed) => {
                blobs.replace_file(hash, &packed).map_err(super::with_context(NOT_RESTORED))?;
            }
            Err(fault) => drop(faults.insert(hash.clone(), fault)),
        }
    }
    backup.take_erased(&mut faults);
    Ok(CopiedWorkspace { tables, source, faults, files: files.len() as u64 })
}

fn workspace_head(backup: &StoredBackup, file: File) -> Result<Option<DumpedWorkspace>, String> {
    let mut lines = backup.lines(file).map_err(sentence)?;
    workspace_load::workspace_of(&mut *lines).map_err(sentence)
}

async fn load(
    app: &App,
    backup: &StoredBackup,
    mut file: File,
    source: &DumpedWorkspace,
    into: &WorkspacePlace,
) -> Result<LoadedWorkspace, String> {
    let (own, backup, source, into) = (app.clone(), backup.clone(), source.clone(), into.clone());
    let operator = Actor::operator(&app.ids);
    let trouble = Arc::new(Mutex::new(None));
    let noted = trouble.clone();
    let loaded = app
        .store
        .write(move |tx| {
            // The transaction may have begun before.
            let result = rewind(&mut file).map_err(base::error::Error::from).and_then(|()| {
                let mut lines = backup.lines(&mut file)?;
                let cx = own.cx(&operator);
                workspace_load::load_workspace(tx, &cx, &mut *lines, &source, &into)
            });
            if let Err(base::error::Error::Files(error)) = &result {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
            result
        })
        .await;
    loaded.map_err(|error| {
        let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        trouble.map_or_else(|| sentence(error), |why| format!("{NOT_RESTORED}: {why}"))
    })
}

fn rewind(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0)).map(drop)
}

fn sentence(error: base::error::Error) -> String {
    match error {
        base::error::Error::Store(cause) => format!("{NOT_RESTORED}: {cause}"),
        base::error::Error::Files(cause) => format!("{NOT_RESTORED}: {cause}"),
        error => error.to_string(),
    }
}
