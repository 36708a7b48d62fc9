//! Bookings as people set them up: types, hours, days off, calendars.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{BookingTypeId, BusyCalendarId, UserId};
use bookings::calendars::{self, NewCalendar};
use bookings::hours::{self, HostStay};
use bookings::types::{self, BookingType, BookingTypeInput};
use db::Tx;
use model::installation::audit_log::{self, Action};

/// Adds a booking type; owners and admins do.
pub fn add_booking_type(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &BookingTypeInput,
) -> Result<BookingType> {
    cx.actor.must_administer()?;
    let kind = types::add(tx, cx, input)?;
    audit_log::record(tx, cx, &Circle::team(), Action::BookingTypeAdded, &kind.name, "")?;
    Ok(kind)
}

pub fn change_booking_type(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &BookingTypeId,
    input: &BookingTypeInput,
) -> Result<BookingType> {
    cx.actor.must_administer()?;
    let before = types::load(tx, cx.actor, id.as_str())?;
    let kind = types::change(tx, cx, &before.id, input)?;
    audit_log::record(tx, cx, &Circle::team(), Action::BookingTypeChanged, &kind.name, "")?;
    Ok(kind)
}

/// Sets zone and weekly hours of a person: their own, or anybody's for owners and admins.
pub fn set_hours(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    zone: &str,
    weekly: &str,
) -> Result<()> {
    let name = must_be_own(tx, cx, person)?;
    hours::set(tx, cx.actor.ws, person, zone, weekly)?;
    audit_log::record(tx, cx, &Circle::team(), Action::BookingHoursChanged, &name, "")
}

/// Sets whose public holidays are days off of a person.
pub fn set_holidays(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, place: &str) -> Result<()> {
    must_be_own(tx, cx, person)?;
    hours::set_holidays(tx, cx.actor.ws, person, place)
}

/// Gives a date hours of its own; none make it a day off.
pub fn set_host_date(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    (date, hours): (&str, &str),
    note: &str,
) -> Result<()> {
    must_be_own(tx, cx, person)?;
    hours::set_date(tx, cx.actor.ws, person, date, hours, note)
}

pub fn remove_host_date(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, date: &str) -> Result<()> {
    must_be_own(tx, cx, person)?;
    hours::remove_date(tx, cx.actor.ws, person, date)
}

/// Sets days that a host spends in another zone.
pub fn set_host_stay(tx: &mut Tx<'_>, cx: &Cx<'_>, stay: &HostStay) -> Result<()> {
    must_be_own(tx, cx, &stay.person)?;
    hours::set_stay(tx, cx.actor.ws, stay)
}

pub fn remove_host_stay(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    first_date: &str,
) -> Result<()> {
    must_be_own(tx, cx, person)?;
    hours::remove_stay(tx, cx.actor.ws, person, first_date)
}

/// Subscribes a person to a calendar that says when they are busy.
pub fn add_busy_calendar(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    new: &NewCalendar,
) -> Result<BusyCalendarId> {
    let name = must_be_own(tx, cx, person)?;
    let id = calendars::add(tx, cx, person, new)?;
    audit_log::record(tx, cx, &Circle::team(), Action::CalendarAdded, &name, "")?;
    Ok(id)
}

pub fn remove_busy_calendar(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    id: &BusyCalendarId,
) -> Result<()> {
    let name = must_be_own(tx, cx, person)?;
    calendars::remove(tx, cx.actor.ws, person, id)?;
    audit_log::record(tx, cx, &Circle::team(), Action::CalendarRemoved, &name, "")
}

/// The person of the team at an address.
pub fn person_at(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str) -> Result<UserId> {
    let email = base::email_address::EmailAddress::new(email);
    let found: Option<(UserId,)> =
        tx.opt("SELECT id FROM users WHERE ws = ?1 AND email = ?2", &[&cx.actor.ws, &email])?;
    let nobody = || Error::invalid("hosts", format!("{email} is nobody on the team"));
    found.map(|(id,)| id).ok_or_else(nobody)
}

/// The name of a person whose hours the actor may change.
fn must_be_own(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<String> {
    let is_own = matches!(&cx.actor.who, Principal::Person { id, .. } if id == person);
    if !is_own {
        cx.actor.must_administer()?;
    }
    let found: Option<(String,)> =
        tx.opt("SELECT name FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, person])?;
    found.map(|(name,)| name).ok_or(Error::NotFound("person"))
}
