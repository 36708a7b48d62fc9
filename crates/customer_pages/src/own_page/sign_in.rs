//! The way in: an address, the code that is mailed to it, and the way out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use base::app::Cx;
use base::email_address::EmailAddress;
use customers::{
    CustomerWorkspace, begin_session, code_subject, end_session, enter_code, request_code,
    workspace_at,
};
use db::Tx;
use model::mailboxes;
use model::people::one_time_codes::CodeEntry;
use model::times::local_times::LocalTimes;
use translation::{Reader, t};
use web::Web;
use web::guest::{GuestBrowser, GuestForm};
use web::layout::responses::{PageError, html, see_other};
use web::visitor::Visitor;

use super::browser::WorkspaceBrowser;
use super::read::{Unsent, conversation_page};
use super::views::{LeftAnswer, OwnCodePage, OwnFrontPage};
use super::{open, signed_in};
use crate::forms::objection;

/// The address of a step leads to the front when it is opened.
pub(super) async fn back(Path(slug): Path<String>) -> Response<Body> {
    see_other(&format!("/me/{slug}"))
}

/// Mails a code. The answer is the same whether the address is known or not.
pub(super) async fn request(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let opened = match open(&web, &visitor, &slug, &browser).await {
        Ok(opened) => opened,
        Err(error) => return error.into_response(),
    };
    if !browser.csrf.fits(&form.csrf()) {
        return PageError::Foreign.into_response();
    }
    let typed = form.get("email").trim().to_owned();
    if !mail::is_address(&typed) {
        let page = OwnFrontPage {
            email: typed,
            error: t!("That is not an email address."),
            left: LeftAnswer::of(&form),
            ..OwnFrontPage::new(opened.workspace, &browser)
        };
        return browser.keep(&web, html(StatusCode::UNPROCESSABLE_ENTITY, &page));
    }
    let (app, workspace) = (web.app.clone(), opened.workspace.clone());
    let (id, place, email) = (browser.id, visitor.place.clone(), EmailAddress::new(&typed));
    let reader = Reader::current();
    let asked = web.app.store.write(move |tx: &mut Tx<'_>| {
        let actor = workspace.team();
        let cx = app.cx(&actor);
        // The store works on threads that do not know the reader.
        reader.run(|| -> base::error::Result<String> {
            match request_code(tx, &cx, &workspace, &email, (id, &place))? {
                Some(until) => next_time(tx, &cx, until),
                None => Ok(String::new()),
            }
        })
    });
    let next_at = match asked.await {
        Ok(next_at) => next_at,
        Err(error) => return PageError::from(error).into_response(),
    };
    let status = if next_at.is_empty() { StatusCode::OK } else { StatusCode::TOO_MANY_REQUESTS };
    let page = code_page(&opened.workspace, &typed, &browser, &form);
    browser.keep(&web, html(status, &OwnCodePage { next_at, ..page }))
}

/// When the next code can be asked for, on the clock of an inbox, or in UTC where there is none.
fn next_time(tx: &mut Tx<'_>, cx: &Cx<'_>, at: i64) -> base::error::Result<String> {
    let times = match mailboxes::all_seen_by(tx, cx.actor)?.first() {
        Some(inbox) => LocalTimes::of(tx, cx.actor.ws, &inbox.id)?,
        None => LocalTimes::default(),
    };
    Ok(times.clock(at))
}

fn code_page(
    workspace: &CustomerWorkspace,
    email: &str,
    browser: &GuestBrowser,
    form: &GuestForm,
) -> OwnCodePage {
    OwnCodePage {
        firm: workspace.name.clone(),
        branding: workspace.branding.clone(),
        slug: workspace.slug.clone(),
        csrf: browser.csrf.to_string(),
        email: email.to_owned(),
        subject: code_subject(&workspace.name),
        error: String::new(),
        next_at: String::new(),
        left: LeftAnswer::of(form),
    }
}

/// Signs in with the right code.
pub(super) async fn enter(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return PageError::Foreign.into_response();
    }
    let (typed, email) = (form.get("code"), form.get("email"));
    if !mail::is_address(&email) {
        return see_other(&format!("/me/{slug}"));
    }
    let (app, wanted, address) = (web.app.clone(), slug.clone(), EmailAddress::new(&email));
    let (id, place, (cookie, next)) = (browser.id, visitor.place.clone(), web.new_guest());
    let entered = web.app.store.write(move |tx: &mut Tx<'_>| {
        let workspace = workspace_at(tx, &wanted)?;
        let actor = workspace.team();
        let cx = app.cx(&actor);
        let entry = enter_code(tx, &cx, &address, (id, &place), &typed)?;
        if entry == CodeEntry::Right {
            begin_session(tx, &cx, (id, next), &address)?;
        }
        Ok((entry, workspace))
    });
    let outcome = entered.await;
    match web.or_miss(&visitor, outcome).await {
        Ok((CodeEntry::Right, _)) => {
            let renewed = browser.with_new_cookie(&web, cookie);
            let response = page_after(&web, &visitor, &slug, &renewed, &form).await;
            renewed.keep(&web, response)
        }
        Ok((entry, workspace)) => {
            let page = code_page(&workspace, &email, &browser, &form);
            html(StatusCode::UNAUTHORIZED, &OwnCodePage { error: objection(entry), ..page })
        }
        Err(error) => error.into_response(),
    }
}

/// The list, or the conversation in which somebody was writing.
async fn page_after(
    web: &Web,
    visitor: &Visitor,
    slug: &str,
    browser: &GuestBrowser,
    form: &GuestForm,
) -> Response<Body> {
    let left = LeftAnswer::of(form);
    if left.text.is_empty() {
        return see_other(&format!("/me/{slug}"));
    }
    match signed_in(web, visitor, slug, browser).await {
        Ok(page) => {
            let unsent = Unsent { text: left.text, ..Unsent::default() };
            conversation_page(web, visitor, browser, &page, &left.conversation, unsent).await
        }
        Err(response) => *response,
    }
}

pub(super) async fn sign_out(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return PageError::Foreign.into_response();
    }
    let (wanted, id) = (slug.clone(), browser.id);
    let ended = web.app.store.write(move |tx: &mut Tx<'_>| {
        let workspace = workspace_at(tx, &wanted)?;
        end_session(tx, workspace.ws, id)
    });
    let outcome = ended.await;
    match web.or_miss(&visitor, outcome).await {
        Ok(()) => {
            let mut response = see_other(&format!("/me/{slug}?left"));
            web.drop_kept_pages(&mut response);
            response
        }
        Err(error) => error.into_response(),
    }
}
