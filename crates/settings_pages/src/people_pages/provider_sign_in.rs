//! Connecting a mailbox by signing in at its provider: leaving for there, and what follows when the
//! browser comes back.
//!
//! A form of ours cannot end at the provider, because pages allow forms to lead to this site only and
//! browsers apply that to redirects as well. So the form's response is a page that goes on by itself.

use std::sync::Arc;

use actions::inboxes::connect_mailbox::NewConnection;
use actions::inboxes::imap_accounts::FetchFrom;
use actions::inboxes::mailbox_sign_in::{self, SignInChoice, SignInPlan};
use actions::inboxes::outgoing_servers::NewOutgoingServer;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use inbound::imap::{FetchProtocol, PostFetchAction, Security};
use model::mailboxes::mailbox_grants::{MailAuth, NewGrant, SignInProvider};
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use translation::t;
use transport::mail_oauth::{CodeGrant, OAuthClient, TokenEndpoint, refusal};
use transport::mailbox_setup::{
    IncomingServer, MailboxTrial, OutgoingServer, TrialCredential, TriedMailbox, try_graph,
};
use url::Url;
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::connect::{self, CONNECT};
use crate::inboxes::connect_fields::{ConnectFields, ConnectForm, TriedView};
use crate::inboxes::inbox::mailbox_id;

/// Characters of a code that is redeemed.
const CODE_CHARS: usize = 4 * 1024;

#[derive(Template)]
#[template(path = "leaving_for_provider.html", whitespace = "minimize")]
struct LeavingPage {
    provider: &'static str,
    url: String,
    back: String,
}

/// Leaves for a provider to connect a mailbox.
pub async fn begin(
    State(web): State<Arc<Web>>,
    Path(provider): Path<String>,
    posted: PostedForm<ConnectForm>,
) -> PageResult {
    let provider = SignInProvider::parse(&provider).ok_or(Error::NotFound("provider"))?;
    let PostedForm { visitor, form } = posted;
    web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
    let mut fields = ConnectFields::from_form(&form);
    fields.check_address_and_name(&form);
    if form.address.trim().is_empty() {
        fields.address_error = String::new();
    }
    if fields.is_wrong() {
        return responses::again(&connect::build(&web, &visitor, fields).await?);
    }
    let choice = SignInChoice {
        address: mail::normal_address(form.address.trim()),
        name: form.name.trim().to_owned(),
        private_to: form.private_to.clone(),
        history: form.history.clone(),
        receive_only: form.receive_only,
        by_graph: form.by_graph && provider.has_graph(),
        welcome: form.welcome,
        again: None,
    };
    leave(&web, &visitor, provider, choice, CONNECT.into()).await
}

/// Leaves for the provider of an inbox that has to be signed in for again.
pub async fn begin_again(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let (visitor, mailbox) = (posted.visitor, mailbox_id(&id)?);
    let asked = mailbox.clone();
    let ((provider, account), by_graph) = web
        .read(&visitor, move |tx, cx, _| {
            let grant = mailbox_sign_in::grant_of_inbox(tx, cx, &asked)?;
            Ok((grant, mailbox_sign_in::is_by_graph(tx, cx, &asked)?))
        })
        .await?;
    let choice = SignInChoice {
        address: account,
        by_graph,
        again: Some(mailbox),
        ..SignInChoice::default()
    };
    leave(&web, &visitor, provider, choice, format!("/settings/inboxes/{id}")).await
}

async fn leave(
    web: &Web,
    visitor: &Visitor,
    provider: SignInProvider,
    choice: SignInChoice,
    back: String,
) -> PageResult {
    let client = web.oauth_clients.of(provider).ok_or(Error::NotFound("provider"))?;
    let (plan, state) = web
        .read(visitor, move |_, cx, me| {
            mailbox_sign_in::plan_sign_in(cx, me, provider, choice.clone())
        })
        .await?;
    let url = client.sign_in_url(&plan, &state, &web.app.public_url);
    responses::page(&LeavingPage { provider: provider.name(), url, back })
}

/// The browser comes back: the code becomes tokens, the servers are tried out with them, and the mailbox
/// is connected.
pub async fn callback(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    // Whoever has to sign in here first begins anew: the code is for this session alone.
    let visitor = Visitor { here: CONNECT.into(), ..visitor };
    let state = asked.get("state");
    let planned = web
        .read(&visitor, move |_, cx, me| mailbox_sign_in::planned_sign_in(cx, me, &state))
        .await?;
    let Some(plan) = planned else {
        let too_old = t!(
            "This sign-in was begun in another browser or session, or too long ago. Begin it again."
        );
        return not_connected(&web, &visitor, ConnectFields::default(), too_old.into()).await;
    };
    let client = web.oauth_clients.of(plan.provider).ok_or(Error::NotFound("provider"))?;
    let fields = ConnectFields::from_choice(&plan.choice);
    let Ok(_place) = web.trials.try_acquire() else {
        let busy = t!("Several mailboxes are being tried out already. Try again in a moment.");
        return not_connected(&web, &visitor, fields, busy.into()).await;
    };
    match redeem(&web, client, &plan, &asked).await {
        Err(sentence) => not_connected(&web, &visitor, fields, sentence).await,
        Ok(granted) if plan.choice.again.is_some() => renew(&web, &visitor, plan, granted).await,
        Ok(granted) => try_and_connect(&web, &visitor, client, plan, granted, fields).await,
    }
}

async fn redeem(
    web: &Web,
    client: &OAuthClient,
    plan: &SignInPlan,
    asked: &FormFields,
) -> Result<CodeGrant, String> {
    let name = client.provider.name();
    if let Some(error) = asked.opt("error") {
        return Err(refusal(name, &error));
    }
    let code = asked.get("code");
    if code.is_empty() || code.len() > CODE_CHARS {
        return Err(t!("{name} sent you back without a code. Begin again.", name));
    }
    let (url, now) = (&web.app.public_url, web.app.clock.now());
    TokenEndpoint::new()?.redeem(client, plan, &code, url, now).await
}

/// The page of the form, with why nothing was connected.
async fn not_connected(
    web: &Web,
    visitor: &Visitor,
    fields: ConnectFields,
    trouble: String,
) -> PageResult {
    let fields = ConnectFields { trouble, ..fields };
    responses::again(&connect::build(web, visitor, fields).await?)
}

async fn renew(web: &Web, visitor: &Visitor, plan: SignInPlan, granted: CodeGrant) -> PageResult {
    let Some(mailbox) = plan.choice.again.clone() else {
        return Err(PageError::Domain(Error::NotFound("inbox")));
    };
    let path = format!("/settings/inboxes/{mailbox}");
    let new = new_grant(plan.provider, &granted);
    let renewed = web
        .act(visitor, move |tx, cx, _| mailbox_sign_in::renew_grant(tx, cx, &mailbox, &new))
        .await;
    match renewed.or_problems()? {
        Ok(()) => web.redirect(&path, Flash::SignedInAgain),
        Err(problems) => {
            let rule = problems.first_sentence();
            let trouble = t!("This inbox {rule}.", rule = translation::sentence(&rule));
            not_connected(web, visitor, ConnectFields::from_choice(&plan.choice), trouble).await
        }
    }
}

async fn try_and_connect(
    web: &Arc<Web>,
    visitor: &Visitor,
    client: &OAuthClient,
    plan: SignInPlan,
    granted: CodeGrant,
    mut fields: ConnectFields,
) -> PageResult {
    if fields.address.is_empty() {
        fields.address = granted.account.clone();
    }
    let is_account = fields.address == granted.account;
    let other = other_account(plan.provider, &fields.address, &granted.account);
    if !is_account && !has_shared_mailboxes(plan.provider) {
        return not_connected(web, visitor, fields, other).await;
    }
    // Never the account in the place of the address: its owner's mail would land in this inbox.
    let graph = client.graph.as_ref().filter(|_| plan.choice.by_graph);
    let trial = trial(client, graph, &plan.choice, &granted, fields.address.clone());
    let tried = match graph {
        Some(address) => try_graph(address, &trial).await,
        None => web.mailbox_finder.try_out(&trial).await,
    };
    if tried.works() {
        return save(web, visitor, client, &plan, &granted, &trial).await;
    }
    let is_closed = tried.incoming.is_err();
    let mut view = match graph {
        Some(_) => TriedView::of_graph(tried),
        None => TriedView::of(TriedMailbox { refused: false, ..tried }),
    };
    if graph.is_none() && client.graph.is_some() {
        let advice = t!(
            "If the organisation has switched IMAP or SMTP off, choose Microsoft Graph below and \
             sign in again."
        );
        view.advice = Some(advice.into());
    }
    if !is_account && is_closed {
        view.sentences.insert(0, other);
    }
    let mut page = connect::build(web, visitor, fields).await?;
    page.tried = Some(view);
    responses::again(&page)
}

/// Whether an account may open mailboxes other than its own, by their addresses.
fn has_shared_mailboxes(provider: SignInProvider) -> bool {
    match provider {
        SignInProvider::Microsoft => true,
        SignInProvider::Google => false,
    }
}

/// Why the account that was signed in to is not connected to this address, and what to do.
fn other_account(provider: SignInProvider, address: &str, account: &str) -> String {
    let right = match provider {
        SignInProvider::Google => t!("Sign in with the account {address}", address),
        SignInProvider::Microsoft => t!(
            "Sign in with the account {address}, or with one that has full access to it",
            address
        ),
    };
    t!(
        "You signed in at {provider} as {account}, which is not {address}, so nothing was \
         connected. {right}. If {address} is only another name of {account}, or you mean all mail \
         of that account, put {account} in as the address and sign in again.",
        provider = provider.name(),
        account,
        address,
        right
    )
}

fn trial(
    client: &OAuthClient,
    graph: Option<&Url>,
    choice: &SignInChoice,
    granted: &CodeGrant,
    username: String,
) -> MailboxTrial {
    let (incoming, outgoing) = match graph {
        Some(address) => graph_servers(address),
        None => {
            let (imap, smtp) = (client.imap.clone(), client.smtp.clone());
            let incoming =
                IncomingServer { host: imap.host, port: imap.port, security: imap.security };
            let outgoing =
                OutgoingServer { host: smtp.host, port: smtp.port, security: smtp.security };
            (incoming, outgoing)
        }
    };
    MailboxTrial {
        incoming,
        outgoing: (!choice.receive_only).then_some(outgoing),
        username,
        credential: TrialCredential::AccessToken(granted.tokens.access_token.clone()),
        provider: None,
    }
}

/// Microsoft Graph as both servers of a mailbox.
fn graph_servers(address: &Url) -> (IncomingServer, OutgoingServer) {
    let host = address.host_str().unwrap_or_default().to_owned();
    let port = address.port_or_known_default().unwrap_or_default();
    let incoming = IncomingServer { host: host.clone(), port, security: Security::Tls };
    (incoming, OutgoingServer { host, port, security: SubmissionSecurity::Tls })
}

async fn save(
    web: &Arc<Web>,
    visitor: &Visitor,
    client: &OAuthClient,
    plan: &SignInPlan,
    granted: &CodeGrant,
    trial: &MailboxTrial,
) -> PageResult {
    let choice = &plan.choice;
    let address = match choice.address.as_str() {
        "" => granted.account.clone(),
        address => address.to_owned(),
    };
    let local = address.split('@').next().unwrap_or_default().to_owned();
    let new = NewConnection {
        name: if choice.name.is_empty() { local } else { choice.name.clone() },
        private_to: choice.private_to.clone(),
        fetch: FetchFrom {
            protocol: if choice.by_graph { FetchProtocol::Graph } else { FetchProtocol::Imap },
            host: trial.incoming.host.clone(),
            port: trial.incoming.port,
            security: trial.incoming.security,
            username: trial.username.clone(),
            auth: MailAuth::OAuth,
            sealed_password: String::new(),
            folder: "INBOX".into(),
            after: PostFetchAction::Nothing,
            trusts: None,
            history: connect::history(&choice.history),
            by_operator: true,
        },
        grant: Some(new_grant(client.provider, granted)),
        send: trial.outgoing.as_ref().map(|outgoing| NewOutgoingServer {
            host: outgoing.host.clone(),
            port: outgoing.port,
            security: outgoing.security,
            username: trial.username.clone(),
            password: String::new(),
        }),
        address,
    };
    connect::save(web, visitor, new, choice.welcome, ConnectFields::from_choice(choice)).await
}

fn new_grant(provider: SignInProvider, granted: &CodeGrant) -> NewGrant {
    NewGrant { provider, account: granted.account.clone(), tokens: granted.tokens.clone() }
}
