//! Whether the customers of each inbox are asked how a closed conversation was.

use std::sync::Arc;

use actions::inboxes::satisfaction;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::MailboxId;
use base::limits::{DAY_MS, HOUR_MS, SATISFACTION_AFTER_MS, SATISFACTION_CHANGE_MS};
use model::guests::satisfaction::SatisfactionMode;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_satisfaction.html", whitespace = "minimize")]
struct SatisfactionSettings {
    frame: PageLayout,
    inboxes: Vec<SatisfactionRow>,
    hours: i64,
    days: i64,
}

struct SatisfactionRow {
    id: String,
    name: String,
    address: String,
    mode: &'static str,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, inboxes) = web
        .page(&visitor, location(SettingsPage::Satisfaction), |tx, cx, _| {
            satisfaction::list_satisfaction(tx, cx)
        })
        .await?;
    let inboxes = inboxes.into_iter().map(|(inbox, mode)| SatisfactionRow {
        id: inbox.id.to_string(),
        name: inbox.name,
        address: inbox.address.to_string(),
        mode: mode.as_str(),
    });
    let page = SatisfactionSettings {
        frame,
        inboxes: inboxes.collect(),
        hours: SATISFACTION_AFTER_MS / HOUR_MS,
        days: SATISFACTION_CHANGE_MS / DAY_MS,
    };
    web.show(&visitor, &page)
}

form! {
    pub struct SatisfactionForm {
        mode: SatisfactionMode,
    }
}

pub async fn set(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<SatisfactionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    let mode = form.mode;
    web.act(&visitor, move |tx, cx, _| satisfaction::set_satisfaction(tx, cx, &mailbox, mode))
        .await?;
    web.redirect("/settings/satisfaction", Flash::SatisfactionSet)
}
