//! The scheduled backup of an installation: what is set, when the next is due, and how the last went.

use base::actor::{Actor, Circle};
use base::app::App;
use base::error::Result;
use base::ids::WorkspaceId;
use db::{Arg, Tx};

use crate::people::notices::{self, Notice};

db::row! {
    /// The single row.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ScheduledBackups from "scheduled_backups" {
        /// Where they go; `None` while none are set.
        pub place: Option<String>,
        pub timing: Option<String>,
        pub keeps: Option<String>,
        pub next_at: Option<i64>,
        pub leased_until: Option<i64>,
        pub succeeded_at: Option<i64>,
        /// The name of the last one.
        pub backup: Option<String>,
        pub failed_at: Option<i64>,
        /// Why; for the operator alone, because it may name places of the machine. Of a backup that was
        /// written: what it lacks, with the number of files first.
        pub failure: Option<String>,
        /// How many failed since the last success.
        pub failures: i64,
    }
}

/// What is set, as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupPlan {
    pub place: String,
    pub timing: String,
    pub keeps: String,
}

/// Files that a backup lacks because they are damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LackingFiles {
    pub count: u64,
    /// The first of them, with the ids of who uses them.
    pub named: String,
}

impl ScheduledBackups {
    /// How many damaged files the last backup lacks.
    pub fn damaged_files(&self) -> u64 {
        let lacks = self.failure.as_deref().filter(|_| self.failures == 0);
        let count = lacks.and_then(|lacks| lacks.split(' ').next());
        count.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// What is wrong with the last one, without names of places.
    pub fn problem(&self) -> Option<&'static str> {
        self.place.as_ref()?;
        match (self.failures, self.damaged_files()) {
            (1.., _) => Some("the last scheduled backup failed"),
            (_, 1..) => Some("the last scheduled backup lacks files that are damaged"),
            _ => None,
        }
    }
}

pub fn scheduled_backups(tx: &mut Tx<'_>) -> Result<ScheduledBackups> {
    let sql = format!("SELECT {} FROM scheduled_backups", ScheduledBackups::COLUMNS);
    Ok(tx.one(&sql, &[])?)
}

impl ScheduledBackups {
    /// For how long one has been due that is not written yet, in milliseconds; 0 while none is.
    pub fn overdue_ms(&self, now: i64) -> i64 {
        match (&self.place, self.next_at) {
            (Some(_), Some(next_at)) => (now - next_at).max(0),
            _ => 0,
        }
    }
}

/// Writes down what a server was started with. Another timing makes the next one due at `next_at`.
pub fn set_plan(tx: &mut Tx<'_>, plan: Option<&BackupPlan>, next_at: Option<i64>) -> Result<()> {
    let known = scheduled_backups(tx)?;
    let timing = plan.map(|plan| plan.timing.clone());
    let is_same = known.timing == timing && known.place.is_some() == plan.is_some();
    let next_at = if is_same { known.next_at } else { next_at };
    let args: [&dyn Arg; 4] = [
        &plan.map(|plan| plan.place.clone()),
        &timing,
        &plan.map(|plan| plan.keeps.clone()),
        &next_at,
    ];
    tx.exec(
        "UPDATE scheduled_backups SET place = ?1, timing = ?2, keeps = ?3, next_at = ?4",
        &args,
    )?;
    Ok(())
}

/// Takes the due backup for one node, until the lease ends; false where none is due or another has it.
pub fn claim(tx: &mut Tx<'_>, now: i64, leased_until: i64) -> Result<bool> {
    let claimed = tx.exec(
        "UPDATE scheduled_backups SET leased_until = ?2
         WHERE place IS NOT NULL AND next_at <= ?1
           AND (leased_until IS NULL OR leased_until <= ?1)",
        &[&now, &leased_until],
    )?;
    Ok(claimed > 0)
}

/// Goes on holding it under one of the caller's own leases; false where it has none any more.
pub fn renew(tx: &mut Tx<'_>, own: [i64; 2], leased_until: i64) -> Result<bool> {
    let renewed = tx.exec(
        "UPDATE scheduled_backups SET leased_until = ?3
         WHERE leased_until = ?1 OR leased_until = ?2",
        &[&own[0], &own[1], &leased_until],
    )?;
    Ok(renewed > 0)
}

/// Records that a backup was written, and what it lacks. The owners are told once of damage.
pub fn succeed(
    tx: &mut Tx<'_>,
    app: &App,
    backup: &str,
    lacking: Option<&LackingFiles>,
    next_at: i64,
) -> Result<()> {
    let before = scheduled_backups(tx)?;
    let lacks = lacking.map(|files| {
        let are = if files.count == 1 { "file is" } else { "files are" };
        format!("{} {are} damaged and not in it: {}", files.count, files.named)
    });
    tx.exec(
        "UPDATE scheduled_backups
         SET leased_until = NULL, succeeded_at = ?2, backup = ?1, next_at = ?3, failures = 0,
             failure = ?4",
        &[&backup, &app.clock.now(), &next_at, &lacks],
    )?;
    if lacking.is_some() && before.damaged_files() == 0 {
        let text = "The scheduled backup of Mailroom was written, but some files of mails are damaged or \
                    missing on the server and are not in it. You are told nothing more while that is so.\n\n\
                    Whoever runs the server sees which with `mailroom self-check`.";
        notify_owners(tx, app, &Notice { subject: "Files of mails are damaged", text })?;
    }
    Ok(())
}

/// Records that one failed. The owners of every workspace are told once, until one succeeds.
pub fn fail(tx: &mut Tx<'_>, app: &App, why: &str, next_at: i64) -> Result<()> {
    let now = app.clock.now();
    let before = scheduled_backups(tx)?;
    tx.exec(
        "UPDATE scheduled_backups
         SET leased_until = NULL, failed_at = ?2, failure = ?1, next_at = ?3,
             failures = failures + 1",
        &[&why, &now, &next_at],
    )?;
    if before.failures > 0 {
        return Ok(());
    }
    let text = "The scheduled backup of Mailroom failed. It is tried again every hour, and you are told nothing \
                more until one succeeded and another fails.\n\nWhoever runs the server sees why with \
                `mailroom self-check`.";
    notify_owners(tx, app, &Notice { subject: "The scheduled backup failed", text })
}

fn notify_owners(tx: &mut Tx<'_>, app: &App, notice: &Notice<'_>) -> Result<()> {
    let workspaces: Vec<(i64, WorkspaceId)> =
        tx.all("SELECT ws, id FROM workspaces ORDER BY ws", &[])?;
    for (ws, id) in workspaces {
        let operator = Actor::system(ws, id, Circle::team());
        notices::notify_responsible(tx, &app.cx(&operator), &Circle::team(), notice)?;
    }
    Ok(())
}
