//! The page of a customer's own: the address and its code, then the conversations, answers, the data and its
//! deletion. Opening a page changes nothing, but that a session of a proven reader lasts longer.
//!
//! Customers read the texts of this folder.

mod answer;
mod browser;
mod data;
mod read;
mod sign_in;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::Response;
use axum::middleware::map_response;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base::app::Cx;
use base::error::Error;
use base::limits::{GUEST_SEEN_EVERY_MS, GUEST_SESSION_IDLE_MS};
use customers::{CustomerSession, CustomerWorkspace, find_session, only_workspace, workspace_at};
use db::Tx;
use web::Web;
use web::guest::{GuestBrowser, keep_secret};
use web::layout::responses::{FORM_WITH_FILES_BYTES, PageError, see_other};
use web::visitor::Visitor;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/me", get(lead))
        .route("/me/{workspace}", get(read::show))
        .route("/me/{workspace}/code", post(sign_in::request).get(sign_in::back))
        .route("/me/{workspace}/open", post(sign_in::enter).get(sign_in::back))
        .route("/me/{workspace}/sign-out", post(sign_in::sign_out))
        .route("/me/{workspace}/data", post(data::download))
        .route("/me/{workspace}/forget", post(data::forget))
        .route("/me/{workspace}/c/{conversation}", get(read::conversation))
        .route(
            "/me/{workspace}/c/{conversation}/reply",
            post(answer::reply)
                .get(read::conversation_of)
                .layer(DefaultBodyLimit::max(FORM_WITH_FILES_BYTES)),
        )
        .route("/me/{workspace}/c/{conversation}/files/{file}", get(read::file))
        .layer(map_response(keep_secret))
}

/// Where there is one workspace with the page, its address need not be known.
async fn lead(State(web): State<Arc<Web>>) -> Response<Body> {
    match web.app.store.read(only_workspace).await {
        Ok(Some(slug)) => see_other(&format!("/me/{slug}")),
        Ok(None) => PageError::Domain(Error::NotFound("page")).into_response(),
        Err(error) => PageError::from(error).into_response(),
    }
}

/// A workspace with the session of a browser, if it has one.
struct OwnPage {
    workspace: CustomerWorkspace,
    session: Option<CustomerSession>,
}

/// A workspace with somebody who has proven an address.
struct SignedInPage {
    workspace: CustomerWorkspace,
    session: CustomerSession,
}

async fn open(
    web: &Web,
    visitor: &Visitor,
    slug: &str,
    browser: &GuestBrowser,
) -> Result<OwnPage, PageError> {
    let (slug, id, now) = (slug.to_owned(), browser.id, web.app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let workspace = workspace_at(tx, &slug)?;
        let session = find_session(tx, workspace.ws, id, now)?;
        Ok(OwnPage { workspace, session })
    };
    let opened = web.app.store.read(work).await;
    web.or_miss(visitor, opened).await
}

/// The page of somebody who is signed in; others are led to the front.
async fn signed_in(
    web: &Web,
    visitor: &Visitor,
    slug: &str,
    browser: &GuestBrowser,
) -> Result<SignedInPage, Box<Response<Body>>> {
    let refuse = |error: PageError| Box::new(error.into_response());
    let opened = open(web, visitor, slug, browser).await.map_err(refuse)?;
    let Some(session) = opened.session else {
        return Err(Box::new(see_other(&format!("/me/{slug}"))));
    };
    let page = SignedInPage { workspace: opened.workspace, session };
    keep(web, &page, browser).await.map_err(refuse)?;
    Ok(page)
}

/// Somebody who goes on reading stays signed in.
async fn keep(web: &Web, page: &SignedInPage, browser: &GuestBrowser) -> Result<(), PageError> {
    let now = web.app.clock.now();
    if page.session.ends_at > now + GUEST_SESSION_IDLE_MS - GUEST_SEEN_EVERY_MS {
        return Ok(());
    }
    let (ws, id) = (page.workspace.ws, browser.id);
    Ok(web.app.store.write(move |tx| customers::touch_session(tx, ws, id, now)).await?)
}

/// Reads as Mailroom at work for the workspace.
async fn read_page<T, F>(web: &Web, page: &SignedInPage, mut read: F) -> Result<T, PageError>
where
    F: FnMut(&mut Tx<'_>, &Cx<'_>, &CustomerWorkspace) -> base::error::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (app, workspace) = (web.app.clone(), page.workspace.clone());
    let actor = workspace.team();
    let read = web.app.store.read(move |tx| read(tx, &app.cx(&actor), &workspace)).await;
    Ok(read?)
}
