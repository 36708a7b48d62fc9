//! Writes the helper's draft with its sources. It waits for a person like an agent's.

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use base::string_enum::string_enum;
use db::Tx;
use model::messages::helper_drafts::{DraftSource, HELPER_NAME};
use model::messages::recipients::RecipientList;
use model::messages::written_text::WrittenText;
use outbound::drafts::{self, DraftContent};

use super::case::DraftingCase;

string_enum! {
    /// How a draft was made.
    DraftMethod { Answers = "answers", Model = "model" }
}

/// A draft to be written, and how it was made.
#[derive(Clone, Debug)]
pub struct HelperDraft {
    pub written: WrittenText,
    pub summary: String,
    pub sources: Vec<DraftSource>,
    pub method: DraftMethod,
    pub score: f64,
    /// The model's name; empty for a built-in draft.
    pub model: String,
    pub tokens: i64,
    pub took_ms: i64,
}

/// Writes a draft as an answer to the case's message.
pub fn write_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    case: &DraftingCase,
    draft: &HelperDraft,
) -> Result<MessageId> {
    let content = DraftContent {
        recipients: RecipientList::contact(&case.conversation),
        text: &draft.written.text,
        markdown: draft.written.markdown.as_deref(),
        summary: Some(&draft.summary),
        ..DraftContent::default()
    };
    let message = drafts::keep_as_draft(tx, cx, &case.conversation, &content)?.message_id;
    tx.exec(
        "UPDATE messages SET from_name = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message, &HELPER_NAME],
    )?;
    tx.exec(
        "INSERT INTO helper_drafts (
            ws, message, conversation, mailbox, about, method, language, score, model, tokens,
            took_ms, made_at, drafted_text
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        &[
            &cx.actor.ws,
            &message,
            &case.conversation.id,
            &case.mailbox.id,
            &case.message,
            &draft.method,
            &case.language.as_deref().unwrap_or_default(),
            &draft.score,
            &draft.model,
            &draft.tokens,
            &draft.took_ms,
            &cx.now,
            &draft.written.markdown.as_ref().unwrap_or(&draft.written.text),
        ],
    )?;
    for (place, source) in draft.sources.iter().enumerate() {
        tx.exec(
            "INSERT INTO draft_sources (ws, message, place, answer, title)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            &[&cx.actor.ws, &message, &(place as i64), &source.answer, &source.title],
        )?;
    }
    Ok(message)
}
