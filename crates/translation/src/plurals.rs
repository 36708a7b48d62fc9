//! The forms of a word beside a number: `{n} {n|plik|pliki|plików}` in a translation.

use std::borrow::Cow;

/// What stands in a form for the number itself.
const NUMBER: char = '#';

/// How a language sorts numbers: each gives the place of the form that a number takes.
type PluralRule = fn(u64) -> usize;

/// The rules, each by how many forms it has. They are those of Unicode's CLDR for whole numbers.
const RULES: [(usize, PluralRule); 3] =
    [(2, one_and_others), (3, one_few_and_many), (5, one_two_few_many_and_others)];

/// The name of a place, and the forms of a word that stand in it.
pub(crate) fn split_place(place: &str) -> (&str, Option<&str>) {
    match place.split_once('|') {
        Some((name, forms)) => (name, Some(forms)),
        None => (place, None),
    }
}

/// The form that a number takes, with the number in it where the form says so. A value that is no plain number takes
/// the last one.
pub(crate) fn form_for<'a>(number: &str, forms: &'a str) -> Cow<'a, str> {
    let forms: Vec<&str> = forms.split('|').collect();
    let last = forms.len() - 1;
    let rule = RULES.iter().find(|(count, _)| *count == forms.len()).map(|(_, rule)| rule);
    let place = match (number.parse(), rule) {
        (Ok(n), Some(rule)) => rule(n),
        _ => last,
    };
    match forms[place].contains(NUMBER) {
        true => Cow::Owned(forms[place].replace(NUMBER, number)),
        false => Cow::Borrowed(forms[place]),
    }
}

/// Most languages of Western Europe.
fn one_and_others(n: u64) -> usize {
    usize::from(n != 1)
}

/// Polish: the second form is for numbers that end in 2 to 4, but not in 12 to 14.
fn one_few_and_many(n: u64) -> usize {
    match n {
        1 => 0,
        _ if (2..=4).contains(&(n % 10)) && !(12..=14).contains(&(n % 100)) => 1,
        _ => 2,
    }
}

/// Arabic: few are numbers that end in 03 to 10, many those that end in 11 to 99. Zero takes the form of hundreds.
fn one_two_few_many_and_others(n: u64) -> usize {
    match (n, n % 100) {
        (1, _) => 0,
        (2, _) => 1,
        (_, 3..=10) => 2,
        (_, 11..=99) => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn a_number_takes_the_form_of_its_last_figures() {
        for (number, polish, french) in [
            ("1", "plik", "fichier"),
            ("2", "pliki", "fichiers"),
            ("4", "pliki", "fichiers"),
            ("5", "plików", "fichiers"),
            ("0", "plików", "fichiers"),
            ("12", "plików", "fichiers"),
            ("22", "pliki", "fichiers"),
            ("112", "plików", "fichiers"),
            ("21", "plików", "fichiers"),
            ("2.5", "plików", "fichiers"),
        ] {
            assert_eq!(form_for(number, "plik|pliki|plików"), polish, "{number}");
            assert_eq!(form_for(number, "fichier|fichiers"), french, "{number}");
        }
    }

    #[test]
    fn an_arabic_noun_has_five_forms_and_says_one_and_two_without_a_figure() {
        for (number, arabic) in [
            ("0", "0 ملف"),
            ("1", "ملف واحد"),
            ("2", "ملفان"),
            ("3", "3 ملفات"),
            ("10", "10 ملفات"),
            ("11", "11 ملفًا"),
            ("26", "26 ملفًا"),
            ("99", "99 ملفًا"),
            ("100", "100 ملف"),
            ("101", "101 ملف"),
            ("102", "102 ملف"),
            ("103", "103 ملفات"),
            ("111", "111 ملفًا"),
            ("2,000", "2,000 ملف"),
        ] {
            let forms = "ملف واحد|ملفان|# ملفات|# ملفًا|# ملف";
            assert_eq!(form_for(number, forms), arabic, "{number}");
        }
    }

    #[test]
    fn every_word_of_every_catalogue_has_as_many_forms_as_a_rule() {
        let mut counted = 0;
        for language in Language::all() {
            for (english, text) in language.texts().chain(language.sentences()) {
                let places = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
                for forms in places.filter_map(|place| split_place(place).1) {
                    let count = forms.split('|').count();
                    let code = language.code();
                    assert!(RULES.iter().any(|(known, _)| *known == count), "{code}: {english}");
                    counted += 1;
                }
            }
        }
        assert!(counted > 50, "{counted}");
    }

    #[test]
    fn a_place_has_a_name_and_may_have_forms() {
        assert_eq!(split_place("n"), ("n", None));
        assert_eq!(split_place("n|file|files"), ("n", Some("file|files")));
    }
}
