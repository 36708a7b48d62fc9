//! The list, before a conversation is chosen.

use std::sync::Arc;

use actions::inboxes::first_steps;
use askama::Template;
use axum::extract::State;

use crate::Web;
use crate::forms::form::Asked;
use crate::layout::filters;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageResult, see_other};
use crate::page_version::PartVersion;
use crate::pages::lists::conversation_list::{ConversationFilter, ListView};
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "inbox.html", whitespace = "minimize")]
struct InboxPage {
    frame: PageLayout,
    list: ListView,
}

/// Where a day begins: what is yours, or everything when nothing is. Whoever looks after a workspace
/// that has no mail yet begins with its first steps.
pub async fn home(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let location = PageLocation::new("Mailroom");
    let (frame, begins) = web
        .page(&visitor, location, |tx, cx, me| {
            if !me.is_new || !me.administers() {
                return Ok(false);
            }
            Ok(first_steps::first_steps(tx, cx)?.arrived.is_none())
        })
        .await?;
    if begins {
        return Ok(see_other("/welcome"));
    }
    let mine = frame.sidebar.mine > 0;
    let view = if mine { "mine" } else { "open" };
    Ok(see_other(&format!("/inbox?view={view}")))
}

pub async fn list(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let filter = ConversationFilter::from_query(&asked)?;
    let (read, location) = (filter.clone(), PageLocation::at("", &filter.href));
    let (mut frame, listing) =
        web.page(&visitor, location, move |tx, cx, _| read.read(tx, cx)).await?;
    frame.title = listing.title.clone();
    let shown = PartVersion::of_list(&listing.items);
    frame.watch_live(filter.full_query(), shown, PartVersion::default());
    frame.from = filter.full_query();
    let list = ListView::new(&filter, listing, &frame, None);
    web.show(&visitor, &InboxPage { frame, list })
}
