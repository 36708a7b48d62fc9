//! All versions of one event, with its occurrences and the changes to single ones.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::moment::{Clocks, EventLength, EventMoment};
use crate::civil::{CivilSeconds, DAY_SECONDS, civil_seconds, date_time_of};
use crate::ics::value::WrittenTime;
use crate::ics::{CalendarEvent, EventTime};
use crate::range::TimeRange;
use crate::rule::{ExpansionBudget, RecurrenceRule, TooMuchWork, occurrences};
use crate::zones::instant_in;

/// Clocks of two zones differ by less than this.
const CLOCK_DIFFERENCE: CivilSeconds = 2 * DAY_SECONDS;

pub(super) struct Series<'a> {
    clocks: &'a Clocks<'a>,
    is_free: &'a dyn Fn(&CalendarEvent) -> bool,
    /// The event itself; several only where a feed gives one UID to different events.
    masters: Vec<&'a CalendarEvent>,
    /// Changes of single occurrences.
    changes: Vec<&'a CalendarEvent>,
    /// The occurrences that are changed.
    changed: OccurrenceKeys,
    /// The occurrences that are excluded.
    excluded: OccurrenceKeys,
    /// Changes of an occurrence and all later ones, in order.
    futures: Vec<FutureChange<'a>>,
}

struct FutureChange<'a> {
    after: Timestamp,
    shift: CivilSeconds,
    length: EventLength,
    event: &'a CalendarEvent,
}

/// Occurrences as EXDATE and RECURRENCE-ID name them.
#[derive(Default)]
struct OccurrenceKeys {
    instants: HashSet<Timestamp>,
    /// Named by a date: whatever is on that day.
    days: HashSet<Date>,
    /// Named by a time, for events of whole days, of which only the date can be meant.
    written_days: HashSet<Date>,
}

impl OccurrenceKeys {
    fn add(&mut self, time: EventTime, clocks: &Clocks<'_>) {
        match time.time {
            WrittenTime::Date(date) => {
                self.days.insert(date);
            }
            WrittenTime::Local(_) | WrittenTime::Utc(_) => {
                self.instants.insert(clocks.moment(time).instant());
                self.written_days.insert(time.written_date());
            }
        }
    }

    fn has(&self, occurrence: EventMoment<'_>) -> bool {
        let date = || date_time_of(occurrence.civil).date();
        if occurrence.is_day {
            return self.days.contains(&date()) || self.written_days.contains(&date());
        }
        (!self.days.is_empty() && self.days.contains(&date()))
            || (!self.instants.is_empty() && self.instants.contains(&occurrence.instant()))
    }
}

impl<'a> Series<'a> {
    pub fn new(
        events: &[&'a CalendarEvent],
        clocks: &'a Clocks<'a>,
        is_free: &'a dyn Fn(&CalendarEvent) -> bool,
    ) -> Series<'a> {
        let masters = newest_masters(events);
        let changes = newest_changes(events, clocks);
        let mut excluded = OccurrenceKeys::default();
        for time in masters.iter().flat_map(|master| &master.excluded) {
            excluded.add(*time, clocks);
        }
        let mut changed = OccurrenceKeys::default();
        for time in changes.iter().filter_map(|change| change.recurrence_id) {
            changed.add(time, clocks);
        }
        let futures = future_changes(&changes, clocks);
        Series { clocks, is_free, masters, changes, changed, excluded, futures }
    }

    pub fn busy(
        &self,
        window: TimeRange,
        work: &mut ExpansionBudget,
    ) -> Result<Vec<TimeRange>, TooMuchWork> {
        let mut busy = Vec::new();
        for master in &self.masters {
            work.spend(1)?;
            if !(self.is_free)(master) || !self.futures.is_empty() {
                self.add_occurrences(master, window, work, &mut busy)?;
            }
        }
        for change in self.changes.iter().filter(|change| !(self.is_free)(change)) {
            let is_excluded = change
                .recurrence_id
                .is_some_and(|occurrence| self.excluded.has(self.clocks.moment(occurrence)));
            if !is_excluded {
                let start = self.clocks.moment(change.start);
                busy.push(start.range(self.clocks.length_of(change)));
            }
        }
        busy.retain(|range| range.overlaps(&window));
        Ok(busy)
    }

    fn add_occurrences(
        &self,
        master: &CalendarEvent,
        window: TimeRange,
        work: &mut ExpansionBudget,
        busy: &mut Vec<TimeRange>,
    ) -> Result<(), TooMuchWork> {
        let start = self.clocks.moment(master.start);
        let length = self.clocks.length_of(master);
        let is_free = (self.is_free)(master);
        for civil in self.starts(master, start, self.reach(start, length, window), work)? {
            let occurrence = start.at(civil);
            if self.excluded.has(occurrence) || self.changed.has(occurrence) {
                continue;
            }
            let future = self.future_of(occurrence);
            if future.map_or(is_free, |future| (self.is_free)(future.event)) {
                continue;
            }
            let moved = occurrence.at(civil + future.map_or(0, |future| future.shift));
            busy.push(moved.range(future.map_or(length, |future| future.length)));
        }
        self.add_periods(master, is_free, busy);
        Ok(())
    }

    /// The civil times between which occurrences may begin that reach into the window.
    fn reach(
        &self,
        start: EventMoment<'_>,
        length: EventLength,
        window: TimeRange,
    ) -> (CivilSeconds, CivilSeconds) {
        let (mut before, mut after) = (length.seconds().max(0), (-length.seconds()).max(0));
        for future in &self.futures {
            before = before.max(future.length.seconds() + future.shift);
            after = after.max(-future.shift);
        }
        let civil = |instant| civil_seconds(start.clock.civil(instant));
        (
            civil(window.start) - before - CLOCK_DIFFERENCE,
            civil(window.end) + after + CLOCK_DIFFERENCE,
        )
    }

    /// The starts of occurrences, in order and each once.
    fn starts(
        &self,
        master: &CalendarEvent,
        start: EventMoment<'_>,
        (from, to): (CivilSeconds, CivilSeconds),
        work: &mut ExpansionBudget,
    ) -> Result<Vec<CivilSeconds>, TooMuchWork> {
        let mut starts = Vec::new();
        let mut has_start = master.rules.is_empty();
        for rule in &master.rules {
            let until = until(rule, start);
            // The start is an occurrence whether the rule has it or not (RFC 5545 3.8.5.3).
            has_start |= until.is_none_or(|until| start.civil <= until);
            let to = until.map_or(to, |until| to.min(until + 1));
            starts.extend(occurrences(rule, start.civil, from, to, work)?);
        }
        if has_start {
            starts.push(start.civil);
        }
        let dates = master.dates.iter().filter(|(_, end)| end.is_none());
        starts.extend(dates.map(|(date, _)| self.clocks.civil_on(start, *date)));
        starts.retain(|civil| (from..to).contains(civil));
        starts.sort_unstable();
        starts.dedup();
        Ok(starts)
    }

    /// Added dates that say their own length.
    fn add_periods(&self, master: &CalendarEvent, is_free: bool, busy: &mut Vec<TimeRange>) {
        let periods = master.dates.iter().filter(|(_, end)| end.is_some());
        for (start, end) in periods.filter(|_| !is_free) {
            let start = self.clocks.moment(*start);
            if !self.excluded.has(start) && !self.changed.has(start) {
                busy.push(start.range(self.clocks.length(start, *end)));
            }
        }
    }

    fn future_of(&self, occurrence: EventMoment<'_>) -> Option<&FutureChange<'a>> {
        if self.futures.is_empty() {
            return None;
        }
        let instant = occurrence.instant();
        let past = self.futures.partition_point(|future| future.after < instant);
        self.futures.get(past.checked_sub(1)?)
    }
}

/// The versions with the highest sequence number that are no changes of single occurrences.
fn newest_masters<'a>(events: &[&'a CalendarEvent]) -> Vec<&'a CalendarEvent> {
    let masters = || events.iter().filter(|event| event.recurrence_id.is_none());
    let newest = masters().map(|event| event.sequence).max();
    masters().filter(|event| Some(event.sequence) == newest).copied().collect()
}

/// The version with the highest sequence number of each change; of equal ones the last.
fn newest_changes<'a>(events: &[&'a CalendarEvent], clocks: &Clocks<'_>) -> Vec<&'a CalendarEvent> {
    let mut newest: HashMap<Timestamp, &CalendarEvent> = HashMap::new();
    for event in events {
        let Some(occurrence) = event.recurrence_id else { continue };
        let known = newest.entry(clocks.moment(occurrence).instant()).or_insert(event);
        if event.sequence >= known.sequence {
            *known = event;
        }
    }
    newest.into_values().collect()
}

fn future_changes<'a>(changes: &[&'a CalendarEvent], clocks: &Clocks<'_>) -> Vec<FutureChange<'a>> {
    let mut futures = Vec::new();
    for event in changes.iter().filter(|change| change.is_for_future) {
        let Some(occurrence) = event.recurrence_id else { continue };
        let start = clocks.moment(event.start);
        futures.push(FutureChange {
            after: clocks.moment(occurrence).instant(),
            shift: start.civil - clocks.civil_on(start, occurrence),
            length: clocks.length_of(event),
            event,
        });
    }
    futures.sort_unstable_by_key(|future| future.after);
    futures
}

/// The last moment of a rule on the clock of its start. A date includes its whole day.
fn until(rule: &RecurrenceRule, start: EventMoment<'_>) -> Option<CivilSeconds> {
    let until = rule.until?;
    let time = match until {
        WrittenTime::Date(date) => date.at(23, 59, 59, 0),
        WrittenTime::Local(time) => time,
        WrittenTime::Utc(time) if start.is_day => time,
        WrittenTime::Utc(time) => start.clock.civil(instant_in(&TimeZone::UTC, time)),
    };
    Some(civil_seconds(time))
}
