//! Whether what a sentence states stands in the mail or in an answer: numbers, amounts, dates,
//! addresses, links and references.

use std::collections::HashSet;

use super::particulars::{ParticularKind, is_date_word, particulars};
use crate::model::answers::words;

/// What texts state, in a form that can be compared.
#[derive(Clone, Debug, Default)]
pub struct Grounds {
    stated: HashSet<String>,
}

impl Grounds {
    /// What a text in this language states.
    pub fn of(text: &str, language: &str) -> Grounds {
        let stated = statements(text, language);
        Grounds { stated: stated.into_iter().map(|(_, statement)| statement).collect() }
    }

    pub fn add(&mut self, other: &Grounds) {
        self.stated.extend(other.stated.iter().cloned());
    }

    /// True when everything that a sentence states is here. A link has to be in `links`, which come
    /// from answers alone: a customer's link is never sent back as ours.
    pub fn hold(&self, sentence: &str, language: &str, links: &Grounds) -> bool {
        statements(sentence, language).iter().all(|(kind, statement)| match kind {
            ParticularKind::Link => links.stated.contains(statement),
            _ => self.stated.contains(statement),
        })
    }
}

/// What a text states: each as letters and digits alone, so that `1,234.50` and `1.234,50` are the
/// same, and a number in words as its digits.
fn statements(text: &str, language: &str) -> Vec<(ParticularKind, String)> {
    let mut stated = Vec::new();
    for particular in particulars(text, &[]) {
        let value = &text[particular.start..particular.end];
        match particular.kind {
            ParticularKind::Link | ParticularKind::Address => {
                let plain = value.trim_end_matches('/').to_lowercase();
                stated.push((particular.kind, plain));
            }
            // The groups of a telephone number are no numbers of their own.
            ParticularKind::Number => stated.push((particular.kind, words(value).concat())),
            // A date is grounded part by part: its day, its month and its year.
            ParticularKind::Date | ParticularKind::Name => {
                stated.extend(parts(value).map(|part| (ParticularKind::Number, part)));
            }
        }
    }
    let numbers = words(text).into_iter().filter_map(|word| number_word(&word, language));
    stated.extend(numbers.map(|number| (ParticularKind::Number, number.to_string())));
    stated
}

/// The parts of a number or date: words with a digit as letters and digits, and names of days and
/// months.
fn parts(value: &str) -> impl Iterator<Item = String> + '_ {
    value.split_whitespace().filter_map(|word| {
        let folded: String = words(word).concat();
        let has_digit = folded.chars().any(char::is_numeric);
        (has_digit || is_date_word(&folded)).then_some(folded)
    })
}

/// The value of a number in words. One is left out: it is an article in most languages.
fn number_word(word: &str, language: &str) -> Option<i64> {
    let (_, listed) = NUMBER_WORDS.iter().find(|(code, _)| *code == language)?;
    let place = listed.split_whitespace().position(|listed| listed == word)?;
    NUMBER_VALUES.get(place).copied()
}

const NUMBER_VALUES: [i64; 17] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 20, 30, 100, 1_000];

/// The numbers of `NUMBER_VALUES` in words, without accents.
const NUMBER_WORDS: [(&str, &str); 7] = [
    (
        "en",
        "two three four five six seven eight nine ten eleven twelve fourteen fifteen twenty thirty \
         hundred thousand",
    ),
    (
        "de",
        "zwei drei vier funf sechs sieben acht neun zehn elf zwolf vierzehn funfzehn zwanzig dreissig \
         hundert tausend",
    ),
    (
        "fr",
        "deux trois quatre cinq six sept huit neuf dix onze douze quatorze quinze vingt trente cent \
         mille",
    ),
    (
        "es",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce catorce quince veinte treinta cien \
         mil",
    ),
    (
        "it",
        "due tre quattro cinque sei sette otto nove dieci undici dodici quattordici quindici venti \
         trenta cento mille",
    ),
    (
        "nl",
        "twee drie vier vijf zes zeven acht negen tien elf twaalf veertien vijftien twintig dertig \
         honderd duizend",
    ),
    (
        "pt",
        "dois tres quatro cinco seis sete oito nove dez onze doze catorze quinze vinte trinta cem mil",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(sentence: &str) -> bool {
        let mail = Grounds::of(
            "348.00 EUR, order HM-2026-1044 of 9 November, +49 40 5550 1141, ann@x.example, see \
             http://evil.example/x",
            "en",
        );
        let answer = Grounds::of(
            "Returned fees arrive within five bank days, see https://acme.example/fees.",
            "en",
        );
        let mut all = mail;
        all.add(&answer);
        all.hold(sentence, "en", &answer)
    }

    #[test]
    fn what_the_mail_or_the_answer_states_holds() {
        for sentence in [
            "The 348.00 EUR of 9 November arrive within five bank days.",
            "It takes 5 bank days.",
            "The order HM-2026-1044 is known to us.",
            "We write to ann@x.example, and https://acme.example/fees/ has more.",
            "Thank you for your patience.",
            "348,00 is right.",
            "We call you on +49 40 5550 1141.",
        ] {
            assert!(holds(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_stands_nowhere_does_not_hold() {
        for sentence in [
            "You get 349.00 EUR.",
            "You get 40 EUR.",
            "It takes three bank days.",
            "It arrives on 10 November.",
            "It arrives tomorrow.",
            "It arrives in December.",
            "The order HM-2026-1045 is known.",
            "Write to bob@x.example.",
            "See acme.example.",
            "See http://evil.example/x.",
            "Hello [NAME-4],",
        ] {
            assert!(!holds(sentence), "{sentence}");
        }
    }
}
