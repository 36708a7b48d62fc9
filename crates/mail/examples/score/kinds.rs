//! Bounces, complaints and automatic replies against their labels, and false ones on ham.

use std::fs;
use std::path::Path;

use mail::{Envelope, MailKind, ParsedMail, parse};
use serde_json::Value;

use crate::corpus;
use crate::report::Report;

const BOUNCES: f64 = 0.98;
const ALL: f64 = 1.0;

pub fn score(corpora: &Path, report: &mut Report) {
    report.heading("Kinds");
    let folder = corpora.join("sisimai-bounces");
    let labelled = read_labels(&folder);
    if labelled.is_empty() {
        report.absent("sisimai");
    } else {
        score_labelled(&labelled, report);
        score_copies(&folder, report);
    }
    score_chatwoot(&corpora.join("chatwoot/spec/fixtures/files"), report);
    score_ham(corpora, report);
}

struct Labelled {
    file: String,
    mail: ParsedMail,
    labels: Vec<Value>,
}

impl Labelled {
    fn reason(&self) -> &str {
        self.labels.first().and_then(|label| label["reason"].as_str()).unwrap_or_default()
    }
}

fn read_labels(folder: &Path) -> Vec<Labelled> {
    let expected = corpus::json(&folder.join("expected.json"));
    let Some(expected) = expected["expected"].as_object() else { return Vec::new() };
    let read = |(file, labels): (&String, &Value)| {
        let bytes = fs::read(folder.join(file)).ok()?;
        let mail = parse(&bytes, Envelope::default());
        Some(Labelled { file: file.clone(), mail, labels: labels.as_array()?.clone() })
    };
    expected.iter().filter_map(read).collect()
}

fn score_labelled(labelled: &[Labelled], report: &mut Report) {
    let others = ["feedback", "vacation", "delivered"];
    let bounces: Vec<&Labelled> =
        labelled.iter().filter(|mail| !others.contains(&mail.reason())).collect();
    let found = |mail: &&&Labelled| mail.mail.kind == MailKind::Bounce;
    report.share(
        "sisimai: bounces found",
        bounces.iter().filter(found).count(),
        bounces.len(),
        BOUNCES,
    );
    let named = bounces.iter().filter(|mail| !mail.mail.bounces.is_empty()).count();
    report.share("sisimai: with a recipient", named, bounces.len(), BOUNCES);
    let about = bounces.iter().filter(|mail| mail.mail.about.is_some()).count();
    report.figure("sisimai: with the mail's Message-ID", &format!("{about} of {}", bounces.len()));
    tell_judgements(&bounces, report);
    for mail in bounces.iter().filter(|mail| !found(mail) || mail.mail.bounces.is_empty()) {
        report.miss(&mail.file, &format!("{:?} {:?}", mail.mail.kind, mail.mail.bounces));
    }
    for (name, reason, kind) in [
        ("sisimai: complaints found", "feedback", MailKind::Complaint),
        ("sisimai: automatic replies found", "vacation", MailKind::AutoReply),
    ] {
        let all: Vec<&Labelled> = labelled.iter().filter(|mail| mail.reason() == reason).collect();
        let found = all.iter().filter(|mail| mail.mail.kind == kind).count();
        report.share(name, found, all.len(), if reason == "vacation" { ALL } else { 0.9 });
        for mail in all.iter().filter(|mail| mail.mail.kind != kind) {
            report.miss(&mail.file, &format!("{:?}", mail.mail.kind));
        }
    }
}

/// How often hard or soft, and the status, agree with the label.
fn tell_judgements(bounces: &[&Labelled], report: &mut Report) {
    let (mut hard, mut status, mut all) = (0, 0, 0);
    for mail in bounces {
        for (label, bounce) in mail.labels.iter().zip(&mail.mail.bounces) {
            all += 1;
            if label["hard"].as_bool() == Some(bounce.hard) {
                hard += 1;
            } else {
                report.miss(&mail.file, &format!("{bounce:?} is not {label}"));
            }
            // Statuses such as 5.0.911 are the label maker's own words for a reason.
            let theirs = label["status"].as_str().unwrap_or_default();
            status += usize::from(theirs == bounce.status || theirs.contains(".0.9"));
        }
    }
    report.figure("sisimai: hard or soft as labelled", &format!("{hard} of {all}"));
    report.figure("sisimai: status as labelled", &format!("{status} of {all}"));
}

/// The same mails with other line ends must be understood the same.
fn score_copies(folder: &Path, report: &mut Report) {
    for name in ["dos", "mac"] {
        let files = corpus::files_in(&folder.join("maildir").join(name));
        let same = |path: &&std::path::PathBuf| {
            let kind = kind_of(path);
            let file = corpus::name(path);
            let expected = if file.starts_with("arf") {
                MailKind::Complaint
            } else if file.starts_with("rfc3834") {
                MailKind::AutoReply
            } else {
                MailKind::Bounce
            };
            if kind != expected {
                report.miss(&format!("{name}/{file}"), &format!("{kind:?}"));
            }
            kind == expected
        };
        let right = files.iter().filter(same).count();
        report.share(&format!("sisimai: {name} copies"), right, files.len(), BOUNCES);
    }
}

fn score_chatwoot(folder: &Path, report: &mut Report) {
    let files = corpus::files_in(folder);
    if files.is_empty() {
        report.absent("chatwoot");
        return;
    }
    let (mut right, mut all) = (0, 0);
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "eml")) {
        let name = corpus::name(path);
        let expected = if name.starts_with("auto_reply") {
            MailKind::AutoReply
        } else if name.starts_with("bounced") {
            MailKind::Bounce
        } else {
            continue;
        };
        all += 1;
        let kind = kind_of(path);
        right += usize::from(kind == expected);
        if kind != expected {
            report.miss(&name, &format!("{kind:?}"));
        }
    }
    report.share("chatwoot: automatic replies and bounces", right, all, ALL);
}

fn score_ham(corpora: &Path, report: &mut Report) {
    let ham = corpus::ham(corpora);
    if ham.is_empty() {
        report.absent("ham");
        return;
    }
    for (name, kind) in [
        ("ham: false bounces", MailKind::Bounce),
        ("ham: false automatic replies", MailKind::AutoReply),
        ("ham: false complaints", MailKind::Complaint),
        ("ham: false receipts", MailKind::Receipt),
    ] {
        let wrong: Vec<_> = ham.iter().filter(|path| kind_of(path) == kind).collect();
        report.at_most(name, wrong.len(), ham.len(), 0.0);
        for path in wrong {
            report.miss(&path.display().to_string(), "");
        }
    }
}

fn kind_of(path: &Path) -> MailKind {
    parse(&fs::read(path).unwrap_or_default(), Envelope::default()).kind
}
