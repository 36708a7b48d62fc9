//! What a browser needs to install the app: its manifest, and the page that is shown without a connection.

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use serde_json::json;
use translation::t;

use crate::layout::filters;
use crate::layout::responses::{self, PageResult};

/// The name of the app on a home screen.
const NAME: &str = "Mailroom";
/// The colour behind the icon while the app opens, and of the bar above it.
const PAPER: &str = "#f7f5f0";
const INK: &str = "#0b5c61";

/// The manifest, in the language of the reader. Its addresses begin where the app does.
pub async fn manifest() -> Response<Body> {
    let shortcut = |name: &str, url: &str| json!({ "name": name, "url": url });
    let icon = |file: &str, purpose: &str| {
        let src = format!("/assets/{file}");
        json!({ "src": src, "sizes": "any", "type": "image/svg+xml", "purpose": purpose })
    };
    let manifest = json!({
        "id": "/",
        "name": NAME,
        "short_name": NAME,
        "lang": filters::language(),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": INK,
        "icons": [icon("app-icon.svg", "any"), icon("app-icon.svg", "maskable")],
        "shortcuts": [
            shortcut(t!("For you"), "/inbox?view=mine"),
            shortcut(t!("New message"), "/new"),
            shortcut(t!("Search"), "/search"),
        ],
        "share_target": {
            "action": "/new",
            "method": "GET",
            "params": { "title": "subject", "text": "text", "url": "link" },
        },
    });
    let mut response = responses::json(&manifest);
    let kind = HeaderValue::from_static("application/manifest+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[derive(Template)]
#[template(path = "offline.html", whitespace = "minimize")]
struct OfflinePage;

/// What the service worker keeps and shows where the server cannot be reached. It has nothing of anybody.
pub async fn offline() -> PageResult {
    responses::page(&OfflinePage)
}
