//! The mentions of a person.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, NoteId};
use db::Tx;

use crate::sign_in::sessions::own_id;

/// Mentions on one page.
pub const MENTIONS_LISTED: i64 = 50;

db::row! {
    /// A note with a mention.
    pub struct Mention from "m" {
        pub note: NoteId = "m.id",
        pub conversation: ConversationId,
        pub subject: String = "c.subject",
        pub author: String,
        pub author_name: String,
        pub body: String = "n.body",
        pub at: i64,
        pub unread: bool = "m.read_at IS NULL",
    }
}

/// The notes that name the actor, newest first; those before `before`, where it is given.
pub fn list_mentions(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    before: Option<&NoteId>,
) -> Result<Vec<Mention>> {
    let before = before.map_or("~", |note| note.as_str());
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mentions m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             JOIN notes n ON n.ws = m.ws AND n.conversation = m.conversation AND n.id = m.id
             WHERE m.ws = ?1 AND m.person = ?2 AND m.id < ?3 AND c.circle IN (?4, ?5)
             ORDER BY m.id DESC LIMIT ?6",
            Mention::COLUMNS
        ),
        &[&cx.actor.ws, own_id(cx)?, &before, first, second, &MENTIONS_LISTED],
    )?)
}

/// Writes down that the actor has read every note that names them.
pub fn read_mentions(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    tx.exec(
        "UPDATE mentions SET read_at = ?3 WHERE ws = ?1 AND person = ?2 AND read_at IS NULL",
        &[&cx.actor.ws, own_id(cx)?, &cx.now],
    )?;
    Ok(())
}
