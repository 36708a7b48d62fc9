//! The mean of each label's examples, and how near a mail is to it.

use crate::matrix::SparseVector;

/// How sharply the nearest centroid is preferred.
const SHARPNESS: f32 = 14.0;

/// One mean for each label, each of length one, label by label for each feature.
#[derive(Debug, Default)]
pub(crate) struct Centroids {
    labels: usize,
    means: Vec<f32>,
}

/// A vector with its label and weight.
#[derive(Debug)]
pub(crate) struct LabelledVector {
    pub vector: SparseVector,
    pub label: usize,
    pub weight: f32,
}

impl Centroids {
    pub fn learn(rows: &[LabelledVector], labels: usize, features: usize) -> Centroids {
        let mut means = vec![0.0f32; labels * features];
        for row in rows {
            for (place, value) in &row.vector.values {
                means[*place as usize * labels + row.label] += value * row.weight;
            }
        }
        let mut lengths = vec![0.0f32; labels];
        for values in means.chunks_exact(labels.max(1)) {
            for (length, value) in lengths.iter_mut().zip(values) {
                *length += value * value;
            }
        }
        for length in &mut lengths {
            *length = if *length > 0.0 { 1.0 / length.sqrt() } else { 0.0 };
        }
        for values in means.chunks_exact_mut(labels.max(1)) {
            for (value, scale) in values.iter_mut().zip(&lengths) {
                *value *= scale;
            }
        }
        Centroids { labels, means }
    }

    /// The cosine to each label's mean.
    pub fn cosines(&self, vector: &SparseVector) -> Vec<f32> {
        products(&self.means, self.labels, vector)
    }

    pub fn probabilities(cosines: &[f32]) -> Vec<f32> {
        softmax(cosines.iter().map(|cosine| cosine * SHARPNESS).collect())
    }
}

/// The sum over a vector's features of the feature's row of values.
pub(crate) fn products(rows: &[f32], labels: usize, vector: &SparseVector) -> Vec<f32> {
    let mut sums = vec![0.0f32; labels];
    for (place, value) in &vector.values {
        let row = &rows[*place as usize * labels..][..labels];
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum += weight * value;
        }
    }
    sums
}

pub(crate) fn softmax(mut scores: Vec<f32>) -> Vec<f32> {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in &mut scores {
        *score = (*score - most).exp();
        sum += *score;
    }
    for score in &mut scores {
        *score /= sum;
    }
    scores
}
