//! Who gets to see an answer, its public page, its languages and its history.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result, ValidationErrors};
use base::ids::AnswerId;
use base::limits::{ANSWER_CHARS, ANSWER_SECTION_CHARS, thousands};
use db::Tx;
use knowledge::page_text::{PageTextProblem, page_body};
use knowledge::publishing;
use knowledge::versions::{self, AnswerAct, AnswerVersion};
use knowledge::votes::{self, HelpTally};
use model::installation::audit_log::{self, Action};
use model::messages::answers::{self, AnswerAudience, HelpState, TeamAnswer};

use super::answers::{AnswerInput, change_answer, day_of, last_moment, plain, revise_answer};

/// Languages of one answer.
const LANGUAGES: i64 = 20;

/// What is stored of an answer's public page.
#[derive(Clone, Debug)]
pub struct PageInput {
    audience: AnswerAudience,
    state: HelpState,
    help_body: String,
    section: String,
    slug: String,
    look_at: Option<i64>,
    original: String,
}

/// An answer in one of its languages.
#[derive(Clone, Debug)]
pub struct AnswerLanguage {
    pub id: AnswerId,
    pub language: String,
    /// It is a translation, and what it translates changed since.
    pub is_older: bool,
    pub is_public: bool,
}

/// What the page of an answer shows beside it.
#[derive(Clone, Debug)]
pub struct AnswerBackground {
    pub languages: Vec<AnswerLanguage>,
    /// The newest first.
    pub versions: Vec<AnswerVersion>,
    pub tally: HelpTally,
    /// The sections that there are in its language.
    pub sections: Vec<String>,
    /// The address of its public page, where help pages are open and it has one.
    pub url: Option<String>,
}

/// Checks what an answer's page is to be.
pub(crate) fn check_page(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
    (language, circle): (&str, &Circle),
    own: Option<&TeamAnswer>,
    problems: &mut ValidationErrors,
) -> Result<PageInput> {
    let audience = match (input.audience.trim(), own) {
        ("", own) => own.map_or(AnswerAudience::Helpers, |own| own.audience),
        (word, _) => AnswerAudience::parse(word).unwrap_or_else(|| {
            problems.add("audience", "Choose team, helpers or everybody.");
            AnswerAudience::Team
        }),
    };
    let state = match (input.help_state.trim(), own) {
        ("", own) => own.map_or(HelpState::Draft, |own| own.help_state),
        (word, _) => HelpState::parse(word).unwrap_or_else(|| {
            problems.add("help_state", "Choose draft, review or public.");
            HelpState::Draft
        }),
    };
    let section = plain(&mail::clean_text(&input.section));
    if section.chars().count() > ANSWER_SECTION_CHARS || section.contains('\0') {
        let sentence = format!("A section has at most {ANSWER_SECTION_CHARS} characters.");
        problems.add("section", sentence);
    }
    let help_body = input.help_body.replace("\r\n", "\n");
    if help_body.contains('\0') || help_body.chars().count() > ANSWER_CHARS {
        let most = thousands(ANSWER_CHARS);
        problems.add("help_body", format!("An answer has at most {most} characters."));
    }
    if audience == AnswerAudience::Everybody && state == HelpState::Public {
        check_public(&input.body, &help_body, circle, problems);
    }
    let look_at = last_moment(&input.look_at);
    if look_at.is_none() && !input.look_at.trim().is_empty() {
        problems.add("look_at", "The day is written like 2026-12-31.");
    }
    let original = check_original(tx, cx, input, (language, circle), own, problems)?;
    let slug = input.slug.trim().to_owned();
    Ok(PageInput { audience, state, help_body, section, slug, look_at, original })
}

fn check_public(body: &str, help_body: &str, circle: &Circle, problems: &mut ValidationErrors) {
    if !circle.is_team() {
        let sentence = "An answer for a private inbox is seen by those who see the inbox, and cannot be \
                        public. Choose inboxes of the team, or none.";
        problems.add("audience", sentence);
    }
    match page_body(body, help_body) {
        Ok(_) => {}
        Err(PageTextProblem::Placeholder) => {
            let sentence = "A public page has no placeholders and no gaps. Write for everybody what it \
                            says.";
            problems.add("help_body", sentence);
        }
        Err(PageTextProblem::TooLarge) => {
            problems.add("help_body", "This is too large for one page. Write two.");
        }
        Err(PageTextProblem::Empty) => {
            problems.add(
                "help_body",
                "Nothing is left without the greeting. Write what the page says.",
            );
        }
    }
}

/// The id of what an answer is a translation of, which has no translation in this language yet.
fn check_original(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &AnswerInput,
    (language, circle): (&str, &Circle),
    own: Option<&TeamAnswer>,
    problems: &mut ValidationErrors,
) -> Result<String> {
    let group = match (input.original.trim(), own) {
        ("", Some(own)) => own.original_id().to_owned(),
        ("", None) => return Ok(String::new()),
        (id, _) => {
            let id = AnswerId::parse(id).ok_or(Error::NotFound("answer"))?;
            let original = answers::load(tx, cx.actor, &id)?.ok_or(Error::NotFound("answer"))?;
            if original.circle != *circle {
                let sentence = "A translation is for the inboxes of what it translates.";
                problems.add("inboxes", sentence);
            }
            original.original_id().to_owned()
        }
    };
    let twin = in_group(tx, cx, &group)?
        .into_iter()
        .find(|one| one.language == language && own.is_none_or(|own| own.id != one.id));
    if twin.is_some() {
        problems.add("language", "This answer has a text in that language already.");
    }
    Ok(if own.is_some_and(|own| own.id.as_str() == group) { String::new() } else { group })
}

/// An answer and its translations, as far as the actor sees them, the original first.
fn in_group(tx: &mut Tx<'_>, cx: &Cx<'_>, group: &str) -> Result<Vec<TeamAnswer>> {
    let (first, second) = cx.actor.circles.pair();
    let mut found: Vec<TeamAnswer> = tx.all(
        &format!(
            "SELECT {} FROM answers a
             WHERE a.ws = ?1 AND a.original = ?2 AND a.circle IN ('team', ?3, ?4)
             ORDER BY a.language, a.id LIMIT ?5",
            TeamAnswer::COLUMNS
        ),
        &[&cx.actor.ws, &group, first, second, &LANGUAGES],
    )?;
    if let Some(id) = AnswerId::parse(group)
        && let Some(original) = answers::load(tx, cx.actor, &id)?
    {
        found.insert(0, original);
    }
    Ok(found)
}

/// True for a translation that is older than what it translates.
fn is_older(answer: &TeamAnswer, original: Option<&TeamAnswer>) -> bool {
    let newest = answer.text_at.max(answer.checked_at);
    original.is_some_and(|original| original.id != answer.id && original.text_at > newest)
}

/// Stores what concerns the page of an answer whose text is stored, and makes the public pages say it.
pub(crate) fn save_page(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AnswerId,
    page: &PageInput,
    before: Option<&TeamAnswer>,
) -> Result<()> {
    let mut answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let says_the_same = before.is_some_and(|before| {
        before.title == answer.title
            && before.body == answer.body
            && before.help_body == page.help_body
    });
    answer.audience = page.audience;
    answer.help_state = page.state;
    answer.help_body.clone_from(&page.help_body);
    answer.section.clone_from(&page.section);
    answer.look_at = page.look_at;
    answer.original.clone_from(&page.original);
    if !says_the_same {
        answer.text_at = cx.now;
    }
    if answer.is_public() {
        // Whoever makes it public has read it.
        answer.checked_at = cx.now;
        answer.checked_by = cx.actor.name().to_owned();
        answer.slug = publishing::choose_slug(tx, cx.actor.ws, &answer, &page.slug)?;
    }
    tx.exec(
        "UPDATE answers
         SET audience = ?3, help_state = ?4, help_body = ?5, section = ?6, slug = ?7, look_at = ?8,
             original = ?9, text_at = ?10, checked_at = ?11, checked_by = ?12
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            id,
            &answer.audience,
            &answer.help_state,
            &answer.help_body,
            &answer.section,
            &answer.slug,
            &answer.look_at,
            &answer.original,
            &answer.text_at,
            &answer.checked_at,
            &answer.checked_by,
        ],
    )?;
    let was_public = before.is_some_and(TeamAnswer::is_public);
    let act = match (before, was_public, answer.is_public()) {
        (None, _, _) => AnswerAct::Begun,
        (Some(_), false, true) => AnswerAct::Published,
        (Some(_), true, false) => AnswerAct::Unpublished,
        (Some(_), _, _) => AnswerAct::Changed,
    };
    write_down(tx, cx, &answer, act, was_public)
}

/// Writes down something that was done to an answer, and makes the public pages say what it is now.
pub(crate) fn record_act(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AnswerId,
    act: AnswerAct,
) -> Result<()> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let page: Option<(i64,)> = tx.opt(
        "SELECT published_at FROM help_pages WHERE ws = ?1 AND answer = ?2",
        &[&cx.actor.ws, id],
    )?;
    write_down(tx, cx, &answer, act, page.is_some())
}

fn write_down(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    answer: &TeamAnswer,
    act: AnswerAct,
    was_public: bool,
) -> Result<()> {
    versions::record(tx, cx, answer, act)?;
    let group = in_group(tx, cx, answer.original_id())?;
    let original = group.first();
    publishing::refresh(tx, cx, answer, is_older(answer, original))?;
    if original.is_some_and(|original| original.id == answer.id) {
        for translation in group.iter().skip(1) {
            publishing::refresh(tx, cx, translation, is_older(translation, original))?;
        }
    }
    let action = match (was_public, answer.is_public()) {
        (false, true) => Action::AnswerPublished,
        (true, false) => Action::AnswerUnpublished,
        _ => return Ok(()),
    };
    audit_log::record(tx, cx, &answer.circle, action, &answer.title, &answer.language)
}

/// Somebody read the answer, and it holds: a translation is not older any more, and the day to look at it again
/// is over.
pub fn check_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<()> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    versions::record_earlier(tx, cx, &answer)?;
    let look_at = answer.look_at.filter(|at| *at > cx.now);
    tx.exec(
        "UPDATE answers SET checked_at = ?3, checked_by = ?4, look_at = ?5 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &cx.now, &cx.actor.name(), &look_at],
    )?;
    record_act(tx, cx, id, AnswerAct::Checked)
}

/// Makes an answer say what it said in an earlier version; who sees it stays as it is, and whether it is in use.
pub fn restore_version(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId, number: i64) -> Result<()> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let version = versions::one(tx, cx.actor.ws, id, number)?;
    let input = AnswerInput {
        title: version.title,
        body: version.body,
        help_body: version.help_body,
        section: version.section,
        ..input_of(&answer)
    };
    revise_answer(tx, cx, &answer, &input)
}

/// Changes who sees an answer and how far its public page is, and nothing else.
pub fn set_audience(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AnswerId,
    (audience, state): (AnswerAudience, HelpState),
) -> Result<()> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let input = AnswerInput {
        audience: audience.as_str().to_owned(),
        help_state: state.as_str().to_owned(),
        ..input_of(&answer)
    };
    change_answer(tx, cx, id, &input)
}

/// Puts an answer into a section of the help pages.
pub fn set_section(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId, section: &str) -> Result<()> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let input = AnswerInput { section: section.to_owned(), ..input_of(&answer) };
    revise_answer(tx, cx, &answer, &input)
}

/// An answer as its form has it.
pub fn input_of(answer: &TeamAnswer) -> AnswerInput {
    AnswerInput {
        title: answer.title.clone(),
        body: answer.body.clone(),
        language: answer.language.clone(),
        inboxes: answer.inboxes.iter().map(ToString::to_string).collect(),
        valid_until: day_of(answer.valid_until),
        audience: answer.audience.as_str().to_owned(),
        help_state: answer.help_state.as_str().to_owned(),
        help_body: answer.help_body.clone(),
        section: answer.section.clone(),
        slug: answer.slug.clone(),
        look_at: day_of(answer.look_at),
        original: answer.original.clone(),
    }
}

/// What the page of an answer shows beside it.
pub fn answer_background(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> Result<AnswerBackground> {
    let answer = answers::load(tx, cx.actor, id)?.ok_or(Error::NotFound("answer"))?;
    let group = in_group(tx, cx, answer.original_id())?;
    let original = group.first();
    let language = |one: &TeamAnswer| AnswerLanguage {
        id: one.id.clone(),
        language: one.language.clone(),
        is_older: is_older(one, original),
        is_public: one.is_public(),
    };
    let urls = knowledge::help_pages::public_urls(
        tx,
        cx.actor.ws,
        (cx.public_url, cx.now),
        std::slice::from_ref(id),
    )?;
    Ok(AnswerBackground {
        languages: group.iter().map(language).collect(),
        versions: versions::all(tx, cx.actor.ws, id)?,
        tally: votes::tally(tx, cx.actor.ws, id)?,
        sections: sections(tx, cx)?,
        url: urls.into_iter().next().map(|(_, url)| url),
    })
}

/// The names of sections that answers of the team are in, in the order of their letters.
pub fn sections(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<String>> {
    let mut names: Vec<String> = super::answers::list_answers(tx, cx)?
        .into_iter()
        .filter(|listing| listing.answer.circle.is_team() && !listing.answer.section.is_empty())
        .map(|listing| listing.answer.section)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}
