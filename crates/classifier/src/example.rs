//! Decisions as they are kept: hashes and a label.

use crate::features::TextFeatures;

/// The first byte of a kept example, raised when its form changes.
const VERSION: u8 = 1;

/// A mail that somebody sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct SorterExample {
    pub features: TextFeatures,
    /// The name or id of the topic; `None` for "none of these".
    pub topic: Option<String>,
    /// How much it counts: 1 for a person's decision.
    pub weight: f32,
    /// False for a topic's own name and words, which nobody decided about.
    pub decided: bool,
}

/// The bytes are not those of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableExample;

impl SorterExample {
    /// How much a topic's own name counts beside decisions.
    const SEED_WEIGHT: f32 = 0.5;
    /// How much an agent's decision counts beside a person's.
    const AGENT_WEIGHT: f32 = 0.5;

    /// A person's decision about a mail.
    pub fn from_decision(text: &str, topic: Option<&str>) -> SorterExample {
        SorterExample::from_features(TextFeatures::of(text), topic)
    }

    /// The same decision, made by an agent; it weighs less than a person's.
    pub fn by_agent(self) -> SorterExample {
        SorterExample { weight: SorterExample::AGENT_WEIGHT, ..self }
    }

    /// A decision whose features were kept.
    pub fn from_features(features: TextFeatures, topic: Option<&str>) -> SorterExample {
        SorterExample { features, topic: topic.map(str::to_owned), weight: 1.0, decided: true }
    }

    /// A topic's name and describing words, with which it can be suggested before anybody decided.
    pub fn seed(topic: &str, words: &str) -> SorterExample {
        let text = format!("{topic} {words}");
        SorterExample {
            weight: SorterExample::SEED_WEIGHT,
            decided: false,
            ..SorterExample::from_decision(&text, Some(topic))
        }
    }
}

impl TextFeatures {
    /// The features as bytes: a version, then for each feature the distance to the one before and
    /// its count, as numbers of seven bits a byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        let mut before = 0;
        for (hash, count) in &self.counts {
            // Most features occur once: the lowest bit says so.
            let once = u64::from(*count == 1);
            push_number(&mut bytes, u64::from(hash - before) << 1 | once);
            if *count != 1 {
                bytes.push(*count);
            }
            before = *hash;
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<TextFeatures, UnreadableExample> {
        let (version, mut rest) = bytes.split_first().ok_or(UnreadableExample)?;
        if *version != VERSION {
            return Err(UnreadableExample);
        }
        let mut features = TextFeatures::default();
        let mut before = 0u32;
        while !rest.is_empty() {
            let number = take_number(&mut rest).ok_or(UnreadableExample)?;
            let distance = u32::try_from(number >> 1).map_err(|_| UnreadableExample)?;
            let hash = before.checked_add(distance).ok_or(UnreadableExample)?;
            let count = if number & 1 == 1 { 1 } else { take_byte(&mut rest)? };
            features.counts.push((hash, count));
            before = hash;
        }
        let rising = features.counts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if rising { Ok(features) } else { Err(UnreadableExample) }
    }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..42).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_byte(rest: &mut &[u8]) -> Result<u8, UnreadableExample> {
    let (byte, after) = rest.split_first().ok_or(UnreadableExample)?;
    *rest = after;
    Ok(*byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_read_again(text in ".{0,400}") {
            let features = TextFeatures::of(&text);
            prop_assert_eq!(TextFeatures::from_bytes(&features.to_bytes()), Ok(features));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(features) = TextFeatures::from_bytes(&bytes) {
                prop_assert!(features.counts.len() <= bytes.len());
            }
        }
    }

    #[test]
    fn an_example_is_small_and_has_no_words() {
        let text = "When will you refund the money for the broken desk lamp?";
        let bytes = TextFeatures::of(text).to_bytes();
        assert!(bytes.len() < 600, "{}", bytes.len());
        let kept = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(text.split(' ').filter(|word| word.len() > 3).all(|word| !kept.contains(word)));
    }
}
