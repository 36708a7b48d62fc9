//! The page behind a reply's link: the offered times first. The guest is known, so what they pick is
//! booked at once and belongs to the conversation. The link books once; then it shows what was booked.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use base::error::Error;
use base::limits::{BOOKING_ANSWER_CHARS, MINUTE_MS, OFFERED_TIMES};
use bookings::booking::{BookingGuest, NewBooking};
use bookings::guest::{self, GuestOffer};
use bookings::mail_words::city;
use bookings::{Booking, availability, manage_token, types, zone_or_utc};
use db::Tx;
use translation::t;

use super::change_words::until_words;
use super::form_input::BookingFormInput;
use super::times_view::{TimesView, clock, day_words, in_zone};
use super::views::{
    BookingBanner, BookingPageHeader, BookingSummaryView, GuestZone, OfferBookedPage, OfferPage,
    OfferedTime, host_names, questions, zone_of,
};
use super::{ShownTimes, TimesQuery, host_zone, refusal, shown_times, too_many_words};
use crate::Web;
use crate::forms::form::{Asked, FormFields};
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, see_other};
use crate::layout::wording::first_name;
use crate::visitor::Visitor;

/// An offer, which of its times are still free, and all free times.
struct FoundOffer {
    found: GuestOffer,
    asked: TimesQuery,
    shown: ShownTimes,
    /// The offered times, and the asked one if it is free, soonest first, with whether they are free;
    /// after a choice when none is, the next that are.
    offered: Vec<(i64, bool)>,
    /// The asked time, if it is not free.
    lost: Option<i64>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    Asked(fields): Asked,
) -> Response<Body> {
    let found = match web.found_offer(&visitor, &token, &fields).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    if let Some(booked) = &found.found.booked {
        let page = web.booked_page(&found.found, booked, &visitor);
        return html(StatusCode::OK, &page);
    }
    let guest = known_guest(&found, BookingFormInput::blank(&found.found.kind));
    let page = web.offer_page(&found, &browser, &token, guest, not_free(&found));
    browser.keep(&web, html(StatusCode::OK, &page))
}

/// Books the picked time, or shows other times; what was typed is kept on every way.
pub async fn book(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let found = match web.found_offer(&visitor, &token, form.fields()).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    // It is on the page of the link, without the way to change it.
    if found.found.booked.is_some() {
        return see_other(&format!("/b/o/{token}"));
    }
    let guest = known_guest(&found, BookingFormInput::read(form.fields(), &found.found.kind));
    let is_step = ["step", "pick", "from"].iter().any(|name| form.fields().has(name));
    let response = if !browser.csrf.fits(&form.csrf()) {
        let banner = Some(BookingBanner::too_old());
        let page = web.offer_page(&found, &browser, &token, guest, banner);
        html(StatusCode::FORBIDDEN, &page)
    } else if is_step {
        let page = web.offer_page(&found, &browser, &token, guest, not_free(&found));
        html(StatusCode::OK, &page)
    } else {
        web.booked_or_again(&visitor, &browser, &token, &form, (found, guest)).await
    };
    browser.keep(&web, response)
}

impl Web {
    async fn found_offer(
        &self,
        visitor: &Visitor,
        token: &str,
        fields: &FormFields,
    ) -> Result<FoundOffer, PageError> {
        let (app, token) = (self.app.clone(), token.to_owned());
        let (fields, of) = (fields.clone(), visitor.clone());
        let work = move |tx: &mut Tx<'_>| {
            let found = guest::offer_at(tx, &token, app.clock.now())?;
            let cx = app.cx(&found.workspace.actor);
            let hosts = types::hosts(tx, cx.actor.ws, &found.kind.id)?;
            let asked = TimesQuery::of(&fields, &of).with_host_zone(&hosts);
            let shown = shown_times(tx, &cx, &found.kind, &asked, None)?;
            let mut starts = found.offer.times.0.clone();
            starts.extend(asked.at);
            starts.sort_unstable();
            starts.dedup();
            let (mut offered, mut lost) = (Vec::new(), None);
            for at in starts {
                let loaded = availability::load(tx, &cx, &found.kind, (at, at + 1_000), None)?;
                let is_free = loaded.free_at(at)?.is_some();
                if !is_free && asked.at == Some(at) {
                    lost = Some(at);
                }
                // A time that nobody offered and nobody can have is not worth a line.
                if is_free || found.offer.times.contains(&at) {
                    offered.push((at, is_free));
                }
            }
            if let Some(at) = asked.at.filter(|_| offered.iter().all(|(_, is_free)| !is_free)) {
                let kind = &found.kind;
                let next = availability::next_free(tx, &cx, kind, at, OFFERED_TIMES, None)?;
                offered.extend(next.iter().map(|free| (free.starts_at, true)));
            }
            Ok(FoundOffer { found, asked, shown, offered, lost })
        };
        let found = self.app.store.read(work).await;
        self.or_miss(visitor, found).await
    }

    /// Books the picked time; the page again where that cannot be done.
    async fn booked_or_again(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        token: &str,
        form: &GuestForm,
        (found, mut guest): (FoundOffer, BookingFormInput),
    ) -> Response<Body> {
        let again = |found: &FoundOffer, guest, banner, status| {
            html(status, &self.offer_page(found, browser, token, guest, Some(banner)))
        };
        let not_yet = |sentence: &str| BookingBanner::new(t!("Nothing is booked yet"), sentence);
        match self.count_booking_form(visitor).await {
            Ok(true) => {}
            Ok(false) => {
                let banner = BookingBanner::wait(&too_many_words());
                return again(&found, guest, banner, StatusCode::TOO_MANY_REQUESTS);
            }
            Err(error) => return refusal(error.into()),
        }
        let Some(at) = found.asked.at else {
            let banner = not_yet(t!("Please choose a time."));
            return again(&found, guest, banner, StatusCode::UNPROCESSABLE_ENTITY);
        };
        if !guest.check(&found.found.kind) {
            let mut banner = not_yet(t!("Something is missing below."));
            banner.takes_focus = false;
            return again(&found, guest, banner, StatusCode::UNPROCESSABLE_ENTITY);
        }
        match self.book_offer(&found, token, at, &guest).await {
            Ok(Some(manage)) => see_other(&format!("/b/m/{manage}")),
            Ok(None) => see_other(&format!("/b/o/{token}")),
            Err(Error::Conflict(_)) => {
                // What is free is read again: the page was made before the time was lost.
                let found = match self.found_offer(visitor, token, form.fields()).await {
                    Ok(found) if found.found.booked.is_some() => {
                        return see_other(&format!("/b/o/{token}"));
                    }
                    Ok(found) => found,
                    Err(error) => return refusal(error),
                };
                let banner = not_yet(t!(
                    "Somebody else booked that time a moment ago. You have not booked anything \
                     yet; what you wrote is kept. Please choose another one."
                ));
                again(&found, guest, banner, StatusCode::CONFLICT)
            }
            Err(error) => refusal(error.into()),
        }
    }

    /// The token of the guest's page for the new appointment; none if the link has booked one already:
    /// whoever has the link only is not led to where it can be changed.
    async fn book_offer(
        &self,
        found: &FoundOffer,
        token: &str,
        starts_at: i64,
        typed: &BookingFormInput,
    ) -> base::error::Result<Option<String>> {
        self.look_again(found.found.workspace.actor.ws, &found.found.kind).await;
        let (app, token, typed) = (self.app.clone(), token.to_owned(), typed.clone());
        let zone = found.asked.zone.clone();
        self.guest_act(move |tx| {
            let found = guest::offer_at(tx, &token, app.clock.now())?;
            if found.booked.is_some() {
                return Ok(None);
            }
            let cx = app.cx(&found.workspace.actor);
            let answers = typed.answers(&found.kind);
            let guest =
                BookingGuest { name: &typed.name, email: &typed.email, zone: zone.named_or_none() };
            let new = NewBooking { starts_at, guest, answers: &answers, conversation: None };
            let booking = guest::book_offer(tx, &cx, &found, &new)?;
            Ok(Some(manage_token(tx, &cx, &booking.id)?.as_str().to_owned()))
        })
        .await
    }

    fn offer_page(
        &self,
        found: &FoundOffer,
        browser: &GuestBrowser,
        token: &str,
        guest: BookingFormInput,
        banner: Option<BookingBanner>,
    ) -> OfferPage {
        let GuestOffer { workspace, kind, offer, .. } = &found.found;
        let path = format!("/b/o/{token}");
        let chosen = found.asked.at.filter(|at| found.offered.contains(&(*at, true)));
        let first = found.offered.iter().find(|(_, free)| *free).map(|(at, _)| *at);
        let chosen = chosen.or(first);
        let mailed = found.asked.at.filter(|_| !found.asked.is_form);
        let offered = found.offered.iter().map(|(at, is_free)| OfferedTime {
            is_chosen: chosen == Some(*at),
            is_from_mail: mailed == Some(*at) && offer.times.contains(at),
            is_free: *is_free,
            ..offered_time((*at, kind.minutes), &found.asked.zone, host_zone(&found.shown.hosts))
        });
        let name = offer.guest_name.as_deref().unwrap_or(&offer.guest_email);
        let mut times =
            TimesView::new(path.clone(), &found.asked, &found.shown, self.app.clock.now());
        // Without an offered time there is nothing to type yet.
        times.is_form = !found.offered.is_empty();
        OfferPage {
            sheet: BookingPageHeader::private(workspace, browser.csrf.to_string(), name),
            title: kind.name.clone(),
            hosts: host_names(&found.shown.hosts, kind.mode),
            minutes: kind.minutes,
            place: kind.place.clone(),
            email: offer.guest_email.clone(),
            banner,
            offered: offered.collect(),
            has_free: first.is_some(),
            questions: questions(kind, &guest),
            needs_name: offer.guest_name.is_none(),
            guest,
            times,
            zone: found.asked.zone.form_value(),
            path,
            most: BOOKING_ANSWER_CHARS,
        }
    }

    fn booked_page(
        &self,
        found: &GuestOffer,
        booked: &Booking,
        visitor: &Visitor,
    ) -> OfferBookedPage {
        let GuestOffer { workspace, kind, .. } = found;
        let now = self.app.clock.now();
        let can_again = kind.active && kind.listed && kind.circle.is_team();
        let again = can_again.then(|| format!("/b/{}/{}", workspace.slug, kind.slug));
        OfferBookedPage {
            sheet: BookingPageHeader::private(workspace, String::new(), &booked.guest_name),
            slip: BookingSummaryView::of_booking(kind, booked, visitor),
            first: first_name(&booked.guest_name).to_owned(),
            email: booked.guest_email.to_string(),
            host: booked.host_name.clone(),
            is_ahead: booked.starts_at > now,
            can_change: booked.guest_may_change(now),
            until: until_words(booked, &zone_of(booked, visitor).zone),
            again,
        }
    }
}

/// A time with its words on both clocks.
fn offered_time((at, minutes): (i64, i64), zone: &GuestZone, host_zone: &str) -> OfferedTime {
    let (start, there) = (in_zone(at, &zone.zone), in_zone(at, &zone_or_utc(host_zone)));
    let is_same = start.offset() == there.offset();
    let host_clock =
        t!("{clock} in {city}, where they are", clock = clock(&there), city = city(host_zone));
    OfferedTime {
        at: at / 1_000,
        words: t!("{date}, {clock}", date = day_words(start.date()), clock = clock(&start)),
        until: clock(&in_zone(at + minutes * MINUTE_MS, &zone.zone)),
        host_clock: if is_same { String::new() } else { host_clock },
        is_chosen: false,
        is_from_mail: false,
        is_free: false,
    }
}

/// What is said of a time that was asked for and is not free.
fn not_free(found: &FoundOffer) -> Option<BookingBanner> {
    let lost = in_zone(found.lost?, &found.asked.zone.zone);
    let words = t!("{date}, {clock}", date = day_words(lost.date()), clock = clock(&lost));
    Some(BookingBanner::not_free(&words))
}

/// The guest is the one whom the reply went to.
fn known_guest(found: &FoundOffer, mut guest: BookingFormInput) -> BookingFormInput {
    let offer = &found.found.offer;
    guest.email.clone_from(&offer.guest_email);
    if let Some(name) = &offer.guest_name {
        guest.name.clone_from(name);
    }
    guest
}
