//! The built-in helper: an answer that was used on mail like this becomes a draft; answers that may
//! fit are offered; otherwise nothing.

use std::collections::HashMap;

use base::ids::ConversationId;
use base::limits::{ANSWERED_BEFORE, ANSWERS_OFFERED};
use classifier::{PastMail, TextFeatures};
use model::messages::answers::{KnownAnswer, words};
use model::messages::markdown_values::escape_markdown;
use model::messages::placeholders::fill;

use super::case::DraftingCase;
use super::examples::AnsweredMail;

/// How alike the mail must be to one that an answer was used on: to draft, and to offer. Measured on
/// public questions: with these, nine of ten drafts have the right answer.
const DRAFT_AT: f32 = 0.5;
const OFFER_AT: f32 = 0.25;
/// How much nearer the answer to draft must be than what any other mail was answered with.
const AHEAD: f32 = 0.1;
/// How alike a mail and an answer's own words must be to offer it.
const OFFER_BY_TEXT_AT: f32 = 0.2;
/// How much likeness in meaning counts, where nothing is drafted of it: an answer is offered from .56
/// on. Questions and their answers have .4 to .7, and only matters next to one another as much.
const MEANING_SHARE: f32 = 0.36;
/// How alike mail must be to be listed as answered before.
const BEFORE_AT: f32 = 0.25;
/// Mail with fewer words asks nothing; a thank-you has at most so many.
const LEAST_WORDS: usize = 3;
const THANKS_WORDS: usize = 14;
/// Answers that a model is given.
const SOURCES: usize = 5;
/// A gap that a person has to fill before an answer can be sent.
pub const GAP: &str = "[…]";

/// What the helper found for a mail.
#[derive(Debug, Default)]
pub struct HelperMatch {
    /// The answer to draft, and how alike the mail is to one it was used on.
    pub draft: Option<(KnownAnswer, f64)>,
    /// Answers to choose from, the likeliest first.
    pub offers: Vec<KnownAnswer>,
    /// What a model may cite, the likeliest first.
    pub sources: Vec<KnownAnswer>,
    /// Conversations with mail like this that was answered.
    pub answered_before: Vec<ConversationId>,
}

/// Looks for answers to a mail among those that the inbox may use.
pub fn find_answers(
    case: &DraftingCase,
    known: &[KnownAnswer],
    past: &[AnsweredMail],
) -> HelperMatch {
    if asks_nothing(&case.text) {
        return HelperMatch::default();
    }
    let mail = TextFeatures::of(&case.compared_text());
    let past = alike(case, &mail, past);
    let answered_before = answered_before(case, &past);
    let mut ranked = rank(case, &mail, known, &past);
    ranked.sort_by(|a, b| b.order().total_cmp(&a.order()));
    let draft = choose(case, &ranked, &past);
    let offered = ranked.iter().filter(|one| one.is_offered());
    HelperMatch {
        offers: match draft {
            Some(_) => Vec::new(),
            None => offered.take(ANSWERS_OFFERED).map(|one| one.answer.clone()).collect(),
        },
        sources: ranked.iter().take(SOURCES).map(|one| one.answer.clone()).collect(),
        draft,
        answered_before,
    }
}

/// A mail of the past that is in the same language, and how alike it is.
struct AlikeMail<'a> {
    mail: &'a AnsweredMail,
    /// By its words.
    likeness: f32,
    /// By its words or by its meaning.
    nearness: f32,
}

fn alike<'a>(
    case: &DraftingCase,
    mail: &TextFeatures,
    past: &'a [AnsweredMail],
) -> Vec<AlikeMail<'a>> {
    let language = case.language.as_deref().unwrap_or_default();
    let (past, features): (Vec<&AnsweredMail>, Vec<TextFeatures>) = past
        .iter()
        .filter(|one| one.language == language && one.conversation != case.conversation.id)
        .filter_map(|one| Some((one, one.features()?)))
        .unzip();
    let compared = PastMail::new(&features);
    let likeness = compared.likeness(mail);
    let nearness = nearness(&likeness, &compared.meaning_likeness(mail));
    let alike = |(mail, (likeness, nearness))| AlikeMail { mail, likeness, nearness };
    past.into_iter().zip(likeness.into_iter().zip(nearness)).map(alike).collect()
}

/// How alike texts are by their words or by their meaning.
fn nearness(likeness: &[f32], meanings: &[f32]) -> Vec<f32> {
    let nearer = |(likeness, meaning): (&f32, &f32)| likeness.max(meaning * MEANING_SHARE);
    likeness.iter().zip(meanings).map(nearer).collect()
}

fn answered_before(case: &DraftingCase, past: &[AlikeMail<'_>]) -> Vec<ConversationId> {
    let mut best: Vec<&AlikeMail<'_>> =
        past.iter().filter(|one| one.nearness >= BEFORE_AT).collect();
    best.sort_by(|a, b| b.nearness.total_cmp(&a.nearness));
    let mut found: Vec<ConversationId> = Vec::new();
    for one in best {
        let id = &one.mail.conversation;
        if !found.contains(id) && *id != case.conversation.id {
            found.push(id.clone());
        }
    }
    found.truncate(ANSWERED_BEFORE);
    found
}

/// An answer, how alike the mail is to what it was used on, and to its own words.
struct RankedAnswer {
    answer: KnownAnswer,
    /// By words alone, and by words or meaning.
    by_use: f32,
    near_use: f32,
    by_text: f32,
}

impl RankedAnswer {
    fn order(&self) -> f32 {
        self.near_use.max(self.by_text)
    }

    fn is_offered(&self) -> bool {
        self.near_use >= OFFER_AT || self.by_text >= OFFER_BY_TEXT_AT
    }
}

/// The answers that the inbox may use in the customer's language.
fn rank(
    case: &DraftingCase,
    mail: &TextFeatures,
    known: &[KnownAnswer],
    past: &[AlikeMail<'_>],
) -> Vec<RankedAnswer> {
    let mut by_use: HashMap<&str, (f32, f32)> = HashMap::new();
    for one in past {
        let best = by_use.entry(one.mail.answer.as_str()).or_default();
        *best = (best.0.max(one.likeness), best.1.max(one.nearness));
    }
    let fits = |answer: &&KnownAnswer| {
        answer.is_for(&case.mailbox.id)
            && case.language.is_some()
            && answer.language == case.language
    };
    let fitting: Vec<&KnownAnswer> = known.iter().filter(fits).collect();
    let texts: Vec<TextFeatures> = fitting
        .iter()
        .map(|answer| TextFeatures::of(&format!("{} {}", answer.title, answer.body)))
        .collect();
    let texts = PastMail::new(&texts);
    let by_text = nearness(&texts.likeness(mail), &texts.meaning_likeness(mail));
    let rank = |(answer, by_text): (&KnownAnswer, f32)| {
        let (by_use, near_use) = by_use.get(answer.id.as_str()).copied().unwrap_or_default();
        RankedAnswer { by_use, near_use, by_text, answer: answer.clone() }
    };
    fitting.into_iter().zip(by_text).map(rank).collect()
}

/// The answer to draft: near enough, ahead of all others, of mail that was answered otherwise, too,
/// and without a gap.
fn choose(
    case: &DraftingCase,
    ranked: &[RankedAnswer],
    past: &[AlikeMail<'_>],
) -> Option<(KnownAnswer, f64)> {
    let best = ranked.iter().max_by(|a, b| a.by_use.total_cmp(&b.by_use))?;
    let others = past.iter().filter(|one| one.mail.answer != best.answer.id.as_str());
    let next = others.map(|one| one.likeness).fold(0.0f32, f32::max);
    let is_sure = best.by_use >= DRAFT_AT && best.by_use - next >= AHEAD;
    (is_sure && filled_answer(case, &best.answer).is_some())
        .then(|| (best.answer.clone(), f64::from(best.by_use)))
}

/// An answer as Markdown with its placeholders filled, but for the writer's name; `None` when one of
/// them has no value and no default, or when it has a gap.
pub fn filled_answer(case: &DraftingCase, answer: &KnownAnswer) -> Option<String> {
    if answer.body.contains(GAP) {
        return None;
    }
    let mut is_whole = true;
    let filled = fill(&answer.body, |name| {
        let value = case.value_of(name)?;
        is_whole &= !value.is_empty() || has_default(&answer.body, name);
        Some(escape_markdown(&value))
    });
    is_whole.then_some(filled)
}

/// True when every placeholder of this name has words to stand instead.
fn has_default(body: &str, name: &str) -> bool {
    let mut places = body.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    places.all(|inside| match inside.split_once('|') {
        Some((_, otherwise)) => !otherwise.trim().is_empty() || inside.trim() != name,
        None => inside.trim() != name,
    })
}

/// True for mail that needs no answer, such as a thank-you.
fn asks_nothing(text: &str) -> bool {
    let words = words(text);
    let thanks = ["thank", "thanks", "danke", "merci", "gracias", "grazie", "bedankt", "obrigado"];
    words.len() < LEAST_WORDS
        || (words.len() <= THANKS_WORDS
            && !text.contains('?')
            && words.iter().take(3).any(|word| thanks.contains(&word.as_str())))
}
