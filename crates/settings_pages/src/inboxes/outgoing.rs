//! The servers that mail leaves through: of one inbox, and of all inboxes without their own. They are
//! tried out before they are saved.

use std::sync::Arc;

use actions::inboxes::first_steps::{FirstStepTrial, record_outcome};
use actions::inboxes::outgoing_servers::{
    self, NewOutgoingServer, OutgoingServerListing, ServerScope, set_outgoing_server,
};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::MailboxId;
use jobs::{RelayOutcome, RelayReason, TestMail, send_test_mail};
use model::mailboxes::mailbox_grants::SignInProvider;
use model::mailboxes::outgoing_servers::{ALL_INBOXES, SubmissionSecurity};
use model::mailboxes::{self, Mailbox};
use translation::{msg, t};
use transport::mail_out::try_submission;
use web::Web;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::inboxes::inbox::mailbox_id;
use crate::inboxes::server_form::{ServerFields, ServerForm, reason};
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_outgoing.html", whitespace = "minimize")]
struct OutgoingPage {
    frame: PageLayout,
    /// The address of this page, which its forms post to.
    path: String,
    /// The inbox whose server it is; `None` for all.
    inbox: Option<InboxName>,
    /// The server that is set.
    server: Option<ServerView>,
    /// The server of all inboxes, on the page of an inbox without its own.
    shared: Option<String>,
    /// The operator's relay, where mail reaches people through it.
    relay: Option<String>,
    /// Mail becomes files on this server instead of leaving.
    writes_files: bool,
    fields: ServerFields,
    /// Why the server was not saved.
    trouble: Option<String>,
    /// What became of a test mail.
    tested: Option<TestedView>,
    /// Every inbox with the server that it sends through, on the page of all.
    inboxes: Vec<InboxServer>,
}

impl OutgoingPage {
    /// The server is signed in to at its provider.
    fn signs_in(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.provider.is_some())
    }
}

struct InboxName {
    id: String,
    name: String,
    address: String,
}

struct ServerView {
    host: String,
    port: i64,
    /// By Microsoft Graph instead of SMTP.
    by_graph: bool,
    security: &'static str,
    username: String,
    last_sent: Option<DisplayTime>,
    /// Since when and why it cannot be used.
    failing: Option<(DisplayTime, String)>,
    by_owner: bool,
    /// The provider that was signed in at, where that is no password.
    provider: Option<&'static str>,
    /// Somebody has to sign in there again.
    sign_in_over: bool,
}

struct TestedView {
    class: &'static str,
    icon: &'static str,
    title: String,
    sentence: String,
}

struct InboxServer {
    id: String,
    name: String,
    address: String,
    /// Its own server's host.
    own: Option<String>,
    failing: bool,
}

/// What the page reads.
struct OutgoingRead {
    servers: Vec<OutgoingServerListing>,
    inboxes: Vec<Mailbox>,
}

pub async fn page_of_all(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &ServerScope::All).await?)
}

pub async fn page_of_inbox(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let scope = ServerScope::Inbox(mailbox_id(&id)?);
    web.show(&visitor, &build(&web, &visitor, &scope).await?)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    scope: &ServerScope,
) -> Result<OutgoingPage, PageError> {
    let (wanted, place) = match scope {
        ServerScope::All => (None, location(SettingsPage::Outgoing)),
        ServerScope::Inbox(id) => (Some(id.clone()), location(SettingsPage::Inboxes)),
    };
    let (frame, read) = web
        .page(visitor, place, move |tx, cx, _| {
            cx.actor.must_administer()?;
            let servers = outgoing_servers::list_outgoing_servers(tx, cx)?;
            let inboxes = match &wanted {
                None => mailboxes::all_seen_by(tx, cx.actor)?,
                Some(id) => {
                    vec![mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?]
                }
            };
            Ok(OutgoingRead { servers, inboxes })
        })
        .await?;
    Ok(view(web, frame, scope, read))
}

fn view(web: &Web, frame: PageLayout, scope: &ServerScope, read: OutgoingRead) -> OutgoingPage {
    let OutgoingRead { servers, inboxes } = read;
    let of = |mailbox: &str| servers.iter().find(|listed| listed.mailbox == mailbox);
    let all = of(ALL_INBOXES);
    let (path, listed, inbox) = match scope {
        ServerScope::All => ("/settings/outgoing".to_owned(), all, None),
        ServerScope::Inbox(id) => {
            let path = format!("/settings/inboxes/{id}/outgoing");
            (path, of(id.as_str()), inboxes.first().map(inbox_name))
        }
    };
    let is_all = inbox.is_none();
    let line = |inbox: &Mailbox| {
        let own = of(inbox.id.as_str());
        let InboxName { id, name, address } = inbox_name(inbox);
        let failing = own.or(all).is_some_and(|listed| listed.failing_since.is_some());
        InboxServer { id, name, address, own: own.map(|listed| listed.host.clone()), failing }
    };
    let relay = web.outgoing.reaches_people.then(|| match &web.mail_setup.sending.relay {
        Some(host) => t!("the relay {host}", host),
        None => t!("the servers of the recipients").to_owned(),
    });
    OutgoingPage {
        path,
        server: listed.map(|listed| server_view(listed, &frame)),
        shared: all.filter(|_| !is_all).map(|listed| listed.host.clone()),
        relay,
        writes_files: web.mail_setup.writes_files,
        fields: listed.map(ServerFields::of).unwrap_or_default(),
        trouble: None,
        tested: None,
        inboxes: if is_all { inboxes.iter().map(line).collect() } else { Vec::new() },
        inbox,
        frame,
    }
}

fn inbox_name(inbox: &Mailbox) -> InboxName {
    InboxName {
        id: inbox.id.to_string(),
        name: inbox.name.clone(),
        address: inbox.address.to_string(),
    }
}

fn server_view(listed: &OutgoingServerListing, frame: &PageLayout) -> ServerView {
    let failing = listed.failing_since.map(|since| {
        let words = listed.last_error.as_deref().unwrap_or_default();
        (frame.times.long(since.0), reason(words))
    });
    ServerView {
        host: listed.host.clone(),
        port: listed.port,
        by_graph: listed.by_graph,
        security: match listed.security {
            SubmissionSecurity::Tls => "TLS",
            SubmissionSecurity::StartTls => "STARTTLS",
            SubmissionSecurity::Plain => t!("not encrypted"),
        },
        username: listed.username.clone(),
        last_sent: listed.last_sent_at.map(|at| frame.times.long(at.0)),
        failing,
        by_owner: listed.by_owner,
        provider: listed.provider.map(SignInProvider::name),
        sign_in_over: listed.sign_in_over,
    }
}

pub async fn save_for_all(
    State(web): State<Arc<Web>>,
    posted: PostedForm<ServerForm>,
) -> PageResult {
    save(&web, posted, ServerScope::All).await
}

pub async fn save_for_inbox(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ServerForm>,
) -> PageResult {
    let scope = ServerScope::Inbox(mailbox_id(&id)?);
    save(&web, posted, scope).await
}

/// Tries the server out, and saves it if it works.
async fn save(web: &Web, posted: PostedForm<ServerForm>, scope: ServerScope) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let new = form.server();
    let (asked, typed) = (scope.clone(), new.clone());
    let proposed = web
        .read(&visitor, move |tx, cx, _| outgoing_servers::proposed_server(tx, cx, &asked, &typed));
    let server = match proposed.await.or_problems()? {
        Ok(server) => server,
        Err(problems) => {
            let page = build(web, &visitor, &scope).await?;
            let fields = ServerFields::from_form(&form).with(&problems);
            return responses::again(&OutgoingPage { fields, ..page });
        }
    };
    let tried = match web.trials.try_acquire() {
        Ok(_place) => try_submission(&server, &web.outgoing.dialling).await,
        Err(_) => return refuse(web, &visitor, &scope, &form, BUSY.into()).await,
    };
    if let Err(failure) = tried {
        return refuse(web, &visitor, &scope, &form, failure.sentence).await;
    }
    let saved = scope.clone();
    web.act(&visitor, move |tx, cx, _| set_outgoing_server(tx, cx, &saved, &new)).await?;
    web.redirect(&path_of(&scope), Flash::OutgoingSaved)
}

const BUSY: &str = msg!("Several servers are being tried out already. Try again in a moment.");

async fn refuse(
    web: &Web,
    visitor: &Visitor,
    scope: &ServerScope,
    form: &ServerForm,
    sentence: String,
) -> PageResult {
    let page = build(web, visitor, scope).await?;
    let fields = ServerFields::from_form(form);
    let trouble = Some(translation::sentence(&sentence).into_owned());
    responses::again(&OutgoingPage { fields, trouble, ..page })
}

pub async fn remove_for_all(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    remove(&web, &posted.visitor, ServerScope::All).await
}

pub async fn remove_for_inbox(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let scope = ServerScope::Inbox(mailbox_id(&id)?);
    remove(&web, &posted.visitor, scope).await
}

async fn remove(web: &Web, visitor: &Visitor, scope: ServerScope) -> PageResult {
    let path = path_of(&scope);
    web.act(visitor, move |tx, cx, _| outgoing_servers::remove_outgoing_server(tx, cx, &scope))
        .await?;
    web.redirect(&path, Flash::OutgoingRemoved)
}

fn path_of(scope: &ServerScope) -> String {
    match scope {
        ServerScope::All => "/settings/outgoing".into(),
        ServerScope::Inbox(id) => format!("/settings/inboxes/{id}/outgoing"),
    }
}

/// Sends a mail from the inbox to the person who asks, and shows what became of it.
pub async fn send_test(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let (visitor, mailbox) = (posted.visitor, mailbox_id(&id)?);
    let tested = test(&web, &visitor, &mailbox).await?;
    let page = build(&web, &visitor, &ServerScope::Inbox(mailbox)).await?;
    web.show(&visitor, &OutgoingPage { tested: Some(tested), ..page })
}

async fn test(web: &Web, visitor: &Visitor, mailbox: &MailboxId) -> Result<TestedView, PageError> {
    let actor = web
        .read(visitor, |_, cx: &Cx<'_>, me| {
            cx.actor.must_administer()?;
            Ok(me.actor.clone())
        })
        .await?;
    let Ok(_place) = web.trials.try_acquire() else {
        return Ok(not_sent(t!("Nothing was sent"), translation::text(BUSY).into()));
    };
    if web.quiet.is_quiet() {
        let sentence = translation::sentence(node::quiet::QUIET_SENTENCE).into_owned();
        return Ok(not_sent(t!("Nothing was sent"), sentence));
    }
    let sent = send_test_mail(&web.app, &*web.outgoing.relay, &actor, mailbox).await?;
    let (good, to) = (sent.outcome == RelayOutcome::Delivered, sent.to.clone());
    web.act_quietly(visitor, move |tx, cx, _| {
        record_outcome(tx, cx, FirstStepTrial::TestMail, good, &to)
    })
    .await?;
    Ok(tested_view(sent))
}

fn not_sent(title: &str, sentence: String) -> TestedView {
    TestedView { class: "warn", icon: "warn", title: title.into(), sentence }
}

fn tested_view(sent: TestMail) -> TestedView {
    let TestMail { to, outcome } = sent;
    let reason =
        |words: RelayReason| t!("The reason: {reason}.", reason = reason(words.sentence()));
    match outcome {
        RelayOutcome::Delivered => TestedView {
            class: "ok",
            icon: "check",
            title: t!("A test mail to {to} was accepted", to),
            sentence: t!(
                "It should be there in a moment. If it is not, look into the spam folder."
            )
            .into(),
        },
        RelayOutcome::Later(words) | RelayOutcome::Unavailable(words) => {
            not_sent(t!("The test mail could not be sent now"), reason(words))
        }
        RelayOutcome::Never(words) => TestedView {
            class: "danger",
            icon: "fail",
            title: t!("The test mail to {to} was refused", to),
            sentence: reason(words),
        },
    }
}

impl ServerForm {
    /// The server that was typed in.
    pub fn server(&self) -> NewOutgoingServer {
        let port = self.port.and_then(|port| u16::try_from(port).ok());
        NewOutgoingServer {
            host: self.host.trim().trim_end_matches('.').to_ascii_lowercase(),
            port: port.unwrap_or(0),
            security: SubmissionSecurity::parse(&self.security).unwrap_or(SubmissionSecurity::Tls),
            username: self.username.trim().to_owned(),
            password: self.password.clone(),
        }
    }
}
