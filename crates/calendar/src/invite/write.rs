//! Writes invitations, cancellations and the feed of a host's bookings.
//!
//! Times are in UTC, so that there is no description of a zone to get wrong. Whatever the words of
//! a booking hold, they can neither begin a line nor end a value.

use jiff::Timestamp;

use crate::limits::FOLD_OCTETS;
use crate::range::TimeRange;

const PRODUCT: &str = "-//Mailroom//Bookings//EN";

#[derive(Clone, Copy, Debug)]
pub struct InvitationPerson<'a> {
    pub name: Option<&'a str>,
    pub email: &'a str,
}

/// What one entry in everybody's calendar says. A change has the same `uid` and a higher
/// `sequence`.
#[derive(Clone, Copy, Debug)]
pub struct BookingInvitation<'a> {
    pub uid: &'a str,
    pub sequence: u32,
    /// When this version was made.
    pub stamp: Timestamp,
    pub range: TimeRange,
    pub summary: &'a str,
    pub location: Option<&'a str>,
    pub description: Option<&'a str>,
    pub url: Option<&'a str>,
    /// The sender of the mail, or mail programs distrust it.
    pub organizer: InvitationPerson<'a>,
    /// They have agreed by booking, so nobody is asked to answer.
    pub attendees: &'a [InvitationPerson<'a>],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookingFeedStatus {
    Held,
    Booked,
    Cancelled,
}

#[derive(Clone, Copy, Debug)]
pub struct BookingFeedEntry<'a> {
    pub uid: &'a str,
    pub sequence: u32,
    pub stamp: Timestamp,
    pub range: TimeRange,
    pub status: BookingFeedStatus,
    pub summary: &'a str,
    pub location: Option<&'a str>,
    pub description: Option<&'a str>,
    pub url: Option<&'a str>,
}

/// A host's bookings, to subscribe to.
#[derive(Clone, Copy, Debug)]
pub struct BookingFeed<'a> {
    pub name: &'a str,
    pub refresh_minutes: u32,
    pub entries: &'a [BookingFeedEntry<'a>],
}

/// A new booking, or a change of one: `METHOD:REQUEST`.
pub fn invitation(booking: &BookingInvitation<'_>) -> String {
    with_method("REQUEST", "CONFIRMED", booking)
}

/// `METHOD:CANCEL`.
pub fn cancellation(booking: &BookingInvitation<'_>) -> String {
    with_method("CANCEL", "CANCELLED", booking)
}

pub fn booking_feed(feed: &BookingFeed<'_>) -> String {
    let mut lines = IcsText::new("PUBLISH");
    let refresh = format!("PT{}M", feed.refresh_minutes);
    lines.text("X-WR-CALNAME", feed.name);
    lines.text("NAME", feed.name);
    lines.raw("REFRESH-INTERVAL;VALUE=DURATION", &refresh);
    lines.raw("X-PUBLISHED-TTL", &refresh);
    for entry in feed.entries {
        let status = match entry.status {
            BookingFeedStatus::Held => "TENTATIVE",
            BookingFeedStatus::Booked => "CONFIRMED",
            BookingFeedStatus::Cancelled => "CANCELLED",
        };
        lines.event(entry, status);
        lines.raw("END", "VEVENT");
    }
    lines.finish()
}

fn with_method(method: &str, status: &str, booking: &BookingInvitation<'_>) -> String {
    let mut lines = IcsText::new(method);
    let entry = BookingFeedEntry {
        uid: booking.uid,
        sequence: booking.sequence,
        stamp: booking.stamp,
        range: booking.range,
        status: BookingFeedStatus::Booked,
        summary: booking.summary,
        location: booking.location,
        description: booking.description,
        url: booking.url,
    };
    lines.event(&entry, status);
    lines.person("ORGANIZER", "", booking.organizer);
    for attendee in booking.attendees {
        lines.person("ATTENDEE", ";PARTSTAT=ACCEPTED;RSVP=FALSE", *attendee);
    }
    lines.raw("END", "VEVENT");
    lines.finish()
}

/// Lines of a calendar, folded.
struct IcsText {
    text: String,
}

impl IcsText {
    fn new(method: &str) -> IcsText {
        let mut lines = IcsText { text: String::new() };
        lines.raw("BEGIN", "VCALENDAR");
        lines.raw("VERSION", "2.0");
        lines.raw("PRODID", PRODUCT);
        lines.raw("METHOD", method);
        lines
    }

    fn finish(mut self) -> String {
        self.raw("END", "VCALENDAR");
        self.text
    }

    /// An event without its end, so that people can follow.
    fn event(&mut self, entry: &BookingFeedEntry<'_>, status: &str) {
        self.raw("BEGIN", "VEVENT");
        self.text("UID", entry.uid);
        self.raw("DTSTAMP", &utc(entry.stamp));
        self.raw("DTSTART", &utc(entry.range.start));
        self.raw("DTEND", &utc(entry.range.end));
        self.raw("SEQUENCE", &entry.sequence.to_string());
        self.raw("STATUS", status);
        self.text("SUMMARY", entry.summary);
        if let Some(location) = entry.location {
            self.text("LOCATION", location);
        }
        if let Some(description) = entry.description {
            self.text("DESCRIPTION", description);
        }
        if let Some(url) = entry.url {
            self.raw("URL", &without_breaks(url));
        }
    }

    fn person(&mut self, name: &str, parameters: &str, person: InvitationPerson<'_>) {
        let cn = person.name.map(parameter).filter(|cn| !cn.is_empty());
        let cn = cn.map_or(String::new(), |cn| format!(";CN={cn}"));
        let email = without_breaks(person.email);
        self.raw(&format!("{name}{cn}{parameters}"), &format!("mailto:{email}"));
    }

    fn text(&mut self, name: &str, value: &str) {
        self.raw(name, &escape(value));
    }

    /// One line, folded after at most 75 octets and never inside a character (RFC 5545 3.1).
    fn raw(&mut self, name: &str, value: &str) {
        let mut octets = 0;
        for character in name.chars().chain([':']).chain(value.chars()) {
            if octets + character.len_utf8() > FOLD_OCTETS {
                self.text.push_str("\r\n ");
                octets = 1;
            }
            self.text.push(character);
            octets += character.len_utf8();
        }
        self.text.push_str("\r\n");
    }
}

fn utc(instant: Timestamp) -> String {
    instant.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// TEXT (RFC 5545 3.3.11). Line ends of every kind become `\n`.
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 8);
    for character in value.replace("\r\n", "\n").chars() {
        match character {
            '\\' | ';' | ',' => text.extend(['\\', character]),
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => text.push_str("\\n"),
            '\t' => text.push(' '),
            character if character.is_control() => {}
            character => text.push(character),
        }
    }
    text
}

/// A parameter's value. Quotes cannot be written in one that all programs read, so they become
/// apostrophes.
fn parameter(value: &str) -> String {
    let plain: String = value
        .chars()
        .map(|c| if c == '"' { '\'' } else { c })
        .map(|c| if is_break(c) || c == '\t' { ' ' } else { c })
        .filter(|c| !c.is_control())
        .collect();
    let plain = plain.trim();
    match plain.contains([';', ':', ',']) {
        true => format!("\"{plain}\""),
        false => plain.to_owned(),
    }
}

/// An address, which has no spaces either.
fn without_breaks(value: &str) -> String {
    value.chars().filter(|c| !is_break(*c) && !c.is_control() && !c.is_whitespace()).collect()
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
