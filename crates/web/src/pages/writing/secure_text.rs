//! What the team sees of a secure message, and what it does with one that has left.

use std::sync::Arc;

use actions::conversations::timeline::MessageEntry;
use actions::writing::secure_messages;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::{ConversationId, MessageId};
use base::states::MessageStatus;
use db::Tx;
use translation::t;

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::flash::Flash;
use crate::layout::responses::PageResult;
use crate::layout::wording::TimeFormat;

/// How far a secure message is, for its letter.
pub struct SecureTextView {
    pub words: String,
    /// It has left, so it can be taken back and opened again.
    pub has_left: bool,
    pub is_open: bool,
}

impl SecureTextView {
    pub fn of(message: &MessageEntry, times: &TimeFormat) -> Option<SecureTextView> {
        let state = message.protected.as_ref()?;
        let has_left = message.status == Some(MessageStatus::Sent);
        let is_over = state.expires_at.is_some_and(|at| at <= times.now);
        let time = |at: i64| times.long(at).text;
        let opened = match state.opened_at {
            Some(at) => t!("Opened {time}", time = time(at)),
            None => t!("Not opened yet").into(),
        };
        let words = match (has_left, state.revoked_at, state.expires_at) {
            (false, _, _) if message.status.is_none() => t!("Written on a protected page").into(),
            (false, _, _) if state.days == 1 => t!("Read on a protected page, for 1 day").into(),
            (false, _, _) => t!("Read on a protected page, for {days} days", days = state.days),
            (true, Some(at), _) => t!("{opened}. Taken back {time}", opened, time = time(at)),
            (true, None, Some(at)) if is_over => {
                t!("{opened}. Closed {time}", opened, time = time(at))
            }
            (true, None, Some(at)) => t!("{opened}. Open until {time}", opened, time = time(at)),
            (true, None, None) => opened,
        };
        Some(SecureTextView {
            words,
            has_left,
            is_open: has_left && state.revoked_at.is_none() && !is_over,
        })
    }
}

/// Takes a secure message back.
pub async fn revoke(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    change(&web, &id, &posted, secure_messages::revoke_secure, Flash::SecureRevoked).await
}

/// Leaves its page open for longer.
pub async fn extend(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    change(&web, &id, &posted, secure_messages::extend_secure, Flash::SecureExtended).await
}

/// Opens its page again and mails new links.
pub async fn send_again(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    change(&web, &id, &posted, secure_messages::send_secure_again, Flash::SecureSentAgain).await
}

type SecureAction = fn(&mut Tx<'_>, &Cx<'_>, &MessageId) -> base::error::Result<ConversationId>;

async fn change(
    web: &Web,
    id: &str,
    posted: &PostedForm,
    action: SecureAction,
    flash: Flash,
) -> PageResult {
    let id = MessageId::parse(id).ok_or(Error::NotFound("message"))?;
    let wanted = id.clone();
    let conversation = web.act(&posted.visitor, move |tx, cx, _| action(tx, cx, &wanted)).await?;
    web.redirect(&format!("/conversations/{conversation}#{id}"), flash)
}
