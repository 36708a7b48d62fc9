//! What keys called: written after the calls, read by those who look after keys and by the keys themselves.

use std::collections::HashMap;

use base::actor::Circle;
use base::call_log::CallRecord;
use base::circles::InboxCircles;
use base::error::Result;
use base::ids::AgentId;
use base::limits::AGENT_CALLS_KEPT_MS;
use base::security::api_key::KeyHash;
use base::time::Moment;
use db::Tx;

db::row! {
    /// A call as it is kept.
    #[derive(Clone, Debug)]
    pub struct AgentCall from "agent_calls" {
        pub at: Moment,
        pub id: String,
        /// Who may read the arguments.
        pub circle: Circle,
        pub operation: String,
        pub status: i64,
        /// The id that the response named.
        pub request: String,
        pub conversation: Option<String>,
        pub arguments: String,
        pub error: Option<String>,
    }
}

/// What calls are looked for by.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    pub since: i64,
    pub operation: Option<String>,
    /// Only those that were refused or failed.
    pub refused: bool,
    /// Only those before this one.
    pub before: Option<(i64, String)>,
}

/// The agent of a key, and who may read what it asks for.
type Caller = (i64, AgentId, Circle);

/// Writes calls down. Those of keys that are none are left out.
pub fn write(tx: &mut Tx<'_>, calls: &[CallRecord]) -> Result<()> {
    let mut callers: HashMap<KeyHash, Option<Caller>> = HashMap::new();
    for call in calls {
        let caller = match callers.get(&call.key) {
            Some(known) => known.clone(),
            None => {
                let found = caller(tx, &call.key)?;
                callers.insert(call.key, found.clone());
                found
            }
        };
        let Some((ws, agent, usual)) = caller else { continue };
        let circle = match &call.conversation {
            Some(conversation) => circle_of(tx, ws, conversation)?.unwrap_or(usual),
            None => usual,
        };
        tx.exec(
            "INSERT INTO agent_calls (
                 ws, agent, at, id, circle, operation, status, request, conversation, arguments, error
             ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (ws, agent, at, id) DO NOTHING",
            &[
                &ws,
                &agent,
                &call.at,
                &call.id,
                &circle,
                &call.operation,
                &i64::from(call.status),
                &call.request,
                &call.conversation,
                &call.arguments,
                &call.error,
            ],
        )?;
    }
    Ok(())
}

/// A revoked key has one, too: what it tries is worth knowing. The arguments of an agent that sees more than
/// the team does are its maker's to read.
fn caller(tx: &mut Tx<'_>, key: &KeyHash) -> Result<Option<Caller>> {
    let of_key = match key.is_access_token() {
        true => "(a.ws, a.id) IN (SELECT t.ws, t.agent FROM oauth_tokens t WHERE t.token_hash = ?1)",
        false => "a.key_hash = ?1",
    };
    type Found = (i64, AgentId, bool, bool, Circle, InboxCircles);
    let found: Option<Found> = tx.opt(
        &format!(
            "SELECT a.ws, a.id, a.livemode, a.sees_private, a.made_by,
                    (SELECT string_agg(x.mailbox, ' ') FROM mailbox_access x
                     WHERE x.ws = a.ws AND x.holder = a.id AND x.may_see = TRUE)
             FROM agents a WHERE {of_key}"
        ),
        &[key],
    )?;
    Ok(found.map(|(ws, agent, livemode, sees_private, maker, inboxes)| {
        let sees_more = livemode && (sees_private || !inboxes.is_empty());
        (ws, agent, if sees_more { maker } else { Circle::team() })
    }))
}

fn circle_of(tx: &mut Tx<'_>, ws: i64, conversation: &str) -> Result<Option<Circle>> {
    let found: Option<(Circle,)> = tx.opt(
        "SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation],
    )?;
    Ok(found.map(|(circle,)| if circle.is_sandbox() { Circle::team() } else { circle }))
}

/// The calls of an agent, the latest first.
pub fn list(
    tx: &mut Tx<'_>,
    ws: i64,
    agent: &AgentId,
    filter: &CallFilter,
    most: i64,
) -> Result<Vec<AgentCall>> {
    let (at, id) = filter.before.clone().unwrap_or((i64::MAX, String::new()));
    let operation = filter.operation.clone().unwrap_or_default();
    let mut conditions = String::new();
    if filter.operation.is_some() {
        conditions.push_str(" AND operation = ?6");
    } else {
        conditions.push_str(" AND ?6 = ''");
    }
    if filter.refused {
        conditions.push_str(" AND status >= 400");
    }
    Ok(tx.all(
        &format!(
            "SELECT {} FROM agent_calls
             WHERE ws = ?1 AND agent = ?2 AND at >= ?3 AND (at, id) < (?4, ?5){conditions}
             ORDER BY at DESC, id DESC LIMIT ?7",
            AgentCall::COLUMNS
        ),
        &[&ws, agent, &filter.since, &at, &id, &operation, &most],
    )?)
}

/// Deletes calls that are older than they are kept; returns how many.
pub fn forget_old(tx: &mut Tx<'_>, now: i64, most: i64) -> Result<u64> {
    let old: Vec<(i64, String, i64, String)> = tx.all(
        "SELECT ws, agent, at, id FROM agent_calls WHERE at < ?1 ORDER BY at LIMIT ?2",
        &[&(now - AGENT_CALLS_KEPT_MS), &most],
    )?;
    for (ws, agent, at, id) in &old {
        tx.exec(
            "DELETE FROM agent_calls WHERE ws = ?1 AND agent = ?2 AND at = ?3 AND id = ?4",
            &[ws, agent, at, id],
        )?;
    }
    Ok(old.len() as u64)
}
