//! Runs of test cases, and what came of each case. The newest runs are kept.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{EVAL_CASES, EVAL_RUN_MS, EVAL_RUNS};
use base::time::Moment;
use db::{Json, Tx};
use serde::Serialize;

use crate::grading::EvalVerdict;
use crate::outcome::EvalOutcome;

db::row! {
    /// A run against an agent.
    #[derive(Clone, Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct EvalRun from "r" {
        pub number: i64,
        pub agent: String,
        pub begun_at: Moment,
        pub ended_at: Option<Moment>,
        pub cases: i64 = "(SELECT CAST(count(*) AS BIGINT) FROM eval_results x
             WHERE x.ws = r.ws AND x.run = r.number)",
        pub passed: i64 = "(SELECT CAST(count(*) AS BIGINT) FROM eval_results x
             WHERE x.ws = r.ws AND x.run = r.number AND x.passed = TRUE)",
    }
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalResult {
    pub name: String,
    pub passed: bool,
    /// The agent did nothing in time, though something was to be done.
    pub idle: bool,
    pub took_ms: i64,
    pub verdicts: Vec<EvalVerdict>,
    pub outcome: EvalOutcome,
}

impl EvalResult {
    /// A line for each thing that is not as it should be.
    pub fn problems(&self) -> Vec<String> {
        let idle = self.idle.then(|| "The agent did nothing in time.".to_owned());
        let failed = self.verdicts.iter().filter(|verdict| !verdict.passed);
        let failed = failed.map(|verdict| format!("{}; seen: {}", verdict.expected, verdict.seen));
        idle.into_iter().chain(failed).collect()
    }
}

db::row! {
    struct ResultRow from "r" {
        name: String,
        passed: bool,
        idle: bool,
        took_ms: i64,
        verdicts: Json<Vec<EvalVerdict>>,
        outcome: Json<EvalOutcome>,
    }
}

/// Begins a run; returns its number. The oldest of too many runs goes.
pub fn begin_run(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &str) -> Result<i64> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let (last,): (i64,) = tx.one(
        "SELECT CAST(coalesce(max(number), 0) AS BIGINT) FROM eval_runs WHERE ws = ?1",
        &[&ws],
    )?;
    let (number, oldest) = (last + 1, last + 2 - EVAL_RUNS);
    tx.exec("DELETE FROM eval_results WHERE ws = ?1 AND run < ?2", &[&ws, &oldest])?;
    tx.exec("DELETE FROM eval_runs WHERE ws = ?1 AND number < ?2", &[&ws, &oldest])?;
    tx.exec(
        "INSERT INTO eval_runs (ws, number, agent, begun_at) VALUES (?1, ?2, ?3, ?4)",
        &[&ws, &number, &agent, &cx.now],
    )?;
    Ok(number)
}

/// Keeps what came of a case, which has this place in the run.
pub fn keep_result(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    run: i64,
    place: i64,
    result: &EvalResult,
) -> Result<()> {
    cx.actor.must_administer()?;
    tx.exec(
        "INSERT INTO eval_results (
             ws, run, place, name, passed, idle, took_ms, verdicts, outcome
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &cx.actor.ws,
            &run,
            &place,
            &result.name,
            &result.passed,
            &result.idle,
            &result.took_ms,
            &serde_json::to_string(&result.verdicts)?,
            &serde_json::to_string(&result.outcome)?,
        ],
    )?;
    Ok(())
}

pub fn end_run(tx: &mut Tx<'_>, cx: &Cx<'_>, run: i64) -> Result<()> {
    cx.actor.must_administer()?;
    tx.exec(
        "UPDATE eval_runs SET ended_at = ?3 WHERE ws = ?1 AND number = ?2",
        &[&cx.actor.ws, &run, &cx.now],
    )?;
    Ok(())
}

/// The runs that are kept, the newest first.
pub fn list_runs(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<EvalRun>> {
    cx.actor.must_administer()?;
    Ok(tx.all(
        &format!(
            "SELECT {} FROM eval_runs r WHERE r.ws = ?1 ORDER BY r.number DESC LIMIT ?2",
            EvalRun::COLUMNS
        ),
        &[&cx.actor.ws, &EVAL_RUNS],
    )?)
}

/// The results of a run in the order in which its cases were played.
pub fn load_results(tx: &mut Tx<'_>, cx: &Cx<'_>, run: i64) -> Result<Vec<EvalResult>> {
    cx.actor.must_administer()?;
    let known: Option<(i64,)> = tx
        .opt("SELECT number FROM eval_runs WHERE ws = ?1 AND number = ?2", &[&cx.actor.ws, &run])?;
    known.ok_or(Error::NotFound("run"))?;
    let rows: Vec<ResultRow> = tx.all(
        &format!(
            "SELECT {} FROM eval_results r WHERE r.ws = ?1 AND r.run = ?2 ORDER BY r.place LIMIT ?3",
            ResultRow::COLUMNS
        ),
        &[&cx.actor.ws, &run, &EVAL_CASES],
    )?;
    Ok(rows.into_iter().map(EvalResult::from).collect())
}

/// What came of a case in the runs that are kept, the newest first, each with its number.
pub fn last_results(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    most: i64,
) -> Result<Vec<(i64, EvalResult)>> {
    cx.actor.must_administer()?;
    let runs: Vec<(i64,)> = tx.all(
        "SELECT run FROM eval_results WHERE ws = ?1 AND name = ?2 ORDER BY run DESC LIMIT ?3",
        &[&cx.actor.ws, &name, &most],
    )?;
    let mut results = Vec::new();
    for (run,) in runs {
        let row: ResultRow = tx.one(
            &format!(
                "SELECT {} FROM eval_results r WHERE r.ws = ?1 AND r.name = ?2 AND r.run = ?3
                 ORDER BY r.place LIMIT 1",
                ResultRow::COLUMNS
            ),
            &[&cx.actor.ws, &name, &run],
        )?;
        results.push((run, EvalResult::from(row)));
    }
    Ok(results)
}

/// Refuses another run while one is under way. One that was interrupted does not count for long.
pub(crate) fn must_be_idle(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let since = cx.now - EVAL_RUN_MS;
    let under_way: Option<(i64,)> = tx.opt(
        "SELECT number FROM eval_runs WHERE ws = ?1 AND ended_at IS NULL AND begun_at > ?2 LIMIT 1",
        &[&cx.actor.ws, &since],
    )?;
    match under_way {
        Some((number,)) => {
            Err(Error::Conflict(format!("Run {number} is under way. Wait until it has ended.")))
        }
        None => Ok(()),
    }
}

impl From<ResultRow> for EvalResult {
    fn from(row: ResultRow) -> EvalResult {
        EvalResult {
            name: row.name,
            passed: row.passed,
            idle: row.idle,
            took_ms: row.took_ms,
            verdicts: row.verdicts.0,
            outcome: row.outcome.0,
        }
    }
}
