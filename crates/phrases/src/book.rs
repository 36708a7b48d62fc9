//! A file of phrases, and finding them.

use std::collections::{HashMap, HashSet};

use crate::words::folded_words;

/// Words of a text that are looked at.
const WORDS: usize = 8_000;
/// Words between the two sides of a pair.
const PAIR_REACH: usize = 6;
/// Characters of the shortest stem, so that `be*` does not catch half a language.
const STEM_CHARS: usize = 3;
/// Bytes of the longest stem, so that a word without end takes no time without end.
const STEM_BYTES: usize = 24;

/// The phrases of a file.
pub struct PhraseBook {
    groups: Vec<String>,
    rules: Vec<PhraseLine>,
    /// By their first word, or by the stem of it.
    by_word: HashMap<String, Vec<WordSequence>>,
    by_stem: HashMap<String, Vec<WordSequence>>,
    /// What stems begin with: most words begin with none of it.
    stem_starts: HashSet<[u8; STEM_CHARS]>,
}

/// One line of the file.
struct PhraseLine {
    group: usize,
    pair: bool,
}

/// Words in a row, and the line and side of it that they stand for.
struct WordSequence {
    rest: Vec<PhraseWord>,
    rule: usize,
    side: usize,
}

struct PhraseWord {
    text: String,
    stem: bool,
}

/// A line of the file that a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhraseHit<'a> {
    pub group: &'a str,
    /// The first and the last word of it in the text.
    pub first: usize,
    pub last: usize,
}

impl PhraseBook {
    /// Reads a file. A phrase before the first group is a mistake in the file, and panics.
    pub fn parse(file: &str) -> PhraseBook {
        let mut book = PhraseBook {
            groups: Vec::new(),
            rules: Vec::new(),
            by_word: HashMap::new(),
            by_stem: HashMap::new(),
            stem_starts: HashSet::new(),
        };
        for line in file.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(group) => book.groups.push(group.to_owned()),
                None => book.add(line),
            }
        }
        book
    }

    fn add(&mut self, line: &str) {
        let group = self.groups.len().checked_sub(1).expect("a group stands before its phrases");
        let rule = self.rules.len();
        let sides: Vec<&str> = line.splitn(2, '~').collect();
        self.rules.push(PhraseLine { group, pair: sides.len() == 2 });
        for (side, text) in sides.into_iter().enumerate() {
            for alternative in text.split(',') {
                let mut words = alternative.split_whitespace().flat_map(phrase_words);
                let Some(first) = words.next() else { continue };
                let sequence = WordSequence { rest: words.collect(), rule, side };
                if first.stem {
                    self.stem_starts.extend(first.text.as_bytes().first_chunk());
                }
                let index = if first.stem { &mut self.by_stem } else { &mut self.by_word };
                index.entry(first.text).or_default().push(sequence);
            }
        }
    }

    /// The lines that a text has, each once, in the order of the file.
    pub fn find(&self, words: &[&str]) -> Vec<PhraseHit<'_>> {
        let words = &words[..words.len().min(WORDS)];
        let mut states = vec![LineState::default(); self.rules.len()];
        for at in 0..words.len() {
            let word = words[at];
            self.meet(self.by_word.get(word), words, at, &mut states);
            let start = word.as_bytes().first_chunk();
            if !start.is_some_and(|start| self.stem_starts.contains(start)) {
                continue;
            }
            let most = word.len().min(STEM_BYTES);
            for end in (STEM_CHARS..=most).filter(|end| word.is_char_boundary(*end)) {
                self.meet(self.by_stem.get(&word[..end]), words, at, &mut states);
            }
        }
        let lines = self.rules.iter().zip(states);
        let hit = |(line, state): (&PhraseLine, LineState)| {
            let (first, last) = state.found?;
            Some(PhraseHit { group: &self.groups[line.group], first, last })
        };
        lines.filter_map(hit).collect()
    }

    /// Notes the sequences that begin at a word.
    fn meet(
        &self,
        beginning: Option<&Vec<WordSequence>>,
        words: &[&str],
        at: usize,
        states: &mut [LineState],
    ) {
        for sequence in beginning.into_iter().flatten() {
            let follows = |(word, wanted): (&&str, &PhraseWord)| match wanted.stem {
                true => word.starts_with(&wanted.text),
                false => *word == wanted.text,
            };
            let rest = &words[at + 1..];
            if rest.len() < sequence.rest.len() || !rest.iter().zip(&sequence.rest).all(follows) {
                continue;
            }
            let state = &mut states[sequence.rule];
            let end = at + sequence.rest.len();
            if !self.rules[sequence.rule].pair {
                state.found.get_or_insert((at, end));
                continue;
            }
            state.seen[sequence.side] = Some((at, end));
            if let Some((other, other_end)) = state.seen[1 - sequence.side]
                && at > other_end
                && at - other_end <= PAIR_REACH
            {
                state.found.get_or_insert((other, end));
            }
        }
    }
}

/// What was met of a line so far, as first and last word.
#[derive(Clone, Copy, Default)]
struct LineState {
    found: Option<(usize, usize)>,
    /// Where each side of a pair was met last.
    seen: [Option<(usize, usize)>; 2],
}

/// The words of one word of the file, which signs may part.
fn phrase_words(written: &str) -> Vec<PhraseWord> {
    let stem = written.ends_with('*');
    let mut words: Vec<PhraseWord> = folded_words(written, usize::MAX)
        .into_iter()
        .map(|word| PhraseWord { text: word.folded, stem: false })
        .collect();
    if let Some(last) = words.last_mut() {
        last.stem = stem && last.text.len() >= STEM_CHARS;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[asks]\nverify, confirm ~ account*, pass word\ngift card*\n# no phrase\n\n\
                        [other]\nlast chance\nérgent";

    fn find_phrases(text: &str) -> Vec<(String, String)> {
        let words: Vec<String> =
            folded_words(text, usize::MAX).into_iter().map(|word| word.folded).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let book = PhraseBook::parse(FILE);
        let hits = book.find(&words).into_iter();
        hits.map(|hit| (hit.group.to_owned(), words[hit.first..=hit.last].join(" "))).collect()
    }

    fn groups(text: &str) -> Vec<String> {
        find_phrases(text).into_iter().map(|(group, _)| group).collect()
    }

    #[test]
    fn phrases_stems_and_pairs_are_found() {
        assert_eq!(groups("Please CONFIRM, for our files, your accounts"), ["asks"]);
        assert_eq!(groups("Your pass-word: verify it. Gift cards!"), ["asks", "asks"]);
        assert_eq!(groups("It is your last, last chance. Ergent!"), ["other", "other"]);
    }

    #[test]
    fn a_hit_says_where_it_stands() {
        let expected = ("asks".to_owned(), "account must you confirm".to_owned());
        assert_eq!(find_phrases("Your account must you confirm now"), [expected]);
    }

    #[test]
    fn parts_of_words_and_far_pairs_are_not_found() {
        for text in [
            "reconfirm unaccountable gifted cards",
            "confirm one two three four five six seven account",
            "last",
            "",
        ] {
            assert_eq!(groups(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_long_text_takes_little_time() {
        assert_eq!(groups(&"confirm account gift ".repeat(100_000)), ["asks"]);
    }
}
