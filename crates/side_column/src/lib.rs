//! What stands beside a conversation: its customer, their fields, linked items, and the panel of the owner's app.
//!
//! Each part is a page of its own, and the same without the layout (`?part=1`), which the script of the
//! conversation's page puts beside it: so nothing here holds that page up.

mod column;
mod fields;
mod links;
mod panel;
mod panel_view;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use web::Web;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/conversations/{id}/side", get(column::page))
        .route("/conversations/{id}/fields", post(fields::set))
        .route("/conversations/{id}/links", post(links::add))
        .route("/conversations/{id}/links/remove", post(links::remove))
        .route("/conversations/{id}/panel", get(panel::page))
        .route("/conversations/{id}/panel/press", post(panel::press))
}
