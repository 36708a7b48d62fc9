//! Scores what the helpers make of a folder of labelled mail, touching no data.
//!
//! The folder has one folder for each part: `urgency`, `topics`, `injection`, `phishing`, `modern-ham` and
//! so on. Some sources were looked at while rules were written ([`Source::Development`]), others never
//! were ([`Source::KeptAside`]), and both are told apart, since rules that fit only what they were made
//! with are worth little. A file is of the first kind where its name has the part `dev`.
//!
//! Deliberately absent: the network, the store, and whatever a helper learned in a workspace.

mod answers;
mod corpus;
mod injections;
mod invoices;
mod languages;
mod scams;
mod topics;
mod trimming;
mod urgencies;

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// What rules were written with, and what they were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Development,
    KeptAside,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Development => "development",
            Source::KeptAside => "kept aside",
        }
    }

    /// The kind of a file of rows.
    fn of_file(name: &str) -> Source {
        let development = name.split(['.', '/']).any(|part| part == "dev");
        if development { Source::Development } else { Source::KeptAside }
    }
}

/// One line of the table: what came of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreLine {
    /// The helper: `urgency`.
    pub part: &'static str,
    /// Where the mails come from.
    pub name: String,
    pub source: Source,
    /// How many were scored; 0 where the folder has none.
    pub cases: usize,
    pub figures: Vec<Figure>,
    /// What came out wrong, of development sources alone.
    pub misses: Vec<String>,
}

/// A figure of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub name: &'static str,
    pub value: FigureValue,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureValue {
    Count(usize),
    /// A part of all; none of nothing.
    Share(usize, usize),
    Milliseconds(f64),
}

impl FigureValue {
    /// As people read it.
    pub fn words(self) -> String {
        match self {
            FigureValue::Count(count) => count.to_string(),
            FigureValue::Share(_, 0) => "–".to_owned(),
            FigureValue::Share(part, all) => format!("{:.3}", part as f64 / all as f64),
            FigureValue::Milliseconds(time) => format!("{time:.2} ms"),
        }
    }

    fn json(self) -> Value {
        match self {
            FigureValue::Count(count) => json!(count),
            FigureValue::Share(_, 0) => Value::Null,
            FigureValue::Share(part, all) => {
                json!((part as f64 / all as f64 * 10_000.0).round() / 10_000.0)
            }
            FigureValue::Milliseconds(time) => json!((time * 1_000.0).round() / 1_000.0),
        }
    }
}

impl ScoreLine {
    fn of(part: &'static str, name: impl Into<String>, source: Source, cases: usize) -> ScoreLine {
        let (figures, misses) = (Vec::new(), Vec::new());
        ScoreLine { part, name: name.into(), source, cases, figures, misses }
    }

    /// A source that the folder does not have.
    fn absent(part: &'static str, name: impl Into<String>) -> ScoreLine {
        ScoreLine::of(part, name, Source::Development, 0)
    }

    fn with(mut self, name: &'static str, value: FigureValue) -> ScoreLine {
        self.figures.push(Figure { name, value });
        self
    }

    fn share(self, name: &'static str, part: usize, all: usize) -> ScoreLine {
        self.with(name, FigureValue::Share(part, all))
    }

    /// How long each case took, of the time of all.
    fn time_of(self, all: Duration) -> ScoreLine {
        let each = all.as_secs_f64() * 1_000.0 / self.cases.max(1) as f64;
        self.with("time each", FigureValue::Milliseconds(each))
    }

    /// What went wrong, where somebody may look at it.
    fn missing(mut self, misses: Vec<String>) -> ScoreLine {
        if self.source == Source::Development {
            self.misses = misses;
        }
        self
    }

    /// The figures as people read them.
    pub fn figure_words(&self) -> String {
        if self.cases == 0 {
            return "not in the folder".to_owned();
        }
        let words = self.figures.iter().map(|one| format!("{} {}", one.name, one.value.words()));
        words.collect::<Vec<_>>().join(", ")
    }

    pub fn json(&self) -> Value {
        let figures = self.figures.iter().map(|one| (one.name.to_owned(), one.value.json()));
        json!({
            "part": self.part,
            "name": self.name,
            "source": (self.cases > 0).then_some(self.source.as_str()),
            "cases": self.cases,
            "figures": figures.collect::<Map<String, Value>>(),
        })
    }
}

/// Every line that can be made of a folder. A source that it does not have is a line of no cases.
pub fn score(folder: &Path) -> Vec<ScoreLine> {
    let parts = [
        languages::score,
        urgencies::score,
        topics::score,
        answers::score,
        scams::score,
        injections::score,
        trimming::score,
        invoices::score,
    ];
    parts.iter().flat_map(|part| part(folder)).collect()
}

/// The lines as a table.
pub fn table(lines: &[ScoreLine]) -> String {
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or_default();
    let row = |line: &ScoreLine| {
        let source = if line.cases == 0 { "" } else { line.source.as_str() };
        format!(
            "{:<10} {:<width$} {source:<11} {:>6}  {}",
            line.part,
            line.name,
            line.cases,
            line.figure_words()
        )
    };
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sources_are_told_apart_and_what_is_absent_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let urgency = folder.path().join("urgency");
        fs::create_dir(&urgency).expect("a folder");
        let row = |label: &str, text: &str| {
            json!({ "lang": "en", "subject": "Kitchen", "text": text, "urgency": label })
                .to_string()
        };
        let rows = [
            row("high", "There is a smell of gas in the kitchen."),
            row("low", "There is a smell of gas in the kitchen."),
        ];
        fs::write(urgency.join("dev.jsonl"), rows.join("\n")).expect("a file");
        fs::write(urgency.join("other.jsonl"), &rows[0]).expect("a file");
        let answers = folder.path().join("answers");
        fs::create_dir(&answers).expect("a folder");
        let known = "# a remark\n= Opening hours | From nine to five.\n= Refunds | You get the money back.\n\
                     + Refund\n~ I want to be reimbursed";
        fs::write(answers.join("shop.dev.txt"), known).expect("a file");
        let lines = score(folder.path());
        let line = |part: &str, name: &str| {
            let found = lines.iter().find(|line| line.part == part && line.name.starts_with(name));
            found.expect("a line").clone()
        };
        let development = line("urgency", "dev.jsonl");
        assert_eq!((development.source, development.cases), (Source::Development, 2));
        let words = development.figure_words();
        let expected = "accuracy 0.500, urgent found 1.000, precision 0.500, time each ";
        assert!(words.starts_with(expected), "{words}");
        assert_eq!(development.misses.len(), 1);
        let aside = line("urgency", "other.jsonl");
        assert_eq!((aside.source, aside.cases), (Source::KeptAside, 1));
        assert_eq!(aside.json()["figures"]["accuracy"], json!(1.0));
        assert_eq!(line("language", "urgency/other.jsonl, the eight").cases, 1);
        let language = line("language", "urgency/dev.jsonl, the eight");
        assert_eq!((language.source, language.cases), (Source::Development, 2));
        let answers = line("answers", "shop.dev.txt, other words");
        assert_eq!((answers.source, answers.cases), (Source::Development, 1));
        assert!(answers.figure_words().starts_with("first 1.000, among three 1.000, time each "));
        let absent = line("topics", "topics");
        assert_eq!((absent.cases, absent.figure_words()), (0, "not in the folder".to_owned()));
        assert_eq!(absent.json()["source"], Value::Null);
        assert!(table(&lines).contains("kept aside"));
    }
}
