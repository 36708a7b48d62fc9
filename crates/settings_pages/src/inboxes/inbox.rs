//! One inbox: its name, who sees it, incoming and outgoing mail.

use std::sync::Arc;

use actions::inboxes::imap_accounts::{self, FetchedInbox};
use actions::inboxes::outgoing_servers::{self, OutgoingServerListing};
use actions::inboxes::setup;
use actions::workspace::deletion;
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::MailboxId;
use db::Tx;
use model::erasure::retention;
use model::mailboxes::domains::{self, ListedKey};
use model::mailboxes::mailbox_grants::SignInProvider;
use model::mailboxes::plus_tags::{self, PlusTags};
use model::mailboxes::{self, Mailbox};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::incoming_mail::{self, FetchedView, ListenerView};
use crate::inboxes::name_rule;
use crate::inboxes::plus_tags::PlusTagsView;
use crate::inboxes::records_view::{self, RecordsView};
use crate::inboxes::server_form::reason;
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_inbox.html", whitespace = "minimize")]
pub struct InboxPage {
    frame: PageLayout,
    id: String,
    name: String,
    address: String,
    local: String,
    domain: String,
    private: bool,
    /// Not everybody on the team sees it.
    restricted: bool,
    open: i64,
    typed: String,
    error: String,
    mails: bool,
    /// The reader may delete it and say how long it keeps mail.
    deletes: bool,
    /// The days that closed conversations are kept.
    kept_days: Option<i64>,
    /// Only for owners and admins.
    pub mail: Option<MailView>,
}

/// Incoming and outgoing mail of the inbox.
pub struct MailView {
    fetched: Option<FetchedView>,
    /// Of mail that is fetched.
    plus_tags: Option<PlusTagsView>,
    /// The state of mail that is not fetched.
    state: incoming_mail::StatusBadge,
    listeners: Vec<ListenerView>,
    relay: Option<String>,
    /// Mail becomes files on this server instead of leaving.
    writes_files: bool,
    /// The server that was set in the app, for this inbox or for all.
    server: Option<OutgoingView>,
    pub records: Option<RecordsView>,
}

impl MailView {
    fn is_failing(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.error.is_some())
    }
}

/// A server that mail leaves through.
struct OutgoingView {
    host: String,
    /// Why it cannot be used.
    error: Option<String>,
    /// Somebody has to sign in again at this provider.
    sign_in_at: Option<&'static str>,
}

/// What only owners and admins see.
struct AdminPart {
    fetched: Option<FetchedInbox>,
    plus_tags: Option<PlusTags>,
    servers: Vec<OutgoingServerListing>,
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
    let (wanted, reach) = (mailbox_id(id)?, web.mail_reach());
    let (frame, (found, part, mails, deletes, kept_days)) = web
        .page(visitor, location(SettingsPage::Inboxes), move |tx, cx, me| {
            let found =
                mailboxes::seen_by(tx, cx.actor, &wanted)?.ok_or(Error::NotFound("inbox"))?;
            let part = me.administers().then(|| admin_part(tx, cx, &found)).transpose()?;
            let mails = reach.leaves_inbox(tx, cx.actor.ws, &found.id)?;
            let (deletes, ws) = (deletion::may_delete(cx, &found), cx.actor.ws);
            let kept_days = retention::kept_days(tx, ws, &found.id)?;
            Ok((found, part, mails, deletes, kept_days))
        })
        .await?;
    let counted = frame.sidebar.inboxes.iter().find(|inbox| inbox.id == found.id);
    let (local, domain) = (found.address.local(), found.address.domain().unwrap_or_default());
    Ok(InboxPage {
        id: id.to_owned(),
        open: counted.map_or(0, |inbox| inbox.open),
        local: local.to_owned(),
        domain: domain.to_owned(),
        private: found.circle.person().is_some(),
        restricted: found.circle.inbox().is_some(),
        typed: found.name.clone(),
        name: found.name,
        address: found.address.into(),
        error: String::new(),
        mails,
        deletes,
        kept_days,
        mail: part.map(|part| mail_view(web, &part, &frame, mails)),
        frame,
    })
}

fn admin_part(tx: &mut Tx<'_>, cx: &Cx<'_>, inbox: &Mailbox) -> base::error::Result<AdminPart> {
    let fetched = imap_accounts::list_fetched(tx, cx.actor)?;
    let domain = records_view::ascii_domain(&inbox.address);
    let mut servers = outgoing_servers::list_outgoing_servers(tx, cx)?;
    // The inbox's own comes before the one of all inboxes, whose name is empty.
    servers.retain(|server| server.mailbox.is_empty() || server.mailbox == inbox.id.as_str());
    servers.sort_by(|a, b| b.mailbox.cmp(&a.mailbox));
    Ok(AdminPart {
        servers,
        plus_tags: plus_tags::load(tx, cx.actor.ws, &inbox.id)?,
        fetched: fetched.into_iter().find(|fetched| fetched.mailbox == inbox.id),
        keys: match &domain {
            Some(domain) => domains::list_keys(tx, cx, domain)?,
            None => Vec::new(),
        },
        domain,
    })
}

fn mail_view(web: &Web, part: &AdminPart, frame: &PageLayout, leaves: bool) -> MailView {
    MailView {
        plus_tags: part
            .plus_tags
            .as_ref()
            .filter(|_| part.fetched.is_some())
            .map(|tags| PlusTagsView::of(tags, &frame.times, leaves)),
        fetched: part.fetched.as_ref().map(|it| incoming_mail::fetched_view(it, &frame.times)),
        state: incoming_mail::listener_state(&web.mail_setup),
        listeners: incoming_mail::listeners(&web.mail_setup),
        relay: web.mail_setup.sending.relay.clone(),
        writes_files: web.mail_setup.writes_files,
        server: part.servers.first().map(|server| OutgoingView {
            host: server.host.clone(),
            // Above it stands the same button where the inbox is fetched by the same sign-in.
            sign_in_at: server
                .provider
                .filter(|_| server.sign_in_over && part.fetched.is_none())
                .map(SignInProvider::name),
            error: server.last_error.as_deref().map(reason),
        }),
        records: part.domain.as_ref().map(|domain| records_view::view(web, domain, &part.keys)),
    }
}

form! {
    pub struct InboxNameForm {
        name: String,
    }
}

pub async fn rename(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<InboxNameForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (mailbox, name) = (mailbox_id(&id)?, form.name.clone());
    let renamed =
        web.act(&visitor, move |tx, cx, _| setup::rename_mailbox(tx, cx, &mailbox, &name)).await;
    match renamed.or_problems()? {
        Ok(()) => web.redirect(&format!("/settings/inboxes/{id}"), Flash::InboxRenamed),
        Err(_) => {
            let page = build(&web, &visitor, &id).await?;
            let error = name_rule();
            responses::again(&InboxPage { typed: form.name, error, ..page })
        }
    }
}

pub fn mailbox_id(id: &str) -> base::error::Result<MailboxId> {
    MailboxId::parse(id).ok_or(Error::NotFound("inbox"))
}
