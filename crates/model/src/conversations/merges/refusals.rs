//! Why a conversation cannot be merged into another one.

use base::error::Result;
use base::ids::ConversationId;
use base::limits::MERGED_MESSAGES;
use db::Tx;

use crate::conversations::Conversation;

/// Why two conversations cannot become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    SameConversation,
    OtherInbox,
    Held,
    /// In the spam or the trash.
    Removed,
    /// The source carries a warning that the target would lose.
    Warning,
    OtherReference,
    TooLong,
}

impl MergeRefusal {
    /// What is said of the target.
    pub fn sentence(self) -> String {
        let sentence = match self {
            MergeRefusal::SameConversation => "is the same conversation",
            MergeRefusal::OtherInbox => {
                "is in another inbox; only conversations of one inbox can be merged"
            }
            MergeRefusal::Held => "cannot be merged while one of them is held; release it first",
            MergeRefusal::Removed => {
                "cannot be merged while one of them is in the spam or the trash"
            }
            MergeRefusal::Warning => {
                "cannot take in one that carries a warning; look at it and remove the warning first"
            }
            MergeRefusal::OtherReference => {
                "carries another reference of your app, so it is another matter"
            }
            MergeRefusal::TooLong => {
                return format!(
                    "is too long: together they have more than {MERGED_MESSAGES} messages"
                );
            }
        };
        sentence.to_owned()
    }
}

/// Why two conversations cannot become one, as their rows tell it; `None` when they can.
pub fn refusal(source: &Conversation, target: &Conversation) -> Option<MergeRefusal> {
    let differ = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    if source.id == target.id {
        Some(MergeRefusal::SameConversation)
    } else if source.circle != target.circle || source.mailbox != target.mailbox {
        Some(MergeRefusal::OtherInbox)
    } else if source.held || target.held {
        Some(MergeRefusal::Held)
    } else if source.removed.is_some() || target.removed.is_some() {
        Some(MergeRefusal::Removed)
    } else if source.risk.is_some() && target.risk.is_none() {
        Some(MergeRefusal::Warning)
    } else if differ(&source.reference, &target.reference) {
        Some(MergeRefusal::OtherReference)
    } else {
        None
    }
}

/// The same, with their messages counted.
pub fn counted_refusal(
    tx: &mut Tx<'_>,
    ws: i64,
    source: &Conversation,
    target: &Conversation,
) -> Result<Option<MergeRefusal>> {
    if let Some(refusal) = refusal(source, target) {
        return Ok(Some(refusal));
    }
    let is_too_long = are_too_long(tx, ws, &[&source.id, &target.id])?;
    Ok(is_too_long.then_some(MergeRefusal::TooLong))
}

/// True when conversations have more messages together than one transaction moves.
pub(super) fn are_too_long(tx: &mut Tx<'_>, ws: i64, ids: &[&ConversationId]) -> Result<bool> {
    Ok(count_messages(tx, ws, ids, MERGED_MESSAGES)? > MERGED_MESSAGES)
}

/// How many messages conversations have together; counting ends beyond `most`.
pub fn count_messages(tx: &mut Tx<'_>, ws: i64, ids: &[&ConversationId], most: i64) -> Result<i64> {
    let mut count = 0;
    for id in ids {
        let found: Vec<(i64,)> = tx.all(
            "SELECT serial FROM messages WHERE ws = ?1 AND conversation = ?2 LIMIT ?3",
            &[&ws, id, &(most + 1 - count)],
        )?;
        count += found.len() as i64;
        if count > most {
            break;
        }
    }
    Ok(count)
}
