//! Until when a guest moves or cancels an appointment with the link, in words.

use bookings::Booking;
use jiff::tz::TimeZone;
use translation::t;

use super::times_view::{clock, day_words, in_zone};

/// What the page of an appointment that is ahead says about moving and cancelling it.
pub fn change_words(booking: &Booking, zone: &TimeZone, now: i64) -> String {
    if !booking.guest_may_change(now) {
        return late_words(booking, zone);
    }
    match until_words(booking, zone) {
        Some(until) => t!(
            "You can move or cancel until {until}, with the link in the invitation. Whoever has \
             that link can do so, so keep it to yourself. We remind you a day and an hour before.",
            until
        ),
        None => t!(
            "Whoever has the link of this page can move or cancel the appointment, so keep it to \
             yourself. We remind you a day and an hour before."
        )
        .to_owned(),
    }
}

/// The same, once it is too late.
pub fn late_words(booking: &Booking, zone: &TimeZone) -> String {
    match until_words(booking, zone).filter(|_| booking.change_until() > booking.created_at) {
        Some(until) => t!(
            "You could move or cancel it with this link until {until}. If you cannot come, please \
             answer the mail with the invitation.",
            until
        ),
        // It was booked, or moved here, after that moment.
        None => t!(
            "It begins too soon to be moved or cancelled with this link. If you cannot come, please \
             answer the mail with the invitation."
        )
        .to_owned(),
    }
}

/// `Sunday 15 November, 10:00`; nothing where it can be done until the start.
pub fn until_words(booking: &Booking, zone: &TimeZone) -> Option<String> {
    let until = in_zone(booking.change_until(), zone);
    let words = t!("{date}, {clock}", date = day_words(until.date()), clock = clock(&until));
    (booking.cancel_hours > 0).then_some(words)
}
