//! A text as hashes of its words, pairs of words and pieces of words.

use phrases::{FoldedWord, folded_words};

/// Words of a mail that count; people say at the beginning what they want.
pub const WORDS: usize = 250;
/// Different features of a text that count.
pub(crate) const FEATURES: usize = 2_500;
/// Bits of a hash. With 22, two features of a workspace's mail rarely meet, and an example is small.
const HASH_BITS: u32 = 22;
/// Lengths of the pieces of words, in characters.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;
/// Characters of a word that are cut into pieces.
const PIECED_CHARS: usize = 24;

/// What a feature was made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FeatureKind {
    Word = 0,
    Piece = 1,
    Pair = 2,
}

/// The hashed features of a text and how often each occurs, in the order of the hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFeatures {
    pub(crate) counts: Vec<(u32, u8)>,
}

impl TextFeatures {
    pub fn of(text: &str) -> TextFeatures {
        let mut hashes = Vec::new();
        each(&folded_words(text, WORDS), |hash, _, _| hashes.push(hash));
        hashes.truncate(FEATURES * 2);
        hashes.sort_unstable();
        let mut counts: Vec<(u32, u8)> = Vec::with_capacity(hashes.len());
        for hash in hashes {
            match counts.last_mut() {
                Some((last, count)) if *last == hash => *count = count.saturating_add(1),
                _ => counts.push((hash, 1)),
            }
        }
        counts.truncate(FEATURES);
        TextFeatures { counts }
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// The lowest two bits of a hash are its kind, so that the kinds are told apart without their text.
pub(crate) fn is_piece(hash: u32) -> bool {
    hash & KIND_BITS == FeatureKind::Piece as u32
}

pub(crate) fn is_word(hash: u32) -> bool {
    hash & KIND_BITS == FeatureKind::Word as u32
}

const KIND_BITS: u32 = 3;

/// Meets every feature of a text: its hash, and the first and the last word that it is of.
pub(crate) fn each(words: &[FoldedWord], mut meet: impl FnMut(u32, usize, usize)) {
    for (at, word) in words.iter().enumerate() {
        meet(hash(&[&word.folded], FeatureKind::Word), at, at);
        if let Some(next) = words.get(at + 1) {
            meet(hash(&[&word.folded, &next.folded], FeatureKind::Pair), at, at + 1);
        }
        pieces(&word.folded, |piece| meet(hash(&[piece], FeatureKind::Piece), at, at));
    }
}

/// The pieces of a word with a sign at its beginning and its end.
fn pieces(word: &str, mut meet: impl FnMut(&str)) {
    let framed: String =
        ['<'].into_iter().chain(word.chars().take(PIECED_CHARS)).chain(['>']).collect();
    let mut starts: Vec<usize> = framed.char_indices().map(|(at, _)| at).collect();
    starts.push(framed.len());
    for length in PIECES {
        for ends in starts.windows(length + 1) {
            meet(&framed[ends[0]..ends[length]]);
        }
    }
}

/// FNV-1a, folded to the bits that are kept.
fn hash(parts: &[&str], kind: FeatureKind) -> u32 {
    let mut hash = Fnv::default();
    hash.write(&[kind as u8]);
    for part in parts {
        hash.write(part.as_bytes());
        hash.write(&[0xff]);
    }
    let folded = (hash.0 ^ (hash.0 >> 32)) as u32;
    let folded = (folded ^ (folded >> HASH_BITS)) & ((1 << HASH_BITS) - 1);
    (folded & !KIND_BITS) | kind as u32
}

/// A hash that is the same on every machine and in every version.
pub(crate) struct Fnv(pub u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_have_the_same_features() {
        assert_eq!(TextFeatures::of("Größe ÄNDERN"), TextFeatures::of("grosse andern!"));
        assert_ne!(TextFeatures::of("lamp"), TextFeatures::of("lamps"));
        assert!(TextFeatures::of(" …").is_empty());
    }

    #[test]
    fn misspelt_words_share_pieces() {
        let hashes = |text: &str| -> Vec<u32> {
            TextFeatures::of(text).counts.into_iter().map(|(hash, _)| hash).collect()
        };
        let (right, wrong) = (hashes("delivery"), hashes("delivrey"));
        let shared = right.iter().filter(|hash| wrong.contains(hash)).count();
        assert!(shared >= 5 && shared < right.len(), "{shared}");
    }

    #[test]
    fn a_long_text_is_bounded() {
        let text = (0..100_000).map(|at| format!("word{at} ")).collect::<String>();
        assert!(TextFeatures::of(&text).counts.len() <= FEATURES);
    }
}
