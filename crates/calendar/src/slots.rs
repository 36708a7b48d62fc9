//! Times that can be booked: hours, less busy times and bookings, by the rules of a booking type.
//!
//! The cost follows the asked window and the busy times and bookings passed in, which are those of
//! the window; history is not looked at.

mod day_parts;

pub use day_parts::{DayPart, DayPartKind, day_parts};

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::Serialize;

use crate::hours::{HostHours, HoursWindow};
use crate::limits::{SLOT_DAYS, SLOT_HOSTS, SLOTS_GIVEN};
use crate::range::{RangeSet, TimeRange};

/// What a booking type asks of its slots. Lengths of time are in minutes.
#[derive(Clone, Copy, Debug)]
pub struct SlotRules {
    pub length: u32,
    /// From one start to the next, counted from the beginning of each window of hours.
    pub step: u32,
    /// Kept free before and after.
    pub before: u32,
    pub after: u32,
    /// From now to the earliest start.
    pub notice: u32,
    /// Days after today, in the host's zone, of the last start.
    pub horizon_days: Option<u32>,
    /// Bookings of the type that a host takes on one day.
    pub per_day: Option<u32>,
}

/// Who is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMode {
    /// One of the hosts, by turns.
    Any,
    Together,
}

/// A booking of a host, held ones included.
#[derive(Clone, Copy, Debug)]
pub struct HostBooking {
    pub range: TimeRange,
    /// With what its type keeps free before and after.
    pub padded: TimeRange,
    /// It counts towards the limit a day.
    pub is_same_type: bool,
}

/// How often a host had a turn, for [`order_of_turns`].
#[derive(Clone, Copy, Debug)]
pub struct RoundRobinState {
    pub weight: u32,
    pub given: u64,
    pub last_given: Option<Timestamp>,
}

pub struct SlotHost<'a> {
    pub hours: &'a HostHours,
    pub busy: &'a [TimeRange],
    pub bookings: &'a [HostBooking],
    pub turns: RoundRobinState,
}

pub struct SlotQuery<'a> {
    /// Starts are at or after its start and before its end.
    pub window: TimeRange,
    pub now: Timestamp,
    pub rules: SlotRules,
    pub mode: HostMode,
    pub hosts: &'a [SlotHost<'a>],
    /// At most [`SLOTS_GIVEN`].
    pub limit: usize,
}

/// A time that can be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlot {
    pub range: TimeRange,
    /// The places of the hosts: all of them, or those that are free in the order of their turns.
    pub hosts: Vec<usize>,
}

/// Why a start within a host's hours is not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotObstacle {
    Notice,
    Horizon,
    DailyLimit,
    Booking,
    Busy,
}

/// What became of one day of a host, for the page that explains why nothing is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostDayReport {
    pub host: usize,
    pub date: Date,
    pub hours: Vec<TimeRange>,
    /// Each start with what keeps it from being offered.
    pub starts: Vec<(Timestamp, Option<SlotObstacle>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotError {
    TooManyDays,
    TooManyHosts,
    /// A length or step of nothing.
    Rules,
}

/// The slots of a window, soonest first.
pub fn slots(query: &SlotQuery<'_>) -> Result<Vec<TimeSlot>, SlotError> {
    check(query)?;
    let days: Vec<HostDays> = query.hosts.iter().map(|host| HostDays::new(host, query)).collect();
    let turns = order_of_turns(&query.hosts.iter().map(|host| host.turns).collect::<Vec<_>>());
    let mut slots = Vec::new();
    for start in starts(query, &days) {
        let is_free = |host: &usize| {
            let window = days[*host].window_of(&query.rules.range_at(start));
            window.is_some_and(|window| days[*host].obstacle(start, window).is_none())
        };
        let mut hosts: Vec<usize> = turns.iter().copied().filter(is_free).collect();
        let is_offered = match query.mode {
            HostMode::Any => !hosts.is_empty(),
            HostMode::Together => hosts.len() == query.hosts.len(),
        };
        if is_offered {
            if query.mode == HostMode::Together {
                hosts.sort_unstable();
            }
            slots.push(TimeSlot { range: query.rules.range_at(start), hosts });
        }
        if slots.len() >= query.limit.min(SLOTS_GIVEN) {
            break;
        }
    }
    Ok(slots)
}

/// The slot that starts at a moment, if it can be booked; for deciding a booking.
pub fn slot_at(query: &SlotQuery<'_>, start: Timestamp) -> Result<Option<TimeSlot>, SlotError> {
    let end = start.saturating_add(SignedDuration::from_secs(1)).unwrap_or(Timestamp::MAX);
    let window = TimeRange::new(start, end);
    let found = slots(&SlotQuery { window, limit: 1, ..*query })?;
    Ok(found.into_iter().find(|slot| slot.range.start == start))
}

/// What became of each day of each host.
pub fn slot_report(query: &SlotQuery<'_>) -> Result<Vec<HostDayReport>, SlotError> {
    check(query)?;
    let mut reports: Vec<HostDayReport> = Vec::new();
    for (host, asked) in query.hosts.iter().enumerate() {
        let days = HostDays::new(asked, query);
        for date in days.first.series(1.day()).take_while(|date| *date <= days.last) {
            let windows = || days.windows.iter().filter(|window| window.date == date);
            if !asked.hours.day(date).overlaps(&query.window) {
                continue;
            }
            let starts = windows().flat_map(|window| {
                let starts = query.rules.starts_in(&window.range, query.window);
                starts.map(|start| (start, days.obstacle(start, window)))
            });
            reports.push(HostDayReport {
                host,
                date,
                hours: windows().map(|window| window.range).collect(),
                starts: starts.collect(),
            });
        }
    }
    Ok(reports)
}

/// The places of hosts in the order in which they get the next booking: the fewest turns by
/// weight first, then who has waited longest, then the place. Without weight means last.
pub fn order_of_turns(hosts: &[RoundRobinState]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&hosts[*a], &hosts[*b]);
        let share = |host: &RoundRobinState, other: &RoundRobinState| {
            u128::from(host.given) * u128::from(other.weight)
        };
        (a.weight == 0)
            .cmp(&(b.weight == 0))
            .then(share(a, b).cmp(&share(b, a)))
            .then(a.last_given.cmp(&b.last_given))
    });
    order
}

/// The turns that a new host begins with: the others' average, so that bookings do not all go to
/// whoever is new.
pub fn turns_of_new_host(hosts: &[RoundRobinState], weight: u32) -> u64 {
    let weights: u128 = hosts.iter().map(|host| u128::from(host.weight)).sum();
    let given: u128 = hosts.iter().map(|host| u128::from(host.given)).sum();
    match weights {
        0 => 0,
        weights => u64::try_from(given * u128::from(weight) / weights).unwrap_or(u64::MAX),
    }
}

fn check(query: &SlotQuery<'_>) -> Result<(), SlotError> {
    // A day more, because a change of the clock makes a month longer.
    let longest = SignedDuration::from_hours(24 * (SLOT_DAYS + 1));
    if query.window.start.duration_until(query.window.end) > longest {
        return Err(SlotError::TooManyDays);
    }
    if query.hosts.len() > SLOT_HOSTS {
        return Err(SlotError::TooManyHosts);
    }
    match query.rules.length == 0 || query.rules.step == 0 {
        true => Err(SlotError::Rules),
        false => Ok(()),
    }
}

/// All starts to be tried, in order.
fn starts(query: &SlotQuery<'_>, days: &[HostDays<'_>]) -> Vec<Timestamp> {
    let ranges: Vec<TimeRange> = match query.mode {
        HostMode::Any => days.iter().flat_map(HostDays::ranges).collect(),
        HostMode::Together => common(days),
    };
    let asked = query.window;
    let mut starts: Vec<Timestamp> =
        ranges.iter().flat_map(|range| query.rules.starts_in(range, asked)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The ranges in which all hosts work.
fn common(days: &[HostDays<'_>]) -> Vec<TimeRange> {
    let Some((first, others)) = days.split_first() else { return Vec::new() };
    others.iter().fold(first.ranges().collect(), |common: Vec<TimeRange>, host| {
        let meet = |range: &TimeRange| {
            let range = *range;
            host.ranges().filter_map(move |own| range.intersection(&own)).collect::<Vec<_>>()
        };
        common.iter().flat_map(meet).collect()
    })
}

fn minutes(minutes: u32) -> SignedDuration {
    SignedDuration::from_mins(i64::from(minutes))
}

fn later(instant: Timestamp, by: SignedDuration) -> Timestamp {
    instant.saturating_add(by).unwrap_or(Timestamp::MAX)
}

impl SlotRules {
    fn range_at(&self, start: Timestamp) -> TimeRange {
        TimeRange::new(start, later(start, minutes(self.length)))
    }

    fn padded_at(&self, start: Timestamp) -> TimeRange {
        let range = self.range_at(start);
        let from = range.start.saturating_sub(minutes(self.before)).unwrap_or(Timestamp::MIN);
        TimeRange::new(from, later(range.end, minutes(self.after)))
    }

    /// The starts of a range of hours, by elapsed time from its beginning, that are within the
    /// asked window.
    fn starts_in(
        &self,
        hours: &TimeRange,
        asked: TimeRange,
    ) -> impl Iterator<Item = Timestamp> + use<> {
        let (length, step) = (i64::from(self.length) * 60, i64::from(self.step) * 60);
        let first = hours.start.as_second();
        let last = (hours.end.as_second() - length).min(asked.end.as_second() - 1);
        let skipped = (asked.start.as_second() - first).max(0);
        let first = first + (skipped + step - 1) / step * step;
        (first..=last)
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .filter_map(|second| Timestamp::from_second(second).ok())
    }
}

/// A host's days around the asked window, ready to be looked up.
struct HostDays<'a> {
    rules: SlotRules,
    hours: &'a HostHours,
    first: Date,
    last: Date,
    /// In order of their starts.
    windows: Vec<HoursWindow>,
    busy: RangeSet,
    booked: RangeSet,
    /// Starts of bookings that count towards the limit a day, in order.
    counted: Vec<Timestamp>,
    earliest: Timestamp,
    last_day: Option<Date>,
}

impl<'a> HostDays<'a> {
    fn new(host: &SlotHost<'a>, query: &SlotQuery<'_>) -> HostDays<'a> {
        let rules = query.rules;
        let date = |instant| host.hours.zone.to_datetime(instant).date();
        // Hours that began the day before may reach into the window, and zones of stays are up to
        // a day away from the host's.
        let first = date(query.window.start).saturating_sub(2.days());
        let last = date(query.window.end).saturating_add(2.days());
        let mut windows = host.hours.windows(first, last);
        windows.sort_unstable_by_key(|window| window.range);
        let reach = TimeRange::new(
            rules.padded_at(query.window.start).start,
            rules.padded_at(query.window.end).end,
        );
        let near = |range: &TimeRange| range.overlaps(&reach);
        let bookings = host.bookings.iter();
        let mut counted: Vec<Timestamp> =
            bookings.clone().filter(|b| b.is_same_type).map(|b| b.range.start).collect();
        counted.sort_unstable();
        HostDays {
            rules,
            hours: host.hours,
            first,
            last,
            windows,
            busy: RangeSet::new(host.busy.iter().copied().filter(near)),
            booked: RangeSet::new(bookings.map(|booking| booking.padded).filter(near)),
            counted,
            earliest: later(query.now, minutes(rules.notice)),
            last_day: rules
                .horizon_days
                .map(|days| date(query.now).saturating_add(i64::from(days).days())),
        }
    }

    fn ranges(&self) -> impl Iterator<Item = TimeRange> {
        self.windows.iter().map(|window| window.range)
    }

    /// The window that holds a slot.
    fn window_of(&self, slot: &TimeRange) -> Option<&HoursWindow> {
        let begun = self.windows.partition_point(|window| window.range.start <= slot.start);
        // No window is longer than two days, so older ones have ended.
        let oldest = slot.start.saturating_sub(SignedDuration::from_hours(49));
        let oldest = oldest.unwrap_or(Timestamp::MIN);
        self.windows[..begun]
            .iter()
            .rev()
            .take_while(|window| window.range.start >= oldest)
            .find(|window| window.range.contains(slot))
    }

    fn obstacle(&self, start: Timestamp, window: &HoursWindow) -> Option<SlotObstacle> {
        if start < self.earliest {
            return Some(SlotObstacle::Notice);
        }
        if self.last_day.is_some_and(|last| window.date > last) {
            return Some(SlotObstacle::Horizon);
        }
        if self.is_full(window.date) {
            return Some(SlotObstacle::DailyLimit);
        }
        let padded = self.rules.padded_at(start);
        if self.booked.overlaps(&padded) {
            return Some(SlotObstacle::Booking);
        }
        self.busy.overlaps(&padded).then_some(SlotObstacle::Busy)
    }

    /// The host has as many bookings on the day as the type allows.
    fn is_full(&self, date: Date) -> bool {
        self.rules.per_day.is_some_and(|limit| self.booked_on(date) >= limit as usize)
    }

    fn booked_on(&self, date: Date) -> usize {
        let day = self.hours.day(date);
        let before = |instant| self.counted.partition_point(|start| *start < instant);
        before(day.end) - before(day.start)
    }
}
