//! Logistic regression over all labels at once, replayed over the kept examples.

use crate::centroids::{LabelledVector, products, softmax};
use crate::matrix::SparseVector;

/// Times that the examples are replayed at the most, and at the least.
const PASSES: (usize, usize) = (12, 4);
/// Multiplications that learning may take, so that a large workspace learns within a second: for
/// the model, and for each of those that measure how sure it may be.
pub(crate) const MODEL_WORK: usize = 260_000_000;
pub(crate) const MEASURING_WORK: usize = 70_000_000;
/// How far a weight moves at first, and how fast that slows down with each pass.
const RATE: f32 = 6.0;
const SLOWING: f32 = 0.35;

/// Weights of every feature for every label, label by label for each feature.
#[derive(Debug, Default)]
pub(crate) struct LogisticRegression {
    labels: usize,
    weights: Vec<f32>,
    /// What each label has without any feature.
    bias: Vec<f32>,
}

impl LogisticRegression {
    pub fn learn(
        rows: &[LabelledVector],
        labels: usize,
        features: usize,
        work: usize,
    ) -> LogisticRegression {
        let mut model = LogisticRegression {
            labels,
            weights: vec![0.0; labels * features],
            bias: vec![0.0; labels],
        };
        let values: usize = rows.iter().map(|row| row.vector.values.len()).sum();
        let passes = (work / (values * labels * 2).max(1)).clamp(PASSES.1, PASSES.0);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let mut shuffle = Shuffle(0x9e37_79b9_7f4a_7c15);
        for pass in 0..passes {
            shuffle.mix(&mut order);
            let rate = RATE / (1.0 + SLOWING * pass as f32);
            for at in &order {
                model.step(&rows[*at], rate);
            }
        }
        model
    }

    pub fn probabilities(&self, vector: &SparseVector) -> Vec<f32> {
        let mut scores = products(&self.weights, self.labels, vector);
        for (score, bias) in scores.iter_mut().zip(&self.bias) {
            *score += bias;
        }
        softmax(scores)
    }

    /// How much a feature speaks for a label.
    pub fn weight(&self, place: usize, label: usize) -> f32 {
        self.weights[place * self.labels + label]
    }

    /// Moves the weights towards the right label of one example.
    fn step(&mut self, row: &LabelledVector, rate: f32) {
        let mut error = self.probabilities(&row.vector);
        error[row.label] -= 1.0;
        let step = rate * row.weight;
        for value in &mut error {
            *value *= step;
        }
        for (place, value) in &row.vector.values {
            let weights = &mut self.weights[*place as usize * self.labels..][..self.labels];
            for (weight, error) in weights.iter_mut().zip(&error) {
                *weight -= error * value;
            }
        }
        for (bias, error) in self.bias.iter_mut().zip(&error) {
            *bias -= error * BIAS_SHARE;
        }
    }
}

/// How fast a label's bias moves beside its weights.
const BIAS_SHARE: f32 = 0.02;

/// An order that looks random and is the same every time.
struct Shuffle(u64);

impl Shuffle {
    fn mix(&mut self, order: &mut [usize]) {
        for at in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(at, (self.0 % (at as u64 + 1)) as usize);
        }
    }
}
