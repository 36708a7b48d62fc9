//! Finished sentences: which text of the catalogue they were made from, and with which values.

use std::borrow::Cow;
use std::fmt::Display;

use crate::catalogue::CatalogueTexts;
use crate::fill;

/// Bytes of a text that is looked up, and the sentences in it that are looked up one by one. What people and agents wrote
/// can come here too, and a lookup goes through every pattern.
const LOOKED_UP_BYTES: usize = 1_000;
const LOOKED_UP_SENTENCES: usize = 6;

/// The sentence in the catalogue's language; as it is where the catalogue has nothing that fits. Several sentences
/// after each other are looked up one by one where they are not a text of their own.
pub(crate) fn translate<'a>(catalogue: &'a CatalogueTexts, english: &'a str) -> Cow<'a, str> {
    if english.len() > LOOKED_UP_BYTES {
        return Cow::Borrowed(english);
    }
    if let Some(text) = one(catalogue, english) {
        return text;
    }
    let parts: Vec<&str> = split(english).take(LOOKED_UP_SENTENCES + 1).collect();
    if !(2..=LOOKED_UP_SENTENCES).contains(&parts.len()) {
        return Cow::Borrowed(english);
    }
    let translated =
        parts.into_iter().map(|part| one(catalogue, part).unwrap_or(Cow::Borrowed(part)));
    Cow::Owned(translated.collect::<Vec<_>>().join(" "))
}

fn one<'a>(catalogue: &'a CatalogueTexts, english: &str) -> Option<Cow<'a, str>> {
    if let Some(text) = catalogue.sentences.get(english) {
        return Some(Cow::Borrowed(text));
    }
    if let Some(text) = catalogue.text(english) {
        return Some(Cow::Borrowed(text));
    }
    let fits = |(pattern, text): (&'a String, &'a String)| {
        Some((pattern, text, values(pattern, english)?))
    };
    let fitting =
        catalogue.sentences.iter().filter(|(pattern, _)| pattern.contains('{')).filter_map(fits);
    // Of several, the one that says most itself.
    let (_, text, values) =
        fitting.max_by_key(|(pattern, ..)| (pattern.len(), pattern.as_str()))?;
    let values: Vec<(&str, String)> =
        values.into_iter().map(|(name, value)| (name, value_in(catalogue, value))).collect();
    let values: Vec<(&str, &dyn Display)> =
        values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
    Some(Cow::Owned(fill(text, &values)))
}

/// A number is written as the language writes it, `50,000` as `50.000`; other values stay.
fn value_in(catalogue: &CatalogueTexts, value: &str) -> String {
    let mut groups = value.split(',');
    let first = groups.next().unwrap_or_default();
    let is_group = |group: &str, chars: std::ops::RangeInclusive<usize>| {
        chars.contains(&group.len()) && group.bytes().all(|b| b.is_ascii_digit())
    };
    let is_number = is_group(first, 1..=3) && groups.all(|group| is_group(group, 3..=3));
    match catalogue.text("thousands separator|,") {
        Some(separator) if is_number => value.replace(',', separator),
        _ => value.to_owned(),
    }
}

/// The sentences of a text: each ends with a full stop, a question or an exclamation mark before a capital letter.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.match_indices(['.', '?', '!']).map(|(at, _)| at + 1).find(|at| {
            let mut after = rest[*at..].chars();
            after.next() == Some(' ') && after.next().is_some_and(char::is_uppercase)
        });
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        Some(sentence)
    })
}

/// The values that a pattern has in a sentence: of `At most {n} tags.` in `At most 20 tags.`, `n` is `20`. A pattern
/// must begin or end with words of its own, so that it does not fit everything.
fn values<'p, 's>(pattern: &'p str, sentence: &'s str) -> Option<Vec<(&'p str, &'s str)>> {
    let (start, mut pattern) = pattern.split_once('{')?;
    let mut rest = sentence.strip_prefix(start)?;
    let mut values = Vec::new();
    let mut own = start.len();
    loop {
        let (name, after) = pattern.split_once('}')?;
        match after.split_once('{') {
            Some((between, next)) => {
                let at = if between.is_empty() { None } else { rest.find(between) }?;
                values.push((name, &rest[..at]));
                rest = &rest[at + between.len()..];
                own += between.len();
                pattern = next;
            }
            None => {
                values.push((name, rest.strip_suffix(after)?));
                own += after.len();
                let enough = own >= 3 && values.iter().all(|(_, value)| !value.is_empty());
                return enough.then_some(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_values_of_a_sentence_are_found_by_its_pattern() {
        let found = |pattern, sentence| values(pattern, sentence);
        assert_eq!(found("At most {n} tags.", "At most 20 tags."), Some(vec![("n", "20")]));
        assert_eq!(
            found("{name} is not on {team}.", "Ann is not on the team."),
            Some(vec![("name", "Ann"), ("team", "the team")])
        );
        assert_eq!(found("At most {n} tags.", "At least 20 tags."), None);
        assert_eq!(found("At most {n} tags.", "At most  tags."), None);
        assert_eq!(found("{a}{b}", "anything"), None);
    }

    #[test]
    fn sentences_are_looked_up_whole_then_one_by_one() {
        let sentences = [
            ("Wait {n} minutes.", "Warten Sie {n} Minuten."),
            ("Too many attempts.", "Zu viele Versuche."),
        ];
        let owned = |(english, text): (&str, &str)| (english.to_owned(), text.to_owned());
        let catalogue = CatalogueTexts {
            texts: HashMap::from([("thousands separator|,".to_owned(), ".".to_owned())]),
            sentences: sentences.into_iter().map(owned).collect(),
            ..CatalogueTexts::default()
        };
        for (english, expected) in [
            ("Too many attempts.", "Zu viele Versuche."),
            ("Too many attempts. Wait 15 minutes.", "Zu viele Versuche. Warten Sie 15 Minuten."),
            ("Too many attempts. See example.org now.", "Zu viele Versuche. See example.org now."),
            ("Wait 1,200 minutes.", "Warten Sie 1.200 Minuten."),
            ("Unknown", "Unknown"),
        ] {
            assert_eq!(translate(&catalogue, english), expected);
        }
        let many = "Too many attempts. ".repeat(7);
        assert_eq!(translate(&catalogue, many.trim()), many.trim());
    }
}
