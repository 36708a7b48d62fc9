//! The two halves of the model, which score a mail against every label.

use crate::centroids::{Centroids, LabelledVector};
use crate::example::SorterExample;
use crate::features::TextFeatures;
use crate::logistic::LogisticRegression;
use crate::matrix::{FeatureVocabulary, SparseVector};

/// Examples of a topic that are compared with a mail one by one.
const NEIGHBOURS: usize = 150;

/// The two halves of the model, and the examples themselves.
#[derive(Debug, Default)]
pub(crate) struct Scorer {
    /// The topics in the order of their names, "none of these" first.
    pub labels: Vec<Option<String>>,
    pub vocabulary: FeatureVocabulary,
    pub logistic: LogisticRegression,
    pub examples_of: Vec<usize>,
    centroids: Centroids,
    rows: Vec<LabelledVector>,
}

/// How a mail stands to its best label.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelScore {
    pub label: usize,
    /// The probability of the best label, and of the next.
    pub probability: f32,
    pub next: f32,
    /// The cosine to the best label's centroid, and how far the nearest other one is behind.
    pub cosine: f32,
    pub lead: f32,
    /// The cosine to the nearest example of the label, and to the nearest of the next label.
    pub nearest: f32,
    pub rival: f32,
    /// How much of the mail's words the examples know.
    pub known: f32,
    /// Both halves of the model agree.
    pub agreed: bool,
}

impl Scorer {
    pub fn learn(examples: &[&SorterExample], work: usize) -> Scorer {
        let mut labels: Vec<Option<String>> =
            examples.iter().map(|example| example.topic.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        let vocabulary = FeatureVocabulary::of(examples);
        let row = |example: &&SorterExample| LabelledVector {
            vector: vocabulary.vector(&example.features),
            label: labels.binary_search(&example.topic).unwrap_or_default(),
            weight: example.weight,
        };
        let rows: Vec<LabelledVector> = examples.iter().map(row).collect();
        let mut examples_of = vec![0; labels.len()];
        for (row, example) in rows.iter().zip(examples) {
            examples_of[row.label] += usize::from(example.decided);
        }
        let (count, features) = (labels.len(), vocabulary.len());
        Scorer {
            centroids: Centroids::learn(&rows, count, features),
            logistic: LogisticRegression::learn(&rows, count, features, work),
            labels,
            vocabulary,
            examples_of,
            rows,
        }
    }

    /// The best label of a text; `None` when nothing was learned or nothing can be read.
    pub fn score(&self, features: &TextFeatures) -> Option<LabelScore> {
        if self.labels.is_empty() || features.is_empty() {
            return None;
        }
        let vector = self.vocabulary.vector(features);
        let cosines = self.centroids.cosines(&vector);
        let by_centroid = Centroids::probabilities(&cosines);
        let by_weights = self.logistic.probabilities(&vector);
        let mean: Vec<f32> =
            by_centroid.iter().zip(&by_weights).map(|(a, b)| (a + b) / 2.0).collect();
        let label = greatest(&mean, None)?;
        let next = greatest(&mean, Some(label));
        let behind = greatest(&cosines, Some(label)).map_or(0.0, |next| cosines[next]);
        let dense = self.dense(&vector);
        Some(LabelScore {
            label,
            probability: mean[label],
            next: next.map_or(0.0, |next| mean[next]),
            cosine: cosines[label],
            lead: cosines[label] - behind,
            nearest: self.nearest(&dense, label),
            rival: next.map_or(0.0, |next| self.nearest(&dense, next)),
            known: vector.known,
            agreed: greatest(&by_centroid, None) == greatest(&by_weights, None),
        })
    }

    /// How much a feature speaks for a label. Where there is only one, every known feature does.
    pub fn weight(&self, place: usize, label: usize) -> f32 {
        if self.labels.len() == 1 { 1.0 } else { self.logistic.weight(place, label) }
    }

    /// A vector with a place for every feature, to be compared with many.
    fn dense(&self, vector: &SparseVector) -> Vec<f32> {
        let mut dense = vec![0.0; self.vocabulary.len()];
        for (place, value) in &vector.values {
            dense[*place as usize] = *value;
        }
        dense
    }

    /// The cosine to the nearest example of a label, the latest of them being looked at.
    fn nearest(&self, dense: &[f32], label: usize) -> f32 {
        let rows = self.rows.iter().rev().filter(|row| row.label == label).take(NEIGHBOURS);
        rows.map(|row| row.vector.dot(dense)).fold(0.0, f32::max)
    }
}

fn greatest(values: &[f32], except: Option<usize>) -> Option<usize> {
    let places = (0..values.len()).filter(|place| Some(*place) != except);
    places.max_by(|a, b| values[*a].total_cmp(&values[*b]))
}
