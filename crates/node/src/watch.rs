//! Samples the gauges of the metrics every few seconds: whether and how fast the database answers, whether its standby
//! is used, how much room the disks have, what fails for a while, and which version runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base::app::App;
use base::workspaces::resting;
use jobs::queues;
use maintenance::figures;
use metrics::{counter, gauge, histogram};
use model::installation::scheduled_backups::scheduled_backups;
use tokio_util::sync::CancellationToken;

use super::blob_health::BlobHealth;
use super::storage_check::free_bytes;

/// How often it is looked.
const LOOKED_EVERY: Duration = Duration::from_secs(15);

/// What is looked at.
pub struct Watch {
    pub app: App,
    /// The folders whose disks fill up, by the name in the metrics.
    pub folders: Vec<(&'static str, PathBuf)>,
    /// True where this server writes backups by itself.
    pub writes_backups: bool,
}

impl Watch {
    /// Looks again and again until `stopping`.
    pub async fn run(&self, stopping: CancellationToken) {
        gauge!("mailroom_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        counter!("mailroom_database_errors_total").absolute(0);
        gauge!("mailroom_backup_scheduled").set(if self.writes_backups { 1.0 } else { 0.0 });
        if !self.app.store.is_shared() {
            // On SQLite there is no list of nodes.
            gauge!("mailroom_nodes").set(1.0);
        }
        let blobs = BlobHealth::of(&self.app.blobs);
        while !stopping.is_cancelled() {
            self.look_at_database().await;
            self.look_at_replica();
            if let Some(is_up) = blobs.is_up().await {
                gauge!("mailroom_blob_store_up").set(if is_up { 1.0 } else { 0.0 });
                counter!("mailroom_blob_store_errors_total").increment(0);
            }
            self.look_at_queues().await;
            for (name, path) in &self.folders {
                if let Ok(free) = free_bytes(path) {
                    gauge!("mailroom_disk_free_bytes", "folder" => *name).set(free as f64);
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOKED_EVERY) => {}
                () = stopping.cancelled() => {}
            }
        }
    }

    async fn look_at_database(&self) {
        let begun = Instant::now();
        let now = self.app.clock.now();
        let look = move |tx: &mut db::Tx<'_>| {
            let overdue = scheduled_backups(tx)?.overdue_ms(now);
            let resting = resting::list_resting(tx)?;
            Ok::<_, base::error::Error>((figures::failing_calendars(tx)?, overdue, resting))
        };
        let figures = self.app.store.read(look).await;
        gauge!("mailroom_database_up").set(if figures.is_ok() { 1.0 } else { 0.0 });
        match figures {
            Ok((failing, overdue, resting)) => {
                let suspended = resting.iter().filter(|state| state.suspended_at.is_some()).count();
                let quiet = resting.len() - suspended;
                gauge!("mailroom_workspaces_resting", "state" => "suspended").set(suspended as f64);
                gauge!("mailroom_workspaces_resting", "state" => "quiet").set(quiet as f64);
                histogram!("mailroom_database_seconds").record(begun.elapsed());
                gauge!("mailroom_calendars_failing").set(failing as f64);
                gauge!("mailroom_backup_overdue_seconds").set(overdue as f64 / 1_000.0);
            }
            Err(_) => counter!("mailroom_database_errors_total").increment(1),
        }
    }

    /// Every queue has its figures from the first look on, 0 where it is empty.
    async fn look_at_queues(&self) {
        let now = self.app.clock.now();
        let figures = self.app.store.read(move |tx| queues::queue_figures(tx, now)).await;
        for figure in figures.unwrap_or_default() {
            gauge!("mailroom_queue_depth", "queue" => figure.queue).set(figure.depth as f64);
            let oldest = figure.oldest_ms as f64 / 1_000.0;
            gauge!("mailroom_queue_oldest_seconds", "queue" => figure.queue).set(oldest);
        }
    }

    fn look_at_replica(&self) {
        let Some(replica) = self.app.store.replica_status() else { return };
        let reads = |by| counter!("mailroom_replica_reads_total", "answered_by" => by);
        gauge!("mailroom_replica_up").set(if replica.problem.is_none() { 1.0 } else { 0.0 });
        reads("replica").absolute(replica.answered);
        reads("database").absolute(replica.passed_over);
    }
}
