//! Periodic maintenance of the databases. SQLite: merges the segments of the full-text index,
//! because every search reads each of them. PostgreSQL has no segments; its statistics are
//! refreshed by ANALYZE when tables have grown, because autovacuum skips small tables and runs late
//! on tables that grow quickly.

use std::time::Duration;

use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::limits::MINUTE_MS;
use db::Tx;
use tokio_util::sync::CancellationToken;

use crate::runs::runtime::{BackgroundJob, JobRound, JobRuntime};

/// The pause between two rounds while there is more to do.
const PAUSE_BETWEEN_MERGES_MS: i64 = 20;
/// The rest after everything is done. Meanwhile a level of the index gets at most eight segments more. What
/// lies scattered is put together as seldom, however much mail comes in.
const REST_MS: i64 = 30 * MINUTE_MS;
/// How often PostgreSQL's table statistics are checked for growth.
const STATISTICS_EVERY: Duration = Duration::from_secs(60);
/// A table has grown when as many rows changed as it had when it was last analysed, and this many.
const CHANGED_ROWS: i64 = 500;

/// Merges a little of the full-text index in each round.
pub(crate) struct IndexMaintenance {
    pub runtime: JobRuntime,
}

impl BackgroundJob for IndexMaintenance {
    fn queue(&self) -> Queue {
        Queue::IndexMaintenance
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(due_at) FROM index_maintenance"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let now = self.runtime.app.clock.now();
            let merged = self.runtime.app.store.write_relaxed(move |tx| merge(tx, now)).await?;
            Ok(usize::from(merged).into())
        })
    }
}

/// Keeps PostgreSQL's statistics up to date until it is stopped. Statistics follow the system's
/// time, not that of the mail.
pub(crate) async fn keep_statistics(app: &App, stopping: &CancellationToken) {
    while app.store.is_shared() && !stopping.is_cancelled() {
        tokio::select! {
            () = tokio::time::sleep(STATISTICS_EVERY) => {}
            () = stopping.cancelled() => return,
        }
        match analyse_grown_tables(app).await {
            Ok(tables) if tables.is_empty() => {}
            Ok(tables) => tracing::info!(?tables, "analysed tables that grew"),
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::warn!(%error, "tables that grew could not be analysed"),
        }
    }
}

/// Runs ANALYZE on the PostgreSQL tables that grew since the last one; returns their names.
pub(crate) async fn analyse_grown_tables(app: &App) -> Result<Vec<String>> {
    let tables: Vec<(String,)> = app.store.read(grown_tables).await?;
    for (table,) in &tables {
        // Another process may be running it.
        let analyse = format!("ANALYZE (SKIP_LOCKED) \"{table}\"");
        let analysed = app.store.write_relaxed(move |tx| Ok::<_, Error>(tx.exec(&analyse, &[])?));
        analysed.await?;
    }
    Ok(tables.into_iter().map(|(table,)| table).collect())
}

fn grown_tables(tx: &mut Tx<'_>) -> Result<Vec<(String,)>> {
    if tx.pick(true, false) {
        return Ok(Vec::new());
    }
    Ok(tx.all(
        "SELECT CAST(s.relname AS TEXT)
         FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
         WHERE s.schemaname = current_schema() AND s.n_mod_since_analyze > 0
           AND (coalesce(s.last_analyze, s.last_autoanalyze) IS NULL
                OR s.n_mod_since_analyze >= ?1 + greatest(CAST(c.reltuples AS BIGINT), 0))
         ORDER BY s.relname",
        &[&CHANGED_ROWS],
    )?)
}

/// False when nothing was due.
fn merge(tx: &mut Tx<'_>, now: i64) -> Result<bool> {
    let due: Option<(String, i64)> =
        tx.opt("SELECT name, gathered_at FROM index_maintenance WHERE due_at <= ?1", &[&now])?;
    let Some((name, gathered_at)) = due else { return Ok(false) };
    let (pause, gathered_at) = if search::merge_some(tx)? {
        (PAUSE_BETWEEN_MERGES_MS, gathered_at)
    } else if now - gathered_at >= REST_MS && search::merge_scattered(tx)? {
        (PAUSE_BETWEEN_MERGES_MS, now)
    } else {
        (REST_MS, gathered_at)
    };
    tx.exec(
        "UPDATE index_maintenance SET due_at = ?2, gathered_at = ?3 WHERE name = ?1",
        &[&name, &(now + pause), &gathered_at],
    )?;
    Ok(true)
}
