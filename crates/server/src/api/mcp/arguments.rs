//! What the arguments of prompts and the variables of resource addresses stand for.

use api::operations::with_tool;
use base::ids::{AnswerId, ConversationId, MailboxId};
use base::limits::LIST_ITEMS;

/// What a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    Conversation,
    Mailbox,
    Answer,
    Tool,
    /// How many items of a list.
    Count,
}

impl ArgumentKind {
    /// What is wrong with a value; `None` when it can be one of this kind.
    pub fn objection(self, value: &str) -> Option<String> {
        let fits = match self {
            ArgumentKind::Conversation => ConversationId::parse(value).is_some(),
            ArgumentKind::Mailbox => MailboxId::parse(value).is_some(),
            ArgumentKind::Answer => AnswerId::parse(value).is_some(),
            ArgumentKind::Tool => with_tool(value).is_some(),
            ArgumentKind::Count => {
                value.parse::<i64>().is_ok_and(|count| (1..=LIST_ITEMS).contains(&count))
            }
        };
        (!fits).then(|| format!("must be {}", self.description()))
    }

    /// What a value must be.
    pub fn description(self) -> String {
        match self {
            ArgumentKind::Conversation => "the id of a conversation, such as cnv_…".into(),
            ArgumentKind::Mailbox => "the id of an inbox, such as mbx_…".into(),
            ArgumentKind::Answer => "the id of an answer, such as ans_…".into(),
            ArgumentKind::Tool => "the name of a tool".into(),
            ArgumentKind::Count => format!("a whole number from 1 to {LIST_ITEMS}"),
        }
    }

    /// How an id of this kind begins, where it is one that people look up by words.
    pub fn id_prefix(self) -> Option<&'static str> {
        match self {
            ArgumentKind::Conversation => Some(ConversationId::PREFIX),
            ArgumentKind::Answer => Some(AnswerId::PREFIX),
            ArgumentKind::Mailbox | ArgumentKind::Tool | ArgumentKind::Count => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_its_kind_or_is_told_what_it_must_be() {
        for (kind, right, wrong) in [
            (ArgumentKind::Conversation, "cnv_1", "mbx_1"),
            (ArgumentKind::Mailbox, "mbx_1", "Support"),
            (ArgumentKind::Answer, "ans_1", "1"),
            (ArgumentKind::Tool, "reply", "no_such_tool"),
            (ArgumentKind::Count, "100", "101"),
        ] {
            assert_eq!(kind.objection(right), None);
            let objection = kind.objection(wrong).expect("an objection");
            assert_eq!(objection, format!("must be {}", kind.description()));
        }
        for wrong in ["", "0", "-1", "1.5", "ten"] {
            assert!(ArgumentKind::Count.objection(wrong).is_some(), "{wrong}");
        }
    }
}
