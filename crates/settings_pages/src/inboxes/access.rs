//! Who sees an inbox, and who sends from it.

use std::sync::Arc;

use actions::inboxes::inbox_access::{self, AccessRow, InboxAccess, InboxAccessListing};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::inbox::mailbox_id;
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_access.html", whitespace = "minimize")]
struct AccessPage {
    frame: PageLayout,
    id: String,
    name: String,
    everybody: bool,
    all_send: bool,
    rows: Vec<AccessRow>,
    /// False for an owner who does not see its mail.
    seen: bool,
    error: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &id).await?)
}

async fn build(web: &Web, visitor: &Visitor, id: &str) -> Result<AccessPage, PageError> {
    let wanted = mailbox_id(id)?;
    let (frame, found): (PageLayout, InboxAccessListing) = web
        .page(visitor, location(SettingsPage::Inboxes), move |tx, cx, _| {
            inbox_access::inbox_access(tx, cx, &wanted)
        })
        .await?;
    Ok(AccessPage {
        frame,
        id: id.to_owned(),
        name: found.mailbox.name,
        everybody: found.everybody,
        all_send: found.all_send,
        rows: found.rows,
        seen: found.seen,
        error: String::new(),
    })
}

form! {
    pub struct AccessForm {
        everybody: String,
        all_send: String,
        sees: Vec<String>,
        sends: Vec<String>,
    }
}

impl AccessForm {
    fn access(&self) -> base::error::Result<InboxAccess> {
        let mut entries: Vec<AccessEntry> = Vec::new();
        for id in self.sees.iter().chain(&self.sends) {
            let holder = AccessHolder::parse(id).ok_or(Error::NotFound("person"))?;
            if !entries.iter().any(|entry| entry.holder == holder) {
                let (may_see, may_send) = (self.sees.contains(id), self.sends.contains(id));
                entries.push(AccessEntry { holder, may_see, may_send });
            }
        }
        let (everybody, all_send) = (self.everybody == "yes", self.all_send == "yes");
        Ok(InboxAccess { everybody, all_send, entries })
    }
}

pub async fn save(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<AccessForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (mailbox, access) = (mailbox_id(&id)?, form.access()?);
    let saved = web
        .act(&visitor, move |tx, cx, _| inbox_access::set_inbox_access(tx, cx, &mailbox, &access))
        .await;
    match saved.or_problems()? {
        Ok(()) => web.redirect(&format!("/settings/inboxes/{id}/access"), Flash::AccessSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, &id).await?;
            page.everybody = form.everybody == "yes";
            page.all_send = form.all_send == "yes";
            for row in &mut page.rows {
                row.sees = form.sees.contains(&row.id);
                row.sends = form.sends.contains(&row.id);
            }
            page.error = problems.sentences();
            responses::again(&page)
        }
    }
}
