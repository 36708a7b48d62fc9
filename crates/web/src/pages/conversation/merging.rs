//! Merging a conversation into another one, or several into one, undoing it, and splitting a message off.

use std::sync::Arc;

use actions::conversations::merging::{self, MergeOffer};
use actions::conversations::triage::{self, TriageAct};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use db::Tx;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageError, PageResult};
use crate::layout::wording::{Avatar, DisplayTime, StatusLabel, status_label};
use crate::pages::lists::conversation_list::{ConversationFilter, subject};
use crate::pages::lists::list_query::{ConversationButton, ListQuery};
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "merge.html", whitespace = "minimize")]
struct MergePage {
    frame: PageLayout,
    id: String,
    subject: String,
    contact: String,
    q: String,
    offers: Vec<OfferView>,
}

struct OfferView {
    id: String,
    subject: String,
    contact: String,
    avatar: Avatar,
    snippet: String,
    status: StatusLabel,
    time: DisplayTime,
}

/// Asks what a conversation is merged into.
pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let filter = ConversationFilter::from_query(&asked)?;
    let location = PageLocation::at(t!("Merge"), &filter.href);
    let (q, words) = (asked.get("q"), asked.get("q"));
    let (mut frame, (source, offers)) = web
        .page(&visitor, location, move |tx, cx, _| merging::merge_offers(tx, cx, &id, &words))
        .await?;
    frame.from = filter.full_query();
    let offers = offers.iter().map(|offer| offer_view(offer, &frame)).collect();
    let named = source.contact_name.clone().filter(|name| !name.is_empty());
    let page = MergePage {
        id: source.id.to_string(),
        subject: subject(&source.subject),
        contact: named.unwrap_or_else(|| source.contact_email.to_string()),
        q,
        offers,
        frame,
    };
    web.show(&visitor, &page)
}

fn offer_view(offer: &MergeOffer, frame: &PageLayout) -> OfferView {
    let named = offer.contact_name.clone().filter(|name| !name.is_empty());
    let contact = named.unwrap_or_else(|| offer.contact_email.to_string());
    OfferView {
        id: offer.id.to_string(),
        subject: subject(&offer.subject),
        avatar: Avatar::customer(&contact),
        contact,
        snippet: offer.snippet.clone(),
        status: status_label(offer.status, false),
        time: frame.times.short(offer.last_message_at),
    }
}

form! {
    pub struct MergeForm {
        into: String,
        from: ListQuery,
    }

    pub struct UnmergeForm {
        /// The conversation that comes back.
        source: String,
        from: ListQuery,
    }
}

pub async fn merge(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<MergeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let act = TriageAct::Merge(form.into.clone());
    run(&web, &visitor, act, &id).await?;
    web.redirect(&form.from.conversation(&form.into), Flash::Triaged)
}

pub async fn split(
    State(web): State<Arc<Web>>,
    Path((id, message)): Path<(String, String)>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    run(&web, &visitor, TriageAct::Split(message), &id).await?;
    web.redirect(&form.from.conversation(&id), Flash::Triaged)
}

async fn run(web: &Web, visitor: &Visitor, act: TriageAct, id: &str) -> Result<(), PageError> {
    let wanted = id.to_owned();
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage_one(tx, cx, &undo, &act, &wanted).map(|_| ())
    };
    web.act(visitor, work).await
}

/// Merges what is ticked in a list into the oldest of it, all or nothing.
pub async fn merge_together(
    web: &Web,
    visitor: &Visitor,
    chosen: Vec<String>,
    list: &ListQuery,
) -> PageResult {
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        actions::conversations::merge_together::merge_together(tx, cx, &chosen)
    };
    let merged = web.act(visitor, work).await?;
    let flash = if merged == 0 { Flash::NothingTriaged } else { Flash::Triaged };
    web.redirect(&list.list(), flash)
}

/// Undoes a merge, at any time later.
pub async fn undo(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<UnmergeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (target, source) = (id.clone(), form.source.clone());
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        if !merging::merged_into(tx, cx, &target)?.iter().any(|id| id.as_str() == source) {
            return Err(Error::NotFound("merge"));
        }
        merging::undo_merge(tx, cx, &source)
    };
    web.act(&visitor, work).await?;
    web.redirect(&form.from.conversation(&id), Flash::Undone)
}
