//! A message that asks a customer for documents, with words of its own or a greeting.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::conversations::Conversation;
use model::documents::document_requests::{self, RequestedDocument};
use model::guests::secure::SecureSendOptions;
use model::messages::mail_language::{self, salutation};
use model::messages::recipients::RecipientList;
use translation::t;

use crate::drafts::{self, DraftContent, ReplyResult};
use crate::messages;

/// What is asked for, and how.
#[derive(Clone, Debug)]
pub struct NewDocumentRequest {
    pub documents: Vec<RequestedDocument>,
    /// The words above the checklist; `None` for a greeting in the customer's language.
    pub message: Option<String>,
    pub due_date: Option<String>,
    /// False keeps it as a draft.
    pub send: bool,
    pub secure: SecureSendOptions,
}

/// Writes the message, or a draft of it.
pub fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    request: &NewDocumentRequest,
) -> Result<ReplyResult> {
    let text = words(tx, cx, conversation, request)?;
    let draft = DraftContent {
        recipients: RecipientList::contact(conversation),
        text: &text,
        documents: &request.documents,
        due_date: request.due_date.as_deref(),
        secure: request.secure,
        ..DraftContent::default()
    };
    let result = if request.send {
        drafts::send(tx, cx, conversation, &draft)?
    } else {
        drafts::keep_as_draft(tx, cx, conversation, &draft)?
    };
    if let Some(request) = &result.request_id
        && !messages::is_secure(tx, cx.actor.ws, &result.message_id)?
    {
        document_requests::explain(tx, cx, request, &text)?;
    }
    Ok(result)
}

/// The words above the checklist.
pub fn words(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    request: &NewDocumentRequest,
) -> Result<String> {
    let given = request.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let reader = mail_language::of_conversation(tx, cx.actor.ws, &conversation.id)?;
    Ok(reader.run(|| greeting(conversation)))
}

fn greeting(conversation: &Conversation) -> String {
    let salutation = salutation(conversation.contact_name.as_deref());
    format!("{salutation}\n\n{}", t!("to go on we need a few documents from you."))
}
