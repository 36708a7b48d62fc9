//! What an agent asked for, and undoing what it did: for those who administer keys.

use base::actor::Actor;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::AgentId;
use base::limits::{CALL_PARTS_READ, CALLS_EXPORTED, CALLS_LISTED, CALLS_READ_AT_ONCE};
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

/// Calls that were found, the latest first.
#[derive(Default)]
pub struct FoundCalls {
    pub calls: Vec<AgentCall>,
    /// The call before which older ones are looked for.
    pub older: Option<(i64, String)>,
}

/// The calls of an agent, the latest first. The arguments of those that the actor may not see are empty.
pub fn list_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
) -> Result<Vec<AgentCall>> {
    Ok(find_calls(tx, cx, agent, filter)?.calls)
}

/// The same for a file.
pub fn export_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
) -> Result<Vec<AgentCall>> {
    Ok(find_within(tx, cx, agent, filter, CALLS_EXPORTED)?.calls)
}

/// A page of calls. Where words are looked for, it looks at a bounded number of calls and says where it stopped.
pub fn find_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
) -> Result<FoundCalls> {
    find_within(tx, cx, agent, filter, CALLS_LISTED)
}

fn find_within(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    filter: &CallFilter,
    most: i64,
) -> Result<FoundCalls> {
    cx.actor.must_administer()?;
    let words: Vec<String> =
        filter.words.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let at_once = if words.is_empty() { most } else { CALLS_READ_AT_ONCE };
    let mut found = FoundCalls { calls: Vec::new(), older: filter.before.clone() };
    for _ in 0..CALL_PARTS_READ {
        let wanted = CallFilter { before: found.older.clone(), ..filter.clone() };
        let part = agent_calls::list(tx, cx.actor.ws, agent, &wanted, at_once)?;
        let is_last = (part.len() as i64) < at_once;
        for mut call in part {
            found.older = Some((call.at.0, call.id.clone()));
            hide_unseen(cx, &mut call);
            if words.iter().all(|word| has_word(&call, word)) {
                found.calls.push(call);
            }
            if found.calls.len() as i64 == most {
                return Ok(found);
            }
        }
        if is_last {
            found.older = None;
            break;
        }
    }
    Ok(found)
}

fn has_word(call: &AgentCall, word: &str) -> bool {
    let conversation = call.conversation.as_deref().unwrap_or_default();
    let error = call.error.as_deref().unwrap_or_default();
    [call.operation.as_str(), conversation, &call.request, &call.arguments, error]
        .iter()
        .any(|text| text.to_lowercase().contains(word))
}

/// Leaves of a call that the actor may not see only that there was one.
pub(crate) fn hide_unseen(cx: &Cx<'_>, call: &mut AgentCall) {
    // The sandbox is the whole team's.
    if !call.circle.is_sandbox() && !cx.actor.sees(&call.circle) {
        call.arguments.clear();
        call.conversation = None;
        call.error = None;
    }
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
