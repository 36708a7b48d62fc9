//! Examples as sparse vectors over a vocabulary of features.

use std::collections::HashMap;

use crate::example::SorterExample;
use crate::features::{TextFeatures, is_piece, is_word};
use crate::meaning::{DIMENSIONS, Meaning};

/// Examples from which on features that occur once are left out: they teach little and fill memory.
const PRUNED_FROM: usize = 2_000;
/// How much pieces of words count beside words and pairs.
const PIECE_SHARE: f32 = 1.3;
/// How much what a text is about counts beside its words and pairs.
const MEANING_SHARE: f32 = 1.8;

/// The features that the examples have, and how telling each is.
#[derive(Debug, Default)]
pub(crate) struct FeatureVocabulary {
    places: HashMap<u32, u32>,
    /// Inverse document frequencies, by place.
    idf: Vec<f32>,
    /// That of a feature that no example has.
    unknown_idf: f32,
}

/// A text over a vocabulary, of length one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseVector {
    pub values: Vec<(u32, f32)>,
    /// How much of the words the examples know, by how telling they are.
    pub known: f32,
}

impl FeatureVocabulary {
    pub fn of(examples: &[&SorterExample]) -> FeatureVocabulary {
        let mut frequency: HashMap<u32, u32> = HashMap::new();
        for example in examples {
            for (hash, _) in &example.features.counts {
                *frequency.entry(*hash).or_default() += 1;
            }
        }
        let least = if examples.len() >= PRUNED_FROM { 2 } else { 1 };
        let mut kept: Vec<(u32, u32)> =
            frequency.into_iter().filter(|(_, count)| *count >= least).collect();
        // The order of a hash map differs from run to run, that of the model must not.
        kept.sort_unstable();
        let all = examples.len() as f32;
        let idf = |count: u32| ((1.0 + all) / (1.0 + count as f32)).ln() + 1.0;
        FeatureVocabulary {
            idf: kept.iter().map(|(_, count)| idf(*count)).collect(),
            places: kept.iter().zip(0..).map(|((hash, _), place)| (*hash, place)).collect(),
            unknown_idf: idf(0),
        }
    }

    /// Places of a vector: one for each feature, and after them those of the meaning.
    pub fn len(&self) -> usize {
        self.idf.len() + DIMENSIONS
    }

    pub fn place(&self, hash: u32) -> Option<usize> {
        self.places.get(&hash).map(|place| *place as usize)
    }

    /// A text by its known features: the logarithm of the count, by how telling the feature is;
    /// words, pieces and meaning each brought to one length.
    pub fn vector(&self, features: &TextFeatures) -> SparseVector {
        let (mut words, mut pieces) = (0.0f32, 0.0f32);
        let (mut known, mut all) = (0.0f32, 0.0f32);
        let mut values = Vec::with_capacity(features.counts.len());
        for (hash, count) in &features.counts {
            let place = self.place(*hash);
            if is_word(*hash) {
                let telling = place.map_or(self.unknown_idf, |place| self.idf[place]);
                all += telling;
                known += if place.is_some() { telling } else { 0.0 };
            }
            let Some(place) = place else { continue };
            let value = (1.0 + f32::from(*count).ln()) * self.idf[place];
            *if is_piece(*hash) { &mut pieces } else { &mut words } += value * value;
            values.push((place as u32, value, is_piece(*hash)));
        }
        let meaning = Meaning::of_features(features);
        let meaning_share = if meaning.is_some() { MEANING_SHARE } else { 0.0 };
        let length = (1.0 + PIECE_SHARE.powi(2) + meaning_share.powi(2)).sqrt();
        let scale = |square: f32, share: f32| {
            if square > 0.0 { share / square.sqrt() / length } else { 0.0 }
        };
        let (words, pieces) = (scale(words, 1.0), scale(pieces, PIECE_SHARE));
        let scaled = |(place, value, piece)| (place, value * if piece { pieces } else { words });
        let mut values: Vec<(u32, f32)> = values.into_iter().map(scaled).collect();
        let numbers = meaning.iter().flat_map(Meaning::numbers);
        let places = self.idf.len() as u32..;
        values.extend(places.zip(numbers.map(|number| number * meaning_share / length)));
        SparseVector { values, known: if all > 0.0 { known / all } else { 0.0 } }
    }
}

impl SparseVector {
    /// The product with a vector that has a place for every feature.
    pub fn dot(&self, dense: &[f32]) -> f32 {
        self.values.iter().map(|(place, value)| value * dense[*place as usize]).sum()
    }
}
