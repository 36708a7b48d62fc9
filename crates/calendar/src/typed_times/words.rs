//! The words by which days and times are typed, read from `words.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

const FILE: &str = include_str!("words.txt");
/// The language that is understood beside every other.
const ENGLISH: &str = "en";

static LANGUAGES: LazyLock<HashMap<&'static str, LanguageWords>> = LazyLock::new(|| {
    let sections = FILE.split("\n[").skip(1);
    sections
        .filter_map(|section| {
            let (code, lines) = section.split_once("]\n")?;
            Some((code, LanguageWords::parse(lines)))
        })
        .collect()
});

/// What a word of a date means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateWord {
    /// Says nothing: `on`, `at`.
    Skip,
    /// Makes hours a length of time: `in 2 hours`.
    In,
    /// Stands behind an hour: `Uhr`.
    HourMark,
    /// A day, counted from today.
    DaysFromToday(i64),
    One,
    Noon,
    Unit(TimeUnit),
    /// Counted from 1, which is Monday.
    Weekday(i8),
    Month(i8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Days,
    Weeks,
    Months,
    Hours,
    Minutes,
}

struct LanguageWords {
    form: &'static str,
    words: HashMap<String, Vec<DateWord>>,
    /// Those of several words, with `_` between them.
    phrases: Vec<&'static str>,
}

impl LanguageWords {
    fn parse(lines: &'static str) -> LanguageWords {
        let (mut form, mut phrases) = ("%Y-%m-%d", Vec::new());
        let mut words: HashMap<String, Vec<DateWord>> = HashMap::new();
        for (key, rest) in lines.lines().filter_map(|line| line.split_once(' ')) {
            let Some(meaning) = meaning(key) else {
                form = rest;
                continue;
            };
            for word in rest.split(' ') {
                words.entry(word.to_owned()).or_default().push(meaning);
                phrases.extend(Some(word).filter(|word| word.contains('_')));
            }
        }
        LanguageWords { form, words, phrases }
    }
}

/// What the words of a line mean; `None` for the line that says how a day is shown.
fn meaning(key: &str) -> Option<DateWord> {
    let number = |prefix: &str| key.strip_prefix(prefix)?.parse().ok();
    Some(match key {
        "skip" => DateWord::Skip,
        "in" => DateWord::In,
        "hour_mark" => DateWord::HourMark,
        "yesterday" => DateWord::DaysFromToday(-1),
        "today" => DateWord::DaysFromToday(0),
        "tomorrow" => DateWord::DaysFromToday(1),
        "after_tomorrow" => DateWord::DaysFromToday(2),
        "one" => DateWord::One,
        "noon" => DateWord::Noon,
        "days" => DateWord::Unit(TimeUnit::Days),
        "weeks" => DateWord::Unit(TimeUnit::Weeks),
        "months" => DateWord::Unit(TimeUnit::Months),
        "hours" => DateWord::Unit(TimeUnit::Hours),
        "minutes" => DateWord::Unit(TimeUnit::Minutes),
        _ => match (number("weekday_"), number("month_")) {
            (Some(weekday), _) => DateWord::Weekday(weekday),
            (_, Some(month)) => DateWord::Month(month),
            _ => return None,
        },
    })
}

/// How a day is shown, as `strftime` has it; as ISO 8601 has it where the language is unknown.
pub(super) fn form(language: &str) -> &'static str {
    LANGUAGES.get(language).map_or("%Y-%m-%d", |known| known.form)
}

/// What a word means to somebody who reads the language, then what it means in English.
pub(super) fn meanings(language: &str, word: &str) -> Vec<DateWord> {
    let of = |language: &str| LANGUAGES.get(language)?.words.get(word);
    [of(language), of(ENGLISH)].into_iter().flatten().flatten().copied().collect()
}

/// The text with `_` inside of what is one word here.
pub(super) fn join_phrases(language: &str, text: &str) -> String {
    let known = [language, ENGLISH].into_iter().filter_map(|language| LANGUAGES.get(language));
    let phrases = known.flat_map(|known| &known.phrases);
    phrases.fold(text.to_owned(), |text, phrase| text.replace(&phrase.replace('_', " "), phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_word() {
        assert_eq!(LANGUAGES.len(), 9);
        for (code, language) in LANGUAGES.iter() {
            let has = |meaning| language.words.values().any(|known| known.contains(&meaning));
            for number in 1..=12 {
                assert!(has(DateWord::Month(number)), "{code}: month {number}");
                assert!(number > 7 || has(DateWord::Weekday(number)), "{code}: weekday {number}");
            }
            for days in -1..=2 {
                assert!(has(DateWord::DaysFromToday(days)), "{code}: {days} days from today");
            }
            for unit in [TimeUnit::Days, TimeUnit::Weeks, TimeUnit::Months, TimeUnit::Hours] {
                assert!(has(DateWord::Unit(unit)), "{code}: {unit:?}");
            }
            assert!(language.form.contains("%Y"), "{code}");
        }
    }
}
