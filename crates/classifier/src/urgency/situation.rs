//! Reads the situation of a mail: what speaks for haste, and what against it.

use std::sync::LazyLock;

use phrases::{FoldedWord, PhraseBook, folded_words};

static PHRASES: LazyLock<PhraseBook> =
    LazyLock::new(|| PhraseBook::parse(include_str!("phrases.txt")));

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
    pub fn of(subject: &str, text: &str) -> Situation {
        let own = own_words(text);
        // The subject of an answer is older than the answer.
        let subject = if is_answer(subject) { "" } else { subject };
        let whole = format!("{subject}.\n{own}");
        let words = folded_words(&whole, WORDS);
        let folded: Vec<&str> = words.iter().map(|word| word.folded.as_str()).collect();
        let hits = PHRASES.find(&folded);
        let found = |rules: &[SituationRule]| {
            let found = rules.iter().filter_map(|rule| {
                let mut told = hits.iter().filter(|hit| hit.group == rule.group);
                let first = told.next()?;
                let more = told.count().min(2) as f64;
                let words = quote(&whole, &words, first.first, first.last);
                let sentence = format!("{}: “{words}”.", rule.reason);
                Some(FoundRule { points: rule.points * (1.0 + 0.2 * more), sentence })
            });
            found.collect::<Vec<_>>()
        };
        let has = |group: &str| hits.iter().any(|hit| hit.group == group);
        let mut low = found(LOW_RULES);
        let own_words = folded_words(&own, THANKS_WORDS + 1);
        let thanks = hits.iter().find(|hit| hit.group == "thanks");
        if let Some(thanks) = thanks.filter(|_| low.is_empty() && !has("but"))
            && own_words.len() <= THANKS_WORDS
        {
            let words = quote(&whole, &words, thanks.first, thanks.last);
            low.push(FoundRule { points: THANKS, sentence: format!("{THANKED}: “{words}”.") });
        }
        Situation {
            high: found(HIGH_RULES),
            low,
            later: has("later"),
            asks: own.contains('?') || has("asks"),
            wants: has("problem"),
        }
    }

    pub fn high(&self) -> f64 {
        let sum: f64 = self.high.iter().map(|found| found.points).sum();
        sum - if self.later { LATER } else { 0.0 }
    }

    pub fn low(&self) -> f64 {
        let sum: f64 = self.low.iter().map(|found| found.points).sum();
        let silent = !self.asks && !self.wants && self.high.is_empty();
        sum + if silent { SILENT } else { 0.0 } - if self.asks { ASKING } else { 0.0 }
    }

    pub fn reasons_for_high(&self) -> Vec<String> {
        self.high.iter().map(|found| found.sentence.clone()).collect()
    }

    pub fn reasons_for_low(&self) -> Vec<String> {
        self.low.iter().map(|found| found.sentence.clone()).collect()
    }
}

/// True for the subject of an answer or of a mail that was passed on.
fn is_answer(subject: &str) -> bool {
    const SIGNS: [&str; 12] =
        ["re", "aw", "fw", "fwd", "wg", "tr", "rv", "r", "i", "antw", "sv", "rif"];
    let sign = subject.split_once(':').map(|(sign, _)| sign.trim().to_lowercase());
    sign.is_some_and(|sign| SIGNS.contains(&sign.as_str()))
}

/// A text without quoted lines and what stands under the signature's dashes.
fn own_words(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim_end() != "--");
    let own = lines.filter(|line| !line.trim_start().starts_with('>'));
    own.collect::<Vec<_>>().join("\n")
}

fn quote(text: &str, words: &[FoldedWord], first: usize, last: usize) -> String {
    let stretch = &text[words[first].start..words[last].end];
    let stretch = &stretch[..stretch.floor_char_boundary(QUOTED_BYTES)];
    stretch.split_whitespace().collect::<Vec<_>>().join(" ")
}
