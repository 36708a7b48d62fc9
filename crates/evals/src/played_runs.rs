//! A run from its beginning to its end: the cases one after the other, each kept as it ends.

use base::actor::Actor;
use base::app::{App, Cx};
use base::error::{Error, Result};
use db::Tx;

use crate::case::EvalCase;
use crate::play::{EvalPace, EvalPlayer, play_case};
use crate::runs::{EvalResult, begin_run, end_run, keep_result, must_be_idle};
use crate::stored_cases::list_cases;

/// What is to be run, by whom and for whom.
pub struct EvalRunPlan {
    pub operator: Actor,
    pub player: EvalPlayer,
    pub cases: Vec<EvalCase>,
}

/// A run that somebody wants in the app: of one case or of all, against the agent of a test key or without
/// one. One at a time.
pub fn plan_run(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: Option<&str>,
    case: Option<&str>,
) -> Result<EvalRunPlan> {
    must_be_idle(tx, cx)?;
    let player = match agent {
        Some(agent) => EvalPlayer::find(tx, cx, agent)?,
        None => EvalPlayer::script()?,
    };
    let mut cases = list_cases(tx, cx)?;
    if let Some(name) = case {
        cases.retain(|case| case.name == name);
    }
    if cases.is_empty() {
        return Err(Error::NotFound("test case"));
    }
    Ok(EvalRunPlan { operator: cx.actor.clone(), player, cases })
}

/// Plays the cases; answers the number of the run and what came of each.
pub async fn play_run(
    app: &App,
    plan: &EvalRunPlan,
    pace: EvalPace,
) -> Result<(i64, Vec<EvalResult>)> {
    let name = plan.player.name.clone();
    let begun = app.act(&plan.operator, move |tx, cx| begin_run(tx, cx, &name));
    let number = begun.await?;
    let mut results = Vec::new();
    for (case, place) in plan.cases.iter().zip(1_i64..) {
        let result = play_case(app, &plan.operator, &plan.player, case, pace).await?;
        let own = result.clone();
        let keep = app.act(&plan.operator, move |tx, cx| keep_result(tx, cx, number, place, &own));
        keep.await?;
        results.push(result);
    }
    app.act(&plan.operator, move |tx, cx| end_run(tx, cx, number)).await?;
    Ok((number, results))
}

/// Plays it beside everything else: an agent may take minutes.
pub fn start_run(app: &App, plan: EvalRunPlan, pace: EvalPace) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(error) = play_run(&app, &plan, pace).await {
            tracing::warn!(%error, "a run of test cases ended early");
        }
    });
}
