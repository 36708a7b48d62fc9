//! The model: examples in, and for each mail a topic, a suggestion or neither.

use phrases::folded_words;

use crate::calibration::{Calibration, GuessOutcome};
use crate::example::SorterExample;
use crate::features::{TextFeatures, WORDS};
use crate::logistic::MODEL_WORK;
use crate::reasons;
use crate::scorer::{LabelScore, Scorer};

/// Decided conversations below which a topic is only suggested.
pub const DECISIONS: usize = 30;

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
        let sorted = self.judge(&score);
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
            Some(score) => self.judge(&score),
            None => SortedMail::default(),
        }
    }

    fn judge(&self, score: &LabelScore) -> SortedMail {
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
    fn decisions(times: usize) -> Vec<SorterExample> {
        let mut examples = Vec::new();
        for time in 0..times {
            let sets =
                [(&REFUNDS, Some("Refunds")), (&DELIVERY, Some("Delivery")), (&NEITHER, None)];
            for (sentences, topic) in sets {
                let text = |sentence: &str| format!("Hello {time}, {sentence} Thanks, Ann{time}");
                let example =
                    |sentence: &&str| SorterExample::from_decision(&text(sentence), topic);
                examples.extend(sentences.iter().map(example));
            }
        }
        examples
    }

    #[test]
    fn a_topic_is_given_when_the_model_is_sure() {
        let model = TopicModel::learn(&decisions(4));
        let sorted = model.sort("Hello, please refund the money for the broken lamp");
        assert_eq!(sorted.topic.as_deref(), Some("Refunds"), "{sorted:?} {}", model.threshold());
        assert!(sorted.confidence > 0.5 && sorted.confidence <= 1.0);
    }

    #[test]
    fn none_of_these_is_learned_like_a_topic() {
        let model = TopicModel::learn(&decisions(4));
        let sorted = model.sort("Happy new year to you and all your colleagues");
        assert_eq!((sorted.topic, sorted.suggested), (None, None));
    }

    #[test]
    fn with_few_decisions_topics_are_only_suggested() {
        let model = TopicModel::learn(&decisions(1));
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
        let model = TopicModel::learn(&decisions(4));
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
        let sure = TopicModel::learn(&decisions(4));
        let confidence = sure.sort(text).confidence;
        let wrong = vec![GuessOutcome { confidence: confidence + 0.01, right: false }; 200];
        let careful = TopicModel::learn(&decisions(4)).with_decisions(&wrong);
        assert_eq!(careful.sort(text).topic, None);
        assert!(careful.sort(text).suggested.is_some());
    }

    #[test]
    fn the_same_examples_make_the_same_model() {
        let (one, other) = (TopicModel::learn(&decisions(3)), TopicModel::learn(&decisions(3)));
        for text in REFUNDS.iter().chain(&DELIVERY).chain(&NEITHER) {
            assert_eq!(one.sort(text), other.sort(text));
        }
        assert_eq!(one.threshold(), other.threshold());
    }

    #[test]
    fn kept_examples_teach_as_fresh_ones_do() {
        let fresh = decisions(3);
        let kept: Vec<SorterExample> = fresh
            .iter()
            .map(|example| {
                let features = TextFeatures::from_bytes(&example.features.to_bytes()).unwrap();
                SorterExample::from_features(features, example.topic.as_deref())
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
        assert_eq!(TopicModel::learn(&decisions(2)).sort(" … "), SortedMail::default());
        let one = TopicModel::learn(&[SorterExample::from_decision("Hello", Some("Greetings"))]);
        assert_eq!(one.sort("Hello there").suggested.as_deref(), Some("Greetings"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_mail_is_sorted(text in ".{0,300}", labels in prop::collection::vec(".{0,20}", 0..6)) {
            let examples: Vec<SorterExample> =
                labels.iter().map(|label| SorterExample::from_decision(label, Some(label))).collect();
            let sorted = TopicModel::learn(&examples).sort(&text);
            prop_assert!((0.0..=1.0).contains(&sorted.confidence));
            prop_assert!(sorted.topic.is_none() && sorted.reasons.len() <= 3);
        }
    }
}
