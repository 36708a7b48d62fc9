//! A guest's own page: their appointment, to move or cancel.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use base::error::Error;
use base::limits::{BOOKING_REASON_CHARS, HOUR_MS, MINUTE_MS};
use bookings::entries::{guest_title, host_names};
use bookings::guest::{self, GuestBooking};
use bookings::{Booking, BookingStatus, availability, manage_token};
use calendar::{BookingFeed, BookingFeedEntry, BookingFeedStatus, TimeRange};
use db::Tx;
use translation::t;

use super::change_words::{change_words, late_words};
use super::times_view::{TimesView, in_zone};
use super::views::{
    BookingAskPage, BookingBackLink, BookingBanner, BookingPageHeader, BookingSummaryView,
    DonePage, HostsLine, TimesPage, is_cancelled_by_guest, reason_words, zone_of,
};
use super::{TimesQuery, refusal, shown_times, start_of, too_many_words};
use crate::Web;
use crate::forms::form::Asked;
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, plain, see_other};
use crate::layout::wording::{first_name, short_month};
use crate::visitor::Visitor;

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    Asked(fields): Asked,
) -> Response<Body> {
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return web.ran_out(error, &visitor, &browser, &fields).await,
    };
    let response = match found.booking.status {
        BookingStatus::Held => match web.code_page(&found, &browser, &visitor, &token).await {
            Ok(page) => html(StatusCode::OK, &page),
            Err(error) => return refusal(error),
        },
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
    let at = |ms| in_zone(ms, &jiff::tz::TimeZone::UTC).timestamp();
    let name = &found.workspace.name;
    let title = guest_title(&booking.type_name, &host_names(booking, &found.hosts), name);
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
        summary: &title,
        location: Some(booking.place.as_str()).filter(|place| !place.is_empty()),
        description: None,
        url: None,
    };
    let feed = BookingFeed { name, refresh_minutes: 60, entries: &[entry] };
    let mut response = plain(calendar::booking_feed(&feed));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/calendar; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    let saved = HeaderValue::from_static("attachment; filename=\"appointment.ics\"");
    headers.insert(header::CONTENT_DISPOSITION, saved);
    response
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
    // What became of it, or that it is too late, is on its page.
    if !found.booking.guest_may_change(web.app.clock.now()) {
        return see_other(&format!("/b/m/{token}"));
    }
    let mut asked = TimesQuery::of(&fields, &visitor);
    if fields.get("zone").is_empty() {
        asked.zone = zone_of(&found.booking, &visitor);
    }
    let can_move = match asked.at {
        Some(at) => web.can_move(&found, at).await,
        None => Ok(false),
    };
    let can_move = match can_move {
        Ok(can_move) => can_move,
        Err(error) => return refusal(error.into()),
    };
    let response = match asked.at {
        Some(at) if can_move => {
            let mut page = ask_page(&found, &browser, &visitor, &token);
            let range = (at, at + found.kind.minutes * MINUTE_MS);
            let host_zone = &found.booking.host_zone;
            let mut new = BookingSummaryView::of_time(&found.kind, range, &asked.zone, host_zone);
            new.place.clone_from(&found.booking.place);
            (page.moves_to, page.at) = (Some(new), at / 1_000);
            page.is_last_move = at - found.kind.cancel_hours * HOUR_MS <= web.app.clock.now();
            html(StatusCode::OK, &page)
        }
        _ => match web.other_times(&visitor, &found, &browser, &token, asked).await {
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
    let found = match web.guest_booking(&visitor, &token).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    if found.booking.status == BookingStatus::Held {
        return see_other(&format!("/b/m/{token}"));
    }
    if let Some(page) = web.late_page(&found, &browser, &visitor, &token) {
        return html(StatusCode::CONFLICT, &page);
    }
    match web.count_booking_form(&visitor).await {
        Ok(true) => {}
        Ok(false) => {
            let mut page = ask_page(&found, &browser, &visitor, &token);
            page.error = too_many_words();
            return html(StatusCode::TOO_MANY_REQUESTS, &page);
        }
        Err(error) => return refusal(error.into()),
    }
    let Some(at) = start_of(&form.get("at")) else {
        return see_other(&format!("/b/m/{token}/move"));
    };
    web.look_again(found.workspace.actor.ws, &found.kind).await;
    let (app, actor) = (web.app.clone(), found.workspace.actor.clone());
    let old = found.booking.clone();
    let moved = web.guest_act(move |tx| {
        let cx = app.cx(&actor);
        let booking = guest::reschedule(tx, &cx, &old, at)?;
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
            if let Some(page) = web.late_page(&found, &browser, &visitor, &token) {
                return html(StatusCode::CONFLICT, &page);
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
        // What became of it, or that it is too late, is on its page.
        Ok(found) if !found.booking.guest_may_change(web.app.clock.now()) => {
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
    // A time that is only held has no proven guest, and nothing of it is kept.
    if found.booking.status == BookingStatus::Held {
        return see_other(&format!("/b/m/{token}"));
    }
    if let Some(page) = web.late_page(&found, &browser, &visitor, &token) {
        return html(StatusCode::CONFLICT, &page);
    }
    let reason = form.get("reason");
    let kept = reason.chars().filter(|c| *c != '\0').take(BOOKING_REASON_CHARS);
    let reason: String = kept.collect();
    let (app, actor) = (web.app.clone(), found.workspace.actor.clone());
    let old: Booking = found.booking.clone();
    let cancelled =
        web.guest_act(move |tx| guest::cancel(tx, &app.cx(&actor), &old, &reason)).await;
    match cancelled {
        Ok(_) => see_other(&format!("/b/m/{token}")),
        Err(Error::Conflict(sentence)) => match web.late_page(&found, &browser, &visitor, &token) {
            Some(page) => html(StatusCode::CONFLICT, &page),
            None => refusal(Error::Conflict(sentence).into()),
        },
        Err(error) => refusal(error.into()),
    }
}

impl Web {
    pub(super) async fn guest_booking(
        &self,
        visitor: &Visitor,
        token: &str,
    ) -> Result<GuestBooking, PageError> {
        let (token, now) = (token.to_owned(), self.app.clock.now());
        let found =
            self.app.store.read(move |tx: &mut Tx<'_>| guest::booking_at(tx, &token, now)).await;
        self.or_miss(visitor, found).await
    }

    /// What a guest is told whose form comes too late; nothing while it does not.
    fn late_page(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        token: &str,
    ) -> Option<BookingAskPage> {
        let booking = &found.booking;
        booking.is_late_for_guest(self.app.clock.now()).then(|| BookingAskPage {
            error: late_words(booking, &zone_of(booking, visitor).zone),
            is_late: true,
            ..ask_page(found, browser, visitor, token)
        })
    }

    /// A time that is free, and not the one that the appointment has.
    async fn can_move(&self, found: &GuestBooking, at: i64) -> base::error::Result<bool> {
        if at == found.booking.starts_at {
            return Ok(false);
        }
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let id = found.booking.id.clone();
        let work = move |tx: &mut Tx<'_>| {
            let window = (at, at + 1_000);
            let loaded = availability::load(tx, &app.cx(&actor), &kind, window, Some(&id))?;
            Ok(loaded.free_at(at)?.is_some())
        };
        self.app.store.read(work).await
    }

    async fn done_page(
        &self,
        found: &GuestBooking,
        browser: &GuestBrowser,
        visitor: &Visitor,
        token: &str,
    ) -> Result<DonePage, PageError> {
        let GuestBooking { workspace, kind, booking, .. } = found;
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
        let (zone, now) = (zone_of(booking, visitor).zone, self.app.clock.now());
        let start = in_zone(booking.starts_at, &zone);
        Ok(DonePage {
            sheet: sheet(found, browser),
            token: token.to_owned(),
            slip: BookingSummaryView::of_booking(kind, booking, visitor),
            first: first_name(&booking.guest_name).to_owned(),
            email: booking.guest_email.to_string(),
            host: booking.host_name.clone(),
            status: booking.status,
            is_moved: booking.rescheduled_from.is_some(),
            stamp: format!("{} {}", start.day(), short_month(start.month()).to_uppercase()),
            moved_to,
            is_by_guest: is_cancelled_by_guest(booking),
            reason: reason_words(booking),
            is_ahead: booking.starts_at > now,
            can_change: booking.guest_may_change(now),
            change_words: change_words(booking, &zone, now),
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
        mut asked: TimesQuery,
    ) -> Result<TimesPage, PageError> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let (id, present) = (found.booking.id.clone(), found.booking.starts_at);
        let banner = asked.at.map(|at| {
            let range = (at, at + kind.minutes * MINUTE_MS);
            let slip =
                BookingSummaryView::of_time(&kind, range, &asked.zone, &found.booking.host_zone);
            if at == present {
                let sentence = t!("Choose another time, or keep the one you have.");
                return BookingBanner::new(t!("It is at this time already"), sentence);
            }
            BookingBanner::not_free(&slip.sentence())
        });
        // Instead of a time that cannot be had, those near it.
        let near = asked.at.map(|at| in_zone(at, &asked.zone.zone).date());
        asked.from = asked.from.or(near);
        let of_page = asked.clone();
        let work =
            move |tx: &mut Tx<'_>| shown_times(tx, &app.cx(&actor), &kind, &of_page, Some(&id));
        let read = self.app.store.read(work).await;
        let mut shown = self.or_miss(visitor, read).await?;
        shown.free.retain(|free| free.starts_at != present);
        let path = format!("/b/m/{token}/move");
        Ok(TimesPage {
            sheet: sheet(found, browser),
            back: Some(BookingBackLink {
                href: format!("/b/m/{token}"),
                words: t!("Keep the time I have"),
            }),
            banner,
            title: t!("Choose another time").into(),
            lead: t!("Your appointment stays where it is until you have confirmed the new time.")
                .into(),
            hosts: HostsLine::of(&shown.hosts, found.kind.mode),
            minutes: found.kind.minutes,
            place: found.booking.place.clone(),
            present: Some(BookingSummaryView::of_booking(&found.kind, &found.booking, visitor)),
            times: TimesView::new(path, &asked, &shown, self.app.clock.now()),
            kept: Vec::new(),
        })
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
        slip: BookingSummaryView::of_booking(&found.kind, &found.booking, visitor),
        host: found.booking.host_name.clone(),
        moves_to: None,
        is_last_move: false,
        at: 0,
        error: String::new(),
        is_late: false,
    }
}

fn sheet(found: &GuestBooking, browser: &GuestBrowser) -> BookingPageHeader {
    let csrf = browser.csrf.to_string();
    BookingPageHeader::private(&found.workspace, csrf, &found.booking.guest_name)
}
