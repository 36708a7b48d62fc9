//! Which agents work on which conversation right now, from the API calls that this process served and,
//! on PostgreSQL, from what the other nodes announce of theirs. Nothing is stored.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use db::Store;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::ids::AgentId;
use crate::limits::MINUTE_MS;
use crate::time::Clock;

/// An agent counts as being there for so long after a call.
pub const AGENT_STAYS_MS: i64 = MINUTE_MS;
/// Conversations that are remembered, and agents on each.
const TRACKED_ACTIVITIES: usize = 10_000;
const AGENTS: usize = 10;
/// The other nodes hear of an agent that goes on so often.
const ANNOUNCED_EVERY_MS: i64 = 15_000;
/// The first field of an announcement.
const MARK: &str = "agent";

#[derive(Default)]
pub struct AgentPresence(Mutex<HashMap<(i64, String), Vec<AgentActivity>>>);

/// An agent that is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentActivity {
    pub agent: AgentId,
    pub name: String,
    at: i64,
    wrote_at: i64,
    announced_at: i64,
}

impl AgentActivity {
    /// True when it changed something a moment ago.
    pub fn writes(&self, now: i64) -> bool {
        now - self.wrote_at < AGENT_STAYS_MS
    }
}

impl AgentPresence {
    /// Notes a call of an agent about a conversation. Returns what the other nodes should hear, if it is
    /// news to them.
    pub fn note(
        &self,
        ws: i64,
        conversation: &str,
        agent: &AgentId,
        name: &str,
        writes: bool,
        now: i64,
    ) -> Option<String> {
        let mut agents = self.agents();
        let key = (ws, conversation.to_owned());
        if agents.len() >= TRACKED_ACTIVITIES && !agents.contains_key(&key) {
            agents
                .retain(|_, there| there.iter().any(|activity| now - activity.at < AGENT_STAYS_MS));
            if agents.len() >= TRACKED_ACTIVITIES {
                return None;
            }
        }
        let there = agents.entry(key).or_default();
        let wrote_at = if writes { now } else { i64::MIN / 2 };
        let is_news = match there.iter_mut().find(|activity| activity.agent == *agent) {
            Some(activity) => {
                let begins_to_write = writes && !activity.writes(now);
                let is_news = begins_to_write || now - activity.announced_at >= ANNOUNCED_EVERY_MS;
                activity.at = now;
                activity.wrote_at = activity.wrote_at.max(wrote_at);
                if is_news {
                    activity.announced_at = now;
                }
                is_news
            }
            None => {
                there.retain(|activity| now - activity.at < AGENT_STAYS_MS);
                let has_room = there.len() < AGENTS;
                if has_room {
                    let (agent, name) = (agent.clone(), name.to_owned());
                    there.push(AgentActivity { agent, name, at: now, wrote_at, announced_at: now });
                }
                has_room
            }
        };
        let name = name.replace('\t', " ");
        is_news.then(|| format!("{MARK}\t{ws}\t{conversation}\t{agent}\t{writes}\t{name}"))
    }

    /// Notes a call that another node served.
    fn apply(&self, announcement: &str, now: i64) {
        let parts: Vec<&str> = announcement.split('\t').collect();
        let [MARK, ws, conversation, agent, writes, name] = parts[..] else { return };
        let (Ok(ws), Some(agent)) = (ws.parse(), AgentId::parse(agent)) else { return };
        // It is no news to anybody else.
        let _ = self.note(ws, conversation, &agent, name, writes == "true", now);
    }

    /// The agents that are at a conversation.
    pub fn at(&self, ws: i64, conversation: &str, now: i64) -> Vec<AgentActivity> {
        let agents = self.agents();
        let there = agents.get(&(ws, conversation.to_owned())).map_or(&[][..], Vec::as_slice);
        there.iter().filter(|activity| now - activity.at < AGENT_STAYS_MS).cloned().collect()
    }

    fn agents(&self) -> MutexGuard<'_, HashMap<(i64, String), Vec<AgentActivity>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies the announcements of other nodes until it is stopped, where there can be any.
pub async fn share_agents(
    store: &Store,
    agents: &AgentPresence,
    clock: &dyn Clock,
    stopping: &CancellationToken,
) {
    let mut wakes = store.wakes();
    while store.is_shared() && !stopping.is_cancelled() {
        tokio::select! {
            heard = wakes.recv() => match heard {
                Ok(words) => agents.apply(&words, clock.now()),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            () = stopping.cancelled() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_node_hears_of_an_agent_that_comes_or_begins_to_write() {
        let (here, there) = (AgentPresence::default(), AgentPresence::default());
        let agent = AgentId::parse("agt_1").unwrap();
        let came = here.note(1, "cnv_1", &agent, "Robo\tX", false, 1_000).unwrap();
        assert_eq!(here.note(1, "cnv_1", &agent, "Robo", false, 2_000), None);
        there.apply(&came, 2_000);
        let seen = there.at(1, "cnv_1", 3_000);
        assert!(seen[0].name == "Robo X" && !seen[0].writes(3_000));
        let wrote = here.note(1, "cnv_1", &agent, "Robo", true, 3_000).unwrap();
        there.apply(&wrote, 4_000);
        assert!(there.at(1, "cnv_1", 4_000)[0].writes(4_000));
        for other in ["", "agent", "agent\tx\tcnv_2\tagt_1\ttrue\tRobo", "pages"] {
            there.apply(other, 5_000);
        }
        assert!(there.at(1, "cnv_2", 5_000).is_empty());
    }

    #[test]
    fn an_agent_is_there_for_a_minute_after_a_call() {
        let agents = AgentPresence::default();
        let agent = AgentId::parse("agt_1").unwrap();
        agents.note(1, "cnv_1", &agent, "Robo", false, 1_000_000);
        assert!(!agents.at(1, "cnv_1", 1_059_999)[0].writes(1_059_999));
        assert!(agents.at(1, "cnv_1", 1_060_000).is_empty());
        assert!(agents.at(2, "cnv_1", 1_000_000).is_empty());
        agents.note(1, "cnv_1", &agent, "Robo", true, 1_010_000);
        agents.note(1, "cnv_1", &agent, "Robo", false, 1_020_000);
        assert!(agents.at(1, "cnv_1", 1_069_999)[0].writes(1_069_999));
        assert!(!agents.at(1, "cnv_1", 1_070_000)[0].writes(1_070_000));
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let agents = AgentPresence::default();
        let agent = AgentId::parse("agt_1").unwrap();
        for n in 0..TRACKED_ACTIVITIES + 10 {
            agents.note(1, &format!("cnv_{n}"), &agent, "Robo", false, 1);
        }
        assert_eq!(agents.agents().len(), TRACKED_ACTIVITIES);
        agents.note(1, "cnv_x", &agent, "Robo", false, AGENT_STAYS_MS + 2);
        assert_eq!(agents.agents().len(), 1);
    }
}
