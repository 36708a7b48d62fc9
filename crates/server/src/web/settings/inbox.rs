//! One inbox: its name, who sees it, how mail comes in and goes out.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::ids::MailboxId;
use inbox::mailboxes;
use inbox::people;

use super::spot;
use crate::web::Web;
use crate::web::answers::{self, Answer, Refusal, see_other};
use crate::web::form::Posted;
use crate::web::frame::Frame;
use crate::web::visitor::Visitor;
use crate::web::wording::filters;

#[derive(Template)]
#[template(path = "settings_inbox.html")]
struct InboxPage {
    frame: Frame,
    id: String,
    name: String,
    address: String,
    local: String,
    domain: String,
    private: bool,
    open: i64,
    typed: String,
    error: String,
    mails: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor, Path(id): Path<String>) -> Answer {
    web.show(&visitor, &build(&web, &visitor, &id).await?)
}

async fn build(web: &Web, visitor: &Visitor, id: &str) -> Result<InboxPage, Refusal> {
    let wanted = mailbox_id(id)?;
    let (frame, found) = web
        .page(visitor, spot("Inboxes"), move |tx, cx, _| {
            mailboxes::seen_by(tx, cx.actor, &wanted)?.ok_or(Error::NotFound("inbox"))
        })
        .await?;
    let open = frame.shelves.inboxes.iter().find(|shelf| shelf.id == found.id);
    let (local, domain) = found.address.split_once('@').unwrap_or((&found.address, ""));
    Ok(InboxPage {
        id: id.to_owned(),
        open: open.map_or(0, |shelf| shelf.open),
        local: local.to_owned(),
        domain: domain.to_owned(),
        private: found.circle.person().is_some(),
        typed: found.name.clone(),
        name: found.name,
        address: found.address,
        error: String::new(),
        mails: web.mails,
        frame,
    })
}

pub async fn rename(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let (mailbox, name) = (mailbox_id(&id)?, fields.get("name"));
    let renamed =
        web.act(&visitor, move |tx, cx, _| people::rename_mailbox(tx, cx, &mailbox, &name)).await;
    match renamed {
        Ok(()) => {
            let mut response = see_other(&format!("/settings/inboxes/{id}"));
            web.set_flash(&mut response, "inbox-renamed");
            Ok(response)
        }
        Err(Refusal::Domain(Error::Invalid(_))) => {
            let page = build(&web, &visitor, &id).await?;
            let error = "Give the inbox a name of at most 100 characters.".to_owned();
            answers::again(&InboxPage { typed: fields.get("name"), error, ..page })
        }
        Err(refusal) => Err(refusal),
    }
}

fn mailbox_id(id: &str) -> inbox::Result<MailboxId> {
    MailboxId::parse(id).ok_or(Error::NotFound("inbox"))
}
