//! One inbox: its name, who sees it, how mail comes in and goes out.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use db::Tx;
use inbox::actions::{self, FetchedInbox};
use inbox::base::ids::MailboxId;
use inbox::model::domains::{self, ListedKey};
use inbox::model::mailboxes::{self, Mailbox};
use inbox::{Cx, Error};

use super::incoming_mail::{self, FetchedView, ListenerView};
use super::location;
use super::records::{self, RecordsView};
use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::filters;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "settings_inbox.html")]
pub struct InboxPage {
    frame: PageLayout,
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
    /// For those who look after it.
    pub mail: Option<MailView>,
}

/// How mail comes into the inbox and leaves it.
pub struct MailView {
    fetched: Option<FetchedView>,
    /// How it stands with mail that is not fetched.
    state: incoming_mail::StatusBadge,
    listeners: Vec<ListenerView>,
    relay: Option<String>,
    pub records: Option<RecordsView>,
}

/// What only those see who look after inboxes.
struct Kept {
    fetched: Option<FetchedInbox>,
    domain: Option<String>,
    keys: Vec<ListedKey>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &id).await?)
}

pub async fn build(web: &Web, visitor: &Visitor, id: &str) -> Result<InboxPage, PageError> {
    let wanted = mailbox_id(id)?;
    let (frame, (found, kept)) = web
        .page(visitor, location(super::SettingsPage::Inboxes), move |tx, cx, me| {
            let found =
                mailboxes::seen_by(tx, cx.actor, &wanted)?.ok_or(Error::NotFound("inbox"))?;
            let kept = me.administers().then(|| kept(tx, cx, &found)).transpose()?;
            Ok((found, kept))
        })
        .await?;
    let open = frame.sidebar.inboxes.iter().find(|filter| filter.id == found.id);
    let (local, domain) = (found.address.local(), found.address.domain().unwrap_or_default());
    Ok(InboxPage {
        id: id.to_owned(),
        open: open.map_or(0, |filter| filter.open),
        local: local.to_owned(),
        domain: domain.to_owned(),
        private: found.circle.person().is_some(),
        typed: found.name.clone(),
        name: found.name,
        address: found.address.into(),
        error: String::new(),
        mails: web.mails,
        mail: kept.map(|kept| mail_view(web, &kept, &frame)),
        frame,
    })
}

fn kept(tx: &mut Tx<'_>, cx: &Cx<'_>, inbox: &Mailbox) -> inbox::Result<Kept> {
    let fetched = actions::list_fetched(tx, cx.actor)?;
    let domain = records::ascii_domain(&inbox.address);
    Ok(Kept {
        fetched: fetched.into_iter().find(|fetched| fetched.mailbox == inbox.id),
        keys: match &domain {
            Some(domain) => domains::list_keys(tx, cx, domain)?,
            None => Vec::new(),
        },
        domain,
    })
}

fn mail_view(web: &Web, kept: &Kept, frame: &PageLayout) -> MailView {
    MailView {
        fetched: kept.fetched.as_ref().map(|it| incoming_mail::fetched_view(it, &frame.watch)),
        state: incoming_mail::listener_state(&web.ways),
        listeners: incoming_mail::listeners(&web.ways),
        relay: web.ways.sending.relay.clone(),
        records: kept.domain.as_ref().map(|domain| records::view(web, domain, &kept.keys)),
    }
}

pub async fn rename(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let (mailbox, name) = (mailbox_id(&id)?, fields.get("name"));
    let renamed =
        web.act(&visitor, move |tx, cx, _| actions::rename_mailbox(tx, cx, &mailbox, &name)).await;
    match renamed {
        Ok(()) => {
            let mut response = see_other(&format!("/settings/inboxes/{id}"));
            web.set_flash(&mut response, crate::web::Flash::InboxRenamed);
            Ok(response)
        }
        Err(PageError::Domain(Error::Invalid(_))) => {
            let page = build(&web, &visitor, &id).await?;
            let error = "Give the inbox a name of at most 100 characters.".to_owned();
            responses::again(&InboxPage { typed: fields.get("name"), error, ..page })
        }
        Err(refusal) => Err(refusal),
    }
}

pub fn mailbox_id(id: &str) -> inbox::Result<MailboxId> {
    MailboxId::parse(id).ok_or(Error::NotFound("inbox"))
}
