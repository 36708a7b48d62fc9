//! The public pages: a workspace's types, the free times of one, and the form that holds a time until
//! the guest has proven their address. What a guest typed goes along on every way between them: in the
//! fields of the form, because an address is kept by browsers and servers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use base::error::Error;
use base::limits::{BOOKING_ANSWER_CHARS, MINUTE_MS, OFFERED_TIMES};
use bookings::booking::{BookingGuest, NewBooking};
use bookings::guest::{self, GuestWorkspace};
use bookings::mail_words::city;
use bookings::types::{self, BookingType};
use bookings::{Booking, availability, manage_token};
use db::Tx;
use translation::t;

use super::form_input::BookingFormInput;
use super::times_view::{TimesView, by_day, in_zone};
use super::views::{
    BookingBackLink, BookingBanner, BookingPageHeader, BookingSummaryView, FormPage, HostsLine,
    TimesPage, TypesPage, host_names, questions,
};
use super::{ShownTimes, TimesQuery, host_zone, refusal, shown_times, too_many_words};
use crate::Web;
use crate::forms::form::{Asked, FormFields};
use crate::guest::{GuestBrowser, GuestForm};
use crate::layout::responses::{PageError, html, see_other};
use crate::visitor::Visitor;

/// How many times are offered when one was lost.
const NEAREST: usize = 3 * OFFERED_TIMES;

/// What can be booked with a workspace.
pub async fn types(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
) -> Response<Body> {
    let work = move |tx: &mut Tx<'_>| {
        let workspace = guest::workspace_at(tx, &slug)?;
        let types = guest::listed_types(tx, &workspace.actor)?;
        if types.is_empty() { Err(Error::NotFound("page")) } else { Ok((workspace, types)) }
    };
    let found = web.app.store.read(work).await;
    match web.or_miss(&visitor, found).await {
        Ok((workspace, types)) => {
            let sheet = BookingPageHeader::public(&workspace, String::new());
            html(StatusCode::OK, &TypesPage { sheet, slug: workspace.slug, types })
        }
        Err(error) => refusal(error),
    }
}

/// A type with its free times.
pub(super) struct TypeAvailability {
    workspace: GuestWorkspace,
    pub(super) kind: BookingType,
    pub(super) asked: TimesQuery,
    shown: ShownTimes,
    /// The asked time can be booked.
    is_free: bool,
    /// What the browser holds already, with the token of its page.
    held: Option<(String, Booking)>,
}

impl TypeAvailability {
    fn path(&self) -> String {
        format!("/b/{}/{}", self.workspace.slug, self.kind.slug)
    }

    /// The page of what the browser holds.
    fn held_page(&self) -> String {
        let held = self.held.as_ref();
        held.map(|(token, _)| held_path(token, &self.workspace, &self.kind)).unwrap_or_default()
    }

    fn held_token(&self) -> String {
        self.held.as_ref().map(|(token, _)| token.clone()).unwrap_or_default()
    }
}

/// The page of a held time. It names the type, so that the times can be offered again once the hold ran
/// out and nothing else is left of it.
pub(super) fn held_path(token: &str, workspace: &GuestWorkspace, kind: &BookingType) -> String {
    format!("/b/m/{token}?of={}/{}", workspace.slug, kind.slug)
}

/// The free times of a type, or with a time the form.
pub async fn times(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path((slug, kind)): Path<(String, String)>,
    Asked(fields): Asked,
) -> Response<Body> {
    let found = match web.found_type(&visitor, &browser, (&slug, &kind), &fields).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let guest = BookingFormInput::blank(&found.kind);
    browser.keep(&web, web.form_or_times(&found, &browser, guest))
}

/// What a button of a form leads to.
enum FormStep {
    /// The list of times, in another zone or from another day on.
    Times,
    /// The form for a time, which may not be free.
    Form,
    /// The code.
    Hold,
}

impl FormStep {
    fn of(fields: &FormFields) -> FormStep {
        match fields.get("step").as_str() {
            "times" | "zone" => FormStep::Times,
            "form" => FormStep::Form,
            _ if fields.has("from") => FormStep::Times,
            _ if fields.has("pick") => FormStep::Form,
            _ => FormStep::Hold,
        }
    }
}

/// Holds the time and mails a code, or shows other times; what was typed is kept on every way.
pub async fn hold(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path((slug, kind)): Path<(String, String)>,
    form: GuestForm,
) -> Response<Body> {
    let found = match web.found_type(&visitor, &browser, (&slug, &kind), form.fields()).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let guest = BookingFormInput::read(form.fields(), &found.kind);
    let response = if browser.csrf.fits(&form.csrf()) {
        match FormStep::of(form.fields()) {
            FormStep::Times if guest.is_blank() && found.held.is_none() => {
                see_other(&times_address(&found))
            }
            FormStep::Times => {
                html(StatusCode::OK, &web.times_page(&found, &browser, &guest, None))
            }
            FormStep::Form => web.form_or_times(&found, &browser, guest),
            FormStep::Hold => web.held_or_again(&visitor, &browser, &found, guest).await,
        }
    } else {
        let banner = BookingBanner::too_old();
        web.form_again(&visitor, &browser, &found, guest, banner, StatusCode::FORBIDDEN).await
    };
    browser.keep(&web, response)
}

fn times_address(found: &TypeAvailability) -> String {
    let zone = found.asked.zone.in_address();
    if zone.is_empty() { found.path() } else { format!("{}?zone={zone}", found.path()) }
}

impl Web {
    pub(super) async fn found_type(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        (slug, kind): (&str, &str),
        fields: &FormFields,
    ) -> Result<TypeAvailability, PageError> {
        let (app, slug, kind) = (self.app.clone(), slug.to_owned(), kind.to_owned());
        let (fields, of, browser) = (fields.clone(), visitor.clone(), browser.id);
        let work = move |tx: &mut Tx<'_>| {
            let workspace = guest::workspace_at(tx, &slug)?;
            let missing = || Error::NotFound("page");
            let kind = types::with_slug(tx, workspace.actor.ws, &kind)?.ok_or_else(missing)?;
            let hosts = types::hosts(tx, workspace.actor.ws, &kind.id)?;
            let mut asked = TimesQuery::of(&fields, &of).with_host_zone(&hosts);
            let cx = app.cx(&workspace.actor);
            let token = fields.get("held");
            let held = guest::held_by(tx, &cx, &token, browser)?;
            let held = held.filter(|held| held.type_id == kind.id).map(|held| (token, held));
            let except = held.as_ref().map(|(_, held)| &held.id);
            let mut is_free = false;
            if let Some(at) = asked.at {
                let loaded = availability::load(tx, &cx, &kind, (at, at + 1_000), except)?;
                is_free = loaded.free_at(at)?.is_some();
                // Instead of a time that is not free, those near it.
                if !is_free && asked.from.is_none() {
                    asked.from = Some(in_zone(at, &asked.zone.zone).date());
                }
            }
            let shown = shown_times(tx, &cx, &kind, &asked, except)?;
            Ok(TypeAvailability { workspace, kind, asked, shown, is_free, held })
        };
        let found = self.app.store.read(work).await;
        self.or_miss(visitor, found).await
    }

    /// The form for the asked time; the times, where none is asked or it is not free.
    fn form_or_times(
        &self,
        found: &TypeAvailability,
        browser: &GuestBrowser,
        guest: BookingFormInput,
    ) -> Response<Body> {
        match found.asked.at {
            Some(at) if found.is_free => {
                html(StatusCode::OK, &form_page(found, browser, at, guest))
            }
            at => {
                let banner = at.map(|at| BookingBanner::not_free(&slip(found, at).sentence()));
                html(StatusCode::OK, &self.times_page(found, browser, &guest, banner))
            }
        }
    }

    /// The times as links; as buttons of a form, once there is something to carry along.
    pub(super) fn times_page(
        &self,
        found: &TypeAvailability,
        browser: &GuestBrowser,
        guest: &BookingFormInput,
        banner: Option<BookingBanner>,
    ) -> TimesPage {
        let now = self.app.clock.now();
        let mut times = TimesView::new(found.path(), &found.asked, &found.shown, now);
        times.is_form = !guest.is_blank() || found.held.is_some();
        let mut kept = guest.fields();
        kept.push(("zone".into(), found.asked.zone.form_value()));
        kept.push(("held".into(), found.held_token()));
        let back = found
            .held
            .as_ref()
            .map(|_| BookingBackLink { href: found.held_page(), words: t!("Back to the code") });
        TimesPage {
            sheet: sheet(found, browser),
            back,
            banner,
            title: found.kind.name.clone(),
            lead: found.kind.description.clone(),
            hosts: HostsLine::of(&found.shown.hosts, found.kind.mode),
            minutes: found.kind.minutes,
            place: found.kind.place.clone(),
            present: None,
            times,
            kept,
        }
    }

    /// Goes on to the code; the form again where that cannot be done.
    async fn held_or_again(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        found: &TypeAvailability,
        mut guest: BookingFormInput,
    ) -> Response<Body> {
        match self.count_booking_form(visitor).await {
            Ok(true) => {}
            Ok(false) => {
                let (banner, status) =
                    (BookingBanner::wait(&too_many_words()), StatusCode::TOO_MANY_REQUESTS);
                return self.form_again(visitor, browser, found, guest, banner, status).await;
            }
            Err(error) => return refusal(error.into()),
        }
        if guest.is_trapped {
            return see_other(&found.path());
        }
        let Some(at) = found.asked.at else {
            let banner =
                BookingBanner::new(t!("Nothing is booked yet"), t!("Please choose a time."));
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return self.choose_again(visitor, browser, found, guest, banner, status).await;
        };
        if !guest.check(&found.kind) {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            if found.is_free {
                return html(status, &form_page(found, browser, at, guest));
            }
            let banner = BookingBanner::not_free(&slip(found, at).sentence());
            return self.choose_again(visitor, browser, found, guest, banner, status).await;
        }
        self.look_again(found.workspace.actor.ws, &found.kind).await;
        match self.hold_time(found, browser, visitor, at, &guest).await {
            Ok(token) => see_other(&held_path(&token, &found.workspace, &found.kind)),
            Err(Error::Conflict(_)) => {
                let banner = BookingBanner::new(
                    t!(
                        "Somebody else booked {taken} a moment ago",
                        taken = slip(found, at).sentence(),
                    ),
                    t!("You have not booked anything yet. Here are the next free times. What you \
                         wrote is kept below."),
                );
                let status = StatusCode::CONFLICT;
                self.choose_again(visitor, browser, found, guest, banner, status).await
            }
            Err(Error::Forbidden(sentence)) => {
                let banner = BookingBanner::wait(&translation::sentence(&sentence));
                let status = StatusCode::TOO_MANY_REQUESTS;
                self.form_again(visitor, browser, found, guest, banner, status).await
            }
            Err(error) => refusal(error.into()),
        }
    }

    /// The token of the guest's page for the held time. What the browser held before is given back.
    async fn hold_time(
        &self,
        found: &TypeAvailability,
        browser: &GuestBrowser,
        visitor: &Visitor,
        starts_at: i64,
        typed: &BookingFormInput,
    ) -> base::error::Result<String> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let (browser, place, typed) = (browser.id, visitor.place.clone(), typed.clone());
        let (zone, before) = (found.asked.zone.clone(), found.held_token());
        self.guest_act(move |tx| {
            let cx = app.cx(&actor);
            let answers = typed.answers(&kind);
            let guest =
                BookingGuest { name: &typed.name, email: &typed.email, zone: zone.named_or_none() };
            let new = NewBooking { starts_at, guest, answers: &answers, conversation: None };
            let before = guest::held_by(tx, &cx, &before, browser)?;
            let held = match before.filter(|before| before.type_id == kind.id) {
                Some(before) => {
                    guest::hold_instead(tx, &cx, &kind, &before, &new, browser, &place)?
                }
                None => guest::hold(tx, &cx, &kind, &new, browser, &place)?,
            };
            Ok(manage_token(tx, &cx, &held.id)?.as_str().to_owned())
        })
        .await
    }

    /// The form with the time that was asked for, or times to choose from, and what was typed.
    async fn form_again(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        found: &TypeAvailability,
        guest: BookingFormInput,
        banner: BookingBanner,
        status: StatusCode,
    ) -> Response<Body> {
        match found.asked.at {
            Some(at) if found.is_free => {
                let mut page = form_page(found, browser, at, guest);
                page.banner = Some(banner);
                html(status, &page)
            }
            _ => self.choose_again(visitor, browser, found, guest, banner, status).await,
        }
    }

    /// The form with free times to choose from: those after the asked one, else the next.
    pub(super) async fn choose_again(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        found: &TypeAvailability,
        guest: BookingFormInput,
        banner: BookingBanner,
        status: StatusCode,
    ) -> Response<Body> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let (at, held) = (found.asked.at, found.held.as_ref().map(|(_, held)| held.id.clone()));
        let work = move |tx: &mut Tx<'_>| {
            let (cx, except) = (app.cx(&actor), held.as_ref());
            let after = at.unwrap_or(cx.now);
            let free = availability::next_free(tx, &cx, &kind, after, NEAREST, except)?;
            if !free.is_empty() {
                return Ok(free);
            }
            availability::next_free(tx, &cx, &kind, cx.now, NEAREST, except)
        };
        let free = self.app.store.read(work).await;
        let free = match self.or_miss(visitor, free).await {
            Ok(free) => free,
            Err(error) => return refusal(error),
        };
        let mut page = form_page(found, browser, at.unwrap_or_default(), guest);
        page.slip = None;
        page.banner = Some(banner);
        let first = free.first().map(|free| free.starts_at);
        page.days = by_day(&free, &found.asked.zone.zone, first);
        html(status, &page)
    }
}

fn form_page(
    found: &TypeAvailability,
    browser: &GuestBrowser,
    at: i64,
    guest: BookingFormInput,
) -> FormPage {
    let zone = &found.asked.zone;
    let asks_zone = !zone.is_chosen && !found.asked.is_form;
    FormPage {
        sheet: sheet(found, browser),
        path: found.path(),
        zone: zone.form_value(),
        asks_zone: if asks_zone { zone.name.clone() } else { String::new() },
        city: city(&zone.name),
        banner: None,
        slip: Some(slip(found, at)),
        at: at / 1_000,
        days: Vec::new(),
        held: found.held_token(),
        held_page: found.held_page(),
        questions: questions(&found.kind, &guest),
        guest,
        most: BOOKING_ANSWER_CHARS,
    }
}

fn slip(found: &TypeAvailability, at: i64) -> BookingSummaryView {
    let range = (at, at + found.kind.minutes * MINUTE_MS);
    let host_zone = host_zone(&found.shown.hosts);
    let mut slip = BookingSummaryView::of_time(&found.kind, range, &found.asked.zone, host_zone);
    slip.hosts = host_names(&found.shown.hosts, found.kind.mode);
    slip
}

fn sheet(found: &TypeAvailability, browser: &GuestBrowser) -> BookingPageHeader {
    BookingPageHeader::public(&found.workspace, browser.csrf.to_string())
}
