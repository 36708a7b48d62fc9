//! Search, with the grammar of the API.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::Error;
use inbox::api::fields::check_query;
use inbox::api::operations::{LIST_CONVERSATIONS, ListConversationsInput, list_conversations};
use inbox::model::mailboxes;

use crate::web::Web;
use crate::web::form::{Asked, FormFields};
use crate::web::layout::filters;
use crate::web::layout::page_layout::{PageLayout, PageLocation};
use crate::web::layout::responses::{self, PageResult};
use crate::web::layout::wording::{Avatar, StatusLabel, status_label};
use crate::web::pages::conversation_list::{RowView, row};
use crate::web::visitor::Visitor;

/// Conversations on one page of results.
const FOUND: i64 = 20;

#[derive(Template)]
#[template(path = "search.html", whitespace = "minimize")]
struct SearchPage {
    frame: PageLayout,
    q: String,
    view: String,
    mailbox: String,
    assigned: String,
    problem: String,
    inboxes: Vec<(String, String)>,
    searched: bool,
    hits: Vec<Hit>,
    next: Option<String>,
}

struct Hit {
    row: RowView,
    avatar: Avatar,
    status: StatusLabel,
    inbox: String,
    tags: Vec<String>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let q = asked.get("q").trim().to_owned();
    let view = asked.opt("view").unwrap_or_else(|| "all".into());
    let (mailbox, assigned) = (asked.get("mailbox"), asked.get("assigned"));
    let (input, problem) = match checked(&asked, &q, &view) {
        Ok(input) => (input, String::new()),
        Err(Error::Invalid(problems)) => {
            let first = problems.0.into_iter().next();
            (None, first.map(|p| format!("{}: {}", p.field, p.sentence)).unwrap_or_default())
        }
        Err(error) => return Err(error.into()),
    };
    let searched = input.is_some();
    let (frame, (page, inboxes)) = web
        .page(&visitor, PageLocation::new("Search"), move |tx, cx, _| {
            let page = match &input {
                Some(input) => Some(list_conversations(tx, cx, input.clone())?),
                None => None,
            };
            Ok((page, mailboxes::all_seen_by(tx, cx.actor)?))
        })
        .await?;
    let (items, cursor) = page.map(|page| (page.items, page.next)).unwrap_or_default();
    let hits = items.iter().map(|summary| {
        let row = row(summary, &frame.times, "");
        Hit {
            avatar: Avatar::customer(&row.who),
            status: status_label(summary.status, false),
            inbox: summary.mailbox.clone(),
            tags: summary.tags.0.clone(),
            row,
        }
    });
    let hits = hits.collect();
    let next = cursor.map(|cursor| {
        let kept = asked.pairs().iter().filter(|(name, _)| name != "cursor");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .append_pair("cursor", &cursor)
            .finish();
        format!("/search?{query}")
    });
    let inboxes = inboxes.into_iter().map(|inbox| (inbox.id.to_string(), inbox.name)).collect();
    responses::page(&SearchPage {
        frame,
        q,
        view,
        mailbox,
        assigned,
        problem,
        inboxes,
        searched,
        hits,
        next,
    })
}

/// The input after the API's own checks; `None` when there is nothing to look for.
fn checked(
    asked: &FormFields,
    q: &str,
    view: &str,
) -> inbox::Result<Option<ListConversationsInput>> {
    if q.is_empty() {
        return Ok(None);
    }
    let mut pairs = vec![("q".to_owned(), q.to_owned()), ("view".to_owned(), view.to_owned())];
    for name in ["mailbox", "assigned", "cursor"] {
        pairs.extend(asked.opt(name).map(|value| (name.to_owned(), value)));
    }
    check_query(LIST_CONVERSATIONS.fields, &pairs).map_err(Error::Invalid)?;
    Ok(Some(ListConversationsInput {
        view: Some(view.to_owned()),
        mailbox: asked.opt("mailbox"),
        q: Some(q.to_owned()),
        assigned: asked.opt("assigned"),
        limit: Some(FOUND),
        cursor: asked.opt("cursor"),
        ..ListConversationsInput::default()
    }))
}
