//! How well the rules of urgency read mail.

use std::collections::BTreeMap;
use std::path::Path;

use classifier::urgency;

use crate::report::Report;
use crate::rows::json_lines;

pub fn score(folder: &Path, report: &mut Report) {
    report.heading("Urgency");
    let rows = json_lines(&folder.join("dev.jsonl"));
    if rows.is_empty() {
        report.absent("urgency");
        return;
    }
    let mut counts: BTreeMap<(String, &'static str), usize> = BTreeMap::new();
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let verdict = urgency(text("subject"), text("text"));
        let wanted = text("urgency").to_owned();
        if wanted != verdict.level.as_str() {
            let start: String = text("text").chars().take(160).collect();
            report.miss(&format!(
                "{wanted}, not {} [{}] {} | {} | {:?}",
                verdict.level.as_str(),
                text("lang"),
                text("subject"),
                start.replace('\n', " / "),
                verdict.reasons
            ));
        }
        *counts.entry((wanted, verdict.level.as_str())).or_default() += 1;
    }
    let sum = |wanted: fn(&str, &str) -> bool| {
        let found = counts.iter().filter(|((label, level), _)| wanted(label, level));
        found.map(|(_, count)| *count).sum::<usize>() as f64
    };
    let all = rows.len() as f64;
    report.at_least("accuracy", sum(|label, level| label == level) / all, 0.8);
    let right = sum(|label, level| label == "high" && level == "high");
    let precision = right / sum(|_, level| level == "high").max(1.0);
    report.at_least("high: precision", precision, 0.8);
    report.at_least("high: recall", right / sum(|label, _| label == "high").max(1.0), 0.75);
    for ((label, level), count) in &counts {
        report.figure(&format!("{label} taken for {level}"), &count.to_string());
    }
}
