//! The pages of bookings as templates see them.

use askama::Template;
use inbox::base::limits::MINUTE_MS;
use inbox::model::bookings::mail::city;
use inbox::model::bookings::types::{BookingHost, BookingType, HostChoice};
use inbox::model::bookings::{Booking, BookingStatus, zone_or_utc};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use translation::{msg, t, text_in_context};

use super::times_view::{DayView, TimesView, clock, zoned};
use super::typed::TypedGuest;
use crate::web::layout::filters;
use crate::web::layout::wording::{Avatar, month_name, weekday};
use crate::web::visitor::Visitor;

/// Hosts whose avatars are shown.
const AVATARS: usize = 3;

/// The zone in which a guest reads times.
#[derive(Clone)]
pub struct GuestZone {
    pub zone: TimeZone,
    pub name: String,
    /// The guest's browser or the guest named it.
    pub is_chosen: bool,
}

impl GuestZone {
    pub fn of(asked: &str, visitor: &Visitor) -> GuestZone {
        let of_browser = visitor.zone.iana_name().filter(|name| *name != "UTC");
        let named = calendar::zone_named(asked).map(|_| asked);
        let name = named.or(of_browser);
        let zone = name.and_then(calendar::zone_named);
        GuestZone {
            is_chosen: zone.is_some(),
            name: name.unwrap_or("UTC").to_owned(),
            zone: zone.unwrap_or(TimeZone::UTC),
        }
    }
}

/// What every page has.
pub struct BookingSheet {
    pub csrf: String,
    pub firm: String,
    /// What the page is, or for whom.
    pub whose: String,
}

/// An appointment, or one that is about to become one.
pub struct SlipView {
    pub weekday: &'static str,
    pub day: i8,
    pub month: &'static str,
    pub title: String,
    pub starts_iso: String,
    pub ends_iso: String,
    pub starts: String,
    pub ends: String,
    pub city: String,
    /// The same on the host's clock, where that differs.
    pub host_clock: String,
    /// Who is there.
    pub hosts: String,
    pub minutes: i64,
    pub place: String,
    /// `off` for a cancelled one, `g-held` for one that is not yet firm.
    pub class: &'static str,
    pub status: &'static str,
    pub is_booked: bool,
}

impl SlipView {
    pub fn of_time(
        kind: &BookingType,
        (starts_at, ends_at): (i64, i64),
        zone: &GuestZone,
        host_zone: &str,
    ) -> SlipView {
        let (start, end) = (zoned(starts_at, &zone.zone), zoned(ends_at, &zone.zone));
        let host = zone_or_utc(host_zone);
        let (there, there_end) = (zoned(starts_at, &host), zoned(ends_at, &host));
        let host_clock = if start.offset() == there.offset() {
            String::new()
        } else {
            t!(
                "{starts} to {ends} in {city}, where they are",
                starts = clock(&there),
                ends = clock(&there_end),
                city = city(host_zone),
            )
        };
        SlipView {
            weekday: weekday(start.weekday()),
            day: start.day(),
            month: month_name(start.month()),
            title: kind.name.clone(),
            starts_iso: start.timestamp().to_string(),
            ends_iso: end.timestamp().to_string(),
            starts: clock(&start),
            ends: clock(&end),
            city: city(&zone.name),
            host_clock,
            hosts: String::new(),
            minutes: kind.minutes,
            place: kind.place.clone(),
            class: "",
            status: "",
            is_booked: false,
        }
    }

    pub fn of_booking(kind: &BookingType, booking: &Booking, visitor: &Visitor) -> SlipView {
        let zone = zone_of(booking, visitor);
        let range = (booking.starts_at, booking.ends_at);
        let mut slip = SlipView::of_time(kind, range, &zone, &booking.host_zone);
        slip.hosts.clone_from(&booking.host_name);
        slip.place.clone_from(&booking.place);
        slip.minutes = (booking.ends_at - booking.starts_at) / MINUTE_MS;
        (slip.class, slip.status) = match booking.status {
            BookingStatus::Held => ("g-held", text_in_context("booking", "Held")),
            BookingStatus::Booked => ("", text_in_context("booking", "Booked")),
            BookingStatus::Cancelled => ("off", text_in_context("booking", "Cancelled")),
        };
        slip.is_booked = booking.status == BookingStatus::Booked;
        slip
    }

    /// `Monday at 10:00`.
    pub fn spoken(&self) -> String {
        t!(
            "{weekday} {day} {month} at {clock}",
            weekday = self.weekday,
            day = self.day,
            month = self.month,
            clock = self.starts,
        )
    }
}

/// The zone that a guest booked in, else the browser's, else the host's.
pub fn zone_of(booking: &Booking, visitor: &Visitor) -> GuestZone {
    let zone = GuestZone::of(&booking.guest_zone, visitor);
    if zone.is_chosen {
        return zone;
    }
    GuestZone {
        zone: zone_or_utc(&booking.host_zone),
        name: booking.host_zone.clone(),
        is_chosen: false,
    }
}

/// `Marit Aalto or Deniz Kaya`; `and` when all of them are there.
pub fn host_names(hosts: &[BookingHost], mode: HostChoice) -> String {
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => match mode {
            HostChoice::Any => t!("{names} or {last}", names = rest.join(", "), last),
            HostChoice::Together => t!("{names} and {last}", names = rest.join(", "), last),
        },
    }
}

/// Why a booking was cancelled: what somebody wrote, or what Mailroom found out itself.
pub fn reason_words(booking: &Booking) -> String {
    const DECLINED: &str = msg!("Declined in the guest's calendar.");
    match booking.reason.as_str() {
        DECLINED => translation::text(DECLINED).to_owned(),
        written => written.to_owned(),
    }
}

/// The hosts of a type, with the avatars of the first ones.
pub struct HostsLine {
    pub avatars: Vec<Avatar>,
    pub names: String,
}

impl HostsLine {
    pub fn of(hosts: &[BookingHost], mode: HostChoice) -> HostsLine {
        let avatars = hosts.iter().take(AVATARS).map(|host| Avatar::person(&host.name));
        HostsLine { avatars: avatars.collect(), names: host_names(hosts, mode) }
    }
}

/// From the beginning of a day for some days, in milliseconds since 1970.
pub fn days(first: Date, days: i64, zone: &TimeZone) -> (i64, i64) {
    let midnight = |date: Date| {
        let at = date.to_zoned(zone.clone()).map(|at| at.timestamp().as_millisecond());
        at.unwrap_or_default()
    };
    (midnight(first), midnight(first.saturating_add(days.days())))
}

/// The types of a workspace.
#[derive(Template)]
#[template(path = "booking_types.html", whitespace = "minimize")]
pub struct TypesPage {
    pub sheet: BookingSheet,
    pub slug: String,
    pub types: Vec<BookingType>,
}

/// The free times of a type.
#[derive(Template)]
#[template(path = "booking_times.html", whitespace = "minimize")]
pub struct TimesPage {
    pub sheet: BookingSheet,
    pub title: String,
    pub lead: String,
    pub hosts: HostsLine,
    pub minutes: i64,
    pub place: String,
    pub times: TimesView,
    /// The way back, for somebody who moves an appointment.
    pub back: Option<String>,
}

/// The form of a booking: for one time, or, after it was lost, for one of others.
#[derive(Template)]
#[template(path = "booking_form.html", whitespace = "minimize")]
pub struct FormPage {
    pub sheet: BookingSheet,
    pub path: String,
    pub zone: String,
    pub slip: Option<SlipView>,
    pub at: i64,
    /// What was lost, in words, with the times that are free instead.
    pub taken: String,
    pub days: Vec<DayView>,
    pub questions: Vec<QuestionView>,
    pub guest: TypedGuest,
    pub most: usize,
}

pub struct QuestionView {
    pub text: String,
    pub required: bool,
    pub answer: String,
    pub error: &'static str,
}

/// The questions of a type with what was answered.
pub fn questions(kind: &BookingType, guest: &TypedGuest) -> Vec<QuestionView> {
    let questions = kind.questions.iter().enumerate();
    questions
        .map(|(place, question)| QuestionView {
            text: question.text.clone(),
            required: question.required,
            answer: guest.answers[place].clone(),
            error: guest.answer_errors[place],
        })
        .collect()
}

/// A time that a reply offers.
pub struct OfferedTime {
    pub at: i64,
    pub words: String,
    pub until: String,
    pub is_chosen: bool,
    pub is_free: bool,
}

/// The times that a reply offers, and all others.
#[derive(Template)]
#[template(path = "booking_offer.html", whitespace = "minimize")]
pub struct OfferPage {
    pub sheet: BookingSheet,
    pub path: String,
    pub title: String,
    pub hosts: String,
    pub minutes: i64,
    pub place: String,
    pub email: String,
    pub error: String,
    pub offered: Vec<OfferedTime>,
    pub has_free: bool,
    pub questions: Vec<QuestionView>,
    pub guest: TypedGuest,
    pub needs_name: bool,
    pub times: TimesView,
    pub most: usize,
}

/// The code of an address that is not proven.
#[derive(Template)]
#[template(path = "booking_code.html", whitespace = "minimize")]
pub struct BookingCodePage {
    pub sheet: BookingSheet,
    pub token: String,
    pub slip: SlipView,
    pub email: String,
    pub until: String,
    pub typed: String,
    pub error: String,
}

/// A guest's appointment.
#[derive(Template)]
#[template(path = "booking_done.html", whitespace = "minimize")]
pub struct DonePage {
    pub sheet: BookingSheet,
    pub token: String,
    pub slip: SlipView,
    pub guest: String,
    pub email: String,
    pub host: String,
    pub status: BookingStatus,
    /// It was moved: the page of the booking that replaced it.
    pub moved_to: String,
    pub reason: String,
    pub is_ahead: bool,
    pub answers: Vec<inbox::model::bookings::BookingAnswer>,
    /// The page for booking again.
    pub again: String,
}

/// The page that asks before something is moved or cancelled.
#[derive(Template)]
#[template(path = "booking_ask.html", whitespace = "minimize")]
pub struct BookingAskPage {
    pub sheet: BookingSheet,
    pub token: String,
    pub slip: SlipView,
    pub host: String,
    /// The new time, for a move.
    pub moves_to: Option<SlipView>,
    pub at: i64,
    pub error: String,
}

/// A page that says why there is none.
#[derive(Template)]
#[template(path = "upload_nothing.html", whitespace = "minimize")]
pub struct GuestNothing {
    pub title: &'static str,
    pub sentence: String,
}
