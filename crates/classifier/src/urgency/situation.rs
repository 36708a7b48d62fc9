//! Reads the situation of a mail: what speaks for haste, and what against it.

use std::sync::LazyLock;

use jiff::civil::Date;
use phrases::{FoldedWord, PhraseBook, PhraseHit, folded_words};

use super::days::near_day;
use crate::language::{is_answer, own_words};

static PHRASES: LazyLock<PhraseBook> =
    LazyLock::new(|| PhraseBook::parse(include_str!("phrases.txt")));
static CONCEPTS: LazyLock<PhraseBook> =
    LazyLock::new(|| PhraseBook::parse(include_str!("concepts.txt")));

/// Words of a mail that are read.
const WORDS: usize = 600;
/// Bytes of the words that a reason quotes.
const QUOTED_BYTES: usize = 80;

/// A group of phrases and what it weighs.
struct SituationRule {
    group: &'static str,
    points: f64,
    reason: &'static str,
}

const fn rule(group: &'static str, points: f64, reason: &'static str) -> SituationRule {
    SituationRule { group, points, reason }
}

/// What speaks for haste.
const HIGH_RULES: &[SituationRule] = &[
    rule("danger", 3.5, "Somebody may be in danger"),
    rule("fraud", 3.0, "Money is being taken right now"),
    rule("stranded", 2.5, "Somebody is stuck on the way"),
    rule("deadline", 2.5, "Something ends within a day"),
    rule("loss", 2.0, "Something is lost with every hour"),
    rule("blocked", 2.0, "Work or a paid service stands still"),
    rule("everybody", 1.5, "It concerns many people at once"),
    rule("event", 2.0, "Guests, patients or an appointment depend on it"),
    rule("law", 1.5, "A court or an authority is involved"),
    rule("now", 1.0, "It is about the next hours"),
    rule("haste", 0.5, "It asks for haste"),
];

/// What may be true of a pressing situation. None of these is enough by itself; the points were
/// fitted on the labelled mails of the tests, by logistic regression over all of them.
const PRESSING_RULES: &[SituationRule] = &[
    rule("illness", 1.7, "Somebody may be ill or hurt"),
    rule("hazard", 1.5, "Something dangerous is described"),
    rule("stopped", 1.7, "Something has stopped that people depend on"),
    rule("hours", 2.2, "It is happening now or within hours"),
    rule("today", 1.5, "It is about today"),
    rule("depends", 1.5, "An event, a journey or a deadline depends on it"),
    rule("wrong", 1.4, "Something is wrong or missing"),
    rule("stranded", 1.0, "Somebody is stuck somewhere"),
    rule("theft", 1.0, "Money, data or goods may be lost to somebody"),
    rule("tomorrow", 0.9, "It is about tomorrow"),
    rule("frail", 0.5, "A child or somebody frail is concerned"),
    rule("spoils", 0.4, "Goods may spoil"),
];
/// What says when, and what presses only half as much where nothing does.
const TIMES: [&str; 3] = ["hours", "today", "tomorrow"];
const TIMELESS: [&str; 2] = ["depends", "wrong"];
const UNTIMED: f64 = 0.5;
/// What speaks against a pressing situation.
const CALM_RULES: &[(&str, f64)] = &[("later", 0.6), ("question", 0.8)];
/// How much a question mark speaks against it.
const QUESTION_MARK: f64 = 0.7;
/// How much what speaks for haste by itself adds, and what speaks for taking time takes away from
/// `BARELY` on.
const HASTE_SHARE: f64 = 0.5;
const TIME_SHARE: f64 = 0.9;
const BARELY: f64 = 0.5;
/// Below these points a situation is calm whatever words it has.
const CALM: f64 = 1.4;

/// What else speaks for taking time.
const REST_RULES: &[SituationRule] = &[
    rule("over", 3.0, "It says that the matter is settled"),
    rule("sells", 2.2, "It offers or announces something"),
    rule("wish", 1.6, "It is about some day"),
    rule("applies", 2.0, "It is an application"),
    rule("sending", 1.6, "It asks for nothing"),
    rule("pleased", 1.3, THANKED),
];

/// What speaks for taking time.
const LOW_RULES: &[SituationRule] = &[
    rule("settled", 3.5, "It says that the matter is settled"),
    rule("automatic", 3.0, "It was sent automatically"),
    rule("offer", 2.0, "It offers or announces something"),
    rule("application", 2.0, "It is an application"),
    rule("praise", 1.5, THANKED),
    rule("nothing asked", 2.0, "It asks for nothing"),
    rule("some day", 2.0, "It is about some day"),
];

/// Words of a mail that says no more than thanks.
const THANKS_WORDS: usize = 14;
/// How much such a mail counts, if it asks for nothing.
const THANKS: f64 = 2.0;
const THANKED: &str = "It is thanks or praise";
/// How much it counts that a mail asks for nothing and tells of no trouble.
const SILENT: f64 = 1.0;
/// How much a mail that asks something counts against its being low.
const ASKING: f64 = 1.5;
/// How much plans for later count against haste.
const LATER: f64 = 1.5;

/// What was found in a mail.
pub(super) struct Situation {
    high: Vec<FoundRule>,
    pressing: Vec<FoundRule>,
    /// Points against a pressing situation.
    calm: f64,
    low: Vec<FoundRule>,
    later: bool,
    asks: bool,
    wants: bool,
}

struct FoundRule {
    points: f64,
    sentence: String,
}

impl Situation {
    /// `today` is the day on which the mail was written, where its writer is, if that is known.
    pub fn of(subject: &str, text: &str, today: Option<Date>) -> Situation {
        let own = own_words(text);
        // The subject of an answer is older than the answer.
        let subject = if is_answer(subject) { "" } else { subject };
        let whole = format!("{subject}.\n{own}");
        let words = folded_words(&whole, WORDS);
        let folded: Vec<&str> = words.iter().map(|word| word.folded.as_str()).collect();
        let hits = PHRASES.find(&folded);
        let mut concepts = CONCEPTS.find(&folded);
        if let Some((day, at)) = today.and_then(|today| near_day(&words, today)) {
            // A date that is near is not one of later.
            concepts.retain(|hit| hit.group != "later" || hit.first.abs_diff(at) > 2);
            concepts.push(PhraseHit { group: day.group(), first: at, last: at });
        }
        let sentence = |rule: &SituationRule, hit: &PhraseHit<'_>| {
            format!("{}: “{}”.", rule.reason, quote(&whole, &words, hit.first, hit.last))
        };
        let found = |rules: &[SituationRule], hits: &[PhraseHit<'_>]| {
            let found = rules.iter().filter_map(|rule| {
                let mut told = hits.iter().filter(|hit| hit.group == rule.group);
                let first = told.next()?;
                let more = told.count().min(2) as f64;
                let points = rule.points * (1.0 + 0.2 * more);
                Some(FoundRule { points, sentence: sentence(rule, first) })
            });
            found.collect::<Vec<_>>()
        };
        let timed = concepts.iter().any(|hit| TIMES.contains(&hit.group));
        let pressing = PRESSING_RULES.iter().filter_map(|rule| {
            let mut told = concepts.iter().filter(|hit| hit.group == rule.group);
            let first = told.next()?;
            let sooner = if timed || !TIMELESS.contains(&rule.group) { 1.0 } else { UNTIMED };
            let points = rule.points * sooner * twice(told.next().is_some());
            Some(FoundRule { points, sentence: sentence(rule, first) })
        });
        let against = CALM_RULES.iter().map(|(group, points)| {
            match concepts.iter().filter(|hit| hit.group == *group).count() {
                0 => 0.0,
                count => points * twice(count > 1),
            }
        });
        let asked = own.contains('?');
        let calm = against.sum::<f64>() + if asked { QUESTION_MARK } else { 0.0 };
        let has = |group: &str| hits.iter().any(|hit| hit.group == group);
        let mut low = found(LOW_RULES, &hits);
        let own_words = folded_words(&own, THANKS_WORDS + 1);
        let thanks = hits.iter().find(|hit| hit.group == "thanks");
        if let Some(thanks) = thanks.filter(|_| low.is_empty() && !has("but"))
            && own_words.len() <= THANKS_WORDS
        {
            let words = quote(&whole, &words, thanks.first, thanks.last);
            low.push(FoundRule { points: THANKS, sentence: format!("{THANKED}: “{words}”.") });
        }
        low.extend(found(REST_RULES, &concepts));
        Situation {
            high: found(HIGH_RULES, &hits),
            pressing: pressing.collect(),
            calm,
            low,
            later: has("later"),
            asks: asked || has("asks"),
            wants: has("problem"),
        }
    }

    pub fn high(&self) -> f64 {
        let sum: f64 = self.high.iter().map(|found| found.points).sum();
        sum - if self.later { LATER } else { 0.0 }
    }

    /// How pressing the situation is, everything together.
    pub fn pressing(&self) -> f64 {
        let against = TIME_SHARE * (self.low() - BARELY).max(0.0);
        self.concepts() + HASTE_SHARE * self.high() - against
    }

    fn concepts(&self) -> f64 {
        self.pressing.iter().map(|found| found.points).sum::<f64>() - self.calm
    }

    pub fn low(&self) -> f64 {
        let sum: f64 = self.low.iter().map(|found| found.points).sum();
        let calm = self.high.is_empty() || (sum > 0.0 && self.concepts() < CALM);
        let silent = !self.asks && !self.wants && calm;
        sum + if silent { SILENT } else { 0.0 } - if self.asks { ASKING } else { 0.0 }
    }

    /// What makes the mail urgent, the weightiest first; what does so by itself stands alone.
    pub fn reasons_for_high(&self, alone: bool) -> Vec<String> {
        let mut told: Vec<&FoundRule> = self.high.iter().collect();
        if !alone {
            told.extend(&self.pressing);
            told.sort_by(|a, b| b.points.total_cmp(&a.points));
        }
        told.into_iter().map(|found| found.sentence.clone()).collect()
    }

    pub fn reasons_for_low(&self) -> Vec<String> {
        self.low.iter().map(|found| found.sentence.clone()).collect()
    }
}

/// What a thing counts that is said once, or more often.
fn twice(more: bool) -> f64 {
    if more { std::f64::consts::SQRT_2 } else { 1.0 }
}

fn quote(text: &str, words: &[FoldedWord], first: usize, last: usize) -> String {
    let stretch = &text[words[first].start..words[last].end];
    let stretch = &stretch[..stretch.floor_char_boundary(QUOTED_BYTES)];
    stretch.split_whitespace().collect::<Vec<_>>().join(" ")
}
