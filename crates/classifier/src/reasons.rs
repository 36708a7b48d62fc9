//! Says why, in words of the mail at hand.

use phrases::FoldedWord;

use crate::features::{each, is_word};
use crate::language::is_small_word;
use crate::scorer::Scorer;

/// Words or pairs of words that are named.
const NAMED: usize = 3;
/// Bytes of a word that is named.
const WORD_BYTES: usize = 40;

/// Up to two sentences: the telling words, and how many mails were sorted so.
pub(crate) fn reasons(named: &[String], scorer: &Scorer, label: usize) -> Vec<String> {
    let mut reasons = Vec::new();
    if !named.is_empty() {
        reasons.push(format!("Because of {}.", list_words(named)));
    }
    match scorer.examples_of[label] {
        0 => {}
        1 => reasons.push("Like one mail that was sorted so.".to_owned()),
        count => reasons.push(format!("Like {count} mails that were sorted so.")),
    }
    reasons
}

/// What of a mail speaks for a label.
pub(crate) struct TellingWords {
    /// The stretches that speak most for it, in the order of the mail.
    pub named: Vec<String>,
    /// One of them is a whole word that an example has, rather than one like it.
    pub has_known: bool,
}

pub(crate) fn telling(
    text: &str,
    words: &[FoldedWord],
    scorer: &Scorer,
    label: usize,
) -> TellingWords {
    let mut weights = vec![0.0f32; words.len()];
    let mut known = vec![false; words.len()];
    each(words, |hash, first, last| {
        let Some(place) = scorer.vocabulary.place(hash) else { return };
        let weight = scorer.weight(place, label) / (last - first + 1) as f32;
        weights[first] += weight;
        known[first] |= is_word(hash) && weight > 0.0;
        if last != first {
            weights[last] += weight;
        }
    });
    let telling = |at: &usize| weights[*at] > 0.0 && !is_small_word(&words[*at].folded);
    let mut best: Vec<usize> = (0..words.len()).filter(telling).collect();
    best.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    best.truncate(NAMED);
    best.sort_unstable();
    let has_known = best.iter().any(|at| known[*at]);
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for at in best {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => stretches.push((at, at)),
        }
    }
    let written = |(first, last): (usize, usize)| {
        let stretch = &text[words[first].start..words[last].end];
        stretch[..stretch.floor_char_boundary(WORD_BYTES * (last - first + 1))]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut named: Vec<String> = Vec::new();
    for stretch in stretches {
        let word = written(stretch);
        if !named.contains(&word) {
            named.push(word);
        }
    }
    TellingWords { named, has_known }
}

fn list_words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("“{word}”")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}
