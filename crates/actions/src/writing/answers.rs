//! The team's answers: people write, find, import and retire them, and make one of a reply.

use std::collections::HashMap;

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{AnswerId, MailboxId};
use base::limits::{ANSWER_CHARS, ANSWER_STALE_MS, ANSWER_TITLE_CHARS, ANSWERS, thousands};
use base::time::NamedTime;
use db::{Json, Tx};
use model::mailboxes;
use model::messages::answers::{self, TeamAnswer, is_language, language_of};

use crate::writing::saved_replies::PLACEHOLDERS;
use crate::writing::saved_replies::unknown_placeholder;

/// An answer as a person enters it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerInput {
    pub title: String,
    /// Markdown with placeholders.
    pub body: String,
    /// Two letters; empty to take the language of the text.
    pub language: String,
    /// The ids of the inboxes that it is for; empty for all.
    pub inboxes: Vec<String>,
    /// The last day on which it is used, such as `2026-12-31`; empty for none.
    pub valid_until: String,
}

/// Why an answer should be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleAnswer {
    /// Its last day is over; helpers and agents leave it out.
    PastItsDate,
    /// It was neither used nor changed for a long time.
    Unused,
}

/// An answer as the page of answers lists it.
#[derive(Clone, Debug)]
pub struct AnswerListing {
    pub answer: TeamAnswer,
    pub uses: i64,
    pub used_at: Option<i64>,
    pub stale: Option<StaleAnswer>,
}

/// How an import went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportResult {
    pub added: usize,
    pub changed: usize,
    pub unchanged: usize,
}

/// Every answer that the actor may see, by title; the retired ones too.
pub fn list_answers(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<AnswerListing>> {
    let (first, second) = cx.actor.circles.pair();
    let answers: Vec<TeamAnswer> = tx.all(
        &format!(
            "SELECT {} FROM answers a WHERE a.ws = ?1 AND a.circle IN ('team', ?2, ?3)
             ORDER BY a.folded, a.language, a.id LIMIT ?4",
            TeamAnswer::COLUMNS
        ),
        &[&cx.actor.ws, first, second, &ANSWERS],
    )?;
    let tallies: Vec<(String, i64, i64)> = tx.all(
        "SELECT answer, uses, used_at FROM answer_tallies WHERE ws = ?1 ORDER BY answer LIMIT ?2",
        &[&cx.actor.ws, &(2 * ANSWERS)],
    )?;
    let tallies: HashMap<String, (i64, i64)> =
        tallies.into_iter().map(|(answer, uses, used_at)| (answer, (uses, used_at))).collect();
    let listing = |answer: TeamAnswer| {
        let tally = tallies.get(answer.id.as_str());
        let used_at = tally.map(|(_, used_at)| *used_at);
        let stale = stale(&answer, used_at, cx.now);
        AnswerListing { uses: tally.map_or(0, |(uses, _)| *uses), used_at, stale, answer }
    };
    Ok(answers.into_iter().map(listing).collect())
}

fn stale(answer: &TeamAnswer, used_at: Option<i64>, now: i64) -> Option<StaleAnswer> {
    if answer.retired_at.is_some() {
        return None;
    }
    let touched = used_at.unwrap_or(0).max(answer.changed_at);
    if answer.valid_until.is_some_and(|until| until < now) {
        Some(StaleAnswer::PastItsDate)
    } else if now - touched > ANSWER_STALE_MS {
        Some(StaleAnswer::Unused)
    } else {
        None
    }
}

/// One answer.
pub fn load_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<AnswerListing> {
    let listed = list_answers(tx, cx)?;
    let found = listed.into_iter().find(|listing| listing.answer.id == *id);
    found.ok_or(Error::NotFound("answer"))
}

/// Adds an answer.
pub fn add_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &AnswerInput) -> Result<AnswerId> {
    let checked = check(tx, cx, input, None)?;
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM answers WHERE ws = ?1", &[&cx.actor.ws])?;
    if count >= ANSWERS {
        let most = thousands(ANSWERS as usize);
        return Err(Error::invalid(
            "title",
            format!("There are {most} answers; that is the most."),
        ));
    }
    let id = AnswerId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO answers (
            ws, id, circle, title, folded, body, language, inboxes, valid_until, created_at, changed_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)",
        &[
            &cx.actor.ws,
            &id,
            &checked.circle,
            &checked.title,
            &checked.title.to_lowercase(),
            &input.body,
            &checked.language,
            &Json(&checked.inboxes),
            &checked.valid_until,
            &cx.now,
        ],
    )?;
    Ok(id)
}

/// Changes an answer; one that was retired is used again.
pub fn change_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AnswerId,
    input: &AnswerInput,
) -> Result<()> {
    answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let checked = check(tx, cx, input, Some(id))?;
    tx.exec(
        "UPDATE answers
         SET circle = ?3, title = ?4, folded = ?5, body = ?6, language = ?7, inboxes = ?8,
             valid_until = ?9, changed_at = ?10, retired_at = NULL
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            id,
            &checked.circle,
            &checked.title,
            &checked.title.to_lowercase(),
            &input.body,
            &checked.language,
            &Json(&checked.inboxes),
            &checked.valid_until,
            &cx.now,
        ],
    )?;
    Ok(())
}

/// Takes an answer out of use; it is kept and can be used again.
pub fn retire_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<()> {
    set_retired(tx, cx, id, Some(cx.now))
}

/// Uses a retired answer again; it counts as looked at now.
pub fn restore_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<()> {
    set_retired(tx, cx, id, None)?;
    tx.exec(
        "UPDATE answers SET changed_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    Ok(())
}

fn set_retired(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId, at: Option<i64>) -> Result<()> {
    answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    tx.exec(
        "UPDATE answers SET retired_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &at],
    )?;
    Ok(())
}

/// Adds answers from a file. One whose title and language exist already is changed instead, so that a
/// file can be imported again. All are imported or none.
pub fn import_answers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    inputs: &[AnswerInput],
) -> Result<ImportResult> {
    let mut result = ImportResult::default();
    for (place, input) in inputs.iter().enumerate() {
        let one = import_one(tx, cx, input).map_err(|error| name_in_file(place, input, error))?;
        *match one {
            Imported::Added => &mut result.added,
            Imported::Changed => &mut result.changed,
            Imported::Unchanged => &mut result.unchanged,
        } += 1;
    }
    Ok(result)
}

enum Imported {
    Added,
    Changed,
    Unchanged,
}

fn import_one(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &AnswerInput) -> Result<Imported> {
    let language = language(input);
    let Some(id) = same_title(tx, cx, &plain(&input.title), language)? else {
        add_answer(tx, cx, input)?;
        return Ok(Imported::Added);
    };
    let known = answers::load(tx, cx.actor, &id)?.ok_or(Error::NotFound("answer"))?;
    let valid_until = last_moment(&input.valid_until);
    let is_same =
        known.body == input.body && known.valid_until == valid_until && known.retired_at.is_none();
    if is_same {
        return Ok(Imported::Unchanged);
    }
    let inboxes = known.inboxes.iter().map(ToString::to_string).collect();
    change_answer(tx, cx, &id, &AnswerInput { inboxes, ..input.clone() })?;
    Ok(Imported::Changed)
}

/// Names the answer of a file that cannot be imported.
fn name_in_file(place: usize, input: &AnswerInput, error: Error) -> Error {
    let Error::Invalid(problems) = error else { return error };
    let title = plain(&input.title);
    let name =
        if title.is_empty() { format!("answer {}", place + 1) } else { format!("“{title}”") };
    let sentences: Vec<String> = problems.0.into_iter().map(|problem| problem.sentence).collect();
    Error::invalid("file", format!("In {name}: {}", sentences.join(" ")))
}

/// What is stored of an answer beside its text.
struct CheckedAnswer {
    circle: Circle,
    title: String,
    language: String,
    inboxes: Vec<MailboxId>,
    valid_until: Option<i64>,
}

fn check(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
    own: Option<&AnswerId>,
) -> Result<CheckedAnswer> {
    let title = plain(&input.title);
    let language = language(input).to_owned();
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    if title.is_empty() || title.contains('\0') || title.chars().count() > ANSWER_TITLE_CHARS {
        add("title", format!("Give it a title of at most {ANSWER_TITLE_CHARS} characters."));
    }
    if let Some(sentence) = wrong_body(&input.body) {
        add("body", sentence);
    }
    if !is_language(&language) {
        add("language", "Say which language it is in, with two letters such as en.".into());
    }
    let valid_until = last_moment(&input.valid_until);
    if valid_until.is_none() && !input.valid_until.trim().is_empty() {
        add("valid_until", "The last day is written like 2026-12-31.".into());
    }
    let same = same_title(tx, cx, &title, &language)?;
    if same.is_some_and(|id| Some(&id) != own) {
        add("title", "Another answer in this language has this title.".into());
    }
    let (circle, inboxes) = match circle_of(tx, cx, &input.inboxes)? {
        Ok(found) => found,
        Err(sentence) => {
            add("inboxes", sentence);
            (Circle::team(), Vec::new())
        }
    };
    match problems.0.is_empty() {
        true => Ok(CheckedAnswer { circle, title, language, inboxes, valid_until }),
        false => Err(Error::Invalid(problems)),
    }
}

fn wrong_body(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return Some("Write something first.".into());
    }
    if body.contains('\0') || body.chars().count() > ANSWER_CHARS {
        return Some(format!("An answer has at most {} characters.", thousands(ANSWER_CHARS)));
    }
    let unknown = unknown_placeholder(body)?;
    let known: Vec<&str> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
    let known = known.join(", ");
    Some(format!("There is no {{{{{unknown}}}}}. What can stand there: {known}."))
}

/// The inboxes of an answer and who may see it: those who see its inboxes. Inboxes of the team and a
/// private one cannot share an answer, because it would show in one what is known in the other.
fn circle_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    inboxes: &[String],
) -> Result<Result<(Circle, Vec<MailboxId>), String>> {
    let mut found: Vec<(Circle, MailboxId)> = Vec::new();
    for id in inboxes {
        let id = MailboxId::parse(id).ok_or(Error::NotFound("inbox"))?;
        let mailbox = mailboxes::seen_by(tx, cx.actor, &id)?.ok_or(Error::NotFound("inbox"))?;
        found.push((mailbox.circle, mailbox.id));
    }
    let circle = found.first().map_or_else(Circle::team, |(circle, _)| circle.clone());
    if found.iter().any(|(other, _)| *other != circle) {
        return Ok(Err(
            "An answer is for inboxes of the team or for a private one, not for both.".into()
        ));
    }
    Ok(Ok((circle, found.into_iter().map(|(_, id)| id).collect())))
}

/// The answer of this title and language that the actor may see.
fn same_title(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    title: &str,
    language: &str,
) -> Result<Option<AnswerId>> {
    let (first, second) = cx.actor.circles.pair();
    let found: Option<(AnswerId,)> = tx.opt(
        "SELECT id FROM answers
         WHERE ws = ?1 AND folded = ?2 AND language = ?3 AND circle IN ('team', ?4, ?5)
         ORDER BY id LIMIT 1",
        &[&cx.actor.ws, &title.to_lowercase(), &language, first, second],
    )?;
    Ok(found.map(|(id,)| id))
}

fn language(input: &AnswerInput) -> &str {
    match input.language.trim() {
        "" => language_of(&format!("{} {}", input.title, input.body)).unwrap_or_default(),
        language => language,
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last millisecond of a day.
fn last_moment(day: &str) -> Option<i64> {
    let day = day.trim();
    if day.is_empty() { None } else { NamedTime::parse(day).map(|day| day.ends) }
}
