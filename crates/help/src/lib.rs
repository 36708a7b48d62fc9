//! The team's answers in the app, and the public help pages made of them.

mod answers;
mod site;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use web::Web;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/answers", get(answers::list::page).post(answers::form::add))
        .route("/answers/new", get(answers::form::new))
        .route("/answers/import", post(answers::list::import))
        .route("/answers/{answer}", get(answers::form::edit).post(answers::form::change))
        .route("/answers/{answer}/retire", post(answers::form::retire))
        .route("/answers/{answer}/restore", post(answers::form::restore))
        .route("/answers/{answer}/check", post(answers::form::check))
        .route("/answers/{answer}/history", get(answers::history::page))
        .route("/answers/{answer}/history/{number}", post(answers::history::restore))
        .merge(site::router())
}
