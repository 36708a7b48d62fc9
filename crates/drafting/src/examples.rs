//! Mail of the past that was replied to, as hashes of its words, and the answers it was replied to
//! with. One list for each circle: a private inbox teaches nobody else.

use std::collections::HashSet;

use base::actor::{Circle, Circles};
use base::app::Cx;
use base::error::Result;
use base::ids::{AnswerId, ConversationId, MessageId};
use classifier::TextFeatures;
use db::Tx;
use model::conversations::Conversation;
use model::messages::answers::{self, KnownAnswer, language_of, words};
use outbound::messages::OutgoingMessage;

/// Mail of the past that a new one is compared with: the newest.
const COMPARED: i64 = 1_000;
/// Mail of the past that is kept for each circle.
const KEPT: i64 = 5_000;
/// Share of an answer's words that a reply must have to be made of it, and the least words of an
/// answer that are enough to tell.
const MADE_OF: f64 = 0.8;
const TELLING_WORDS: usize = 6;

db::row! {
    /// A customer's mail that was replied to.
    #[derive(Clone, Debug)]
    pub struct AnsweredMail from "e" {
        /// The reply.
        pub message: MessageId,
        pub conversation: ConversationId,
        /// Two letters; empty where it is not clear.
        pub language: String,
        /// The id of the answer that the reply was made of; empty for none.
        pub answer: String,
        features: Vec<u8>,
    }
}

impl AnsweredMail {
    /// `None` for what an earlier version kept in another form.
    pub fn features(&self) -> Option<TextFeatures> {
        TextFeatures::from_bytes(&self.features).ok()
    }
}

/// The newest mail of a circle that was replied to.
pub fn newest(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<Vec<AnsweredMail>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM answered_mail e WHERE e.ws = ?1 AND e.circle = ?2
             ORDER BY e.at DESC, e.message DESC LIMIT ?3",
            AnsweredMail::COLUMNS
        ),
        &[&ws, circle, &COMPARED],
    )?)
}

/// A reply that has left, with what is needed to tell which answer it was made of.
pub struct ReplyExample {
    message: MessageId,
    text: String,
    /// The mail that it answered.
    mail: String,
    /// The answer that the helper had made it of.
    drafted_from: Option<AnswerId>,
    known: Vec<KnownAnswer>,
}

/// What is learned from a reply.
#[derive(Clone, Debug)]
pub struct ReplyLesson {
    message: MessageId,
    used: Option<AnswerId>,
    language: &'static str,
    features: TextFeatures,
}

impl ReplyExample {
    /// `None` for a reply to no mail.
    pub fn load(
        tx: &mut Tx<'_>,
        ws: i64,
        conversation: &Conversation,
        reply: &OutgoingMessage,
        now: i64,
    ) -> Result<Option<ReplyExample>> {
        let Some(mail) = answered_mail(tx, ws, conversation, &reply.id)? else { return Ok(None) };
        let circles = Circles::only(conversation.circle.clone());
        Ok(Some(ReplyExample {
            message: reply.id.clone(),
            text: reply.text.clone(),
            mail,
            drafted_from: drafted_from(tx, ws, &reply.id)?,
            known: answers::in_use(tx, ws, &circles, now)?,
        }))
    }

    /// Takes a few milliseconds of a core where there are many answers.
    pub fn lesson(&self) -> ReplyLesson {
        let made_of = || made_of(&self.text, &self.known).map(|answer| answer.id.clone());
        let used = self.drafted_from.clone().or_else(made_of);
        ReplyLesson::new(&self.message, used, &self.mail)
    }
}

impl ReplyLesson {
    fn new(message: &MessageId, used: Option<AnswerId>, mail: &str) -> ReplyLesson {
        ReplyLesson {
            message: message.clone(),
            used,
            language: language_of(mail).unwrap_or_default(),
            features: TextFeatures::of(mail),
        }
    }

    /// The lesson of a reply whose answer is known.
    pub fn of_answer(
        tx: &mut Tx<'_>,
        ws: i64,
        conversation: &Conversation,
        reply: &MessageId,
        used: &AnswerId,
    ) -> Result<Option<ReplyLesson>> {
        let mail = answered_mail(tx, ws, conversation, reply)?;
        Ok(mail.map(|mail| ReplyLesson::new(reply, Some(used.clone()), &mail)))
    }
}

/// Writes down the mail that a reply answered.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    lesson: &ReplyLesson,
) -> Result<()> {
    let ws = cx.actor.ws;
    if lesson.features.is_empty() {
        return Ok(());
    }
    tx.exec(
        "INSERT INTO answered_mail (ws, circle, message, conversation, at, language, answer, features)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (ws, circle, message) DO UPDATE SET answer = excluded.answer",
        &[
            &ws,
            &conversation.circle,
            &lesson.message,
            &conversation.id,
            &cx.now,
            &lesson.language,
            &lesson.used.as_ref().map_or("", |answer| answer.as_str()),
            &lesson.features.to_bytes(),
        ],
    )?;
    if let Some(answer) = &lesson.used {
        count_use(tx, cx, answer)?;
    }
    forget_oldest(tx, ws, &conversation.circle)
}

fn count_use(tx: &mut Tx<'_>, cx: &Cx<'_>, answer: &AnswerId) -> Result<()> {
    tx.exec(
        "INSERT INTO answer_tallies (ws, answer, uses, used_at) VALUES (?1, ?2, 1, ?3)
         ON CONFLICT (ws, answer) DO UPDATE
         SET uses = answer_tallies.uses + 1, used_at = excluded.used_at",
        &[&cx.actor.ws, answer, &cx.now],
    )?;
    Ok(())
}

fn forget_oldest(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<()> {
    let oldest: Option<(i64,)> = tx.opt(
        "SELECT at FROM answered_mail WHERE ws = ?1 AND circle = ?2
         ORDER BY at DESC, message DESC LIMIT 1 OFFSET ?3",
        &[&ws, circle, &KEPT],
    )?;
    if let Some((at,)) = oldest {
        tx.exec(
            "DELETE FROM answered_mail WHERE ws = ?1 AND circle = ?2 AND at <= ?3",
            &[&ws, circle, &at],
        )?;
    }
    Ok(())
}

/// Subject and words of the customer's mail before a message of ours.
fn answered_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    reply: &MessageId,
) -> Result<Option<String>> {
    let (at,): (i64,) =
        tx.one("SELECT at FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, reply])?;
    let before: Option<(String,)> = tx.opt(
        "SELECT text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND at <= ?3 AND direction = 'inbound'
           AND withheld IS NULL
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&ws, &conversation.id, &at],
    )?;
    Ok(before.map(|(text,)| format!("{} {text}", conversation.subject)))
}

/// The first source of a draft that a model wrote.
fn drafted_from(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<Option<AnswerId>> {
    let source: Option<(AnswerId,)> = tx.opt(
        "SELECT s.answer FROM helper_drafts h
         JOIN draft_sources s ON s.ws = h.ws AND s.message = h.message
         WHERE h.ws = ?1 AND h.message = ?2 AND h.method = 'model' ORDER BY s.place LIMIT 1",
        &[&ws, message],
    )?;
    Ok(source.map(|(answer,)| answer))
}

/// The answer whose words a reply has, the longest of several.
fn made_of<'a>(text: &str, known: &'a [KnownAnswer]) -> Option<&'a KnownAnswer> {
    let text: HashSet<String> = words(text).into_iter().collect();
    let shared = |answer: &&'a KnownAnswer| {
        let own: HashSet<String> = words(&without_placeholders(&answer.body)).into_iter().collect();
        let met = own.iter().filter(|word| text.contains(*word)).count();
        let is_enough = own.len() >= TELLING_WORDS && met as f64 >= MADE_OF * own.len() as f64;
        if is_enough { met } else { 0 }
    };
    known.iter().max_by_key(shared).filter(|best| shared(best) > 0)
}

fn without_placeholders(body: &str) -> String {
    model::messages::placeholders::fill(body, |_| Some(String::new()))
}
