//! Test cases for agents: what became of them in two runs, and running them.

use std::sync::Arc;

use actions::integrations::keys;
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::error::Error;
use db::Tx;
use evals::{EvalDifference, EvalPace, EvalResult, EvalRun, EvalRunPlan, EvalWay, compare_results};
use translation::t;
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

pub const PAGE: &str = "/settings/evals";
/// Runs that the page has; the command line lists all that are kept.
const RUNS_SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "settings_evals.html", whitespace = "minimize")]
struct TestCasesPage {
    frame: PageLayout,
    cases: Vec<CaseRow>,
    runs: Vec<RunView>,
    /// The later and the earlier of the two runs that are compared.
    new: Option<RunView>,
    old: Option<RunView>,
    worse: usize,
    agents: Vec<(String, String)>,
}

/// A case, and what came of it in two runs.
struct CaseRow {
    name: String,
    about: String,
    before: Option<bool>,
    after: Option<bool>,
    /// What differs, or else what is wrong.
    says: Vec<String>,
}

#[derive(Clone)]
struct RunView {
    number: i64,
    agent: String,
    begun: DisplayTime,
    is_under_way: bool,
    /// It is the earlier or the later one of the two that are compared.
    is_old: bool,
    is_new: bool,
    passed: i64,
    cases: i64,
}

form! {
    #[derive(Clone, Default)]
    pub struct RunForm {
        /// The agent of a test key; without one each case plays its own steps.
        agent: String,
        /// One case alone, or all.
        case: String,
    }
}

/// Everything that the page says.
struct LoadedCases {
    runs: Vec<EvalRun>,
    new: Option<i64>,
    old: Option<i64>,
    cases: Vec<(String, String)>,
    compared: Vec<EvalDifference>,
    results: Vec<EvalResult>,
    agents: Vec<(String, String)>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let (frame, loaded) = web
        .page(&visitor, location(SettingsPage::TestCases), move |tx, cx, _| load(tx, cx, &asked))
        .await?;
    let view = |number: Option<i64>| {
        let run = loaded.runs.iter().find(|run| Some(run.number) == number);
        run.map(|run| run_view(run, &loaded, &frame))
    };
    let (new, old) = (view(loaded.new), view(loaded.old));
    let worse = loaded.compared.iter().filter(|one| one.is_worse()).count();
    let runs = loaded.runs.iter().take(RUNS_SHOWN);
    let runs = runs.map(|run| run_view(run, &loaded, &frame)).collect();
    let (cases, agents) = (case_rows(&loaded), loaded.agents);
    web.show(&visitor, &TestCasesPage { frame, cases, runs, new, old, worse, agents })
}

fn load(tx: &mut Tx<'_>, cx: &Cx<'_>, asked: &FormFields) -> base::error::Result<LoadedCases> {
    let runs = evals::list_runs(tx, cx)?;
    let chosen = |name: &str| -> Option<i64> {
        let number = asked.get(name).parse().ok();
        number.filter(|number| runs.iter().any(|run| run.number == *number))
    };
    let new = chosen("new").or(runs.first().map(|run| run.number));
    let earlier = runs.iter().find(|run| Some(run.number) < new);
    let old = chosen("old").or(earlier.map(|run| run.number));
    let mut results_of = |run: Option<i64>| match run {
        Some(run) => evals::load_results(tx, cx, run),
        None => Ok(Vec::new()),
    };
    let (before, results) = (results_of(old)?, results_of(new)?);
    let cases = evals::list_cases(tx, cx)?;
    Ok(LoadedCases {
        compared: compare_results(&before, &results),
        cases: cases.into_iter().map(|case| (case.name, case.about)).collect(),
        agents: agents(tx, cx)?,
        runs,
        new,
        old,
        results,
    })
}

/// The agents of test keys, by id and name.
pub fn agents(tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<Vec<(String, String)>> {
    let keys = keys::list_keys(tx, cx)?.into_iter();
    let tests = keys.filter(|key| !key.livemode && key.revoked_at.is_none());
    Ok(tests.map(|key| (key.id.to_string(), key.name)).collect())
}

/// The worse ones first, then those that differ.
fn case_rows(loaded: &LoadedCases) -> Vec<CaseRow> {
    let place = |name: &str| loaded.compared.iter().position(|one| one.name == name);
    let mut rows: Vec<(usize, CaseRow)> = Vec::new();
    for (name, about) in &loaded.cases {
        let place = place(name);
        let compared = place.map(|place| &loaded.compared[place]);
        let result = loaded.results.iter().find(|result| result.name == *name);
        let differs = compared.filter(|_| loaded.old.is_some()).map(|one| one.differs.clone());
        let says = match differs {
            Some(differs) if !differs.is_empty() => differs,
            _ => result.map(EvalResult::problems).unwrap_or_default(),
        };
        let row = CaseRow {
            name: name.clone(),
            about: about.clone(),
            before: compared.and_then(|one| one.before),
            after: compared.and_then(|one| one.after),
            says,
        };
        rows.push((place.unwrap_or(usize::MAX), row));
    }
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn run_view(run: &EvalRun, loaded: &LoadedCases, frame: &PageLayout) -> RunView {
    RunView {
        is_old: Some(run.number) == loaded.old,
        is_new: Some(run.number) == loaded.new,
        number: run.number,
        begun: frame.times.stamp(run.begun_at.0),
        agent: run.agent.clone(),
        is_under_way: run.ended_at.is_none(),
        passed: run.passed,
        cases: run.cases,
    }
}

/// Runs one case or all: at once where each plays its own steps, and beside everything else where an agent is
/// waited for.
pub async fn run(State(web): State<Arc<Web>>, posted: PostedForm<RunForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let back = match form.case.as_str() {
        "" => PAGE.to_owned(),
        name => format!("{PAGE}/{name}"),
    };
    let plan: EvalRunPlan = web
        .act(&visitor, move |tx, cx, _| {
            let chosen = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
            let (agent, case) = (chosen(&form.agent), chosen(&form.case));
            evals::plan_run(tx, cx, agent.as_deref(), case.as_deref()).map_err(as_problem)
        })
        .await?;
    if matches!(plan.player.way, EvalWay::Script) {
        evals::play_run(&web.app, &plan, EvalPace::USUAL).await?;
        return web.redirect(&back, Flash::CasesRun);
    }
    evals::start_run(&web.app, plan, EvalPace::USUAL);
    web.redirect(&back, Flash::CasesRunning)
}

/// What stands in the way is for the person to read, like what is wrong with a form.
pub fn as_problem(error: Error) -> Error {
    match error {
        Error::Conflict(sentence) => Error::invalid("case", sentence),
        other => other,
    }
}

impl TestCasesPage {
    fn summary(&self) -> String {
        let Some(new) = &self.new else { return String::new() };
        t!("{passed} of {cases} passed")
            .replace("{passed}", &new.passed.to_string())
            .replace("{cases}", &new.cases.to_string())
    }
}
