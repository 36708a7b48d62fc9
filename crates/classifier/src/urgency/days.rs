//! Days that a mail names: weekdays and dates, against the day on which it was written.

use jiff::civil::Date;
use phrases::FoldedWord;

/// Words of a mail in which days are looked for.
const WORDS: usize = 300;

/// What is to happen on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NearDay {
    Today,
    Tomorrow,
}

impl NearDay {
    /// The group of concepts that it is one of.
    pub fn group(self) -> &'static str {
        match self {
            NearDay::Today => "today",
            NearDay::Tomorrow => "tomorrow",
        }
    }
}

/// The nearest day that is named and is this one or the next, and the word that names it.
pub(super) fn near_day(words: &[FoldedWord], today: Date) -> Option<(NearDay, usize)> {
    let tomorrow = today.tomorrow().ok()?;
    let words: Vec<&str> = words.iter().take(WORDS).map(|word| word.folded.as_str()).collect();
    let named = (0..words.len()).filter_map(|at| {
        let is_named = |day: Date| names_weekday(&words, at, day) || names_date(&words, at, day);
        match (is_named(today), is_named(tomorrow)) {
            (true, _) => Some((NearDay::Today, at)),
            (_, true) => Some((NearDay::Tomorrow, at)),
            _ => None,
        }
    });
    named.min_by_key(|(day, _)| *day == NearDay::Tomorrow)
}

/// True for the name of the day's weekday, but not for that of another week.
fn names_weekday(words: &[&str], at: usize, day: Date) -> bool {
    let names = WEEKDAYS[usize::from(day.weekday().to_monday_zero_offset().unsigned_abs())];
    let other = |word: Option<&&str>| word.is_some_and(|word| OTHER_WEEK.contains(word));
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    names.contains(&words[at]) && !other(before) && !other(words.get(at + 1))
}

/// True for `14 june`, `june 14` and `14 de junio`.
fn names_date(words: &[&str], at: usize, day: Date) -> bool {
    let names = MONTHS[usize::from(day.month().unsigned_abs()) - 1];
    let number = |word: &str| {
        let figures = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        figures.parse() == Ok(day.day())
    };
    if !number(words[at]) {
        return false;
    }
    let is_month = |at: Option<usize>| {
        at.and_then(|at| words.get(at)).is_some_and(|word| names.contains(word))
    };
    let joined = words.get(at + 1).is_some_and(|word| ["de", "of"].contains(word));
    is_month(Some(at + 1)) || is_month(at.checked_sub(1)) || (joined && is_month(Some(at + 2)))
}

/// Words beside a weekday that move it to another week.
const OTHER_WEEK: [&str; 24] = [
    "next",
    "last",
    "every",
    "nachsten",
    "nachster",
    "nachste",
    "letzten",
    "letzter",
    "jeden",
    "prochain",
    "dernier",
    "chaque",
    "proximo",
    "pasado",
    "cada",
    "prossimo",
    "prossima",
    "scorso",
    "scorsa",
    "ogni",
    "volgende",
    "vorige",
    "afgelopen",
    "elke",
];

/// From Monday on, in English, German, French, Spanish, Italian and Dutch.
const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "montag", "lundi", "lunes", "lunedi", "maandag"],
    &["tuesday", "dienstag", "mardi", "martes", "martedi", "dinsdag"],
    &["wednesday", "mittwoch", "mercredi", "miercoles", "mercoledi", "woensdag"],
    &["thursday", "donnerstag", "jeudi", "jueves", "giovedi", "donderdag"],
    &["friday", "freitag", "vendredi", "viernes", "venerdi", "vrijdag"],
    &["saturday", "samstag", "sonnabend", "samedi", "sabado", "sabato", "zaterdag"],
    &["sunday", "sonntag", "dimanche", "domingo", "domenica", "zondag"],
];

const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janner", "janvier", "enero", "gennaio", "januari"],
    &["february", "feb", "februar", "fevrier", "febrero", "febbraio", "februari"],
    &["march", "mar", "marz", "mars", "marzo", "maart"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "mei"],
    &["june", "jun", "juni", "juin", "junio", "giugno"],
    &["july", "jul", "juli", "juillet", "julio", "luglio"],
    &["august", "aug", "aout", "agosto", "augustus"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "dez", "decembre", "diciembre", "dicembre"],
];

#[cfg(test)]
mod tests {
    use jiff::civil::{Weekday, date};
    use phrases::folded_words;

    use super::*;

    #[test]
    fn days_are_near_or_far_by_the_day_of_the_mail() {
        // A Thursday.
        let today = date(2026, 11, 19);
        for (text, day) in [
            ("The wedding is on Friday at two.", Some(NearDay::Tomorrow)),
            ("Am Freitag ist die Prüfung.", Some(NearDay::Tomorrow)),
            ("L'examen est jeudi à 15 h.", Some(NearDay::Today)),
            ("The wedding is on 20 November.", Some(NearDay::Tomorrow)),
            ("November 20th, two o'clock", Some(NearDay::Tomorrow)),
            ("El 19 de noviembre a las nueve", Some(NearDay::Today)),
            ("The wedding is on Saturday.", None),
            ("The wedding is next Friday.", None),
            ("Le mariage est vendredi prochain.", None),
            ("The wedding is on 20 December.", None),
            ("", None),
        ] {
            let words = folded_words(text, 100);
            assert_eq!(near_day(&words, today).map(|(day, _)| day), day, "{text}");
        }
        assert_eq!(today.weekday(), Weekday::Thursday);
    }
}
