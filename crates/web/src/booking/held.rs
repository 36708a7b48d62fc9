//! The page of a held time: the code that makes it firm, another code, another address or time, and what
//! is left to do once the hold ran out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use base::error::Error;
use base::limits::{BOOKING_HOLD_MS, MINUTE_MS};
use bookings::BookingStatus;
use bookings::guest::{self, GuestBooking};
use bookings::mail_words::code_subject;
use db::Tx;
use model::people::one_time_codes::{CodeEntry, SentCode};
use translation::t;

use super::form_input::BookingFormInput;
use super::public::held_path;
use super::times_view::{clock, in_zone};
use super::views::{
    BookingBanner, BookingCodePage, BookingPageHeader, BookingSummaryView, SentCodeView, zone_of,
};
use super::{refusal, start_of};
use crate::Web;
use crate::forms::form::FormFields;
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, see_other};
use crate::visitor::Visitor;

pub async fn enter_code(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) if found.booking.status != BookingStatus::Held => {
            return see_other(&format!("/b/m/{token}"));
        }
        Ok(found) => found,
        Err(error) => return web.ran_out(error, &visitor, &browser, form.fields()).await,
    };
    let typed = form.get("code");
    let entry = web.enter_booking_code(&found, &browser, &visitor, &typed).await;
    let error = match entry {
        Ok(CodeEntry::Right) => return see_other(&format!("/b/m/{token}")),
        Ok(CodeEntry::Wrong { tries_left: 1 }) => {
            t!("That is not the code. You have 1 try left.").to_owned()
        }
        Ok(CodeEntry::Wrong { tries_left }) if tries_left > 0 => {
            t!("That is not the code. You have {tries_left} tries left.", tries_left)
        }
        Ok(CodeEntry::NotAsked) => {
            t!("The code works only in the browser that asked for it. Ask for a new one.").into()
        }
        Ok(_) => t!("That code has run out. Ask for a new one.").to_owned(),
        Err(error) => return web.ran_out(error.into(), &visitor, &browser, form.fields()).await,
    };
    match web.code_page(&found, &browser, &visitor, &token).await {
        Ok(page) => {
            let page = BookingCodePage { typed, error, ..page };
            browser.keep(&web, html(StatusCode::UNAUTHORIZED, &page))
        }
        Err(error) => refusal(error),
    }
}

/// Mails another code.
pub async fn send_code(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return web.ran_out(error, &visitor, &browser, form.fields()).await,
    };
    if found.booking.status != BookingStatus::Held {
        return see_other(&format!("/b/m/{token}"));
    }
    let (app, id, place) = (web.app.clone(), browser.id, visitor.place.clone());
    let (actor, kind) = (found.workspace.actor.clone(), found.kind.clone());
    let held = found.booking.clone();
    let sent =
        web.guest_act(move |tx| guest::send_code(tx, &app.cx(&actor), &kind, &held, id, &place));
    match sent.await {
        Ok(()) => see_other(&held_path(&token, &found.workspace, &found.kind)),
        Err(Error::Forbidden(sentence)) => {
            let mut page = match web.code_page(&found, &browser, &visitor, &token).await {
                Ok(page) => page,
                Err(error) => return refusal(error),
            };
            let sentence = translation::sentence(&sentence).into_owned();
            page.banner = Some(BookingBanner::new(t!("Wait a little"), sentence));
            browser.keep(&web, html(StatusCode::TOO_MANY_REQUESTS, &page))
        }
        Err(error) => refusal(error.into()),
    }
}

impl Web {
    async fn enter_booking_code(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        typed: &str,
    ) -> base::error::Result<CodeEntry> {
        let (app, id, place) = (self.app.clone(), browser.id, visitor.place.clone());
        let (actor, held) = (found.workspace.actor.clone(), found.booking.clone());
        let typed = typed.to_owned();
        self.guest_act(move |tx| guest::enter_code(tx, &app.cx(&actor), &held, id, &place, &typed))
            .await
    }

    pub(super) async fn code_page(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        token: &str,
    ) -> Result<BookingCodePage, PageError> {
        let (ws, held, id) = (found.workspace.actor.ws, found.booking.clone(), browser.id);
        let sent =
            self.app.store.read(move |tx: &mut Tx<'_>| guest::code_sent(tx, ws, &held, id)).await?;
        let GuestBooking { workspace, kind, booking, .. } = found;
        let zone = zone_of(booking, visitor).zone;
        let at = |ms: i64| clock(&in_zone(ms, &zone));
        let view = |sent: &SentCode| SentCodeView {
            at: at(sent.sent_at),
            until: at(sent.expires_at),
            is_again: sent.sent_at > booking.created_at,
        };
        Ok(BookingCodePage {
            sheet: BookingPageHeader::public(workspace, browser.csrf.to_string()),
            token: token.to_owned(),
            path: format!("/b/{}/{}", workspace.slug, kind.slug),
            banner: None,
            slip: BookingSummaryView::of_booking(kind, booking, visitor),
            email: booking.guest_email.to_string(),
            sent: sent.as_ref().map(view),
            subject: code_subject(&workspace.name),
            kept: carried_fields(found, token, sent.is_some()),
            typed: String::new(),
            error: String::new(),
        })
    }

    /// The times once more, after the one that was held is free again, with what the form has of what
    /// was typed.
    pub(super) async fn ran_out(
        &self,
        error: PageError,
        visitor: &Visitor,
        browser: &GuestBrowser,
        fields: &FormFields,
    ) -> Response<Body> {
        let is_over = matches!(error, PageError::Domain(Error::NotFound(_) | Error::Conflict(_)));
        let of = fields.get("of");
        let Some(of) = of.split_once('/').filter(|_| is_over) else { return refusal(error) };
        let Ok(found) = self.found_type(visitor, browser, of, fields).await else {
            return refusal(error);
        };
        let guest = BookingFormInput::read(fields, &found.kind);
        let title = match start_of(&fields.get("until")) {
            Some(until) => {
                let until = clock(&in_zone(until, &found.asked.zone.zone));
                t!("The time was held until {clock}", clock = until)
            }
            None => {
                let minutes = BOOKING_HOLD_MS / MINUTE_MS;
                t!("The time was held for {minutes} minutes", minutes)
            }
        };
        let status = StatusCode::CONFLICT;
        let response = if guest.is_blank() {
            let sentence = t!("No code came in time, so it went back. It may still be free.");
            let banner = Some(BookingBanner::new(title, sentence));
            html(status, &self.times_page(&found, browser, &guest, banner))
        } else {
            let sentence = t!(
                "No code came in time, so it went back. It may still be free; what you wrote is \
                 kept below."
            );
            let banner = BookingBanner::new(title, sentence);
            self.choose_again(visitor, browser, &found, guest, banner, status).await
        };
        browser.keep(self, response)
    }
}

/// What the forms of the page carry along: the type, and in the browser that asked for the code what was
/// typed, because nothing of it is kept once the hold ran out.
fn carried_fields(found: &GuestBooking, token: &str, is_asker: bool) -> Vec<(String, String)> {
    let GuestBooking { workspace, kind, booking, .. } = found;
    let until = booking.holds_until.unwrap_or(booking.starts_at);
    let mut kept = vec![
        ("of".to_owned(), format!("{}/{}", workspace.slug, kind.slug)),
        ("until".to_owned(), (until / 1_000).to_string()),
        ("zone".to_owned(), booking.guest_zone.clone()),
    ];
    if is_asker {
        kept.push(("at".to_owned(), (booking.starts_at / 1_000).to_string()));
        kept.push(("held".to_owned(), token.to_owned()));
        kept.extend(BookingFormInput::of_booking(kind, booking).fields());
    }
    kept
}
