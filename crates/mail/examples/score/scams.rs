//! How much the scam check marks and holds of phishing, spam and honest mail. Nothing is known of
//! the senders and nothing was authenticated, which is the hardest case.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

use mail::{Authentication, Envelope, SenderHistory, check, parse};

use crate::corpus;
use crate::report::Report;

/// The share of old ham and of modern ham that may be marked.
const MARKED_HAM: f64 = 0.003;
const MARKED_MODERN: f64 = 0.01;
/// Points from which on an honest mail is nearly marked.
const NEAR: f64 = 3.0;
/// The share of phishing that must be marked, and held.
const MARKED_PHISHING: f64 = 0.5;
const HELD_PHISHING: f64 = 0.25;

pub fn score(corpora: &Path, report: &mut Report) {
    report.heading("Scam check");
    honest("old ham", &report.half(corpus::ham(corpora)), MARKED_HAM, report);
    honest("modern ham", &report.half(corpus::modern_ham(corpora)), MARKED_MODERN, report);
    let phishing = report.half(corpus::phishing(corpora));
    if phishing.is_empty() {
        report.absent("phishing");
    } else {
        let checked = CheckedMails::of(&phishing);
        report.share("phishing marked", checked.count_marked(), phishing.len(), MARKED_PHISHING);
        report.share("phishing held", checked.count_held(), phishing.len(), HELD_PHISHING);
        checked.show(report, false);
    }
    let spam = CheckedMails::of(&report.half(corpus::spam(corpora)));
    report.figure("spam marked, held", &format!("{}, {}", spam.count_marked(), spam.count_held()));
}

/// Honest mail: a few may be marked, none held.
fn honest(name: &str, files: &[PathBuf], most: f64, report: &mut Report) {
    if files.is_empty() {
        report.absent(name);
        return;
    }
    let checked = CheckedMails::of(files);
    report.at_most(&format!("{name} marked"), checked.count_marked(), files.len(), most);
    report.at_most(&format!("{name} held"), checked.count_held(), files.len(), 0.0);
    report.figure(&format!("{name}: mean time of a check"), &checked.mean_time());
    checked.show(report, true);
}

/// Mails with what the check made of them.
struct CheckedMails(Vec<CheckedMail>);

struct CheckedMail {
    file: String,
    score: f64,
    marked: bool,
    held: bool,
    told: String,
    milliseconds: f64,
}

impl CheckedMails {
    fn of(files: &[PathBuf]) -> CheckedMails {
        CheckedMails(files.iter().map(check_mail).collect())
    }

    fn count_marked(&self) -> usize {
        self.0.iter().filter(|mail| mail.marked).count()
    }

    fn count_held(&self) -> usize {
        self.0.iter().filter(|mail| mail.held).count()
    }

    fn mean_time(&self) -> String {
        let all: f64 = self.0.iter().map(|mail| mail.milliseconds).sum();
        format!("{:.2} ms", all / self.0.len().max(1) as f64)
    }

    /// Shows the mails that came out as they should not, and honest ones that nearly did.
    fn show(&self, report: &Report, marked: bool) {
        let shown = |mail: &&CheckedMail| mail.marked == marked || (marked && mail.score >= NEAR);
        for mail in self.0.iter().filter(shown) {
            report.miss(&mail.file, &format!("{} {}", mail.score, mail.told));
        }
    }
}

fn check_mail(path: &PathBuf) -> CheckedMail {
    let mail = parse(&fs::read(path).unwrap_or_default(), Envelope::default());
    let begun = processor_time();
    let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
    let milliseconds = processor_time() - begun;
    let from = mail.from.as_ref();
    let name = from.and_then(|from| from.name.as_deref()).unwrap_or_default();
    let email = from.map_or("", |from| from.email.as_str());
    let links: Vec<&str> = mail.links.iter().take(3).map(|link| cut(&link.target, 60)).collect();
    let told = format!(
        "{name} <{email}> {:?}\n{}\n{}\n{}",
        cut(&mail.subject, 100),
        verdict.reasons.join(" "),
        cut(&mail.original, 200).replace('\n', " / "),
        links.join(" ")
    );
    CheckedMail {
        file: corpus::name(path),
        score: verdict.score,
        marked: verdict.risk.is_some(),
        held: verdict.hold,
        told,
        milliseconds,
    }
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Milliseconds that this thread has had a processor, where the system tells; others that use the
/// machine do not count.
fn processor_time() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or_else(|| START.elapsed().as_nanos() as f64) / 1e6
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
