//! What somebody reads who is signed in: the list, a conversation, and its files.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use customers::{bookings, file as customer_file, is_deletion_asked, list, read};
use model::guests::guest_forms::GuestFormId;
use web::Web;
use web::forms::form::Asked;
use web::guest::GuestBrowser;
use web::layout::responses::{PageError, html, see_other};
use web::pages::mail_files::files::picture_or_download;
use web::visitor::Visitor;

use super::browser::WorkspaceBrowser;
use super::views::{OwnConversationPage, OwnFrontPage, OwnListPage, OwnTimes};
use super::{SignedInPage, keep, open, read_page, signed_in};

/// The list, or the way in.
pub(super) async fn show(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    Asked(asked): Asked,
) -> Response<Body> {
    let opened = match open(&web, &visitor, &slug, &browser).await {
        Ok(opened) => opened,
        Err(error) => return error.into_response(),
    };
    let Some(session) = opened.session else {
        let page = OwnFrontPage {
            is_signed_out: asked.has("left"),
            ..OwnFrontPage::new(opened.workspace, &browser)
        };
        return browser.keep(&web, html(StatusCode::OK, &page));
    };
    let page = SignedInPage { workspace: opened.workspace, session };
    if let Err(error) = keep(&web, &page, &browser).await {
        return error.into_response();
    }
    let email = page.session.email.clone();
    let found = read_page(&web, &page, move |tx, cx, workspace| {
        let all = list(tx, workspace, &email)?;
        let times = bookings(tx, cx, &email)?;
        let is_asked = is_deletion_asked(tx, workspace.ws, &email, cx.now)?;
        Ok((all, times, is_asked))
    });
    match found.await {
        Ok((all, times, is_asked)) => {
            let clock = OwnTimes::new(web.app.clock.now(), &visitor);
            let list = OwnListPage::new(&page, &browser, all, times, &clock, is_asked);
            html(StatusCode::OK, &list)
        }
        Err(error) => error.into_response(),
    }
}

pub(super) async fn conversation(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path((slug, id)): Path<(String, String)>,
    Asked(asked): Asked,
) -> Response<Body> {
    let page = match signed_in(&web, &visitor, &slug, &browser).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let unsent = Unsent { has_arrived: asked.has("sent"), ..Unsent::default() };
    conversation_page(&web, &visitor, &browser, &page, &id, unsent).await
}

/// What stands in the form of an answer.
#[derive(Default)]
pub(super) struct Unsent {
    pub has_arrived: bool,
    pub text: String,
    pub error: String,
}

pub(super) async fn conversation_page(
    web: &Web,
    visitor: &Visitor,
    browser: &GuestBrowser,
    page: &SignedInPage,
    id: &str,
    unsent: Unsent,
) -> Response<Body> {
    let (email, wanted) = (page.session.email.clone(), id.to_owned());
    let found =
        read_page(web, page, move |tx, cx, workspace| read(tx, cx, workspace, (&email, &wanted)));
    let found = match found.await {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    let status =
        if unsent.error.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let clock = OwnTimes::new(web.app.clock.now(), visitor);
    let form = GuestFormId::new(&web.app.ids);
    let shown = OwnConversationPage::new(page, browser, found, &clock, (form, unsent));
    html(status, &shown)
}

/// The address of an answer leads to its conversation when it is opened.
pub(super) async fn conversation_of(Path((slug, id)): Path<(String, String)>) -> Response<Body> {
    see_other(&format!("/me/{slug}/c/{id}"))
}

/// A file of a message, as a download or a picture.
pub(super) async fn file(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path((slug, id, file)): Path<(String, String, String)>,
    Asked(asked): Asked,
) -> Response<Body> {
    let page = match signed_in(&web, &visitor, &slug, &browser).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let email = page.session.email.clone();
    let found = read_page(&web, &page, move |tx, cx, workspace| {
        customer_file(tx, cx, workspace, (&email, &id), &file)
    });
    match found.await {
        Ok(file) => picture_or_download(file, &asked),
        Err(error) => PageError::into_response(error),
    }
}
