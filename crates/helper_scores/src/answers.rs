//! Whether the right answer is found first: files of `answers`, each what somebody knows (`= TITLE | TEXT`) with
//! the questions below it, in plain words (`+ QUESTION`) and in others than the answer's (`~ QUESTION`).

use std::path::Path;
use std::time::{Duration, Instant};

use classifier::AnswerIndex;

use crate::corpus::{files_under, name, text};
use crate::{ScoreLine, Source};

const PART: &str = "answers";

pub fn score(corpora: &Path) -> Vec<ScoreLine> {
    let files = files_under(&corpora.join("answers"), "txt");
    if files.is_empty() {
        return vec![ScoreLine::absent(PART, "answers")];
    }
    let file = |path: &std::path::PathBuf| score_file(&name(path), &text(path));
    files.iter().flat_map(file).collect()
}

/// A question, and the place of its answer.
struct Question<'a> {
    text: &'a str,
    answer: usize,
}

fn score_file(file: &str, text: &str) -> [ScoreLine; 2] {
    let (mut answers, mut plain, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((sign, rest)) = line.split_once(' ') else { continue };
        let question = Question { text: rest, answer: answers.len().saturating_sub(1) };
        match sign {
            "=" => answers.push(rest.split_once(" | ").unwrap_or((rest, ""))),
            "+" => plain.push(question),
            "~" => other.push(question),
            _ => {}
        }
    }
    let index = AnswerIndex::new(answers.iter().copied());
    [("plain", plain), ("other words", other)].map(|(kind, questions)| {
        score_questions(&index, format!("{file}, {kind}"), Source::of_file(file), &questions)
    })
}

fn score_questions(
    index: &AnswerIndex,
    name: String,
    source: Source,
    questions: &[Question<'_>],
) -> ScoreLine {
    /// Answers that a person looks at.
    const SEEN: usize = 3;
    let (mut first, mut among_three, mut misses) = (0, 0, Vec::new());
    let mut time = Duration::ZERO;
    for question in questions {
        let begun = Instant::now();
        let found = index.search(question.text);
        time += begun.elapsed();
        let place = found.iter().position(|one| one.place == question.answer);
        first += usize::from(place == Some(0));
        among_three += usize::from(place.is_some_and(|place| place < SEEN));
        if place != Some(0) {
            misses.push(question.text.to_owned());
        }
    }
    ScoreLine::of(PART, name, source, questions.len())
        .share("first", first, questions.len())
        .share("among three", among_three, questions.len())
        .time_of(time)
        .missing(misses)
}
