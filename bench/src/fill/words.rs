//! Made-up words with the frequencies of a language, the same for the same seed.

use std::collections::HashSet;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// Different words, without the rare ones.
const WORDS: usize = 50_000;
/// Draws that the frequencies are laid out over; the rarest word still has one of them.
const DRAWS: usize = 1 << 20;

const STARTS: &[&str] = &[
    "b", "br", "c", "ch", "d", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pr", "qu",
    "r", "s", "sh", "st", "t", "th", "tr", "v", "w", "y", "", "",
];
const MIDDLES: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const ENDS: &[&str] = &["", "", "", "n", "r", "s", "t", "l", "m", "d", "nd", "st"];

pub struct Vocabulary {
    /// The most frequent first.
    words: Vec<String>,
    draws: Vec<u16>,
}

impl Vocabulary {
    pub fn new(seed: u64) -> Vocabulary {
        let mut chance = StdRng::seed_from_u64(seed);
        let mut words = Vec::with_capacity(WORDS);
        let mut known = HashSet::with_capacity(WORDS);
        while words.len() < WORDS {
            let word = make_word(&mut chance, words.len());
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        Vocabulary { words, draws: draws() }
    }

    /// A word as often as a text would have it.
    pub fn draw(&self, chance: &mut StdRng) -> &str {
        &self.words[usize::from(self.draws[chance.random_range(0..DRAWS)])]
    }

    /// The word at a place of the order by frequency, counted from 0.
    pub fn word_at(&self, rank: usize) -> &str {
        &self.words[rank]
    }
}

/// A word that stands in a few mails alone; no other word starts like it.
pub fn rare_word(number: usize) -> String {
    format!("zx{number:06}")
}

/// Frequent words are short.
fn make_word(chance: &mut StdRng, rank: usize) -> String {
    let syllables = match rank {
        0..200 => 1,
        200..5_000 => chance.random_range(1..=2),
        _ => chance.random_range(2..=3),
    };
    let mut word = String::new();
    for _ in 0..syllables {
        for mails in [STARTS, MIDDLES, ENDS] {
            word.push_str(mails.choose(chance).copied().unwrap_or_default());
        }
    }
    word
}

/// Zipf's law: the n-th word is 1/n as frequent as the first. Each draw names a word's rank, and
/// each word has as many draws as its share.
fn draws() -> Vec<u16> {
    let total: f64 = (1..=WORDS).map(|n| 1.0 / n as f64).sum();
    let mut draws = Vec::with_capacity(DRAWS);
    let mut share = 0.0;
    for rank in 0..WORDS {
        share += 1.0 / (rank + 1) as f64 / total;
        let end = (share * DRAWS as f64).round() as usize;
        draws.resize(end.min(DRAWS), rank as u16);
    }
    draws.resize(DRAWS, 0);
    draws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_words_and_frequencies_fall_with_rank() {
        let (one, other) = (Vocabulary::new(3), Vocabulary::new(3));
        assert_eq!(one.words, other.words);
        let draws_of = |rank: u16| one.draws.iter().filter(|drawn| **drawn == rank).count();
        assert!(draws_of(0) > 9 * draws_of(9));
        assert!(draws_of(9) > 90 * draws_of(999));
        assert!(draws_of(49_999) >= 1);
    }
}
