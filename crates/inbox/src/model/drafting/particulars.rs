//! What belongs to one customer in a text: names, numbers, dates, addresses and links.

use crate::search::fold_name;

/// A shorter word is no name on its own; one of so many letters is only with a capital.
const NAME_CHARS: usize = 2;

/// What a particular is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParticularKind {
    Name,
    /// A number, an amount, a telephone number, a reference: whatever has a digit.
    Number,
    /// The name of a day or a month.
    Date,
    Address,
    Link,
}

impl ParticularKind {
    /// What it is called on the page that marks it.
    pub fn label(self) -> &'static str {
        match self {
            ParticularKind::Name => "name",
            ParticularKind::Number => "number",
            ParticularKind::Date => "date",
            ParticularKind::Address => "address",
            ParticularKind::Link => "link",
        }
    }
}

/// A particular and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Particular {
    pub kind: ParticularKind,
    pub start: usize,
    pub end: usize,
}

/// The particulars of a text in their order. `names` are those of the people concerned.
pub fn particulars(text: &str, names: &[String]) -> Vec<Particular> {
    let names = NameWords::of(names);
    let mut found: Vec<Particular> = Vec::new();
    for (start, end) in spaced_words(text) {
        let Some((start, end)) = trimmed(text, start, end) else { continue };
        let word = &text[start..end];
        if let Some(kind) = kind_of_word(word) {
            found.push(Particular { kind, start, end });
            continue;
        }
        for (from, to) in letters(word) {
            let part = &word[from..to];
            let kind = match fold_name(part) {
                folded if names.has(&folded) && is_written_as_name(part) => ParticularKind::Name,
                folded if is_date_word(&folded) => ParticularKind::Date,
                _ => continue,
            };
            found.push(Particular { kind, start: start + from, end: start + to });
        }
    }
    joined(text, found)
}

fn is_written_as_name(word: &str) -> bool {
    word.chars().count() > NAME_CHARS || word.starts_with(char::is_uppercase)
}

/// The kind of a whole word between spaces, where the word itself tells.
fn kind_of_word(word: &str) -> Option<ParticularKind> {
    if is_link(word) {
        Some(ParticularKind::Link)
    } else if is_address(word) {
        Some(ParticularKind::Address)
    } else if word.chars().any(char::is_numeric) {
        Some(ParticularKind::Number)
    } else {
        None
    }
}

/// True for a web address, with or without its scheme.
fn is_link(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    if lower.contains("://") || lower.starts_with("www.") || lower.contains("](") {
        return true;
    }
    let host = lower.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let Some((before, last)) = host.rsplit_once('.') else { return false };
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    // The end of one sentence and the beginning of the next are no host: "done.Thanks".
    let is_lower =
        word.rsplit_once('.').is_some_and(|(_, end)| !end.starts_with(char::is_uppercase));
    last.len() >= 2
        && last.chars().all(char::is_alphabetic)
        && is_lower
        && before.split('.').all(is_label)
        && before.chars().count() >= 2
        && !lower.contains('@')
}

fn is_address(word: &str) -> bool {
    let Some((local, host)) = word.rsplit_once('@') else { return false };
    !local.is_empty() && host.contains('.') && !host.starts_with('.')
}

/// The names of days and months, and words such as tomorrow, without accents.
pub(super) fn is_date_word(folded: &str) -> bool {
    DATE_WORDS.iter().any(|words| words.split_whitespace().any(|word| word == folded))
}

/// Left out are words that mean something else as well, such as "may" and "march".
const DATE_WORDS: [&str; 6] = [
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august \
     september october november december today tomorrow tonight yesterday",
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar marz juni \
     juli oktober dezember heute ubermorgen gestern",
    "lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier avril juin juillet aout \
     septembre octobre novembre decembre aujourd demain hier",
    "lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio \
     agosto septiembre octubre noviembre diciembre hoy ayer",
    "lunedi martedi mercoledi giovedi venerdi domenica gennaio febbraio aprile maggio giugno luglio \
     settembre ottobre dicembre oggi domani ieri",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart juli augustus \
     oktober vandaag gisteren",
];

/// Joins what belongs together: the words of a name, groups of a number, a day and its month.
fn joined(text: &str, found: Vec<Particular>) -> Vec<Particular> {
    let mut joined: Vec<Particular> = Vec::new();
    for next in found {
        if let Some(last) = joined.last_mut()
            && text[last.end..next.start].chars().all(|c| matches!(c, ' ' | '.' | '\u{a0}'))
            && let Some(kind) = kind_together(last.kind, next.kind)
        {
            (last.kind, last.end) = (kind, next.end);
            continue;
        }
        joined.push(next);
    }
    joined
}

fn kind_together(first: ParticularKind, second: ParticularKind) -> Option<ParticularKind> {
    use ParticularKind::{Date, Name, Number};
    match (first, second) {
        (Name, Name) => Some(Name),
        (Number, Number) => Some(Number),
        (Date, Number) | (Number, Date) => Some(Date),
        _ => None,
    }
}

/// Names as words, without case and accents.
struct NameWords(Vec<String>);

impl NameWords {
    fn of(names: &[String]) -> NameWords {
        let words = names.iter().flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
        let words = words.map(fold_name).filter(|word| word.chars().count() >= NAME_CHARS);
        NameWords(words.collect())
    }

    fn has(&self, folded: &str) -> bool {
        self.0.iter().any(|word| word == folded)
    }
}

/// The words between white space.
fn spaced_words(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let start_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (start_of(word), start_of(word) + word.len()))
}

/// A word without the signs around it; `None` for signs alone.
fn trimmed(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = &text[start..end];
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '€' | '$' | '£');
    let inner = word.trim_start_matches(is_sign);
    let from = start + (word.len() - inner.len());
    let inner = inner.trim_end_matches(|c: char| is_sign(c) && c != '/' && c != '%');
    (!inner.is_empty()).then(|| (from, from + inner.len()))
}

/// The runs of letters in a word, with their places.
fn letters(word: &str) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, c) in word.char_indices() {
        match (c.is_alphabetic(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                runs.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    runs.extend(start.map(|from| (from, word.len())));
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str)> {
        let names = ["Giulia Pellegrini".to_owned(), "Marit Aalto".to_owned()];
        let found = particulars(text, &names);
        found.into_iter().map(|one| (one.kind.label(), &text[one.start..one.end])).collect()
    }

    #[test]
    fn names_numbers_dates_addresses_and_links_are_found() {
        let text = "Dear Giulia Pellegrini, the fee of 348.00 EUR (HM-2026-1044) left on 9 November \
                    2026. Call +49 40 5550 1141 or write to help@acme.example, see \
                    https://acme.example/returns. Marit";
        assert_eq!(
            found(text),
            [
                ("name", "Giulia Pellegrini"),
                ("number", "348.00"),
                ("number", "HM-2026-1044"),
                ("date", "9 November 2026"),
                ("number", "+49 40 5550 1141"),
                ("address", "help@acme.example"),
                ("link", "https://acme.example/returns"),
                ("name", "Marit"),
            ]
        );
    }

    #[test]
    fn a_short_name_is_one_with_a_capital() {
        let names = ["Bo An".to_owned()];
        let text = "Bo saw an owl, An did not.";
        let found: Vec<&str> =
            particulars(text, &names).iter().map(|one| &text[one.start..one.end]).collect();
        assert_eq!(found, ["Bo", "An"]);
    }

    #[test]
    fn plain_words_are_no_particulars() {
        assert_eq!(found("We may march on. It is done.Thanks, e.g. so"), []);
        assert_eq!(
            found("see acme.example on Friday"),
            [("link", "acme.example"), ("date", "Friday")]
        );
        assert_eq!(found("… (—) [!]"), []);
    }
}
