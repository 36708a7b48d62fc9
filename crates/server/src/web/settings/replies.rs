//! Saved replies: texts that the whole team answers with.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::actions::{self, SavedReply};
use inbox::base::ids::SavedReplyId;

use super::{SettingsPage, location};
use crate::web::Web;
use crate::web::form::{Posted, form};
use crate::web::layout::filters;
use crate::web::layout::flash::Flash;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult};
use crate::web::layout::wording::DisplayTime;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "settings_replies.html", whitespace = "minimize")]
struct RepliesPage {
    frame: PageLayout,
    replies: Vec<ReplyView>,
    /// The one that is being changed; empty for a new one.
    editing: String,
    name: String,
    body: String,
    name_error: String,
    body_error: String,
    placeholders: &'static [(&'static str, &'static str)],
}

struct ReplyView {
    id: String,
    name: String,
    gist: String,
    changed: DisplayTime,
}

impl RepliesPage {
    fn action(&self) -> String {
        match self.editing.as_str() {
            "" => "/settings/replies".into(),
            id => format!("/settings/replies/{id}"),
        }
    }

    fn heading(&self) -> &'static str {
        if self.editing.is_empty() { "Save a reply" } else { "Change it" }
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (page, _) = build(&web, &visitor).await?;
    web.show(&visitor, &page)
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let (page, replies) = build(&web, &visitor).await?;
    let found = replies.into_iter().find(|reply| reply.id.as_str() == id);
    let found = found.ok_or(Error::NotFound("saved reply"))?;
    web.show(&visitor, &RepliesPage { editing: id, name: found.name, body: found.body, ..page })
}

async fn build(web: &Web, visitor: &Visitor) -> Result<(RepliesPage, Vec<SavedReply>), PageError> {
    let (frame, replies) = web
        .page(visitor, location(SettingsPage::Replies), |tx, cx, _| {
            actions::list_saved_replies(tx, cx)
        })
        .await?;
    let view = |reply: &SavedReply| ReplyView {
        id: reply.id.to_string(),
        name: reply.name.clone(),
        gist: reply.body.split_whitespace().take(20).collect::<Vec<_>>().join(" "),
        changed: frame.times.short(reply.changed_at),
    };
    let page = RepliesPage {
        replies: replies.iter().map(view).collect(),
        frame,
        editing: String::new(),
        name: String::new(),
        body: String::new(),
        name_error: String::new(),
        body_error: String::new(),
        placeholders: actions::PLACEHOLDERS,
    };
    Ok((page, replies))
}

form! {
    pub struct SavedReplyForm {
        name: String,
        body: String,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: Posted<SavedReplyForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let (name, body) = (form.name.clone(), form.body.clone());
    let saved = web
        .act(&visitor, move |tx, cx, _| actions::save_reply(tx, cx, &name, &body).map(|_| ()))
        .await;
    answer(&web, &visitor, "", form, saved).await
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted<SavedReplyForm>,
) -> PageResult {
    let Posted { visitor, form } = posted;
    let reply = reply_id(&id)?;
    let (name, body) = (form.name.clone(), form.body.clone());
    let changed = web
        .act(&visitor, move |tx, cx, _| actions::change_saved_reply(tx, cx, &reply, &name, &body))
        .await;
    answer(&web, &visitor, &id, form, changed).await
}

/// Back to the list, or the form again with what is wrong.
async fn answer(
    web: &Web,
    visitor: &Visitor,
    editing: &str,
    form: SavedReplyForm,
    saved: Result<(), PageError>,
) -> PageResult {
    let problems = match saved {
        Ok(()) => return web.redirect("/settings/replies", Flash::ReplySaved),
        Err(PageError::Domain(Error::Invalid(problems))) => problems,
        Err(refusal) => return Err(refusal),
    };
    let (mut page, _) = build(web, visitor).await?;
    page.editing = editing.to_owned();
    (page.name, page.body) = (form.name, form.body);
    for problem in problems.0 {
        match problem.field.as_str() {
            "name" => page.name_error = problem.sentence,
            _ => page.body_error = problem.sentence,
        }
    }
    responses::again(&page)
}

pub async fn delete(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let reply = reply_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| actions::delete_saved_reply(tx, cx, &reply)).await?;
    web.redirect("/settings/replies", Flash::ReplyDeleted)
}

fn reply_id(id: &str) -> inbox::Result<SavedReplyId> {
    SavedReplyId::parse(id).ok_or(Error::NotFound("saved reply"))
}
