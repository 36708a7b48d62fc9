//! What a language model answered, checked before a person sees it: schema, sources, language, and
//! every sentence by what it states and promises.

use serde::Deserialize;

use super::case::DraftingCase;
use super::grounds::Grounds;
use super::promises::{self, is_promise};
use super::redaction::Redaction;
use crate::base::ids::AnswerId;
use crate::base::limits::REPLY_SUMMARY_CHARS;
use crate::model::answers::{KnownAnswer, language_of, words};

/// Paragraphs and characters of a draft.
const PARAGRAPHS: usize = 12;
const DRAFT_CHARS: usize = 4_000;
/// Characters of a sentence that the summary names.
const NAMED_CHARS: usize = 90;
/// Words below which a draft says nothing.
const LEAST_WORDS: usize = 5;

/// A model's answer as its schema has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelAnswer {
    answerable: bool,
    language: String,
    paragraphs: Vec<ModelParagraph>,
    missing: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelParagraph {
    text: String,
    sources: Vec<String>,
}

/// A draft that passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedDraft {
    pub text: String,
    /// The answers that it rests on, by their first mention.
    pub sources: Vec<AnswerId>,
    /// What it rests on, what was left out, and what the model could not find.
    pub summary: String,
}

/// Checks a model's answer; the error says why no draft is made of it, without its words.
pub fn check_answer(
    content: &str,
    case: &DraftingCase,
    sources: &[KnownAnswer],
    redaction: &Redaction,
) -> Result<CheckedDraft, &'static str> {
    let answer: ModelAnswer =
        serde_json::from_str(content).map_err(|_| "the answer does not match the schema")?;
    if !answer.answerable {
        return Err("the model found no answer in the sources");
    }
    let language = case.language.as_deref().ok_or("the customer's language is not clear")?;
    if !promises::knows(language) {
        return Err("promises in this language are not known");
    }
    if answer.language.to_lowercase() != language {
        return Err("the answer is in another language");
    }
    if answer.paragraphs.len() > PARAGRAPHS {
        return Err("the answer is too long");
    }
    let mut cited: Vec<&KnownAnswer> = Vec::new();
    for id in answer.paragraphs.iter().flat_map(|paragraph| &paragraph.sources) {
        let source = sources.iter().find(|source| source.id.as_str() == id);
        let source = source.ok_or("the answer names a source that was not given")?;
        if !cited.iter().any(|known| known.id == source.id) {
            cited.push(source);
        }
    }
    if cited.is_empty() {
        return Err("the answer names no source");
    }
    let mail = case.grounds(language);
    let mut left_out = Vec::new();
    let mut paragraphs = Vec::new();
    for paragraph in &answer.paragraphs {
        let own = cited
            .iter()
            .filter(|source| paragraph.sources.iter().any(|id| *id == source.id.as_str()));
        let check = SentenceCheck::new(language, &mail, own.copied());
        let text = redaction.restore(&plain(&paragraph.text));
        let (kept, mut failed) = check.keep(&text);
        left_out.append(&mut failed);
        if !kept.is_empty() {
            paragraphs.push(kept);
        }
    }
    let text = paragraphs.join("\n\n");
    if text.chars().count() > DRAFT_CHARS {
        return Err("the answer is too long");
    }
    if words(&text).len() < LEAST_WORDS {
        return Err("nothing of the answer stands in the mail or the sources");
    }
    if language_of(&text).is_some_and(|found| found != language) {
        return Err("the answer is in another language");
    }
    let missing: Vec<String> =
        answer.missing.iter().map(|line| redaction.restore(&plain(line))).collect();
    let summary = summary(&cited, &left_out, &missing);
    Ok(CheckedDraft { text, sources: cited.iter().map(|one| one.id.clone()).collect(), summary })
}

/// The rules for the sentences of one paragraph.
struct SentenceCheck<'a> {
    language: &'a str,
    grounds: Grounds,
    links: Grounds,
    /// The words of the cited answers, in their order.
    own_words: Vec<Vec<String>>,
}

impl<'a> SentenceCheck<'a> {
    fn new<'b>(
        language: &'a str,
        mail: &Grounds,
        cited: impl Iterator<Item = &'b KnownAnswer>,
    ) -> SentenceCheck<'a> {
        let mut check = SentenceCheck {
            language,
            grounds: mail.clone(),
            links: Grounds::default(),
            own_words: Vec::new(),
        };
        for answer in cited {
            check.links.add(&Grounds::of(&answer.body, language));
            check.own_words.push(words(&answer.body));
        }
        check.grounds.add(&check.links);
        check
    }

    /// The sentences that pass, as a text, and those that do not.
    fn keep(&self, text: &str) -> (String, Vec<String>) {
        let (mut kept, mut failed) = (String::new(), Vec::new());
        for sentence in sentences(text) {
            if self.passes(sentence) {
                kept.push_str(sentence);
            } else {
                failed.push(sentence.trim().to_owned());
            }
        }
        (kept.trim().to_owned(), failed)
    }

    /// A sentence of a cited answer is the team's own, and may say what it likes.
    fn passes(&self, sentence: &str) -> bool {
        let spoken = words(sentence);
        let is_own = !spoken.is_empty()
            && self.own_words.iter().any(|answer| {
                answer.windows(spoken.len()).any(|window| window == spoken.as_slice())
            });
        self.grounds.hold(sentence, self.language, &self.links)
            && (is_own || !is_promise(sentence, self.language))
    }
}

/// The sentences of a text, each with the white space after it; a line is a sentence, too.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        if ended && !c.is_whitespace() {
            found.push(&text[start..at]);
            start = at;
            ended = false;
        }
        let next_is_space =
            text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace);
        ended |= c == '\n' || (matches!(c, '.' | '!' | '?' | '…') && next_is_space);
    }
    found.push(&text[start..]);
    found.retain(|sentence| !sentence.trim().is_empty());
    found
}

/// A text without control characters.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

fn summary(cited: &[&KnownAnswer], left_out: &[String], missing: &[String]) -> String {
    let titles: Vec<&str> = cited.iter().map(|answer| answer.title.as_str()).collect();
    let mut summary = format!("Written by the model from: {}.", titles.join(", "));
    for sentence in left_out {
        let named = shortened(sentence);
        summary.push_str(&format!(" Left out, because it stands nowhere or promises: “{named}”"));
    }
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(|line| shortened(line)).collect();
        summary.push_str(&format!(" Not found: {}.", missing.join("; ")));
    }
    summary.chars().take(REPLY_SUMMARY_CHARS).collect()
}

fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(NAMED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_sentences_and_put_together_again() {
        let text = "Dear Ann,\nit costs 3.50 EUR. Really? Yes!";
        let parts = sentences(text);
        assert_eq!(parts, ["Dear Ann,\n", "it costs 3.50 EUR. ", "Really? ", "Yes!"]);
        assert_eq!(parts.concat(), text);
        assert!(sentences("  ").is_empty());
    }
}
