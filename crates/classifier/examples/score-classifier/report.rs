//! Prints scores, and whether every goal was reached.

use std::process::ExitCode;

/// What is printed, and whether every mark was reached.
#[derive(Default)]
pub struct Report {
    pub show_misses: bool,
    below: Vec<String>,
}

impl Report {
    pub fn heading(&self, text: &str) {
        println!("\n{text}");
    }

    /// A figure that must be at least `mark`.
    pub fn at_least(&mut self, name: &str, figure: f64, mark: f64) {
        let reached = figure >= mark;
        let sign = if reached { "✓" } else { "✗" };
        println!("  {sign} {name:<56} {figure:>7.3}  (mark: at least {mark})");
        self.note(reached, name);
    }

    /// A time that must be below `mark`, in milliseconds.
    pub fn faster(&mut self, name: &str, milliseconds: f64, mark: f64) {
        let reached = milliseconds < mark;
        let sign = if reached { "✓" } else { "✗" };
        println!("  {sign} {name:<56} {milliseconds:>7.2} ms  (mark: below {mark} ms)");
        self.note(reached, name);
    }

    pub fn figure(&self, name: &str, text: &str) {
        println!("    {name:<56} {text}");
    }

    pub fn absent(&self, name: &str) {
        println!("    {name:<56} absent");
    }

    pub fn miss(&self, text: &str) {
        if self.show_misses {
            println!("      miss: {text}");
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

    fn note(&mut self, reached: bool, name: &str) {
        if !reached {
            self.below.push(name.to_owned());
        }
    }
}
