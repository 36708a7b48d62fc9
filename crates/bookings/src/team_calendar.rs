//! What the team's calendar shows beside appointments: whose can be looked at alone, who else is there, and how
//! many there are of each type.

use std::collections::HashMap;

use base::actor::Actor;
use base::error::Result;
use base::ids::{BookingId, BookingTypeId, UserId};
use base::limits::{BOOKING_TYPES, DAY_MS};
use db::Tx;

db::row! {
    /// Somebody whose appointments can be looked at alone.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CalendarHost from "u" {
        pub id: UserId,
        pub name: String,
    }
}

/// The hosts of the team's types, by name.
pub fn hosts(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<CalendarHost>> {
    let mut found: Vec<CalendarHost> = tx.all(
        &format!(
            "SELECT DISTINCT {} FROM booking_types t
             JOIN booking_hosts h ON h.ws = t.ws AND h.type = t.id
             JOIN users u ON u.ws = h.ws AND u.id = h.person
             WHERE t.ws = ?1 AND t.circle = 'team' LIMIT ?2",
            CalendarHost::COLUMNS
        ),
        &[&ws, &(BOOKING_TYPES * calendar::limits::SLOT_HOSTS as i64)],
    )?;
    found.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    Ok(found)
}

/// A person of the team, whether they are a host or have been one.
pub fn host(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Option<CalendarHost>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM users u WHERE u.ws = ?1 AND u.id = ?2", CalendarHost::COLUMNS),
        &[&ws, person],
    )?)
}

/// The names of those who are at an appointment beside its host, for appointments that the actor may see
/// between two moments.
pub fn other_hosts(
    tx: &mut Tx<'_>,
    actor: &Actor,
    (from, to): (i64, i64),
) -> Result<HashMap<BookingId, Vec<String>>> {
    let (first, second) = actor.circles.pair();
    let rows: Vec<(BookingId, String)> = tx.all(
        // CROSS JOIN has SQLite begin with the appointments of the time.
        "SELECT x.booking, u.name FROM bookings b
         CROSS JOIN host_bookings x
         CROSS JOIN users u
         WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND b.starts_at >= ?4 AND b.starts_at < ?5
           AND x.ws = b.ws AND x.booking = b.id AND x.person <> b.host
           AND u.ws = x.ws AND u.id = x.person",
        // Appointments are shorter than a day.
        &[&actor.ws, first, second, &from.saturating_sub(DAY_MS), &to],
    )?;
    let mut others: HashMap<BookingId, Vec<String>> = HashMap::new();
    for (booking, name) in rows {
        others.entry(booking).or_default().push(name);
    }
    for names in others.values_mut() {
        names.sort();
    }
    Ok(others)
}

/// How many appointments of each type that the actor may see start between two moments.
pub fn booked_by_type(
    tx: &mut Tx<'_>,
    actor: &Actor,
    (from, to): (i64, i64),
) -> Result<HashMap<BookingTypeId, i64>> {
    let (first, second) = actor.circles.pair();
    let rows: Vec<(BookingTypeId, i64)> = tx.all(
        "SELECT b.type, CAST(count(*) AS BIGINT) FROM bookings b
         WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND b.starts_at >= ?4 AND b.starts_at < ?5
           AND b.status = 'booked'
         GROUP BY b.type",
        &[&actor.ws, first, second, &from, &to],
    )?;
    Ok(rows.into_iter().collect())
}
