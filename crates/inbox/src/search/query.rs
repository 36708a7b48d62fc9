//! Parses a search query into terms.

use super::fold::{Piece, pieces};

/// A search query: every term must match.
#[derive(Debug, PartialEq, Eq)]
pub struct Query {
    pub terms: Vec<Term>,
}

/// Adjacent words.
#[derive(Debug, PartialEq, Eq)]
pub struct Term {
    pub words: Vec<String>,
    /// True when the last word may go on.
    pub prefix: bool,
}

impl Query {
    /// Parses the typed text: words, `"quoted phrases"`, the last word as a prefix. `None` when
    /// nothing was typed; a query without a single word is one that nothing matches.
    pub fn parse(text: &str) -> Option<Query> {
        if text.trim().is_empty() {
            return None;
        }
        let mut terms = Vec::new();
        for (index, part) in text.split('"').enumerate() {
            let quoted = index % 2 == 1;
            if quoted {
                terms.extend(terms_of(part));
            } else {
                terms.extend(part.split_whitespace().flat_map(terms_of));
            }
        }
        let ends_quoted =
            text.matches('"').count().is_multiple_of(2) && text.trim_end().ends_with('"');
        if let Some(last) = terms.last_mut().filter(|_| !ends_quoted) {
            last.prefix = true;
        }
        let mut once: Vec<Term> = Vec::new();
        for term in terms {
            if !once.contains(&term) {
                once.push(term);
            }
        }
        Some(Query { terms: once })
    }
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
                    terms.push(Term { words: std::mem::take(&mut phrase), prefix: false });
                }
                terms.push(run_term(&run));
            }
        }
    }
    if !phrase.is_empty() {
        terms.push(Term { words: phrase, prefix: false });
    }
    terms
}

/// The pairs of a run as a phrase; a single character is the start of any pair.
fn run_term(run: &[char]) -> Term {
    match run {
        [one] => Term { words: vec![one.to_string()], prefix: true },
        run => {
            let words = run.windows(2).map(|pair| pair.iter().collect()).collect();
            Term { words, prefix: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let query = Query::parse(text).expect("something was typed");
        let terms = query
            .terms
            .iter()
            .map(|term| format!("{}{}", term.words.join("_"), if term.prefix { "*" } else { "" }));
        terms.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_phrases_and_the_last_word_as_a_prefix() {
        assert_eq!(shown("Late Inv"), "late inv*");
        assert_eq!(shown("\"late fee\" Inv"), "late_fee inv*");
        assert_eq!(shown("inv \"late fee\""), "inv late_fee");
        assert_eq!(shown("ann@acme.example"), "ann_acme_example*");
        assert_eq!(shown("東京都 a"), "東京_京都 a*");
        assert_eq!(shown("東"), "東*");
        assert_eq!(shown("No5請求書"), "no5 請求_求書*");
    }

    #[test]
    fn odd_input_is_never_an_error() {
        assert_eq!(Query::parse("  "), None);
        assert_eq!(shown("\"open quote"), "open_quote*");
        assert_eq!(shown("* OR ( AND ) NEAR/2 \" \" ' \\ \0"), "or and near_2*");
        assert_eq!(shown("!!!"), "");
    }
}
