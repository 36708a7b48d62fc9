//! The pages of bookings as templates see them.

use askama::Template;
use base::limits::MINUTE_MS;
use bookings::guest::GuestWorkspace;
use bookings::mail_words::city;
use bookings::types::{BookingHost, BookingType, HostChoice};
use bookings::{Booking, BookingStatus, zone_or_utc};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::branding::Branding;
use translation::{msg, t, text_in_context};

use super::form_input::BookingFormInput;
use super::times_view::{DayView, TimesView, clock, in_zone};
use crate::layout::filters;
use crate::layout::wording::{Avatar, month_name, weekday};
use crate::visitor::Visitor;

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

    /// As a form carries it along: empty while nobody has named one.
    pub fn form_value(&self) -> String {
        self.named_or_none().unwrap_or_default().to_owned()
    }

    pub fn named_or_none(&self) -> Option<&str> {
        self.is_chosen.then_some(self.name.as_str())
    }

    /// As an address carries it along.
    pub fn in_address(&self) -> String {
        self.form_value().replace('+', "%2B")
    }

    /// The same as the last part of an address, where it is known.
    pub fn query(&self) -> String {
        match self.in_address() {
            zone if zone.is_empty() => zone,
            zone => format!("&zone={zone}"),
        }
    }
}

/// What every page has.
pub struct BookingPageHeader {
    pub csrf: String,
    pub firm: String,
    pub branding: Branding,
    pub icon: &'static str,
    /// What the page is, or for whom.
    pub whose: String,
}

impl BookingPageHeader {
    /// A page that everybody may see.
    pub fn public(workspace: &GuestWorkspace, csrf: String) -> BookingPageHeader {
        BookingPageHeader::of(workspace, csrf, "cal", t!("Book a time").to_owned())
    }

    /// The page of one guest.
    pub fn private(workspace: &GuestWorkspace, csrf: String, guest: &str) -> BookingPageHeader {
        let whose = t!("Private page for {name}", name = guest);
        BookingPageHeader::of(workspace, csrf, "lock", whose)
    }

    fn of(
        workspace: &GuestWorkspace,
        csrf: String,
        icon: &'static str,
        whose: String,
    ) -> BookingPageHeader {
        let (firm, branding) = (workspace.name.clone(), workspace.branding.clone());
        BookingPageHeader { csrf, firm, branding, icon, whose }
    }
}

/// What a guest has to know before anything else on a page.
pub struct BookingBanner {
    pub title: String,
    pub sentence: String,
    /// The page opens at it; not where a field is wrong.
    pub takes_focus: bool,
}

impl BookingBanner {
    pub fn new(title: impl Into<String>, sentence: impl Into<String>) -> BookingBanner {
        BookingBanner { title: title.into(), sentence: sentence.into(), takes_focus: true }
    }

    /// A limit is reached; what was typed is on the page.
    pub fn wait(sentence: &str) -> BookingBanner {
        let sentence = t!("{sentence} What you wrote is kept below.", sentence);
        BookingBanner::new(t!("Wait a little"), sentence)
    }

    /// The form is of another session of the browser.
    pub fn too_old() -> BookingBanner {
        BookingBanner::new(
            t!("This page is too old"),
            t!(
                "Nothing was booked. What you wrote is kept below; look it over and go on from here."
            ),
        )
    }

    /// A time that was asked for is not free.
    pub fn not_free(time: &str) -> BookingBanner {
        BookingBanner::new(
            t!("{time} is not free", time),
            t!("Nothing is booked yet. Choose one of the free times below."),
        )
    }
}

/// An appointment, or one that is about to become one.
pub struct BookingSummaryView {
    pub weekday: &'static str,
    pub day: i8,
    pub month: &'static str,
    pub title: String,
    pub starts_iso: String,
    pub ends_iso: String,
    pub starts: String,
    pub ends: String,
    /// Whose clock that is.
    pub zone: String,
    /// The same on the host's clock, where that differs.
    pub host_clock: String,
    /// Who is there.
    pub hosts: String,
    pub minutes: i64,
    pub place: String,
    /// `off` for a cancelled one, `g-held` for one that is not yet firm.
    pub class: &'static str,
    pub status: Option<SlipStatus>,
}

/// How an appointment stands, in words.
pub struct SlipStatus {
    pub words: String,
    pub icon: &'static str,
    pub class: &'static str,
}

impl BookingSummaryView {
    pub fn of_time(
        kind: &BookingType,
        (starts_at, ends_at): (i64, i64),
        zone: &GuestZone,
        host_zone: &str,
    ) -> BookingSummaryView {
        let (start, end) = (in_zone(starts_at, &zone.zone), in_zone(ends_at, &zone.zone));
        let host = zone_or_utc(host_zone);
        let (there, there_end) = (in_zone(starts_at, &host), in_zone(ends_at, &host));
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
        BookingSummaryView {
            weekday: weekday(start.weekday()),
            day: start.day(),
            month: month_name(start.month()),
            title: kind.name.clone(),
            starts_iso: start.timestamp().to_string(),
            ends_iso: end.timestamp().to_string(),
            starts: clock(&start),
            ends: clock(&end),
            zone: if zone.is_chosen {
                t!("your time, {city}", city = city(&zone.name))
            } else {
                t!("time in {city}", city = city(&zone.name))
            },
            host_clock,
            hosts: String::new(),
            minutes: kind.minutes,
            place: kind.place.clone(),
            class: "",
            status: None,
        }
    }

    pub fn of_booking(
        kind: &BookingType,
        booking: &Booking,
        visitor: &Visitor,
    ) -> BookingSummaryView {
        let zone = zone_of(booking, visitor);
        let range = (booking.starts_at, booking.ends_at);
        let mut slip = BookingSummaryView::of_time(kind, range, &zone, &booking.host_zone);
        slip.hosts.clone_from(&booking.host_name);
        slip.place.clone_from(&booking.place);
        slip.minutes = (booking.ends_at - booking.starts_at) / MINUTE_MS;
        slip.class = match booking.status {
            BookingStatus::Held => "g-held",
            BookingStatus::Booked => "",
            BookingStatus::Cancelled => "off",
        };
        slip.status = Some(SlipStatus::of(booking, &zone.zone));
        slip
    }

    /// `Monday 16 November at 10:00`.
    pub fn sentence(&self) -> String {
        t!(
            "{weekday} {day} {month} at {clock}",
            weekday = self.weekday,
            day = self.day,
            month = self.month,
            clock = self.starts,
        )
    }
}

impl SlipStatus {
    fn of(booking: &Booking, zone: &TimeZone) -> SlipStatus {
        let (words, icon, class) = match booking.status {
            BookingStatus::Held => {
                let until = in_zone(booking.holds_until.unwrap_or(booking.starts_at), zone);
                (t!("Held until {clock}", clock = clock(&until)), "wait", "warn")
            }
            BookingStatus::Booked => {
                (text_in_context("booking", "Booked").to_owned(), "check", "ok")
            }
            BookingStatus::Cancelled => (cancelled_words(booking, zone), "stop", ""),
        };
        SlipStatus { words, icon, class }
    }
}

/// `Cancelled by you on 16 November, 08:40`. Only a guest cancels without being on the team.
fn cancelled_words(booking: &Booking, zone: &TimeZone) -> String {
    if booking.rescheduled_to.is_some() {
        return text_in_context("booking", "Moved").to_owned();
    }
    let Some(at) = booking.cancelled_at.filter(|_| is_cancelled_by_guest(booking)) else {
        return text_in_context("booking", "Cancelled").to_owned();
    };
    let at = in_zone(at, zone);
    t!(
        "Cancelled by you on {day} {month}, {clock}",
        day = at.day(),
        month = month_name(at.month()),
        clock = clock(&at),
    )
}

pub fn is_cancelled_by_guest(booking: &Booking) -> bool {
    booking.cancelled_by.is_empty()
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
    pub sheet: BookingPageHeader,
    pub slug: String,
    pub types: Vec<BookingType>,
}

/// The free times of a type.
#[derive(Template)]
#[template(path = "booking_times.html", whitespace = "minimize")]
pub struct TimesPage {
    pub sheet: BookingPageHeader,
    /// The way back, for somebody who has a time already.
    pub back: Option<BookingBackLink>,
    pub banner: Option<BookingBanner>,
    pub title: String,
    pub lead: String,
    pub hosts: HostsLine,
    pub minutes: i64,
    pub place: String,
    /// The appointment that is about to be moved.
    pub present: Option<BookingSummaryView>,
    pub times: TimesView,
    /// What was typed, in the fields of the form that the times are buttons of.
    pub kept: Vec<(String, String)>,
}

/// Where a guest came from.
pub struct BookingBackLink {
    pub href: String,
    pub words: &'static str,
}

/// The form of a booking: for one time, or, after it was lost, for one of others.
#[derive(Template)]
#[template(path = "booking_form.html", whitespace = "minimize")]
pub struct FormPage {
    pub sheet: BookingPageHeader,
    pub path: String,
    /// The zone that the guest has named.
    pub zone: String,
    /// The zone of the times, while the script may ask for that of the guest's device instead.
    pub asks_zone: String,
    pub city: String,
    pub banner: Option<BookingBanner>,
    pub slip: Option<BookingSummaryView>,
    pub at: i64,
    /// The times to choose from where there is no slip.
    pub days: Vec<DayView>,
    /// The token of what the browser holds already, and its page.
    pub held: String,
    pub held_page: String,
    pub questions: Vec<QuestionView>,
    pub guest: BookingFormInput,
    pub most: usize,
}

pub struct QuestionView {
    pub text: String,
    pub required: bool,
    pub answer: String,
    pub error: &'static str,
    pub takes_focus: bool,
}

/// The questions of a type with what was answered.
pub fn questions(kind: &BookingType, guest: &BookingFormInput) -> Vec<QuestionView> {
    let questions = kind.questions.iter().enumerate();
    questions
        .map(|(place, question)| QuestionView {
            text: question.text.clone(),
            required: question.required,
            answer: guest.answers[place].clone(),
            error: guest.answer_errors[place],
            takes_focus: guest.focus == format!("q{place}"),
        })
        .collect()
}

/// A time that a reply offers.
pub struct OfferedTime {
    pub at: i64,
    pub words: String,
    pub until: String,
    /// The same on the host's clock, where that differs.
    pub host_clock: String,
    pub is_chosen: bool,
    /// Its link in the mail led to the page.
    pub is_from_mail: bool,
    pub is_free: bool,
}

/// The times that a reply offers, and all others.
#[derive(Template)]
#[template(path = "booking_offer.html", whitespace = "minimize")]
pub struct OfferPage {
    pub sheet: BookingPageHeader,
    pub path: String,
    /// The zone that the guest has named.
    pub zone: String,
    pub title: String,
    pub hosts: String,
    pub minutes: i64,
    pub place: String,
    pub email: String,
    pub banner: Option<BookingBanner>,
    pub offered: Vec<OfferedTime>,
    pub has_free: bool,
    pub questions: Vec<QuestionView>,
    pub guest: BookingFormInput,
    pub needs_name: bool,
    pub times: TimesView,
    pub most: usize,
}

/// What was booked from a reply's link. The link is in a mail that others may have, so it shows the
/// appointment and no way to change it.
#[derive(Template)]
#[template(path = "booking_offer_booked.html", whitespace = "minimize")]
pub struct OfferBookedPage {
    pub sheet: BookingPageHeader,
    pub slip: BookingSummaryView,
    pub first: String,
    pub email: String,
    pub host: String,
    pub is_ahead: bool,
    /// The guest can move or cancel it with the link in the invitation.
    pub can_change: bool,
    /// Until when, if that is not the start.
    pub until: Option<String>,
    /// The page for another appointment of the type, where there is one.
    pub again: Option<String>,
}

/// The code of an address that is not proven.
#[derive(Template)]
#[template(path = "booking_code.html", whitespace = "minimize")]
pub struct BookingCodePage {
    pub sheet: BookingPageHeader,
    pub token: String,
    /// The page of the type, for another address or time.
    pub path: String,
    pub banner: Option<BookingBanner>,
    pub slip: BookingSummaryView,
    pub email: String,
    /// The code of this browser; none in another one.
    pub sent: Option<SentCodeView>,
    /// The subject of the mail with it.
    pub subject: String,
    /// What was typed, in fields that every form of the page carries along.
    pub kept: Vec<(String, String)>,
    pub typed: String,
    pub error: String,
}

/// When a code was sent, and until when it counts.
pub struct SentCodeView {
    pub at: String,
    pub until: String,
    pub is_again: bool,
}

/// A guest's appointment.
#[derive(Template)]
#[template(path = "booking_done.html", whitespace = "minimize")]
pub struct DonePage {
    pub sheet: BookingPageHeader,
    pub token: String,
    pub slip: BookingSummaryView,
    /// The guest's first name.
    pub first: String,
    pub email: String,
    pub host: String,
    pub status: BookingStatus,
    /// It replaces an earlier appointment.
    pub is_moved: bool,
    /// The day and the month in the postmark.
    pub stamp: String,
    /// It was moved: the page of the booking that replaced it.
    pub moved_to: String,
    pub is_by_guest: bool,
    pub reason: String,
    pub is_ahead: bool,
    /// The guest can move or cancel it.
    pub can_change: bool,
    /// Until when, or that it is too late.
    pub change_words: String,
    pub answers: Vec<bookings::BookingAnswer>,
    /// The page for booking again.
    pub again: String,
}

/// The page that asks before something is moved or cancelled.
#[derive(Template)]
#[template(path = "booking_ask.html", whitespace = "minimize")]
pub struct BookingAskPage {
    pub sheet: BookingPageHeader,
    pub token: String,
    pub slip: BookingSummaryView,
    pub host: String,
    /// The new time, for a move.
    pub moves_to: Option<BookingSummaryView>,
    /// At the new time it cannot be moved or cancelled again.
    pub is_last_move: bool,
    pub at: i64,
    pub error: String,
    /// Nothing can be changed any more.
    pub is_late: bool,
}

/// A page that says why there is none.
#[derive(Template)]
#[template(path = "upload_nothing.html", whitespace = "minimize")]
pub struct GuestNothing {
    pub title: &'static str,
    pub sentence: String,
}
