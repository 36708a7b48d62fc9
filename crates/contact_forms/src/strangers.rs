//! How many posts of addresses that nobody has proven come in without a mark. Each form has room for a few that
//! the team has not looked at yet, and for one more for each that the team answered: a flood of posts fills the
//! room at once, however slowly it comes and however much its texts differ, and honest ones make room.

use base::error::Result;
use base::ids::ContactFormId;
use base::limits::{FORM_STRANGERS, FORM_STRANGERS_MS, FORM_STRANGERS_READ};
use db::Tx;

/// True while another post of an unproven address may come in without a mark.
pub fn have_room(tx: &mut Tx<'_>, ws: i64, form: &ContactFormId, now: i64) -> Result<bool> {
    // What is removed counts on: it was unwanted.
    let (all, waiting): (i64, i64) = tx.one(
        "SELECT CAST(count(*) AS BIGINT), CAST(coalesce(sum(
             CASE WHEN c.removed IS NOT NULL OR c.status = 'open' THEN 1 ELSE 0 END
         ), 0) AS BIGINT)
         FROM (
             SELECT ws, conversation FROM form_posts
             WHERE ws = ?1 AND form_id = ?2 AND unmarked = TRUE AND at > ?3
             ORDER BY at DESC LIMIT ?4
         ) p JOIN conversations c ON c.ws = p.ws AND c.id = p.conversation",
        &[&ws, form, &(now - FORM_STRANGERS_MS), &FORM_STRANGERS_READ],
    )?;
    Ok(has_room(waiting, all - waiting))
}

fn has_room(waiting: i64, answered: i64) -> bool {
    waiting < FORM_STRANGERS + answered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_team_answers_makes_room() {
        assert!(has_room(FORM_STRANGERS - 1, 0));
        assert!(!has_room(FORM_STRANGERS, 0));
        assert!(has_room(FORM_STRANGERS, 1));
        assert!(!has_room(40, 30) && has_room(30, 40));
    }
}
