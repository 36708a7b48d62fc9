//! Splits text into folded words for the search index.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a word that are indexed.
const WORD_CHARS: usize = 64;

/// A stretch of text that is searched as one: a word, or a run of a script without spaces.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Word(String),
    Run(Vec<char>),
}

/// Splits a text into pieces without case, accents and width.
pub fn pieces(text: &str) -> Vec<Piece> {
    if text.is_ascii() {
        return text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| Piece::Word(word[..word.len().min(WORD_CHARS)].to_ascii_lowercase()))
            .collect();
    }
    let mut pieces = Vec::new();
    let mut word = String::new();
    let mut run = Vec::new();
    for c in fold_chars(text) {
        let (in_word, in_run) = match c {
            c if is_unspaced(c) => (false, true),
            c => (c.is_alphanumeric(), false),
        };
        if !in_word && !word.is_empty() {
            pieces.push(Piece::Word(cut(std::mem::take(&mut word))));
        }
        if !in_run && !run.is_empty() {
            pieces.push(Piece::Run(std::mem::take(&mut run)));
        }
        if in_word {
            word.push(c);
        } else if in_run {
            run.push(c);
        }
    }
    if !word.is_empty() {
        pieces.push(Piece::Word(cut(word)));
    }
    if !run.is_empty() {
        pieces.push(Piece::Run(run));
    }
    pieces
}

fn cut(word: String) -> String {
    if word.len() <= WORD_CHARS { word } else { word.chars().take(WORD_CHARS).collect() }
}

/// A name without case, accents and width, to compare with another.
pub fn fold_name(name: &str) -> String {
    fold_chars(name).collect()
}

/// Decomposed, without marks, composed again (Hangul comes apart otherwise), lower case.
fn fold_chars(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|c| !is_combining_mark(*c))
        .nfc()
        .flat_map(char::to_lowercase)
        .flat_map(|c| match c {
            'ß' => ['s', 's'].into_iter().take(2),
            'ς' => ['σ', ' '].into_iter().take(1),
            c => [c, ' '].into_iter().take(1),
        })
        .filter(|c| !is_combining_mark(*c))
}

/// Scripts written without spaces, or with particles glued on: searched by pairs of characters.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff        // Thai, Lao
        | 0x1000..=0x109f      // Myanmar
        | 0x1100..=0x11ff      // Hangul letters
        | 0x1780..=0x17ff      // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30ff      // Hiragana, Katakana
        | 0x3130..=0x318f
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff      // Han
        | 0xac00..=0xd7af      // Hangul
        | 0xf900..=0xfaff
        | 0x20000..=0x323af)
        && c.is_alphanumeric()
}

/// The words a text is indexed under. A run gives its pairs and, alone, its last character, so that
/// every character starts a word and a single character can be searched for.
pub fn index_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Word(word) => words.push(word),
            Piece::Run(run) => {
                words.extend(run.windows(2).map(|pair| pair.iter().collect()));
                words.extend(run.last().map(|c| c.to_string()));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_width_and_ligatures_do_not_count() {
        for text in ["STRASSE", "Straße", "ｓｔｒａｓｓｅ"] {
            assert_eq!(index_words(text), ["strasse"], "{text}");
        }
        assert_eq!(
            index_words("Crème BRÛLÉE, İstanbul ﬁn"),
            ["creme", "brulee", "istanbul", "fin"]
        );
        assert_eq!(index_words("ΟΔΟΣ οδός"), ["οδοσ", "οδοσ"]);
    }

    #[test]
    fn punctuation_and_spaces_only_separate() {
        assert_eq!(
            index_words("ann@acme.example: #A-12/b"),
            ["ann", "acme", "example", "a", "12", "b"]
        );
        assert_eq!(index_words("\0\u{1}--'\"*"), Vec::<String>::new());
    }

    #[test]
    fn scripts_without_spaces_give_pairs_and_the_last_character() {
        assert_eq!(index_words("東京都"), ["東京", "京都", "都"]);
        assert_eq!(index_words("請求書 No5"), ["請求", "求書", "書", "no5"]);
        assert_eq!(index_words("주문"), ["주문", "문"]);
    }
}
