//! Making, changing and removing teams.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{TeamId, UserId};
use base::limits::{TEAM_NAME_CHARS, TEAMS};
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::mailboxes::inbox_access;
use model::people::members;
use model::people::teams::{self, TeamName};
use serde::Serialize;

use crate::inboxes::inbox_access::{is_owner, shut_out};

/// A team with its people.
#[derive(Clone, Debug, Serialize)]
pub struct TeamListing {
    pub id: TeamId,
    pub name: String,
    pub people: Vec<(UserId, String)>,
}

pub fn list_teams(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<TeamListing>> {
    let ws = cx.actor.ws;
    let mut listed = Vec::new();
    for TeamName { id, name } in teams::all(tx, ws)? {
        let people = teams::people(tx, ws, &id)?;
        listed.push(TeamListing { id, name, people });
    }
    Ok(listed)
}

pub fn find_team(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TeamId) -> Result<TeamListing> {
    let found: Option<TeamName> = tx.opt(
        &format!("SELECT {} FROM teams WHERE ws = ?1 AND id = ?2", TeamName::COLUMNS),
        &[&cx.actor.ws, id],
    )?;
    let TeamName { id, name } = found.ok_or(Error::NotFound("team"))?;
    let people = teams::people(tx, cx.actor.ws, &id)?;
    Ok(TeamListing { id, name, people })
}

pub fn make_team(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, people: &[UserId]) -> Result<TeamId> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let name = checked_name(tx, cx, name, None)?;
    if teams::all(tx, ws)?.len() as i64 >= TEAMS {
        return Err(Error::invalid("name", format!("cannot be added: there are at most {TEAMS}")));
    }
    let id = TeamId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO teams (ws, id, name, folded, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[&ws, &id, &name, &name.to_lowercase(), &cx.now],
    )?;
    let detail = set_people(tx, cx, &id, people)?;
    audit_log::record(tx, cx, &Circle::team(), Action::TeamMade, &name, &detail)?;
    Ok(id)
}

/// Gives a team another name and other people. Whoever is no longer in it no longer sees the inboxes
/// that only the team gave them.
pub fn change_team(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &TeamId,
    name: &str,
    people: &[UserId],
) -> Result<()> {
    cx.actor.must_administer()?;
    let known = find_team(tx, cx, id)?;
    must_see_its_inboxes(tx, cx, id)?;
    let name = checked_name(tx, cx, name, Some(id))?;
    tx.exec(
        "UPDATE teams SET name = ?3, folded = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &name, &name.to_lowercase()],
    )?;
    let detail = set_people(tx, cx, id, people)?;
    audit_log::record(tx, cx, &Circle::team(), Action::TeamChanged, &known.name, &detail)?;
    take_back(tx, cx)
}

/// Removes a team. An inbox that was for this team alone is then for nobody until an owner gives it to
/// somebody, so that is refused.
pub fn remove_team(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TeamId) -> Result<()> {
    cx.actor.must_administer()?;
    let known = find_team(tx, cx, id)?;
    must_see_its_inboxes(tx, cx, id)?;
    let ws = cx.actor.ws;
    let last: Option<(String,)> = tx.opt(
        "SELECT x.mailbox FROM mailbox_access x
         WHERE x.ws = ?1 AND x.holder = ?2 AND x.may_see = TRUE AND NOT EXISTS (
             SELECT 1 FROM mailbox_access o
             WHERE o.ws = x.ws AND o.mailbox = x.mailbox AND o.holder <> ?2 AND o.may_see = TRUE
         ) LIMIT 1",
        &[&ws, id],
    )?;
    if last.is_some() {
        let sentence = "is the only one that sees an inbox; give that inbox to somebody else first";
        return Err(Error::invalid("team", sentence));
    }
    for sql in [
        "DELETE FROM mailbox_access WHERE ws = ?1 AND holder = ?2",
        "DELETE FROM team_members WHERE ws = ?1 AND team = ?2",
        "DELETE FROM teams WHERE ws = ?1 AND id = ?2",
    ] {
        tx.exec(sql, &[&ws, id])?;
    }
    audit_log::record(tx, cx, &Circle::team(), Action::TeamRemoved, &known.name, "")?;
    take_back(tx, cx)
}

/// Whoever changes a team changes who sees its inboxes: only owners do so from outside.
fn must_see_its_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>, team: &TeamId) -> Result<()> {
    if is_owner(cx) {
        return Ok(());
    }
    let given: Vec<(Circle,)> = tx.all(
        "SELECT m.circle FROM mailbox_access x
         JOIN mailboxes m ON m.ws = x.ws AND m.id = x.mailbox
         WHERE x.ws = ?1 AND x.holder = ?2 AND x.may_see = TRUE",
        &[&cx.actor.ws, team],
    )?;
    match given.iter().all(|(circle,)| cx.actor.sees(circle)) {
        true => Ok(()),
        false => Err(Error::Forbidden(
            "This team sees an inbox that you do not see. Ask an owner.".into(),
        )),
    }
}

/// Inboxes go back from those who no longer see them.
fn take_back(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for circle in inbox_access::restricted_circles(tx, cx.actor.ws)? {
        shut_out(tx, cx, &circle)?;
    }
    Ok(())
}

/// Returns the names, as the audit log has them.
fn set_people(tx: &mut Tx<'_>, cx: &Cx<'_>, team: &TeamId, people: &[UserId]) -> Result<String> {
    let ws = cx.actor.ws;
    let known = members::people(tx, ws)?;
    tx.exec("DELETE FROM team_members WHERE ws = ?1 AND team = ?2", &[&ws, team])?;
    let mut names = Vec::new();
    for id in people {
        let person =
            known.iter().find(|person| person.id == *id).ok_or(Error::NotFound("person"))?;
        let added = tx.exec(
            "INSERT INTO team_members (ws, team, person) VALUES (?1, ?2, ?3)
             ON CONFLICT (ws, team, person) DO NOTHING",
            &[&ws, team, id],
        )?;
        if added > 0 {
            names.push(person.name.as_str());
        }
    }
    Ok(if names.is_empty() { "nobody".into() } else { names.join(", ") })
}

fn checked_name(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    except: Option<&TeamId>,
) -> Result<String> {
    let name = name.trim();
    let chars = name.chars().count();
    if chars == 0 || chars > TEAM_NAME_CHARS || name.contains(char::is_control) {
        let sentence = format!("must be 1 to {TEAM_NAME_CHARS} characters");
        return Err(Error::invalid("name", sentence));
    }
    let except = except.map_or("", |id| id.as_str());
    let taken: Option<(TeamId,)> = tx.opt(
        "SELECT id FROM teams WHERE ws = ?1 AND folded = ?2 AND id <> ?3",
        &[&cx.actor.ws, &name.to_lowercase(), &except],
    )?;
    match taken {
        Some(_) => Err(Error::invalid("name", "is the name of another team")),
        None => Ok(name.to_owned()),
    }
}
