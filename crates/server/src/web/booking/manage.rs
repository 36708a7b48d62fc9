//! A guest's own page: the code of a held time, then the appointment, to move or cancel.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use calendar::{BookingFeed, BookingFeedEntry, BookingFeedStatus, TimeRange};
use db::Tx;
use inbox::Error;
use inbox::base::limits::{BOOKING_REASON_CHARS, MINUTE_MS};
use inbox::model::bookings::guest::{self, GuestBooking};
use inbox::model::bookings::{Booking, BookingStatus, booking, manage_token, types};
use inbox::model::one_time_codes::CodeEntry;
use translation::t;

use super::times_view::{TimesView, zoned};
use super::views::{
    BookingAskPage, BookingCodePage, BookingSheet, DonePage, HostsLine, SlipView, TimesPage,
    reason_words, zone_of,
};
use super::{AskedTimes, refusal, shown_times, start_of};
use crate::web::Web;
use crate::web::form::Asked;
use crate::web::guest::{GuestBrowser, GuestForm};
use crate::web::layout::responses::{PageError, html, plain, see_other};
use crate::web::visitor::Visitor;

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
) -> Response<Body> {
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let response = match found.booking.status {
        BookingStatus::Held => {
            let page = code_page(&found, &browser, &visitor, &token, String::new(), String::new());
            html(StatusCode::OK, &page)
        }
        BookingStatus::Booked | BookingStatus::Cancelled => {
            match web.done_page(&found, &browser, &visitor, &token).await {
                Ok(page) => html(StatusCode::OK, &page),
                Err(error) => return refusal(error),
            }
        }
    };
    browser.keep(&web, response)
}

/// The appointment as a file for a calendar.
pub async fn entry(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let (booking, stamp) = (&found.booking, web.app.clock.now());
    let at = |ms| zoned(ms, &jiff::tz::TimeZone::UTC).timestamp();
    let entry = BookingFeedEntry {
        uid: &booking.uid,
        sequence: u32::try_from(booking.sequence).unwrap_or(0),
        stamp: at(stamp),
        range: TimeRange::new(at(booking.starts_at), at(booking.ends_at)),
        status: match booking.status {
            BookingStatus::Held => BookingFeedStatus::Held,
            BookingStatus::Booked => BookingFeedStatus::Booked,
            BookingStatus::Cancelled => BookingFeedStatus::Cancelled,
        },
        summary: &booking.type_name,
        location: Some(booking.place.as_str()).filter(|place| !place.is_empty()),
        description: None,
        url: None,
    };
    let name = &found.workspace.name;
    let feed = BookingFeed { name, refresh_minutes: 60, entries: &[entry] };
    let mut response = plain(calendar::booking_feed(&feed));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/calendar; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    let saved = HeaderValue::from_static("attachment; filename=\"appointment.ics\"");
    headers.insert(header::CONTENT_DISPOSITION, saved);
    response
}

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
        Err(error) => return refusal(error),
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
        Err(error) => return refusal(error.into()),
    };
    let page = code_page(&found, &browser, &visitor, &token, typed, error);
    browser.keep(&web, html(StatusCode::UNAUTHORIZED, &page))
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
        Err(error) => return refusal(error),
    };
    if found.booking.status != BookingStatus::Held {
        return see_other(&format!("/b/m/{token}"));
    }
    let (app, id, place) = (web.app.clone(), browser.id, visitor.place.clone());
    let GuestBooking { workspace, kind, booking } = found;
    let sent = web.guest_act(move |tx| {
        let cx = app.cx(&workspace.actor);
        guest::send_code(tx, &cx, &kind, &booking, id, &place)
    });
    match sent.await {
        Ok(()) => see_other(&format!("/b/m/{token}")),
        Err(error) => refusal(error.into()),
    }
}

/// Other times to move to, or with one the page that asks.
pub async fn times(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    Asked(fields): Asked,
) -> Response<Body> {
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    if found.booking.status != BookingStatus::Booked {
        return see_other(&format!("/b/m/{token}"));
    }
    let mut asked = AskedTimes::of(&fields, &visitor);
    if fields.get("zone").is_empty() {
        asked.zone = zone_of(&found.booking, &visitor);
    }
    let response = match asked.at {
        Some(at) => {
            let mut page = ask_page(&found, &browser, &visitor, &token);
            let range = (at, at + found.kind.minutes * MINUTE_MS);
            let host_zone = &found.booking.host_zone;
            let mut new = SlipView::of_time(&found.kind, range, &asked.zone, host_zone);
            new.place.clone_from(&found.booking.place);
            (page.moves_to, page.at) = (Some(new), at / 1_000);
            html(StatusCode::OK, &page)
        }
        None => match web.other_times(&visitor, &found, &browser, &token, asked).await {
            Ok(page) => html(StatusCode::OK, &page),
            Err(error) => return refusal(error),
        },
    };
    browser.keep(&web, response)
}

pub async fn reschedule(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    if let Err(error) = web.count_booking_form(&visitor).await {
        return refusal(error);
    }
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    if found.booking.status == BookingStatus::Held {
        return see_other(&format!("/b/m/{token}"));
    }
    let Some(at) = start_of(&form.get("at")) else {
        return see_other(&format!("/b/m/{token}/move"));
    };
    web.look_again(found.workspace.actor.ws, &found.kind).await;
    let (app, actor) = (web.app.clone(), found.workspace.actor.clone());
    let old = found.booking.clone();
    let moved = web.guest_act(move |tx| {
        let cx = app.cx(&actor);
        let booking = booking::reschedule(tx, &cx, &old, at)?;
        Ok(manage_token(tx, &cx, &booking.id)?.as_str().to_owned())
    });
    match moved.await {
        Ok(token) => see_other(&format!("/b/m/{token}")),
        Err(Error::Conflict(_)) => {
            // Its own page says so when it was moved or cancelled meanwhile, or has begun.
            let now = web.app.clock.now();
            let found = match web.guest_booking(&visitor, &token).await {
                Ok(found) => found,
                Err(error) => return refusal(error),
            };
            let is_ahead = found.booking.starts_at > now && found.booking.starts_at != at;
            if found.booking.status != BookingStatus::Booked || !is_ahead {
                return see_other(&format!("/b/m/{token}"));
            }
            let mut page = ask_page(&found, &browser, &visitor, &token);
            page.error = t!(
                "That time is not free any more. Your appointment is still where it was; please \
                 choose another time."
            )
            .into();
            html(StatusCode::CONFLICT, &page)
        }
        Err(error) => refusal(error.into()),
    }
}

pub async fn ask_cancel(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
) -> Response<Body> {
    match web.guest_booking(&visitor, &token).await {
        // What became of it is on its page.
        Ok(found) if found.booking.status != BookingStatus::Booked => {
            see_other(&format!("/b/m/{token}"))
        }
        Ok(found) => {
            let page = ask_page(&found, &browser, &visitor, &token);
            browser.keep(&web, html(StatusCode::OK, &page))
        }
        Err(error) => refusal(error),
    }
}

pub async fn cancel(
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
        Err(error) => return refusal(error),
    };
    let reason = form.get("reason");
    let kept = reason.chars().filter(|c| *c != '\0').take(BOOKING_REASON_CHARS);
    let reason: String = kept.collect();
    let (app, actor) = (web.app.clone(), found.workspace.actor.clone());
    let old: Booking = found.booking;
    let cancelled =
        web.guest_act(move |tx| booking::cancel(tx, &app.cx(&actor), &old, &reason)).await;
    match cancelled {
        Ok(_) => see_other(&format!("/b/m/{token}")),
        Err(error) => refusal(error.into()),
    }
}

impl Web {
    async fn guest_booking(
        &self,
        visitor: &Visitor,
        token: &str,
    ) -> Result<GuestBooking, PageError> {
        let (token, now) = (token.to_owned(), self.app.clock.now());
        let found =
            self.app.store.read(move |tx: &mut Tx<'_>| guest::booking_at(tx, &token, now)).await;
        self.or_miss(visitor, found).await
    }

    async fn enter_booking_code(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        typed: &str,
    ) -> inbox::Result<CodeEntry> {
        let (app, id, place) = (self.app.clone(), browser.id, visitor.place.clone());
        let (actor, held) = (found.workspace.actor.clone(), found.booking.clone());
        let typed = typed.to_owned();
        self.guest_act(move |tx| guest::enter_code(tx, &app.cx(&actor), &held, id, &place, &typed))
            .await
    }

    async fn done_page(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        token: &str,
    ) -> Result<DonePage, PageError> {
        let GuestBooking { workspace, kind, booking } = found;
        let moved_to = match &booking.rescheduled_to {
            None => String::new(),
            Some(next) => {
                let (app, actor, next) = (self.app.clone(), workspace.actor.clone(), next.clone());
                let token = self.app.store.read(move |tx: &mut Tx<'_>| {
                    Ok::<_, Error>(manage_token(tx, &app.cx(&actor), &next)?.as_str().to_owned())
                });
                format!("/b/m/{}", token.await?)
            }
        };
        Ok(DonePage {
            sheet: sheet(found, browser),
            token: token.to_owned(),
            slip: SlipView::of_booking(kind, booking, visitor),
            guest: booking.guest_name.clone(),
            email: booking.guest_email.to_string(),
            host: booking.host_name.clone(),
            status: booking.status,
            moved_to,
            reason: reason_words(booking),
            is_ahead: booking.starts_at > self.app.clock.now(),
            answers: booking.answers.0.clone(),
            again: format!("/b/{}/{}", workspace.slug, kind.slug),
        })
    }

    async fn other_times(
        &self,
        visitor: &Visitor,
        found: &GuestBooking,
        browser: &GuestBrowser,
        token: &str,
        asked: AskedTimes,
    ) -> Result<TimesPage, PageError> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let id = found.booking.id.clone();
        let (zone, from) = (asked.zone.clone(), asked.from);
        let work = move |tx: &mut Tx<'_>| {
            let asked = AskedTimes { zone: zone.clone(), from, at: None };
            let hosts = types::hosts(tx, actor.ws, &kind.id)?;
            Ok((shown_times(tx, &app.cx(&actor), &kind, &asked, Some(&id))?, hosts))
        };
        let read = self.app.store.read(work).await;
        let (shown, hosts) = self.or_miss(visitor, read).await?;
        let path = format!("/b/m/{token}/move");
        Ok(TimesPage {
            sheet: sheet(found, browser),
            title: t!("Choose another time").into(),
            lead: t!("Your appointment stays where it is until you have confirmed the new time.")
                .into(),
            hosts: HostsLine::of(&hosts, found.kind.mode),
            minutes: found.kind.minutes,
            place: found.booking.place.clone(),
            times: TimesView::new(path, &asked, &shown, self.app.clock.now()),
            back: Some(format!("/b/m/{token}")),
        })
    }
}

fn code_page(
    found: &GuestBooking,
    browser: &GuestBrowser,
    visitor: &Visitor,
    token: &str,
    typed: String,
    error: String,
) -> BookingCodePage {
    let booking = &found.booking;
    let zone = zone_of(booking, visitor).zone;
    let until = booking.holds_until.unwrap_or(booking.starts_at);
    BookingCodePage {
        sheet: sheet(found, browser),
        token: token.to_owned(),
        slip: SlipView::of_booking(&found.kind, booking, visitor),
        email: booking.guest_email.to_string(),
        until: zoned(until, &zone).strftime("%H:%M").to_string(),
        typed,
        error,
    }
}

fn ask_page(
    found: &GuestBooking,
    browser: &GuestBrowser,
    visitor: &Visitor,
    token: &str,
) -> BookingAskPage {
    BookingAskPage {
        sheet: sheet(found, browser),
        token: token.to_owned(),
        slip: SlipView::of_booking(&found.kind, &found.booking, visitor),
        host: found.booking.host_name.clone(),
        moves_to: None,
        at: 0,
        error: String::new(),
    }
}

fn sheet(found: &GuestBooking, browser: &GuestBrowser) -> BookingSheet {
    let whose = match found.booking.status {
        BookingStatus::Held => t!("Book a time").to_owned(),
        _ => t!("Private page for {name}", name = found.booking.guest_name),
    };
    BookingSheet { csrf: browser.csrf.to_string(), firm: found.workspace.name.clone(), whose }
}
