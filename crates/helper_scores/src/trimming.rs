//! Whether replies are trimmed as other projects expect of their own test mails. Exactness is counted
//! with white space folded; lost words are counted apart, because they are worse than leftover
//! quotes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use mail::{Envelope, parse};
use serde_json::Value;

use crate::{FigureValue, ScoreLine, Source, corpus};

const PART: &str = "trimming";

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let sets = [
        discourse(&corpora.join("discourse-reply-trimmer/test")),
        fragments(&corpora.join("crisp-email-reply-parser"), "test/fixtures"),
        fragments(&corpora.join("willdurand-email-reply-parser"), "tests/Fixtures"),
        github(&corpora.join("github-email-reply-parser")),
        talon_mails(&corpora.join("talon/tests/fixtures/standard_replies")),
        talon_pages(&corpora.join("talon/tests/fixtures/html_replies")),
    ];
    let names = ["discourse", "crisp", "willdurand", "github", "talon", "talon HTML"];
    let mut lines: Vec<ScoreLine> = names
        .into_iter()
        .zip(sets)
        .map(|(name, cases)| line(name, Source::Development, &cases))
        .collect();
    let aside = own_cases(&corpora.join("trimming-aside"));
    lines.push(line("trimming-aside", Source::KeptAside, &aside));
    lines
}

/// What a mail came out as, and what it should be.
struct Case {
    file: String,
    ours: String,
    expected: Expected,
}

enum Expected {
    Exactly(String),
    /// The set tells only how the text begins, or a part of it.
    Holding(String),
}

fn line(name: &str, source: Source, cases: &[Case]) -> ScoreLine {
    if cases.is_empty() {
        return ScoreLine::absent(PART, name);
    }
    let exact = cases.iter().filter(|case| case.is_right()).count();
    let lost = cases.iter().map(Case::lost_words).sum();
    let misses = cases.iter().filter(|case| !case.is_right()).map(|case| {
        let (Expected::Exactly(expected) | Expected::Holding(expected)) = &case.expected;
        let (lost, ours) = (case.lost_words(), &case.ours);
        format!("{}: lost {lost}, ours {ours:?}, expected {expected:?}", case.file)
    });
    ScoreLine::of(PART, name, source, cases.len())
        .share("exact", exact, cases.len())
        .with("lost words", FigureValue::Count(lost))
        .missing(misses.collect())
}

/// Mails `emails/NAME` with what is left of them in `trimmed/NAME`.
fn own_cases(folder: &Path) -> Vec<Case> {
    discourse(folder)
}

impl Case {
    fn is_right(&self) -> bool {
        match &self.expected {
            Expected::Exactly(text) => fold(text) == fold(&self.ours),
            Expected::Holding(text) => fold(&self.ours).contains(&fold(text)),
        }
    }

    fn lost_words(&self) -> usize {
        if self.is_right() {
            return 0;
        }
        let (Expected::Exactly(text) | Expected::Holding(text)) = &self.expected;
        let mut words: HashMap<&str, usize> = HashMap::new();
        for word in self.ours.split_whitespace() {
            *words.entry(word).or_default() += 1;
        }
        text.split_whitespace()
            .filter(|word| match words.get_mut(word) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            })
            .count()
    }
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn discourse(folder: &Path) -> Vec<Case> {
    corpus::files_in(&folder.join("emails"))
        .iter()
        .map(|path| Case {
            file: corpus::name(path),
            ours: mail::trim(&corpus::text(path)),
            expected: Expected::Exactly(corpus::text(
                &folder.join("trimmed").join(corpus::name(path)),
            )),
        })
        .collect()
}

/// Sets that cut a mail into fragments and say what the first is. With one fragment that is the
/// whole mail; with many, the first is only where an answer between quotes begins.
fn fragments(folder: &Path, mails: &str) -> Vec<Case> {
    let expected = corpus::json(&folder.join("expected.json"));
    let Some(expected) = expected["expected"].as_object() else { return Vec::new() };
    let case = |(file, labels): (&String, &Value)| {
        let path = folder.join(mails).join(file);
        if !path.is_file() {
            return None;
        }
        let text = corpus::text(&path);
        let count = labels["fragments"].as_u64();
        let expected = match (labels["visible_text"].as_str(), labels["first_fragment"].as_str()) {
            (Some(visible), _) => Expected::Exactly(visible.to_owned()),
            (None, Some(first)) if count.is_some_and(|count| count > 3) => {
                Expected::Holding(first.to_owned())
            }
            (None, Some(first)) => Expected::Exactly(first.to_owned()),
            (None, None) if count == Some(1) => Expected::Exactly(text.clone()),
            (None, None) => return None,
        };
        Some(Case { file: file.clone(), ours: mail::trim(&text), expected })
    };
    expected.iter().filter_map(case).collect()
}

fn github(folder: &Path) -> Vec<Case> {
    let expected = corpus::json(&folder.join("expected.json"));
    let mut cases = Vec::new();
    for (key, exactly) in [("visible_text", true), ("first_fragment_contains", false)] {
        let Some(labels) = expected[key].as_object() else { continue };
        for (file, label) in labels {
            let path = folder.join("test/emails").join(file);
            let Some(label) = label.as_str().filter(|_| path.is_file()) else { continue };
            let label = label.to_owned();
            cases.push(Case {
                file: file.clone(),
                ours: mail::trim(&corpus::text(&path)),
                expected: if exactly { Expected::Exactly(label) } else { Expected::Holding(label) },
            });
        }
    }
    cases
}

/// Answers of several programs that all say "Hello". The set itself leaves the signatures of
/// telephones in; here they have to go.
fn talon_mails(folder: &Path) -> Vec<Case> {
    let mails = corpus::files_in(folder);
    let mails = mails.iter().filter(|path| path.extension().is_some_and(|end| end == "eml"));
    mails
        .map(|path| Case {
            file: corpus::name(path),
            ours: parse(&fs::read(path).unwrap_or_default(), Envelope::default()).text,
            expected: Expected::Exactly("Hello".to_owned()),
        })
        .collect()
}

/// Answers as HTML that all say the same.
fn talon_pages(folder: &Path) -> Vec<Case> {
    let own = "Hi. I am fine. Thanks, Alex";
    let pages = corpus::files_in(folder);
    pages
        .iter()
        .map(|path| {
            let mut mail = b"Content-Type: text/html; charset=utf-8\n\n".to_vec();
            mail.extend(fs::read(path).unwrap_or_default());
            let ours = parse(&mail, Envelope::default()).text;
            Case { file: corpus::name(path), ours, expected: Expected::Exactly(own.to_owned()) }
        })
        .collect()
}
