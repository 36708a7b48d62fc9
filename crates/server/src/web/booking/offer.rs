//! The page behind a reply's link: the offered times first. The guest is known, so what they pick is
//! booked at once and belongs to the conversation.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use db::Tx;
use inbox::Error;
use inbox::base::limits::{BOOKING_ANSWER_CHARS, MINUTE_MS, OFFERED_TIMES};
use inbox::model::bookings::booking::{BookingGuest, NewBooking};
use inbox::model::bookings::guest::{self, GuestOffer};
use inbox::model::bookings::{availability, manage_token, types};
use translation::t;

use super::times_view::{TimesView, clock, day_words, zoned};
use super::typed::TypedGuest;
use super::views::{BookingSheet, OfferPage, OfferedTime, host_names, questions};
use super::{AskedTimes, ShownTimes, refusal, shown_times, start_of};
use crate::web::Web;
use crate::web::form::{Asked, FormFields};
use crate::web::guest::{GuestBrowser, GuestForm};
use crate::web::layout::responses::{PageError, html, see_other};
use crate::web::visitor::Visitor;

/// An offer, which of its times are still free, and all free times.
struct FoundOffer {
    found: GuestOffer,
    asked: AskedTimes,
    shown: ShownTimes,
    /// The offered times and the asked one, soonest first, with whether they are free; after a choice
    /// when none is, the next that are.
    offered: Vec<(i64, bool)>,
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
    let guest = known_guest(&found);
    let page = web.offer_page(&found, &browser, &token, guest, String::new());
    browser.keep(&web, html(StatusCode::OK, &page))
}

/// Books the picked time; what was typed is kept if somebody was faster.
pub async fn book(
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
    let found = match web.found_offer(&visitor, &token, form.fields()).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let mut guest = TypedGuest::read(&form, &found.found.kind);
    guest.email.clone_from(&found.found.offer.guest_email);
    if let Some(name) = &found.found.offer.guest_name {
        guest.name.clone_from(name);
    }
    let again = |guest, sentence: &str, status| {
        let page = web.offer_page(&found, &browser, &token, guest, sentence.to_owned());
        html(status, &page)
    };
    let Some(at) = start_of(&form.get("at")) else {
        return again(guest, t!("Please choose a time."), StatusCode::UNPROCESSABLE_ENTITY);
    };
    if !guest.check(&found.found.kind) {
        return again(guest, t!("Something is missing below."), StatusCode::UNPROCESSABLE_ENTITY);
    }
    match web.book_offer(&found, &token, at, &guest).await {
        Ok(token) => see_other(&format!("/b/m/{token}")),
        Err(Error::Conflict(_)) => {
            // What is free is read again: the page was made before the time was lost.
            let found = match web.found_offer(&visitor, &token, form.fields()).await {
                Ok(found) => found,
                Err(error) => return refusal(error),
            };
            let taken = t!(
                "Somebody else booked that time a moment ago. You have not booked anything yet; \
                 what you wrote is kept. Please choose another one."
            );
            let page = web.offer_page(&found, &browser, &token, guest, taken.to_owned());
            html(StatusCode::CONFLICT, &page)
        }
        Err(error) => refusal(error.into()),
    }
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
            let asked = AskedTimes::of(&fields, &of).with_host_zone(&hosts);
            let shown = shown_times(tx, &cx, &found.kind, &asked, None)?;
            let mut starts = found.offer.times.0.clone();
            starts.extend(asked.at);
            starts.sort_unstable();
            starts.dedup();
            let mut offered = Vec::new();
            for at in starts {
                let loaded = availability::load(tx, &cx, &found.kind, (at, at + 1_000), None)?;
                offered.push((at, loaded.free_at(at)?.is_some()));
            }
            if let Some(at) = asked.at.filter(|_| offered.iter().all(|(_, is_free)| !is_free)) {
                let kind = &found.kind;
                let next = availability::next_free(tx, &cx, kind, at, OFFERED_TIMES, None)?;
                offered.extend(next.iter().map(|free| (free.starts_at, true)));
            }
            Ok(FoundOffer { found, asked, shown, offered })
        };
        let found = self.app.store.read(work).await;
        self.or_miss(visitor, found).await
    }

    async fn book_offer(
        &self,
        found: &FoundOffer,
        token: &str,
        starts_at: i64,
        typed: &TypedGuest,
    ) -> inbox::Result<String> {
        self.look_again(found.found.workspace.actor.ws, &found.found.kind).await;
        let (app, token, typed) = (self.app.clone(), token.to_owned(), typed.clone());
        let zone = found.asked.zone.name.clone();
        self.guest_act(move |tx| {
            let found = guest::offer_at(tx, &token, app.clock.now())?;
            let cx = app.cx(&found.workspace.actor);
            let answers = typed.answers(&found.kind);
            let guest = BookingGuest { name: &typed.name, email: &typed.email, zone: Some(&zone) };
            let new = NewBooking { starts_at, guest, answers: &answers, conversation: None };
            let booking = guest::book_offer(tx, &cx, &found, &new)?;
            Ok(manage_token(tx, &cx, &booking.id)?.as_str().to_owned())
        })
        .await
    }

    fn offer_page(
        &self,
        found: &FoundOffer,
        browser: &GuestBrowser,
        token: &str,
        guest: TypedGuest,
        error: String,
    ) -> OfferPage {
        let GuestOffer { workspace, kind, offer } = &found.found;
        let path = format!("/b/o/{token}");
        let chosen = found.asked.at.filter(|at| found.offered.contains(&(*at, true)));
        let first = found.offered.iter().find(|(_, free)| *free).map(|(at, _)| *at);
        let chosen = chosen.or(first);
        let zone = &found.asked.zone.zone;
        let offered = found.offered.iter().map(|(at, is_free)| {
            let start = zoned(*at, zone);
            OfferedTime {
                at: at / 1_000,
                words: t!("{date}, {clock}", date = day_words(start.date()), clock = clock(&start)),
                until: clock(&zoned(at + kind.minutes * MINUTE_MS, zone)),
                is_chosen: chosen == Some(*at),
                is_free: *is_free,
            }
        });
        let name = offer.guest_name.as_deref().unwrap_or(&offer.guest_email);
        OfferPage {
            sheet: BookingSheet {
                csrf: browser.csrf.to_string(),
                firm: workspace.name.clone(),
                whose: t!("Private page for {name}", name),
            },
            title: kind.name.clone(),
            hosts: host_names(&found.shown.hosts, kind.mode),
            minutes: kind.minutes,
            place: kind.place.clone(),
            email: offer.guest_email.clone(),
            error,
            offered: offered.collect(),
            has_free: first.is_some(),
            questions: questions(kind, &guest),
            needs_name: offer.guest_name.is_none(),
            guest,
            times: TimesView::new(path.clone(), &found.asked, &found.shown, self.app.clock.now()),
            path,
            most: BOOKING_ANSWER_CHARS,
        }
    }
}

fn known_guest(found: &FoundOffer) -> TypedGuest {
    let mut guest = TypedGuest::blank(&found.found.kind);
    guest.name = found.found.offer.guest_name.clone().unwrap_or_default();
    guest
}
