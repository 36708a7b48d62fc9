//! Pages about what agents do: a draft that is approved from a mail, and a conversation as an agent saw it. And what the
//! links under a message of a chat lead to.

mod approve_by_mail;
mod approver_browser;
mod chat_links;
mod replay;

use std::sync::Arc;

use axum::Router;
use axum::middleware::map_response;
use axum::routing::{get, post};
use web::Web;
use web::guest::keep_secret;

pub fn router() -> Router<Arc<Web>> {
    let by_link = Router::new()
        .route("/approve/{token}", get(approve_by_mail::show))
        .route("/approve/{token}/sign-in", get(approve_by_mail::sign_in))
        .route(
            "/approve/{token}/code",
            post(approve_by_mail::mail_code).get(approve_by_mail::front),
        )
        .route(
            "/approve/{token}/open",
            post(approve_by_mail::enter_code).get(approve_by_mail::front),
        )
        .route(
            "/approve/{token}/approve",
            post(approve_by_mail::approve).get(approve_by_mail::front),
        )
        .route(
            "/approve/{token}/discard",
            post(approve_by_mail::discard).get(approve_by_mail::front),
        )
        .route(
            "/from-chat/{act}/{target}/{until}/{signature}",
            get(chat_links::page).post(chat_links::act),
        )
        .layer(map_response(keep_secret));
    Router::new()
        .route("/settings/keys/{id}/replay/{conversation}", get(replay::page))
        .merge(by_link)
}
