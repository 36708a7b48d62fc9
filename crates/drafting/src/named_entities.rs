//! What belongs to one customer in a text: names, numbers, dates, addresses and links.

use search::fold_name;

/// A shorter word is no name on its own; one of so many letters is only with a capital.
const NAME_CHARS: usize = 2;

/// What a particular is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedEntityKind {
    Name,
    /// A number, an amount, a telephone number, a reference: whatever has a digit.
    Number,
    /// The name of a day or a month.
    Date,
    Address,
    Link,
}

impl NamedEntityKind {
    /// What it is called on the page that marks it.
    pub fn label(self) -> &'static str {
        match self {
            NamedEntityKind::Name => "name",
            NamedEntityKind::Number => "number",
            NamedEntityKind::Date => "date",
            NamedEntityKind::Address => "address",
            NamedEntityKind::Link => "link",
        }
    }
}

/// A particular and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEntity {
    pub kind: NamedEntityKind,
    pub start: usize,
    pub end: usize,
}

/// The named entities of a text in their order. `names` are those of the people concerned.
pub fn named_entities(text: &str, names: &[String]) -> Vec<NamedEntity> {
    let names = NameWords::of(names);
    let mut found: Vec<NamedEntity> = Vec::new();
    let words: Vec<(usize, usize)> =
        spaced_words(text).filter_map(|(start, end)| trim_signs(text, start, end)).collect();
    let word_at = |place: Option<usize>| {
        place.and_then(|place| words.get(place)).map_or("", |(start, end)| &text[*start..*end])
    };
    for (place, &(start, end)) in words.iter().enumerate() {
        let word = &text[start..end];
        let (before, after) = (word_at(place.checked_sub(1)), word_at(Some(place + 1)));
        if let Some(kind) = kind_of_word(word) {
            found.push(NamedEntity { kind, start, end });
            continue;
        }
        for (from, to) in letters(word) {
            let part = &word[from..to];
            let kind = match fold_name(part) {
                folded if names.has(&folded) && is_written_as_name(part) => NamedEntityKind::Name,
                folded if is_date(&folded, before, after) => NamedEntityKind::Date,
                _ => continue,
            };
            found.push(NamedEntity { kind, start: start + from, end: start + to });
        }
    }
    join(text, found)
}

fn is_written_as_name(word: &str) -> bool {
    word.chars().count() > NAME_CHARS || word.starts_with(char::is_uppercase)
}

/// The kind of a whole word between spaces, where the word itself tells.
fn kind_of_word(word: &str) -> Option<NamedEntityKind> {
    if is_link(word) {
        Some(NamedEntityKind::Link)
    } else if is_address(word) {
        Some(NamedEntityKind::Address)
    } else if word.chars().any(char::is_numeric) {
        Some(NamedEntityKind::Number)
    } else if fold_name(word).ends_with("-feira") {
        // Portuguese days: segunda alone means second.
        Some(NamedEntityKind::Date)
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
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let Some((before, last)) = host.rsplit_once('.') else { return false };
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    last.len() >= 2
        && last.chars().all(char::is_alphabetic)
        && !begins_sentence(last)
        && before.split('.').all(is_label)
        && before.chars().count() >= 2
        && !lower.contains('@')
}

/// True for a word such as the second of "done.Thanks": the end of one sentence and the beginning of
/// the next are no host. What is the ending of domains, too, counts as one.
fn begins_sentence(word: &str) -> bool {
    let mut letters = word.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase);
    let is_ending = word.len() == 2 || {
        let lower = word.to_lowercase();
        DOMAIN_ENDINGS.split_whitespace().any(|ending| ending == lower)
    };
    is_capital && letters.all(char::is_lowercase) && !is_ending
}

/// The most frequent endings of domains but for those of two letters, which are all countries.
const DOMAIN_ENDINGS: &str = "com net org info biz edu gov mil int pro name mobi app dev shop store \
    online site website page link click live cloud host space tech xyz top club vip win bid loan \
    cash pay bank finance money email support help services service center zip mov world today \
    blog news fun life art ltd group team work digital agency media network systems solutions \
    security icu buzz rest cyou sbs bond lol monster quest eus berlin hamburg koeln wien london paris";

fn is_address(word: &str) -> bool {
    let Some((local, host)) = word.rsplit_once('@') else { return false };
    !local.is_empty() && host.contains('.') && !host.starts_with('.')
}

/// True for the names of days and months, and words such as tomorrow, without accents. The words
/// beside one tell where it means something else as well.
fn is_date(folded: &str, before: &str, after: &str) -> bool {
    let is_in = |listed: &str| listed.split_whitespace().any(|word| word == folded);
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    if is_in(MONTHS_BY_A_NUMBER) {
        return is_number(before) || is_number(after);
    }
    // Both mean morning, too, behind such a word.
    let before_morning = match folded {
        "morgen" => "guten goede goeden schonen am den jeden",
        "manana" => "la",
        _ => "",
    };
    let before = fold_name(before);
    DATE_WORDS.iter().any(|listed| is_in(listed))
        && !before_morning.split_whitespace().any(|word| word == before)
}

/// Months only next to a number: words and names besides, such as "may" and "Jan".
const MONTHS_BY_A_NUMBER: &str = "may march mars marco jan feb mar apr jun jul aug sep sept oct okt \
    nov dec dez dic ene abr ago janv fevr avr juil";

const DATE_WORDS: [&str; 7] = [
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august \
     september october november december today tomorrow tonight yesterday",
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar janner februar marz \
     maerz mai juni juli oktober dezember heute morgen ubermorgen uebermorgen gestern",
    "lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier avril juin juillet aout \
     septembre octobre novembre decembre aujourd demain hier",
    "lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio \
     agosto septiembre octubre noviembre diciembre hoy manana ayer",
    "lunedi martedi mercoledi giovedi venerdi sabato domenica gennaio febbraio aprile maggio \
     giugno luglio settembre ottobre dicembre oggi domani ieri",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart juli augustus \
     mei oktober vandaag overmorgen gisteren",
    "terca janeiro fevereiro maio junho julho setembro outubro novembro dezembro hoje amanha ontem",
];

/// Joins what belongs together: the words of a name, groups of a number, a day and its month.
fn join(text: &str, found: Vec<NamedEntity>) -> Vec<NamedEntity> {
    let mut joined: Vec<NamedEntity> = Vec::new();
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

fn kind_together(first: NamedEntityKind, second: NamedEntityKind) -> Option<NamedEntityKind> {
    use NamedEntityKind::{Date, Name, Number};
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
fn trim_signs(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
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

    fn find_kinds(text: &str) -> Vec<(&'static str, &str)> {
        let names = ["Giulia Pellegrini".to_owned(), "Marit Aalto".to_owned()];
        let found = named_entities(text, &names);
        found.into_iter().map(|one| (one.kind.label(), &text[one.start..one.end])).collect()
    }

    #[test]
    fn names_numbers_dates_addresses_and_links_are_found() {
        let text = "Dear Giulia Pellegrini, the fee of 348.00 EUR (HM-2026-1044) left on 9 November \
                    2026. Call +49 40 5550 1141 or write to help@acme.example, see \
                    https://acme.example/returns. Marit";
        assert_eq!(
            find_kinds(text),
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
            named_entities(text, &names).iter().map(|one| &text[one.start..one.end]).collect();
        assert_eq!(found, ["Bo", "An"]);
    }

    #[test]
    fn plain_words_are_no_named_entities() {
        assert_eq!(find_kinds("We may march on. It is done.Thanks, e.g. so"), []);
        assert_eq!(
            find_kinds("see acme.example on Friday"),
            [("link", "acme.example"), ("date", "Friday")]
        );
        assert_eq!(find_kinds("… (—) [!]"), []);
    }

    #[test]
    fn a_link_is_one_in_capitals_too() {
        for link in ["EVIL.COM", "evil.Com", "Evil.Shop/login", "evil.com/a.B", "EVIL.example"] {
            assert_eq!(find_kinds(link), [("link", link)]);
        }
        for words in ["done.Thanks", "Done.Please/kindly", "e.g", "etc"] {
            assert_eq!(find_kinds(words), [], "{words}");
        }
    }

    #[test]
    fn words_that_may_be_dates_are_told_by_what_stands_beside_them() {
        for (text, date) in [
            ("on 9 May we", "9 May"),
            ("on March 3 we", "March 3"),
            ("by 14 Nov. then", "14 Nov"),
            ("wir kommen morgen an", "morgen"),
            ("llega mañana por la mañana", "mañana"),
            ("na segunda-feira ou", "segunda-feira"),
            ("amanhã chega", "amanhã"),
        ] {
            assert_eq!(find_kinds(text), [("date", date)], "{text}");
        }
        for text in ["You may march to Mars, Jan", "Guten Morgen", "a segunda", "de la mañana"] {
            assert_eq!(find_kinds(text), [], "{text}");
        }
    }
}
