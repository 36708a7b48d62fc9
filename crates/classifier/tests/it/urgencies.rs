//! Urgency of labelled mails. Those of some sources were looked at while the rules were written, those
//! of others were kept aside whole.

use classifier::urgency;

const SOURCES: &str = include_str!("urgency_sources.txt");
const ASIDE: &str = include_str!("urgency_aside.txt");

/// What came of a file: mails and right ones, urgent ones, found ones and right ones among these.
#[derive(Default)]
struct Outcome {
    all: f64,
    right: f64,
    urgent: f64,
    found: f64,
    rightly: f64,
}

fn outcome(file: &str, tell: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let rows = file.lines().filter(|line| !line.starts_with(['#', '[']) && !line.is_empty());
    for row in rows {
        let mut fields = row.splitn(4, '|').map(str::trim);
        let mut field = || fields.next().unwrap();
        let (label, _language, subject, text) = (field(), field(), field(), field());
        let verdict = urgency(subject, text);
        let level = verdict.level.as_str();
        outcome.all += 1.0;
        outcome.right += f64::from(level == label);
        outcome.urgent += f64::from(label == "high");
        outcome.found += f64::from(level == "high");
        outcome.rightly += f64::from(level == "high" && label == "high");
        if tell && level != label {
            println!("{label}, not {level}: {subject} | {text} {:?}", verdict.reasons);
        }
    }
    outcome
}

#[test]
fn urgent_mail_of_sources_that_were_kept_aside_is_found() {
    for (name, file, tell) in [("sources", SOURCES, true), ("aside", ASIDE, false)] {
        let Outcome { all, right, urgent, found, rightly } = outcome(file, tell);
        println!(
            "{name}: {all} mails, accuracy {:.3}, urgent found {:.3}, precision {:.3}",
            right / all,
            rightly / urgent,
            rightly / found
        );
        assert!(right / all >= 0.8, "{name}");
        assert!(rightly / urgent >= 0.75 && rightly / found >= 0.8, "{name}");
    }
}

#[test]
fn long_and_hostile_texts_take_little_time() {
    for text in ["wasser ".repeat(300_000), "a".repeat(2_000_000), "in minutes ".repeat(200_000)] {
        urgency(&text, &text);
    }
}
