//! Rules of the team: the list in its order, making and changing one, and trying it first.

mod rule_form;
mod words;

use std::sync::Arc;

use actions::sign_in::sessions;
use actions::workspace::rules::{RuleInput, TriedConversation};
use askama::Template;
use axum::extract::{Path, State};
use base::error::{Error, ValidationErrors};
use base::ids::RuleId;
use rules::{RuleNames, TeamRule};
use translation::{t, text_in_context};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use super::{SettingsPage, location};
use crate::inboxes::hours::{HoursRow, hours_rows};
use rule_form::{ERROR_FIELDS, RowChange, RuleForm, RuleFormView};

const PAGE: &str = "/settings/rules";
/// Conversations of a trial that the page lists.
const TRIALS_LISTED: usize = 30;

#[derive(Template)]
#[template(path = "settings_rules.html", whitespace = "minimize")]
struct RulesPage {
    frame: PageLayout,
    rules: Vec<RuleRow>,
    hours: Vec<HoursRow>,
    /// The rule in the form; empty for a new one.
    editing: String,
    form: RuleFormView,
    offered: Vec<String>,
    trial: Option<TrialView>,
}

struct RuleRow {
    id: String,
    number: usize,
    name: String,
    sentence: String,
    enabled: bool,
    current: bool,
    first: bool,
    last: bool,
    runs: String,
}

struct TrialView {
    acted: usize,
    matched: usize,
    tried: usize,
    rows: Vec<TrialRow>,
}

struct TrialRow {
    href: String,
    subject: String,
    contact: String,
    when: DisplayTime,
    /// True where all conditions hold, though it may be so already.
    fits: bool,
    did: String,
}

impl RulesPage {
    fn action(&self) -> String {
        match self.editing.as_str() {
            "" => PAGE.into(),
            id => format!("{PAGE}/{id}"),
        }
    }

    fn heading(&self) -> &str {
        if self.editing.is_empty() { t!("New rule") } else { &self.form.name }
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let page = build(&web, &visitor, None, None, false).await?;
    web.show(&visitor, &page)
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let id = RuleId::parse(&id).ok_or(Error::NotFound("rule"))?;
    let page = build(&web, &visitor, Some(id), None, asked.has("try")).await?;
    web.show(&visitor, &page)
}

/// The page; `typed` is a form that was refused, or whose rows were changed.
async fn build(
    web: &Web,
    visitor: &Visitor,
    editing: Option<RuleId>,
    typed: Option<RuleFormView>,
    try_it: bool,
) -> Result<RulesPage, PageError> {
    let wanted = editing.clone();
    let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>, _: &sessions::SignedIn| {
        let (rules, names) = actions::workspace::rules::list_rules_named(tx, cx)?;
        let tried = match &wanted {
            Some(id) if try_it => Some(actions::workspace::rules::try_rule(tx, cx, id)?),
            _ => None,
        };
        Ok((rules, names, tried, hours_rows(tx, cx)?))
    };
    let (frame, (rules, names, tried, hours)) =
        web.page(visitor, location(SettingsPage::Rules), read).await?;
    let found = editing.as_ref().map(|id| {
        rules.iter().find(|rule| rule.id == *id).ok_or(PageError::Domain(Error::NotFound("rule")))
    });
    let found = found.transpose()?;
    let form = match (typed, found) {
        (Some(typed), _) => typed,
        (None, Some(rule)) => RuleFormView::of_rule(rule, &names),
        (None, None) => RuleFormView::of_input(RuleInput::default()),
    };
    let trial = tried.map(|tried| trial(&frame, tried, &names));
    let count = rules.len();
    let row = |(place, rule): (usize, &TeamRule)| RuleRow {
        id: rule.id.to_string(),
        number: place + 1,
        name: rule.name.clone(),
        sentence: words::rule(&names, rule),
        enabled: rule.enabled,
        current: editing.as_ref() == Some(&rule.id),
        first: place == 0,
        last: place + 1 == count,
        runs: match rule.runs {
            1 => t!("once").into(),
            n => t!("{n} times", n),
        },
    };
    Ok(RulesPage {
        rules: rules.iter().enumerate().map(row).collect(),
        hours,
        offered: words::choices(&names),
        trial,
        form,
        editing: editing.map(|id| id.to_string()).unwrap_or_default(),
        frame,
    })
}

fn trial(frame: &PageLayout, tried: Vec<TriedConversation>, names: &RuleNames) -> TrialView {
    let acted = tried.iter().filter(|one| !one.acts.is_empty()).count();
    let matched = tried.iter().filter(|one| one.failing.is_none()).count();
    let row = |one: &TriedConversation| TrialRow {
        href: format!("/conversations/{}", one.id),
        subject: one.subject.clone(),
        contact: one.contact.clone(),
        when: frame.times.short(one.at),
        fits: one.failing.is_none(),
        did: match one.failing {
            None if one.acts.is_empty() => {
                t!("matches, nothing to change (now with {assignee})", assignee = assignee(one))
            }
            None => t!(
                "{acts} (now with {assignee})",
                acts = words::acts(names, &one.acts),
                assignee = assignee(one)
            ),
            Some(place) => t!("left alone by condition {number}", number = place + 1),
        },
    };
    let mut listed: Vec<&TriedConversation> = tried.iter().collect();
    listed.sort_by_key(|one| (one.acts.is_empty(), one.failing.is_some()));
    let rows = listed.into_iter().take(TRIALS_LISTED).map(row).collect();
    TrialView { acted, matched, tried: tried.len(), rows }
}

fn assignee(tried: &TriedConversation) -> &str {
    match tried.assignee.as_str() {
        "nobody" => text_in_context("now with", "nobody"),
        name => name,
    }
}

form! {
    pub struct SwitchForm {
        on: bool,
    }

    pub struct MoveForm {
        up: bool,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<RuleForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let input = form.input();
    if let Some(change) = form.row_change() {
        return with_rows(&web, &visitor, None, input, change).await;
    }
    let own = input.clone();
    let add = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>, _: &sessions::SignedIn| {
        actions::workspace::rules::add_rule(tx, cx, &words::in_english(&own))
    };
    let added = web.act(&visitor, add).await;
    match added.or_problems()? {
        Ok(id) => web.redirect(&format!("{PAGE}/{id}?try=1#edit"), Flash::RuleAdded),
        Err(problems) => refuse(&web, &visitor, None, &input, problems).await,
    }
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<RuleForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = RuleId::parse(&id).ok_or(Error::NotFound("rule"))?;
    let input = form.input();
    if let Some(change) = form.row_change() {
        return with_rows(&web, &visitor, Some(id), input, change).await;
    }
    let (own, rule) = (input.clone(), id.clone());
    let change = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>, _: &sessions::SignedIn| {
        actions::workspace::rules::change_rule(tx, cx, &rule, &words::in_english(&own))
    };
    let changed = web.act(&visitor, change).await;
    match changed.or_problems()? {
        Ok(()) if form.try_it => web.redirect(&format!("{PAGE}/{id}?try=1#trial"), Flash::Saved),
        Ok(()) => web.redirect(&format!("{PAGE}/{id}"), Flash::Saved),
        Err(problems) => refuse(&web, &visitor, Some(id), &input, problems).await,
    }
}

/// The form again, with a row more or less. Nothing is saved.
async fn with_rows(
    web: &Web,
    visitor: &Visitor,
    editing: Option<RuleId>,
    input: RuleInput,
    change: RowChange,
) -> PageResult {
    let form = RuleFormView::of_change(input, change);
    responses::page(&build(web, visitor, editing, Some(form), false).await?)
}

/// The form again, with what is wrong.
async fn refuse(
    web: &Web,
    visitor: &Visitor,
    editing: Option<RuleId>,
    input: &RuleInput,
    problems: ValidationErrors,
) -> PageResult {
    let errors = FieldErrors::of(problems, &ERROR_FIELDS, "");
    let form = RuleFormView { errors, ..RuleFormView::of_input(input.clone()) };
    responses::again(&build(web, visitor, editing, Some(form), false).await?)
}

pub async fn switch(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<SwitchForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = RuleId::parse(&id).ok_or(Error::NotFound("rule"))?;
    web.act(&visitor, move |tx, cx, _| {
        actions::workspace::rules::switch_rule(tx, cx, &id, form.on)
    })
    .await?;
    web.redirect(PAGE, if form.on { Flash::RuleOn } else { Flash::RuleOff })
}

pub async fn shift(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<MoveForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = RuleId::parse(&id).ok_or(Error::NotFound("rule"))?;
    web.act(&visitor, move |tx, cx, _| actions::workspace::rules::move_rule(tx, cx, &id, form.up))
        .await?;
    web.redirect(PAGE, Flash::RuleMoved)
}

pub async fn delete(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = RuleId::parse(&id).ok_or(Error::NotFound("rule"))?;
    web.act(&posted.visitor, move |tx, cx, _| actions::workspace::rules::delete_rule(tx, cx, &id))
        .await?;
    web.redirect(PAGE, Flash::RuleDeleted)
}
