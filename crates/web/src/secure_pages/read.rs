//! Reading a secure page, signing out of it, its files, and asking for a new link.

use std::sync::Arc;

use actions::documents::files::StoredFile;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Method, Response, StatusCode};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Error;
use db::Tx;
use model::guests::guest_forms::GuestFormId;
use model::guests::guest_sessions;
use model::guests::secure::{self, LinkState, SecurePage};

use super::browser::ReaderBrowser;
use super::views::{CodePage, FrontPage, GonePage, GuestTimeFormat, ReadPage, SecurePageHeader};
use super::{GuestPage, refusal};
use crate::Web;
use crate::forms::form::Asked;
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, see_other};
use crate::pages::mail_files::files::picture_or_download;
use crate::visitor::Visitor;

/// What the address of a page says after somebody has signed out, or has asked for another code.
const SIGNED_OUT: &str = "signed-out";
pub(super) const NEW_CODE: &str = "new-code";

/// The address of a form is opened, as a browser does that brings its tabs back.
pub async fn front(Path(token): Path<String>) -> Response<Body> {
    see_other(&format!("/s/{token}"))
}

/// The stage that this browser is at. Nothing is sent or counted by it, and nothing is opened
/// before the address is proven.
pub async fn show(
    State(web): State<Arc<Web>>,
    method: Method,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    Asked(asked): Asked,
) -> Response<Body> {
    let page = match web.guest_page(&visitor, &token, browser.id).await {
        Ok(page) => page,
        Err(error) => return refusal(error),
    };
    let now = web.app.clock.now();
    let times = GuestTimeFormat::new(now, &visitor, &page);
    if page.session.is_some() && page.link.opened_at.is_some() {
        if method == Method::GET
            && let Err(error) = web.keep_signed_in(&page, browser.id).await
        {
            return refusal(error);
        }
        return show_with(&web, &browser, &token, &page, &times, |read| {
            read.sent = asked.has("sent")
        })
        .await;
    }
    let response = match (page.link.state, page.code) {
        (LinkState::Open, Some(_)) if page.session.is_none() => {
            let sheet = SecurePageHeader::new(&token, &browser, &page);
            let mut shown = CodePage::new(sheet, &page, &times);
            shown.is_new = asked.has(NEW_CODE);
            html(StatusCode::OK, &shown)
        }
        // Wrong codes of somebody else do not stop a reader who has proven the address.
        (state, _) if state == LinkState::Open || page.session.is_some() => {
            let sheet = SecurePageHeader::new(&token, &browser, &page);
            let mut front = FrontPage::new(sheet, &page, &times);
            front.signed_out = asked.has(SIGNED_OUT) && page.session.is_none();
            html(StatusCode::OK, &front)
        }
        _ => gone_page(&browser, &token, &page, &times, now, String::new()),
    };
    browser.keep(&web, response)
}

/// The page of somebody who has just proven their address, with what they were writing.
pub(super) async fn page(
    web: &Web,
    visitor: &Visitor,
    browser: &GuestBrowser,
    token: &str,
    draft: &str,
) -> Response<Body> {
    match web.guest_page(visitor, token, browser.id).await {
        Ok(page) => {
            let times = GuestTimeFormat::new(web.app.clock.now(), visitor, &page);
            let draft = draft.to_owned();
            show_with(web, browser, token, &page, &times, |read| read.draft = draft).await
        }
        Err(error) => refusal(error),
    }
}

/// The messages, changed by what the caller has to say.
pub(super) async fn show_with(
    web: &Web,
    browser: &GuestBrowser,
    token: &str,
    page: &GuestPage,
    times: &GuestTimeFormat,
    change: impl FnOnce(&mut ReadPage),
) -> Response<Body> {
    let read: Result<SecurePage, PageError> = web.read_for_guest(page, secure::read).await;
    match read {
        Ok(read) => {
            if read.has_unopened
                && let Err(error) = web.note_opened(page).await
            {
                return refusal(error);
            }
            let sheet = SecurePageHeader::new(token, browser, page);
            let form_id = GuestFormId::new(&web.app.ids);
            let mut view = ReadPage::new(sheet, page, read, times, form_id);
            change(&mut view);
            let status =
                if view.error.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            html(status, &view)
        }
        Err(error) => refusal(error),
    }
}

/// One page for what has run out and what was taken back; another while it is locked. It shows what
/// the customer was writing.
pub(super) fn gone_page(
    browser: &GuestBrowser,
    token: &str,
    page: &GuestPage,
    times: &GuestTimeFormat,
    now: i64,
    draft: String,
) -> Response<Body> {
    let is_locked = page.link.state == LinkState::Locked;
    let asked = page.link.asked_at.filter(|_| !page.link.may_ask(now));
    let view = GonePage {
        sheet: SecurePageHeader::new(token, browser, page),
        is_locked,
        asked: asked.map(|at| times.clock(at)),
        draft,
    };
    html(if is_locked { StatusCode::LOCKED } else { StatusCode::GONE }, &view)
}

impl Web {
    pub(super) async fn read_for_guest<T, F>(
        &self,
        page: &GuestPage,
        mut read: F,
    ) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &secure::SecureLink) -> base::error::Result<T>
            + Send
            + 'static,
        T: Send + 'static,
    {
        let (app, link) = (self.app.clone(), page.link.clone());
        let outcome = self.app.store.read(move |tx| read(tx, &app.cx(&link.actor), &link)).await;
        Ok(outcome?)
    }

    /// What is shown to the reader counts as opened, also messages that came after the first.
    async fn note_opened(&self, page: &GuestPage) -> Result<(), PageError> {
        let (app, link) = (self.app.clone(), page.link.clone());
        let noted = self.app.store.write(move |tx| {
            tx.wake(Queue::Pages);
            secure::mark_opened(tx, &app.cx(&link.actor), &link)
        });
        Ok(noted.await?)
    }

    /// Does what a form says, if it is one of this browser's.
    async fn act_for_guest<F>(
        &self,
        visitor: &Visitor,
        (token, browser): (&str, &GuestBrowser),
        form: &GuestForm,
        mut operation: F,
    ) -> Result<GuestPage, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &secure::SecureLink) -> base::error::Result<()>
            + Send
            + 'static,
    {
        if !browser.csrf.fits(&form.csrf()) {
            return Err(PageError::Foreign);
        }
        let page = self.guest_page(visitor, token, browser.id).await?;
        let (app, wanted) = (self.app.clone(), token.to_owned());
        let outcome = self.app.store.write(move |tx| {
            let link = secure::link_at(tx, &wanted, app.clock.now())?;
            tx.wake(Queue::Pages);
            operation(tx, &app.cx(&link.actor), &link)
        });
        let outcome = outcome.await;
        self.or_miss(visitor, outcome).await?;
        Ok(page)
    }
}

/// Opens another message for somebody whose address is proven already.
pub async fn open(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let id = browser.id;
    let opened = web.act_for_guest(&visitor, (&token, &browser), &form, move |tx, cx, link| {
        let session = guest_sessions::find(tx, cx.actor.ws, id, &link.conversation, cx.now)?;
        let is_reader = session.is_some_and(|session| session.email == link.email);
        if is_reader && link.state != LinkState::Closed {
            secure::mark_opened(tx, cx, link)?;
        }
        Ok(())
    });
    match opened.await {
        Ok(_) => see_other(&format!("/s/{token}")),
        Err(error) => refusal(error),
    }
}

pub async fn sign_out(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let id = browser.id;
    let ended = web.act_for_guest(&visitor, (&token, &browser), &form, move |tx, cx, link| {
        guest_sessions::end(tx, cx.actor.ws, id, &link.conversation)
    });
    match ended.await {
        Ok(_) => {
            let mut response = see_other(&format!("/s/{token}?{SIGNED_OUT}"));
            web.drop_kept_pages(&mut response);
            response
        }
        Err(error) => refusal(error),
    }
}

/// Asks the team for a new link.
pub async fn ask(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let asked =
        web.act_for_guest(&visitor, (&token, &browser), &form, |tx, cx, link| match link.state {
            LinkState::Open => Ok(()),
            LinkState::Closed | LinkState::Locked => secure::request_link(tx, cx, link),
        });
    match asked.await {
        Ok(_) => see_other(&format!("/s/{token}")),
        Err(error) => refusal(error),
    }
}

/// A file of the page, as a download, or a picture in its text.
pub async fn file(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path((token, file)): Path<(String, String)>,
    Asked(asked): Asked,
) -> Response<Body> {
    let page = match web.guest_page(&visitor, &token, browser.id).await {
        Ok(page) => page,
        Err(error) => return refusal(error),
    };
    if page.session.is_none() || page.link.opened_at.is_none() {
        return refusal(PageError::Domain(Error::NotFound("file")));
    }
    let found =
        web.read_for_guest(&page, move |tx, cx, link| secure::file_of_page(tx, cx, link, &file));
    match found.await {
        Ok((file, bytes)) => {
            let (filename, content_type) = (file.filename, file.content_type);
            picture_or_download(StoredFile { filename, content_type, bytes }, &asked)
        }
        Err(error) => refusal(error),
    }
}
