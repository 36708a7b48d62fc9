//! Scores what Mailroom makes of real mail, over a folder of corpora:
//!
//!     cargo run --release -p mailroom-mail --example score -- CORPORA [--misses]
//!
//! `--misses` also shows what each missed case came out as. A set that is not in the folder is
//! said to be absent. The exit code is 1 when a score is below its mark.

mod corpus;
mod kinds;
mod reading;
mod report;
mod robustness;
mod scams;
mod trimming;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Report;

fn main() -> ExitCode {
    let mut folder = None;
    let mut report = Report::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--misses" => report.show_misses = true,
            "--help" | "-h" => {
                println!("usage: score CORPORA [--misses]");
                return ExitCode::SUCCESS;
            }
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!("usage: score CORPORA [--misses]: the folder of corpora is missing");
        return ExitCode::from(2);
    };
    reading::score(&folder, &mut report);
    trimming::score(&folder, &mut report);
    kinds::score(&folder, &mut report);
    scams::score(&folder, &mut report);
    robustness::score(&folder, &mut report);
    report.finish()
}
