//! Text as a hurried reader takes it: accents, case and signs off, and letters that were swapped for
//! look-alikes put back.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::compose;
use unicode_security::confusable_detection::skeleton;

/// Words of a text, folded, with a space between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoldedText {
    pub words: String,
    /// Words that mix alphabets, hide signs between their letters or carry marks that no language
    /// puts there. Only a trick does that.
    pub disguised: usize,
    /// Words in letters of mathematics or in circles, as some advertisers like them as well.
    pub styled: usize,
}

/// Folds a text.
pub(super) fn fold(text: &str) -> FoldedText {
    let mut folded = FoldedText { words: String::with_capacity(text.len()), ..Default::default() };
    let mut word = Word::default();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push_latin(c.to_ascii_lowercase());
        } else if c.is_ascii() || !word.push_other(c) {
            word.end(&mut folded);
        }
    }
    word.end(&mut folded);
    folded
}

/// A word while it is read.
#[derive(Default)]
struct Word {
    /// With look-alikes put back.
    plain: String,
    /// As it was written, for words that are wholly of another alphabet.
    written: String,
    latin: bool,
    foreign: bool,
    styled: bool,
    /// A sign without width was met after a letter.
    gap: bool,
    tricked: bool,
}

impl Word {
    fn push_latin(&mut self, c: char) {
        self.tricked |= self.gap && self.latin;
        self.gap = false;
        self.latin |= c.is_ascii_alphabetic();
        self.plain.push(c);
        self.written.push(c);
    }

    /// Takes a character beyond ASCII; false when it ends the word.
    fn push_other(&mut self, c: char) -> bool {
        match c {
            // Honest newsletters say by it where a word may be parted.
            '\u{ad}' => {}
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{180e}' | '\u{34f}' => {
                self.gap = !self.plain.is_empty();
            }
            c if is_mark(c) => self.push_mark(c),
            c if is_styled(c) => {
                self.styled = true;
                c.nfkd().filter(char::is_ascii_alphanumeric).for_each(|c| self.push_latin(low(c)));
            }
            c if is_foreign(c) => self.push_foreign(c),
            c if c.is_alphanumeric() => self.push_letter(c),
            _ => return false,
        }
        true
    }

    fn push_mark(&mut self, mark: char) {
        let Some(base) = self.written.chars().next_back() else { return };
        let accent = matches!(mark, '\u{300}'..='\u{36f}');
        self.tricked |= base.is_ascii_alphabetic() && !(accent && compose(base, mark).is_some());
    }

    fn push_foreign(&mut self, c: char) {
        let lower = low(c);
        self.gap = false;
        self.foreign = true;
        self.written.push(lower);
        self.plain.push(LOOK_ALIKES.get(&c).copied().unwrap_or(lower));
    }

    /// A letter with an accent, or of an alphabet that has no look-alikes.
    fn push_letter(&mut self, c: char) {
        match c {
            'ß' => "ss".chars().for_each(|c| self.push_latin(c)),
            'ł' | 'Ł' => self.push_latin('l'),
            'ø' | 'Ø' => self.push_latin('o'),
            'đ' | 'Đ' => self.push_latin('d'),
            'æ' | 'Æ' => "ae".chars().for_each(|c| self.push_latin(c)),
            'œ' | 'Œ' => "oe".chars().for_each(|c| self.push_latin(c)),
            'ı' => self.push_latin('i'),
            c => {
                for part in c.nfkd().filter(|part| !is_mark(*part)).flat_map(char::to_lowercase) {
                    match part.is_ascii_alphanumeric() {
                        true => self.push_latin(part),
                        false => {
                            self.plain.push(part);
                            self.written.push(part);
                        }
                    }
                }
            }
        }
    }

    fn end(&mut self, folded: &mut FoldedText) {
        let mixed = self.latin && self.foreign;
        folded.disguised += usize::from(mixed || self.tricked);
        folded.styled += usize::from(self.styled);
        let word = if self.latin { &self.plain } else { &self.written };
        if !word.is_empty() {
            if !folded.words.is_empty() {
                folded.words.push(' ');
            }
            folded.words.push_str(word);
        }
        self.plain.clear();
        self.written.clear();
        (self.latin, self.foreign, self.styled) = (false, false, false);
        (self.gap, self.tricked) = (false, false);
    }
}

fn low(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Marks that stand on the letter before them.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Latin letters of mathematics, full width, in circles and squares, and small capitals.
fn is_styled(c: char) -> bool {
    matches!(c, '\u{1d400}'..='\u{1d7ff}' | '\u{ff10}'..='\u{ff5a}' | '\u{2460}'..='\u{24ff}'
        | '\u{1f100}'..='\u{1f189}' | '\u{2100}'..='\u{214f}')
}

/// Greek, Cyrillic and Armenian, which have letters that look Latin.
fn is_foreign(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}') && c.is_alphabetic()
}

/// Latin letters by the foreign ones that look like them.
static LOOK_ALIKES: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let seen = |c: char| skeleton(&c.to_string()).next().filter(char::is_ascii_alphabetic);
    ('\u{370}'..='\u{58f}').filter_map(|c| Some((c, low(seen(c)?)))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_case_and_signs_do_not_matter() {
        assert_eq!(fold("Überprüfen Sie IHR Konto!").words, "uberprufen sie ihr konto");
        assert_eq!(fold("A été suspendu…").words, "a ete suspendu");
        assert_eq!(fold("hasło\u{ad}straße").words, "haslostrasse");
    }

    #[test]
    fn swapped_letters_are_put_back_and_counted() {
        for (text, words) in [
            ("РayPаl", "paypal"),
            ("Dassault Αviatiοn", "dassault aviation"),
            ("A\u{73f}m\u{73f}azon", "amazon"),
            ("pass\u{200b}word", "password"),
        ] {
            let folded = fold(text);
            assert_eq!(folded.words, words);
            assert_eq!(folded.disguised, 1, "{text}");
        }
        let styled = fold("𝗔𝗺𝗮𝘇𝗼𝗻 prime");
        assert_eq!((styled.words.as_str(), styled.styled), ("amazon prime", 1));
    }

    #[test]
    fn other_alphabets_and_composed_accents_are_honest() {
        for honest in [
            "Привет, мир",
            "Καλημέρα",
            "re\u{301}sume\u{301}",
            "नमस्ते",
            "日本語",
            "Zoë",
            "Emoji 👩\u{200d}💻 ok",
        ] {
            assert_eq!(fold(honest).disguised, 0, "{honest}");
        }
        assert_eq!(fold("Привет, мир").words, "привет мир");
    }
}
