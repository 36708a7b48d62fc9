//! Deletes events and what agents did past their retention, and sign-ins and forms that nobody came back to in time.

use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::limits::{AGENT_ACTS_KEPT_MS, AGENT_CALLS_KEPT_MS, EVENTS_KEPT_MS};
use base::unless_suspended;
use db::Tx;
use model::conversations::agent_acts;
use model::people::agent_calls;

use crate::runs::failures::{JobRevival, JobRule, notify_owners};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Deletion starts when the oldest event is an hour past its retention of 30 days, so that many are
/// deleted at a time. One that could not be deleted is retried with others. A step of a sign-in goes as
/// soon as it has expired. Events of suspended workspaces stay, because their deliveries rest.
const EARLIEST: &str = concat!(
    "SELECT min(due_at) FROM (
        SELECT (
            SELECT e.created_at FROM events e
            WHERE NOT EXISTS (
                SELECT 1 FROM job_failures f
                WHERE f.ws = e.ws AND f.queue = 'retention' AND f.job = e.id
            ) AND e.",
    unless_suspended!(),
    " ORDER BY e.created_at LIMIT 1
        ) + 2595600000 AS due_at
        UNION ALL SELECT min(expires_at) FROM sign_in_steps
        UNION ALL SELECT min(at) + 2595600000 FROM agent_acts
        UNION ALL SELECT min(at) + 7779600000 FROM agent_calls
    ) AS due"
);
/// Events deleted in one transaction.
const AT_ONCE: i64 = 500;

/// An event has no due time that could be moved; `job_failures` holds the time of the retry.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::EventRetention,
    retry_at: None,
    abandon: "UPDATE job_failures SET next_attempt_at = NULL
           WHERE ws = ?1 AND queue = 'retention' AND job = ?2",
    revival: JobRevival::Forget,
    report: notify_owners,
};

/// Deletes old events together, and where that fails one by one.
pub(crate) struct ExpireEvents {
    pub runtime: JobRuntime,
}

impl BackgroundJob for ExpireEvents {
    fn queue(&self) -> Queue {
        Queue::EventRetention
    }

    fn earliest(&self) -> &'static str {
        EARLIEST
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let events = self.delete_old_events().await?;
            let app = &self.runtime.app;
            let steps = delete_old_steps(app).await?;
            Ok((events + steps + delete_old_acts(app).await?).into())
        })
    }
}

impl ExpireEvents {
    /// Deletes events older than 30 days, with their deliveries and attempts; returns how many.
    async fn delete_old_events(&self) -> Result<usize> {
        let app = &self.runtime.app;
        let now = app.clock.now();
        let old = app.store.read(move |tx| old_events(tx, now)).await?;
        if old.is_empty() {
            return Ok(0);
        }
        let (all, count) = (old.clone(), old.len());
        let delete_all = move |tx: &mut Tx<'_>| all.iter().try_for_each(|event| delete(tx, event));
        match app.store.write(delete_all).await {
            Ok(()) => Ok(count),
            Err(_) => {
                let one = |tx: &mut Tx<'_>, _: &_, job: &DueJob| delete(tx, job).map(|()| true);
                Ok(self.runtime.run_each(&RULE, old, one).await)
            }
        }
    }
}

fn old_events(tx: &mut Tx<'_>, now: i64) -> Result<Vec<DueJob>> {
    let old: Vec<(i64, String)> = tx.all(
        concat!(
            "SELECT e.ws, e.id FROM events e
         WHERE e.created_at < ?1 AND NOT EXISTS (
             SELECT 1 FROM job_failures f
             WHERE f.ws = e.ws AND f.queue = 'retention' AND f.job = e.id
               AND (f.next_attempt_at IS NULL OR f.next_attempt_at > ?2)
         ) AND e.",
            unless_suspended!(),
            " ORDER BY e.created_at LIMIT ?3"
        ),
        &[&(now - EVENTS_KEPT_MS), &now, &AT_ONCE],
    )?;
    Ok(old.into_iter().map(DueJob::from).collect())
}

fn delete(tx: &mut Tx<'_>, event: &DueJob) -> Result<()> {
    let (ws, event) = (event.ws, &event.key[0]);
    let webhooks: Vec<(String,)> = tx.all("SELECT id FROM webhooks WHERE ws = ?1", &[&ws])?;
    for (webhook,) in &webhooks {
        for table in ["delivery_attempts", "deliveries"] {
            tx.exec(
                &format!("DELETE FROM {table} WHERE ws = ?1 AND webhook = ?2 AND event = ?3"),
                &[&ws, webhook, event],
            )?;
        }
    }
    tx.exec("DELETE FROM events WHERE ws = ?1 AND id = ?2", &[&ws, event])?;
    Ok::<_, Error>(())
}

/// Deletes the steps of sign-ins that have expired, among them forms of people who were signed out;
/// returns how many.
async fn delete_old_steps(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let find = move |tx: &mut Tx<'_>| -> Result<Option<(i64,)>> {
        Ok(tx.opt("SELECT ws FROM sign_in_steps WHERE expires_at <= ?1 LIMIT 1", &[&now])?)
    };
    // A round that finds none does not hold up writers.
    if app.store.read(find).await?.is_none() {
        return Ok(0);
    }
    let delete = move |tx: &mut Tx<'_>| -> Result<usize> {
        Ok(tx.exec("DELETE FROM sign_in_steps WHERE expires_at <= ?1", &[&now])? as usize)
    };
    app.store.write(delete).await
}

/// Deletes what agents did and called once it is past its retention; returns how many rows.
async fn delete_old_acts(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let find = move |tx: &mut Tx<'_>| -> Result<bool> {
        let acts: Option<(i64,)> = tx.opt(
            "SELECT at FROM agent_acts WHERE at < ?1 ORDER BY at LIMIT 1",
            &[&(now - AGENT_ACTS_KEPT_MS)],
        )?;
        let calls: Option<(i64,)> = tx.opt(
            "SELECT at FROM agent_calls WHERE at < ?1 ORDER BY at LIMIT 1",
            &[&(now - AGENT_CALLS_KEPT_MS)],
        )?;
        Ok(acts.is_some() || calls.is_some())
    };
    if !app.store.read(find).await? {
        return Ok(0);
    }
    let delete = move |tx: &mut Tx<'_>| -> Result<usize> {
        let acts = agent_acts::forget_old(tx, now, AT_ONCE)?;
        Ok((acts + agent_calls::forget_old(tx, now, AT_ONCE)?) as usize)
    };
    app.store.write(delete).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::limits::MINUTE_MS;

    #[test]
    fn old_events_are_looked_for_when_there_are_some_to_forget() {
        let after = EVENTS_KEPT_MS + 60 * MINUTE_MS;
        assert!(EARLIEST.contains(&format!("+ {after} AS")), "{EARLIEST}");
        let hour = 60 * MINUTE_MS;
        for (kept, table) in
            [(AGENT_ACTS_KEPT_MS, "agent_acts"), (AGENT_CALLS_KEPT_MS, "agent_calls")]
        {
            let after = format!("+ {} FROM {table}", kept + hour);
            assert!(EARLIEST.contains(&after), "{EARLIEST}");
        }
    }
}
