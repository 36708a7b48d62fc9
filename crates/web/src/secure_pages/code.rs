//! The code of a secure page: asked for by a button, mailed to the message's recipient, entered once.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use base::limits::CODES_WINDOW_MS;
use db::Tx;
use model::guests::guest_sessions;
use model::guests::secure::{self, LinkState};
use model::people::one_time_codes::CodeEntry;
use translation::t;

use super::browser::ReaderBrowser;
use super::read::NEW_CODE;
use super::views::{CodePage, FrontPage, GuestTimeFormat, SecurePageHeader};
use super::{GuestPage, read, refusal};
use crate::Web;
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, see_other};
use crate::visitor::Visitor;

/// Mails a code. The answer is the same whether the page is open or not.
pub async fn request(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    let asked = secure::request_code(&web.app, &token, browser.id, &visitor.place).await;
    let wait = match web.or_miss(&visitor, asked).await {
        Ok(wait) => wait,
        Err(error) => return refusal(error),
    };
    let (draft, is_new) = (form.get("text"), form.fields().has(NEW_CODE));
    if wait.is_none() && draft.is_empty() {
        let said = if is_new { format!("?{NEW_CODE}#{NEW_CODE}") } else { String::new() };
        return see_other(&format!("/s/{token}{said}"));
    }
    let page = match web.guest_page(&visitor, &token, browser.id).await {
        Ok(page) => page,
        Err(error) => return refusal(error),
    };
    let times = GuestTimeFormat::new(web.app.clock.now(), &visitor, &page);
    let mut shown = CodePage::new(SecurePageHeader::new(&token, &browser, &page), &page, &times);
    (shown.draft, shown.is_new) = (draft, is_new && wait.is_none());
    match wait {
        None => html(StatusCode::OK, &shown),
        Some(until) => {
            let (minutes, time) = (CODES_WINDOW_MS / 60_000, times.clock(until));
            shown.error = if shown.sent.is_some() {
                t!(
                    "We sent several codes within {minutes} minutes. Use the newest, or ask again \
                     after {time}.",
                    minutes,
                    time
                )
            } else {
                t!(
                    "We sent several codes within {minutes} minutes. Ask again after {time}.",
                    minutes,
                    time
                )
            };
            html(StatusCode::TOO_MANY_REQUESTS, &shown)
        }
    }
}

/// What became of a code that was entered.
enum Entered {
    Opened { cookie: String },
    Refused(Box<GuestPage>, CodeEntry),
}

/// Opens the page with the right code.
pub async fn enter(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ReaderBrowser(browser): ReaderBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    let (typed, draft) = (form.get("code"), form.get("text"));
    match web.enter(&visitor, &token, &browser, &typed).await {
        Ok(Entered::Opened { cookie }) if draft.is_empty() => {
            let renewed = browser.with_new_cookie(&web, cookie);
            renewed.keep(&web, see_other(&format!("/s/{token}")))
        }
        Ok(Entered::Opened { cookie }) => {
            let renewed = browser.with_new_cookie(&web, cookie);
            let response = read::page(&web, &visitor, &renewed, &token, &draft).await;
            renewed.keep(&web, response)
        }
        Ok(Entered::Refused(page, entry)) => {
            refuse(&web, &visitor, &browser, &token, *page, (entry, draft))
        }
        Err(error) => refusal(error),
    }
}

impl Web {
    async fn enter(
        &self,
        visitor: &Visitor,
        token: &str,
        browser: &GuestBrowser,
        typed: &str,
    ) -> Result<Entered, PageError> {
        let (app, wanted, typed) = (self.app.clone(), token.to_owned(), typed.to_owned());
        let (id, place, (cookie, next)) = (browser.id, visitor.place.clone(), self.new_guest());
        let work = move |tx: &mut Tx<'_>| {
            let link = secure::link_at(tx, &wanted, app.clock.now())?;
            let cx = app.cx(&link.actor);
            let entry = match link.state {
                LinkState::Open => secure::enter_code(tx, &cx, &link, (id, &place), &typed)?,
                LinkState::Closed | LinkState::Locked => CodeEntry::RunOut,
            };
            if entry == CodeEntry::Right {
                let browsers = (id, next);
                let (ws, now) = (cx.actor.ws, cx.now);
                guest_sessions::begin(tx, ws, browsers, &link.conversation, &link.email, now)?;
                secure::mark_opened(tx, &cx, &link)?;
                tx.wake(base::concurrency::queue::Queue::Pages);
            }
            Ok(entry)
        };
        let outcome = self.app.store.write(work).await;
        match self.or_miss(visitor, outcome).await? {
            CodeEntry::Right => Ok(Entered::Opened { cookie }),
            entry => {
                let page = self.guest_page(visitor, token, id).await?;
                Ok(Entered::Refused(Box::new(page), entry))
            }
        }
    }
}

fn refuse(
    web: &Web,
    visitor: &Visitor,
    browser: &GuestBrowser,
    token: &str,
    page: GuestPage,
    (entry, draft): (CodeEntry, String),
) -> Response<Body> {
    let times = GuestTimeFormat::new(web.app.clock.now(), visitor, &page);
    if page.link.state != LinkState::Open {
        return read::gone_page(browser, token, &page, &times, web.app.clock.now(), draft);
    }
    let sheet = SecurePageHeader::new(token, browser, &page);
    if entry == CodeEntry::NotAsked {
        let mut front = FrontPage::new(sheet, &page, &times);
        (front.signed_out, front.draft) = (true, draft);
        return html(StatusCode::UNAUTHORIZED, &front);
    }
    let mut shown = CodePage::new(sheet, &page, &times);
    shown.error = match entry {
        CodeEntry::Wrong { tries_left: 1 } => {
            t!("That is not the code. You have 1 try left.").into()
        }
        CodeEntry::Wrong { tries_left } if tries_left > 0 => {
            t!("That is not the code. You have {tries_left} tries left.", tries_left)
        }
        _ => {
            shown.is_over = true;
            String::new()
        }
    };
    shown.draft = draft;
    html(StatusCode::UNAUTHORIZED, &shown)
}
