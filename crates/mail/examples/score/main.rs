//! Scores what Mailroom makes of real mail, over a folder of corpora; `mailroom helpers score` has what
//! the helpers make of it:
//!
//!     cargo run --release -p mailroom-mail --example score -- CORPORA [--misses] [--scams] [--half N]
//!
//! `--misses` also shows what each missed case came out as. `--scams` scores the scam check alone,
//! `--half 0` or `--half 1` one half of its mails. A set that is not in the folder is
//! said to be absent. The exit code is 1 when a score is below its mark.

mod corpus;
mod kinds;
mod reading;
mod report;
mod robustness;
mod scams;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Report;

fn main() -> ExitCode {
    let mut folder = None;
    let mut report = Report::default();
    let mut scams_only = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--misses" => report.show_misses = true,
            "--scams" => scams_only = true,
            "--half" => report.scored_half = arguments.next().and_then(|half| half.parse().ok()),
            "--help" | "-h" => {
                println!("usage: score CORPORA [--misses] [--scams] [--half N]");
                return ExitCode::SUCCESS;
            }
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!(
            "usage: score CORPORA [--misses] [--scams] [--half N]: the folder of corpora is missing"
        );
        return ExitCode::from(2);
    };
    if scams_only {
        scams::score(&folder, &mut report);
        return report.finish();
    }
    reading::score(&folder, &mut report);
    kinds::score(&folder, &mut report);
    scams::score(&folder, &mut report);
    robustness::score(&folder, &mut report);
    report.finish()
}
