//! Writing as a person who has seen everything in the conversation.

use actions::writing::compose::{self, NewReply};
use actions::writing::drafts::{self, DraftApproval};
use actions::writing::seen::{SeenConversation, SeenDraft};
use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use bookings::offers::OfferInput;
use db::Tx;
use outbound::drafts::ReplyResult;

/// Approves a revision of a draft with a text. Answers when it leaves.
pub fn approve_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    text: &str,
) -> Result<i64> {
    approve_draft_at(tx, cx, id, revision, text, None)
}

/// The same for a draft that leaves at a chosen time.
pub fn approve_draft_at(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    text: &str,
    leaves_at: Option<i64>,
) -> Result<i64> {
    let (draft, _) = outbound::messages::load_outgoing(tx, cx.actor, id)?;
    let seen =
        SeenDraft { revision, conversation: SeenConversation::now(tx, cx, &draft.conversation)? };
    let approval = DraftApproval { recipients: None, text: Some(text), leaves_at };
    drafts::approve_draft(tx, cx, id, seen, &approval)?.into_result()
}

pub fn send_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    message: &NewReply,
) -> Result<ReplyResult> {
    let seen = seen_now(tx, cx, id)?;
    compose::send_reply(tx, cx, id, message, seen)?.into_result()
}

pub fn offer_times(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    message: &NewReply,
    offer: &OfferInput,
) -> Result<ReplyResult> {
    let seen = seen_now(tx, cx, id)?;
    compose::offer_times(tx, cx, id, message, offer, seen)?.into_result()
}

fn seen_now(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<SeenConversation> {
    let conversation = model::conversations::load(tx, cx.actor, id)?;
    SeenConversation::now(tx, cx, &conversation.id)
}
