//! The items of issue trackers that a conversation is linked to: adding one by its address, and removing one.

use std::sync::Arc;

use axum::extract::{Path, State};
use base::error::Error;
use base::ids::LinkId;
use model::linked_items::{self, ItemState, LinkedItem};
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::flash::Flash;
use web::layout::responses::{self, FormOutcome, PageResult};
use web::pages::lists::list_query::ListQuery;

use crate::column;

/// A link as the column shows it.
pub struct LinkLine {
    pub id: String,
    pub url: String,
    pub name: String,
    pub title: String,
    /// Where it is, and how it stands.
    pub about: String,
}

impl LinkLine {
    pub fn of(link: LinkedItem) -> LinkLine {
        let state = |state: ItemState| match state {
            ItemState::Open => t!("Open"),
            ItemState::Closed => t!("Closed"),
        };
        let about = match link.state.map(state) {
            None => link.kind.label().to_owned(),
            Some(state) => format!("{} · {state}", link.kind.label()),
        };
        LinkLine {
            id: link.id.to_string(),
            url: link.url,
            name: link.name,
            title: link.title.unwrap_or_default(),
            about,
        }
    }
}

form! {
    pub struct NewLinkForm {
        url: String,
        from: ListQuery,
    }

    pub struct UnlinkForm {
        link: String,
        from: ListQuery,
    }
}

pub async fn add(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<NewLinkForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (wanted, url) = (id.clone(), form.url.clone());
    let linked =
        web.act(&visitor, move |tx, cx, _| linked_items::link(tx, cx, &wanted, &url)).await;
    match linked.or_problems()? {
        Ok(_) => web.redirect(&form.from.conversation(&id), Flash::ItemLinked),
        Err(problems) => {
            let asked = form.from.fields();
            let mut page = column::build(&web, &visitor, id, &asked).await?;
            page.column.refuse_link(form.url, &problems);
            responses::again(&page)
        }
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<UnlinkForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let link = LinkId::parse(&form.link).ok_or(Error::NotFound("link"))?;
    web.act(&visitor, move |tx, cx, _| linked_items::unlink(tx, cx, &link)).await?;
    web.redirect(&form.from.conversation(&id), Flash::ItemUnlinked)
}
