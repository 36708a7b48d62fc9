//! Whether invoices are read by their words: PDFs with a JSON file beside them in `invoice2data`.

use std::fs;
use std::path::Path;

use crate::corpus::{files_under, json, name};
use crate::{FigureValue, ScoreLine, Source};

const PART: &str = "invoices";
const FIELDS: [&str; 4] = ["total", "currency", "date", "vendor"];

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let files = files_under(&corpora.join("invoice2data"), "pdf");
    let (mut right, mut asked) = ([0; FIELDS.len()], [0; FIELDS.len()]);
    let (mut cases, mut misses) = (0, Vec::new());
    for path in files {
        let truth = json(&path.with_extension("json"));
        let truth = truth.get(0).unwrap_or(&truth);
        let contents = fs::read(&path).ok().and_then(|bytes| extraction::open(&bytes).ok());
        let Some(contents) = contents.filter(|contents| truth.is_object() && !contents.needs_ocr())
        else {
            continue;
        };
        cases += 1;
        let read = contents.extract_from_words().fields;
        let cents = |amount: f64| format!("{amount:.2}");
        let noted = |name: &str| truth[name].as_str().map(str::to_owned);
        let wanted = [
            truth["amount"].as_f64().map(cents),
            noted("currency"),
            noted("date"),
            noted("issuer").map(|name| fold(&name)),
        ];
        let got =
            [read.amount.map(cents), read.currency, read.date, read.vendor.map(|name| fold(&name))];
        for at in 0..FIELDS.len() {
            asked[at] += usize::from(wanted[at].is_some());
            right[at] += usize::from(wanted[at].is_some() && wanted[at] == got[at]);
            if wanted[at].is_some() && wanted[at] != got[at] {
                let file = name(&path);
                let field = FIELDS[at];
                misses.push(format!("{file} {field}: {:?}, not {:?}", wanted[at], got[at]));
            }
        }
    }
    if cases == 0 {
        return vec![ScoreLine::absent(PART, "invoice2data")];
    }
    let line = ScoreLine::of(PART, "invoice2data, text PDFs", Source::Development, cases);
    let shares = FIELDS.iter().zip(right.iter().zip(asked));
    let line = shares.fold(line, |line, (name, (right, asked))| {
        line.with(name, FigureValue::Share(*right, asked))
    });
    vec![line.missing(misses)]
}

/// A name as it is compared: its letters and digits alone.
fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
