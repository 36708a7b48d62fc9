//! Scores sorting on labelled questions, over a folder of corpora with `topics` and `urgency`:
//!
//!     cargo run --release -p mailroom-classifier --example score-classifier -- CORPORA [--misses]
//!
//! `--misses` also shows the mails whose urgency came out wrong. A set that is not in the folder is
//! said to be absent. The exit code is 1 when a score is below its mark.

mod report;
mod rows;
mod topics;
mod urgencies;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Report;

fn main() -> ExitCode {
    let mut folder = None;
    let mut report = Report::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--misses" => report.show_misses = true,
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!("usage: score-classifier CORPORA [--misses]: the folder of corpora is missing");
        return ExitCode::from(2);
    };
    topics::score(&folder.join("topics"), &mut report);
    urgencies::score(&folder.join("urgency"), &mut report);
    report.finish()
}
