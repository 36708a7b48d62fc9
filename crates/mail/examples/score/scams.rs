//! How much ham the scam check marks; how much spam, as a figure. Nothing is known of the senders
//! and nothing was authenticated, which is the hardest case.

use std::fs;
use std::path::{Path, PathBuf};

use mail::{Authentication, Envelope, SenderHistory, check, parse};

use crate::corpus;
use crate::report::Report;

/// The share of ham that may be marked.
const MARKED_HAM: f64 = 0.005;

pub fn score(corpora: &Path, report: &mut Report) {
    report.heading("Scam check");
    let ham = corpus::ham(corpora);
    if ham.is_empty() {
        report.absent("ham");
        return;
    }
    let (marked, held) = marked(&ham, Some(report));
    report.at_most("ham marked", marked, ham.len(), MARKED_HAM);
    report.figure("ham held", &format!("{held} of {}", ham.len()));
    let spam = corpus::spam(corpora);
    let (marked, held) = self::marked(&spam, None);
    report.figure("spam marked", &format!("{marked} of {}", spam.len()));
    report.figure("spam held", &format!("{held} of {}", spam.len()));
}

fn marked(files: &[PathBuf], misses: Option<&Report>) -> (usize, usize) {
    let (mut marked, mut held) = (0, 0);
    for path in files {
        let mail = parse(&fs::read(path).unwrap_or_default(), Envelope::default());
        let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
        held += usize::from(verdict.hold);
        if verdict.risk.is_some() {
            marked += 1;
            if let Some(report) = misses {
                let reasons = verdict.reasons.join(" ");
                report.miss(&corpus::name(path), &format!("{} {reasons}", verdict.score));
            }
        }
    }
    (marked, held)
}
