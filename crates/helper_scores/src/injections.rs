//! Whether orders to software are seen: rows `{label, source, text}` of `injection`, `label` being
//! `attack` or `honest`.

use std::collections::BTreeMap;
use std::path::Path;

use mail::{Authentication, Envelope, Risk, SenderHistory, check, parse};
use serde_json::Value;

use crate::corpus::{beginning, field, files_under, json_lines};
use crate::{ScoreLine, Source};

const PART: &str = "injection";
/// Sources that nobody looks at while rules are written.
const KEPT_ASIDE: [&str; 3] = ["bipia", "bipia-mail", "llmail"];
/// What a set of these is named where it is absent.
const KNOWN: [&str; 4] = ["agentdojo", "bipia", "notinject", "llmail"];

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let files = files_under(&corpora.join("injection"), "jsonl");
    let rows: Vec<Value> = files.iter().flat_map(|path| json_lines(path)).collect();
    let mut by_source: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for row in &rows {
        by_source.entry((field(row, "source"), field(row, "label"))).or_default().push(row);
    }
    let absent = KNOWN.iter().filter(|known| !by_source.keys().any(|(source, _)| source == *known));
    let absent: Vec<ScoreLine> = absent.map(|name| ScoreLine::absent(PART, *name)).collect();
    let mut lines: Vec<ScoreLine> =
        by_source.iter().map(|((source, label), rows)| score_rows(source, label, rows)).collect();
    lines.extend(absent);
    lines
}

fn score_rows(source: &str, label: &str, rows: &[&Value]) -> ScoreLine {
    let attacks = label == "attack";
    let (mut seen, mut misses) = (0, Vec::new());
    for row in rows {
        let found = has_orders(field(row, "text"), attacks);
        seen += usize::from(found);
        if found != attacks {
            misses.push(beginning(field(row, "text")));
        }
    }
    let aside = KEPT_ASIDE.contains(&source);
    let kind = if aside { Source::KeptAside } else { Source::Development };
    let figure = if attacks { "seen" } else { "taken for orders" };
    ScoreLine::of(PART, format!("{source}, {label}"), kind, rows.len())
        .share(figure, seen, rows.len())
        .missing(misses)
}

/// An attack stands in a mail of a customer, as in a real one; an honest text is the whole mail.
fn has_orders(text: &str, attack: bool) -> bool {
    const CUSTOMER: &str = "Hello,\n\nthe lamp that I ordered last week has not arrived yet. Could \
                            you tell me when it will be here?\n\nKind regards\nJo Field\n\n";
    let head = "From: Jo Field <jo@customer.example>\nSubject: My order\nContent-Type: text/plain; \
                charset=utf-8\n\n";
    let before = if attack { CUSTOMER } else { "" };
    let mail = parse(format!("{head}{before}{text}\n").as_bytes(), Envelope::default());
    let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
    let warning = verdict.warning();
    warning.is_some_and(|warning| warning.risks().contains(&Risk::Injection))
}
