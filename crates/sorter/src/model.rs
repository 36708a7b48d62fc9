//! The model: examples in, and for each mail a topic, a suggestion or neither.

use phrases::folded_words;

use crate::calibration::{Calibration, GuessOutcome};
use crate::centroids::{Centroids, LabelledVector};
use crate::example::SorterExample;
use crate::features::{TextFeatures, WORDS};
use crate::logistic::{LogisticRegression, MODEL_WORK};
use crate::matrix::{FeatureVocabulary, SparseVector};
use crate::reasons;

/// Decided conversations below which a topic is only suggested.
pub const DECISIONS: usize = 30;
/// Examples of a topic that are compared with a mail one by one.
const NEIGHBOURS: usize = 150;

/// Sorts mail by what was decided about earlier mail.
#[derive(Debug, Default)]
pub struct TopicModel {
    scorer: Scorer,
    calibration: Calibration,
    decided: usize,
}

/// What the model makes of a mail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortedMail {
    /// The topic to set, where the model expects to be right.
    pub topic: Option<String>,
    /// The best guess, however sure; `None` where "none of these" is the best guess.
    pub suggested: Option<String>,
    /// The expected share of such guesses that are right, from 0 to 1.
    pub confidence: f64,
    /// Up to three plain sentences that name the words of this mail.
    pub reasons: Vec<String>,
    /// True when a word that the examples have speaks for the guess. Otherwise it is only the nearest.
    pub has_words: bool,
}

impl TopicModel {
    /// Learns from examples. The same examples in the same order make the same model.
    pub fn learn(examples: &[SorterExample]) -> TopicModel {
        let examples: Vec<&SorterExample> =
            examples.iter().filter(|example| !example.features.is_empty()).collect();
        TopicModel {
            decided: examples.iter().filter(|example| example.decided).count(),
            calibration: Calibration::measure(&examples),
            scorer: Scorer::learn(&examples, MODEL_WORK),
        }
    }

    /// Moves the threshold by what people decided about this model's or its forerunners' best
    /// guesses, the oldest first: the confidence that a guess had before the decision was learned,
    /// and whether it was right.
    pub fn with_decisions(mut self, decisions: &[GuessOutcome]) -> TopicModel {
        self.calibration.follow(decisions);
        self
    }

    /// Sorts a mail by its subject and the writer's own words.
    pub fn sort(&self, text: &str) -> SortedMail {
        let Some(score) = self.scorer.score(&TextFeatures::of(text)) else {
            return SortedMail::default();
        };
        let sorted = self.judged(&score);
        if sorted.suggested.is_none() {
            return sorted;
        }
        let words = folded_words(text, WORDS);
        let telling = reasons::telling(text, &words, &self.scorer, score.label);
        let reasons = reasons::reasons(&telling.named, &self.scorer, score.label);
        SortedMail {
            // A mail that shares no telling word with a topic is only nearest to it.
            topic: sorted.topic.filter(|_| telling.has_known),
            suggested: sorted.suggested,
            confidence: sorted.confidence,
            reasons,
            has_words: telling.has_known,
        }
    }

    /// Sorts a mail whose features were kept; without its words there are no reasons.
    pub fn sort_kept(&self, features: &TextFeatures) -> SortedMail {
        match self.scorer.score(features) {
            Some(score) => self.judged(&score),
            None => SortedMail::default(),
        }
    }

    fn judged(&self, score: &LabelScore) -> SortedMail {
        let confidence = self.calibration.confidence(score);
        let label = &self.scorer.labels[score.label];
        let sure = self.decided >= DECISIONS && confidence >= self.calibration.threshold;
        SortedMail {
            topic: label.clone().filter(|_| sure),
            suggested: label.clone(),
            confidence,
            reasons: Vec::new(),
            has_words: false,
        }
    }

    /// The confidence from which on a topic is given; above 1 where none is.
    pub fn threshold(&self) -> f64 {
        self.calibration.threshold
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REFUNDS: [&str; 5] = [
        "I want my money back for the lamp",
        "Please refund the broken chair",
        "When is the refund paid?",
        "The money for my return has not come",
        "Could you refund order number seven?",
    ];
    const DELIVERY: [&str; 5] = [
        "Where is my parcel?",
        "The parcel has not arrived yet",
        "When will the chair be delivered?",
        "The courier did not come today",
        "Delivery to another address, please",
    ];
    const NEITHER: [&str; 5] = [
        "Happy new year to all of you",
        "We would like to present our software",
        "I am away until Monday",
        "Do you know a good dentist in town?",
        "My application as a gardener",
    ];

    /// Decisions, so many of each of the sentences above, each with other words around it.
    fn decided(times: usize) -> Vec<SorterExample> {
        let mut examples = Vec::new();
        for time in 0..times {
            let sets =
                [(&REFUNDS, Some("Refunds")), (&DELIVERY, Some("Delivery")), (&NEITHER, None)];
            for (sentences, topic) in sets {
                let text = |sentence: &str| format!("Hello {time}, {sentence} Thanks, Ann{time}");
                let example = |sentence: &&str| SorterExample::decided(&text(sentence), topic);
                examples.extend(sentences.iter().map(example));
            }
        }
        examples
    }

    #[test]
    fn a_topic_is_given_when_the_model_is_sure() {
        let model = TopicModel::learn(&decided(4));
        let sorted = model.sort("Hello, please refund the money for the broken lamp");
        assert_eq!(sorted.topic.as_deref(), Some("Refunds"), "{sorted:?} {}", model.threshold());
        assert!(sorted.confidence > 0.5 && sorted.confidence <= 1.0);
    }

    #[test]
    fn none_of_these_is_learned_like_a_topic() {
        let model = TopicModel::learn(&decided(4));
        let sorted = model.sort("Happy new year to you and all your colleagues");
        assert_eq!((sorted.topic, sorted.suggested), (None, None));
    }

    #[test]
    fn with_few_decisions_topics_are_only_suggested() {
        let model = TopicModel::learn(&decided(1));
        let sorted = model.sort("Please refund the broken chair");
        assert_eq!((sorted.topic, sorted.suggested.as_deref()), (None, Some("Refunds")));
    }

    #[test]
    fn the_name_of_a_topic_is_enough_for_a_suggestion() {
        let seeds = [
            SorterExample::seed("Refunds", "money back, return"),
            SorterExample::seed("Delivery", "parcel, courier, late"),
        ];
        let sorted = TopicModel::learn(&seeds).sort("My parcel is late");
        assert_eq!((sorted.topic, sorted.suggested.as_deref()), (None, Some("Delivery")));
        assert_eq!(sorted.reasons.len(), 1, "{:?}", sorted.reasons);
    }

    #[test]
    fn reasons_name_words_of_the_mail_at_hand() {
        let model = TopicModel::learn(&decided(4));
        let sorted = model.sort("The Parcel! It never came, says Zoë.");
        assert!(sorted.reasons[0].starts_with("Because of “Parcel”"), "{:?}", sorted.reasons);
        assert_eq!(sorted.reasons[1], "Like 20 mails that were sorted so.");
        let text = "The Parcel! It never came, says Zoë.";
        let quoted = sorted.reasons[0].split('“').skip(1).filter_map(|rest| rest.split('”').next());
        assert!(quoted.into_iter().all(|words| text.contains(words)));
    }

    #[test]
    fn wrong_guesses_make_the_model_careful_again() {
        let text = "Hello, please refund the money for the broken lamp";
        let sure = TopicModel::learn(&decided(4));
        let confidence = sure.sort(text).confidence;
        let wrong = vec![GuessOutcome { confidence: confidence + 0.01, right: false }; 200];
        let careful = TopicModel::learn(&decided(4)).with_decisions(&wrong);
        assert_eq!(careful.sort(text).topic, None);
        assert!(careful.sort(text).suggested.is_some());
    }

    #[test]
    fn the_same_examples_make_the_same_model() {
        let (one, other) = (TopicModel::learn(&decided(3)), TopicModel::learn(&decided(3)));
        for text in REFUNDS.iter().chain(&DELIVERY).chain(&NEITHER) {
            assert_eq!(one.sort(text), other.sort(text));
        }
        assert_eq!(one.threshold(), other.threshold());
    }

    #[test]
    fn kept_examples_teach_as_fresh_ones_do() {
        let fresh = decided(3);
        let kept: Vec<SorterExample> = fresh
            .iter()
            .map(|example| {
                let features = TextFeatures::from_bytes(&example.features.to_bytes()).unwrap();
                SorterExample::kept(features, example.topic.as_deref())
            })
            .collect();
        let text = "Where is the parcel with the lamp?";
        let model = TopicModel::learn(&kept);
        let sorted = model.sort(text);
        assert_eq!(TopicModel::learn(&fresh).sort(text), sorted);
        let again = model.sort_kept(&TextFeatures::of(text));
        assert_eq!((again.suggested, again.confidence), (sorted.suggested, sorted.confidence));
    }

    #[test]
    fn words_that_no_example_has_speak_for_nothing() {
        let one = TopicModel::learn(&[SorterExample::seed("Refunds", "money back, return")]);
        let known = one.sort("I want my money back");
        assert!(known.has_words && known.reasons[0].contains("money back"), "{known:?}");
        assert!(!one.sort("Where do you park?").has_words);
        let two = [SorterExample::seed("Trade", "shop"), SorterExample::seed("Work", "hours")];
        assert!(!TopicModel::learn(&two).sort("It smells in the workshop").has_words);
    }

    #[test]
    fn without_examples_or_words_there_is_no_guess() {
        assert_eq!(TopicModel::learn(&[]).sort("Where is my parcel?"), SortedMail::default());
        assert_eq!(TopicModel::learn(&decided(2)).sort(" … "), SortedMail::default());
        let one = TopicModel::learn(&[SorterExample::decided("Hello", Some("Greetings"))]);
        assert_eq!(one.sort("Hello there").suggested.as_deref(), Some("Greetings"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_mail_is_sorted(text in ".{0,300}", labels in prop::collection::vec(".{0,20}", 0..6)) {
            let examples: Vec<SorterExample> =
                labels.iter().map(|label| SorterExample::decided(label, Some(label))).collect();
            let sorted = TopicModel::learn(&examples).sort(&text);
            prop_assert!((0.0..=1.0).contains(&sorted.confidence));
            prop_assert!(sorted.topic.is_none() && sorted.reasons.len() <= 3);
        }
    }
}
