//! What an agent asked for, and undoing what it did: for those who administer keys.

use base::actor::Actor;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::AgentId;
use base::limits::{CALLS_EXPORTED, CALLS_LISTED};
use db::Tx;
use model::people::agent_calls::{self, AgentCall, CallFilter};
use outbound::agent_undo::{self, AgentUndo};

/// Parts in which an agent's acts are undone; more wait for the next click.
const PARTS: usize = 200;

/// An agent, by its id or its name. Of several with the name it is the one made last.
pub fn find_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<(AgentId, String)> {
    cx.actor.must_administer()?;
    let found: Option<(AgentId, String)> = tx.opt(
        "SELECT id, name FROM agents WHERE ws = ?1 AND (id = ?2 OR name = ?2)
         ORDER BY created_at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &name],
    )?;
    found.ok_or(Error::NotFound("agent"))
}

/// The calls of an agent, the latest first. The arguments of those that the actor may not see are empty.
pub fn list_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
) -> Result<Vec<AgentCall>> {
    calls_of(tx, cx, agent, filter, CALLS_LISTED)
}

/// The same for a file.
pub fn export_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
) -> Result<Vec<AgentCall>> {
    calls_of(tx, cx, agent, filter, CALLS_EXPORTED)
}

fn calls_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
    most: i64,
) -> Result<Vec<AgentCall>> {
    cx.actor.must_administer()?;
    let mut calls = agent_calls::list(tx, cx.actor.ws, agent, filter, most)?;
    // The sandbox is the whole team's.
    let is_hidden =
        |call: &&mut AgentCall| !call.circle.is_sandbox() && !cx.actor.sees(&call.circle);
    for call in calls.iter_mut().filter(is_hidden) {
        call.arguments.clear();
        call.conversation = None;
        call.error = None;
    }
    Ok(calls)
}

/// Undoes a part of what an agent did since a time.
pub fn undo_part(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, since: i64) -> Result<AgentUndo> {
    let (agent, _) = find_agent(tx, cx, agent.as_str())?;
    agent_undo::undo_since(tx, cx, &agent, since)
}

/// Undoes what an agent did since a time, as far as the actor sees it, in parts that nobody waits for.
pub async fn undo_agent(
    app: &App,
    actor: &Actor,
    agent: &AgentId,
    since: i64,
) -> Result<AgentUndo> {
    let mut whole = AgentUndo::default();
    for _ in 0..PARTS {
        let agent = agent.clone();
        let part = move |tx: &mut Tx<'_>, cx: &Cx<'_>| undo_part(tx, cx, &agent, since);
        let part = app.act(actor, part).await?;
        whole.undone.extend(part.undone);
        whole.left.extend(part.left);
        whole.more = part.more;
        if !part.more {
            break;
        }
    }
    Ok(whole)
}
