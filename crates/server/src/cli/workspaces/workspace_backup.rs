//! `workspace backup` and `workspace restore`: one workspace, while the others work.

use std::path::PathBuf;
use std::sync::Arc;

use actions::inboxes::setup::WorkspaceListing;
use backup::{
    BackupPlace, BackupSource, DamagedFile, KeepRule, OnDamage, RestoredWorkspace,
    WorkspaceRestore, WorkspaceRestoreFailure, name_damaged, read_passphrase, restore_workspace,
    write_backup,
};
use base::app::App;
use clap::Args;
use maintenance::dump::{DumpScope, DumpedWorkspace};
use maintenance::workspace_load::{LoadedWorkspace, WorkspacePlace};
use serde_json::{Value, json};

use crate::cli::Json;
use crate::cli::backups::backup_words::{lines, show_progress};
use crate::cli::command::{CommandFailure, CommandResult, print, workspaces};
use crate::settings::Settings;

#[derive(Args)]
pub struct BackUpWorkspace {
    /// The workspace's slug
    #[arg(value_name = "NAME")]
    name: String,
    /// The folder that holds the backups, or s3://BUCKET/PREFIX; further ones add only what is new
    #[arg(value_name = "FOLDER|s3://…")]
    place: String,
    /// Seal the backups with the passphrase in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Remove older backups of this place afterwards: all but the newest NUMBER, or but the newest of
    /// each of so many days, weeks and months, such as 7/4/12
    #[arg(long, value_name = "NUMBER|D/W/M", value_parser = clap::value_parser!(KeepRule))]
    keep: Option<KeepRule>,
    #[command(flatten)]
    output: Json,
}

impl BackUpWorkspace {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let place = BackupPlace::parse(&self.place, &settings.backup_spool())?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let source = BackupSource {
            store: app.store.clone(),
            blobs: app.blobs.clone(),
            ids: app.ids.clone(),
            scope: DumpScope::Workspace(find_workspace(app, &self.name).await?),
            // It is the key of all workspaces.
            key_folder: None,
            progress: Arc::new(show_progress),
        };
        let now = app.clock.now();
        let written = write_backup(&source, &place, passphrase.as_deref(), self.keep, now).await?;
        let manifest = &written.manifest;
        let mut answer = json!(manifest);
        answer["place"] = place.label().into();
        answer["rows"] = manifest.rows().into();
        answer["newBlobs"] = written.new_blobs.into();
        answer["damagedBlobs"] = json!(written.damaged);
        answer["removed"] = json!(written.removed);
        let said = [
            format!(
                "Backed up {} to {} as {}: {} conversations, {} messages, {} blobs as files; {} rows.",
                self.name,
                place.label(),
                manifest.name,
                manifest.rows_of("conversations"),
                manifest.rows_of("messages"),
                manifest.blobs,
                manifest.rows()
            ),
            "secret.key is not in it: passwords of mailboxes and protected messages open only where the same key is."
                .into(),
            about_damage(&written.damaged),
        ];
        print(self.output, &answer, &lines(&said));
        if written.damaged.is_empty() { Ok(()) } else { Err(CommandFailure::Damaged) }
    }
}

#[derive(Args)]
pub struct RestoreWorkspace {
    /// The folder that holds the backups, or s3://BUCKET/PREFIX
    #[arg(value_name = "FOLDER|s3://…")]
    from: String,
    /// The slug of a new workspace beside the one that it was: its addresses, keys and links are off
    #[arg(long = "as", value_name = "NAME", conflicts_with = "replace")]
    slug: Option<String>,
    /// The slug of the workspace that it replaces, which is deleted [default: its own, where that is not there any
    /// more]
    #[arg(long, value_name = "NAME")]
    replace: Option<String>,
    /// Which workspace of a backup of a whole installation
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    /// The backup's name [default: the newest]
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// The passphrase of sealed backups, in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Restore everything that is whole, and name what is not
    #[arg(long)]
    skip_damaged: bool,
    #[command(flatten)]
    output: Json,
}

impl RestoreWorkspace {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let place = BackupPlace::parse(&self.from, &settings.backup_spool())?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let into = match (self.slug, self.replace) {
            (Some(slug), _) => WorkspacePlace::Beside { slug },
            (None, Some(slug)) => WorkspacePlace::Replacing { slug },
            (None, None) => WorkspacePlace::AsItWas,
        };
        let on_damage = if self.skip_damaged { OnDamage::Skip } else { OnDamage::Refuse };
        let restore =
            WorkspaceRestore { at: self.at, slug: self.workspace, passphrase, into, on_damage };
        let restored = match restore_workspace(app, &place, restore).await {
            Ok(restored) => restored,
            Err(WorkspaceRestoreFailure::Refused(sentence)) => return Err(sentence.into()),
            Err(WorkspaceRestoreFailure::Damaged(manifest, damaged)) => {
                let said = format!(
                    "The backup {} is not whole, and nothing was restored. --skip-damaged restores everything else.",
                    manifest.name
                );
                let answer = json!({ "error": said, "damagedBlobs": damaged });
                print(self.output, &answer, &lines(&[said, name_damaged(&damaged)]));
                return Err(CommandFailure::Damaged);
            }
        };
        let RestoredWorkspace { manifest, loaded, faults, damaged, .. } = &restored;
        let mut answer = answer_of(loaded, faults);
        answer["backup"] = manifest.name.as_str().into();
        answer["damagedBlobs"] = json!(damaged);
        let said = [
            format!("Restored {} from {} as {}.", restored.source.slug, manifest.name, loaded.slug),
            about_loaded(loaded),
            about_damage(damaged),
            about_faults(faults),
        ];
        print(self.output, &answer, &lines(&said));
        // What was skipped knowingly is no failure; more than that is.
        if faults.len() <= damaged.len() { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

/// A workspace that is there, as a dump names it.
pub(super) async fn find_workspace(app: &App, slug: &str) -> Result<DumpedWorkspace, String> {
    let all = workspaces(app).await?;
    let named = |one: &WorkspaceListing| one.slug == slug;
    let found = all.iter().find(|one| named(one)).ok_or_else(|| {
        let slugs: Vec<&str> = all.iter().map(|one| one.slug.as_str()).collect();
        format!("There is no workspace {slug}; there are {}.", slugs.join(", "))
    })?;
    Ok(DumpedWorkspace {
        ws: found.ws,
        id: found.id.clone(),
        slug: found.slug.clone(),
        name: found.name.clone(),
    })
}

pub(super) fn answer_of(loaded: &LoadedWorkspace, faults: &[String]) -> Value {
    json!({
        "id": loaded.id,
        "slug": loaded.slug,
        "number": loaded.ws,
        "tables": loaded.tables,
        "leftOut": loaded.left_out,
        "unopenedSecrets": loaded.unopened,
        "quiet": true,
        "check": { "ok": faults.is_empty(), "findings": faults },
    })
}

pub(super) fn about_loaded(loaded: &LoadedWorkspace) -> String {
    let rows = |table: &str| loaded.tables.get(table).copied().unwrap_or(0);
    let secrets = match loaded.unopened {
        0 => String::new(),
        count => format!(
            "\n{count} secrets were sealed with another secret.key and do not open here: set those passwords again."
        ),
    };
    format!(
        "{} conversations, {} messages, {} rows. It is quiet: nothing is sent, fetched or called before `mailroom \
         workspace resume {} --live`.{secrets}",
        rows("conversations"),
        rows("messages"),
        loaded.tables.values().sum::<u64>(),
        loaded.slug
    )
}

pub(super) fn about_faults(faults: &[String]) -> String {
    match faults {
        [] => {
            "Compared with what was copied: rows, blobs and the search index are all there.".into()
        }
        faults => format!("NOT ALL THERE:\n  {}", faults.join("\n  ")),
    }
}

fn about_damage(damaged: &[DamagedFile]) -> String {
    match damaged {
        [] => String::new(),
        damaged => format!("Not whole, and left out:\n{}", name_damaged(damaged)),
    }
}
