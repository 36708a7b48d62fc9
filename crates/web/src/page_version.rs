//! The version of a live page: a hash of what it shows, computed when the page is rendered and after
//! each commit. It covers only what the reader may see, so no other change is revealed.

use std::hash::{DefaultHasher, Hash, Hasher};

use actions::conversations::sidebar::Sidebar;
use actions::writing::approvals::QueuedDraft;
use base::ids::UserId;
use search::list::ConversationSummary;

use crate::Web;

/// A part of what is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartVersion(u64);

/// Everything that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageVersion(u64);

impl PartVersion {
    pub fn of(shown: impl Hash) -> PartVersion {
        let mut hasher = DefaultHasher::new();
        shown.hash(&mut hasher);
        PartVersion(hasher.finish())
    }

    /// All of every item, so that no field can be forgotten.
    pub fn of_list(items: &[ConversationSummary]) -> PartVersion {
        PartVersion::of(items)
    }

    /// The list, and the newest entries of the conversation.
    pub fn of_conversation(list: PartVersion, latest: &[String]) -> PartVersion {
        PartVersion::of((list, latest))
    }

    /// The drafts that wait, and the revision and status of the one that is looked at.
    pub fn of_drafts(queue: &[QueuedDraft], draft: Option<(i64, &str)>) -> PartVersion {
        let waits: Vec<_> =
            queue.iter().map(|one| (one.id.as_str(), one.wrote_meanwhile)).collect();
        PartVersion::of((waits, draft))
    }
}

impl PageVersion {
    pub fn new(sidebar: &Sidebar, shown: PartVersion, present: PartVersion) -> PageVersion {
        let mut hasher = DefaultHasher::new();
        let counts = [sidebar.mine, sidebar.unassigned, sidebar.open, sidebar.waiting];
        (counts, sidebar.snoozed, sidebar.held, sidebar.mentions).hash(&mut hasher);
        sidebar.drafts.hash(&mut hasher);
        sidebar.leaving.hash(&mut hasher);
        for inbox in &sidebar.inboxes {
            (&inbox.id, &inbox.name, inbox.open).hash(&mut hasher);
        }
        (shown, present).hash(&mut hasher);
        PageVersion(hasher.finish())
    }

    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

impl Web {
    /// Who else is at a conversation: people, and agents by their calls.
    pub fn mark_present(&self, ws: i64, conversation: &str, me: &UserId, now: i64) -> PartVersion {
        let location = (ws, conversation.to_owned());
        let others = self.presence.others(&location, me, now);
        let agents = self.app.agents.at(ws, conversation, now);
        let agents: Vec<_> = agents.iter().map(|look| (&look.name, look.writes(now))).collect();
        PartVersion::of((others, agents))
    }
}
