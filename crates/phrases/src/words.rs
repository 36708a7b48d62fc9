//! Words as they are compared: lower case, without accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word of a text, and where it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedWord {
    pub folded: String,
    /// Its first byte in the text, and the byte after its last.
    pub start: usize,
    pub end: usize,
}

/// The first words of a text, `most` of them. Letters and digits are words, signs part them.
pub fn folded_words(text: &str, most: usize) -> Vec<FoldedWord> {
    let mut words = Vec::new();
    let mut word = FoldedWord { folded: String::new(), start: 0, end: 0 };
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() {
            if word.folded.is_empty() {
                word.start = at;
            }
            push_folded(&mut word.folded, c);
            word.end = at + c.len_utf8();
        } else if !is_combining_mark(c) && !word.folded.is_empty() {
            words.push(std::mem::replace(
                &mut word,
                FoldedWord { folded: String::new(), start: 0, end: 0 },
            ));
            if words.len() == most {
                return words;
            }
        }
    }
    if !word.folded.is_empty() {
        words.push(word);
    }
    words
}

fn push_folded(word: &mut String, c: char) {
    match c {
        c if c.is_ascii() => word.push(c.to_ascii_lowercase()),
        // Letters that no decomposition makes plain.
        'ß' => word.push_str("ss"),
        'ł' | 'Ł' => word.push('l'),
        'ø' | 'Ø' => word.push('o'),
        'æ' | 'Æ' => word.push_str("ae"),
        'œ' | 'Œ' => word.push_str("oe"),
        c => {
            let parts = std::iter::once(c).nfkd().filter(|part| !is_combining_mark(*part));
            word.extend(parts.flat_map(char::to_lowercase));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> Vec<String> {
        folded_words(text, 10).into_iter().map(|word| word.folded).collect()
    }

    #[test]
    fn words_lose_case_accents_and_signs() {
        assert_eq!(fold("Größe: l'été, e\u{301}t!"), ["grosse", "l", "ete", "et"]);
        assert!(fold("… !").is_empty());
    }

    #[test]
    fn a_word_knows_where_it_stands() {
        let text = "Ein Öl-Fleck";
        let words = folded_words(text, 2);
        assert_eq!(words.len(), 2);
        assert_eq!(&text[words[1].start..words[1].end], "Öl");
    }
}
