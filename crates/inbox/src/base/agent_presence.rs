//! Which agents work on which conversation right now, from the API calls that this process served.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::ids::AgentId;
use crate::base::limits::MINUTE_MS;

/// An agent counts as being there for so long after a call.
pub const AGENT_STAYS_MS: i64 = MINUTE_MS;
/// Conversations that are remembered, and agents on each.
const TRACKED_ACTIVITIES: usize = 10_000;
const AGENTS: usize = 10;

#[derive(Default)]
pub struct AgentPresence(Mutex<HashMap<(i64, String), Vec<AgentActivity>>>);

/// An agent that is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentActivity {
    pub agent: AgentId,
    pub name: String,
    at: i64,
    wrote_at: i64,
}

impl AgentActivity {
    /// True when it changed something a moment ago.
    pub fn writes(&self, now: i64) -> bool {
        now - self.wrote_at < AGENT_STAYS_MS
    }
}

impl AgentPresence {
    /// Notes a call of an agent about a conversation.
    pub fn note(
        &self,
        ws: i64,
        conversation: &str,
        agent: &AgentId,
        name: &str,
        writes: bool,
        now: i64,
    ) {
        let mut agents = self.agents();
        let key = (ws, conversation.to_owned());
        if agents.len() >= TRACKED_ACTIVITIES && !agents.contains_key(&key) {
            agents
                .retain(|_, there| there.iter().any(|activity| now - activity.at < AGENT_STAYS_MS));
            if agents.len() >= TRACKED_ACTIVITIES {
                return;
            }
        }
        let there = agents.entry(key).or_default();
        let wrote_at = if writes { now } else { i64::MIN / 2 };
        match there.iter_mut().find(|activity| activity.agent == *agent) {
            Some(activity) => {
                activity.at = now;
                activity.wrote_at = activity.wrote_at.max(wrote_at);
            }
            None => {
                there.retain(|activity| now - activity.at < AGENT_STAYS_MS);
                if there.len() < AGENTS {
                    let (agent, name) = (agent.clone(), name.to_owned());
                    there.push(AgentActivity { agent, name, at: now, wrote_at });
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
