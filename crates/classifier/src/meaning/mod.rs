//! What a text is about, as a vector: the sum of the vectors of its words.
//!
//! `vectors.bin` has a vector for each of some twenty thousand English words, by the hash that
//! [`TextFeatures`] keeps of a word. So mail of which nothing but hashes was kept has a meaning too.
//! `make_vectors.py` makes the file, and `README.md` says of what. It is a part of the program, so
//! all workspaces and threads share one copy.

use crate::features::{TextFeatures, is_word};

/// Numbers of a vector.
pub(crate) const DIMENSIONS: usize = 128;
/// The share of a text's words that must have a vector. Of a text in another language than English few
/// have one, and those by chance.
const KNOWN_SHARE: f32 = 0.7;

/// The number of words; then in the order of the words' hashes these, how much a step of the numbers
/// of each is, and the numbers.
static FILE: &[u8] = include_bytes!("vectors.bin");
const HEAD: usize = 4;
const HASH: usize = 4;
const STEP: usize = 4;

/// A direction in which texts about the same thing lie near one another; its length is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning(Vec<f32>);

impl Meaning {
    pub fn of(text: &str) -> Option<Meaning> {
        Meaning::of_features(&TextFeatures::of(text))
    }

    /// `None` for a text that is not in English or has no words that mean something.
    pub fn of_features(features: &TextFeatures) -> Option<Meaning> {
        let mut sum = vec![0.0f32; DIMENSIONS];
        let (mut known, mut all) = (0.0, 0.0);
        for (hash, count) in features.counts.iter().filter(|(hash, _)| is_word(*hash)) {
            let count = f32::from(*count);
            all += count;
            let Some(word) = WordVector::find(*hash) else { continue };
            known += count;
            // A word said again says little more.
            let weight = (1.0 + count.ln()) * word.step;
            for (sum, number) in sum.iter_mut().zip(word.numbers) {
                *sum += f32::from(*number as i8) * weight;
            }
        }
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length <= 0.0 || known < KNOWN_SHARE * all {
            return None;
        }
        sum.iter_mut().for_each(|number| *number /= length);
        Some(Meaning(sum))
    }

    /// The cosine to another: 1 for the same, about 0 for what has nothing to do with it.
    pub fn likeness(&self, other: &Meaning) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }

    pub(crate) fn numbers(&self) -> &[f32] {
        &self.0
    }
}

/// A word of the file.
struct WordVector {
    /// What one step of its numbers is.
    step: f32,
    /// Signed, a byte each.
    numbers: &'static [u8],
}

impl WordVector {
    fn find(hash: u32) -> Option<WordVector> {
        let words = count();
        let (mut from, mut to) = (0, words);
        while from < to {
            let middle = from.midpoint(to);
            if u32::from_le_bytes(four(HEAD + middle * HASH)) < hash {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        if from == words || u32::from_le_bytes(four(HEAD + from * HASH)) != hash {
            return None;
        }
        let steps = HEAD + words * HASH;
        let numbers = steps + words * STEP + from * DIMENSIONS;
        Some(WordVector {
            step: f32::from_le_bytes(four(steps + from * STEP)),
            numbers: &FILE[numbers..numbers + DIMENSIONS],
        })
    }
}

fn count() -> usize {
    u32::from_le_bytes(four(0)) as usize
}

fn four(at: usize) -> [u8; 4] {
    [FILE[at], FILE[at + 1], FILE[at + 2], FILE[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(one: &str, other: &str) -> f32 {
        Meaning::of(one).unwrap().likeness(&Meaning::of(other).unwrap())
    }

    #[test]
    fn the_file_is_whole_and_in_order() {
        const WORDS: usize = 15_000;
        const MOST_BYTES: usize = 8 << 20;
        let words = count();
        assert!(words > WORDS && FILE.len() < MOST_BYTES, "{words} words, {} bytes", FILE.len());
        assert_eq!(FILE.len(), HEAD + words * (HASH + STEP + DIMENSIONS));
        let hash = |at: usize| u32::from_le_bytes(four(HEAD + at * HASH));
        assert!((1..words).all(|at| hash(at - 1) < hash(at) && is_word(hash(at))));
        let step = |at: usize| f32::from_le_bytes(four(HEAD + words * HASH + at * STEP));
        assert!((0..words).all(|at| step(at).is_finite() && step(at) > 0.0));
    }

    #[test]
    fn other_words_for_the_same_are_alike() {
        let same = likeness("My parcel was lost", "The package has vanished");
        let other = likeness("My parcel was lost", "The heating is too cold");
        assert!(same > other + 0.2, "{same} {other}");
        assert!(likeness("Refund", "refund!") > 0.999);
    }

    #[test]
    fn other_languages_have_no_meaning_here() {
        for text in [
            "",
            "…",
            "xkqzzt",
            "Ich möchte die Lampe zurückgeben, weil sie nicht zu unserem Sofa passt.",
            "Je voudrais rendre la lampe, elle ne va pas avec notre canapé.",
            "Quisiera devolver la lámpara porque no combina con nuestro sofá.",
            "Vorrei restituire la lampada perché non sta bene con il divano.",
            "Ik wil de lamp terugsturen omdat die niet bij onze bank past.",
            "Gostaria de devolver o candeeiro porque não combina com o sofá.",
            "Chciałbym zwrócić lampę, bo nie pasuje do naszej kanapy.",
        ] {
            assert_eq!(Meaning::of(text), None, "{text}");
        }
    }
}
