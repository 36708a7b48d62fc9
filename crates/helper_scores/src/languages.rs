//! Whether the language of mail is named: rows `{lang, text}` of `urgency` and of `languages`.

use std::path::Path;
use std::time::{Duration, Instant};

use classifier::{MailLanguage, mail_language};

use crate::corpus::{beginning, field, files_under, json_lines, name};
use crate::{ScoreLine, Source};

const PART: &str = "language";
/// The languages that most mail is in.
const EIGHT: [&str; 8] = ["en", "de", "fr", "es", "it", "nl", "pt", "pl"];

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let mut lines = Vec::new();
    for folder in ["languages", "urgency"] {
        let files = files_under(&corpora.join(folder), "jsonl");
        if files.is_empty() {
            lines.push(ScoreLine::absent(PART, folder));
        }
        for path in files {
            let file = format!("{folder}/{}", name(&path));
            let rows = json_lines(&path);
            let known = |row: &&serde_json::Value| !field(row, "lang").is_empty();
            let (eight, others): (Vec<_>, Vec<_>) =
                rows.iter().filter(known).partition(|row| EIGHT.contains(&field(row, "lang")));
            for (which, rows) in [("the eight", eight), ("others", others)] {
                if !rows.is_empty() {
                    let line = format!("{file}, {which}");
                    lines.push(score_rows(line, Source::of_file(&file), &rows));
                }
            }
        }
    }
    lines
}

fn score_rows(name: String, source: Source, rows: &[&serde_json::Value]) -> ScoreLine {
    let (mut right, mut wrong, mut misses) = (0, 0, Vec::new());
    let mut time = Duration::ZERO;
    for row in rows {
        let begun = Instant::now();
        let named = mail_language(field(row, "subject"), field(row, "text"));
        time += begun.elapsed();
        let named = named.map(MailLanguage::as_str);
        let label = field(row, "lang");
        // Both written forms of Norwegian go by one name here.
        let label = if ["nb", "nn"].contains(&label) { "no" } else { label };
        right += usize::from(named == Some(label));
        wrong += usize::from(named.is_some_and(|named| named != label));
        if named != Some(label) {
            let text = beginning(field(row, "text"));
            misses.push(format!("{label}, not {}: {text}", named.unwrap_or("none")));
        }
    }
    let all = rows.len();
    let line = ScoreLine::of(PART, name, source, all);
    line.share("right", right, all).share("wrong name", wrong, all).time_of(time).missing(misses)
}
