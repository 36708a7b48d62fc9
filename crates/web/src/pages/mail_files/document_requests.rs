//! A document request in the timeline, and what people do about it.

use std::sync::Arc;

use actions::documents::document_requests::{self, RequestCard, RequestItem, RequestState};
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::RequestId;
use db::Tx;
use translation::{t, text_in_context};

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::flash::Flash;
use crate::layout::responses::PageResult;
use crate::layout::wording::{DisplayTime, TimeFormat};
use crate::pages::lists::list_query::ConversationButton;

pub struct RequestView {
    pub id: String,
    /// How many documents were asked for, in words.
    pub asked: String,
    pub state: &'static str,
    pub state_class: &'static str,
    pub due: Option<String>,
    pub reminded: Option<DisplayTime>,
    pub reminders_stopped: bool,
    pub completed: Option<DisplayTime>,
    pub link: Option<String>,
    pub may_close: bool,
    pub may_reopen: bool,
    pub may_revoke: bool,
    pub items: Vec<ItemView>,
}

pub struct ItemView {
    pub icon: &'static str,
    pub label: String,
    /// What the customer reads below the label.
    pub description: Option<String>,
    pub state: &'static str,
    pub is_in: bool,
    /// Where each document is, and what it is called.
    pub documents: Vec<(String, String)>,
}

impl RequestView {
    pub fn of(card: &RequestCard, times: &TimeFormat) -> RequestView {
        let (state, state_class) = match card.state {
            RequestState::Unsent => ("", ""),
            RequestState::Open => (t!("Waiting on customer"), ""),
            RequestState::Complete => (t!("Everything is in"), "ok"),
            RequestState::Closed => (t!("Closed"), ""),
            RequestState::Revoked => (t!("Link taken back"), ""),
        };
        let asked = match card.items.len() {
            1 => t!("1 document asked for").to_owned(),
            n => t!("{n} documents asked for", n),
        };
        let ended = matches!(card.state, RequestState::Closed | RequestState::Revoked);
        RequestView {
            id: card.id.to_string(),
            asked,
            state,
            state_class,
            due: card.due_date.clone(),
            reminded: card.remind_at.map(|at| times.long(at)),
            reminders_stopped: card.reminders_stopped,
            completed: card.completed_at.map(|at| times.long(at)),
            link: card.link.clone().filter(|_| card.state != RequestState::Unsent),
            may_close: card.state == RequestState::Open,
            may_reopen: ended,
            may_revoke: matches!(card.state, RequestState::Open | RequestState::Complete)
                && card.link.is_some(),
            items: card.items.iter().map(item_view).collect(),
        }
    }
}

fn item_view(item: &RequestItem) -> ItemView {
    let is_in = !item.documents.is_empty();
    let state = match (item.documents.len(), item.on_the_way) {
        (0, 0) if item.required => t!("Required"),
        (0, 0) => t!("Nice to have"),
        (0, _) => t!("Being added"),
        _ => text_in_context("document", "In"),
    };
    let link = |(id, name): &(base::ids::DocumentId, String)| {
        (format!("/documents?doc={id}#detail"), name.clone())
    };
    ItemView {
        icon: if is_in { "done" } else { "open" },
        label: item.label.clone(),
        description: item.description.clone(),
        state,
        is_in,
        documents: item.documents.iter().map(link).collect(),
    }
}

pub async fn close(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    change(&web, &id, posted, Flash::RequestClosed, document_requests::close_request).await
}

pub async fn reopen(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    change(&web, &id, posted, Flash::RequestReopened, document_requests::reopen_request).await
}

pub async fn revoke(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    change(&web, &id, posted, Flash::RequestRevoked, document_requests::revoke_request).await
}

type Change = fn(&mut Tx<'_>, &Cx<'_>, &RequestId) -> base::error::Result<()>;

async fn change(
    web: &Web,
    id: &str,
    posted: PostedForm<ConversationButton>,
    flash: Flash,
    change: Change,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = RequestId::parse(id).ok_or(Error::NotFound("request"))?;
    let conversation = web
        .act(&visitor, move |tx, cx, _| {
            change(tx, cx, &id)?;
            document_requests::conversation_of(tx, cx, &id)
        })
        .await?;
    web.redirect(&form.from.conversation(conversation.as_str()), flash)
}
