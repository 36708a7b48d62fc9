//! Internal notes: writing one, and telling those whom it mentions.

use base::app::Cx;
use base::error::Result;
use base::ids::NoteId;
use db::Tx;

use crate::conversations::agent_acts::{self, AgentActKind};
use crate::conversations::mentions::{self, Mentions};
use crate::conversations::{self, Conversation};
use crate::indexing::search_index;
use crate::people::agent_limits::changes::ConversationAct;

/// A note that was written, and whom it mentions.
pub struct NewNote {
    pub id: NoteId,
    pub mentions: Mentions,
}

/// Adds a note in the actor's name.
pub fn add(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    body: &str,
) -> Result<NewNote> {
    conversations::admit_change(tx, cx, conversation, ConversationAct::HandOver)?;
    let id = NoteId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO notes (ws, conversation, id, at, author, author_name, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &cx.actor.ws,
            &conversation.id,
            &id,
            &cx.now,
            &cx.actor.member().as_ref().map_or("", |member| member.as_str()),
            &cx.actor.name(),
            &body,
        ],
    )?;
    let text = (cx.actor.name(), body);
    search_index::new_note(tx, cx.actor.ws, &conversation.id, &id, text)?;
    let mentions = mentions::tell(tx, cx, conversation, &id, body)?;
    agent_acts::note_made(tx, cx, AgentActKind::Noted, &conversation.id, id.as_str())?;
    Ok(NewNote { id, mentions })
}
