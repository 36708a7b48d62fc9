//! What a language model answered, checked before a person sees it: schema, sources, language, and
//! every sentence by what it states and promises.

use std::collections::HashSet;

use base::ids::AnswerId;
use base::limits::REPLY_SUMMARY_CHARS;
use model::messages::answers::{KnownAnswer, language_of, words};
use serde::Deserialize;

use super::case::DraftingCase;
use super::grounding::GroundingValues;
use super::promises::{self, is_promise};
use super::redaction::Redaction;

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

/// Why no draft is made of a model's answer, without words of it or of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerRejection {
    /// The model failed: no answer came, or one that does not match the schema.
    Failed(String),
    /// The model did as it was asked, and its answer is of no use.
    Unusable(&'static str),
}

impl From<&'static str> for AnswerRejection {
    fn from(reason: &'static str) -> AnswerRejection {
        AnswerRejection::Unusable(reason)
    }
}

/// Checks a model's answer.
pub fn check_answer(
    content: &str,
    case: &DraftingCase,
    sources: &[KnownAnswer],
    redaction: &Redaction,
) -> Result<CheckedDraft, AnswerRejection> {
    let answer: ModelAnswer = serde_json::from_str(content)
        .map_err(|_| AnswerRejection::Failed("the answer does not match the schema".into()))?;
    if !answer.answerable {
        return Err("the model found no answer in the sources".into());
    }
    let language = case.language.as_deref().ok_or("the customer's language is not clear")?;
    if !promises::knows(language) {
        return Err("promises in this language are not known".into());
    }
    if answer.language.to_lowercase() != language {
        return Err("the answer is in another language".into());
    }
    if answer.paragraphs.len() > PARAGRAPHS {
        return Err("the answer is too long".into());
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
        return Err("the answer names no source".into());
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
        return Err("the answer is too long".into());
    }
    if words(&text).len() < LEAST_WORDS {
        return Err("nothing of the answer stands in the mail or the sources".into());
    }
    if language_of(&text).is_some_and(|found| found != language) {
        return Err("the answer is in another language".into());
    }
    let check = SentenceCheck::new(language, &mail, cited.iter().copied());
    let missing = answer.missing.iter().map(|line| redaction.restore(&plain(line)));
    let missing: Vec<String> = missing.filter(|line| check.is_grounded(line)).collect();
    let summary = summary(&cited, &left_out, &missing);
    Ok(CheckedDraft { text, sources: cited.iter().map(|one| one.id.clone()).collect(), summary })
}

/// The rules for the sentences of one paragraph.
struct SentenceCheck<'a> {
    language: &'a str,
    grounds: GroundingValues,
    links: GroundingValues,
    /// The sentences of the cited answers, each as its words.
    own_sentences: HashSet<Vec<String>>,
}

impl<'a> SentenceCheck<'a> {
    fn new<'b>(
        language: &'a str,
        mail: &GroundingValues,
        cited: impl Iterator<Item = &'b KnownAnswer>,
    ) -> SentenceCheck<'a> {
        let mut check = SentenceCheck {
            language,
            grounds: mail.clone(),
            links: GroundingValues::default(),
            own_sentences: HashSet::new(),
        };
        for answer in cited {
            check.links.add(&GroundingValues::of(&answer.body, language));
            check.own_sentences.extend(sentences(&answer.body).into_iter().map(words));
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

    /// A whole sentence of a cited answer is the team's own and may promise. A part of one may not:
    /// without its condition it says something else.
    fn passes(&self, sentence: &str) -> bool {
        self.is_grounded(sentence)
            && (self.own_sentences.contains(&words(sentence))
                || !is_promise(sentence, self.language))
    }

    fn is_grounded(&self, sentence: &str) -> bool {
        self.grounds.hold(sentence, self.language, &self.links)
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

/// A text without control characters and without format characters, which would hide a link or a
/// number from the checks.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !(c.is_control() || is_format(*c))).collect()
}

/// The characters of Unicode's category Cf, which are not seen.
fn is_format(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x61c | 0x6dd | 0x70f | 0x8e2 | 0x180e | 0xfeff | 0x110bd | 0x110cd | 0xe0001
        | 0x600..=0x605
        | 0x890..=0x891
        | 0x200b..=0x200f
        | 0x202a..=0x202e
        | 0x2060..=0x206f
        | 0xfff9..=0xfffb
        | 0x13430..=0x1343f
        | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a
        | 0xe0020..=0xe007f
    )
}

fn summary(cited: &[&KnownAnswer], left_out: &[String], missing: &[String]) -> String {
    let titles: Vec<&str> = cited.iter().map(|answer| answer.title.as_str()).collect();
    let mut summary = format!("Written by the model from: {}.", titles.join(", "));
    for sentence in left_out {
        let named = shorten(sentence);
        summary.push_str(&format!(" Left out, because it stands nowhere or promises: “{named}”"));
    }
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(|line| shorten(line)).collect();
        summary.push_str(&format!(" Not found: {}.", missing.join("; ")));
    }
    summary.chars().take(REPLY_SUMMARY_CHARS).collect()
}

fn shorten(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(NAMED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::ids::Ids;
    use model::messages::answers::{AnswerAudience, AnswerKind};

    #[test]
    fn a_text_is_split_into_sentences_and_put_together_again() {
        let text = "Dear Ann,\nit costs 3.50 EUR. Really? Yes!";
        let parts = sentences(text);
        assert_eq!(parts, ["Dear Ann,\n", "it costs 3.50 EUR. ", "Really? ", "Yes!"]);
        assert_eq!(parts.concat(), text);
        assert!(sentences("  ").is_empty());
    }

    fn check() -> SentenceCheck<'static> {
        let answer = KnownAnswer {
            audience: AnswerAudience::Helpers,
            section: String::new(),
            id: AnswerId::new(&Ids::with_seed(1), 1),
            kind: AnswerKind::Answer,
            title: "Fees".to_owned(),
            body: "If you paid twice, we will refund the second debit. It takes 5 days.".to_owned(),
            language: Some("en".to_owned()),
            inboxes: Vec::new(),
            changed_at: 0,
        };
        SentenceCheck::new("en", &GroundingValues::default(), std::iter::once(&answer))
    }

    #[test]
    fn a_promise_of_the_team_passes_as_a_whole_sentence_alone() {
        assert!(check().passes("If you paid twice, we will refund the second debit."));
        assert!(!check().passes("We will refund the second debit."));
        assert!(!check().passes("We will refund the second debit. It takes 5 days."));
    }

    #[test]
    fn a_line_about_what_is_missing_states_nothing_new() {
        assert!(check().is_grounded("Whether the 5 days are over"));
        assert!(!check().is_grounded("Ask at evil.example whether 500 EUR are paid"));
    }

    #[test]
    fn what_is_not_seen_is_taken_out() {
        assert_eq!(plain("evil\u{200b}.c\u{ad}om\u{202e}\u{feff}\n5\u{0}0"), "evil.com\n50");
    }
}
