//! Reads the rows of a corpus.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use classifier::SorterExample;
use serde_json::Value;

/// A question and its topic; `None` for none of these.
#[derive(Clone)]
pub struct TopicRow {
    pub text: String,
    pub topic: Option<String>,
}

/// The rows of a file of JSON lines; none when it is absent.
pub fn topic_rows(path: &Path) -> Vec<TopicRow> {
    let row = |value: Value| TopicRow {
        text: value["text"].as_str().unwrap_or_default().to_owned(),
        topic: value["topic"].as_str().map(str::to_owned),
    };
    json_lines(path).into_iter().map(row).collect()
}

pub fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// So many rows of each topic, spread evenly over those there are.
pub fn of_each(rows: &[TopicRow], count: usize) -> Vec<TopicRow> {
    let mut by_topic: BTreeMap<&Option<String>, Vec<&TopicRow>> = BTreeMap::new();
    for row in rows {
        by_topic.entry(&row.topic).or_default().push(row);
    }
    let spread = |rows: Vec<&TopicRow>| {
        let count = count.min(rows.len());
        (0..count).map(|at| rows[at * rows.len() / count].clone()).collect::<Vec<_>>()
    };
    by_topic.into_values().flat_map(spread).collect()
}

pub fn examples(rows: &[TopicRow]) -> Vec<SorterExample> {
    rows.iter().map(|row| SorterExample::from_decision(&row.text, row.topic.as_deref())).collect()
}
