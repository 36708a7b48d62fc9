//! How well topics are found, how many are given, and how many of those are right.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use classifier::{Meaning, TextFeatures, TopicModel};

use crate::report::Report;
use crate::rows::{TopicRow, examples, of_each, topic_rows};

/// The goals: accuracy with 5, 10 and 50 examples of each topic.
const ACCURACY: [(usize, f64); 3] = [(5, 0.72), (10, 0.79), (50, 0.88)];

/// Misses of a set that are shown.
const MISSES: usize = 25;

pub fn score(folder: &Path, report: &mut Report) {
    report.heading("Topics");
    let train = topic_rows(&folder.join("banking77.train.dev.jsonl"));
    let test = topic_rows(&folder.join("banking77.test.dev.jsonl"));
    if train.is_empty() {
        report.absent("topics");
        return;
    }
    for (count, mark) in ACCURACY {
        let outcome = Outcome::of(&of_each(&train, count), &test);
        report.at_least(&format!("Banking77, {count} a topic: accuracy"), outcome.accuracy, mark);
        if count == 10 {
            outcome.tell("Banking77, 10 a topic", 0.5, 0.93, report);
        } else {
            outcome.show(&format!("Banking77, {count} a topic"), report);
        }
    }
    hwu(folder, report);
    clinc(folder, report);
    hint(folder, report);
    times(&train, report);
}

/// What people say to an assistant; nobody looked at it while the sorter was made.
fn hwu(folder: &Path, report: &mut Report) {
    let train = of_each(&topic_rows(&folder.join("hwu64.train.dev.jsonl")), 10);
    let test = topic_rows(&folder.join("hwu64.test.dev.jsonl"));
    if test.is_empty() {
        report.absent("HWU64");
        return;
    }
    let outcome = Outcome::of(&train, &test);
    report.at_least("HWU64, 10 a topic: accuracy", outcome.accuracy, 0.75);
    outcome.show("HWU64, 10 a topic", report);
}

/// Many topics, and questions that belong to none: told in advance by a few, or by nobody.
fn clinc(folder: &Path, report: &mut Report) {
    let train = of_each(&topic_rows(&folder.join("clinc150.train.dev.jsonl")), 10);
    let strange = topic_rows(&folder.join("clinc150.oos.dev.jsonl"));
    let middle = strange.len() / 2;
    let mut test = topic_rows(&folder.join("clinc150.test.dev.jsonl"));
    test.extend_from_slice(&strange[middle..]);
    let outcome = Outcome::of(&train, &test);
    outcome.tell("CLINC150 + oos, 10 a topic, none told", 0.55, 0.93, report);
    let mut told = train;
    told.extend(strange[..middle].iter().step_by(3).cloned());
    Outcome::of(&told, &test).show("CLINC150 + oos, 10 a topic, a third told", report);
}

/// Questions of real users, many of no topic.
fn hint(folder: &Path, report: &mut Report) {
    let (mut given, mut precision) = (0.0, 0.0);
    let (mut told_given, mut told_precision) = (0.0, 0.0);
    let sets = ["curekart", "powerplay11", "sofmattress"];
    for name in sets {
        let train = topic_rows(&folder.join(format!("hint3-{name}.train.dev.jsonl")));
        let test = topic_rows(&folder.join(format!("hint3-{name}.test.dev.jsonl")));
        let outcome = Outcome::of(&train, &test);
        outcome.show(&format!("HINT3 {name}"), report);
        given += outcome.given / sets.len() as f64;
        precision += outcome.precision / sets.len() as f64;
        // As in an inbox, where people have decided about mail of no topic as well.
        let (decided, later): (Vec<_>, Vec<_>) =
            test.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let rows = |rows: Vec<(usize, TopicRow)>| rows.into_iter().map(|(_, row)| row);
        let train: Vec<TopicRow> = train.into_iter().chain(rows(decided)).collect();
        let outcome = Outcome::of(&train, &rows(later).collect::<Vec<_>>());
        outcome.show(&format!("HINT3 {name}, half of the mail decided"), report);
        told_given += outcome.given / sets.len() as f64;
        told_precision += outcome.precision / sets.len() as f64;
    }
    let told = format!("given {told_given:.3} @ {told_precision:.3}");
    report.figure("HINT3, mean of three, half of the mail decided", &told);
    report.at_least("HINT3, mean of three: precision", precision, 0.85);
    report.at_least("HINT3, mean of three: share given", given, 0.25);
}

fn times(train: &[TopicRow], report: &mut Report) {
    let examples: Vec<_> = examples(train).into_iter().cycle().take(5_000).collect();
    let begun = processor_time();
    let model = TopicModel::learn(&examples);
    report.faster("learning 5,000 examples", processor_time() - begun, 1_000.0);
    let text = train.iter().take(60).map(|row| row.text.as_str()).collect::<Vec<_>>().join(" ");
    let features = TextFeatures::of(&text);
    let begun = processor_time();
    for _ in 0..200 {
        model.sort(&text);
    }
    report.faster("sorting one mail", (processor_time() - begun) / 200.0, 2.0);
    let begun = processor_time();
    for _ in 0..200 {
        Meaning::of_features(&features);
    }
    report.faster("the meaning of its words", (processor_time() - begun) / 200.0, 0.3);
}

/// Milliseconds that this thread has had a processor, where the system tells; others that use the
/// machine do not count.
fn processor_time() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or_else(|| START.elapsed().as_nanos() as f64) / 1e6
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// What came of a set.
struct Outcome {
    /// The share of rows with a topic whose best guess is right.
    accuracy: f64,
    /// The share of all rows that were given a topic, and of those the share that is right.
    given: f64,
    precision: f64,
    /// The share that could have been given with nine in ten right, had the threshold been known.
    possible: f64,
    /// Rows that were given a wrong topic, the surest first.
    wrong: Vec<String>,
}

impl Outcome {
    fn of(train: &[TopicRow], test: &[TopicRow]) -> Outcome {
        let model = TopicModel::learn(&examples(train));
        let (mut within, mut found, mut given, mut right) = (0, 0, 0, 0);
        let mut guesses: Vec<(f64, bool)> = Vec::new();
        let mut wrong: Vec<String> = Vec::new();
        for row in test {
            let sorted = model.sort(&row.text);
            let correct = row.topic.is_some() && sorted.suggested == row.topic;
            within += usize::from(row.topic.is_some());
            found += usize::from(correct);
            given += usize::from(sorted.topic.is_some());
            right += usize::from(sorted.topic.is_some() && correct);
            if sorted.topic.is_some() && !correct {
                wrong.push(format!(
                    "{:.3} {:?}: {:?}, not {:?}",
                    sorted.confidence, row.text, row.topic, sorted.topic
                ));
            }
            if sorted.suggested.is_some() {
                guesses.push((sorted.confidence, correct));
            }
        }
        wrong.sort_by(|a, b| b.cmp(a));
        let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        Outcome {
            accuracy: share(found, within),
            given: share(given, test.len()),
            precision: share(right, given),
            possible: share(possible(guesses), test.len()),
            wrong,
        }
    }

    fn tell(&self, name: &str, given: f64, precision: f64, report: &mut Report) {
        report.at_least(&format!("{name}: share given"), self.given, given);
        report.at_least(&format!("{name}: precision of the given"), self.precision, precision);
        self.show(name, report);
    }

    fn show(&self, name: &str, report: &Report) {
        let text = format!(
            "accuracy {:.3}, given {:.3} @ {:.3}, possible {:.3} @ 0.9",
            self.accuracy, self.given, self.precision, self.possible
        );
        report.figure(name, &text);
        self.wrong.iter().take(MISSES).for_each(|miss| report.miss(miss));
    }
}

fn possible(mut guesses: Vec<(f64, bool)>) -> usize {
    guesses.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut most) = (0, 0);
    for (at, (_, correct)) in guesses.iter().enumerate() {
        right += usize::from(*correct);
        if right as f64 >= 0.9 * (at + 1) as f64 {
            most = at + 1;
        }
    }
    most
}
