//! Who follows a conversation, and telling them when the customer answers.

use db::Tx;

use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{ConversationId, UserId};
use crate::base::limits::{FOLLOWED_MAILED_PER_HOUR, FOLLOWERS, HOUR_MS};
use crate::model::conversations::Conversation;
use crate::model::members::PERSON_SEES;
use crate::model::notices::{Notice, notify};

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

/// Mails a link to those who follow a conversation that the customer answered in, and who see it
/// still. Whoever was told of an answer is told of the next one after they have looked.
pub fn tell(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    let ws = cx.actor.ws;
    let people: Vec<(UserId,)> = tx.all(
        &format!(
            "SELECT f.person FROM followers f
             JOIN users u ON u.ws = f.ws AND u.id = f.person
             LEFT JOIN read_marks r
               ON r.ws = f.ws AND r.person = f.person AND r.conversation = f.conversation
             WHERE f.ws = ?1 AND f.conversation = ?3 AND {PERSON_SEES}
               AND (f.told_at IS NULL OR coalesce(r.read_at, 0) > f.told_at)
             LIMIT ?4"
        ),
        &[&ws, &conversation.circle, &conversation.id, &FOLLOWERS],
    )?;
    for (person,) in &people {
        if many_lately(tx, cx, person)? {
            continue;
        }
        tx.exec(
            "UPDATE followers SET told_at = ?4
             WHERE ws = ?1 AND conversation = ?2 AND person = ?3",
            &[&ws, &conversation.id, person, &cx.now],
        )?;
        let text = format!(
            "A customer answered in \"{}\", which you follow.\n\nRead it: {}/conversations/{}\n\n\
             To get no more of these mails, choose Unfollow there.\n",
            conversation.subject, cx.public_url, conversation.id,
        );
        let subject = "An answer in a conversation that you follow";
        notify(tx, cx, person, &Notice { subject, text: &text })?;
    }
    Ok(())
}

/// True when a person reached the hourly limit of these notices.
fn many_lately(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<bool> {
    let since = cx.now - HOUR_MS;
    let beyond: Option<(i64,)> = tx.opt(
        "SELECT told_at FROM followers WHERE ws = ?1 AND person = ?2 AND told_at > ?3
         LIMIT 1 OFFSET ?4",
        &[&cx.actor.ws, person, &since, &(FOLLOWED_MAILED_PER_HOUR - 1)],
    )?;
    Ok(beyond.is_some())
}
