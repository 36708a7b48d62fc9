//! What an agent does with a draft of its own that still waits for a person.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::states::MessageStatus;
use db::Tx;
use model::conversations::Conversation;
use model::documents::document_requests::{self, RequestedDocument};
use model::guests::secure::{self, ProtectedContent};
use model::indexing::search_index;
use model::messages::recipients;
use model::messages::written_text::WrittenText;
use model::people::agent_limits;
use model::people::agent_limits::unusual::{self, JudgedMessage};
use model::people::agent_limits::words::words_of_message;

use crate::drafts::{ReplyResult, ReplyStatus, waiting_drafts};
use crate::messages::{self, OutgoingMessage};

/// Why an agent leaves a draft of its own alone.
pub(crate) const EDITED: &str = "A person has changed this draft; it was left as it is.";

/// A draft that the actor wrote and that still waits for a person. Somebody else's is not found,
/// nor one that has left or was discarded. One that a person has changed is the person's.
pub fn own_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
) -> Result<(OutgoingMessage, Conversation)> {
    let not_found = Error::NotFound("draft");
    let Some(id) = MessageId::parse(id) else { return Err(not_found) };
    let Ok((message, conversation)) = messages::load_outgoing(tx, cx.actor, &id) else {
        return Err(not_found);
    };
    let me = cx.actor.member();
    let is_mine = message.author.as_deref() == me.as_ref().map(|me| me.as_str());
    match is_mine && message.status == MessageStatus::Draft {
        true if message.edited => Err(Error::Conflict(EDITED.into())),
        true => Ok((message, conversation)),
        false => Err(not_found),
    }
}

/// Gives an own draft another text, and another summary where there is one.
pub fn rewrite(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: OutgoingMessage,
    text: &str,
    summary: Option<&str>,
) -> Result<ReplyResult> {
    let recipients = recipients::of_message(tx, cx.actor.ws, &draft.id)?;
    let documents = match &draft.request {
        Some(request) => document_requests::documents_of(tx, cx.actor.ws, request)?,
        None => Vec::new(),
    };
    let asked = documents.iter().map(RequestedDocument::words);
    let judged = JudgedMessage {
        recipients: &recipients,
        words: &words_of_message(conversation, text, asked),
        has_files: draft.forwards.is_some(),
        is_secure: draft.secure,
        summary,
    };
    agent_limits::messages::admit_rewriting(cx, conversation, &judged)?;
    unusual::note_of_draft(tx, cx, conversation, &draft.id, &judged)?;
    let written = WrittenText { text: text.to_owned(), markdown: None };
    let WrittenText { text, .. } = messages::kept_words(tx, cx, &draft, written)?;
    let summary = match (draft.secure, summary) {
        (true, Some(summary)) => {
            let content = secure::load(tx, cx, &draft.id)?;
            let summary = Some(summary.to_owned());
            secure::replace(tx, cx, &draft.id, &ProtectedContent { summary, ..content })?;
            None
        }
        (_, summary) => summary,
    };
    tx.exec(
        "UPDATE messages
         SET text = ?3, markdown = NULL, summary = coalesce(?4, summary), revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, &draft.id, &text, &summary],
    )?;
    search_index::draft(tx, cx, &draft.id)?;
    let mut other_drafts = waiting_drafts(tx, cx, conversation)?;
    other_drafts.retain(|id| *id != draft.id);
    Ok(ReplyResult {
        message_id: draft.id,
        status: ReplyStatus::Draft,
        sends_at: None,
        request_id: draft.request,
        note: "Changed. Waits for a person to approve it.".into(),
        other_drafts,
        policy: None,
    })
}
