//! The limits of agents, enforced: every act of an agent asks here, whichever way its call came in.
//!
//! | file | contents |
//! |---|---|
//! | `messages` | drafts and messages: refused, turned into a draft, or as asked |
//! | `bookings` | bookings that are made, moved and cancelled |
//! | `changes` | conversations that are changed: marked mail, and many at once |
//! | `recent_acts` | what an agent did of late, counted |
//! | `unusual` | what somebody should look at before they approve a draft |
//! | `words` | the words of a message that are judged |
//! | `pausing` | pausing an agent, and stopping what has not left |
//! | `alarms` | telling people of an agent that was paused or changed too much |

mod alarms;
pub mod bookings;
pub mod changes;
pub mod messages;
pub mod pausing;
pub(crate) mod recent_acts;
pub mod unusual;
pub mod words;

use base::actor::{Actor, Principal};
use base::error::Error;
use base::ids::AgentId;
use base::security::agent_policy::{AgentPolicy, PolicyRule};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a policy changed what was asked for: the rule, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PolicyNote {
    pub rule: PolicyRule,
    pub sentence: String,
}

impl PolicyNote {
    fn new(rule: PolicyRule, sentence: impl Into<String>) -> PolicyNote {
        PolicyNote { rule, sentence: sentence.into() }
    }
}

fn refusal(rule: PolicyRule, sentence: impl Into<String>) -> Error {
    Error::PolicyRefused { rule, sentence: sentence.into() }
}

/// The agent and its limits; `None` for people, rules and the service.
fn limits_of(actor: &Actor) -> Option<(&AgentId, &AgentPolicy)> {
    match &actor.who {
        Principal::Agent { id, policy, .. } => Some((id, policy)),
        Principal::Person { .. } | Principal::System | Principal::Rule { .. } => None,
    }
}

/// What an agent can do with marked mail that it has to hand over.
const HAND_OVER: &str = "This conversation is marked as a risk, so a person decides. Write a note, or assign \
                         it to a person; everything else is refused to this key.";
