//! Whether urgent mail is found: rows `{subject, text, urgency}` of `urgency`.

use std::path::Path;
use std::time::{Duration, Instant};

use classifier::urgency;
use serde_json::Value;

use crate::corpus::{beginning, field, files_under, json_lines, name};
use crate::{ScoreLine, Source};

const PART: &str = "urgency";

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let files = files_under(&corpora.join("urgency"), "jsonl");
    if files.is_empty() {
        return vec![ScoreLine::absent(PART, "urgency")];
    }
    files.iter().map(|path| score_rows(name(path), &json_lines(path))).collect()
}

fn score_rows(file: String, rows: &[Value]) -> ScoreLine {
    let (mut right, mut urgent, mut found, mut rightly) = (0, 0, 0, 0);
    let (mut misses, mut time) = (Vec::new(), Duration::ZERO);
    for row in rows {
        let (subject, text, label) =
            (field(row, "subject"), field(row, "text"), field(row, "urgency"));
        let begun = Instant::now();
        let level = urgency(subject, text).level.as_str();
        time += begun.elapsed();
        right += usize::from(level == label);
        urgent += usize::from(label == "high");
        found += usize::from(level == "high");
        rightly += usize::from(level == "high" && label == "high");
        if level != label {
            misses.push(format!("{label}, not {level}: {subject} | {}", beginning(text)));
        }
    }
    let source = Source::of_file(&file);
    ScoreLine::of(PART, file, source, rows.len())
        .share("accuracy", right, rows.len())
        .share("urgent found", rightly, urgent)
        .share("precision", rightly, found)
        .time_of(time)
        .missing(misses)
}
