//! Scheduled backups: one node writes each when it is due, and how it went is kept in the database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::app::App;
use maintenance::dump::DumpScope;
use model::installation::scheduled_backups::{
    self, BackupPlan, LackingFiles, ScheduledBackups, scheduled_backups,
};
use node::quiet::QuietMode;
use tokio_util::sync::CancellationToken;

use super::damage::DamagedFile;
use super::keep::KeepRule;
use super::place::BackupPlace;
use super::read_passphrase;
use super::timing::BackupTiming;
use super::write::{BackupSource, write_backup};

/// How often it is looked whether one is due.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How long a node holds one without a sign, and how often it gives one. It is longer than the five
/// minutes for which the lock of a bucket counts: who takes over after a crash finds the place free.
const LEASE_MS: i64 = 6 * 60 * 1_000;
const RENEWED_EVERY: Duration = Duration::from_secs(30);
/// One that failed is tried again after an hour.
const RETRY_MS: i64 = 60 * 60 * 1_000;

/// What the settings say about scheduled backups.
#[derive(Clone, Debug)]
pub struct BackupSettings {
    pub place: String,
    pub timing: BackupTiming,
    pub keep: Option<KeepRule>,
    pub passphrase_file: Option<PathBuf>,
}

impl BackupSettings {
    fn plan(&self) -> BackupPlan {
        BackupPlan {
            place: self.place.clone(),
            timing: self.timing.to_string(),
            keeps: self.keep.map_or_else(|| "all of them".into(), |keep| keep.to_string()),
        }
    }
}

/// Writes scheduled backups on this node.
pub struct BackupRunner {
    pub app: App,
    /// `None` where no backups are scheduled.
    pub settings: Option<BackupSettings>,
    /// The data folder, which has `secret.key`.
    pub data: PathBuf,
    pub spool: PathBuf,
}

impl BackupRunner {
    /// Writes those that are due until `stop`. A quiet installation writes none: it may be a copy, and
    /// its backups would push out those of the original.
    pub async fn run(&self, quiet: QuietMode, stop: CancellationToken) {
        let rounds = async {
            self.begin().await;
            loop {
                if !quiet.is_quiet() {
                    self.round().await;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            () = rounds => {}
            () = stop.cancelled() => {}
        }
    }

    /// Writes down what this node was started with. Where other nodes may have settings, one that has
    /// none says nothing: it would end their backups.
    pub async fn begin(&self) {
        if self.settings.is_none() && self.app.store.is_shared() {
            return;
        }
        let plan = self.settings.as_ref().map(BackupSettings::plan);
        let now = self.app.clock.now();
        let first = self.settings.as_ref().map(|settings| settings.timing.first(now));
        let set = move |tx: &mut db::Tx<'_>| scheduled_backups::set_plan(tx, plan.as_ref(), first);
        if let Err(error) = self.app.store.write(set).await {
            tracing::error!(%error, "scheduled backups could not be set");
        }
    }

    /// Writes a backup if one is due and no other node does; true when one was tried.
    pub async fn round(&self) -> bool {
        let is_scheduled = if self.settings.is_some() { 1.0 } else { 0.0 };
        metrics::gauge!("mailroom_backup_scheduled").set(is_scheduled);
        let Some(settings) = &self.settings else { return false };
        match self.try_round(settings).await {
            Ok(tried) => tried,
            Err(error) if error.is_outage() => false,
            Err(error) => {
                tracing::error!(%error, "a scheduled backup could not be recorded");
                false
            }
        }
    }

    async fn try_round(&self, settings: &BackupSettings) -> base::error::Result<bool> {
        let store = &self.app.store;
        let known = store.read(scheduled_backups).await?;
        report(&known);
        if known.place.is_none() {
            // A node of an earlier version that has no settings cleared it, or it was never written.
            self.begin().await;
        }
        let now = self.app.clock.now();
        let lease = now + LEASE_MS;
        if !store.write(move |tx| scheduled_backups::claim(tx, now, lease)).await? {
            return Ok(false);
        }
        let written = self.hold_lease_during(lease, self.write(settings)).await;
        let now = self.app.clock.now();
        let next = settings.timing.after(now);
        let outcome = if written.is_ok() { "written" } else { "failed" };
        metrics::counter!("mailroom_backups_total", "outcome" => outcome).increment(1);
        match written {
            Ok((backup, damage)) => {
                tracing::info!(backup, "scheduled backup written");
                let (app, backup) = (self.app.clone(), backup.clone());
                let succeed = move |tx: &mut db::Tx<'_>| {
                    scheduled_backups::succeed(tx, &app, &backup, damage.as_ref(), next)
                };
                store.write(succeed).await?;
            }
            Err(why) => {
                tracing::error!(why, "the scheduled backup failed");
                let (app, next) = (self.app.clone(), next.min(now + RETRY_MS));
                store.write(move |tx| scheduled_backups::fail(tx, &app, &why, next)).await?;
            }
        }
        report(&store.read(scheduled_backups).await?);
        Ok(true)
    }

    /// Writes one; its name and what it lacks, or why there is none.
    async fn write(
        &self,
        settings: &BackupSettings,
    ) -> Result<(String, Option<LackingFiles>), String> {
        let place = BackupPlace::parse(&settings.place, &self.spool)?;
        let passphrase = settings.passphrase_file.as_deref().map(read_passphrase).transpose()?;
        let source = BackupSource {
            store: self.app.store.clone(),
            blobs: self.app.blobs.clone(),
            ids: self.app.ids.clone(),
            scope: DumpScope::Installation,
            key_folder: Some(self.data.clone()),
            progress: Arc::new(|_, _| {}),
        };
        let now = self.app.clock.now();
        let written =
            write_backup(&source, &place, passphrase.as_deref(), settings.keep, now).await?;
        let name = written.manifest.name;
        if let Some(why) = written.not_removed {
            tracing::error!(backup = name, why, "older backups could not be removed");
            metrics::counter!("mailroom_backup_removal_failures_total").increment(1);
        }
        if !written.repaired.is_empty() {
            let blobs = written.repaired.join(" ");
            tracing::warn!(backup = name, blobs, "damaged blobs of the place were written anew");
        }
        Ok((name.clone(), lacking_files(&name, &written.damaged)))
    }

    /// Waits for a backup and renews the lease meanwhile.
    async fn hold_lease_during<T>(&self, mut lease: i64, writing: impl Future<Output = T>) -> T {
        let mut writing = std::pin::pin!(writing);
        // A renewal without an answer may count all the same.
        let mut tried = lease;
        loop {
            tokio::select! {
                written = &mut writing => return written,
                () = tokio::time::sleep(RENEWED_EVERY) => {
                    let (own, until) = ([lease, tried], self.app.clock.now() + LEASE_MS);
                    tried = until;
                    let renew = move |tx: &mut db::Tx<'_>| scheduled_backups::renew(tx, own, until);
                    match self.app.store.write(renew).await {
                        Ok(true) => lease = until,
                        Ok(false) => tracing::warn!("the lease of a backup was lost"),
                        Err(error) => {
                            tracing::warn!(%error, "the lease of a backup could not be renewed");
                        }
                    }
                }
            }
        }
    }
}

/// Files that are named in one line of the log.
const NAMED: usize = 5;

/// Logs what a backup lacks. The log names ids alone.
fn lacking_files(backup: &str, damaged: &[DamagedFile]) -> Option<LackingFiles> {
    let named: Vec<String> = damaged.iter().take(NAMED).map(DamagedFile::to_string).collect();
    let (files, named) = (damaged.len(), named.join("; "));
    if files == 0 {
        return None;
    }
    tracing::error!(backup, files, named, "damaged files are not in the scheduled backup");
    Some(LackingFiles { count: files as u64, named })
}

fn report(scheduled: &ScheduledBackups) {
    metrics::gauge!("mailroom_backup_damaged_files").set(scheduled.damaged_files() as f64);
    let succeeded = scheduled.succeeded_at.unwrap_or(0) as f64 / 1_000.0;
    metrics::gauge!("mailroom_backup_last_success_seconds").set(succeeded);
    metrics::gauge!("mailroom_backup_failures").set(scheduled.failures as f64);
}
