//! What the helper found for the latest message of a conversation: answers to choose from, and where
//! something alike was answered before.

use base::app::Cx;
use base::error::Result;
use base::ids::{AnswerId, ConversationId, MessageId};
use base::limits::{ANSWERED_BEFORE, ANSWERS_OFFERED};
use db::Tx;
use model::conversations::Conversation;
use model::messages::answers::{self, KnownAnswer};

use super::matching::HelperMatch;

const OFFER: &str = "answer";
const BEFORE: &str = "other";

/// A conversation in which something alike was answered.
pub struct SimilarConversation {
    pub id: ConversationId,
    pub subject: String,
    pub contact: String,
    /// The latest reply: when it left, who wrote it, and how it begins.
    pub at: i64,
    pub by: String,
    pub text: String,
}

/// Keeps what was found, instead of what was found for an earlier message.
pub fn keep(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    message: &MessageId,
    found: &HelperMatch,
) -> Result<()> {
    tx.exec(
        "DELETE FROM helper_findings WHERE ws = ?1 AND conversation = ?2",
        &[&ws, conversation],
    )?;
    let offers = found.offers.iter().map(|answer| (OFFER, answer.id.to_string()));
    let before = found.answered_before.iter().map(|other| (BEFORE, other.to_string()));
    for (place, (kind, id)) in offers.chain(before).enumerate() {
        tx.exec(
            "INSERT INTO helper_findings (ws, conversation, kind, place, message, found)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[&ws, conversation, &kind, &(place as i64), message, &id],
        )?;
    }
    Ok(())
}

/// The answers that are offered for a conversation, as long as nothing newer was said.
pub fn offers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<KnownAnswer>> {
    let found = load(tx, cx.actor.ws, conversation, OFFER, ANSWERS_OFFERED)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let newest: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &conversation.id],
    )?;
    let is_newest = newest.is_some_and(|(id,)| found.iter().all(|(about, _)| *about == id));
    if !is_newest {
        return Ok(Vec::new());
    }
    let known = answers::in_use(tx, cx.actor.ws, &cx.actor.circles, cx.now)?;
    let ids = found.iter().filter_map(|(_, id)| AnswerId::parse(id));
    Ok(ids.filter_map(|id| known.iter().find(|answer| answer.id == id).cloned()).collect())
}

/// Where something alike was answered, as far as the actor may see it.
pub fn answered_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<SimilarConversation>> {
    let (first, second) = cx.actor.circles.pair();
    let mut before = Vec::new();
    for (_, id) in load(tx, cx.actor.ws, conversation, BEFORE, ANSWERED_BEFORE)? {
        let other: Option<(ConversationId, String, String)> = tx.opt(
            "SELECT id, subject, coalesce(contact_name, contact_email) FROM conversations
             WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
            &[&cx.actor.ws, &id, first, second],
        )?;
        let Some((id, subject, contact)) = other else { continue };
        let reply: Option<(i64, String, String)> = tx.opt(
            "SELECT at, coalesce(from_name, ''), text FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound'
               AND counted_at IS NOT NULL AND NOT automatic
             ORDER BY at DESC, id DESC LIMIT 1",
            &[&cx.actor.ws, &id],
        )?;
        let Some((at, by, text)) = reply else { continue };
        before.push(SimilarConversation { id, subject, contact, at, by, text });
    }
    Ok(before)
}

/// The message that something was found for, and the id of what was found.
fn load(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    kind: &str,
    most: usize,
) -> Result<Vec<(MessageId, String)>> {
    Ok(tx.all(
        "SELECT message, found FROM helper_findings
         WHERE ws = ?1 AND conversation = ?2 AND kind = ?3 ORDER BY place LIMIT ?4",
        &[&ws, &conversation.id, &kind, &(most as i64)],
    )?)
}
