//! Drafts of the helper: what they rest on, and their end when something newer is said.

use std::collections::HashMap;

use base::app::Cx;
use base::error::Result;
use base::ids::{AnswerId, ConversationId, MessageId};
use db::Tx;

use crate::conversations::timeline::{self, RetiredBy, TimelineEvent};
use crate::conversations::{self, Conversation};
use crate::figures::report_facts;
use crate::indexing::search_index;
use crate::messages::draft_outcomes::{self, DraftOutcome};

/// The name that the helper's drafts have until a person approves them.
pub const HELPER_NAME: &str = "Drafting helper";
/// Drafts of the helper in one conversation that are read at once.
const READ: i64 = 500;

/// An answer that a draft rests on, with the title that it had then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftSource {
    pub answer: AnswerId,
    pub title: String,
}

/// The text of a message as the helper drafted it; `None` for a message of somebody else.
pub fn drafted_text(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<Option<String>> {
    let found: Option<(Option<String>,)> = tx.opt(
        "SELECT drafted_text FROM helper_drafts WHERE ws = ?1 AND message = ?2",
        &[&ws, message],
    )?;
    Ok(found.map(|(text,)| text.unwrap_or_default()))
}

/// Who a draft is counted for in reports: its author, the helper, or nobody for what a rule drafted.
pub fn counted_author(
    tx: &mut Tx<'_>,
    ws: i64,
    message: &MessageId,
    author: Option<&str>,
) -> Result<Option<String>> {
    if author.is_some() {
        return Ok(author.map(str::to_owned));
    }
    let found: Option<(MessageId,)> = tx
        .opt("SELECT message FROM helper_drafts WHERE ws = ?1 AND message = ?2", &[&ws, message])?;
    Ok(found.map(|_| report_facts::HELPER_NAME.to_owned()))
}

/// The sources of the helper's messages in a conversation, by message.
pub fn in_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<HashMap<MessageId, Vec<DraftSource>>> {
    let drafts: Vec<(MessageId,)> = tx.all(
        "SELECT message FROM helper_drafts WHERE ws = ?1 AND conversation = ?2
         ORDER BY message DESC LIMIT ?3",
        &[&ws, conversation, &READ],
    )?;
    let mut found = HashMap::new();
    for (message,) in drafts {
        let sources: Vec<(AnswerId, String)> = tx.all(
            "SELECT answer, title FROM draft_sources WHERE ws = ?1 AND message = ?2 ORDER BY place",
            &[&ws, &message],
        )?;
        let source = |(answer, title)| DraftSource { answer, title };
        found.insert(message, sources.into_iter().map(source).collect());
    }
    Ok(found)
}

/// Retires the helper's drafts that wait in a conversation, because somebody wrote. `except` is the
/// message that is just being sent.
pub fn retire(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    except: Option<&MessageId>,
    by: RetiredBy,
) -> Result<()> {
    if !conversation.has_draft {
        return Ok(());
    }
    let except = except.map_or("", |message| message.as_str());
    let waiting: Vec<(MessageId,)> = tx.all(
        "SELECT h.message FROM helper_drafts h
         JOIN messages m ON m.ws = h.ws AND m.id = h.message
         WHERE h.ws = ?1 AND h.conversation = ?2 AND h.message <> ?3
           AND m.status = 'draft' AND m.discarded_at IS NULL
         ORDER BY h.message LIMIT ?4",
        &[&cx.actor.ws, &conversation.id, &except, &READ],
    )?;
    for (message,) in &waiting {
        retire_one(tx, cx, conversation, message, by)?;
    }
    match waiting.is_empty() {
        true => Ok(()),
        false => conversations::note_drafts(tx, cx, conversation),
    }
}

fn retire_one(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    by: RetiredBy,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET discarded_at = ?3, revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, message, &cx.now],
    )?;
    search_index::draft(tx, cx, message)?;
    let outcome = match by {
        RetiredBy::Customer => DraftOutcome::Retired,
        RetiredBy::Team => DraftOutcome::Overtaken,
    };
    draft_outcomes::note(tx, cx, message, outcome, 0.0)?;
    let retired = TimelineEvent::DraftRetired { message_id: message.clone(), by };
    timeline::record(tx, cx, &conversation.id, &retired)
}

/// A message of the helper that was stopped is a draft again, whose outcome is open; if something
/// was said meanwhile, it is retired at once.
pub fn reopen(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    serial: i64,
) -> Result<()> {
    let reopened = tx.exec(
        "UPDATE helper_drafts SET outcome = NULL, changed = NULL, decided_at = NULL
         WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message],
    )?;
    if reopened == 0 {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE messages SET from_name = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message, &HELPER_NAME],
    )?;
    let newer: Option<(String,)> = tx.opt(
        "SELECT direction FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL AND serial > ?3
           AND NOT automatic
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &conversation.id, &serial],
    )?;
    match newer {
        None => Ok(()),
        Some((direction,)) => {
            let by = if direction == "inbound" { RetiredBy::Customer } else { RetiredBy::Team };
            retire_one(tx, cx, conversation, message, by)?;
            conversations::note_drafts(tx, cx, conversation)
        }
    }
}

/// Forgets the text as it was drafted, once the message has left.
pub fn forget_drafted_text(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<()> {
    tx.exec_soon(
        "UPDATE helper_drafts SET drafted_text = NULL WHERE ws = ?1 AND message = ?2",
        &[&ws, message],
    )?;
    Ok(())
}
