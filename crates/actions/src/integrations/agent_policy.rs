//! The limits of keys and connected apps, and the brake: seen and changed by owners and admins.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::limits::HOUR_MS;
use base::security::agent_policy::{AgentPolicy, PauseReason};
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::agent_limits::pausing;

db::row! {
    struct AgentRow from "a" {
        id: AgentId,
        name: String,
        scopes: String,
        livemode: bool,
        is_app: bool = "a.oauth_client IS NOT NULL",
        policy: Option<String>,
        paused_at: Option<i64>,
        paused_by: Option<String>,
        pause_reason: Option<PauseReason>,
    }
}

/// An agent with what it may do and what it has under way.
#[derive(Clone, Debug)]
pub struct LimitedAgent {
    pub id: AgentId,
    pub name: String,
    pub scopes: String,
    pub livemode: bool,
    /// It is an app that somebody connected.
    pub is_app: bool,
    pub policy: AgentPolicy,
    pub paused_at: Option<i64>,
    pub paused_by: Option<String>,
    pub pause_reason: Option<PauseReason>,
    /// Messages that it scheduled itself and that can still be stopped.
    pub leaving: i64,
    /// Messages that it sent or scheduled within an hour, as far as they are counted.
    pub sent_of_late: i64,
}

/// An agent that still has a key, for those who may change its limits.
pub fn show_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<LimitedAgent> {
    cx.actor.must_administer()?;
    let found: Option<AgentRow> = tx.opt(
        &format!(
            "SELECT {} FROM agents a WHERE a.ws = ?1 AND a.id = ?2 AND a.revoked_at IS NULL",
            AgentRow::COLUMNS
        ),
        &[&cx.actor.ws, id],
    )?;
    let row = found.ok_or(Error::NotFound("agent"))?;
    let leaving = pausing::count_waiting(tx, cx.actor.ws, id)?;
    let (sent_of_late,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM agent_counts
         WHERE ws = ?1 AND agent = ?2 AND kind = 'message' AND at > ?3",
        &[&cx.actor.ws, id, &(cx.now - HOUR_MS)],
    )?;
    Ok(LimitedAgent {
        policy: AgentPolicy::from_stored(row.policy.as_deref())?,
        id: row.id,
        name: row.name,
        scopes: row.scopes,
        livemode: row.livemode,
        is_app: row.is_app,
        paused_at: row.paused_at,
        paused_by: row.paused_by,
        pause_reason: row.pause_reason,
        leaving,
        sent_of_late,
    })
}

/// The agent of a name or an id. Of several of one name, none is meant.
pub fn find_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<AgentId> {
    cx.actor.must_administer()?;
    let found: Vec<(AgentId,)> = tx.all(
        "SELECT id FROM agents WHERE ws = ?1 AND (id = ?2 OR name = ?2) AND revoked_at IS NULL
         ORDER BY created_at, id LIMIT 2",
        &[&cx.actor.ws, &name],
    )?;
    match found.as_slice() {
        [(id,)] => Ok(id.clone()),
        [] => Err(Error::NotFound("agent")),
        _ => Err(Error::Conflict(format!(
            "Several agents are called {name}. Name one by its id (agt_…)."
        ))),
    }
}

/// Changes fields of an agent's policy, each as it is typed. It counts from the agent's next call on.
pub fn change_policy(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AgentId,
    typed: &[(String, String)],
) -> Result<AgentPolicy> {
    let LimitedAgent { name, policy: before, .. } = show_agent(tx, cx, id)?;
    let policy = before.with(typed).map_err(Error::Invalid)?;
    let changes = policy.changes_from(&before);
    if changes.is_empty() {
        return Ok(policy);
    }
    tx.exec(
        "UPDATE agents SET policy = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &policy.to_row()?],
    )?;
    let detail = changes.join("; ");
    audit_log::record(tx, cx, &Circle::team(), Action::KeyPolicyChanged, &name, &detail)?;
    Ok(policy)
}

/// Pauses an agent: its key only reads from its next call on, and what has not left is stopped. Anybody on
/// the team may, because a brake that has to be asked for is none.
pub fn pause_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<()> {
    if !matches!(cx.actor.who, Principal::Person { .. } | Principal::System) {
        return Err(Error::Forbidden("Only a person pauses another agent.".into()));
    }
    pausing::pause(tx, cx, id, PauseReason::Person)
}

/// Lets a paused agent work again.
pub fn resume_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<()> {
    cx.actor.must_administer()?;
    pausing::resume(tx, cx, id)
}
