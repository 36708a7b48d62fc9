//! ContentLines of a calendar into its events and zones.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use super::FeedError;
use super::component::{Component, OpenComponents};
use super::event::{CalendarEvent, EventTime, event_time, period};
use super::line::{ContentLine, ContentLines};
use super::value::{WrittenTime, parse_offset, parse_time};
use crate::limits::{
    EVENT_DATES, EVENT_RULES, FEED_BYTES, FEED_EVENTS, FEED_ZONES, ZONE_OBSERVANCES,
};
use crate::rule::{ExpansionBudget, RecurrenceRule};
use crate::zones::{CalendarZone, Observance, ObservedZone, zone_of_tzid};

/// How much of each event is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventDetail {
    Times,
    Everything,
}

pub(crate) struct ParsedCalendar {
    /// In capitals.
    pub method: Option<String>,
    /// The zone of times that name none (X-WR-TIMEZONE).
    pub floating_zone: Option<TimeZone>,
    pub events: Vec<CalendarEvent>,
    /// By the places that times have; `None` where nobody knows the zone.
    pub zones: Vec<Option<CalendarZone>>,
    /// Events without a start that can be read.
    pub skipped: usize,
    /// Whether the last calendar was closed.
    pub is_complete: bool,
}

pub(crate) fn read(bytes: &[u8], detail: EventDetail) -> Result<ParsedCalendar, FeedError> {
    if bytes.len() > FEED_BYTES {
        return Err(FeedError::TooLarge);
    }
    let mut reader = Reader::new(detail);
    for line in ContentLines::new(bytes) {
        reader.take(&line)?;
    }
    reader.finish()
}

struct Reader {
    detail: EventDetail,
    open: OpenComponents,
    has_calendar: bool,
    is_complete: bool,
    method: Option<String>,
    floating_zone: Option<TimeZone>,
    events: Vec<CalendarEvent>,
    skipped: usize,
    /// The event that is being read, and its start once that was read.
    event: CalendarEvent,
    start: Option<EventTime>,
    /// The place of each TZID.
    tzids: HashMap<String, usize>,
    /// The zone and its part that are being read.
    zone: ZoneDescription,
    observance: Observance,
    descriptions: HashMap<String, ZoneDescription>,
}

#[derive(Default)]
struct ZoneDescription {
    tzid: String,
    /// X-LIC-LOCATION: the IANA name, as libical writes it.
    location: Option<String>,
    observances: Vec<Observance>,
}

impl Reader {
    fn new(detail: EventDetail) -> Reader {
        Reader {
            detail,
            open: OpenComponents::default(),
            has_calendar: false,
            is_complete: false,
            method: None,
            floating_zone: None,
            events: Vec::new(),
            skipped: 0,
            event: CalendarEvent::default(),
            start: None,
            tzids: HashMap::new(),
            zone: ZoneDescription::default(),
            observance: Observance::default(),
            descriptions: HashMap::new(),
        }
    }

    fn take(&mut self, line: &ContentLine) -> Result<(), FeedError> {
        match line.name.as_str() {
            "BEGIN" => {
                let (component, closed) = self.open.begin(line)?;
                closed.into_iter().try_for_each(|closed| self.close(closed))?;
                self.begin(component);
            }
            "END" => {
                let closed = self.open.end(line);
                closed.into_iter().try_for_each(|closed| self.close(closed))?;
            }
            _ => match self.open.innermost() {
                Some(Component::Calendar) => self.take_of_calendar(line),
                Some(Component::Event) => self.take_of_event(line),
                Some(Component::FreeBusy) => self.take_of_free_busy(line),
                Some(Component::Zone) => self.take_of_zone(line),
                Some(Component::Observance) => self.take_of_observance(line),
                Some(Component::Other) | None => {}
            },
        }
        Ok(())
    }

    fn begin(&mut self, component: Component) {
        match component {
            Component::Calendar => (self.has_calendar, self.is_complete) = (true, false),
            Component::Event | Component::FreeBusy => {
                self.event = CalendarEvent::default();
                self.start = None;
            }
            Component::Zone => self.zone = ZoneDescription::default(),
            Component::Observance => self.observance = Observance::default(),
            Component::Other => {}
        }
    }

    fn close(&mut self, component: Component) -> Result<(), FeedError> {
        match component {
            Component::Calendar => self.is_complete = true,
            Component::Event => {
                let event = std::mem::take(&mut self.event);
                match self.start.take() {
                    Some(start) => self.events.push(CalendarEvent { start, ..event }),
                    None => self.skipped += 1,
                }
            }
            Component::Zone => {
                let zone = std::mem::take(&mut self.zone);
                if self.descriptions.len() < FEED_ZONES {
                    self.descriptions.entry(zone.tzid.clone()).or_insert(zone);
                }
            }
            Component::Observance if self.zone.observances.len() < ZONE_OBSERVANCES => {
                self.zone.observances.push(std::mem::take(&mut self.observance));
            }
            Component::Observance | Component::FreeBusy | Component::Other => {}
        }
        match self.events.len() > FEED_EVENTS {
            true => Err(FeedError::TooManyEvents),
            false => Ok(()),
        }
    }

    fn take_of_calendar(&mut self, line: &ContentLine) {
        match line.name.as_str() {
            "METHOD" => self.method = Some(line.value.trim().to_ascii_uppercase()),
            "X-WR-TIMEZONE" => self.floating_zone = zone_of_tzid(&line.value),
            _ => {}
        }
    }

    fn take_of_event(&mut self, line: &ContentLine) {
        let zone = self.zone_of(line);
        if line.name == "DTSTART" {
            self.start = event_time(line, &line.value, zone);
        }
        self.event.set_time(line, zone);
        if self.detail == EventDetail::Everything {
            self.event.set_detail(line);
        }
    }

    /// Each busy period is an event of its own.
    fn take_of_free_busy(&mut self, line: &ContentLine) {
        match line.name.as_str() {
            "UID" => self.event.set_time(line, None),
            "FREEBUSY" => {
                let kind = line.parameter("FBTYPE").unwrap_or("BUSY");
                if kind.eq_ignore_ascii_case("FREE") {
                    return;
                }
                let zone = self.zone_of(line);
                let left = (FEED_EVENTS + 1).saturating_sub(self.events.len());
                for text in line.value.split(',').take(left) {
                    match period(line, text, zone) {
                        Some((start, end)) => {
                            let uid = self.event.uid.clone();
                            self.events.push(CalendarEvent {
                                uid,
                                start,
                                end,
                                ..CalendarEvent::default()
                            });
                        }
                        None => self.skipped += 1,
                    }
                }
            }
            _ => {}
        }
    }

    fn take_of_zone(&mut self, line: &ContentLine) {
        match line.name.as_str() {
            "TZID" => self.zone.tzid = line.value.trim().to_owned(),
            "X-LIC-LOCATION" => self.zone.location = Some(line.value.trim().to_owned()),
            _ => {}
        }
    }

    fn take_of_observance(&mut self, line: &ContentLine) {
        let local = |text: &str| match parse_time(text)? {
            WrittenTime::Local(time) | WrittenTime::Utc(time) => Some(time),
            WrittenTime::Date(date) => Some(date.at(0, 0, 0, 0)),
        };
        let observance = &mut self.observance;
        match line.name.as_str() {
            "DTSTART" => observance.start = local(&line.value),
            "TZOFFSETFROM" => observance.offset_before = parse_offset(&line.value),
            "TZOFFSETTO" => observance.offset = parse_offset(&line.value),
            "RRULE" if observance.rules.len() < EVENT_RULES => {
                observance.rules.extend(RecurrenceRule::parse(&line.value));
            }
            "RDATE" if observance.dates.len() < EVENT_DATES => {
                observance.dates.extend(line.value.split(',').filter_map(local));
            }
            _ => {}
        }
    }

    fn zone_of(&mut self, line: &ContentLine) -> Option<usize> {
        let tzid = line.parameter("TZID")?;
        if let Some(at) = self.tzids.get(tzid) {
            return Some(*at);
        }
        let at = self.tzids.len();
        if at >= FEED_ZONES {
            return None;
        }
        self.tzids.insert(tzid.to_owned(), at);
        Some(at)
    }

    fn finish(self) -> Result<ParsedCalendar, FeedError> {
        if !self.has_calendar {
            return Err(FeedError::NotCalendar);
        }
        let mut zones = vec![None; self.tzids.len()];
        let mut work = ExpansionBudget::new();
        for (tzid, at) in &self.tzids {
            zones[*at] = zone(tzid, self.descriptions.get(tzid), &mut work);
        }
        Ok(ParsedCalendar {
            method: self.method,
            floating_zone: self.floating_zone,
            events: self.events,
            zones,
            skipped: self.skipped,
            is_complete: self.is_complete,
        })
    }
}

/// A name that is known counts more than a description, which is often old or wrong.
fn zone(
    tzid: &str,
    description: Option<&ZoneDescription>,
    work: &mut ExpansionBudget,
) -> Option<CalendarZone> {
    let location = || zone_of_tzid(description?.location.as_deref()?);
    if let Some(zone) = zone_of_tzid(tzid).or_else(location) {
        return Some(CalendarZone::Known(zone));
    }
    ObservedZone::new(&description?.observances, work).map(CalendarZone::Observed)
}
