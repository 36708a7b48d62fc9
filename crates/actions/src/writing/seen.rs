//! A decision is about what was seen: what the page showed on which somebody decides, and what has
//! come in since.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use base::states::Direction;
use db::Tx;
use model::conversations::Conversation;

/// What a page showed of a conversation. Whatever reaches the customer asks for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenConversation {
    /// The number of the next message: the page showed those before it.
    pub next_number: i64,
}

/// What a page showed of a draft and of its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenDraft {
    pub revision: i64,
    pub conversation: SeenConversation,
}

impl SeenConversation {
    /// What a page shows that is made now. It goes along with the page's form and comes back with it:
    /// an act that looks now has seen everything and asks nobody.
    pub fn now(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<SeenConversation> {
        let (next_number,): (i64,) = tx.one(
            "SELECT next_serial FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, id],
        )?;
        Ok(SeenConversation { next_number })
    }
}

/// A message by someone else that is newer than the page the actor decides from.
#[derive(Debug)]
pub struct NewerMessage {
    pub is_customer: bool,
    pub by: String,
}

/// The outcome of an act that depends on what was seen.
#[derive(Debug)]
pub enum DecisionOutcome<T> {
    Done(T),
    /// Nothing was done, because somebody wrote meanwhile.
    Meanwhile(NewerMessage),
}

impl<T> DecisionOutcome<T> {
    /// The outcome, where whoever acts has just looked; an error if it was not done.
    pub fn into_result(self) -> Result<T> {
        match self {
            DecisionOutcome::Done(outcome) => Ok(outcome),
            DecisionOutcome::Meanwhile(newer) => {
                Err(Error::Conflict(format!("{} wrote meanwhile.", newer.by)))
            }
        }
    }
}

/// Whose unseen messages stop an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// The customer, or somebody else on the team whose message leaves or has left.
    Everybody,
    Customer,
}

/// The first message that was not seen, if there is one.
pub(crate) fn newer_than(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    seen: SeenConversation,
    writers: Writers,
) -> Result<Option<NewerMessage>> {
    let only = match writers {
        Writers::Everybody => "(direction = 'inbound' OR status <> 'draft')",
        Writers::Customer => "direction = 'inbound'",
    };
    let me = cx.actor.member();
    let me = me.as_ref().map_or("", |me| me.as_str());
    let newer: Option<(MessageId, Direction, Option<String>, String)> = tx.opt(
        &format!(
            "SELECT id, direction, from_name, from_email FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND serial >= ?3 AND discarded_at IS NULL
               AND coalesce(author, '') <> ?4 AND {only}
             ORDER BY serial LIMIT 1"
        ),
        &[&cx.actor.ws, &conversation.id, &seen.next_number, &me],
    )?;
    Ok(newer.map(|(_, direction, name, email)| NewerMessage {
        is_customer: direction == Direction::Inbound,
        by: name.unwrap_or(email),
    }))
}
