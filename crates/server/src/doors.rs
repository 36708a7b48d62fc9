//! Every door over HTTP, behind one address.

use axum::Router;
use axum::routing::any_service;
use inbox::App;

use crate::courier::Gate;
use crate::mcp;
use crate::rest::{self, Door};
use crate::web::{self, Web};

/// What the doors are set up with.
#[derive(Clone)]
pub struct Options {
    /// The one other site whose pages may call the API.
    pub developer_site: Option<String>,
    /// Decides which webhooks may be added.
    pub gate: Gate,
    /// True when mail reaches people.
    pub mails: bool,
}

/// The API and the MCP server at their addresses, the web app everywhere else.
pub fn router(app: App, options: Options) -> Router {
    let api = rest::router(Door::new(app.clone(), options.developer_site));
    web::router(Web::new(app, options.gate, options.mails))
        .route(mcp::PATH, any_service(api.clone()))
        // MCP clients look here for a way to sign in, and want their misses as JSON.
        .route("/mcp/", any_service(api.clone()))
        .route("/.well-known/{*rest}", any_service(api.clone()))
        .route("/register", any_service(api.clone()))
        .route("/api", any_service(api.clone()))
        .route("/api/{*rest}", any_service(api))
}
