//! Which of a team's answers fit a question: by words, by pieces of words and by meaning.

use std::collections::{HashMap, HashSet};

use phrases::folded_words;

use crate::features::TextFeatures;
use crate::meaning::Meaning;
use crate::nearest::PastMail;

/// Words of a question that are looked for, and words of an answer that are looked at.
const QUERY_WORDS: usize = 40;
const ANSWER_WORDS: usize = 2_000;
/// How alike a question and an answer must be to be found without a word in common: by pieces of
/// words, and by meaning.
const ALIKE: f32 = 0.2;
const SAME_MATTER: f32 = 0.3;
/// How much the words of a question count beside its meaning.
const WORD_SHARE: f32 = 2.0;
/// What a word in the title is worth, and what one that begins so; and of the text.
const IN_TITLE: f32 = 3.0;
const BEGINS_IN_TITLE: f32 = 2.0;
const IN_TEXT: f32 = 1.0;
const BEGINS_IN_TEXT: f32 = 0.5;
/// Characters of a word that others may begin with.
const BEGINNING_CHARS: usize = 3;

/// Answers that are compared with questions.
pub struct AnswerIndex {
    answers: Vec<AnswerEntry>,
    past: PastMail,
}

struct AnswerEntry {
    title_words: HashSet<String>,
    text_words: HashSet<String>,
    title_meaning: Option<Meaning>,
    text_meaning: Option<Meaning>,
}

/// An answer beside a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerMatch {
    /// Its place among the answers.
    pub place: usize,
    pub score: f32,
}

impl AnswerIndex {
    /// Of the titles and texts.
    pub fn new<'a>(answers: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> AnswerIndex {
        let whole: Vec<TextFeatures> = answers
            .clone()
            .map(|(title, text)| TextFeatures::of(&format!("{title} {text}")))
            .collect();
        let entry = |(title, text)| AnswerEntry {
            title_words: words(title, ANSWER_WORDS).into_iter().collect(),
            text_words: words(text, ANSWER_WORDS).into_iter().collect(),
            title_meaning: Meaning::of(title),
            text_meaning: Meaning::of(text),
        };
        AnswerIndex { answers: answers.map(entry).collect(), past: PastMail::new(&whole) }
    }

    /// The answers that fit, the best first. Rare words count more, and those in the title most;
    /// likeness forgives spelling, and meaning finds what is said in other words.
    pub fn search(&self, question: &str) -> Vec<AnswerMatch> {
        let wanted = words(question, QUERY_WORDS);
        let rarity = self.rarity(&wanted);
        let most: f32 = wanted.iter().map(|word| rarity[word.as_str()] * IN_TITLE).sum();
        let features = TextFeatures::of(question);
        let alike = self.past.likeness(&features);
        let same_matter = self.past.meaning_likeness(&features);
        let meaning = Meaning::of_features(&features);
        let near = |other: &Option<Meaning>| match (&meaning, other) {
            (Some(meaning), Some(other)) => meaning.likeness(other),
            _ => 0.0,
        };
        let score = |place: usize| {
            let answer = &self.answers[place];
            let fitting = |word: &String| answer.fits(word) * rarity[word.as_str()];
            let words: f32 = wanted.iter().map(fitting).sum();
            let likeness = if alike[place] >= ALIKE { alike[place] } else { 0.0 };
            let is_found = words > 0.0 || likeness > 0.0 || same_matter[place] >= SAME_MATTER;
            let by_words = if most > 0.0 { WORD_SHARE * words / most } else { 0.0 };
            let by_meaning = near(&answer.title_meaning) + near(&answer.text_meaning);
            is_found.then_some(by_words + likeness + by_meaning)
        };
        let places = 0..self.answers.len();
        let mut found: Vec<AnswerMatch> =
            places.filter_map(|place| Some(AnswerMatch { place, score: score(place)? })).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        found
    }

    fn rarity<'a>(&self, wanted: &'a [String]) -> HashMap<&'a str, f32> {
        let all = self.answers.len() as f32;
        let rare = |word: &'a String| {
            let with_it = self.answers.iter().filter(|one| one.fits(word) > 0.0).count() as f32;
            (word.as_str(), ((1.0 + all) / (1.0 + with_it)).ln() + 0.1)
        };
        wanted.iter().map(rare).collect()
    }
}

impl AnswerEntry {
    /// How well a word fits: in the title or the text, whole or as a beginning.
    fn fits(&self, word: &str) -> f32 {
        let begins = |words: &HashSet<String>| {
            word.chars().count() >= BEGINNING_CHARS && words.iter().any(|one| one.starts_with(word))
        };
        if self.title_words.contains(word) {
            IN_TITLE
        } else if begins(&self.title_words) {
            BEGINS_IN_TITLE
        } else if self.text_words.contains(word) {
            IN_TEXT
        } else if begins(&self.text_words) {
            BEGINS_IN_TEXT
        } else {
            0.0
        }
    }
}

fn words(text: &str, most: usize) -> Vec<String> {
    folded_words(text, most).into_iter().map(|word| word.folded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERS: [(&str, &str); 3] = [
        ("Fee taken twice", "When a fee is debited two times, we send the second one back."),
        ("Opening hours", "The office is open from nine to five."),
        ("Which receipts we need", "Date, total, seller and what was bought."),
    ];

    fn search_titles(question: &str) -> Vec<&'static str> {
        let found = AnswerIndex::new(ANSWERS.into_iter()).search(question);
        found.into_iter().map(|one| ANSWERS[one.place].0).collect()
    }

    #[test]
    fn the_best_match_comes_first() {
        assert_eq!(search_titles("my fee was taken two times")[0], "Fee taken twice");
        assert_eq!(search_titles("receipts")[0], "Which receipts we need");
        assert_eq!(search_titles("recei")[0], "Which receipts we need");
        assert_eq!(search_titles("zebra"), [""; 0]);
    }

    #[test]
    fn an_answer_in_other_words_is_found() {
        assert_eq!(search_titles("You charged me double")[0], "Fee taken twice");
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert_eq!(AnswerIndex::new([].into_iter()).search("fee"), []);
        assert_eq!(search_titles("…"), [""; 0]);
    }
}
