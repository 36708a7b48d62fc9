//! Saved searches, which stand in the sidebar: a person's own and the team's.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::ViewId;
use base::limits::{QUERY_CHARS, SAVED_VIEWS, VIEW_NAME_CHARS};
use db::Tx;

/// The owner of what everybody sees.
const TEAM: &str = "team";

/// A search with a name.
#[derive(Clone, Debug)]
pub struct SavedView {
    pub id: ViewId,
    pub name: String,
    pub q: String,
    pub is_team: bool,
}

/// The team's views and the actor's own, by name.
pub fn list_views(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<SavedView>> {
    let rows: Vec<(ViewId, String, String, String)> = tx.all(
        "SELECT id, name, q, owner FROM saved_views WHERE ws = ?1 AND owner IN (?2, ?3)
         ORDER BY name, id LIMIT ?4",
        &[&cx.actor.ws, &TEAM, &me(cx), &(2 * SAVED_VIEWS)],
    )?;
    let view = |(id, name, q, owner): (ViewId, String, String, String)| SavedView {
        id,
        name,
        q,
        is_team: owner == TEAM,
    };
    Ok(rows.into_iter().map(view).collect())
}

/// Saves a search of one's own.
pub fn save_own_view(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, q: &str) -> Result<()> {
    save(tx, cx, &me(cx), name, q)
}

/// Saves a search for everybody.
pub fn save_team_view(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, q: &str) -> Result<()> {
    save(tx, cx, TEAM, name, q)
}

fn save(tx: &mut Tx<'_>, cx: &Cx<'_>, owner: &str, name: &str, q: &str) -> Result<()> {
    let (name, q) = (name.trim(), q.trim());
    if name.is_empty() || name.chars().count() > VIEW_NAME_CHARS || name.contains('\0') {
        let sentence = format!("Give the view a name of 1 to {VIEW_NAME_CHARS} characters.");
        return Err(Error::invalid("name", sentence));
    }
    if q.is_empty() || q.contains('\0') {
        return Err(Error::invalid("q", "Search for something first."));
    }
    if q.chars().count() > QUERY_CHARS {
        let sentence = format!("A view keeps a search of at most {QUERY_CHARS} characters.");
        return Err(Error::invalid("q", sentence));
    }
    let (known,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM saved_views WHERE ws = ?1 AND owner = ?2",
        &[&cx.actor.ws, &owner],
    )?;
    if known >= SAVED_VIEWS {
        let sentence = format!("There are {SAVED_VIEWS} views already. Remove one first.");
        return Err(Error::invalid("name", sentence));
    }
    tx.exec_soon(
        "INSERT INTO saved_views (ws, owner, id, name, q, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&cx.actor.ws, &owner, &ViewId::new(cx.ids, cx.now), &name, &q, &cx.now],
    )?;
    Ok(())
}

/// Removes a view of one's own or of the team.
pub fn remove_view(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let id = ViewId::parse(id).ok_or(Error::NotFound("view"))?;
    let removed = tx.exec(
        "DELETE FROM saved_views WHERE ws = ?1 AND owner IN (?2, ?3) AND id = ?4",
        &[&cx.actor.ws, &TEAM, &me(cx), &id],
    )?;
    if removed == 0 { Err(Error::NotFound("view")) } else { Ok(()) }
}

fn me(cx: &Cx<'_>) -> String {
    cx.actor.member().map(|me| me.as_str().to_owned()).unwrap_or_default()
}
