//! How alike mails are: a mail beside mail of the past.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::features::{TextFeatures, is_piece};
use crate::language::small_words;
use crate::meaning::Meaning;

/// How much pieces of words count beside words and pairs, as for topics.
const PIECE_SHARE: f32 = 1.3;

/// Mail of the past, to be compared with a new one.
#[derive(Debug, Default)]
pub struct PastMail {
    mails: Vec<WeighedText>,
    meanings: Vec<Option<Meaning>>,
    frequency: HashMap<u32, u32>,
}

/// The features of a text by how telling they are, of length one.
type WeighedText = Vec<(u32, f32)>;

impl PastMail {
    pub fn new(mails: &[TextFeatures]) -> PastMail {
        let mut frequency: HashMap<u32, u32> = HashMap::new();
        for (hash, _) in mails.iter().flat_map(|mail| &mail.counts) {
            *frequency.entry(*hash).or_default() += 1;
        }
        let mut past = PastMail { frequency, ..PastMail::default() };
        past.mails = mails.iter().map(|mail| past.weigh(mail, mails.len())).collect();
        past.meanings = mails.iter().map(Meaning::of_features).collect();
        past
    }

    /// The cosine of a mail to each mail of the past, in their order: 0 where nothing is shared, 1
    /// for the same text. Words that no mail of the past has count as well, against it.
    pub fn likeness(&self, mail: &TextFeatures) -> Vec<f32> {
        let mail: HashMap<u32, f32> = self.weigh(mail, self.mails.len()).into_iter().collect();
        let shared = |past: &WeighedText| {
            past.iter().filter_map(|(hash, value)| Some(value * mail.get(hash)?)).sum::<f32>()
        };
        self.mails.iter().map(shared).collect()
    }

    /// How near a mail is in its meaning to each mail of the past, in their order: 1 for the same, 0
    /// for another matter and where one of them has no meaning.
    pub fn meaning_likeness(&self, mail: &TextFeatures) -> Vec<f32> {
        let mail = Meaning::of_features(mail);
        let near = |past: &Option<Meaning>| match (&mail, past) {
            (Some(mail), Some(past)) => mail.likeness(past).max(0.0),
            _ => 0.0,
        };
        self.meanings.iter().map(near).collect()
    }

    fn weigh(&self, text: &TextFeatures, mails: usize) -> WeighedText {
        let idf = |hash: u32| {
            let with_it = self.frequency.get(&hash).copied().unwrap_or(0);
            ((1.0 + mails as f32) / (1.0 + with_it as f32)).ln() + 1.0
        };
        let telling = text.counts.iter().filter(|(hash, _)| !says_nothing(*hash));
        let mut values: WeighedText = telling
            .map(|(hash, count)| (*hash, (1.0 + f32::from(*count).ln()) * idf(*hash)))
            .collect();
        let square = |pieces: bool| {
            let of_kind = values.iter().filter(|(hash, _)| is_piece(*hash) == pieces);
            of_kind.map(|(_, value)| value * value).sum::<f32>()
        };
        let (words, pieces) = (square(false), square(true));
        // Words and pieces are each brought to one length, and together to length one.
        let share = if pieces > 0.0 { PIECE_SHARE } else { 0.0 };
        let length = (f32::from(u8::from(words > 0.0)) + share * share).sqrt();
        for (hash, value) in &mut values {
            *value *= match is_piece(*hash) {
                true => share / pieces.sqrt() / length,
                false => 1.0 / words.sqrt() / length,
            };
        }
        values
    }
}

/// True for the small words of the languages that are known, which every mail has.
fn says_nothing(hash: u32) -> bool {
    static SMALL: OnceLock<TextFeatures> = OnceLock::new();
    let small = SMALL.get_or_init(|| {
        let mut counts: Vec<(u32, u8)> =
            small_words().flat_map(|word| TextFeatures::of(word).counts).collect();
        counts.sort_unstable();
        counts.dedup_by_key(|(hash, _)| *hash);
        TextFeatures { counts }
    });
    small.counts.binary_search_by_key(&hash, |(small, _)| *small).is_ok() && !is_piece(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(past: &[&str], mail: &str) -> Vec<f32> {
        let past: Vec<TextFeatures> = past.iter().map(|text| TextFeatures::of(text)).collect();
        PastMail::new(&past).likeness(&TextFeatures::of(mail))
    }

    #[test]
    fn the_same_text_is_alike_and_another_is_not() {
        let past = ["When do I get my money back?", "Where is the parcel?"];
        let found = likeness(&past, "When do I get my money back?");
        assert!(found[0] > 0.99 && found[1] < 0.2, "{found:?}");
    }

    #[test]
    fn other_words_for_the_same_are_nearer_than_another_matter() {
        let past = [
            "My parcel has not arrived yet, where is it?",
            "The monthly fee was charged two times this month.",
        ];
        let found = likeness(&past, "The fee was charged twice this month");
        assert!(found[1] > found[0] + 0.2, "{found:?}");
    }

    #[test]
    fn small_words_alone_make_nothing_alike() {
        let found =
            likeness(&["is it that you have this for me", "lamp"], "is it for you and this");
        assert!(found.iter().all(|like| *like < 0.5), "{found:?}");
        assert_eq!(likeness(&["lamp"], "…"), [0.0]);
        assert!(likeness(&[], "lamp").is_empty());
    }
}
