//! The appointments of a conversation, and the times that its messages offer, as cards.

use actions::conversation_bookings::{ConversationBookings, MessageOffer};
use bookings::{Booking, BookingStatus, zone_or_utc};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use translation::t;

use crate::layout::wording::{TimeFormat, date_words};
use crate::pages::conversation::message_cards::CalendarLeaf;

/// Appointments that are shown in a conversation; the calendar has all of them.
const CARDS: usize = 5;

/// An appointment in its conversation.
pub struct BookingCard {
    pub href: String,
    pub leaf: CalendarLeaf,
    pub kind: String,
    /// On the reader's clock.
    pub when: String,
    /// On the guest's clock, or else the host's, where that is another.
    pub there: Option<String>,
    pub with: String,
    pub place: String,
    pub status: &'static str,
    pub class: &'static str,
    pub icon: &'static str,
    pub is_off: bool,
    pub reason: String,
    /// It is ahead, so that it can be moved and cancelled.
    pub is_ahead: bool,
}

/// The times that a message offers.
pub struct OfferView {
    pub kind: String,
    pub minutes: i64,
    pub email: String,
    pub times: Vec<String>,
    pub zone: String,
    pub has_left: bool,
}

/// The newest appointments, the soonest first.
pub fn booking_cards(found: &ConversationBookings, times: &TimeFormat) -> Vec<BookingCard> {
    let skipped = found.bookings.len().saturating_sub(CARDS);
    found.bookings.iter().skip(skipped).map(|one| card(one, times)).collect()
}

impl OfferView {
    pub fn of(offer: &MessageOffer, times: &TimeFormat) -> OfferView {
        OfferView {
            kind: offer.type_name.clone(),
            minutes: offer.minutes,
            email: offer.guest_email.clone(),
            times: offer.times.iter().map(|at| day_and_clock(&times.in_zone(*at))).collect(),
            zone: zone_name(&times.zone),
            has_left: offer.expires_at.is_some(),
        }
    }
}

fn card(booking: &Booking, times: &TimeFormat) -> BookingCard {
    let zoned = |ms: i64, zone: &TimeZone| {
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
    };
    let clocks = |zone: &TimeZone| {
        let start = day_and_clock(&zoned(booking.starts_at, zone));
        let end = clock(&zoned(booking.ends_at, zone));
        t!("{start} to {end} ({zone})", start, end, zone = zone_name(zone))
    };
    let other = if booking.guest_zone.is_empty() {
        (zone_or_utc(&booking.host_zone), &booking.host_name)
    } else {
        (zone_or_utc(&booking.guest_zone), &booking.guest_name)
    };
    let is_elsewhere = zoned(booking.starts_at, &other.0).offset()
        != zoned(booking.starts_at, &times.zone).offset();
    let (status, class, icon) = match booking.status {
        BookingStatus::Held => (t!("Held until the guest gives their code"), "", "wait"),
        BookingStatus::Booked if booking.ends_at <= times.now => (t!("Took place"), "", "check"),
        BookingStatus::Booked => (t!("Booked"), "ok", "check"),
        BookingStatus::Cancelled => (t!("Cancelled"), "", "x"),
    };
    BookingCard {
        href: format!("/calendar/{}", booking.id),
        leaf: CalendarLeaf::of(zoned(booking.starts_at, &times.zone).date()),
        kind: booking.type_name.clone(),
        when: clocks(&times.zone),
        there: is_elsewhere
            .then(|| t!("For {name}: {time}", name = other.1, time = clocks(&other.0))),
        with: t!("{guest} with {host}", guest = booking.guest_name, host = booking.host_name),
        place: booking.place.clone(),
        status,
        class,
        icon,
        is_off: booking.status == BookingStatus::Cancelled,
        reason: booking.reason.clone(),
        is_ahead: booking.status == BookingStatus::Booked && booking.starts_at > times.now,
    }
}

/// `Tuesday 24 November 2026, 14:00`.
fn day_and_clock(at: &Zoned) -> String {
    t!("{day}, {start}", day = date_words(at.date()), start = clock(at))
}

fn clock(at: &Zoned) -> String {
    at.strftime("%H:%M").to_string()
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}
