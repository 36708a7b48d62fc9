//! Sorts mail as pure functions: words and past decisions in, topic and urgency out.
//!
//! **Topics.** A workspace has a few dozen topics, and people say of each mail which one it is
//! about, or none of them. Each decision is kept as an [`SorterExample`]: hashes of the mail's words
//! and pieces of words, nothing that can be read. A [`TopicModel`] is a function of the examples
//! alone, so every process that has the same examples has the same model:
//!
//! ```
//! use classifier::{SorterExample, TopicModel};
//!
//! let examples: Vec<SorterExample> = [
//!     ("I want my money back", Some("Refunds")),
//!     ("Please refund the lamp", Some("Refunds")),
//!     ("Where is my parcel?", Some("Delivery")),
//!     ("The parcel has not arrived", Some("Delivery")),
//!     ("Happy new year to all of you", None),
//! ]
//! .map(|(text, topic)| SorterExample::from_decision(text, topic))
//! .into();
//! let model = TopicModel::learn(&examples);
//! let sorted = model.sort("When do I get my money back?");
//! assert_eq!(sorted.suggested.as_deref(), Some("Refunds"));
//! // With so few decisions nothing is given, only suggested.
//! assert_eq!(sorted.topic, None);
//! ```
//!
//! The model has two halves whose probabilities are averaged: the nearest centroid of each topic's
//! examples, which is good with few examples, and logistic regression replayed over all of them in
//! an order that never changes, which is good with many. "None of these" is a label like any other.
//!
//! How sure the model is, it measures on mail that it had not learned from: it learns from a part
//! of the examples, scores the rest, and does so several times. Each time some topics are left out
//! altogether, whose mail then is of no topic that the model knows, as much of a real inbox is.
//! From these scores follow the confidence and the threshold from which on a topic is given rather
//! than suggested ([`PRECISION`] of the given ones are expected to be right). What people decided
//! about earlier suggestions moves the threshold ([`TopicModel::with_decisions`]).
//!
//! **Urgency.** [`urgency()`] reads the situation by rules in six languages: what is blocked, what is
//! lost by when, who is in danger; and against it offers, thanks, plans for later. Decisions correct
//! it: a [`TopicModel`] over the labels of [`UrgencyLevel`] overrules the rules where it is sure
//! ([`urgency_with`]).
//!
//! **Language.** [`language()`] names one of 56 languages by its letters, its frequent words and its runs of
//! three letters, and none where that is not clear; [`mail_language`] goes by its writer's own words.
//!
//! **Likeness.** [`PastMail`] compares a mail with earlier mail by the same hashes, to find what was
//! answered before.
//!
//! **Meaning.** [`Meaning`] says what an English text is about by vectors of its words, which are in the
//! program. Topics and past mail go by it too, and [`AnswerIndex`] finds answers that say the same in
//! other words.
//!
//! **Limits.** A mail's first [`WORDS`] words count. Learning 5,000 examples takes less than a
//! second, sorting a mail less than two milliseconds; the scoring program measures it:
//! `cargo run --release -p mailroom-classifier --example score-classifier -- CORPORA`.
//!
//! Deliberately absent: files, sockets, the clock, randomness, threads, words in what is kept.

mod answer_search;
mod calibration;
mod centroids;
mod example;
mod features;
mod language;
mod logistic;
mod matrix;
mod meaning;
mod model;
mod nearest;
mod reasons;
mod scorer;
mod urgency;

pub use answer_search::{AnswerIndex, AnswerMatch};
pub use calibration::{GuessOutcome, PRECISION};
pub use example::{SorterExample, UnreadableExample};
pub use features::{TextFeatures, WORDS};
pub use language::{MailLanguage, language, mail_language};
pub use meaning::Meaning;
pub use model::{DECISIONS, SortedMail, TopicModel};
pub use nearest::PastMail;
pub use urgency::{UrgencyLevel, UrgencyVerdict, urgency, urgency_on, urgency_with};
