//! Pages for customers on top of the web app: contact forms, and the page of their own on which they read and
//! answer what they wrote.

mod forms;
mod own_page;

use std::sync::Arc;

use axum::Router;
use web::Web;

pub fn router() -> Router<Arc<Web>> {
    Router::new().merge(forms::router()).merge(own_page::router())
}
