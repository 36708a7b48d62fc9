//! When a person can be booked: weekly hours in their zone, dates that differ, stays elsewhere.

use std::collections::HashMap;

use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::UserId;
use base::limits::{HOST_DATES, HOST_STAYS, WEEKLY_HOURS_CHARS};
use base::time::is_date;
use calendar::{HostHours, TravelStay, clock_ranges, zone_named};
use db::Tx;
use jiff::civil::Date;
use model::mailboxes::weekly_hours;

/// Characters of a note on a date.
const NOTE_CHARS: usize = 100;

db::row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HostWeek from "hosts" {
        pub zone: String,
        pub weekly: String,
        /// The place whose public holidays are days off; empty for none.
        pub holidays: String,
    }
}

db::row! {
    /// A date with hours of its own; without any it is a day off.
    #[derive(Clone, Debug)]
    pub struct HostDate from "host_dates" {
        pub person: UserId,
        pub date: String,
        pub hours: String,
        pub note: String,
    }
}

db::row! {
    /// Days in another zone, the last included.
    #[derive(Clone, Debug)]
    pub struct HostStay from "host_stays" {
        pub person: UserId,
        pub first_date: String,
        pub last_date: String,
        pub zone: String,
    }
}

/// The hours that somebody set; `None` before they did.
pub fn of_person(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Option<HostWeek>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM hosts WHERE ws = ?1 AND person = ?2", HostWeek::COLUMNS),
        &[&ws, person],
    )?)
}

/// The row that bookings of a person are counted in, without hours before they set some.
pub(super) fn ensure(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<()> {
    tx.exec(
        "INSERT INTO hosts (ws, person, zone, weekly, revision, feed_generation)
         VALUES (?1, ?2, 'UTC', '', 0, 1) ON CONFLICT (ws, person) DO NOTHING",
        &[&ws, person],
    )?;
    Ok(())
}

/// Sets zone and weekly hours, written as `mon-fri 09:00-12:00,13:00-17:00`, with the names of days in any
/// language of the app.
pub fn set(tx: &mut Tx<'_>, ws: i64, person: &UserId, zone: &str, weekly: &str) -> Result<()> {
    let zone = known_zone(zone)?;
    if weekly.chars().count() > WEEKLY_HOURS_CHARS {
        return Err(Error::invalid("weekly", "is too long"));
    }
    let weekly = weekly_hours::read(weekly).map_err(|error| invalid("weekly", error))?;
    ensure(tx, ws, person)?;
    tx.exec(
        "UPDATE hosts SET zone = ?3, weekly = ?4, revision = revision + 1
         WHERE ws = ?1 AND person = ?2",
        &[&ws, person, &zone, &weekly.to_string()],
    )?;
    // Whole days of their calendars are days of their zone, so these are read again.
    tx.exec(
        "UPDATE busy_calendars SET etag = '', next_fetch_at = 0 WHERE ws = ?1 AND person = ?2",
        &[&ws, person],
    )?;
    tx.wake(Queue::BusyCalendars);
    Ok(())
}

/// Sets whose public holidays are days off: a code such as `DE-BY`, or nothing.
pub fn set_holidays(tx: &mut Tx<'_>, ws: i64, person: &UserId, place: &str) -> Result<()> {
    if !place.is_empty() && calendar::holiday_place(place).is_none() {
        return Err(Error::invalid(
            "holidays",
            "must be a country or a part of one, such as DE-BY",
        ));
    }
    ensure(tx, ws, person)?;
    tx.exec(
        "UPDATE hosts SET holidays = ?3, revision = revision + 1 WHERE ws = ?1 AND person = ?2",
        &[&ws, person, &place],
    )?;
    Ok(())
}

/// Gives a date hours of its own; none make it a day off.
pub fn set_date(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    date: &str,
    hours: &str,
    note: &str,
) -> Result<()> {
    if !is_date(date) {
        return Err(Error::invalid("date", "must be a date such as 2026-11-30"));
    }
    let ranges = clock_ranges(hours).map_err(|error| invalid("hours", error))?;
    let hours: Vec<String> = ranges.iter().map(ToString::to_string).collect();
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM host_dates WHERE ws = ?1 AND person = ?2",
        &[&ws, person],
    )?;
    if count >= HOST_DATES {
        let sentence = format!("there are {HOST_DATES} already; remove one first");
        return Err(Error::invalid("date", sentence));
    }
    ensure(tx, ws, person)?;
    let note: String = note.trim().chars().take(NOTE_CHARS).collect();
    tx.exec(
        "INSERT INTO host_dates (ws, person, date, hours, note) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, person, date) DO UPDATE SET hours = excluded.hours, note = excluded.note",
        &[&ws, person, &date, &hours.join(","), &note],
    )?;
    bump(tx, ws, person)
}

pub fn remove_date(tx: &mut Tx<'_>, ws: i64, person: &UserId, date: &str) -> Result<()> {
    tx.exec(
        "DELETE FROM host_dates WHERE ws = ?1 AND person = ?2 AND date = ?3",
        &[&ws, person, &date],
    )?;
    bump(tx, ws, person)
}

/// Sets days in another zone.
pub fn set_stay(tx: &mut Tx<'_>, ws: i64, stay: &HostStay) -> Result<()> {
    if !is_date(&stay.first_date) || !is_date(&stay.last_date) || stay.last_date < stay.first_date {
        return Err(Error::invalid("dates", "must be two dates, the later one last"));
    }
    let zone = known_zone(&stay.zone)?;
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM host_stays WHERE ws = ?1 AND person = ?2",
        &[&ws, &stay.person],
    )?;
    if count >= HOST_STAYS {
        let sentence = format!("there are {HOST_STAYS} already; remove one first");
        return Err(Error::invalid("dates", sentence));
    }
    ensure(tx, ws, &stay.person)?;
    tx.exec(
        "INSERT INTO host_stays (ws, person, first_date, last_date, zone)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, person, first_date)
         DO UPDATE SET last_date = excluded.last_date, zone = excluded.zone",
        &[&ws, &stay.person, &stay.first_date, &stay.last_date, &zone],
    )?;
    bump(tx, ws, &stay.person)
}

pub fn remove_stay(tx: &mut Tx<'_>, ws: i64, person: &UserId, first_date: &str) -> Result<()> {
    tx.exec(
        "DELETE FROM host_stays WHERE ws = ?1 AND person = ?2 AND first_date = ?3",
        &[&ws, person, &first_date],
    )?;
    bump(tx, ws, person)
}

/// Makes everybody who is about to book this person look again.
pub(super) fn bump(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<()> {
    tx.exec(
        "UPDATE hosts SET revision = revision + 1 WHERE ws = ?1 AND person = ?2",
        &[&ws, person],
    )?;
    Ok(())
}

pub fn dates(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Vec<HostDate>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM host_dates WHERE ws = ?1 AND person = ?2 ORDER BY date LIMIT ?3",
            HostDate::COLUMNS
        ),
        &[&ws, person, &HOST_DATES],
    )?)
}

pub fn stays(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Vec<HostStay>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM host_stays WHERE ws = ?1 AND person = ?2 ORDER BY first_date LIMIT ?3",
            HostStay::COLUMNS
        ),
        &[&ws, person, &HOST_STAYS],
    )?)
}

/// A host's hours from zone and week, for arithmetic. Unreadable ones are an error.
pub(super) fn parse(zone: &str, weekly: &str) -> Result<HostHours> {
    let unreadable = |what: &str| Error::Files(std::io::Error::other(format!("a host's {what}")));
    let zone = zone_named(zone).ok_or_else(|| unreadable("zone is not known"))?;
    let weekly = weekly.parse().map_err(|_| unreadable("hours cannot be read"))?;
    Ok(HostHours::new(zone, weekly))
}

/// Adds dates and stays to the hours of their people.
pub(super) fn refine(
    hours: &mut HashMap<UserId, HostHours>,
    dates: Vec<HostDate>,
    stays: Vec<HostStay>,
) {
    for one in dates {
        let (Ok(date), Ok(ranges)) = (one.date.parse::<Date>(), clock_ranges(&one.hours)) else {
            continue;
        };
        if let Some(hours) = hours.get_mut(&one.person) {
            hours.dates.insert(date, ranges);
        }
    }
    for stay in stays {
        let parsed = (stay.first_date.parse(), stay.last_date.parse(), zone_named(&stay.zone));
        let (Ok(first), Ok(last), Some(zone)) = parsed else { continue };
        if let Some(hours) = hours.get_mut(&stay.person) {
            hours.stays.push(TravelStay { first, last, zone });
        }
    }
}

fn known_zone(name: &str) -> Result<String> {
    let zone = zone_named(name.trim());
    let unknown = || Error::invalid("zone", "must be a time zone such as Europe/Berlin");
    let zone = zone.ok_or_else(unknown)?;
    Ok(zone.iana_name().unwrap_or("UTC").to_owned())
}

fn invalid(field: &str, error: calendar::HoursError) -> Error {
    Error::invalid(field, error.sentence())
}
