//! One test case for agents: what it asks, what became of it in its last two runs, and writing one, by hand or
//! from a conversation.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, ValidationErrors};
use db::Tx;
use evals::{EvalCase, EvalResult};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use super::test_cases::{PAGE, agents, as_problem};
use crate::{SettingsPage, location};

/// Runs of a case that its page has beside each other.
const RUNS: i64 = 2;

#[derive(Template)]
#[template(path = "settings_eval.html", whitespace = "minimize")]
struct TestCasePage {
    frame: PageLayout,
    case: EvalCase,
    definition: String,
    errors: FieldErrors,
    /// The newest first.
    results: Vec<(i64, EvalResult)>,
    agents: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "settings_eval_new.html", whitespace = "minimize")]
struct NewTestCasePage {
    frame: PageLayout,
    conversation: String,
    name: String,
    definition: String,
    errors: FieldErrors,
}

form! {
    #[derive(Clone, Default)]
    pub struct CaseForm {
        /// The whole case, as TOML.
        case: String,
    }

    #[derive(Clone, Default)]
    pub struct ConversationCaseForm {
        conversation: String,
        name: String,
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, name, None).await?)
}

/// The page of a case, with what was typed instead of what is kept.
async fn build(
    web: &Web,
    visitor: &Visitor,
    name: String,
    typed: Option<String>,
) -> Result<TestCasePage, PageError> {
    let (frame, (definition, results, agents)) = web
        .page(visitor, location(SettingsPage::TestCases), move |tx, cx, _| {
            let definition = evals::find_definition(tx, cx, &name)?;
            Ok((definition, evals::last_results(tx, cx, &name, RUNS)?, agents(tx, cx)?))
        })
        .await?;
    let case = EvalCase::parse(&definition)?;
    let definition = typed.unwrap_or(definition);
    let errors = FieldErrors::default();
    Ok(TestCasePage { frame, case, definition, errors, results, agents })
}

pub async fn new_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let typed =
        ConversationCaseForm { conversation: asked.get("conversation"), name: asked.get("name") };
    web.show(&visitor, &build_new(&web, &visitor, typed, CaseForm::default()).await?)
}

async fn build_new(
    web: &Web,
    visitor: &Visitor,
    of: ConversationCaseForm,
    typed: CaseForm,
) -> Result<NewTestCasePage, PageError> {
    let (frame, ()) =
        web.page(visitor, location(SettingsPage::TestCases), |_, _, _| Ok(())).await?;
    let (conversation, name, definition) = (of.conversation, of.name, typed.case);
    Ok(NewTestCasePage { frame, conversation, name, definition, errors: FieldErrors::default() })
}

fn wrong(problems: ValidationErrors) -> FieldErrors {
    FieldErrors::of(problems, &["case", "name", "conversation"], "case")
}

/// Saves a case that somebody typed; one of its name is replaced.
pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<CaseForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    match save(&web, &visitor, &form).await? {
        Ok(name) => web.redirect(&format!("{PAGE}/{name}"), Flash::CaseSaved),
        Err(problems) => {
            let mut page = build_new(&web, &visitor, ConversationCaseForm::default(), form).await?;
            page.errors = wrong(problems);
            responses::again(&page)
        }
    }
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(name): Path<String>,
    posted: PostedForm<CaseForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    match save(&web, &visitor, &form).await? {
        Ok(name) => web.redirect(&format!("{PAGE}/{name}"), Flash::CaseSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, name, Some(form.case)).await?;
            page.errors = wrong(problems);
            responses::again(&page)
        }
    }
}

async fn save(
    web: &Web,
    visitor: &Visitor,
    form: &CaseForm,
) -> Result<Result<String, ValidationErrors>, PageError> {
    // A browser sends lines with CR LF.
    let definition = form.case.replace("\r\n", "\n");
    let saved = web
        .act(visitor, move |tx, cx, _| {
            evals::save_definition(tx, cx, &definition).map_err(as_problem)
        })
        .await;
    Ok(saved.or_problems()?.map(|case| case.name))
}

/// Saves a conversation of the team or of the sandbox as a case.
pub async fn of_conversation(
    State(web): State<Arc<Web>>,
    posted: PostedForm<ConversationCaseForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let typed = form.clone();
    let saved = web.act(&visitor, move |tx, cx, _| save_conversation(tx, cx, &typed)).await;
    match saved.or_problems()? {
        Ok(case) => web.redirect(&format!("{PAGE}/{}", case.name), Flash::CaseSaved),
        Err(problems) => {
            let mut page = build_new(&web, &visitor, form, CaseForm::default()).await?;
            // What is wrong with a case that was made of a conversation is its name.
            page.errors = FieldErrors::of(problems, &["conversation"], "name");
            responses::again(&page)
        }
    }
}

fn save_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    form: &ConversationCaseForm,
) -> base::error::Result<EvalCase> {
    cx.actor.must_administer()?;
    let id = form.conversation.trim().rsplit('/').next().unwrap_or_default();
    let id = id.split(['?', '#']).next().unwrap_or_default();
    let case = match evals::case_of_conversation(tx, cx, id, form.name.trim()) {
        Err(Error::NotFound(_)) => {
            let actor = Actor::system(cx.actor.ws, cx.actor.workspace.clone(), Circle::sandbox());
            let sandbox = Cx { actor: &actor, ..*cx };
            evals::case_of_conversation(tx, &sandbox, id, form.name.trim())
        }
        found => found,
    };
    let case = case.map_err(|error| match error {
        Error::NotFound(_) => Error::invalid("conversation", "There is no such conversation."),
        other => as_problem(other),
    })?;
    evals::save_case(tx, cx, &case).map_err(as_problem)
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(name): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, _| evals::remove_case(tx, cx, &name)).await?;
    web.redirect(PAGE, Flash::CaseRemoved)
}
