//! What the team knows, as short texts: answers, and saved replies, which are answers too.

use base::actor::{Actor, Circle, Circles};
use base::error::Result;
use base::ids::{AnswerId, MailboxId, SavedReplyId};
use base::limits::{ANSWERS, SAVED_REPLIES};
use base::string_enum::string_enum;
use classifier::AnswerIndex;
use db::{Json, Tx};
use search::{Piece, pieces};

string_enum! {
    /// Where an answer is written: among the answers, or as a saved reply.
    AnswerKind { Answer = "answer", SavedReply = "saved-reply" }
}

string_enum! {
    /// Who gets to see an answer: people who write replies, helpers and agents too, or everybody on a
    /// public page.
    AnswerAudience { Team = "team", Helpers = "helpers", Everybody = "everybody" }
}

string_enum! {
    /// How far the public page of an answer is.
    HelpState { Draft = "draft", Review = "review", Public = "public" }
}

db::row! {
    /// An answer as it is stored.
    #[derive(Clone, Debug)]
    pub struct TeamAnswer from "a" {
        pub id: AnswerId,
        pub circle: Circle,
        pub title: String,
        /// Markdown with placeholders.
        pub body: String,
        /// Two letters.
        pub language: String,
        /// The inboxes that it is for; empty for all.
        pub inboxes: Json<Vec<MailboxId>>,
        pub valid_until: Option<i64>,
        pub created_at: i64,
        pub changed_at: i64,
        pub retired_at: Option<i64>,
        pub audience: AnswerAudience,
        pub help_state: HelpState,
        /// Markdown without placeholders, for the public page; empty where the text above serves.
        pub help_body: String,
        /// What it stands under on the public pages; empty for nothing.
        pub section: String,
        /// The end of its public address; empty until it was public.
        pub slug: String,
        /// The answer that it is a translation of; empty for none.
        pub original: String,
        /// When somebody should look at it again.
        pub look_at: Option<i64>,
        /// When its words changed.
        pub text_at: i64,
        /// When somebody last said that it holds, and who; 0 for never.
        pub checked_at: i64,
        pub checked_by: String,
    }
}

impl TeamAnswer {
    /// What it shares with its translations: the id of the first of them.
    pub fn original_id(&self) -> &str {
        if self.original.is_empty() { self.id.as_str() } else { &self.original }
    }

    /// True where its state and its readers make it a public page. One of a private inbox or of the
    /// sandbox never is.
    pub fn is_public(&self) -> bool {
        self.audience == AnswerAudience::Everybody
            && self.help_state == HelpState::Public
            && self.retired_at.is_none()
            && self.circle.is_team()
    }
}

/// An answer or a saved reply that can be used now.
#[derive(Clone, Debug)]
pub struct KnownAnswer {
    pub id: AnswerId,
    pub kind: AnswerKind,
    pub title: String,
    /// Markdown with placeholders.
    pub body: String,
    /// Two letters; `None` for a saved reply whose language is not clear.
    pub language: Option<String>,
    pub inboxes: Vec<MailboxId>,
    pub changed_at: i64,
    pub audience: AnswerAudience,
    /// What it stands under on the public pages; empty for nothing.
    pub section: String,
}

impl KnownAnswer {
    pub fn is_for(&self, mailbox: &MailboxId) -> bool {
        self.inboxes.is_empty() || self.inboxes.contains(mailbox)
    }
}

/// Every answer that somebody of these circles may use now: neither retired nor past its date.
pub fn in_use(tx: &mut Tx<'_>, ws: i64, circles: &Circles, now: i64) -> Result<Vec<KnownAnswer>> {
    let (first, second) = circles.pair();
    let answers: Vec<TeamAnswer> = tx.all(
        &format!(
            "SELECT {} FROM answers a
             WHERE a.ws = ?1 AND a.circle IN (?2, ?3, ?4) AND a.retired_at IS NULL
               AND (a.valid_until IS NULL OR a.valid_until >= ?5)
             ORDER BY a.id LIMIT ?6",
            TeamAnswer::COLUMNS
        ),
        &[&ws, &shared_circle(circles), first, second, &now, &ANSWERS],
    )?;
    let answers = answers.into_iter().map(|answer| KnownAnswer {
        id: answer.id,
        kind: AnswerKind::Answer,
        title: answer.title,
        body: answer.body,
        language: Some(answer.language),
        inboxes: answer.inboxes.0,
        changed_at: answer.changed_at,
        audience: answer.audience,
        section: answer.section,
    });
    // Saved replies are the team's.
    let most = if shared_circle(circles).is_team() { SAVED_REPLIES } else { 0 };
    let saved: Vec<(SavedReplyId, String, String, i64)> = tx.all(
        "SELECT id, name, body, changed_at FROM saved_replies WHERE ws = ?1 ORDER BY id LIMIT ?2",
        &[&ws, &most],
    )?;
    let saved = saved.into_iter().map(|(id, name, body, changed_at)| KnownAnswer {
        id: AnswerId::of_saved_reply(&id),
        kind: AnswerKind::SavedReply,
        title: name,
        language: language_of(&body).map(str::to_owned),
        body,
        inboxes: Vec::new(),
        changed_at,
        audience: AnswerAudience::Helpers,
        section: String::new(),
    });
    Ok(answers.chain(saved).collect())
}

/// Those that software may use too: helpers, whose drafts rest on them, and agents.
pub fn in_use_by_software(
    tx: &mut Tx<'_>,
    ws: i64,
    circles: &Circles,
    now: i64,
) -> Result<Vec<KnownAnswer>> {
    let mut known = in_use(tx, ws, circles, now)?;
    known.retain(|answer| answer.audience != AnswerAudience::Team);
    Ok(known)
}

/// Whose answers are used beside one's own: the team's, but in the sandbox, which sees nothing of the
/// live workspace (API section 5.8).
fn shared_circle(circles: &Circles) -> Circle {
    if circles.is_sandbox() { Circle::sandbox() } else { Circle::team() }
}

/// A stored answer that the actor may see, retired or not.
pub fn load(tx: &mut Tx<'_>, actor: &Actor, id: &AnswerId) -> Result<Option<TeamAnswer>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM answers a WHERE a.ws = ?1 AND a.id = ?2 AND a.circle IN (?3, ?4, ?5)",
            TeamAnswer::COLUMNS
        ),
        &[&actor.ws, id, &shared_circle(&actor.circles), first, second],
    )?)
}

/// Two letters for the language of a text, where it is clear.
pub fn language_of(text: &str) -> Option<&'static str> {
    classifier::language(text).map(classifier::MailLanguage::as_str)
}

/// The same for a mail: that of its writer's own words.
pub fn language_of_mail(subject: &str, text: &str) -> Option<&'static str> {
    classifier::mail_language(subject, text).map(classifier::MailLanguage::as_str)
}

/// True for a language as it is written here: `en`.
pub fn is_language(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// The answers that fit a question, the best first: by words in the title and the text, rare words
/// counting more, by likeness, which forgives spelling, and by meaning. Without words, the newest first.
pub fn best_matches(mut answers: Vec<KnownAnswer>, question: &str) -> Vec<KnownAnswer> {
    if words(question).is_empty() {
        answers.sort_by(|a, b| (b.changed_at, &b.id).cmp(&(a.changed_at, &a.id)));
        return answers;
    }
    let texts = answers.iter().map(|answer| (answer.title.as_str(), answer.body.as_str()));
    let found = AnswerIndex::new(texts).search(question);
    found.into_iter().map(|one| answers[one.place].clone()).collect()
}

/// The words of a text without case and accents.
pub fn words(text: &str) -> Vec<String> {
    let word = |piece| match piece {
        Piece::Word(word) => word,
        Piece::Run(run) => run.into_iter().collect(),
    };
    pieces(text).into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use base::ids::Ids;

    use super::*;

    fn answers(texts: &[(&str, &str)]) -> Vec<KnownAnswer> {
        let ids = Ids::with_seed(1);
        let answer = |(title, body): &(&str, &str)| KnownAnswer {
            id: AnswerId::new(&ids, 1),
            kind: AnswerKind::Answer,
            title: (*title).to_owned(),
            body: (*body).to_owned(),
            language: Some("en".into()),
            inboxes: Vec::new(),
            changed_at: 0,
            audience: AnswerAudience::Helpers,
            section: String::new(),
        };
        texts.iter().map(answer).collect()
    }

    fn search_titles(question: &str) -> Vec<String> {
        let known = answers(&[
            ("Fee taken twice", "When a fee is debited two times, we send the second one back."),
            ("Opening hours", "The office is open from nine to five."),
            ("Which receipts we need", "Date, total, seller and what was bought."),
        ]);
        best_matches(known, question).into_iter().map(|answer| answer.title).collect()
    }

    #[test]
    fn the_best_match_comes_first() {
        assert_eq!(search_titles("my fee was taken two times")[0], "Fee taken twice");
        assert_eq!(search_titles("receipts")[0], "Which receipts we need");
        assert_eq!(search_titles("recei")[0], "Which receipts we need");
        assert_eq!(search_titles("zebra"), Vec::<String>::new());
        assert_eq!(search_titles("").len(), 3);
    }

    #[test]
    fn the_sandbox_shares_no_answers_with_the_team() {
        assert!(shared_circle(&Circles::only(Circle::team())).is_team());
        assert!(shared_circle(&Circles::only(Circle::sandbox())).is_sandbox());
    }

    #[test]
    fn a_saved_reply_has_an_id_among_the_answers() {
        let reply = SavedReplyId::parse("sav_01a").unwrap();
        let answer = AnswerId::of_saved_reply(&reply);
        assert_eq!((answer.as_str(), answer.saved_reply()), ("ans_01a", Some(reply)));
    }
}
