//! The times of a booking type that are free now: hours, less bookings and busy times.
//!
//! Four queries read what a window needs, whatever came before it; the arithmetic is in `calendar`.

use std::collections::HashMap;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{BookingId, UserId};
use base::limits::{
    BOOKING_BUFFER_MINUTES, BOOKING_MINUTES, CALENDAR_STALE_MS, DAY_MS, HOST_DATES, MINUTE_MS,
    SLOT_DAYS, SLOTS_GIVEN,
};
use calendar::{
    DayPart, HostBooking, HostDayReport, HostHours, RoundRobinState, SlotHost, SlotQuery,
    TimeRange, TimeSlot, WeeklyHours,
};
use db::Tx;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::host_times::HostTimes;
use super::hours::{self, HostDate, HostStay};
use super::types::{self, BookingType};
use super::{calendars, timestamp};

/// Bookings and busy times of this many days around a window are read: hours of the day before may
/// reach into it, and limits count whole days of any zone.
const AROUND_MS: i64 = 3 * DAY_MS;
/// The longest time that one booking takes from a host.
const LONGEST_MS: i64 = (BOOKING_MINUTES + 2 * BOOKING_BUFFER_MINUTES) * MINUTE_MS;

/// What is known of a type's hosts around a window.
pub struct Availability {
    kind: BookingType,
    hosts: Vec<HostAvailability>,
    now: Timestamp,
}

/// A host with everything that takes time from them.
pub struct HostAvailability {
    pub person: UserId,
    pub name: String,
    pub zone: String,
    /// A calendar of theirs has not been read for too long, so nothing is offered.
    pub is_stale: bool,
    hours: HostHours,
    busy: Vec<TimeRange>,
    bookings: Vec<HostBooking>,
    turns: RoundRobinState,
}

/// A time that can be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeTime {
    pub starts_at: i64,
    pub ends_at: i64,
    /// All hosts, or those that are free in the order of their turns.
    pub hosts: Vec<UserId>,
}

/// Reads what decides about starts from `from` until before `to`. `except` is a booking that is
/// about to be moved, so that its own time is free.
pub fn load(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (from, to): (i64, i64),
    except: Option<&BookingId>,
) -> Result<Availability> {
    let ws = cx.actor.ws;
    let around = (from.saturating_sub(AROUND_MS), to.saturating_add(AROUND_MS));
    let found = types::hosts(tx, ws, &kind.id)?;
    let mut hours: HashMap<UserId, HostHours> = HashMap::new();
    for host in &found {
        let (zone, weekly) = (host.zone.as_deref(), host.weekly.as_deref());
        let mut parsed = hours::parse(zone.unwrap_or("UTC"), weekly.unwrap_or(""))?;
        let place = host.holidays.as_deref().unwrap_or("");
        let (first, last) = (timestamp(around.0), timestamp(around.1));
        let date = |at: Timestamp| parsed.zone.to_datetime(at).date();
        let holidays = calendar::public_holidays(place, date(first), date(last));
        parsed.holidays = holidays.into_iter().map(|holiday| holiday.date).collect();
        hours.insert(host.person.clone(), parsed);
    }
    let (dates, stays) = exceptions(tx, ws, kind, around)?;
    hours::refine(&mut hours, dates, stays);
    let mut busy = calendars::busy_hosts_of_type(tx, ws, &kind.id, around)?;
    let mut bookings = bookings(tx, cx, kind, (from, to), except)?;
    let stale = stale_hosts(tx, cx, kind)?;
    let hosts = found.into_iter().map(|host| {
        let is_stale = stale.contains(&host.person);
        let mut hours = hours.remove(&host.person).unwrap_or_else(no_hours);
        if is_stale {
            hours.weekly = WeeklyHours::default();
            hours.dates.clear();
        }
        HostAvailability {
            is_stale,
            hours,
            busy: busy.take(&host.person),
            bookings: bookings.take(&host.person),
            turns: host.turns(),
            zone: host.zone.unwrap_or_else(|| "UTC".into()),
            name: host.name,
            person: host.person,
        }
    });
    let hosts = hosts.collect();
    Ok(Availability { kind: kind.clone(), hosts, now: timestamp(cx.now) })
}

impl HostAvailability {
    /// It is a public holiday where the host is, without hours of its own.
    pub fn is_holiday(&self, date: Date) -> bool {
        self.hours.holidays.contains(&date) && !self.hours.dates.contains_key(&date)
    }

    /// The zone whose clock the host works by on a date.
    pub fn zone_on(&self, date: Date) -> &TimeZone {
        self.hours.zone_on(date)
    }
}

impl Availability {
    pub fn hosts(&self) -> &[HostAvailability] {
        &self.hosts
    }

    /// The free times that start from `from` until before `to`, soonest first.
    pub fn free(&self, (from, to): (i64, i64), limit: usize) -> Result<Vec<FreeTime>> {
        let hosts = self.slot_hosts();
        let query = self.query(&hosts, (from, to), limit);
        let slots = calendar::slots(&query).map_err(slot_error)?;
        Ok(slots.into_iter().map(|slot| self.free_time(slot)).collect())
    }

    /// The free time that starts at a moment.
    pub fn free_at(&self, start: i64) -> Result<Option<FreeTime>> {
        let hosts = self.slot_hosts();
        let query = self.query(&hosts, (start, start + 1_000), 1);
        let slot = calendar::slot_at(&query, timestamp(start)).map_err(slot_error)?;
        Ok(slot.map(|slot| self.free_time(slot)))
    }

    /// What became of each day of each host.
    pub fn report(&self, (from, to): (i64, i64)) -> Result<Vec<HostDayReport>> {
        let hosts = self.slot_hosts();
        let query = self.query(&hosts, (from, to), SLOTS_GIVEN as usize);
        calendar::slot_report(&query).map_err(slot_error)
    }

    /// One day of the host at a place of the list, in parts. The window must hold the day.
    pub fn day_parts(
        &self,
        (from, to): (i64, i64),
        host: usize,
        date: Date,
    ) -> Result<Vec<DayPart>> {
        let hosts = self.slot_hosts();
        let query = self.query(&hosts, (from, to), SLOTS_GIVEN as usize);
        calendar::day_parts(&query, host, date).map_err(slot_error)
    }

    /// The hours of all hosts around a window by their weeks alone: holidays, days off and days with
    /// hours of their own do not count.
    pub fn regular_hours(&self, (from, to): (i64, i64)) -> Vec<TimeRange> {
        let of_host = |host: &HostAvailability| {
            let mut hours = host.hours.clone();
            hours.dates.clear();
            hours.holidays.clear();
            let date = |at: i64| hours.zone.to_datetime(timestamp(at)).date();
            let windows = hours.windows(date(from), date(to));
            windows.into_iter().map(|window| window.range).collect::<Vec<_>>()
        };
        self.hosts.iter().flat_map(of_host).collect()
    }

    fn slot_hosts<'a>(&'a self) -> Vec<SlotHost<'a>> {
        let slot_host = |host: &'a HostAvailability| SlotHost {
            hours: &host.hours,
            busy: &host.busy,
            bookings: &host.bookings,
            turns: host.turns,
        };
        self.hosts.iter().map(slot_host).collect()
    }

    fn query<'a>(
        &self,
        hosts: &'a [SlotHost<'a>],
        (from, to): (i64, i64),
        limit: usize,
    ) -> SlotQuery<'a> {
        SlotQuery {
            window: TimeRange::new(timestamp(from), timestamp(to)),
            now: self.now,
            rules: self.kind.rules(),
            mode: self.kind.host_mode(),
            hosts,
            limit,
        }
    }

    fn free_time(&self, slot: TimeSlot) -> FreeTime {
        FreeTime {
            starts_at: slot.range.start.as_millisecond(),
            ends_at: slot.range.end.as_millisecond(),
            hosts: slot.hosts.iter().map(|place| self.hosts[*place].person.clone()).collect(),
        }
    }
}

/// The first free times from a moment on, within what can be booked at all.
pub fn next_free(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    after: i64,
    count: usize,
    except: Option<&BookingId>,
) -> Result<Vec<FreeTime>> {
    let end = cx.now + (kind.horizon_days + 2) * DAY_MS;
    let mut from = after.max(cx.now);
    let mut found = Vec::new();
    while from < end && found.len() < count {
        let window = (from, (from + SLOT_DAYS * DAY_MS).min(end));
        let loaded = load(tx, cx, kind, window, except)?;
        found.extend(loaded.free(window, count - found.len())?);
        from = window.1;
    }
    Ok(found)
}

fn exceptions(
    tx: &mut Tx<'_>,
    ws: i64,
    kind: &BookingType,
    (from, to): (i64, i64),
) -> Result<(Vec<HostDate>, Vec<HostStay>)> {
    let day = |at: i64| timestamp(at).strftime("%Y-%m-%d").to_string();
    let dates = tx.all(
        &format!(
            "SELECT {} FROM booking_hosts h
             JOIN host_dates ON host_dates.ws = h.ws AND host_dates.person = h.person
             WHERE h.ws = ?1 AND h.type = ?2 AND host_dates.date >= ?3 AND host_dates.date <= ?4
             LIMIT ?5",
            HostDate::COLUMNS
        ),
        &[&ws, &kind.id, &day(from), &day(to), &(HOST_DATES * 50)],
    )?;
    let stays = tx.all(
        &format!(
            "SELECT {} FROM booking_hosts h
             JOIN host_stays ON host_stays.ws = h.ws AND host_stays.person = h.person
             WHERE h.ws = ?1 AND h.type = ?2",
            HostStay::COLUMNS
        ),
        &[&ws, &kind.id],
    )?;
    Ok((dates, stays))
}

/// Held bookings count until their time is up. CROSS JOIN has SQLite begin with the hosts: it would
/// otherwise read every booking that there ever was.
fn bookings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (from, to): (i64, i64),
    except: Option<&BookingId>,
) -> Result<HostTimes<HostBooking>> {
    // Where no day is limited, only what reaches into the window counts.
    let around = if kind.per_day.is_some() { AROUND_MS } else { LONGEST_MS };
    let (from, to) = (from.saturating_sub(around), to.saturating_add(around));
    let mut taken = HostTimes::default();
    tx.each(
        "SELECT x.person, x.starts_at, x.ends_at, x.pad_from, x.pad_to, x.type = h.type
         FROM booking_hosts h
         CROSS JOIN host_bookings x
         WHERE h.ws = ?1 AND h.type = ?2 AND x.ws = h.ws AND x.person = h.person
           AND x.pad_to > ?3 AND x.pad_to < ?4
           AND (x.holds_until IS NULL OR x.holds_until > ?5) AND x.booking <> ?6",
        &[
            &cx.actor.ws,
            &kind.id,
            &from,
            &(to + LONGEST_MS),
            &cx.now,
            &except.map_or("", BookingId::as_str),
        ],
        |row| {
            let bookings = taken.of_next(row)?;
            bookings.push(HostBooking {
                range: TimeRange::new(timestamp(row.take()?), timestamp(row.take()?)),
                padded: TimeRange::new(timestamp(row.take()?), timestamp(row.take()?)),
                is_same_type: row.take()?,
            });
            Ok(())
        },
    )?;
    Ok(taken)
}

/// Hosts with a calendar that could not be read for so long that their busy times are not known.
fn stale_hosts(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: &BookingType) -> Result<Vec<UserId>> {
    let rows: Vec<(UserId,)> = tx.all(
        "SELECT c.person FROM booking_hosts h
         JOIN busy_calendars c ON c.ws = h.ws AND c.person = h.person
         WHERE h.ws = ?1 AND h.type = ?2 AND coalesce(c.fetched_at, c.created_at) <= ?3",
        &[&cx.actor.ws, &kind.id, &(cx.now - CALENDAR_STALE_MS)],
    )?;
    Ok(rows.into_iter().map(|(person,)| person).collect())
}

fn no_hours() -> HostHours {
    HostHours::new(TimeZone::UTC, WeeklyHours::default())
}

fn slot_error(error: calendar::SlotError) -> Error {
    match error {
        calendar::SlotError::TooManyDays => {
            Error::invalid("to", format!("must be at most {SLOT_DAYS} days after from"))
        }
        calendar::SlotError::TooManyHosts | calendar::SlotError::Rules => {
            Error::Files(std::io::Error::other("a booking type has rules that cannot be used"))
        }
    }
}
