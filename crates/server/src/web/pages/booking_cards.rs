//! The appointments of a conversation, and the times that its messages offer, as cards.

use inbox::actions::{ConversationBookings, MessageOffer};
use inbox::model::bookings::{Booking, BookingStatus, local_time, zone_or_utc};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::web::layout::wording::TimeFormat;
use crate::web::pages::message_cards::CalendarLeaf;

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
            times: offer.times.iter().map(|at| local_time(*at, &times.zone)).collect(),
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
        let start = local_time(booking.starts_at, zone);
        let end = zoned(booking.ends_at, zone).strftime("%H:%M").to_string();
        format!("{start} to {end} ({})", zone_name(zone))
    };
    let other = if booking.guest_zone.is_empty() {
        (zone_or_utc(&booking.host_zone), &booking.host_name)
    } else {
        (zone_or_utc(&booking.guest_zone), &booking.guest_name)
    };
    let is_elsewhere = zoned(booking.starts_at, &other.0).offset()
        != zoned(booking.starts_at, &times.zone).offset();
    let (status, class, icon) = match booking.status {
        BookingStatus::Held => ("Held until the guest gives their code", "", "wait"),
        BookingStatus::Booked if booking.ends_at <= times.now => ("Took place", "", "check"),
        BookingStatus::Booked => ("Booked", "ok", "check"),
        BookingStatus::Cancelled => ("Cancelled", "", "x"),
    };
    BookingCard {
        href: format!("/calendar/{}", booking.id),
        leaf: CalendarLeaf::of(zoned(booking.starts_at, &times.zone).date()),
        kind: booking.type_name.clone(),
        when: clocks(&times.zone),
        there: is_elsewhere.then(|| format!("For {}: {}", other.1, clocks(&other.0))),
        with: format!("{} with {}", booking.guest_name, booking.host_name),
        place: booking.place.clone(),
        status,
        class,
        icon,
        is_off: booking.status == BookingStatus::Cancelled,
        reason: booking.reason.clone(),
        is_ahead: booking.status == BookingStatus::Booked && booking.starts_at > times.now,
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}
