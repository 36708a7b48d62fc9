//! What speaks for each language of a script: its frequent words, its letters, and runs of three
//! letters where these leave it open.

use std::collections::HashMap;
use std::sync::LazyLock;

use phrases::folded_words;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use whatlang::Detector;

use super::MailLanguage;
use super::script::Script;

/// Points from which on a language is named, for a short text and for each word of a longer one.
const ENOUGH: f64 = 0.7;
const ENOUGH_A_WORD: f64 = 0.09;
/// Letters of the known words from which on a text says anything: `a` and `no` are in many languages.
const KNOWN_LETTERS: usize = 3;
/// How far a language must be ahead of the next one.
const AHEAD: f64 = 0.12;
/// How far it must be ahead for runs of letters not to be asked.
const FAR_AHEAD: f64 = 1.2;
/// Languages so far behind the first are out of the question.
const BEHIND: f64 = 1.0;
/// Points of a word that is written without its accents.
const PLAIN_WORD: f64 = 0.6;
/// Points of a letter that a language has, shared between those that have it, and what a letter
/// counts against one that has not.
const OWN_LETTER: f64 = 0.9;
const STRANGE_LETTER: f64 = 0.5;
/// Different letters of a text that are looked at.
const LETTERS: usize = 16;
/// Bytes of a text whose runs of letters are compared.
const RUN_BYTES: usize = 400;
/// Points for the language that runs of letters name, and more the surer they are.
const RUNS: f64 = 0.5;
const SURE_RUNS: f64 = 1.2;

/// Frequent words and letters of the languages.
struct LanguageTable {
    /// By a word as it is written, and by the same without accents.
    exact: HashMap<String, Vec<MailLanguage>>,
    plain: HashMap<String, Vec<MailLanguage>>,
    letters: HashMap<char, Vec<MailLanguage>>,
}

static TABLE: LazyLock<LanguageTable> =
    LazyLock::new(|| LanguageTable::parse(include_str!("words.txt")));

impl LanguageTable {
    fn parse(file: &str) -> LanguageTable {
        let mut table =
            LanguageTable { exact: HashMap::new(), plain: HashMap::new(), letters: HashMap::new() };
        let mut language = None;
        for line in file.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(code) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                let known = MailLanguage::ALL.iter().find(|known| known.as_str() == code);
                language = Some(*known.expect("the file names known languages"));
                continue;
            }
            let Some(language) = language else { continue };
            match line.strip_prefix('+') {
                Some(letters) => {
                    letters.trim().chars().for_each(|letter| {
                        push_new(table.letters.entry(letter).or_default(), language);
                    });
                }
                None => table.add_words(line, language),
            }
        }
        table
    }

    fn add_words(&mut self, line: &str, language: MailLanguage) {
        for word in folded_words(line, usize::MAX) {
            let exact = line[word.start..word.end].to_lowercase();
            push_new(self.exact.entry(exact).or_default(), language);
            push_new(self.plain.entry(word.folded).or_default(), language);
        }
    }
}

fn push_new(languages: &mut Vec<MailLanguage>, language: MailLanguage) {
    if !languages.contains(&language) {
        languages.push(language);
    }
}

/// The language of a script that a text is in, if it is clear.
pub(super) fn best_of(script: Script, text: &str, most: usize) -> Option<MailLanguage> {
    let composed: String;
    let text = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text,
        _ => {
            composed = text.nfc().collect();
            &composed
        }
    };
    let words = folded_words(text, most);
    let end = words.last()?.end;
    let mut points = PointTable::of(script);
    let mut met: Vec<char> = Vec::new();
    let (mut known, mut own_letters) = (0, 0);
    for word in &words {
        let exact = text[word.start..word.end].to_lowercase();
        if let Some(languages) = TABLE.exact.get(&exact) {
            points.share(languages, 1.0);
            known += exact.chars().count();
        } else if exact == word.folded
            && let Some(languages) = TABLE.plain.get(&exact)
        {
            points.share(languages, PLAIN_WORD);
            known += exact.len();
        }
        for letter in exact.chars().filter(|c| !c.is_ascii()) {
            if met.len() < LETTERS && !met.contains(&letter) {
                met.push(letter);
            }
        }
    }
    for letter in met {
        if let Some(languages) = TABLE.letters.get(&letter) {
            own_letters += 1;
            points.share(languages, OWN_LETTER);
            points.object(languages, STRANGE_LETTER);
        }
    }
    if known < KNOWN_LETTERS && own_letters == 0 {
        return None;
    }
    let (best, next) = points.first_two();
    if best.1 - next < FAR_AHEAD {
        points.ask_runs(&text[..end.min(text.floor_char_boundary(RUN_BYTES))]);
    }
    let (best, next) = points.first_two();
    let enough = ENOUGH.max(ENOUGH_A_WORD * words.len() as f64);
    (best.1 >= enough && best.1 - next >= AHEAD).then_some(best.0)
}

/// What speaks for each language of a script.
struct PointTable(Vec<(MailLanguage, f64)>);

impl PointTable {
    fn of(script: Script) -> PointTable {
        let all = MailLanguage::ALL.iter().filter(|language| language.script() == script);
        PointTable(all.map(|language| (*language, 0.0)).collect())
    }

    /// Points for some languages: the more there are, the less for each.
    fn share(&mut self, languages: &[MailLanguage], points: f64) {
        let each = points / (languages.len() as f64).sqrt();
        let told = self.0.iter_mut().filter(|(language, _)| languages.contains(language));
        told.for_each(|(_, sum)| *sum += each);
    }

    fn object(&mut self, languages: &[MailLanguage], points: f64) {
        let others = self.0.iter_mut().filter(|(language, _)| !languages.contains(language));
        others.for_each(|(_, sum)| *sum -= points);
    }

    /// The best language with its points, and the points of the next one.
    fn first_two(&self) -> ((MailLanguage, f64), f64) {
        let mut best = self.0[0];
        let mut next = f64::NEG_INFINITY;
        for one in &self.0[1..] {
            if one.1 > best.1 {
                next = best.1;
                best = *one;
            } else {
                next = next.max(one.1);
            }
        }
        (best, next)
    }

    /// Lets runs of three letters choose between the languages that are still possible.
    fn ask_runs(&mut self, text: &str) {
        let least = self.first_two().0.1 - BEHIND;
        let possible = self.0.iter().filter(|(_, points)| *points >= least);
        let possible = possible.filter_map(|(language, _)| language.lang()).collect();
        let Some(found) = Detector::with_allowlist(possible).detect(text) else { return };
        for (language, points) in &mut self.0 {
            if language.lang() == Some(found.lang()) {
                *points += RUNS + SURE_RUNS * found.confidence();
            }
        }
    }
}
