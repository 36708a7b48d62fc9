//! How much is in the queues, and for how long: the figures of the metrics.

use base::error::Result;
use base::unless_resting;
use db::Tx;

/// Rows of a queue that are counted; there may be more.
const COUNTED: i64 = 10_000;

/// One queue in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFigures {
    pub queue: &'static str,
    /// Counted up to ten thousand.
    pub depth: i64,
    /// How long the oldest is overdue, held or given up; 0 where nothing is. What rests with its workspace is not
    /// overdue.
    pub oldest_ms: i64,
}

/// The rows of each queue, and the column that tells for how long.
const QUEUES: &[(&str, &str, &str)] = &[
    ("messages", "messages WHERE sends_at IS NOT NULL", "sends_at"),
    ("messages held", "messages WHERE held_at IS NOT NULL", "held_at"),
    ("webhooks", "deliveries WHERE next_attempt_at IS NOT NULL", "next_attempt_at"),
    ("webhooks held", "deliveries WHERE held_at IS NOT NULL", "held_at"),
    ("notices", "notices", "due_at"),
    ("push messages", "push_messages", "due_at"),
    ("documents", "documents WHERE extract_at IS NOT NULL", "extract_at"),
    (
        "jobs given up",
        "job_failures WHERE next_attempt_at IS NULL AND queue NOT IN ('messages', 'deliveries')",
        "failed_at",
    ),
];

pub fn queue_figures(tx: &mut Tx<'_>, now: i64) -> Result<Vec<QueueFigures>> {
    let mut figures = Vec::new();
    for (queue, rows, since) in QUEUES {
        let (depth,): (i64,) = tx.one(
            &format!("SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT ?1) AS counted"),
            &[&COUNTED],
        )?;
        let and = if rows.contains(" WHERE ") { "AND" } else { "WHERE" };
        let oldest = format!(
            "SELECT (SELECT {since} FROM {rows} {and} {} ORDER BY {since} LIMIT 1)",
            unless_resting!()
        );
        let (oldest,): (Option<i64>,) = tx.one(&oldest, &[])?;
        let oldest_ms = oldest.map_or(0, |oldest| (now - oldest).max(0));
        figures.push(QueueFigures { queue, depth, oldest_ms });
    }
    Ok(figures)
}
