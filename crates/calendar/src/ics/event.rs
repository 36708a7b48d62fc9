//! An event as a calendar has it, before its times are put on a clock.

use jiff::civil::Date;
use serde::Serialize;

use super::line::ContentLine;
use super::value::{NominalDuration, WrittenTime, parse_duration, parse_time, plain_text};
use crate::limits::{
    DESCRIPTION_CHARS, EVENT_ATTENDEES, EVENT_DATES, EVENT_RULES, SHOWN_CHARS, UID_CHARS,
};
use crate::rule::RecurrenceRule;

/// A written time and the place of its TZID in the calendar's table of zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventTime {
    pub time: WrittenTime,
    pub zone: Option<usize>,
}

impl EventTime {
    /// The date as it stands there, whatever the zone.
    pub fn written_date(&self) -> Date {
        match self.time {
            WrittenTime::Date(date) => date,
            WrittenTime::Local(time) | WrittenTime::Utc(time) => time.date(),
        }
    }
}

/// The end of a period (RFC 5545 3.3.9).
#[derive(Clone, Copy, Debug)]
pub(crate) enum PeriodEnd {
    At(EventTime),
    After(NominalDuration),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventStatus {
    #[default]
    Confirmed,
    Tentative,
    Cancelled,
}

/// What an attendee answered (RFC 5545 3.2.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParticipationStatus {
    #[default]
    NeedsAction,
    Accepted,
    Declined,
    Tentative,
    Delegated,
}

/// An organizer or attendee.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CalendarPerson {
    pub name: Option<String>,
    /// Without `mailto:`; empty if the calendar names the person in another way.
    pub email: String,
    pub status: ParticipationStatus,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CalendarEvent {
    pub uid: String,
    pub sequence: i64,
    pub recurrence_id: Option<EventTime>,
    /// The change holds for the occurrence of `recurrence_id` and for all later ones.
    pub is_for_future: bool,
    pub start: EventTime,
    pub end: Option<PeriodEnd>,
    pub rules: Vec<RecurrenceRule>,
    pub dates: Vec<(EventTime, Option<PeriodEnd>)>,
    pub excluded: Vec<EventTime>,
    pub status: EventStatus,
    /// Marked as taking no time.
    pub is_transparent: bool,
    pub organizer: Option<CalendarPerson>,
    pub attendees: Vec<CalendarPerson>,
    pub summary: Option<String>,
    pub description: Option<String>,
    pub location: Option<String>,
    pub url: Option<String>,
    pub comment: Option<String>,
}

impl CalendarEvent {
    /// Takes over a property that says when the event is, and whether it takes time. `zone` is the
    /// place of the line's TZID.
    pub fn set_time(&mut self, line: &ContentLine, zone: Option<usize>) {
        match line.name.as_str() {
            "UID" => self.uid = plain_text(&line.value, UID_CHARS),
            "SEQUENCE" => self.sequence = line.value.trim().parse().unwrap_or(0),
            "RECURRENCE-ID" => {
                self.recurrence_id = event_time(line, &line.value, zone);
                let range = line.parameter("RANGE");
                self.is_for_future = range.is_some_and(|r| r.eq_ignore_ascii_case("THISANDFUTURE"));
            }
            "DTEND" => self.end = event_time(line, &line.value, zone).map(PeriodEnd::At),
            // DTEND and DURATION exclude each other; where both stand, the end counts.
            "DURATION" if self.end.is_none() => {
                self.end = parse_duration(&line.value).map(PeriodEnd::After);
            }
            "RRULE" if self.rules.len() < EVENT_RULES => {
                self.rules.extend(RecurrenceRule::parse(&line.value));
            }
            "RDATE" => {
                let left = EVENT_DATES.saturating_sub(self.dates.len());
                let dates = line.value.split(',').take(left);
                self.dates.extend(dates.filter_map(|text| period(line, text, zone)));
            }
            "EXDATE" => {
                let left = EVENT_DATES.saturating_sub(self.excluded.len());
                let dates = line.value.split(',').take(left);
                self.excluded.extend(dates.filter_map(|text| event_time(line, text, zone)));
            }
            "STATUS" => self.status = status(&line.value),
            "TRANSP" if line.value.trim().eq_ignore_ascii_case("TRANSPARENT") => {
                self.is_transparent = true;
            }
            "X-MICROSOFT-CDO-BUSYSTATUS" => {
                let status = line.value.trim().to_ascii_uppercase();
                self.is_transparent |= matches!(status.as_str(), "FREE" | "WORKINGELSEWHERE");
            }
            "ATTENDEE" if self.attendees.len() < EVENT_ATTENDEES => {
                self.attendees.push(person(line));
            }
            _ => {}
        }
    }

    /// Takes over a property that is for people to read.
    pub fn set_detail(&mut self, line: &ContentLine) {
        let shown = || Some(plain_text(&line.value, SHOWN_CHARS)).filter(|text| !text.is_empty());
        match line.name.as_str() {
            "SUMMARY" => self.summary = shown(),
            "LOCATION" => self.location = shown(),
            "URL" => self.url = shown(),
            "COMMENT" => self.comment = shown(),
            "DESCRIPTION" => {
                let text = plain_text(&line.value, DESCRIPTION_CHARS);
                self.description = Some(text).filter(|text| !text.is_empty());
            }
            "ORGANIZER" => self.organizer = Some(person(line)),
            // What a guest writes in Google Calendar beside the answer.
            "ATTENDEE" if self.comment.is_none() => {
                let text = line.parameter("X-RESPONSE-COMMENT");
                let text = text.map(|text| plain_text(text, SHOWN_CHARS));
                self.comment = text.filter(|text| !text.is_empty());
            }
            _ => {}
        }
    }
}

pub(super) fn event_time(line: &ContentLine, text: &str, zone: Option<usize>) -> Option<EventTime> {
    let is_date = line.parameter("VALUE").is_some_and(|value| value.eq_ignore_ascii_case("DATE"));
    let time = match parse_time(text)? {
        WrittenTime::Local(time) if is_date => WrittenTime::Date(time.date()),
        time => time,
    };
    Some(EventTime { time, zone })
}

/// A time, or a period with a slash in it.
pub(super) fn period(
    line: &ContentLine,
    text: &str,
    zone: Option<usize>,
) -> Option<(EventTime, Option<PeriodEnd>)> {
    let Some((start, end)) = text.split_once('/') else {
        return Some((event_time(line, text, zone)?, None));
    };
    let end = match parse_duration(end) {
        Some(duration) => PeriodEnd::After(duration),
        None => PeriodEnd::At(event_time(line, end, zone)?),
    };
    Some((event_time(line, start, zone)?, Some(end)))
}

fn status(text: &str) -> EventStatus {
    match text.trim().to_ascii_uppercase().as_str() {
        "CANCELLED" | "CANCELED" => EventStatus::Cancelled,
        "TENTATIVE" => EventStatus::Tentative,
        _ => EventStatus::Confirmed,
    }
}

fn person(line: &ContentLine) -> CalendarPerson {
    let value = line.value.trim();
    let email = match value.split_at_checked(7) {
        Some((scheme, email)) if scheme.eq_ignore_ascii_case("mailto:") => email,
        // Google and Apple give a person's address beside an identifier of their own.
        _ => line.parameter("EMAIL").unwrap_or(if value.contains('@') { value } else { "" }),
    };
    let name = line.parameter("CN").map(|name| plain_text(name, SHOWN_CHARS));
    CalendarPerson {
        name: name.filter(|name| !name.is_empty()),
        email: plain_text(email, SHOWN_CHARS).replace(char::is_whitespace, ""),
        status: participation(line.parameter("PARTSTAT").unwrap_or_default()),
    }
}

fn participation(text: &str) -> ParticipationStatus {
    match text.to_ascii_uppercase().as_str() {
        "ACCEPTED" => ParticipationStatus::Accepted,
        "DECLINED" => ParticipationStatus::Declined,
        "TENTATIVE" => ParticipationStatus::Tentative,
        "DELEGATED" => ParticipationStatus::Delegated,
        _ => ParticipationStatus::NeedsAction,
    }
}
