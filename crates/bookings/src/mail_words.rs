//! The sentences of a booking's mails: for the guest, for a host, and of who cancelled and why.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use base::ids::UserId;
use base::limits::{BOOKING_HOLD_MS, CODE_MS, MINUTE_MS, duration};
use db::Tx;
use jiff::tz::TimeZone;
use model::messages::mail_language;
use model::times::calendar_words::{date_and_clock, short_date_and_clock};
use translation::{msg, t, text_in_context};

use super::entries::BookingHostPerson;
use super::types::BookingType;
use super::{Booking, timestamp, zone_or_utc};

/// What a mail is about; its subject begins with the word for it.
#[derive(Clone, Copy)]
pub(super) enum BookingMailKind {
    Booked,
    Moved,
    /// It has moved to another host.
    GivenAway,
    Cancelled,
    Reminder,
}

impl BookingMailKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            BookingMailKind::Booked => text_in_context("booking mail", "Booked"),
            BookingMailKind::Moved => text_in_context("booking mail", "Moved"),
            BookingMailKind::GivenAway => text_in_context("booking mail", "Moved to somebody else"),
            BookingMailKind::Cancelled => text_in_context("booking mail", "Cancelled"),
            BookingMailKind::Reminder => text_in_context("booking mail", "Reminder"),
        }
    }
}

/// Who called an appointment off.
pub(super) enum BookingCanceller {
    Guest,
    Person {
        id: UserId,
        name: String,
    },
    /// An agent, whose name is for the team alone.
    Agent {
        name: String,
    },
}

impl BookingCanceller {
    pub(super) fn words_for_guest(&self) -> String {
        match self {
            BookingCanceller::Guest => t!("you cancelled this appointment.").to_owned(),
            BookingCanceller::Person { name, .. } => t!("{name} cancelled this appointment.", name),
            BookingCanceller::Agent { .. } => t!("we cancelled this appointment.").to_owned(),
        }
    }

    pub(super) fn words_for_host(&self, booking: &Booking, host: &BookingHostPerson) -> String {
        match self {
            BookingCanceller::Guest => {
                t!("{guest} cancelled this appointment.", guest = booking.guest_name)
            }
            BookingCanceller::Person { id, .. } if *id == host.id => {
                t!("You cancelled this appointment.").to_owned()
            }
            BookingCanceller::Person { name, .. } | BookingCanceller::Agent { name } => {
                t!("{name} cancelled this appointment.", name)
            }
        }
    }
}

/// Only members are named in the row: everybody else who cancels is the guest.
pub(super) fn cancelled_by(
    tx: &mut Tx<'_>,
    ws: i64,
    booking: &Booking,
) -> Result<BookingCanceller> {
    let member = booking.cancelled_by.as_str();
    if let Some(id) = UserId::parse(member) {
        let found: Option<(String,)> =
            tx.opt("SELECT name FROM users WHERE ws = ?1 AND id = ?2", &[&ws, &id])?;
        let name = found.map_or_else(|| booking.host_name.clone(), |(name,)| name);
        return Ok(BookingCanceller::Person { id, name });
    }
    let found: Option<(String,)> =
        tx.opt("SELECT name FROM agents WHERE ws = ?1 AND id = ?2", &[&ws, &member])?;
    Ok(found.map_or(BookingCanceller::Guest, |(name,)| BookingCanceller::Agent { name }))
}

/// What a guest's program says, as `inbound/calendar_replies` writes it.
const DECLINED: &str = msg!("Declined in the guest's calendar.");

/// Why an appointment was cancelled; `None` where nobody said so.
pub(super) fn reason_words(booking: &Booking) -> Option<String> {
    match booking.reason.as_str() {
        "" => None,
        DECLINED => Some(translation::text(DECLINED).to_owned()),
        reason => Some(t!("Reason: {reason}", reason)),
    }
}

/// A sentence that stands alone: those for a guest follow a salutation.
pub(super) fn capitalize(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The subject of the mail with a code, which the page names.
pub fn code_subject(firm: &str) -> String {
    t!("Your code for booking a time with {firm}", firm)
}

pub(super) fn code_text(code: &str, firm: &str) -> String {
    let hello = mail_language::salutation(None);
    let lead = t!("somebody, probably you, is booking a time with {firm}.", firm);
    let code = t!("The code is {code}", code);
    let (works, held) = (duration(CODE_MS), duration(BOOKING_HOLD_MS));
    let about = t!(
        "It works for {works}, on the page where it was asked for; the time is held for {held}. If it \
         was not you, do nothing: without the code nothing is booked, and we do not write again.",
        works = translation::sentence(&works),
        held = translation::sentence(&held),
    );
    format!("{hello}\n\n{lead}\n\n{code}\n\n{about}\n")
}

pub(super) fn subject(
    kind: &BookingType,
    booking: &Booking,
    news: BookingMailKind,
    zone: &TimeZone,
) -> String {
    let at = short_date_and_clock(booking.starts_at, zone);
    let place = zone.iana_name().unwrap_or("UTC");
    format!("{}: {}, {at} ({})", news.word(), kind.name, city(place))
}

/// The words for the guest, with the address of their page and the moment at which they are written.
pub(super) fn guest_text(
    kind: &BookingType,
    booking: &Booking,
    with: &str,
    lead: &str,
    link: Option<(&str, i64)>,
    firm: &str,
) -> String {
    let guest = zone_or_utc(guest_zone(booking));
    let salutation = mail_language::salutation(Some(&booking.guest_name));
    let mut text = format!("{salutation}\n\n{lead}\n\n  {}\n", kind.name);
    text.push_str(&format!("  {}\n", span(booking, &guest)));
    let host = zone_or_utc(&booking.host_zone);
    if offset(booking, &host) != offset(booking, &guest) {
        text.push_str(&format!("  {}\n", span(booking, &host)));
    }
    let minutes = (booking.ends_at - booking.starts_at) / MINUTE_MS;
    let with = t!("With {host}, {minutes} minutes", host = with, minutes);
    text.push_str(&format!("  {with}\n"));
    if !booking.place.is_empty() {
        text.push_str(&format!("  {}\n", booking.place));
    }
    if let Some((link, now)) = link {
        let (lead, about) = change_words(booking, &guest, now);
        text.push_str(&format!("\n{lead}\n{link}\n\n{about}\n"));
    }
    text.push_str(&format!("\n{firm}\n"));
    text
}

/// What stands above the link of the guest's page, and below it.
fn change_words(booking: &Booking, zone: &TimeZone, now: i64) -> (String, &'static str) {
    if !booking.guest_may_change(now) {
        let about = t!(
            "It begins too soon to be moved or cancelled with this link. If you cannot come, please \
             answer this mail."
        );
        return (t!("See the appointment:").to_owned(), about);
    }
    let lead = match booking.cancel_hours {
        0 => t!("Move or cancel it:").to_owned(),
        _ => {
            let until = date_and_clock(booking.change_until(), zone);
            let place = city(zone.iana_name().unwrap_or("UTC"));
            t!("Move or cancel it until {until} ({place}):", until, place)
        }
    };
    let about =
        t!("Whoever has this link can move or cancel the appointment, so do not pass it on. We \
         remind you a day and an hour before. Questions? Answer this mail.");
    (lead, about)
}

/// The description of the entry in the guest's calendar.
pub(super) fn guest_entry_words(booking: &Booking, link: Option<(&str, i64)>) -> String {
    match link {
        Some((link, now)) if booking.guest_may_change(now) => t!("Move or cancel: {link}", link),
        Some((link, _)) => t!("See the appointment: {link}", link),
        None => String::new(),
    }
}

/// The description of the entry in a host's calendar: who comes, what they answered, and where it is
/// changed.
pub(super) fn host_entry_words(booking: &Booking, link: &str) -> String {
    let guest = format!("{} <{}>", booking.guest_name, booking.guest_email);
    let mut text = t!("With {guest}", guest);
    for one in booking.answers.iter() {
        text.push_str(&format!("\n\n{}\n{}", one.question, one.answer));
    }
    text.push_str(&format!("\n\n{}", t!("Move or cancel: {link}", link)));
    text
}

/// The address of the booking in the app, and the words for its host.
pub(super) fn host_text(
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    news: BookingMailKind,
) -> (String, String) {
    let link = format!("{}/calendar/{}", cx.public_url, booking.id);
    let guest = format!("{} <{}>", booking.guest_name, booking.guest_email);
    let mut text = format!(
        "{}: {}\n\n  {}\n  {}\n",
        news.word(),
        kind.name,
        span(booking, &zone_or_utc(&booking.host_zone)),
        t!("With {guest}", guest),
    );
    if !booking.place.is_empty() {
        text.push_str(&format!("  {}\n", booking.place));
    }
    for one in booking.answers.iter() {
        text.push_str(&format!("\n{}\n  {}\n", one.question, one.answer));
    }
    let lead = match news {
        BookingMailKind::Cancelled | BookingMailKind::GivenAway => t!("See it in the calendar:"),
        BookingMailKind::Booked | BookingMailKind::Moved | BookingMailKind::Reminder => {
            t!("Move or cancel it, or see the conversation:")
        }
    };
    text.push_str(&format!("\n{lead}\n{link}\n"));
    (link, text)
}

pub(super) fn guest_zone(booking: &Booking) -> &str {
    if booking.guest_zone.is_empty() { &booking.host_zone } else { &booking.guest_zone }
}

fn offset(booking: &Booking, zone: &TimeZone) -> jiff::tz::Offset {
    zone.to_offset(timestamp(booking.starts_at))
}

/// `Monday 16 November 2026, 10:00 to 10:30 (Lisbon)`.
fn span(booking: &Booking, zone: &TimeZone) -> String {
    let end = timestamp(booking.ends_at).to_zoned(zone.clone());
    let place = city(zone.iana_name().unwrap_or("UTC"));
    let (start, end) = (date_and_clock(booking.starts_at, zone), end.strftime("%H:%M").to_string());
    t!("{start} to {end} ({place})", start, end, place)
}

/// The last part of a zone's name: `New York`.
pub fn city(zone: &str) -> String {
    zone.rsplit('/').next().unwrap_or(zone).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_named_after_its_city() {
        assert_eq!(city("America/New_York"), "New York");
        assert_eq!(city("UTC"), "UTC");
    }
}
