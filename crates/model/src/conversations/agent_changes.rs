//! Changes of conversations as the limits of agents see them.

use base::app::Cx;
use base::error::Result;
use db::Tx;

use super::Conversation;
use crate::people::agent_limits::changes::{self, ConversationAct};

impl Conversation {
    /// True for mail that a check marked, as a risk or as words meant for an agent.
    pub fn is_marked(&self) -> bool {
        self.held || self.risk.is_some()
    }
}

/// Admits a change by whoever is asking: an agent has limits.
pub fn admit_change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    act: ConversationAct,
) -> Result<()> {
    changes::admit_change(tx, cx, conversation.notice_place(), conversation.is_marked(), act)
}
