//! Prints scores, and whether every goal was reached.

use std::path::PathBuf;
use std::process::ExitCode;

/// What is printed, and whether every mark was reached.
#[derive(Default)]
pub struct Report {
    pub show_misses: bool,
    /// Which half of the scam corpora is scored; all of them without.
    pub scored_half: Option<u8>,
    below: Vec<String>,
}

impl Report {
    /// The files of the half that is scored. Rules are written with one half in view and judged by
    /// the other.
    pub fn half(&self, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        let Some(half) = self.scored_half else { return files };
        files.retain(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let sum = name
                .unwrap_or_default()
                .bytes()
                .fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
            ((sum >> 8) % 2) as u8 == half
        });
        files
    }

    pub fn heading(&self, text: &str) {
        println!("\n{text}");
    }

    /// One score line: `reached` of `all`, which must be at least `mark` (a share).
    pub fn share(&mut self, name: &str, reached: usize, all: usize, mark: f64) {
        let share = if all == 0 { 1.0 } else { reached as f64 / all as f64 };
        let ok = share >= mark;
        println!(
            "  {} {name:<44} {reached:>5} of {all:<5} {:>6.2} %  (mark: at least {:.1} %)",
            sign(ok),
            share * 100.0,
            mark * 100.0
        );
        self.note(ok, name);
    }

    /// One count that must not go above `most`.
    pub fn at_most(&mut self, name: &str, count: usize, all: usize, most: f64) {
        let share = if all == 0 { 0.0 } else { count as f64 / all as f64 };
        let ok = share <= most;
        println!(
            "  {} {name:<44} {count:>5} of {all:<5} {:>6.2} %  (mark: at most {:.1} %)",
            sign(ok),
            share * 100.0,
            most * 100.0
        );
        self.note(ok, name);
    }

    /// A figure without a mark.
    pub fn figure(&self, name: &str, text: &str) {
        println!("    {name:<44} {text}");
    }

    pub fn absent(&self, name: &str) {
        println!("    {name:<44} absent");
    }

    pub fn miss(&self, file: &str, what: &str) {
        if self.show_misses {
            println!("      miss: {file}");
            for line in what.lines() {
                println!("            {line}");
            }
        }
    }

    pub fn finish(self) -> ExitCode {
        if self.below.is_empty() {
            println!("\nEvery mark was reached.");
            return ExitCode::SUCCESS;
        }
        println!("\nBelow their marks: {}", self.below.join("; "));
        ExitCode::from(1)
    }

    fn note(&mut self, ok: bool, name: &str) {
        if !ok {
            self.below.push(name.to_owned());
        }
    }
}

fn sign(ok: bool) -> &'static str {
    if ok { "✓" } else { "✗" }
}
