//! Names of people as an eye in a hurry sees them: whatever alphabet, accents, digits, spaces and order
//! they are written with.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Words of a name that are compared.
const WORDS: usize = 40;
/// Letters of a name below which its letters in a row are found in others by chance.
const LETTERS: usize = 5;
/// Letters of a word of a name that tells somebody from others.
const TELLING_LETTERS: usize = 3;

/// A name, ready to be compared with many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NameSkeleton {
    words: Vec<String>,
    /// All its letters in a row.
    letters: String,
}

impl NameSkeleton {
    pub fn of(name: &str) -> NameSkeleton {
        let seen: String =
            name.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(as_seen).collect();
        let words = seen.split(' ').filter(|word| !word.is_empty()).take(WORDS);
        let words: Vec<String> =
            words.map(|word| word.replace("rn", "m").replace("vv", "w")).collect();
        NameSkeleton { letters: words.concat(), words }
    }

    /// True for a name that is taken for another: the same words in any order, with spaces between the
    /// letters or none between the words, or with something added.
    pub fn poses_as(&self, real: &NameSkeleton) -> bool {
        if real.letters.chars().count() < LETTERS {
            return self == real && !real.words.is_empty();
        }
        let sorted = |name: &NameSkeleton| {
            let mut words = name.words.clone();
            words.sort_unstable();
            words
        };
        sorted(self) == sorted(real) || self.is_respaced(real) || self.has_added(real)
    }

    /// The letters in a row are the same, whichever word comes first.
    fn is_respaced(&self, real: &NameSkeleton) -> bool {
        (0..real.words.len()).any(|first| {
            let (behind, before) = real.words.split_at(first);
            format!("{}{}", before.concat(), behind.concat()) == self.letters
        })
    }

    /// "Olive Owner (CEO)": all words of a full name, and others.
    fn has_added(&self, real: &NameSkeleton) -> bool {
        let telling = real.words.iter().filter(|word| word.chars().count() >= TELLING_LETTERS);
        telling.count() >= 2 && real.words.iter().all(|word| self.words.contains(word))
    }
}

/// A character as the Latin letter that it looks like; a space for what is no letter, and nothing for
/// what takes no place.
fn as_seen(c: char) -> impl Iterator<Item = char> {
    let mut buffer = [0; 4];
    let lower: String = c.to_lowercase().collect();
    let folded = match c {
        c if is_unseen(c) => String::new(),
        'ß' => "ss".into(),
        'ł' | 'Ł' => "l".into(),
        'ø' | 'Ø' => "o".into(),
        'đ' | 'Đ' => "d".into(),
        'æ' | 'Æ' => "ae".into(),
        'œ' | 'Œ' => "oe".into(),
        c if c.is_ascii() => c.to_ascii_lowercase().encode_utf8(&mut buffer).to_owned(),
        _ => skeleton(&lower).flat_map(char::to_lowercase).collect(),
    };
    folded.chars().filter(|c| !is_combining_mark(*c)).map(as_letter).collect::<Vec<_>>().into_iter()
}

/// Digits and signs that stand for letters. One letter stands for all that look alike.
fn as_letter(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | '|' | '!' | 'i' => 'l',
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '8' => 'b',
        '9' => 'g',
        c if c.is_alphanumeric() => c,
        _ => ' ',
    }
}

fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\'' | '’' | '`')
        || crate::text::invisible::is_hiding(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poses(name: &str, real: &str) -> bool {
        NameSkeleton::of(name).poses_as(&NameSkeleton::of(real))
    }

    #[test]
    fn a_name_is_recognised_however_it_is_written() {
        for name in [
            "Olive Owner",
            "OLIVE OWNER",
            "0live 0wner",
            "O1ive Owner",
            "Owner, Olive",
            "O l i v e  O w n e r",
            "O.l.i.v.e O.w.n.e.r",
            "OliveOwner",
            "OwnerOlive",
            "𝐎𝐥𝐢𝐯𝐞 𝐎𝐰𝐧𝐞𝐫",
            "Ｏｌｉｖｅ Ｏｗｎｅｒ",
            "Ólivé Öwnér",
            "O\u{301}live Owner",
            "Оlіvе Оwnеr",
            "Olive\u{200b} Ow\u{200d}ner",
            "Olive Ovvner",
            "Olive_Owner",
            "Olive Owner (CEO)",
            "Dr. Olive Owner",
            "Olive Owner via Acme",
            "Ol!ve Owner",
        ] {
            assert!(poses(name, "Olive Owner"), "{name}");
        }
        assert!(poses("Mueller, Jörg", "Jörg Mueller"));
        assert!(poses("Rob0 Helper", "Robo Helper"));
    }

    #[test]
    fn other_names_are_other_people() {
        for name in [
            "Olive",
            "Owner",
            "Oliver Owner",
            "Olive Downer",
            "Olivia Owner",
            "Clive Owen",
            "Shop owner",
            "",
            "☃",
        ] {
            assert!(!poses(name, "Olive Owner"), "{name}");
        }
        assert!(!poses("Anna Lee", "Ann Lee"));
        assert!(!poses("", ""));
        assert!(!poses("Bob", "Rob"));
    }
}
