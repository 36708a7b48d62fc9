//! The team's appointments, by week and by day, one of them to move or cancel, and the feed for calendars.

use std::sync::Arc;

use api::operations::{CancelBookingInput, FindSlotsInput, MoveBookingInput};
use api::operations::{cancel_booking, find_slots, move_booking};
use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use base::app::Cx;
use base::error::Error;
use base::ids::UserId;
use base::limits::LIST_ITEMS;
use base::time::Moment;
use bookings::calendars::HostBusyTime;
use bookings::team_calendar::{self, CalendarHost};
use bookings::{Booking, BookingFilter, BookingStatus, calendars, feed, mail, types};
use db::Tx;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};
use translation::{t, text_in_context};

use crate::Web;
use crate::booking::{day_of_year, day_words, reason_words};
use crate::forms::form::{Asked, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageError, PageResult, plain};
use crate::layout::wording::{date_words, first_name};
use crate::pages::calendar_grid::{CalendarGrid, GridEntry, GridSpan, address, count_of_day};
use crate::visitor::Visitor;

const WEEK: i64 = 7;
/// Appointments that a page shows.
const SHOWN: i64 = 5 * LIST_ITEMS;
/// Links to hosts, everybody included; more are chosen from a list.
const HOST_LINKS: usize = 7;

/// Appointments of a week or a day.
#[derive(Template)]
#[template(path = "calendar.html", whitespace = "minimize")]
struct CalendarPage {
    frame: PageLayout,
    view: CalendarView,
    title: String,
    /// How many there are, in words.
    count: String,
    /// There are more than the page shows.
    is_cut: bool,
    /// The day that the page was asked for.
    day: String,
    /// The addresses of the days before and after, and of today.
    before: String,
    after: String,
    today: String,
    /// Each view with its address.
    views: Vec<(CalendarView, String)>,
    /// Everybody and each host; empty where there is nobody to choose.
    hosts: Vec<HostLink>,
    /// They are few enough to be links.
    has_host_links: bool,
    zone: String,
    days: Vec<CalendarDay>,
    grid: Option<CalendarGrid>,
}

/// How the calendar shows appointments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalendarView {
    Week,
    Day,
    List,
}

impl CalendarView {
    fn of(asked: &str) -> CalendarView {
        match asked {
            "day" => CalendarView::Day,
            "list" => CalendarView::List,
            _ => CalendarView::Week,
        }
    }

    fn word(self) -> &'static str {
        match self {
            CalendarView::Week => "week",
            CalendarView::Day => "day",
            CalendarView::List => "list",
        }
    }

    fn label(self) -> &'static str {
        match self {
            CalendarView::Week => t!("Week"),
            CalendarView::Day => t!("Day"),
            CalendarView::List => t!("List"),
        }
    }
}

/// Whose appointments are shown: everybody's, where there is no id.
struct HostLink {
    id: String,
    name: String,
    /// As a link has it.
    short: String,
    href: String,
    is_chosen: bool,
}

struct CalendarDay {
    name: String,
    is_today: bool,
    /// How many stand: `2, 1 held`.
    count: String,
    bookings: Vec<BookingLine>,
}

/// An appointment as the app shows it.
struct BookingLine {
    id: String,
    starts: String,
    ends: String,
    kind: String,
    guest: String,
    host: String,
    place: String,
    status: BookingStatus,
    conversation: Option<String>,
}

impl BookingLine {
    fn state(&self) -> &'static str {
        match self.status {
            BookingStatus::Held => text_in_context("booking", "held"),
            BookingStatus::Booked => text_in_context("booking", "booked"),
            BookingStatus::Cancelled => text_in_context("booking", "cancelled"),
        }
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let zone = visitor.zone.clone();
    let now = web.app.clock.now();
    let today = at(now, &zone).date();
    let view = CalendarView::of(&asked.get("view"));
    let asked_day = asked.opt("day").or(asked.opt("week")).unwrap_or_default();
    let day: Date = asked_day.parse().unwrap_or(today);
    let monday = i64::from(day.weekday().to_monday_zero_offset());
    let (first, length) = match view {
        CalendarView::Day => (day, 1),
        CalendarView::Week | CalendarView::List => (day.saturating_sub(monday.days()), WEEK),
    };
    let (from, to) = (midnight(first, &zone), midnight(first.saturating_add(length.days()), &zone));
    let asked_host = asked.opt("host").and_then(|id| UserId::parse(&id));
    let location = PageLocation::at(t!("Calendar"), "/calendar");
    let (frame, read) = web
        .page(&visitor, location, move |tx, cx, _| {
            CalendarRead::of(tx, cx, view, (from, to), asked_host.as_ref())
        })
        .await?;
    let CalendarRead { found, busy, hosts, host, is_cut } = read;
    let dates: Vec<Date> = (0..length).map(|place| first.saturating_add(place.days())).collect();
    let days = dates.iter().map(|date| {
        let of_day = || found.iter().filter(|one| at(one.starts_at, &zone).date() == *date);
        CalendarDay {
            name: day_words(*date),
            is_today: *date == today,
            count: count_of_day(of_day()),
            bookings: of_day().map(|one| line(one, &zone)).collect(),
        }
    });
    let span = GridSpan { dates: &dates, now, zone: &zone, host: host.as_ref() };
    let views = [CalendarView::Day, CalendarView::Week, CalendarView::List];
    let in_view = |view: CalendarView, day| address(view.word(), day, host.as_ref());
    let hosts = host_links(&hosts, host.as_ref(), |one| address(view.word(), Some(day), one));
    let page = CalendarPage {
        title: match view {
            CalendarView::Day => date_words(first),
            _ => t!("Week of {date}", date = day_of_year(first)),
        },
        count: count_words(&found),
        is_cut,
        days: days.collect(),
        grid: (view != CalendarView::List).then(|| CalendarGrid::of(&found, &busy, &span)),
        day: day.to_string(),
        before: in_view(view, Some(first.saturating_sub(length.days()))),
        after: in_view(view, Some(first.saturating_add(length.days()))),
        today: in_view(view, None),
        views: views.map(|one| (one, in_view(one, Some(day)))).into(),
        has_host_links: hosts.len() <= HOST_LINKS,
        hosts,
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        view,
        frame,
    };
    web.show(&visitor, &page)
}

/// What the calendar is read from.
struct CalendarRead {
    found: Vec<Booking>,
    busy: Vec<HostBusyTime>,
    hosts: Vec<CalendarHost>,
    /// The person whose appointments alone are shown.
    host: Option<UserId>,
    is_cut: bool,
}

impl CalendarRead {
    fn of(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        view: CalendarView,
        (from, to): (i64, i64),
        asked: Option<&UserId>,
    ) -> base::error::Result<CalendarRead> {
        let ws = cx.actor.ws;
        let mut hosts = team_calendar::hosts(tx, ws)?;
        // Somebody who is no host any more may have appointments; nobody at all is no choice.
        let chosen = match asked {
            Some(person) => team_calendar::host(tx, ws, person)?,
            None => None,
        };
        let host = chosen.as_ref().map(|one| one.id.clone());
        let filter = BookingFilter {
            from: Some(from),
            to: Some(to),
            host: host.as_ref(),
            ..BookingFilter::default()
        };
        let mut found = bookings::list(tx, cx.actor, &filter, SHOWN)?;
        let is_cut = found.len() as i64 == SHOWN;
        let is_up = |one: &Booking| one.holds_until.is_some_and(|until| until <= cx.now);
        found.retain(|one| one.rescheduled_to.is_none() && !is_up(one));
        let of_found = found
            .iter()
            .map(|one| CalendarHost { id: one.host.clone(), name: one.host_name.clone() });
        for one in of_found.chain(chosen) {
            if !one.name.is_empty() && !hosts.iter().any(|known| known.id == one.id) {
                hosts.push(one);
            }
        }
        let found = with_all_hosts(tx, cx, (from, to), found)?;
        let mut busy = match view {
            CalendarView::List => Vec::new(),
            CalendarView::Day | CalendarView::Week => calendars::busy_team(tx, ws, (from, to))?,
        };
        busy.retain(|one| host.as_ref().is_none_or(|host| one.person == *host));
        Ok(CalendarRead { found, busy, hosts, host, is_cut })
    }
}

/// Appointments between two moments, with the names of all who are there.
fn with_all_hosts<B: AsMut<[Booking]>>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    window: (i64, i64),
    mut bookings: B,
) -> base::error::Result<B> {
    let others = team_calendar::other_hosts(tx, cx.actor, window)?;
    for one in bookings.as_mut() {
        for name in others.get(&one.id).into_iter().flatten() {
            one.host_name = format!("{}, {name}", one.host_name);
        }
    }
    Ok(bookings)
}

/// Everybody and each host, where there is somebody to choose.
fn host_links(
    hosts: &[CalendarHost],
    chosen: Option<&UserId>,
    href: impl Fn(Option<&UserId>) -> String,
) -> Vec<HostLink> {
    if hosts.len() < 2 && chosen.is_none() {
        return Vec::new();
    }
    let everybody = HostLink {
        id: String::new(),
        name: t!("Everybody").to_owned(),
        short: t!("Everybody").to_owned(),
        href: href(None),
        is_chosen: chosen.is_none(),
    };
    let is_alone =
        |name: &str| hosts.iter().filter(|one| first_name(&one.name) == name).count() < 2;
    let link = |one: &CalendarHost| {
        let first = first_name(&one.name);
        HostLink {
            id: one.id.to_string(),
            name: one.name.clone(),
            short: if is_alone(first) { first.to_owned() } else { one.name.clone() },
            href: href(Some(&one.id)),
            is_chosen: chosen == Some(&one.id),
        }
    };
    std::iter::once(everybody).chain(hosts.iter().map(link)).collect()
}

/// `12 booked, 1 held, 1 cancelled`.
fn count_words(found: &[Booking]) -> String {
    let count = |status| found.iter().filter(|one| one.status == status).count();
    let booked = match count(BookingStatus::Booked) {
        0 => t!("Nothing booked").to_owned(),
        count => t!("{count} booked", count),
    };
    let held = match count(BookingStatus::Held) {
        0 => None,
        count => Some(t!("{count} held", count)),
    };
    let cancelled = match count(BookingStatus::Cancelled) {
        0 => None,
        count => Some(t!("{count} cancelled", count)),
    };
    let words: Vec<String> = [Some(booked), held, cancelled].into_iter().flatten().collect();
    words.join(", ")
}

/// One appointment, and the times that it can be moved to.
#[derive(Template)]
#[template(path = "calendar_booking.html", whitespace = "minimize")]
struct BookingPage {
    frame: PageLayout,
    day: String,
    line: BookingLine,
    email: String,
    place: String,
    reason: String,
    answers: Vec<bookings::BookingAnswer>,
    is_ahead: bool,
    /// The reader may send from the inbox that writes to the guest.
    may_write: bool,
    /// Starts as the operation takes them, and in words.
    times: Vec<(String, String)>,
}

pub async fn booking(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let zone = visitor.zone.clone();
    let name = zone.iana_name().map(str::to_owned);
    let location = PageLocation::at(t!("Appointment"), "/calendar");
    let (frame, (booking, times, may_write, now)) = web
        .page(&visitor, location, move |tx, cx, _| {
            let booking = bookings::load(tx, cx.actor, &id)?;
            let moment = (booking.starts_at, booking.starts_at + 1);
            let [booking] = with_all_hosts(tx, cx, moment, [booking])?;
            let asked = FindSlotsInput {
                id: booking.type_id.to_string(),
                zone: name.clone().filter(|name| calendar::zone_named(name).is_some()),
                limit: Some(100),
                ..FindSlotsInput::default()
            };
            let times = match find_slots(tx, cx, asked) {
                Err(Error::NotFound(_)) => Vec::new(),
                times => times?,
            };
            let kind = types::of_booking(tx, cx.actor.ws, &booking.type_id)?;
            let may_write = mail::may_write(tx, cx.actor, &kind, booking.conversation.as_ref())?;
            Ok((booking, times, may_write, cx.now))
        })
        .await?;
    let times = times.into_iter().map(|slot| {
        let start = at(slot.starts_at.0, &zone);
        let (date, clock) = (date_words(start.date()), start.strftime("%H:%M").to_string());
        (slot.starts_at.iso(), t!("{date}, {clock}", date, clock))
    });
    let page = BookingPage {
        day: date_words(at(booking.starts_at, &zone).date()),
        line: line(&booking, &zone),
        email: booking.guest_email.to_string(),
        place: booking.place.clone(),
        reason: reason_words(&booking),
        is_ahead: booking.status == BookingStatus::Booked && booking.starts_at > now,
        times: times.collect(),
        may_write,
        answers: booking.answers.0,
        frame,
    };
    web.show(&visitor, &page)
}

form! {
    pub struct CancelForm {
        reason: String,
    }

    pub struct MoveForm {
        starts_at: String = "startsAt",
    }
}

pub async fn cancel(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<CancelForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let cancelled = web.act(&visitor, move |tx, cx, _| {
        let reason = form.reason.clone();
        cancel_booking(tx, cx, CancelBookingInput { id: id.clone(), reason })
    });
    match cancelled.await {
        Ok(_) => web.redirect("/calendar", Flash::BookingCancelled),
        Err(PageError::Domain(Error::Conflict(_))) => {
            web.redirect("/calendar", Flash::BookingUnchanged)
        }
        Err(error) => Err(error),
    }
}

pub async fn reschedule(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<MoveForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let starts_at: Moment =
        serde_json::from_value(form.starts_at.into()).map_err(|_| Error::NotFound("time"))?;
    let wanted = id.clone();
    let (ws, kind) = web
        .read(&visitor, move |tx, cx, _| {
            Ok((cx.actor.ws, bookings::load(tx, cx.actor, &wanted)?.type_id))
        })
        .await?;
    // If they cannot be read now, what is known counts.
    let _ = bookings::freshen_calendars(&web.app, ws, &kind).await;
    let moved = web.act(&visitor, move |tx, cx, _| {
        let id = id.clone();
        Ok(move_booking(tx, cx, MoveBookingInput { id, starts_at })?.id)
    });
    match moved.await {
        Ok(id) => web.redirect(&format!("/calendar/{id}"), Flash::BookingMoved),
        Err(PageError::Domain(Error::Conflict(_))) => {
            web.redirect("/calendar", Flash::BookingUnchanged)
        }
        Err(error) => Err(error),
    }
}

/// The bookings of a host, for a calendar program that knows the secret address.
pub async fn feed(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
    asked: HeaderMap,
) -> Result<Response<Body>, PageError> {
    let app = web.app.clone();
    let read = web.app.store.read(move |tx: &mut Tx<'_>| feed::at(tx, &app, &token)).await;
    let text = web.or_miss(&visitor, read).await?;
    let tag = format!("\"{:016x}\"", tag_of(&text));
    let is_known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let mut response = plain(if is_known { String::new() } else { text });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let kind = HeaderValue::from_static("text/calendar; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// What tells one version of a feed from another.
fn tag_of(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0_u64, |tag, byte| (tag << 8) | u64::from(*byte))
}

fn line(booking: &Booking, zone: &TimeZone) -> BookingLine {
    let clock = |ms| at(ms, zone).strftime("%H:%M").to_string();
    BookingLine {
        id: booking.id.to_string(),
        starts: clock(booking.starts_at),
        ends: clock(booking.ends_at),
        kind: booking.type_name.clone(),
        guest: booking.guest_name.clone(),
        host: booking.host_name.clone(),
        place: booking.place.clone(),
        status: booking.status,
        conversation: booking.conversation.as_ref().map(ToString::to_string),
    }
}

fn at(ms: i64, zone: &TimeZone) -> jiff::Zoned {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone())
}

fn midnight(date: Date, zone: &TimeZone) -> i64 {
    date.to_zoned(zone.clone()).map(|at| at.timestamp().as_millisecond()).unwrap_or_default()
}
