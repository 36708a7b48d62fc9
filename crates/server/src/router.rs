//! The HTTP router: the app, REST, MCP and the services' webhooks on one address.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::routing::any_service;
use base::app::App;
use document_reader::DocumentTexts;
use jobs::Relay;
use node::quiet::QuietMode;
use transport::http::request_body::LARGE_BODIES;
use transport::http::slots::Slots;
use transport::mail_oauth::OAuthClients;
use transport::mail_out::ServerConnectConfig;
use transport::mailbox_setup::MailboxFinder;
use transport::net::ssrf_guard::SsrfGuard;
use transport::oidc::OidcClient;
use transport::reply_model::ModelEndpoint;
use web::{DemoVisits, FirstRun, Presence, Web, WebOptions};

use crate::api::http::ApiContext;
use crate::api::{mcp, oauth, rest};
use crate::demo;

pub use web::MailSetup;

/// The configuration of the API and the web app.
#[derive(Clone)]
pub struct HttpOptions {
    /// The one other site whose pages may call the API.
    pub developer_site: Option<String>,
    /// True where OAuth clients may register themselves.
    pub oauth_registration: bool,
    /// Decides which webhooks may be added.
    pub ssrf_guard: SsrfGuard,
    /// True when mail reaches people.
    pub mails: bool,
    pub quiet: QuietMode,
    pub mail_setup: MailSetup,
    /// This program, which is started to decode files in the sandbox.
    pub program: PathBuf,
    /// Sends test mails.
    pub relay: Arc<dyn Relay>,
    /// Tries out the servers that people name.
    pub dialling: ServerConnectConfig,
    /// Finds the servers of a mailbox.
    pub mailbox_finder: Arc<MailboxFinder>,
    /// The language model that drafts replies, as the settings page names it.
    pub model: Option<ModelEndpoint>,
    /// Where people can sign in to connect a mailbox.
    pub oauth_clients: OAuthClients,
    /// Who has which conversation open, where the jobs of this process ask for it.
    pub presence: Option<Arc<Presence>>,
    /// The OpenID provider at which people sign in.
    pub oidc: Option<OidcClient>,
    /// The set-up in the browser, where there is no workspace yet.
    pub first_run: Option<Arc<FirstRun>>,
    /// Lets visitors in, in a public demo.
    pub demo_visits: Option<Arc<dyn DemoVisits>>,
}

/// The API and the MCP server at their addresses, the web app everywhere else.
pub fn router(app: App, options: HttpOptions) -> Router {
    let bodies = Slots::new(LARGE_BODIES);
    let texts = Arc::new(DocumentTexts::new(options.program.clone()));
    let context = ApiContext::new(
        app.clone(),
        options.developer_site,
        bodies.clone(),
        texts.clone(),
        options.ssrf_guard.clone(),
    );
    let mcp = mcp::router(context.clone());
    let rest = rest::router(context.clone());
    let oauth = oauth::router(context, options.oauth_registration);
    let has_oauth = oauth.has_routes();
    let outgoing = web::OutgoingMailSetup {
        reaches_people: options.mails,
        relay: options.relay,
        dialling: options.dialling,
    };
    let web = WebOptions {
        ssrf_guard: options.ssrf_guard,
        outgoing,
        mailbox_finder: options.mailbox_finder,
        oauth_clients: options.oauth_clients,
        oidc: options.oidc,
        quiet: options.quiet,
        mail_setup: options.mail_setup,
        program: options.program,
        large_bodies: bodies,
        document_texts: texts,
        model: options.model,
        presence: options.presence.unwrap_or_else(|| Presence::new(&app, None)),
        first_run: options.first_run,
        fill_sample: demo::sample_filler(),
        demo_visits: options.demo_visits,
    };
    let others = settings_pages::router()
        .merge(agent_pages::router())
        .merge(side_column::router())
        .merge(help::router())
        .merge(customer_pages::router())
        .merge(developer_site::router());
    let router = web::router(Web::new(app, web), others).merge(oauth);
    let router =
        if has_oauth { router } else { router.route("/register", any_service(rest.clone())) };
    router
        .route(mcp::PATH, any_service(mcp))
        // MCP clients look here for a way to sign in, and want their misses as JSON.
        .route("/mcp/", any_service(rest.clone()))
        .route("/.well-known/{*rest}", any_service(rest.clone()))
        .route("/api", any_service(rest.clone()))
        .route("/api/{*rest}", any_service(rest))
}
