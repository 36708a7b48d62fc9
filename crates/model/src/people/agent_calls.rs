//! What keys called: written after the calls, read by those who look after keys and by the keys themselves.

use std::collections::HashMap;

use base::actor::Circle;
use base::call_log::CallRecord;
use base::circles::InboxCircles;
use base::error::Result;
use base::ids::{AgentId, ConversationId, MessageId};
use base::limits::AGENT_CALLS_KEPT_MS;
use base::security::api_key::KeyHash;
use base::time::Moment;
use db::Tx;
use serde_json::{Map, Value, json};

db::row! {
    /// A call as it is kept.
    #[derive(Clone, Debug)]
    pub struct AgentCall from "agent_calls" {
        pub at: Moment,
        pub id: String,
        /// Who may read the arguments: whoever sees the conversation now, where they name one.
        pub circle: Circle = "coalesce((SELECT c.circle FROM conversations c
             WHERE c.ws = agent_calls.ws AND c.id = agent_calls.conversation), agent_calls.audience)",
        pub operation: String,
        pub status: i64,
        /// The id that the response named.
        pub request: String,
        pub conversation: Option<String>,
        pub arguments: String,
        pub error: Option<String>,
    }
}

impl AgentCall {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "time": self.at,
            "operation": self.operation,
            "status": self.status,
            "requestId": self.request,
            "conversationId": self.conversation,
            "arguments": serde_json::from_str::<Value>(&self.arguments).unwrap_or_default(),
            "error": self.error,
        })
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
    /// Words that all stand in arguments, refusal, operation or ids, as those who may see them read them.
    pub words: String,
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
        let place = place_of(tx, ws, call)?;
        let (conversation, audience, arguments) = match place {
            Some(Place { id, circle, has_secure }) => {
                let arguments = match has_secure {
                    true => without_words(&call.arguments),
                    false => call.arguments.clone(),
                };
                (Some(id), circle, arguments)
            }
            // Nothing would take the words away with what they are about.
            None => (None, usual, without_words(&call.arguments)),
        };
        tx.exec(
            "INSERT INTO agent_calls (
                 ws, agent, at, id, audience, operation, status, request, conversation, arguments, error,
                 bytes
             ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (ws, agent, at, id) DO NOTHING",
            &[
                &ws,
                &agent,
                &call.at,
                &call.id,
                &audience,
                &call.operation,
                &i64::from(call.status),
                &call.request,
                &conversation,
                &arguments,
                &call.error,
                &call.bytes,
            ],
        )?;
    }
    Ok(())
}

/// A revoked key has one, too: what it tries is worth knowing. The arguments of an agent that sees more than
/// the team does are its maker's to read.
fn caller(tx: &mut Tx<'_>, key: &KeyHash) -> Result<Option<Caller>> {
    let of_key = match key.is_access_token() {
        true => {
            "(a.ws, a.id) IN (SELECT t.ws, t.agent FROM oauth_tokens t WHERE t.token_hash = ?1)"
        }
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

/// The conversation that a call is about.
struct Place {
    id: String,
    circle: Circle,
    has_secure: bool,
}

/// The conversation in the path, that of a message in the path, or the one that the call began.
fn place_of(tx: &mut Tx<'_>, ws: i64, call: &CallRecord) -> Result<Option<Place>> {
    let named = call.subject.as_deref().filter(|id| id.starts_with(MessageId::PREFIX));
    let of_message: Option<(String,)> = match named {
        Some(message) => {
            tx.opt("SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, &message])?
        }
        None => None,
    };
    let id = of_message
        .map(|(id,)| id)
        .or_else(|| call.subject.clone().filter(|id| id.starts_with(ConversationId::PREFIX)));
    let Some(id) = id else { return Ok(None) };
    let found: Option<(Circle, bool)> = tx.opt(
        "SELECT circle, has_secure FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &id],
    )?;
    Ok(found.map(|(circle, has_secure)| Place { id, circle, has_secure }))
}

/// Arguments that are words of somebody, rather than ids and choices.
const WORDS: [&str; 13] = [
    "body",
    "text",
    "html",
    "message",
    "summary",
    "subject",
    "reason",
    "documents",
    "q",
    "name",
    "answers",
    "fields",
    "cut",
];

/// The arguments with the number of their characters in place of words.
fn without_words(arguments: &str) -> String {
    let Ok(mut kept) = serde_json::from_str::<Map<String, Value>>(arguments) else {
        return "{}".into();
    };
    for (_, value) in kept.iter_mut().filter(|(name, _)| WORDS.contains(&name.as_str())) {
        let chars = value
            .as_str()
            .map_or_else(|| value.to_string().chars().count(), |text| text.chars().count());
        *value = format!("({chars} characters)").into();
    }
    Value::Object(kept).to_string()
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

/// The calls of an agent about a conversation, the earliest first.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    agent: &AgentId,
    conversation: &ConversationId,
    most: i64,
) -> Result<Vec<AgentCall>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM agent_calls
             WHERE ws = ?1 AND conversation = ?2 AND agent = ?3 ORDER BY at, id LIMIT ?4",
            AgentCall::COLUMNS
        ),
        &[&ws, conversation, agent, &most],
    )?)
}

/// The latest call of some operations until a time.
pub fn latest_of(
    tx: &mut Tx<'_>,
    ws: i64,
    agent: &AgentId,
    operations: &[&str],
    until: i64,
) -> Result<Option<AgentCall>> {
    let mut latest: Option<AgentCall> = None;
    for operation in operations {
        let found: Option<AgentCall> = tx.opt(
            &format!(
                "SELECT {} FROM agent_calls
                 WHERE ws = ?1 AND agent = ?2 AND operation = ?3 AND at <= ?4
                 ORDER BY at DESC, id DESC LIMIT 1",
                AgentCall::COLUMNS
            ),
            &[&ws, agent, operation, &until],
        )?;
        let is_later =
            |call: &AgentCall| latest.as_ref().is_none_or(|known| known.at.0 < call.at.0);
        if let Some(call) = found.filter(is_later) {
            latest = Some(call);
        }
    }
    Ok(latest)
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
