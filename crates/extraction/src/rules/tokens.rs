//! Splits text into folded tokens and finds phrases in them.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A run of letters and digits, folded, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordToken {
    pub word: String,
    pub start: usize,
    pub end: usize,
}

/// The words of a text without case and accents.
pub fn tokens(text: &str) -> Vec<WordToken> {
    let mut tokens: Vec<WordToken> = Vec::new();
    let mut open = false;
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        // "N°" and "Nº" are short for a word.
        let is_part = c.is_alphanumeric() || matches!(c, '°' | 'º' | '№') || is_combining_mark(c);
        if is_part {
            if !open {
                tokens.push(WordToken { word: String::new(), start, end });
            }
            if let Some(token) = tokens.last_mut() {
                token.word.extend(fold_char(c));
                token.end = end;
            }
        }
        open = is_part;
    }
    tokens
}

/// The words of a text as one line, each followed by a space and the first led by one.
pub fn fold(text: &str) -> String {
    let mut line = String::from(" ");
    for token in tokens(text) {
        line.push_str(&token.word);
        line.push(' ');
    }
    line
}

fn fold_char(c: char) -> impl Iterator<Item = char> {
    let c = match c {
        '°' | 'º' => 'o',
        'ł' | 'Ł' => 'l',
        'ø' | 'Ø' => 'o',
        'đ' => 'd',
        c => c,
    };
    let sharp = c == 'ß';
    let rest = c.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    let first: Vec<char> = if sharp { vec!['s', 's'] } else { rest.collect() };
    first.into_iter()
}

/// Where one of the phrases stands among the tokens: the longest one, then the first.
/// Answers the numbers of its first token and of the one after it.
pub fn find(tokens: &[WordToken], phrases: &[&str]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    for at in 0..tokens.len() {
        for phrase in phrases {
            let Some(length) = starts_with(&tokens[at..], phrase) else { continue };
            if best.is_none_or(|(from, to)| length > to - from) {
                best = Some((at, at + length));
            }
        }
    }
    best
}

/// How many tokens the phrase takes up, if it stands at their beginning. A word that is led by a
/// star is also the end of a compound: `*rechnung` is in "Mietrechnung".
fn starts_with(tokens: &[WordToken], phrase: &str) -> Option<usize> {
    let mut length = 0;
    for word in phrase.split(' ') {
        let token = tokens.get(length)?;
        let fits = match word.strip_prefix('*') {
            Some(end) => token.word == end || is_compound(&token.word, end),
            None => token.word == word,
        };
        if !fits {
            return None;
        }
        length += 1;
    }
    Some(length)
}

/// "Berechnung" is no kind of "Rechnung": what stands before the end must be a word.
fn is_compound(word: &str, end: &str) -> bool {
    const SYLLABLES: [&str; 6] = ["be", "ver", "an", "ab", "ge", "zu"];
    word.strip_suffix(end).is_some_and(|lead| {
        lead.chars().count() >= 3 && !SYLLABLES.iter().any(|syllable| lead.ends_with(syllable))
    })
}

pub fn has(tokens: &[WordToken], phrases: &[&str]) -> bool {
    find(tokens, phrases).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_is_found_whatever_its_case_and_accents() {
        let text = "Référence : Numéro de facture N° 12";
        let found = find(&tokens(text), &["numero", "numero de facture", "no"]);
        assert_eq!(found, Some((1, 4)));
        assert_eq!(fold("Straße ŁÓDŹ Nº5"), " strasse lodz no5 ");
        assert_eq!(find(&tokens("renumerate"), &["numero"]), None);
        assert!(has(&tokens("Mietrechnung Nr. 5"), &["*rechnung nr"]));
        assert!(!has(&tokens("Nach unserer Berechnung"), &["*rechnung"]));
    }
}
