//! Scores ARC: every seal of a signing case must verify on its mail.

use mail_auth::DkimResult;
use test_dns::DnsRecord;

use super::{Bench, Score, Zone};

/// Scores a suite of signing cases: each seal that it gives must verify, on the mail it is for.
pub fn score_suite(bench: &Bench, text: &str) -> Result<Score, String> {
    let mut score = Score::default();
    for document in text.split("\n---") {
        let cases = cases(document);
        let zone = zone(document);
        for case in cases {
            let fails = case.seal.contains("cv=fail");
            let expected = if fails { "fail" } else { "pass" };
            let came = ask(bench, &zone, &case.seal())?;
            score.note(&case.name, expected, came);
        }
    }
    Ok(score)
}

/// Scores a whole mail, behind the records that it needs and a blank line: its seals are good.
pub fn score_mail(bench: &Bench, text: &str) -> Result<Score, String> {
    let (records, mail) = text.split_once("\n\n").ok_or("the mail is missing")?;
    let mut zone = Zone::new();
    for (name, record) in records.lines().filter_map(|line| line.split_once(' ')) {
        zone.insert(name.to_lowercase(), vec![DnsRecord::Txt(record.to_owned())]);
    }
    let mut score = Score::default();
    score.note("its seals", "pass", ask(bench, &zone, &mail.replace('\n', "\r\n"))?);
    Ok(score)
}

fn ask(bench: &Bench, zone: &Zone, mail: &str) -> Result<&'static str, String> {
    let authenticator = bench.authenticator(zone)?;
    Ok(match bench.runtime.block_on(authenticator.check_arc(mail.as_bytes())) {
        DkimResult::Pass => "pass",
        DkimResult::None => "none",
        _ => "fail",
    })
}

#[derive(Default)]
struct Case {
    name: String,
    mail: String,
    seal: String,
    signature: String,
    results: String,
}

impl Case {
    fn seal(&self) -> String {
        let field = |name: &str, value: &str| {
            format!("{name}: {}\r\n", value.trim().replace('\n', "\r\n  "))
        };
        [
            field("ARC-Seal", &self.seal),
            field("ARC-Message-Signature", &self.signature),
            field("ARC-Authentication-Results", &self.results),
            self.mail.replace('\n', "\r\n"),
        ]
        .concat()
    }
}

/// The cases of a document that seal something. Names are indented by two spaces, fields by four,
/// texts by six.
fn cases(document: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut field = "";
    for line in document.lines().skip_while(|line| !line.starts_with("tests:")).skip(1) {
        let indent = line.len() - line.trim_start().len();
        match (indent, line.trim()) {
            (_, "") | (6.., _) => {
                let text = line.get(6..).unwrap_or_default();
                if let Some(case) = cases.last_mut() {
                    case.add(field, text);
                }
            }
            (2, name) => {
                let name = name.trim_end_matches(':').to_owned();
                cases.push(Case { name, ..Case::default() });
                field = "";
            }
            (4, name) => field = name.split(':').next().unwrap_or_default(),
            _ => break,
        }
    }
    cases.retain(|case| !case.seal.trim().is_empty());
    cases
}

impl Case {
    fn add(&mut self, field: &str, line: &str) {
        let text = match field {
            "message" => &mut self.mail,
            "AS" => &mut self.seal,
            "AMS" => &mut self.signature,
            "AAR" => &mut self.results,
            _ => return,
        };
        text.push_str(line);
        text.push('\n');
    }
}

/// The text records of a document.
fn zone(document: &str) -> Zone {
    let mut zone = Zone::new();
    let mut name = String::new();
    let lines = document.lines().skip_while(|line| !line.starts_with("txt-records:")).skip(1);
    for line in lines.take_while(|line| line.starts_with(' ')) {
        match line.strip_prefix("    ") {
            Some(text) => {
                match zone
                    .get_mut(&name)
                    .and_then(|records: &mut Vec<DnsRecord>| records.last_mut())
                {
                    Some(DnsRecord::Txt(record)) => record.push_str(text.trim()),
                    _ => drop(
                        zone.insert(name.clone(), vec![DnsRecord::Txt(text.trim().to_owned())]),
                    ),
                }
            }
            None => name = line.trim().split(':').next().unwrap_or_default().to_lowercase(),
        }
    }
    zone
}
