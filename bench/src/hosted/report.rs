//! What was measured of a hosted service, as JSON lines, a table and goals.

use std::time::Duration;

use serde_json::json;

use super::fill::HostedFill;
use crate::database::DatabaseKind;
use crate::report::{Goal, Wanted, round};

/// Nobody's message leaves later than this after it was due, in seconds.
const LATEST_SECONDS: f64 = 1.0;

/// Times in milliseconds: half of them, 99 of 100, and all are no longer than this.
#[derive(Clone, Copy, Default)]
pub struct TimeSpread {
    p50: f64,
    p99: f64,
    max: f64,
}

impl TimeSpread {
    pub fn of(mut times: Vec<f64>) -> TimeSpread {
        times.sort_by(f64::total_cmp);
        let Some(max) = times.last().copied() else { return TimeSpread::default() };
        let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
        TimeSpread { p50: at(0.5), p99: at(0.99), max }
    }
}

/// The server before anybody kept it busy.
pub struct HostedServer {
    pub first_answer: Duration,
    pub idle_mb: f64,
    /// Workspaces whose list was answered, the time that all took, and the memory afterwards.
    pub served: usize,
    pub served_in: Duration,
    pub served_mb: f64,
}

/// What became of the messages of small workspaces beside a neighbour.
pub struct PhaseOutcome {
    pub beside: &'static str,
    pub sends: usize,
    pub unsent: usize,
    /// After they were due.
    pub late: TimeSpread,
    pub lists: TimeSpread,
    /// From a message's leaving to the arrival of its event.
    pub webhooks: TimeSpread,
    /// What the neighbours did meanwhile.
    pub imported: i64,
    pub received: u64,
    pub backlog_sent: usize,
    pub memory_mb: f64,
}

pub fn tell_fill(kind: DatabaseKind, filled: &HostedFill, bytes: u64) {
    let sizes: Vec<usize> = filled.workspaces.iter().map(|one| one.messages).collect();
    let (workspaces, messages) = (sizes.len(), sizes.iter().sum::<usize>());
    let line = json!({
        "figure": "hosted-fill", "db": kind.name(), "workspaces": workspaces,
        "messages": messages, "largest": sizes[0], "median": sizes[workspaces / 2],
        "smallest": sizes[workspaces - 1], "seconds": round(filled.seconds), "bytes": bytes,
        "bytes_per_workspace": round(bytes as f64 / workspaces as f64),
        "bytes_of_empty_workspace": filled.bytes_when_empty,
        "bytes_per_message": round(bytes as f64 / messages as f64),
    });
    println!("{line}");
}

impl HostedServer {
    pub fn tell(&self, kind: DatabaseKind, workspaces: usize) {
        let line = json!({
            "figure": "hosted-server", "db": kind.name(), "workspaces": workspaces,
            "first_answer_ms": round(self.first_answer.as_secs_f64() * 1e3),
            "served": self.served,
            "lists_per_second": round(self.served as f64 / self.served_in.as_secs_f64()),
            "memory_idle_mb": round(self.idle_mb), "memory_served_mb": round(self.served_mb),
            "memory_kb_per_workspace":
                round((self.served_mb - self.idle_mb) * 1e3 / workspaces as f64),
        });
        println!("{line}");
    }

    pub fn goal(&self, kind: DatabaseKind, workspaces: usize) -> Goal {
        Goal {
            what: format!("workspaces served ({})", kind.name()),
            value: self.served as f64,
            wanted: Wanted::AtLeast(workspaces as f64),
        }
    }
}

impl PhaseOutcome {
    /// `alone` is the first of the outcomes, if this is another.
    pub fn tell(&self, kind: DatabaseKind, workspaces: usize, alone: Option<&PhaseOutcome>) {
        let ratio = self.lists.p99 / alone.unwrap_or(self).lists.p99;
        let line = json!({
            "figure": "hosted", "db": kind.name(), "workspaces": workspaces,
            "beside": self.beside, "sends": self.sends, "unsent": self.unsent,
            "late_p50_ms": round(self.late.p50), "late_p99_ms": round(self.late.p99),
            "late_max_ms": round(self.late.max), "list_p50_ms": round(self.lists.p50),
            "list_p99_ms": round(self.lists.p99), "list_max_ms": round(self.lists.max),
            "list_p99_times_alone": round(ratio), "webhook_p50_ms": round(self.webhooks.p50),
            "webhook_p99_ms": round(self.webhooks.p99),
            "webhook_max_ms": round(self.webhooks.max), "imported": self.imported,
            "received": self.received, "backlog_sent": self.backlog_sent,
            "memory_mb": round(self.memory_mb),
        });
        println!("{line}");
    }

    pub fn goals(&self, kind: DatabaseKind) -> Vec<Goal> {
        let goal = |what: &str, value, most| Goal {
            what: format!("{what}, beside {} ({})", self.beside, kind.name()),
            value,
            wanted: Wanted::AtMost(most),
        };
        vec![
            goal("sent after it was due, p99 s", self.late.p99 / 1e3, LATEST_SECONDS),
            goal("sent after it was due, latest s", self.late.max / 1e3, LATEST_SECONDS),
            goal("due and not sent", self.unsent as f64, 0.0),
        ]
    }

    fn line(&self) -> String {
        let PhaseOutcome { beside, late, lists, webhooks, .. } = self;
        let TimeSpread { p50, p99, max } = late;
        format!(
            "{beside:<20}{p50:>12.1}{p99:>12.1}{max:>12.1}{:>12.1}{:>12.1}{:>14.1}",
            lists.p50, lists.p99, webhooks.p99
        )
    }
}

pub fn print_table(kind: DatabaseKind, server: &HostedServer, outcomes: &[PhaseOutcome]) {
    println!(
        "\n{}, {} workspaces served\n\
         first answer after {:.0} ms, memory {:.0} MB idle, {:.0} MB after a list of each\n",
        kind.name(),
        server.served,
        server.first_answer.as_secs_f64() * 1e3,
        server.idle_mb,
        server.served_mb,
    );
    println!(
        "{:<20}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}",
        "beside, ms", "late p50", "late p99", "latest", "list p50", "list p99", "webhook p99"
    );
    outcomes.iter().for_each(|outcome| println!("{}", outcome.line()));
}

#[cfg(test)]
mod tests {
    use super::TimeSpread;

    #[test]
    fn the_latest_of_all_is_not_hidden_by_the_others() {
        let spread = TimeSpread::of((1..=1_000).rev().map(f64::from).collect());
        assert_eq!((spread.p50, spread.p99, spread.max), (501.0, 990.0, 1_000.0));
        assert_eq!(TimeSpread::of(Vec::new()).max, 0.0);
    }
}
