//! Parses a search query into terms and operators.

use std::ops::Range;

use super::amounts::amounts;
use super::fold::{Piece, pieces};
use super::inflection::other_forms;
use super::operators::{Field, FieldSign, Operator, OperatorMeaning, begins_as_field, meaning};

/// A search query: every term and operator must match.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub terms: Vec<Term>,
    /// Terms that no message of the conversation may have.
    pub without: Vec<Term>,
    pub operators: Vec<Operator>,
    /// Whole addresses behind `from:`.
    pub senders: Vec<String>,
}

/// Adjacent words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub words: Vec<String>,
    /// True when the last word may go on.
    pub prefix: bool,
    /// Words that match as well: an amount in one form, other forms of a word.
    pub alternatives: Vec<String>,
    /// Adjacent words that match as well: another address of the same person.
    pub phrases: Vec<Vec<String>>,
}

impl Query {
    /// Parses the typed text: words, `"quoted phrases"`, operators, `-` before what must not be
    /// there; the last word is a prefix. `None` when nothing was typed; a query that asks for
    /// nothing is one that nothing matches.
    pub fn parse(text: &str, now: i64) -> Option<Query> {
        Query::with_operators(text, |name, value| meaning(name, value, now))
    }

    /// Parses words and phrases alone.
    pub fn of_words(text: &str) -> Option<Query> {
        let query = Query::with_operators(text, |_, _| None)?;
        let Query { mut terms, without, .. } = query;
        terms.extend(without);
        Some(Query { terms, ..Query::default() })
    }

    fn with_operators(
        text: &str,
        known: impl Fn(&str, &str) -> Option<OperatorMeaning>,
    ) -> Option<Query> {
        if text.trim().is_empty() {
            return None;
        }
        let mut query = Query::default();
        let mut may_go_on = true;
        for (token, _) in tokens(text) {
            let asked = token.name.and_then(|name| known(name, token.value));
            let terms = match asked {
                Some(OperatorMeaning::Row(condition)) => {
                    query.operators.push(Operator { condition, negated: token.negated });
                    continue;
                }
                Some(OperatorMeaning::Words(Field::Has, what)) => {
                    terms_in(Field::Has, &what, token.negated, &mut query);
                    continue;
                }
                Some(OperatorMeaning::Words(field, value)) => {
                    if field == Field::From && mail::is_address(&value) {
                        query.senders.push(value.clone());
                    }
                    mark_field(field, terms_of(&value))
                }
                None => token.terms(),
            };
            match token.negated {
                true => query.without.extend(terms),
                false => {
                    may_go_on = if terms.is_empty() { may_go_on } else { !token.is_closed };
                    query.terms.extend(terms);
                }
            }
        }
        let typed = query.terms.iter_mut().rev().find(|term| !is_marker_of_content(term));
        if let Some(last) = typed.filter(|_| may_go_on) {
            last.prefix = true;
        }
        query.terms = once(query.terms);
        query.without = once(query.without);
        Some(query)
    }

    /// Lets `from:` with one address of a person match another one of theirs, too.
    pub fn match_sender_too(&mut self, address: &str, other: &str) {
        let wanted = mark_field(Field::From, terms_of(address));
        let others = mark_field(Field::From, terms_of(other));
        for (wanted, other) in wanted.iter().zip(&others) {
            let all = self.terms.iter_mut().chain(&mut self.without);
            for term in all.filter(|term| term.words == wanted.words) {
                term.phrases.push(other.words.clone());
            }
        }
    }

    /// True when it asks for nothing, so that nothing matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.without.is_empty() && self.operators.is_empty()
    }
}

fn terms_in(field: Field, what: &str, negated: bool, query: &mut Query) {
    let terms = mark_field(field, terms_of(what));
    match negated {
        true => query.without.extend(terms),
        false => query.terms.extend(terms),
    }
}

fn is_marker_of_content(term: &Term) -> bool {
    term.words.first().is_some_and(|word| word.starts_with(Field::Has.marker()))
}

fn once(terms: Vec<Term>) -> Vec<Term> {
    let mut once: Vec<Term> = Vec::new();
    for term in terms {
        if !once.contains(&term) {
            once.push(term);
        }
    }
    once
}

/// One stretch of the typed text.
#[derive(Debug)]
pub(super) struct QueryToken<'t> {
    pub negated: bool,
    /// What stands before a colon, where something stands behind it.
    pub name: Option<&'t str>,
    /// What stands behind the colon.
    pub value: &'t str,
    whole: &'t str,
    is_quoted: bool,
    /// True for a quote that was ended.
    is_closed: bool,
}

impl QueryToken<'_> {
    /// What is in quotes, or must not be there, is looked for as it was typed.
    fn terms(&self) -> Vec<Term> {
        let mut terms = terms_of(self.whole);
        if let ([term], false) = (terms.as_mut_slice(), self.is_quoted) {
            term.alternatives.extend(self.amount());
            if let ([word], false) = (term.words.as_slice(), self.negated) {
                term.alternatives.extend(other_forms(word));
            }
        }
        terms
    }

    /// The word of the amount that it is.
    fn amount(&self) -> Option<String> {
        let count = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        match amounts(self.whole).as_slice() {
            [one] if count(self.whole) == count(&self.whole[one.place.clone()]) => {
                Some(one.word.clone())
            }
            _ => None,
        }
    }
}

/// The stretches of a text, each with its place in it.
pub(super) fn tokens(text: &str) -> Vec<(QueryToken<'_>, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let (token, left) = first_token(rest);
        tokens.push((token, start..text.len() - left.len()));
        rest = left.trim_start();
    }
    tokens
}

/// The first stretch, and what is left. It ends at white space or at a quote, but a quote right
/// behind a colon is the value.
fn first_token(text: &str) -> (QueryToken<'_>, &str) {
    let bare = text.strip_prefix('-').filter(|bare| !bare.starts_with(char::is_whitespace));
    let (negated, text) = (bare.is_some_and(|bare| !bare.is_empty()), bare.unwrap_or(text));
    if let Some(quoted) = text.strip_prefix('"') {
        let (whole, left, is_closed) = quote(quoted);
        let (value, is_quoted) = (whole, true);
        return (QueryToken { negated, name: None, value, whole, is_quoted, is_closed }, left);
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    let (whole, left) = text.split_at(end);
    let name = name_and_value(whole).filter(|(name, _)| !name.is_empty());
    match (name, left.strip_prefix('"')) {
        (Some((name, "")), Some(quoted)) => {
            let (value, left, is_closed) = quote(quoted);
            let whole = &text[..text.len() - left.len()];
            let is_quoted = true;
            (QueryToken { negated, name: Some(name), value, whole, is_quoted, is_closed }, left)
        }
        (name, _) => {
            let value = name.map_or("", |(_, value)| value);
            let name = name.map(|(name, _)| name);
            let (is_quoted, is_closed) = (false, false);
            (QueryToken { negated, name, value, whole, is_quoted, is_closed }, left)
        }
    }
}

/// What stands before a colon and behind it. Of a field, `<`, `>`, `<=` and `>=` belong to the name.
fn name_and_value(whole: &str) -> Option<(&str, &str)> {
    if !begins_as_field(whole) {
        return whole.split_once(':');
    }
    let place = whole.find([':', '<', '>'])?;
    let behind = &whole[place..];
    let starts = |(typed, _): &&(&str, FieldSign)| behind.starts_with(typed);
    let (typed, sign) = FieldSign::TYPED.iter().find(starts)?;
    let value = place + typed.len();
    let name_end = if *sign == FieldSign::Is { place } else { value };
    Some((&whole[..name_end], &whole[value..]))
}

fn quote(text: &str) -> (&str, &str, bool) {
    match text.split_once('"') {
        Some((quoted, left)) => (quoted, left, true),
        None => (text, "", false),
    }
}

/// The terms as they are looked for in one field.
fn mark_field(field: Field, mut terms: Vec<Term>) -> Vec<Term> {
    for word in terms.iter_mut().flat_map(|term| &mut term.words) {
        word.insert(0, field.marker());
    }
    terms
}

/// The terms of one stretch: its words as a phrase, each run of an unspaced script by itself.
fn terms_of(text: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    let mut phrase: Vec<String> = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Word(word) => phrase.push(word),
            Piece::Run(run) => {
                if !phrase.is_empty() {
                    terms.push(term(std::mem::take(&mut phrase), false));
                }
                terms.push(run_term(&run));
            }
        }
    }
    if !phrase.is_empty() {
        terms.push(term(phrase, false));
    }
    terms
}

fn term(words: Vec<String>, prefix: bool) -> Term {
    Term { words, prefix, alternatives: Vec::new(), phrases: Vec::new() }
}

/// The pairs of a run as a phrase; a single character is the start of any pair.
fn run_term(run: &[char]) -> Term {
    match run {
        [one] => term(vec![one.to_string()], true),
        run => term(run.windows(2).map(|pair| pair.iter().collect()).collect(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::operators::{Condition, FieldQuery, FieldSign};
    use super::*;
    use base::states::View;

    const NOW: i64 = 1_700_000_000_000;

    fn show_terms(text: &str) -> String {
        let query = Query::parse(text, NOW).expect("something was typed");
        let mut shown: Vec<String> = query.terms.iter().map(|term| show("", term)).collect();
        shown.extend(query.without.iter().map(|term| show("-", term)));
        shown.join(" ")
    }

    fn show(sign: &str, term: &Term) -> String {
        let words = term.words.join("_").replace('\u{e000}', "from.").replace('\u{e003}', "has.");
        let words = words.replace('\u{e002}', "subject.").replace('\u{e001}', "to.");
        format!("{sign}{words}{}", if term.prefix { "*" } else { "" })
    }

    fn operators(text: &str) -> Vec<(Condition, bool)> {
        let query = Query::parse(text, NOW).expect("something was typed");
        query.operators.into_iter().map(|one| (one.condition, one.negated)).collect()
    }

    #[test]
    fn words_phrases_and_the_last_word_as_a_prefix() {
        assert_eq!(show_terms("Late Inv"), "late inv*");
        assert_eq!(show_terms("\"late fee\" Inv"), "late_fee inv*");
        assert_eq!(show_terms("inv \"late fee\""), "inv late_fee");
        assert_eq!(show_terms("ann@acme.example"), "ann_acme_example*");
        assert_eq!(show_terms("東京都 a"), "東京_京都 a*");
        assert_eq!(show_terms("東"), "東*");
        assert_eq!(show_terms("No5請求書"), "no5 請求_求書*");
    }

    #[test]
    fn operators_name_a_field_or_a_condition() {
        assert_eq!(
            show_terms("from:Ann to:b@x.example lamp"),
            "from.ann to.b_to.x_to.example lamp*"
        );
        assert_eq!(
            show_terms("subject:\"Two words\" has:attachment"),
            "subject.two_subject.words has.attachment"
        );
        assert_eq!(
            show_terms("lamp -broken -\"no more\" -from:ann"),
            "lamp* -broken -no_more -from.ann"
        );
        assert_eq!(
            operators("tag:\"two words\" -is:closed before:2w is:unread"),
            [
                (Condition::Tag("two words".into()), false),
                (Condition::View(View::Closed), true),
                (Condition::Before(NOW - 14 * 86_400_000), false),
                (Condition::Unread, false),
            ]
        );
        for typed in ["after:2023-11-01", "after:1.11.2023"] {
            let after = (Condition::After(1_698_796_800_000), false);
            assert_eq!(operators(typed), [after], "{typed}");
        }
    }

    #[test]
    fn a_field_is_compared_with_a_value() {
        let fields = |text: &str| -> Vec<(String, FieldSign, String)> {
            let found = operators(text).into_iter();
            let found = found.map(|(condition, _)| match condition {
                Condition::Field(FieldQuery { key, sign, value }) => (key, sign, value),
                other => panic!("{other:?}"),
            });
            found.collect()
        };
        let field = |key: &str, sign, value: &str| (key.to_owned(), sign, value.to_owned());
        assert_eq!(
            fields(
                "Field.Order_No:A-17 field.total>100 -field.due<2026-11-15 field.city:\"New York\" \
                 field.items>=2 field.weight<=\"1.5\""
            ),
            [
                field("order_no", FieldSign::Is, "A-17"),
                field("total", FieldSign::Above, "100"),
                field("due", FieldSign::Below, "2026-11-15"),
                field("city", FieldSign::Is, "New York"),
                field("items", FieldSign::AtLeast, "2"),
                field("weight", FieldSign::AtMost, "1.5"),
            ]
        );
        assert_eq!(
            fields("field.site:https://x.example/?a>b"),
            [field("site", FieldSign::Is, "https://x.example/?a>b")]
        );
        for words in
            ["field.:x", "field.total", "field.total>", "field.total>=", "field.grö:x", "total>100"]
        {
            assert_eq!(operators(words), [], "{words}");
        }
    }

    #[test]
    fn what_is_no_operator_is_a_word() {
        assert_eq!(
            show_terms("http://x.example is:odd before:then"),
            "http_x_example is_odd before_then*"
        );
        assert_eq!(show_terms("note: from: -"), "note from*");
        assert_eq!(operators("is:odd urgency:huge in: tag:\"\""), []);
        let words = Query::of_words("from:ann -x").expect("typed");
        assert_eq!((words.terms.len(), words.without.len()), (2, 0));
    }

    #[test]
    fn only_a_bare_word_has_other_forms() {
        let forms = |text: &str| {
            let query = Query::parse(text, NOW).expect("something was typed");
            let terms = query.terms.iter().chain(&query.without);
            terms.flat_map(|term| term.alternatives.clone()).collect::<Vec<_>>()
        };
        assert!(forms("lamps").contains(&"lamp".to_owned()));
        for exact in ["\"lamps\"", "-lamps", "from:lamps", "two-lamps"] {
            assert_eq!(forms(exact), Vec::<String>::new(), "{exact}");
        }
    }

    #[test]
    fn odd_input_is_never_an_error() {
        assert_eq!(Query::parse("  ", NOW), None);
        assert_eq!(show_terms("\"open quote"), "open_quote*");
        assert_eq!(show_terms("* OR ( AND ) NEAR/2 \" \" ' \\ \0"), "or and near_2*");
        assert_eq!(show_terms("!!! - -- \"\" -\"\" :"), "");
        assert!(Query::parse("!!!", NOW).expect("typed").is_empty());
    }
}
