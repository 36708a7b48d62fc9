//! How sure the model may be, measured on mail that it had not learned from.

use crate::example::SorterExample;
use crate::features::Fnv;
use crate::logistic::MEASURING_WORK;
use crate::scorer::{LabelScore, Scorer};

/// The share of given topics that are expected to be right.
pub const PRECISION: f64 = 0.9;
/// Parts into which examples and topics are divided to be scored by a model without them.
const PARTS: u64 = 4;
/// Examples that are measured at the most, so that learning stays fast.
const MEASURED: usize = 1_000;
/// The share of mail that belongs to no topic, as long as nobody said so, and how many decisions it
/// takes to believe only a quarter of that.
const NONE_SHARE: f64 = 0.5;
const NONE_DECISIONS: f64 = 330.0;
/// Mails of no topic, pointed out by people, that halve the share that nobody has pointed out.
const NONE_TOLD: f64 = 30.0;
/// Decisions that the threshold follows, the latest.
const FOLLOWED: usize = 200;
/// How much a decision counts that is older than those.
const OLDER: f64 = 0.5;
/// Decisions as which the measured scores count beside them.
const MEASURED_MASS: f64 = 30.0;
/// Standard errors by which a measured share must be above the wanted one, because few scores may
/// be right by luck.
const PRUDENCE: f64 = 1.5;
/// The confidence that is enough where all scores that were measured are right: their lowest says
/// nothing about what would be wrong.
const ENOUGH: f64 = 0.95;
/// Rounds and step of fitting, and as how many scores the expected weights count.
const ROUNDS: usize = 200;
const STEP: f64 = 1.0;
const RIDGE: f64 = 12.0;

/// What was decided about a guess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuessOutcome {
    /// The confidence that the guess had before anybody decided.
    pub confidence: f64,
    /// Somebody decided for the guess.
    pub right: bool,
}

/// From a score to a confidence, and the confidence from which on a topic is given.
#[derive(Debug)]
pub(crate) struct Calibration {
    weights: [f64; SIGNS],
    pub threshold: f64,
    measured: Vec<MeasuredScore>,
}

impl Default for Calibration {
    /// Never sure.
    fn default() -> Calibration {
        Calibration { weights: [0.0; SIGNS], threshold: f64::INFINITY, measured: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug)]
struct MeasuredScore {
    confidence: f64,
    right: bool,
    mass: f64,
}

/// Signs of a score that speak for a right guess.
const SIGNS: usize = 10;

fn signs(score: &LabelScore) -> [f64; SIGNS] {
    let odds =
        |p: f32| (f64::from(p).clamp(0.001, 0.999) / f64::from(1.0 - p).clamp(0.001, 0.999)).ln();
    let ahead = f64::from(score.probability.max(1e-4) / score.next.max(1e-4)).ln();
    [
        1.0,
        odds(score.probability) / 3.0,
        ahead.min(6.0) / 3.0,
        f64::from(score.cosine) * 2.0,
        f64::from(score.lead) * 4.0,
        f64::from(score.nearest) * 2.0,
        f64::from(score.nearest - score.rival) * 2.0,
        f64::from(score.known),
        f64::from(u8::from(score.agreed)),
        f64::from((score.probability * score.nearest * score.known).max(1e-3)).ln() / 3.0,
    ]
}

/// A score of a held-out example.
struct HeldOut {
    signs: [f64; SIGNS],
    right: bool,
    /// Its topic was left out as well, so that it belonged to none.
    stranger: bool,
    /// It is among the latest decisions.
    recent: bool,
}

impl Calibration {
    /// Learns from a part of the examples and scores the rest, several times. Each time some topics
    /// are left out as a whole.
    pub fn measure(examples: &[&SorterExample]) -> Calibration {
        let sample = sample(examples);
        let held = held_out(&sample);
        if held.is_empty() {
            return Calibration::default();
        }
        let masses = masses(&held, examples);
        let weights = fit(&held, &masses);
        let measured = held.iter().zip(&masses).map(|(held, mass)| MeasuredScore {
            confidence: confidence(&weights, &held.signs),
            right: held.right,
            mass: *mass,
        });
        let measured: Vec<MeasuredScore> = measured.collect();
        Calibration { weights, threshold: threshold(measured.clone()), measured }
    }

    pub fn confidence(&self, score: &LabelScore) -> f64 {
        confidence(&self.weights, &signs(score))
    }

    /// Lets decisions about earlier guesses move the threshold.
    pub fn follow(&mut self, decisions: &[GuessOutcome]) {
        let latest = &decisions[decisions.len().saturating_sub(FOLLOWED)..];
        let mass: f64 = self.measured.iter().map(|score| score.mass).sum();
        let scale = if mass > 0.0 { MEASURED_MASS / mass } else { 0.0 };
        let measured =
            self.measured.iter().map(|score| MeasuredScore { mass: score.mass * scale, ..*score });
        let decided = latest.iter().map(|decision| MeasuredScore {
            confidence: decision.confidence,
            right: decision.right,
            mass: 1.0,
        });
        self.threshold = threshold(measured.chain(decided).collect());
    }
}

/// Examples to measure on, spread evenly over all.
fn sample<'a>(examples: &[&'a SorterExample]) -> Vec<&'a SorterExample> {
    let step = examples.len().div_ceil(MEASURED).max(1);
    examples.iter().copied().step_by(step).collect()
}

fn held_out(examples: &[&SorterExample]) -> Vec<HeldOut> {
    let mut held = Vec::new();
    for part in 0..PARTS {
        let is_stranger =
            |example: &SorterExample| example.topic.is_some() && part_of_topic(example) == part;
        let learned: Vec<&SorterExample> = examples
            .iter()
            .enumerate()
            .filter(|(at, example)| *at as u64 % PARTS != part && !is_stranger(example))
            .map(|(_, example)| *example)
            .collect();
        let scorer = Scorer::learn(&learned, MEASURING_WORK);
        for (at, example) in examples.iter().enumerate() {
            let stranger = is_stranger(example);
            if !example.decided || (at as u64 % PARTS != part && !stranger) {
                continue;
            }
            let Some(score) = scorer.score(&example.features) else { continue };
            let guess = &scorer.labels[score.label];
            if guess.is_some() {
                let right = !stranger && *guess == example.topic;
                let recent = at + FOLLOWED >= examples.len();
                held.push(HeldOut { signs: signs(&score), right, stranger, recent });
            }
        }
    }
    held
}

fn part_of_topic(example: &SorterExample) -> u64 {
    let mut hash = Fnv::default();
    hash.write(example.topic.as_deref().unwrap_or_default().as_bytes());
    (hash.0 >> 17) % PARTS
}

/// How much each held-out score counts: the latest decisions count most, because they are like the
/// mail that comes next. Strangers stand for the mail of no topic that nobody has
/// pointed out yet, so they count less the more decisions there are.
fn masses(held: &[HeldOut], examples: &[&SorterExample]) -> Vec<f64> {
    let decided = examples.iter().filter(|example| example.decided).count() as f64;
    let told = examples.iter().filter(|example| example.topic.is_none()).count() as f64;
    let unseen = NONE_SHARE * (NONE_DECISIONS / (NONE_DECISIONS + decided)).powi(2);
    let unseen = unseen * NONE_TOLD / (NONE_TOLD + told);
    let age = |held: &HeldOut| if held.recent { 1.0 } else { OLDER };
    let sum = |stranger: bool| {
        held.iter().filter(|held| held.stranger == stranger).map(age).sum::<f64>().max(1.0)
    };
    let (strangers, others) = (unseen / sum(true), (1.0 - unseen) / sum(false));
    let share = |held: &HeldOut| if held.stranger { strangers } else { others };
    held.iter().map(|held| age(held) * share(held)).collect()
}

fn confidence(weights: &[f64; SIGNS], signs: &[f64; SIGNS]) -> f64 {
    let sum: f64 = weights.iter().zip(signs).map(|(weight, sign)| weight * sign).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// What the signs weigh before anything was measured: a mail with strange words, far from every
/// example, belongs to no topic, however much nearer it is to one than to the others.
const EXPECTED: [f64; SIGNS] = [0.0, 1.0, 0.5, 0.5, 0.5, 1.0, 0.5, 2.5, 0.3, 2.5];

/// Logistic regression of being right over the signs.
fn fit(held: &[HeldOut], masses: &[f64]) -> [f64; SIGNS] {
    let mut weights = EXPECTED;
    let ridge = RIDGE / held.len() as f64;
    for _ in 0..ROUNDS {
        let mut slope = [0.0; SIGNS];
        for (held, mass) in held.iter().zip(masses) {
            let error = confidence(&weights, &held.signs) - f64::from(u8::from(held.right));
            for (slope, sign) in slope.iter_mut().zip(&held.signs) {
                *slope += error * mass * sign;
            }
        }
        for ((weight, slope), expected) in weights.iter_mut().zip(&slope).zip(&EXPECTED) {
            *weight -= STEP * (slope + ridge * (*weight - expected));
        }
    }
    weights
}

/// The lowest confidence from which on the wanted share is right, infinite where there is none: half the way, in odds, from
/// the last score that keeps the share to the first that does not, because nothing was measured between them.
fn threshold(mut scores: Vec<MeasuredScore>) -> f64 {
    scores.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let (mut right, mut all, mut squares) = (0.0, 0.0, 0.0);
    let mut lowest = f64::INFINITY;
    let is_flawless = !scores.is_empty() && scores.iter().all(|score| score.right);
    for (at, score) in scores.iter().enumerate() {
        all += score.mass;
        squares += score.mass * score.mass;
        right += if score.right { score.mass } else { 0.0 };
        // As many scores of one weight would say as much.
        let count = all * all / squares;
        let luck = PRUDENCE * (PRECISION * (1.0 - PRECISION) / count).sqrt();
        // Scores of one confidence are given together or not at all.
        let next = scores.get(at + 1).map(|next| next.confidence);
        let last = next.is_none_or(|next| next < score.confidence);
        if last && right >= (PRECISION + luck).min(1.0) * all {
            lowest = next.map_or(score.confidence, |next| between(score.confidence, next));
        }
    }
    if is_flawless { lowest.min(ENOUGH) } else { lowest }
}

/// The confidence half the way between two, by their odds.
fn between(high: f64, low: f64) -> f64 {
    let log_odds = |confidence: f64| {
        let bounded = confidence.clamp(1e-9, 1.0 - 1e-9);
        (bounded / (1.0 - bounded)).ln()
    };
    1.0 / (1.0 + (-(log_odds(high) + log_odds(low)) / 2.0).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(rights: &[(f64, bool)]) -> f64 {
        let score = |(confidence, right): &(f64, bool)| MeasuredScore {
            confidence: *confidence,
            right: *right,
            mass: 1.0,
        };
        threshold(rights.iter().map(score).collect())
    }

    #[test]
    fn the_threshold_keeps_nine_in_ten_right() {
        let mut mixed: Vec<(f64, bool)> =
            (0..96).map(|at| (0.9 - f64::from(at) / 1_000.0, true)).collect();
        mixed.extend([(0.5, false); 4]);
        assert_eq!(scores(&mixed), 0.5);
        mixed.extend([(0.4, false); 20]);
        assert!((0.44..0.46).contains(&scores(&mixed)), "half the way: {}", scores(&mixed));
        assert_eq!(scores(&[(0.9, false), (0.8, true)]), f64::INFINITY);
        assert_eq!(scores(&[(0.9999, true), (0.9998, true)]), ENOUGH);
    }

    #[test]
    fn decisions_move_the_threshold() {
        let mut calibration = Calibration::default();
        let decision = |confidence, right| GuessOutcome { confidence, right };
        let mut decisions = vec![decision(0.8, true); 20];
        calibration.follow(&decisions);
        assert_eq!(calibration.threshold, 0.8);
        decisions.extend(vec![decision(0.85, false); 20]);
        calibration.follow(&decisions);
        assert_eq!(calibration.threshold, f64::INFINITY);
    }
}
