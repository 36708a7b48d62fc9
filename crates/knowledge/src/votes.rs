//! Whether a help page answered its readers' questions: one voice of a network a day.

use base::app::Cx;
use base::error::Result;
use base::ids::AnswerId;
use base::limits::{DAY_MS, HELP_VOTES_A_DAY};
use db::Tx;
use model::guests::guest_tokens::keyed_digest;

/// How many said yes and no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HelpTally {
    pub yes: i64,
    pub no: i64,
}

/// Counts what a reader said. False where their network was counted today, or where too many were.
pub fn count_vote(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    answer: &AnswerId,
    helped: bool,
    network: &str,
) -> Result<bool> {
    let (ws, day) = (cx.actor.ws, cx.now.div_euclid(DAY_MS));
    tx.exec("DELETE FROM help_votes WHERE ws = ?1 AND day < ?2", &[&ws, &day])?;
    let (votes,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT day FROM help_votes WHERE ws = ?1 AND day = ?2 LIMIT ?3
         ) AS counted",
        &[&ws, &day, &HELP_VOTES_A_DAY],
    )?;
    if votes >= HELP_VOTES_A_DAY {
        return Ok(false);
    }
    // A digest with the day in it says nothing about who read what on another day.
    let network = keyed_digest(tx, cx, &format!("help page {day} {network}"))?;
    let added = tx.exec(
        "INSERT INTO help_votes (ws, day, answer, network) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, day, answer, network) DO NOTHING",
        &[&ws, &day, answer, &network.as_slice()],
    )?;
    if added == 0 {
        return Ok(false);
    }
    let (yes, no) = (i64::from(helped), i64::from(!helped));
    tx.exec(
        "INSERT INTO help_tallies (ws, answer, yes, no) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, answer) DO UPDATE
         SET yes = help_tallies.yes + excluded.yes, no = help_tallies.no + excluded.no",
        &[&ws, answer, &yes, &no],
    )?;
    Ok(true)
}

/// What readers said of an answer.
pub fn tally(tx: &mut Tx<'_>, ws: i64, answer: &AnswerId) -> Result<HelpTally> {
    let found: Option<(i64, i64)> =
        tx.opt("SELECT yes, no FROM help_tallies WHERE ws = ?1 AND answer = ?2", &[&ws, answer])?;
    Ok(found.map(|(yes, no)| HelpTally { yes, no }).unwrap_or_default())
}
