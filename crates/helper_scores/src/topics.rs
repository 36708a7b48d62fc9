//! Whether topics are found: files `NAME.train.*.jsonl` and `NAME.test.*.jsonl` of rows `{text, topic}` in
//! `topics`.

use std::collections::BTreeMap;
use std::path::Path;

use classifier::{SorterExample, TopicModel};
use serde_json::Value;

use crate::corpus::{field, files_in, json_lines, name};
use crate::{ScoreLine, Source};

const PART: &str = "topics";
/// Examples of each topic that are learned, beside all there are for small sets.
const SHOTS: usize = 10;
/// Topics from which on a set is large.
const LARGE: usize = 60;
/// Sets that nobody looked at while the helper was made.
const KEPT_ASIDE: [&str; 2] = ["hwu64", "atis"];

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let files = files_in(&corpora.join("topics"));
    let mut lines = Vec::new();
    for path in &files {
        let file = name(path);
        let Some((set, rest)) = file.split_once(".train.") else { continue };
        let test = path.with_file_name(format!("{set}.test.{rest}"));
        let (train, test) = (json_lines(path), json_lines(&test));
        if test.is_empty() {
            continue;
        }
        let aside = KEPT_ASIDE.contains(&set);
        let source = if aside { Source::KeptAside } else { Source::of_file(&file) };
        lines.push(score_set(set, source, &train, &test));
    }
    if lines.is_empty() {
        lines.push(ScoreLine::absent(PART, "topics"));
    }
    lines
}

fn score_set(set: &str, source: Source, train: &[Value], test: &[Value]) -> ScoreLine {
    let mut by_topic: BTreeMap<Option<&str>, Vec<&Value>> = BTreeMap::new();
    for row in train {
        by_topic.entry(row["topic"].as_str()).or_default().push(row);
    }
    let few = by_topic.len() >= LARGE;
    let shots = if few { SHOTS } else { usize::MAX };
    let examples: Vec<SorterExample> = by_topic
        .into_values()
        .flat_map(|rows| {
            let count = shots.min(rows.len());
            (0..count).map(move |at| rows[at * rows.len() / count]).collect::<Vec<_>>()
        })
        .map(|row| SorterExample::from_decision(field(row, "text"), row["topic"].as_str()))
        .collect();
    let model = TopicModel::learn(&examples);
    let (mut within, mut guessed, mut given, mut right) = (0, 0, 0, 0);
    for row in test {
        let label = row["topic"].as_str();
        let sorted = model.sort(field(row, "text"));
        within += usize::from(label.is_some());
        guessed += usize::from(label.is_some() && sorted.suggested.as_deref() == label);
        given += usize::from(sorted.topic.is_some());
        right += usize::from(sorted.topic.is_some() && sorted.topic.as_deref() == label);
    }
    let shots = if few { format!("{set}, {SHOTS} a topic") } else { set.to_owned() };
    ScoreLine::of(PART, shots, source, test.len())
        .share("accuracy", guessed, within)
        .share("given", given, test.len())
        .share("precision", right, given)
}
