//! `backup verify`: reads backups where they lie and names what of them is not whole.

use std::path::PathBuf;
use std::sync::Arc;

use backup::{
    BackupManifest, BackupPlace, BackupVerification, VerifiedBackups, name_damaged,
    read_passphrase, verify_backups,
};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Json;
use crate::cli::backups::backup_words::{lines, missing_blobs, show_progress};
use crate::cli::command::{CommandFailure, CommandResult, print};
use crate::settings::Settings;

#[derive(Args)]
pub struct VerifyBackup {
    /// The folder that holds the backups, or s3://BUCKET/PREFIX
    #[arg(value_name = "FOLDER|s3://…")]
    place: String,
    /// The backup's name [default: the newest]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    at: Option<String>,
    /// Every backup of the place; blobs that they share are read once
    #[arg(long)]
    all: bool,
    /// The passphrase of sealed backups, in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    output: Json,
}

impl VerifyBackup {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let place = BackupPlace::parse(&self.place, &settings.backup_spool())?;
        let passphrase = self.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let which = match (self.at, self.all) {
            (Some(name), _) => VerifiedBackups::Named(name),
            (None, true) => VerifiedBackups::All,
            (None, false) => VerifiedBackups::Newest,
        };
        let found =
            verify_backups(&place, which, passphrase.as_deref(), Arc::new(show_progress)).await?;
        if found.is_empty() {
            return Err("The backup was removed while it was read. Verify another.".into());
        }
        let is_whole = found.iter().all(BackupVerification::is_whole);
        let answer = json!({
            "place": place.label(),
            "ok": is_whole,
            "backups": found.iter().map(verification_json).collect::<Vec<_>>(),
        });
        print(self.output, &answer, &lines(&found.iter().map(sentence).collect::<Vec<_>>()));
        if is_whole { Ok(()) } else { Err(CommandFailure::Damaged) }
    }
}

fn verification_json(found: &BackupVerification) -> Value {
    let manifest = found.manifest.as_ref();
    json!({
        "name": found.name,
        "ok": found.is_whole(),
        "version": manifest.map(|manifest| &manifest.version),
        "schema": manifest.map(|manifest| manifest.schema),
        "sealed": manifest.map(|manifest| manifest.sealed),
        "rows": manifest.map(BackupManifest::rows),
        "blobs": manifest.map(|manifest| manifest.blobs),
        "faults": found.faults,
        "missingBlobs": missing_blobs(&found.damaged),
        "damagedBlobs": found.damaged,
        "erasedBlobs": found.erased,
    })
}

fn sentence(found: &BackupVerification) -> String {
    let size = found.manifest.as_ref().map_or_else(String::new, |manifest| {
        format!(" ({} rows, {} blobs as files)", manifest.rows(), manifest.blobs)
    });
    if found.is_whole() {
        let erased = match found.erased.len() {
            0 => String::new(),
            1 => " 1 blob was erased while it was written and is not in it.".to_owned(),
            n => format!(" {n} blobs were erased while it was written and are not in it."),
        };
        return format!("{}{size} is whole.{erased}", found.name);
    }
    let faults =
        found.faults.iter().map(|fault| format!("  {fault}")).collect::<Vec<_>>().join("\n");
    let head = format!("{}{size} is NOT whole:", found.name);
    lines(&[head, faults, name_damaged(&found.damaged)])
}
