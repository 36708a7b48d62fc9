//! Where the jobs of a queue are, and the statements that follow from it.

use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use db::Tx;

use crate::runs::failures::{JobReport, JobRevival, JobRule};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// The statements of a queue whose rows are due when a column says so. Those that change a row name
/// the workspace and the key's parts last.
#[derive(Clone, Copy)]
pub(crate) struct JobRows {
    /// The keys of due rows: `?1` is now, `?2` how many at the most.
    pub due: &'static str,
    /// When the first row is due.
    pub earliest: &'static str,
    /// Moves a row's due time to `?1`: the end of a lease, or the next attempt.
    pub move_to: &'static str,
    /// The same, unless it waits no more.
    pub move_if_due: &'static str,
    /// Takes a row out of the queue.
    pub clear: &'static str,
    pub delete: &'static str,
}

impl JobRows {
    /// The rule of jobs that stay where they are when they are given up, and are due no more.
    pub const fn clearing(self, queue: Queue, report: JobReport) -> JobRule {
        self.rule(queue, self.clear, report)
    }

    /// The rule of jobs that are deleted when they are given up.
    pub const fn deleting(self, queue: Queue, report: JobReport) -> JobRule {
        self.rule(queue, self.delete, report)
    }

    const fn rule(self, queue: Queue, abandon: &'static str, report: JobReport) -> JobRule {
        let revival = JobRevival::Retry;
        JobRule { queue, retry_at: Some(self.move_to), abandon, revival, report }
    }
}

/// [`JobRows`] of a table, the column with the due time, and the key after `ws`. Rows of suspended workspaces
/// rest; `outward` rows rest for quiet ones too, and those that are `always` worked on never do.
macro_rules! job_rows {
    (outward $($of:literal),+) => {
        $crate::runs::job_rows::job_rows!(@key concat!(" AND ", base::unless_resting!()), $($of),+)
    };
    (always $($of:literal),+) => {
        $crate::runs::job_rows::job_rows!(@key "", $($of),+)
    };
    ($table:literal, $($of:literal),+) => {
        $crate::runs::job_rows::job_rows!(
            @key concat!(" AND ", base::unless_suspended!()), $table, $($of),+
        )
    };
    (@key $works:expr, $table:literal, $column:literal, $key:literal) => {
        $crate::runs::job_rows::job_rows!(
            @of $works,
            $table,
            $column,
            $key,
            concat!("ws = ?1 AND ", $key, " = ?2"),
            concat!("ws = ?2 AND ", $key, " = ?3")
        )
    };
    (@key $works:expr, $table:literal, $column:literal, $first:literal, $second:literal) => {
        $crate::runs::job_rows::job_rows!(
            @of $works,
            $table,
            $column,
            concat!($first, ", ", $second),
            concat!("ws = ?1 AND ", $first, " = ?2 AND ", $second, " = ?3"),
            concat!("ws = ?2 AND ", $first, " = ?3 AND ", $second, " = ?4")
        )
    };
    (
        @of $works:expr, $table:literal, $column:literal, $key:expr, $row:expr, $moved_row:expr
    ) => {
        $crate::runs::job_rows::JobRows {
            due: concat!(
                "SELECT ws, ", $key, " FROM ", $table, " WHERE ", $column, " <= ?1", $works,
                " ORDER BY ", $column, " LIMIT ?2"
            ),
            earliest: concat!(
                "SELECT (SELECT ", $column, " FROM ", $table, " WHERE ", $column, " IS NOT NULL",
                $works, " ORDER BY ", $column, " LIMIT 1)"
            ),
            move_to: concat!("UPDATE ", $table, " SET ", $column, " = ?1 WHERE ", $moved_row),
            move_if_due: concat!(
                "UPDATE ", $table, " SET ", $column, " = ?1 WHERE ", $moved_row, " AND ", $column,
                " IS NOT NULL"
            ),
            clear: concat!("UPDATE ", $table, " SET ", $column, " = NULL WHERE ", $row),
            delete: concat!("DELETE FROM ", $table, " WHERE ", $row),
        }
    };
}

pub(crate) use job_rows;

/// A job whose due rows each run in a transaction of their own, or a few together.
pub(crate) struct RowJob {
    pub rule: JobRule,
    pub rows: JobRows,
    /// Rows looked at in one round.
    pub at_once: i64,
    /// Rows of one transaction on PostgreSQL, where each needs round trips. SQLite groups those of several.
    pub together: usize,
    /// True when it sends to the outside.
    pub is_outward: bool,
    /// Returns false when the row is no longer due, or was claimed by another process.
    pub run: fn(&mut Tx<'_>, &App, &DueJob) -> Result<bool>,
}

/// A [`RowJob`] of a worker.
pub(crate) struct RunRows {
    pub runtime: JobRuntime,
    pub job: &'static RowJob,
}

impl BackgroundJob for RunRows {
    fn queue(&self) -> Queue {
        self.job.rule.queue
    }

    fn earliest(&self) -> &'static str {
        self.job.rows.earliest
    }

    fn is_outward(&self) -> bool {
        self.job.is_outward
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let RowJob { rule, rows, at_once, together, run, .. } = self.job;
            let runtime = &self.runtime;
            let due = runtime.due_rows::<(i64, String)>(rows.due, *at_once).await?;
            let done = match *together > 1 && runtime.app.store.is_shared() {
                true => runtime.run_together(rule, due, *together, *run).await,
                false => runtime.run_each(rule, due, *run).await,
            };
            Ok(done.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statements_of_a_queue_follow_from_its_table_column_and_key() {
        let rows: JobRows = job_rows!(always "uploads", "due_at", "request", "id");
        assert_eq!(
            rows.due,
            "SELECT ws, request, id FROM uploads WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2"
        );
        assert_eq!(
            rows.earliest,
            "SELECT (SELECT due_at FROM uploads WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1)"
        );
        assert_eq!(
            rows.move_if_due,
            "UPDATE uploads SET due_at = ?1 WHERE ws = ?2 AND request = ?3 AND id = ?4 AND due_at \
             IS NOT NULL"
        );
        assert_eq!(
            rows.clear,
            "UPDATE uploads SET due_at = NULL WHERE ws = ?1 AND request = ?2 AND id = ?3"
        );
        let rows: JobRows = job_rows!("notices", "due_at", "id");
        assert_eq!(rows.move_to, "UPDATE notices SET due_at = ?1 WHERE ws = ?2 AND id = ?3");
        assert_eq!(rows.delete, "DELETE FROM notices WHERE ws = ?1 AND id = ?2");
    }

    #[test]
    fn the_rows_of_workspaces_that_rest_are_not_due() {
        let inward: JobRows = job_rows!("notices", "due_at", "id");
        let outward: JobRows = job_rows!(outward "notices", "due_at", "id");
        for (rows, rest) in
            [(inward, base::unless_suspended!()), (outward, base::unless_resting!())]
        {
            for statement in [rows.due, rows.earliest] {
                assert!(statement.contains(&format!(" AND {rest} ORDER BY due_at")), "{statement}");
            }
        }
    }
}
