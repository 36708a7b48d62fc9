//! The team's answers: people write, find, import and retire them, and make one of a reply.

use std::collections::HashMap;

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{AnswerId, MailboxId};
use base::limits::{ANSWER_CHARS, ANSWER_STALE_MS, ANSWER_TITLE_CHARS, ANSWERS, thousands};
use base::time::{Moment, NamedTime};
use db::{Json, Tx};
use knowledge::versions::{self, AnswerAct};
use model::mailboxes;
use model::messages::answers::{self, TeamAnswer, is_language, language_of};

use crate::writing::answer_pages::{self, PageInput};
use crate::writing::saved_replies::objection_to_placeholders;

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
    /// Who gets to see it: `team`, `helpers` or `everybody`; empty for what it is.
    pub audience: String,
    /// How far its public page is: `draft`, `review` or `public`; empty for what it is.
    pub help_state: String,
    /// What the public page says, as Markdown; empty for the text without its greeting.
    pub help_body: String,
    /// What it stands under on the public pages.
    pub section: String,
    /// The end of its public address; empty to keep it, or to make it of the title.
    pub slug: String,
    /// The day on which somebody should look at it again; empty for none.
    pub look_at: String,
    /// The id of the answer that it is a translation of; empty for none.
    pub original: String,
}

/// Why an answer should be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleAnswer {
    /// Its last day is over; helpers and agents leave it out.
    PastItsDate,
    /// Its team wanted to look at it again by now.
    LookAgain,
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
    let touched = used_at.unwrap_or(0).max(answer.changed_at).max(answer.checked_at);
    if answer.valid_until.is_some_and(|until| until < now) {
        Some(StaleAnswer::PastItsDate)
    } else if answer.look_at.is_some_and(|at| at < now) {
        Some(StaleAnswer::LookAgain)
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
            ws, id, circle, title, folded, body, language, inboxes, valid_until, created_at, changed_at,
            text_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10)",
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
    answer_pages::save_page(tx, cx, &id, &checked.page, None)?;
    Ok(id)
}

/// Changes an answer; one that was retired is used again.
pub fn change_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AnswerId,
    input: &AnswerInput,
) -> Result<()> {
    let before = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    write_answer(tx, cx, &before, input, None)
}

/// Changes an answer; one that was retired stays so, and off the help pages.
pub(crate) fn revise_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    before: &TeamAnswer,
    input: &AnswerInput,
) -> Result<()> {
    write_answer(tx, cx, before, input, before.retired_at)
}

fn write_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    before: &TeamAnswer,
    input: &AnswerInput,
    retired_at: Option<i64>,
) -> Result<()> {
    let id = &before.id;
    let checked = check(tx, cx, input, Some(before))?;
    if before.circle == checked.circle || before.circle.is_team() {
        versions::record_earlier(tx, cx, before)?;
    } else {
        // Others see it from now on, and not what it said before.
        versions::forget(tx, cx.actor.ws, id)?;
    }
    tx.exec(
        "UPDATE answers
         SET circle = ?3, title = ?4, folded = ?5, body = ?6, language = ?7, inboxes = ?8,
             valid_until = ?9, changed_at = ?10, retired_at = ?11
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
            &retired_at,
        ],
    )?;
    answer_pages::save_page(tx, cx, id, &checked.page, Some(before))
}

/// Takes an answer out of use, and off the help pages; it is kept and can be used again.
pub fn retire_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<()> {
    set_retired(tx, cx, id, Some(cx.now))?;
    answer_pages::record_act(tx, cx, id, AnswerAct::Retired)
}

/// Uses a retired answer again; it counts as looked at now.
pub fn restore_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<()> {
    set_retired(tx, cx, id, None)?;
    tx.exec(
        "UPDATE answers SET changed_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    answer_pages::record_act(tx, cx, id, AnswerAct::UsedAgain)
}

fn set_retired(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId, at: Option<i64>) -> Result<()> {
    let before = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    versions::record_earlier(tx, cx, &before)?;
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
        let (_, imported) =
            import_one(tx, cx, input).map_err(|error| name_in_file(place, input, error))?;
        *match imported {
            Imported::Added => &mut result.added,
            Imported::Changed => &mut result.changed,
            Imported::Unchanged => &mut result.unchanged,
        } += 1;
    }
    Ok(result)
}

/// What became of an answer of a file.
pub(crate) enum Imported {
    Added,
    Changed,
    Unchanged,
}

pub(crate) fn import_one(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
) -> Result<(AnswerId, Imported)> {
    let language = language(input);
    let Some(id) = same_title(tx, cx, &plain(&input.title), language)? else {
        return Ok((add_answer(tx, cx, input)?, Imported::Added));
    };
    let known = answers::load(tx, cx.actor, &id)?.ok_or(Error::NotFound("answer"))?;
    let valid_until = last_moment(&input.valid_until);
    // What the file does not say stays as it is.
    let said = |given: &str, known: &str| given.is_empty() || given == known;
    let is_same = known.body == input.body
        && known.valid_until == valid_until
        && known.retired_at.is_none()
        && said(&input.help_body, &known.help_body)
        && said(&input.section, &known.section)
        && said(&input.slug, &known.slug)
        && said(&input.original, &known.original)
        && said(&input.audience, known.audience.as_str())
        && said(&input.help_state, known.help_state.as_str());
    if is_same {
        return Ok((id, Imported::Unchanged));
    }
    let or_known = |given: &String, known: &String| {
        if given.is_empty() { known.clone() } else { given.clone() }
    };
    let input = AnswerInput {
        inboxes: known.inboxes.iter().map(ToString::to_string).collect(),
        help_body: or_known(&input.help_body, &known.help_body),
        section: or_known(&input.section, &known.section),
        look_at: or_known(&input.look_at, &day_of(known.look_at)),
        original: or_known(&input.original, &known.original),
        ..input.clone()
    };
    change_answer(tx, cx, &id, &input)?;
    Ok((id, Imported::Changed))
}

/// The answer that has the same title and language.
pub(crate) fn find_known(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
) -> Result<Option<TeamAnswer>> {
    match same_title(tx, cx, &plain(&input.title), language(input))? {
        Some(id) => answers::load(tx, cx.actor, &id),
        None => Ok(None),
    }
}

/// A moment's day, such as `2026-12-31`; empty for none.
pub fn day_of(moment: Option<i64>) -> String {
    moment.map(|at| Moment(at).iso()[..10].to_owned()).unwrap_or_default()
}

/// Names the answer of a file that cannot be imported.
pub(crate) fn name_in_file(place: usize, input: &AnswerInput, error: Error) -> Error {
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
    page: PageInput,
}

fn check(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
    own: Option<&TeamAnswer>,
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
    let wrong = match wrong_body(&input.body) {
        Some(sentence) => Some(sentence),
        None => objection_to_placeholders(tx, cx, &input.body)?,
    };
    if let Some(sentence) = wrong {
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
    if same.is_some_and(|id| Some(&id) != own.map(|answer| &answer.id)) {
        add("title", "Another answer in this language has this title.".into());
    }
    let (circle, inboxes) = match circle_of(tx, cx, &input.inboxes)? {
        Ok(found) => found,
        Err(sentence) => {
            add("inboxes", sentence);
            (Circle::team(), Vec::new())
        }
    };
    let page = answer_pages::check_page(tx, cx, input, (&language, &circle), own, &mut problems)?;
    if problems.0.is_empty() {
        Ok(CheckedAnswer { circle, title, language, inboxes, valid_until, page })
    } else {
        Err(Error::Invalid(problems))
    }
}

fn wrong_body(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return Some("Write something first.".into());
    }
    if body.contains('\0') || body.chars().count() > ANSWER_CHARS {
        return Some(format!("An answer has at most {} characters.", thousands(ANSWER_CHARS)));
    }
    None
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

pub(crate) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last millisecond of a day.
pub(crate) fn last_moment(day: &str) -> Option<i64> {
    let day = day.trim();
    if day.is_empty() { None } else { NamedTime::parse(day).map(|day| day.ends) }
}
