//! Whom conversations are given to at once, and what a person sees after an act.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::people::members;

use crate::conversations::triage::person;

/// The people that many conversations can be given to at once: the value that [`super::triage::TriageAct::Assign`]
/// takes, and the name.
pub fn list_assignees(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<(String, String)>> {
    let team = members::team(tx, cx.actor.ws, &Circle::team())?;
    Ok(team.people.into_iter().map(|member| (member.id, member.name)).collect())
}

/// Whether a person sees the list after closing, snoozing or passing on, and not the next conversation.
pub fn opens_list(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let chosen: Option<(bool,)> = tx.opt(
        "SELECT opens_list FROM users WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &person(cx)?],
    )?;
    Ok(chosen.is_some_and(|(chosen,)| chosen))
}

pub fn choose_what_opens(tx: &mut Tx<'_>, cx: &Cx<'_>, list: bool) -> Result<()> {
    tx.exec_soon(
        "UPDATE users SET opens_list = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &person(cx)?, &list],
    )?;
    Ok(())
}
