//! Settings: yourself, people, inboxes, tags, keys, webhooks, the plan.

mod audit;
mod inbox;
mod inboxes;
mod incoming_mail;
mod keys;
mod people;
mod plan;
mod records;
mod replies;
mod tags;
mod webhook;
mod webhooks;
mod you;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::web::Web;
use crate::web::layout::page_layout::PageLocation;
use crate::web::layout::responses::{PageResult, see_other};
use crate::web::settings_menu::SettingsPage;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/settings", get(first))
        .route("/settings/you", get(you::page))
        .route("/settings/you/password", post(you::set_password))
        .route("/settings/you/private", post(you::open_private))
        .route("/settings/you/mail", post(you::choose_mail))
        .route("/settings/you/sessions/{id}/end", post(you::end_session))
        .route("/settings/you/sessions/end-others", post(you::end_others))
        .route("/settings/people", get(people::page).post(people::add))
        .route("/settings/people/{id}/role", post(people::set_role))
        .route("/settings/people/{id}/link", post(people::link))
        .route("/settings/people/{id}/remove", get(people::ask).post(people::remove))
        .route("/settings/inboxes", get(inboxes::page).post(inboxes::add))
        .route("/settings/inboxes/{mailbox}", get(inbox::page).post(inbox::rename))
        .route("/settings/inboxes/{mailbox}/records", post(records::look))
        .route("/settings/inboxes/{mailbox}/signing-key", post(records::make_key))
        .route("/settings/tags", get(tags::page))
        .route("/settings/tags/{tag}/rename", post(tags::rename))
        .route("/settings/replies", get(replies::page).post(replies::add))
        .route("/settings/replies/{id}", get(replies::edit_page).post(replies::change))
        .route("/settings/replies/{id}/delete", post(replies::delete))
        .route("/settings/keys", get(keys::page).post(keys::make))
        .route("/settings/keys/{id}/revoke", post(keys::revoke))
        .route("/settings/webhooks", get(webhooks::page).post(webhooks::add))
        .route("/settings/webhooks/{webhook}", get(webhook::page))
        .route("/settings/webhooks/{webhook}/rotate", post(webhook::rotate))
        .route("/settings/webhooks/{webhook}/pause", post(webhook::pause))
        .route("/settings/webhooks/{webhook}/resume", post(webhook::resume))
        .route("/settings/webhooks/{webhook}/test", post(webhook::test))
        .route("/settings/webhooks/{webhook}/delete", post(webhook::delete))
        .route("/settings/webhooks/{webhook}/events/{event}/again", post(webhook::again))
        .route("/settings/audit", get(audit::page))
        .route("/settings/plan", get(plan::page).post(plan::set))
}

async fn first() -> PageResult {
    Ok(see_other("/settings/you"))
}

/// A page of the settings, by its entry in the menu.
fn location(page: SettingsPage) -> PageLocation {
    PageLocation { settings: Some(page), ..PageLocation::at(page.title(), "/settings") }
}
