//! The part of a text that a query found, with the found words marked.

use super::amounts::amounts;
use super::compounds;
use super::fold::index_words;
use super::query::Query;

/// Characters that are shown before the first found word, and in all.
const BEFORE_CHARS: usize = 60;
const SHOWN_CHARS: usize = 240;

/// A stretch of a text: what was found is marked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Excerpt {
    pub text: String,
    pub marked: bool,
}

/// The text around the first found word; empty when it has none of the query's words.
pub fn excerpt(text: &str, query: &Query) -> Vec<Excerpt> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks = marks(&text, query);
    let Some(first) = marks.first() else { return Vec::new() };
    let start = back(&text, first.start);
    let end =
        text[start..].char_indices().nth(SHOWN_CHARS).map_or(text.len(), |(at, _)| start + at);
    let mut parts = Vec::new();
    let mut add = |text: &str, marked: bool| match text.is_empty() {
        true => {}
        false => parts.push(Excerpt { text: text.to_owned(), marked }),
    };
    if start > 0 {
        add("… ", false);
    }
    let mut at = start;
    for mark in marks.into_iter().filter(|mark| mark.end <= end) {
        add(&text[at..mark.start], false);
        add(&text[mark.clone()], true);
        at = mark.end;
    }
    add(&text[at..end], false);
    if end < text.len() {
        add(" …", false);
    }
    parts
}

/// A word's beginning, some way before a place.
fn back(text: &str, place: usize) -> usize {
    let from = text[..place].char_indices().rev().nth(BEFORE_CHARS).map_or(0, |(at, _)| at);
    match from {
        0 => 0,
        from => text[from..place].find(' ').map_or(place, |space| from + space + 1),
    }
}

/// Where the query's words stand, in order.
fn marks(text: &str, query: &Query) -> Vec<std::ops::Range<usize>> {
    let mut marks = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(char::is_alphanumeric).map(|at| rest + at) {
        let length = text[start..].find(|c: char| !c.is_alphanumeric());
        let end = length.map_or(text.len(), |length| start + length);
        if is_found(&text[start..end], query) {
            marks.push(start..end);
        }
        rest = end;
    }
    for amount in amounts(text) {
        if query.terms.iter().any(|term| term.alternatives.contains(&amount.word)) {
            marks.retain(|mark| mark.end <= amount.place.start || mark.start >= amount.place.end);
            marks.push(amount.place);
        }
    }
    marks.sort_unstable_by_key(|mark| mark.start);
    marks
}

fn is_found(word: &str, query: &Query) -> bool {
    let mut folded = index_words(word);
    let parts: Vec<String> =
        folded.iter().flat_map(|word| compounds::parts(word)).map(str::to_owned).collect();
    folded.extend(parts);
    query.terms.iter().any(|term| {
        let last = term.words.len() - 1;
        let is_alternative = folded.iter().any(|word| term.alternatives.contains(word));
        is_alternative
            || term.words.iter().enumerate().any(|(place, asked)| {
                let asked = asked.trim_start_matches(|c| ('\u{e000}'..='\u{e002}').contains(&c));
                folded.iter().any(|word| match term.prefix && place == last {
                    true => word.starts_with(asked),
                    false => word == asked,
                })
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, query: &str) -> String {
        let query = Query::parse(query, 0).expect("typed");
        let parts = excerpt(text, &query);
        parts
            .iter()
            .map(|p| if p.marked { format!("[{}]", p.text) } else { p.text.clone() })
            .collect()
    }

    #[test]
    fn found_words_and_amounts_are_marked() {
        assert_eq!(show("Die Straße\n ist lang", "strasse la"), "Die [Straße] ist [lang]");
        assert_eq!(show("You owe 1.240,50 EUR", "1240.50"), "You owe [1.240,50] EUR");
        assert_eq!(show("Two lamps, one lamp", "lamps"), "Two [lamps], one [lamp]");
        assert_eq!(show("Ihre Monatsrechnungen", "Rechnung"), "Ihre [Monatsrechnungen]");
        assert_eq!(show("nothing here", "lamp"), "");
        let long = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let cut = show(&long, "needle");
        assert!(
            cut.starts_with("… hay") && cut.contains("[needle]") && cut.ends_with(" …"),
            "{cut}"
        );
    }
}
