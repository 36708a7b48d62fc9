//! The parts of a typed query, each with the query that is left without it.

use std::ops::Range;

use super::operators::{OPERATORS, OperatorMeaning, meaning};
use super::query::{QueryToken, tokens};

/// A word, a phrase or an operator.
#[derive(Debug, PartialEq, Eq)]
pub struct QueryPart<'t> {
    /// The operator with its `-`; empty for words.
    pub operator: &'t str,
    /// The value of an operator; words as they were typed.
    pub value: &'t str,
    /// All of it as it was typed.
    pub typed: &'t str,
    /// It looks like an operator and is none, as `is:foo`: it is searched for as words.
    pub is_taken_for_words: bool,
    /// The query without it.
    pub rest: String,
}

/// A query that does or does not have an operator, and how it is the other way round.
#[derive(Debug, PartialEq, Eq)]
pub struct QuerySwitch {
    pub is_on: bool,
    /// The query with the operator if it is not on, else without it.
    pub switched: String,
}

/// The parts of a query that ask for something.
pub fn query_parts(text: &str) -> Vec<QueryPart<'_>> {
    let mut parts = Vec::new();
    for (token, place) in tokens(text) {
        let typed = &text[place.clone()];
        let (operator, value) = match meaning_of(&token) {
            Some(_) => (operator_of(&token, typed), token.value),
            None => ("", typed),
        };
        if value.chars().any(char::is_alphanumeric) {
            let is_taken_for_words = operator.is_empty() && token.name.is_some_and(is_operator);
            let rest = without(text, &[place]);
            parts.push(QueryPart { operator, value, typed, is_taken_for_words, rest });
        }
    }
    parts
}

/// Whether a query asks for what an operator does, however that is typed.
pub fn query_switch(text: &str, name: &str, value: &str) -> QuerySwitch {
    let wanted = meaning(name, value, NO_TIME);
    let is_wanted = |token: &QueryToken<'_>| {
        !token.negated && meaning_of(token).is_some_and(|asked| Some(asked) == wanted)
    };
    let placed = tokens(text).into_iter().filter(|(token, _)| is_wanted(token));
    let places: Vec<Range<usize>> = placed.map(|(_, place)| place).collect();
    if places.is_empty() {
        // It leads, because a quote that was not ended goes on to the end.
        let switched = format!("{name}:{value} {}", text.trim()).trim_end().to_owned();
        QuerySwitch { is_on: false, switched }
    } else {
        QuerySwitch { is_on: true, switched: without(text, &places) }
    }
}

/// Which time `before:3d` means is of no account here.
const NO_TIME: i64 = 0;

fn meaning_of(token: &QueryToken<'_>) -> Option<OperatorMeaning> {
    token.name.and_then(|name| meaning(name, token.value, NO_TIME))
}

/// The operator as it was typed, with its `-`.
fn operator_of<'t>(token: &QueryToken<'_>, typed: &'t str) -> &'t str {
    let name = token.name.unwrap_or_default();
    &typed[..usize::from(token.negated) + name.len()]
}

fn is_operator(name: &str) -> bool {
    OPERATORS.iter().any(|operator| operator.name.eq_ignore_ascii_case(name))
}

/// The text without what stands in these places, which follow one another.
fn without(text: &str, places: &[Range<usize>]) -> String {
    let starts = [0].into_iter().chain(places.iter().map(|place| place.end));
    let ends = places.iter().map(|place| place.start).chain([text.len()]);
    let kept = starts.zip(ends).map(|(start, end)| text[start..end].trim());
    kept.filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part as it is shown, and what is left without it.
    fn show(text: &str) -> Vec<(String, String)> {
        let parts = query_parts(text).into_iter();
        parts.map(|part| (format!("{}|{}", part.operator, part.value), part.rest)).collect()
    }

    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(part, rest)| ((*part).into(), (*rest).into())).collect();
        assert_eq!(show(text), expected, "{text}");
    }

    #[test]
    fn a_part_is_a_word_a_phrase_or_an_operator_and_leaves_the_others() {
        check(
            "from:anna \"taken  twice\" -broken lamp",
            &[
                ("from|anna", "\"taken  twice\" -broken lamp"),
                ("|\"taken  twice\"", "from:anna -broken lamp"),
                ("|-broken", "from:anna \"taken  twice\" lamp"),
                ("|lamp", "from:anna \"taken  twice\" -broken"),
            ],
        );
        check(
            "  tag:\"two words\"  -in:\"The shop\" ",
            &[("tag|two words", "-in:\"The shop\""), ("-in|The shop", "tag:\"two words\"")],
        );
        check(
            "-field.total>100 field.plan:\"Pro plus\"",
            &[
                ("-field.total>|100", "field.plan:\"Pro plus\""),
                ("field.plan|Pro plus", "-field.total>100"),
            ],
        );
        check("lamp lamp", &[("|lamp", "lamp"), ("|lamp", "lamp")]);
        check("lamp", &[("|lamp", "")]);
    }

    #[test]
    fn what_stands_without_a_space_is_apart_when_its_neighbour_goes() {
        check("a\"b c\"d", &[("|a", "\"b c\"d"), ("|\"b c\"", "a d"), ("|d", "a\"b c\"")]);
        check("tag:x \"open quote", &[("tag|x", "\"open quote"), ("|\"open quote", "tag:x")]);
        check("größe:東京 é", &[("|größe:東京", "é"), ("|é", "größe:東京")]);
    }

    #[test]
    fn what_is_no_operator_is_a_word_and_what_asks_for_nothing_is_no_part() {
        check("is:odd note: - !!!", &[("|is:odd", "note: - !!!"), ("|note:", "is:odd - !!!")]);
        check("IS:Open before:3d", &[("IS|Open", "before:3d"), ("before|3d", "IS:Open")]);
        check("\"\" -\"\" :", &[]);
        check("  ", &[]);
    }

    #[test]
    fn an_operator_is_switched_on_and_off_however_it_is_typed() {
        let switch = |text: &str| {
            let QuerySwitch { is_on, switched } = query_switch(text, "has", "attachment");
            (is_on, switched)
        };
        assert_eq!(switch("lamp"), (false, "has:attachment lamp".into()));
        assert_eq!(switch(""), (false, "has:attachment".into()));
        assert_eq!(switch("\"open quote"), (false, "has:attachment \"open quote".into()));
        assert_eq!(switch("a has:attachment b"), (true, "a b".into()));
        assert_eq!(switch("has:file a HAS:\"Document\""), (true, "a".into()));
        let others = "has:note -has:attachment attachment is:odd";
        assert_eq!(switch(others), (false, format!("has:attachment {others}")));
    }

    #[test]
    fn what_looks_like_an_operator_and_is_none_is_told() {
        let taken = |text: &str| -> Vec<String> {
            let parts = query_parts(text).into_iter().filter(|part| part.is_taken_for_words);
            parts.map(|part| part.typed.to_owned()).collect()
        };
        assert_eq!(taken("is:foo before:gestern lamp"), ["is:foo", "before:gestern"]);
        assert_eq!(taken("-has:nothing urgency:very"), ["-has:nothing", "urgency:very"]);
        for fine in
            ["is:open", "before:2026-11-30", "after:3d", "http://x.example", "Re:lamp", "from:ann"]
        {
            assert!(taken(fine).is_empty(), "{fine}");
        }
    }
}
