//! Teams: named sets of people that an inbox can be given to.

use base::error::Result;
use base::ids::{TeamId, UserId};
use base::limits::TEAMS;
use db::Tx;

db::row! {
    #[derive(Clone, Debug)]
    pub struct TeamName from "teams" {
        pub id: TeamId,
        pub name: String,
    }
}

/// The teams of a workspace by name.
pub fn all(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<TeamName>> {
    Ok(tx.all(
        &format!("SELECT {} FROM teams WHERE ws = ?1 ORDER BY folded LIMIT ?2", TeamName::COLUMNS),
        &[&ws, &TEAMS],
    )?)
}

/// The people of a team, by name.
pub fn people(tx: &mut Tx<'_>, ws: i64, team: &TeamId) -> Result<Vec<(UserId, String)>> {
    Ok(tx.all(
        "SELECT u.id, u.name FROM team_members t JOIN users u ON u.ws = t.ws AND u.id = t.person
         WHERE t.ws = ?1 AND t.team = ?2 ORDER BY u.name, u.id",
        &[&ws, team],
    )?)
}
