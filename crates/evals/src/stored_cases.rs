//! The test cases of a workspace: saved, listed, removed by owners, admins and the operator.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::EVAL_CASES;
use db::Tx;

use crate::case::EvalCase;

/// Saves a case by its definition; one of the same name is replaced.
pub fn save_definition(tx: &mut Tx<'_>, cx: &Cx<'_>, definition: &str) -> Result<EvalCase> {
    cx.actor.must_administer()?;
    let case = EvalCase::parse(definition)?;
    let ws = cx.actor.ws;
    let (others,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM eval_cases WHERE ws = ?1 AND name <> ?2",
        &[&ws, &case.name],
    )?;
    if others >= EVAL_CASES {
        let sentence = format!("There are {EVAL_CASES} test cases already. Remove one first.");
        return Err(Error::Conflict(sentence));
    }
    tx.exec(
        "INSERT INTO eval_cases (ws, name, definition, changed_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, name)
         DO UPDATE SET definition = excluded.definition, changed_at = excluded.changed_at",
        &[&ws, &case.name, &definition, &cx.now],
    )?;
    Ok(case)
}

pub fn save_case(tx: &mut Tx<'_>, cx: &Cx<'_>, case: &EvalCase) -> Result<EvalCase> {
    save_definition(tx, cx, &case.to_definition()?)
}

/// The cases by name.
pub fn list_cases(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<EvalCase>> {
    cx.actor.must_administer()?;
    let rows: Vec<(String,)> = tx.all(
        "SELECT definition FROM eval_cases WHERE ws = ?1 ORDER BY name LIMIT ?2",
        &[&cx.actor.ws, &EVAL_CASES],
    )?;
    rows.iter().map(|(definition,)| EvalCase::parse(definition)).collect()
}

/// The definition of a case as it was saved.
pub fn find_definition(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<String> {
    cx.actor.must_administer()?;
    let found: Option<(String,)> = tx.opt(
        "SELECT definition FROM eval_cases WHERE ws = ?1 AND name = ?2",
        &[&cx.actor.ws, &name],
    )?;
    found.map(|(definition,)| definition).ok_or(Error::NotFound("test case"))
}

/// Removes a case. The results of its runs stay as long as those runs.
pub fn remove_case(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<()> {
    cx.actor.must_administer()?;
    let removed =
        tx.exec("DELETE FROM eval_cases WHERE ws = ?1 AND name = ?2", &[&cx.actor.ws, &name])?;
    if removed == 0 { Err(Error::NotFound("test case")) } else { Ok(()) }
}
