//! The public pages: a workspace's types, the free times of one, and the form that holds a time until
//! the guest has proven their address.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use db::Tx;
use inbox::Error;
use inbox::base::limits::{BOOKING_ANSWER_CHARS, MINUTE_MS, OFFERED_TIMES};
use inbox::model::bookings::booking::{BookingGuest, NewBooking};
use inbox::model::bookings::guest::{self, GuestWorkspace};
use inbox::model::bookings::types::{self, BookingType};
use inbox::model::bookings::{availability, manage_token};
use translation::t;

use super::times_view::{TimesView, by_day};
use super::typed::TypedGuest;
use super::views::{
    self, BookingSheet, FormPage, HostsLine, SlipView, TimesPage, TypesPage, host_names, questions,
};
use super::{AskedTimes, ShownTimes, refusal, shown_times, start_of};
use crate::web::Web;
use crate::web::form::Asked;
use crate::web::guest::{GuestBrowser, GuestForm};
use crate::web::layout::responses::{PageError, html, see_other};
use crate::web::visitor::Visitor;

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
            let sheet = sheet(&workspace, String::new());
            html(StatusCode::OK, &TypesPage { sheet, slug: workspace.slug, types })
        }
        Err(error) => refusal(error),
    }
}

/// A type with its free times.
struct FoundType {
    workspace: GuestWorkspace,
    kind: BookingType,
    asked: AskedTimes,
    shown: ShownTimes,
}

/// The free times of a type, or with a time the form.
pub async fn times(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path((slug, kind)): Path<(String, String)>,
    Asked(fields): Asked,
) -> Response<Body> {
    let found = match web.found_type(&visitor, &slug, &kind, &fields).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let path = format!("/b/{slug}/{kind}");
    let response = match found.asked.at {
        Some(at) => {
            let guest = TypedGuest::blank(&found.kind);
            let page = form_page(&found, &browser, path, at, guest);
            html(StatusCode::OK, &page)
        }
        None => {
            let now = web.app.clock.now();
            html(
                StatusCode::OK,
                &TimesPage {
                    sheet: sheet(&found.workspace, browser.csrf.to_string()),
                    title: found.kind.name.clone(),
                    lead: found.kind.description.clone(),
                    hosts: HostsLine::of(&found.shown.hosts, found.kind.mode),
                    minutes: found.kind.minutes,
                    place: found.kind.place.clone(),
                    times: TimesView::new(path, &found.asked, &found.shown, now),
                    back: None,
                },
            )
        }
    };
    browser.keep(&web, response)
}

/// Holds the time and mails a code; what was typed is kept if that cannot be done.
pub async fn hold(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    browser: GuestBrowser,
    Path((slug, kind)): Path<(String, String)>,
    form: GuestForm,
) -> Response<Body> {
    if !browser.csrf.fits(&form.csrf()) {
        return refusal(PageError::Foreign);
    }
    if let Err(error) = web.count_booking_form(&visitor).await {
        return refusal(error);
    }
    let found = match web.found_type(&visitor, &slug, &kind, form.fields()).await {
        Ok(found) => found,
        Err(error) => return refusal(error),
    };
    let path = format!("/b/{slug}/{kind}");
    let mut guest = TypedGuest::read(&form, &found.kind);
    let Some(at) = start_of(&form.get("at")) else { return see_other(&path) };
    if guest.is_trapped {
        return see_other(&path);
    }
    if !guest.check(&found.kind) {
        let page = form_page(&found, &browser, path, at, guest);
        return html(StatusCode::UNPROCESSABLE_ENTITY, &page);
    }
    web.look_again(found.workspace.actor.ws, &found.kind).await;
    match web.hold(&found, &browser, &visitor, at, &guest).await {
        Ok(token) => see_other(&format!("/b/m/{token}")),
        Err(Error::Conflict(_)) => web.taken(&visitor, &browser, found, path, at, guest).await,
        Err(error) => refusal(error.into()),
    }
}

impl Web {
    async fn found_type(
        &self,
        visitor: &Visitor,
        slug: &str,
        kind: &str,
        fields: &crate::web::form::FormFields,
    ) -> Result<FoundType, PageError> {
        let (app, slug, kind) = (self.app.clone(), slug.to_owned(), kind.to_owned());
        let (fields, of) = (fields.clone(), visitor.clone());
        let work = move |tx: &mut Tx<'_>| {
            let workspace = guest::workspace_at(tx, &slug)?;
            let missing = || Error::NotFound("page");
            let kind = types::with_slug(tx, workspace.actor.ws, &kind)?.ok_or_else(missing)?;
            let hosts = types::hosts(tx, workspace.actor.ws, &kind.id)?;
            let asked = AskedTimes::of(&fields, &of).with_host_zone(&hosts);
            let cx = app.cx(&workspace.actor);
            let shown = shown_times(tx, &cx, &kind, &asked, None)?;
            Ok(FoundType { workspace, kind, asked, shown })
        };
        let found = self.app.store.read(work).await;
        self.or_miss(visitor, found).await
    }

    /// The token of the guest's page for the held time.
    async fn hold(
        &self,
        found: &FoundType,
        browser: &GuestBrowser,
        visitor: &Visitor,
        starts_at: i64,
        typed: &TypedGuest,
    ) -> inbox::Result<String> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let (browser, place, typed) = (browser.id, visitor.place.clone(), typed.clone());
        let zone = found.asked.zone.name.clone();
        self.guest_act(move |tx| {
            let cx = app.cx(&actor);
            let answers = typed.answers(&kind);
            let guest = BookingGuest { name: &typed.name, email: &typed.email, zone: Some(&zone) };
            let new = NewBooking { starts_at, guest, answers: &answers, conversation: None };
            let held = guest::hold(tx, &cx, &kind, &new, browser, &place)?;
            Ok(manage_token(tx, &cx, &held.id)?.as_str().to_owned())
        })
        .await
    }

    /// The form again, with the free times nearest to the one that was lost.
    async fn taken(
        &self,
        visitor: &Visitor,
        browser: &GuestBrowser,
        found: FoundType,
        path: String,
        at: i64,
        guest: TypedGuest,
    ) -> Response<Body> {
        let (app, actor, kind) =
            (self.app.clone(), found.workspace.actor.clone(), found.kind.clone());
        let work = move |tx: &mut Tx<'_>| {
            availability::next_free(tx, &app.cx(&actor), &kind, at, NEAREST, None)
        };
        let free = self.app.store.read(work).await;
        let free = match self.or_miss(visitor, free).await {
            Ok(free) => free,
            Err(error) => return refusal(error),
        };
        let lost = slip(&found, at).spoken();
        let zone = &found.asked.zone.zone;
        let mut page = form_page(&found, browser, path, at, guest);
        page.slip = None;
        page.taken = lost;
        page.days = by_day(&free, zone, free.first().map(|free| free.starts_at));
        html(StatusCode::CONFLICT, &page)
    }
}

fn form_page(
    found: &FoundType,
    browser: &GuestBrowser,
    path: String,
    at: i64,
    guest: TypedGuest,
) -> FormPage {
    FormPage {
        sheet: sheet(&found.workspace, browser.csrf.to_string()),
        path,
        zone: found.asked.zone.name.clone(),
        slip: Some(slip(found, at)),
        at: at / 1_000,
        taken: String::new(),
        days: Vec::new(),
        questions: questions(&found.kind, &guest),
        guest,
        most: BOOKING_ANSWER_CHARS,
    }
}

fn slip(found: &FoundType, at: i64) -> SlipView {
    let host_zone = found.shown.hosts.first().and_then(|host| host.zone.clone());
    let range = (at, at + found.kind.minutes * MINUTE_MS);
    let host_zone = host_zone.unwrap_or_else(|| "UTC".into());
    let mut slip = views::SlipView::of_time(&found.kind, range, &found.asked.zone, &host_zone);
    slip.hosts = host_names(&found.shown.hosts, found.kind.mode);
    slip
}

fn sheet(workspace: &GuestWorkspace, csrf: String) -> BookingSheet {
    BookingSheet { csrf, firm: workspace.name.clone(), whose: t!("Book a time").into() }
}
