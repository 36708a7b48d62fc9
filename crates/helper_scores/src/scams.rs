//! How much the scam check marks and holds of scams, spam and honest mail. Nothing is known of the
//! senders and nothing was authenticated, which is the hardest case.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mail::{Authentication, Envelope, Risk, SenderHistory, check, parse};

use crate::corpus::{files_in, files_under, name};
use crate::{ScoreLine, Source};

const PART: &str = "scams";

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let spamassassin = corpora.join("spamassassin-public-corpus/data");
    let of = |folders: &[&str]| {
        folders.iter().flat_map(|folder| files_in(&spamassassin.join(folder))).collect()
    };
    let mut lines = vec![
        line("phishing", Source::Development, files_under(&corpora.join("phishing"), "eml"), false),
        line(
            "modern-ham",
            Source::Development,
            files_under(&corpora.join("modern-ham"), "eml"),
            true,
        ),
        line("SpamAssassin, spam", Source::KeptAside, of(&["spam-1", "spam-2"]), false),
        line(
            "SpamAssassin, honest",
            Source::Development,
            of(&["easy-ham-1", "easy-ham-2", "hard-ham-1"]),
            true,
        ),
    ];
    for (folder, honest) in [("scams-aside", false), ("honest-aside", true)] {
        let files = files_under(&corpora.join(folder), "eml");
        lines.push(line(folder, Source::KeptAside, files, honest));
    }
    lines
}

fn line(source: &str, kind: Source, files: Vec<PathBuf>, honest: bool) -> ScoreLine {
    if files.is_empty() {
        return ScoreLine::absent(PART, source);
    }
    let (mut marked, mut held, mut orders, mut misses) = (0, 0, 0, Vec::new());
    let begun = Instant::now();
    for path in &files {
        let mail = parse(&fs::read(path).unwrap_or_default(), Envelope::default());
        let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
        let found = verdict.risk.is_some();
        marked += usize::from(found);
        held += usize::from(verdict.hold);
        orders += usize::from(verdict.risk == Some(Risk::Injection));
        if found == honest {
            let reasons = verdict.reasons.join(" ");
            misses.push(format!("{} {} {reasons}", name(path), verdict.score));
        }
    }
    let time = begun.elapsed();
    let scored = ScoreLine::of(PART, source, kind, files.len())
        .share("marked", marked, files.len())
        .share("held", held, files.len());
    let scored =
        if honest { scored.share("taken for orders", orders, files.len()) } else { scored };
    scored.time_of(time).missing(misses)
}
