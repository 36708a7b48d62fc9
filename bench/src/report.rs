//! What was measured, as JSON lines while it happens and as tables in the end.

use serde_json::{Value, json};

use crate::database::DatabaseKind;
use crate::fill::seed::Seeded;
use crate::measure::Throughput;

/// One line of a table.
pub struct FigureRow {
    pub figure: &'static str,
    pub clients: usize,
    pub pace: Throughput,
    /// Processor time of the server's process for each request; PostgreSQL's own is not in it.
    pub processor_us: f64,
}

/// A database of one size and what was measured on it.
pub struct Section {
    pub database: DatabaseKind,
    pub seeded: Seeded,
    pub first_answer_ms: f64,
    pub idle_mb: f64,
    pub loaded_mb: f64,
    pub rows: Vec<FigureRow>,
}

impl Section {
    pub fn add(&mut self, row: FigureRow) {
        let mut line = self.line(row.figure);
        line["clients"] = json!(row.clients);
        line["rps"] = round(row.pace.per_second);
        line["p50_us"] = round(row.pace.p50_us);
        line["p99_us"] = round(row.pace.p99_us);
        line["server_cpu_us"] = round(row.processor_us);
        println!("{line}");
        self.rows.push(row);
    }

    pub fn tell(&self, figure: &str, unit: &str, value: f64) {
        let mut line = self.line(figure);
        line[unit] = round(value);
        println!("{line}");
    }

    pub fn per_second(&self, figure: &str, clients: usize) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.figure == figure && row.clients == clients);
        row.map(|row| row.pace.per_second)
    }

    pub fn bytes_per_message(&self) -> f64 {
        self.seeded.bytes as f64 / self.seeded.messages as f64
    }

    fn line(&self, figure: &str) -> Value {
        json!({ "figure": figure, "db": self.database.name(), "messages": self.seeded.messages })
    }

    fn print(&self) {
        let Seeded { messages, conversations, seconds, .. } = self.seeded;
        println!(
            "\n{}, {messages} messages in {conversations} conversations\n\
             filled in {seconds:.1} s ({:.0} messages a second), {:.0} bytes a message on disk\n\
             first answer after {:.0} ms, memory {:.0} MB idle, {:.0} MB after the load\n",
            self.database.name(),
            messages as f64 / seconds,
            self.bytes_per_message(),
            self.first_answer_ms,
            self.idle_mb,
            self.loaded_mb,
        );
        println!(
            "{:<20}{:>8}{:>14}{:>12}{:>12}{:>16}",
            "", "clients", "requests/s", "p50 ms", "p99 ms", "server CPU µs"
        );
        for row in &self.rows {
            println!(
                "{:<20}{:>8}{:>14.0}{:>12.3}{:>12.3}{:>16.0}",
                row.figure,
                row.clients,
                row.pace.per_second,
                row.pace.p50_us / 1_000.0,
                row.pace.p99_us / 1_000.0,
                row.processor_us,
            );
        }
    }
}

/// What a goal asks of a value.
#[derive(Clone, Copy)]
pub enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

/// A goal and how it went.
pub struct Goal {
    pub what: String,
    pub value: f64,
    pub wanted: Wanted,
}

impl Goal {
    pub fn is_met(&self) -> bool {
        match self.wanted {
            Wanted::AtLeast(least) => self.value >= least,
            Wanted::AtMost(most) => self.value <= most,
        }
    }

    fn print(&self) {
        let (word, bound) = match self.wanted {
            Wanted::AtLeast(least) => ("at least", least),
            Wanted::AtMost(most) => ("at most", most),
        };
        let outcome = if self.is_met() { "met" } else { "MISSED" };
        println!("{outcome:<8}{:<66}{:>10.2}   {word} {bound:.2}", self.what, self.value);
    }

    pub fn print_json(&self) {
        let (word, bound) = match self.wanted {
            Wanted::AtLeast(least) => ("at_least", least),
            Wanted::AtMost(most) => ("at_most", most),
        };
        let value = (self.value * 1_000.0).round() / 1_000.0;
        println!(
            "{}",
            json!({ "goal": self.what, "value": value, word: bound, "met": self.is_met() })
        );
    }
}

/// Prints everything; true when every goal is met.
pub fn print(sections: &[Section], goals: &[Goal]) -> bool {
    goals.iter().for_each(Goal::print_json);
    sections.iter().for_each(Section::print);
    print_goals(goals)
}

/// Prints how the goals stand; true when every one is met.
pub fn print_goals(goals: &[Goal]) -> bool {
    println!();
    goals.iter().for_each(Goal::print);
    goals.iter().all(Goal::is_met)
}

pub fn round(value: f64) -> Value {
    json!((value * 10.0).round() / 10.0)
}
