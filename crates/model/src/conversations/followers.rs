//! Who follows a conversation, to be told when the customer answers.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, UserId};
use base::limits::FOLLOWERS;
use db::Tx;

use crate::conversations::Conversation;
use crate::people::members::PERSON_SEES;

/// Lets somebody follow a conversation; false when they do already, or when too many do.
pub fn follow(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    person: &UserId,
) -> Result<bool> {
    if is_following(tx, cx.actor.ws, conversation, person)? {
        return Ok(false);
    }
    let (n,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM followers WHERE ws = ?1 AND conversation = ?2",
        &[&cx.actor.ws, conversation],
    )?;
    if n >= FOLLOWERS {
        return Ok(false);
    }
    let followed = tx.exec(
        "INSERT INTO followers (ws, conversation, person, since) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, conversation, person) DO NOTHING",
        &[&cx.actor.ws, conversation, person, &cx.now],
    )?;
    Ok(followed > 0)
}

/// False when they did not follow it.
pub fn unfollow(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    person: &UserId,
) -> Result<bool> {
    let unfollowed = tx.exec(
        "DELETE FROM followers WHERE ws = ?1 AND conversation = ?2 AND person = ?3",
        &[&ws, conversation, person],
    )?;
    Ok(unfollowed > 0)
}

pub fn is_following(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    person: &UserId,
) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT since FROM followers WHERE ws = ?1 AND conversation = ?2 AND person = ?3",
        &[&ws, conversation, person],
    )?;
    Ok(found.is_some())
}

/// Those who follow a conversation and see it still.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
) -> Result<Vec<UserId>> {
    let people: Vec<(UserId,)> = tx.all(
        &format!(
            "SELECT f.person FROM followers f
             JOIN users u ON u.ws = f.ws AND u.id = f.person
             WHERE f.ws = ?1 AND f.conversation = ?3 AND {PERSON_SEES}
             LIMIT ?4"
        ),
        &[&ws, &conversation.circle, &conversation.id, &FOLLOWERS],
    )?;
    Ok(people.into_iter().map(|(person,)| person).collect())
}
