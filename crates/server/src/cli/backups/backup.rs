//! Backups at the command line: `backup`, `restore`, `check` and `reindex`.

use std::path::PathBuf;
use std::sync::Arc;

use backup::{
    BackupDamage, BackupManifest, BackupPlace, BackupSource, DamagedFile, KeepRule, OnDamage,
    RestoreFailure, RestoreTarget, Restored, name_damaged, read_passphrase, restore, write_backup,
};
use base::app::App;
use base::time::{Clock, SystemClock};
use clap::{Args, Subcommand};
use jobs::finish_deletions;
use maintenance::check::CheckReport;
use maintenance::dump::DumpScope;
use maintenance::sweep::SweptBlobs;
use maintenance::{check, dump, reindex, sweep, waiting};
use node::data_lock::DataLock;
use node::quiet::HOW_TO_GO_ON;
use serde_json::json;

use crate::cli::Json;
use crate::cli::backups::backup_words::{lines, missing_blobs, show_progress};
use crate::cli::command::{CommandFailure, CommandResult, open, print, sentence};
use crate::cli::quiet::about_waiting;
use crate::cli::workspaces::purging::purge_all;
use crate::serve::{open_app, open_app_as_is, open_blobs};
use crate::settings::Settings;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = STATUSES
)]
pub struct Backup {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    /// The folder that holds the backups, or s3://BUCKET/PREFIX; further ones add only what is new
    #[arg(value_name = "FOLDER|s3://…", required = true)]
    place: Option<String>,
    /// Seal the backups with the passphrase in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Leave secret.key out: without it passwords and protected messages of the backup cannot be read
    #[arg(long)]
    without_key: bool,
    /// Remove older backups of this place afterwards: all but the newest NUMBER, or but the newest of
    /// each of so many days, weeks and months, such as 7/4/12
    #[arg(long, value_name = "NUMBER|D/W/M", value_parser = clap::value_parser!(KeepRule))]
    keep: Option<KeepRule>,
    #[command(flatten)]
    output: Json,
}

#[derive(Subcommand)]
enum BackupCommand {
    /// Read a backup where it lies and name what of it is damaged or missing; it changes nothing
    Verify(crate::cli::backups::backup_verify::VerifyBackup),
}

/// What the exit statuses of backups mean.
const STATUSES: &str = "Exit status: 0 everything is whole; 1 it could not be done; 2 the command or a setting \
    cannot be used; 3 something is damaged, and named.";

impl Backup {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        match self.command {
            Some(BackupCommand::Verify(verify)) => verify.run(settings).await,
            None => self.write(settings).await,
        }
    }

    async fn write(self, settings: &Settings) -> CommandResult {
        let place = self.place.as_deref().unwrap_or_default();
        let place = BackupPlace::parse(place, &settings.backup_spool())?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let app = open_app_as_is(settings)?;
        let source = BackupSource {
            store: app.store.clone(),
            blobs: app.blobs.clone(),
            ids: app.ids.clone(),
            scope: DumpScope::Installation,
            key_folder: (!self.without_key).then(|| settings.data.clone()),
            progress: Arc::new(show_progress),
        };
        let now = app.clock.now();
        let written = write_backup(&source, &place, passphrase.as_deref(), self.keep, now).await?;
        let manifest = &written.manifest;
        let mut answer = json!(manifest);
        answer["place"] = place.label().into();
        answer["rows"] = manifest.rows().into();
        answer["newBlobs"] = written.new_blobs.into();
        answer["newBlobBytes"] = written.new_blob_bytes.into();
        answer["missingBlobs"] = json!(missing_blobs(&written.damaged));
        answer["damagedBlobs"] = json!(written.damaged);
        answer["repairedBlobs"] = json!(written.repaired);
        answer["erasedBlobs"] = json!(written.erased);
        answer["removed"] = json!(written.removed);
        answer["notRemoved"] = json!(written.not_removed);
        let said = [
            format!("Backed up to {} as {}: {}", place.label(), manifest.name, holds(manifest)),
            format!("{} blobs are new.", written.new_blobs),
            about_key(manifest).to_owned(),
            about_repaired(&written.repaired),
            about_erased(&written.erased),
            about_damaged(&written.damaged),
            written.not_removed.as_ref().map_or_else(String::new, |why| {
                format!("The backup is written, but older ones could not be removed: {why}")
            }),
        ];
        print(self.output, &answer, &lines(&said));
        match (&written.damaged[..], written.not_removed) {
            ([], None) => Ok(()),
            ([], Some(_)) => Err(CommandFailure::Told),
            _ => Err(CommandFailure::Damaged),
        }
    }
}

#[derive(Args)]
#[command(after_help = STATUSES)]
pub struct Restore {
    /// The folder that holds the backups, or s3://BUCKET/PREFIX
    #[arg(value_name = "FOLDER|s3://…")]
    from: String,
    /// The backup's name [default: the newest]
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// The passphrase of sealed backups, in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Put everything back that is whole, and name what is not
    #[arg(long)]
    skip_damaged: bool,
    #[command(flatten)]
    output: Json,
}

impl Restore {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let place = BackupPlace::parse(&self.from, &settings.backup_spool())?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let target = RestoreTarget {
            database_url: settings.database_url.clone(),
            data: settings.data.clone(),
            blobs: open_blobs(settings)?,
            blobs_folder: settings.blobs.clone(),
        };
        // A server that runs would go on with the key and the caches of before.
        let _lock = DataLock::take(&settings.data, &settings.database_url)?;
        let now = SystemClock.now();
        let on_damage = if self.skip_damaged { OnDamage::Skip } else { OnDamage::Refuse };
        let (at, passphrase) = (self.at.as_deref(), passphrase.as_deref());
        let restored = match restore(&place, at, passphrase, &target, on_damage, now).await {
            Ok(restored) => restored,
            Err(RestoreFailure::Refused(sentence)) => return Err(sentence.into()),
            Err(RestoreFailure::Damaged(manifest, damage)) => {
                let sentence = format!(
                    "The backup {} is not whole, and nothing was restored. --skip-damaged restores everything else.",
                    manifest.name
                );
                return Err(self.tell_damage(sentence, &manifest, &damage));
            }
            Err(RestoreFailure::KeyLost(_, damage, sentence)) if damage.is_none() => {
                return Err(sentence.into());
            }
            Err(RestoreFailure::KeyLost(manifest, damage, sentence)) => {
                return Err(self.tell_damage(sentence, &manifest, &damage));
            }
        };
        self.finish_restored(settings, &place, &restored).await.map_err(|failure| match failure {
            CommandFailure::Untold(sentence) if !restored.damage.is_none() => {
                self.tell_damage(sentence, &restored.manifest, &restored.damage);
                CommandFailure::Told
            }
            failure => failure,
        })
    }

    /// After the tables and the blobs: opens the installation, verifies it, and says what was restored.
    async fn finish_restored(
        &self,
        settings: &Settings,
        place: &BackupPlace,
        restored: &Restored,
    ) -> CommandResult {
        let manifest = &restored.manifest;
        let app = open_app(settings, "").map_err(|error| {
            format!(
                "The tables are restored, but the search index is empty until `mailroom reindex`, because \
                 the installation cannot be opened: {error}"
            )
        })?;
        let report = finish(&app).await?;
        let counts = app.store.read(waiting::waiting).await.map_err(sentence)?;
        let mut answer = json!(manifest);
        answer["rows"] = manifest.rows().into();
        answer["quiet"] = true.into();
        answer["waiting"] = json!(counts);
        answer["missingBlobs"] = json!(missing_blobs(&restored.damage.files));
        answer["damagedBlobs"] = json!(restored.damage.files);
        answer["damagedPieces"] = json!(restored.damage.pieces);
        answer["erasedBlobs"] = json!(restored.erased);
        answer["check"] = json!({ "ok": report.found == 0, "findings": report.findings });
        let said = [
            format!("Restored {} from {}: {}", manifest.name, place.label(), holds(manifest)),
            about_skipped(&restored.damage),
            about_erased(&restored.erased),
            findings(&report),
            about_waiting(&counts),
            format!("This installation is quiet: it sends and fetches nothing. {HOW_TO_GO_ON}"),
        ];
        print(self.output, &answer, &lines(&said));
        let skipped = (restored.damage.files.len() + restored.erased.len()) as u64;
        // What was skipped knowingly is no failure; more than that is.
        if report.found <= skipped { Ok(()) } else { Err(CommandFailure::Told) }
    }

    /// Prints a sentence and everything that is not whole.
    fn tell_damage(
        &self,
        sentence: String,
        manifest: &BackupManifest,
        damage: &BackupDamage,
    ) -> CommandFailure {
        let answer = json!({
            "error": sentence,
            "name": manifest.name,
            "missingBlobs": missing_blobs(&damage.files),
            "damagedBlobs": damage.files,
            "damagedPieces": damage.pieces,
        });
        let pieces = damage.pieces.iter().map(|piece| format!("  {piece}"));
        let pieces = pieces.collect::<Vec<_>>().join("\n");
        print(self.output, &answer, &lines(&[sentence, pieces, name_damaged(&damage.files)]));
        CommandFailure::Damaged
    }
}

fn about_damaged(damaged: &[DamagedFile]) -> String {
    match damaged.len() {
        0 => String::new(),
        count => {
            let are = if count == 1 { "blob is" } else { "blobs are" };
            format!(
                "NOT WHOLE: {count} {are} damaged or missing here, and not in the backup:\n{}\nEverything \
                 else is in it; `restore` needs --skip-damaged. An older backup may hold more.",
                name_damaged(damaged)
            )
        }
    }
}

fn about_repaired(repaired: &[String]) -> String {
    if repaired.is_empty() {
        return String::new();
    }
    format!("Damaged in this place, and written anew: {}.", repaired.join(", "))
}

fn about_erased(erased: &[String]) -> String {
    if erased.is_empty() {
        return String::new();
    }
    format!("Erased while the backup was written, and not in it: {}.", erased.join(", "))
}

fn about_skipped(damage: &BackupDamage) -> String {
    if damage.is_none() {
        return String::new();
    }
    let pieces = damage.pieces.iter().map(|piece| format!("  {piece}"));
    let pieces = pieces.collect::<Vec<_>>().join("\n");
    lines(&["Skipped, because it is not whole:".into(), pieces, name_damaged(&damage.files)])
}

/// After the tables: the search index, and proof that everything fits together.
pub(crate) async fn finish(app: &App) -> Result<CheckReport, String> {
    reindex::build_index(&app.store, |_| {}).await.map_err(|error| {
        format!(
            "The search index is not complete: {}. `mailroom reindex` completes it.",
            sentence(error)
        )
    })?;
    check::check(&app.store, &app.blobs).await.map_err(sentence)
}

#[derive(Args)]
pub struct Check {
    /// Remove blobs that nothing names, merge the search index, and give the space of deleted rows back
    #[arg(long)]
    sweep: bool,
    /// With --sweep: do not write an SQLite database anew, for which a busy server would have to wait
    #[arg(long, requires = "sweep")]
    without_compacting: bool,
    #[command(flatten)]
    output: Json,
}

impl Check {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open_app_as_is(settings)?;
        let schema = app.store.read(dump::schema_version).await.map_err(sentence)?;
        if model::schema::MIGRATIONS.last().is_some_and(|last| schema < last.version) {
            return Err("This database was last used by an earlier version of Mailroom. Check it \
                        with that version, or start this one first, which brings it up to date."
                .into());
        }
        let swept = match self.sweep {
            true => Some(sweep_all(settings, !self.without_compacting).await?),
            false => None,
        };
        let report = check::check(&app.store, &app.blobs).await.map_err(sentence)?;
        let mut answer = json!(report);
        answer["ok"] = (report.found == 0).into();
        if let Some(swept) = &swept {
            answer["sweep"] = json!({ "rows": swept.rows, "files": swept.files, "filesRemovedLater": swept.later });
        }
        let rows: u64 = report.tables.values().sum();
        let said = [
            format!(
                "Read {rows} rows of {} tables and {} blobs.",
                report.tables.len(),
                report.blobs
            ),
            swept.map_or_else(String::new, |swept| about_swept(&swept)),
            findings(&report),
        ];
        print(self.output, &answer, &lines(&said));
        if report.found == 0 { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

/// Removes what nothing names from the tables and the files.
async fn sweep_all(settings: &Settings, rewrite: bool) -> Result<SweptBlobs, String> {
    let app = open(settings).await?;
    finish_deletions(&app).await.map_err(sentence)?;
    let mut swept = sweep::sweep(&app).await.map_err(sentence)?;
    let purged = purge_all(&app, settings, rewrite).await?;
    swept.files += purged.removed;
    swept.later += purged.later;
    Ok(swept)
}

fn about_swept(swept: &SweptBlobs) -> String {
    let later = match swept.later {
        0 => String::new(),
        files => format!(
            " {files} files may be in use by mail that comes in; a running server removes them, or \
             this command when it is repeated."
        ),
    };
    format!(
        "Removed {} rows and {} files of blobs that nothing named.{later}",
        swept.rows, swept.files
    )
}

#[derive(Args)]
pub struct Reindex {
    #[command(flatten)]
    output: Json,
}

impl Reindex {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        reindex::read_quoted(&app).await.map_err(sentence)?;
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

pub(crate) fn about_missing(missing: &[String]) -> String {
    match missing.len() {
        0 => String::new(),
        count => format!("{count} blobs are missing; `mailroom check` names them."),
    }
}

pub(crate) fn findings(report: &CheckReport) -> String {
    if report.found == 0 {
        return "Everything fits together.".into();
    }
    let named = report.findings.iter().map(|finding| format!("  {}", finding.sentence));
    let named: Vec<String> = named.collect();
    format!("{} findings:\n{}", report.found, named.join("\n"))
}
