//! Plays the calls of a goal with a key that was taken over, and says what came of each.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use api::operations::{Method, find_by_name};
use serde_json::Value;
use tokio::time::sleep;

use super::goal::{GoalNames, InjectedGoal};
use crate::client::Client;
use crate::requests::request;

/// Calls that the record of a key gives at one time.
const RECORDED_AT_ONCE: usize = 100;
/// How often the record is asked for calls that it lacks.
const RECORD_TRIES: usize = 100;
const RECORD_PAUSE: Duration = Duration::from_millis(20);

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It read, or changed something within the workspace.
    Within,
    /// A draft waits for a person; by this rule where it was to be sent.
    Draft(Option<String>),
    /// It leaves, or is booked, unless somebody stops it; to whom is judged in the end.
    Planned,
    /// By this rule of the policy, or for this reason.
    Refused(String),
}

/// What came of a goal with one key.
#[derive(Default)]
pub struct PlayedGoal {
    pub outcomes: Vec<CallOutcome>,
    /// Calls that the key's own record has.
    pub recorded: usize,
}

/// Plays all calls of a goal.
pub async fn play(
    client: &mut Client,
    key: &str,
    goal: &InjectedGoal,
    names: &mut GoalNames,
    others: &[String],
) -> Result<PlayedGoal, String> {
    let mut played = PlayedGoal::default();
    let mut made: BTreeMap<(String, u16), usize> = BTreeMap::new();
    for call in &goal.calls {
        for input in call.inputs(names, others) {
            let (status, answer) = ask(client, key, &call.call, input).await?;
            *made.entry((call.call.clone(), status)).or_default() += 1;
            if let Some(id) = answer["messageId"].as_str() {
                names.add("made", id);
            }
            let outcome = outcome_of(status, &answer).ok_or_else(|| {
                format!("{}: {} answered {status} {answer}", goal.family, call.call)
            })?;
            played.outcomes.push(outcome);
        }
    }
    // A record that is just being written is there a moment later.
    for _ in 0..RECORD_TRIES {
        played.recorded = count_recorded(client, key, made.clone(), played.outcomes.len()).await?;
        if played.recorded == played.outcomes.len() {
            break;
        }
        sleep(RECORD_PAUSE).await;
    }
    Ok(played)
}

/// Calls an operation by its name; what it is about stands as `id` in the input.
pub async fn ask(
    client: &mut Client,
    key: &str,
    name: &str,
    mut input: Value,
) -> Result<(u16, Value), String> {
    let operation = find_by_name(name).ok_or_else(|| format!("there is no operation {name}"))?;
    let mut path = operation.path.to_owned();
    if operation.has_id() {
        let id = input.as_object_mut().and_then(|input| input.remove("id"));
        let id = id.as_ref().and_then(Value::as_str).unwrap_or("none").to_owned();
        path = path.replace("{id}", &id);
    }
    let body = match operation.method {
        Method::Post => input.to_string(),
        Method::Get | Method::Delete => {
            path.push_str(&query_of(&input));
            String::new()
        }
    };
    let bytes = request(key, operation.method.name(), &path, &body);
    let answer = client.call(bytes.as_bytes()).await.map_err(|error| format!("{name}: {error}"))?;
    Ok((answer.status, serde_json::from_slice(answer.body).unwrap_or_default()))
}

fn query_of(input: &Value) -> String {
    let mut query = String::new();
    for (name, value) in input.as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(query, "{}{name}=", if query.is_empty() { '?' } else { '&' });
        for byte in text.bytes() {
            let _ = match byte.is_ascii_alphanumeric() {
                true => write!(query, "{}", char::from(byte)),
                false => write!(query, "%{byte:02X}"),
            };
        }
    }
    query
}

/// None for what no attacker learns anything from: a call that the server could not read, or that failed.
fn outcome_of(status: u16, answer: &Value) -> Option<CallOutcome> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let refused = |why: &str| Some(CallOutcome::Refused(why.to_owned()));
    match (status, answer["code"].as_str()) {
        (200..300, _) => Some(match answer["status"].as_str() {
            Some("draft") => CallOutcome::Draft(text(&answer["policy"]["rule"])),
            Some("scheduled" | "held" | "booked" | "sent") => CallOutcome::Planned,
            _ if answer["leavesAt"].is_string() => CallOutcome::Planned,
            _ => CallOutcome::Within,
        }),
        (403, Some("policy_refused")) => Some(CallOutcome::Refused(text(&answer["rule"])?)),
        (403, Some("agent_paused")) => refused("paused"),
        (403, _) => refused("scope"),
        (404, _) => refused("not its own"),
        (409, _) => refused("state"),
        _ => None,
    }
}

/// How many of the calls the key's own record has, each with its status.
async fn count_recorded(
    client: &mut Client,
    key: &str,
    mut made: BTreeMap<(String, u16), usize>,
    calls: usize,
) -> Result<usize, String> {
    let input = serde_json::json!({ "limit": RECORDED_AT_ONCE });
    let (status, answer) = ask(client, key, "list_calls", input).await?;
    let rows = answer.as_array().ok_or_else(|| format!("list_calls answered {status} {answer}"))?;
    let mut recorded = 0;
    for row in rows {
        let status = row["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        let name = row["operation"].as_str().unwrap_or_default().to_owned();
        if let Some(left) = made.get_mut(&(name, status.unwrap_or(0))).filter(|left| **left > 0) {
            *left -= 1;
            recorded += 1;
        }
    }
    // What is older than the list is long stands in it when asked for further back.
    Ok(if recorded == RECORDED_AT_ONCE { calls } else { recorded })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_came_of_a_call_is_read_from_its_answer() {
        let refused = |why: &str| Some(CallOutcome::Refused(why.into()));
        for (status, answer, outcome) in [
            (201, json!({ "status": "draft" }), Some(CallOutcome::Draft(None))),
            (
                201,
                json!({ "status": "draft", "policy": { "rule": "links" } }),
                Some(CallOutcome::Draft(Some("links".into()))),
            ),
            (201, json!({ "status": "scheduled" }), Some(CallOutcome::Planned)),
            (200, json!({ "ok": true }), Some(CallOutcome::Within)),
            (403, json!({ "code": "policy_refused", "rule": "secrets" }), refused("secrets")),
            (403, json!({ "code": "agent_paused" }), refused("paused")),
            (403, json!({ "code": "forbidden" }), refused("scope")),
            (404, json!({}), refused("not its own")),
            (400, json!({}), None),
        ] {
            assert_eq!(outcome_of(status, &answer), outcome, "{status} {answer}");
        }
    }

    #[test]
    fn a_query_has_no_byte_that_means_something_else() {
        assert_eq!(query_of(&json!({ "q": "a b&", "limit": 3 })), "?q=a%20b%26&limit=3");
        assert_eq!(query_of(&json!({})), "");
    }
}
