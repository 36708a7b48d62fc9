//! What is told of a conversation: the facts that wait, and the conversation as a notice speaks of it.

use base::actor::Circle;
use base::ids::ConversationId;

use crate::people::notifications::choices::NoticeKind;
use crate::people::notifications::facts::NoticeChannel;

db::row! {
    /// Something to tell.
    #[derive(Clone, Debug)]
    pub struct NoticeFact from "notice_facts" {
        pub conversation: ConversationId,
        pub channel: NoticeChannel,
        pub kind: NoticeKind,
        pub by_name: String,
        pub at: i64,
        pub due_at: i64,
        pub batched: bool,
    }
}

/// A conversation as a notice speaks of it, with what happened in it.
pub struct NotifiedConversation {
    pub id: ConversationId,
    pub subject: String,
    pub mailbox_name: String,
    /// Who wrote the customer's newest message, and whether that is a protected one.
    pub writer: Option<String>,
    pub protected: bool,
    pub circle: Circle,
    pub channel: NoticeChannel,
    pub batched: bool,
    /// Never empty; what matters most is the first.
    pub facts: Vec<NoticeFact>,
}

impl NotifiedConversation {
    /// The fact that the notice speaks of.
    pub fn main_fact(&self) -> &NoticeFact {
        &self.facts[0]
    }
}
