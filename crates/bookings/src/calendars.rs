//! Calendars that say when a host is busy: subscribed to by address (ICS), or read with an app password
//! (CalDAV). Addresses and passwords are sealed.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{BookingTypeId, BusyCalendarId, UserId};
use base::limits::{
    BUSY_CALENDARS, BUSY_DAYS_BEFORE, BUSY_DAYS_KEPT, CALENDAR_EVERY_MS, CALENDAR_WARNING_MS,
    DAY_MS, WEBHOOK_URL_CHARS, thousands,
};
use base::string_enum::string_enum;
use base::workspaces::samples::refuse_in_sample;
use calendar::{BusyQuery, TimeRange};
use db::Tx;
use model::installation::sealing;
use model::people::notices::{self, Notice};

use super::host_times::HostTimes;
use super::{hours, mail, timestamp, zone_or_utc};

/// Characters of a user name or an app password.
const CREDENTIAL_CHARS: usize = 500;
/// Busy times of one calendar.
const BUSY_TIMES: usize = 20_000;

string_enum! {
    /// How a calendar is read.
    CalendarKind { Ics = "ics", CalDav = "caldav" }
}

/// A calendar that somebody subscribes to.
#[derive(Clone)]
pub struct NewCalendar {
    pub kind: CalendarKind,
    pub address: String,
    pub user: String,
    pub password: String,
}

base::debug_without_secrets!(NewCalendar { kind });

db::row! {
    /// A calendar as its host sees it.
    #[derive(Clone, Debug)]
    pub struct BusyCalendar from "c" {
        pub id: BusyCalendarId,
        pub person: UserId,
        pub kind: CalendarKind,
        pub title: String,
        pub fetched_at: Option<i64>,
        pub failing_since: Option<i64>,
        pub problem: String,
    }
}

/// What is needed to read a calendar.
#[derive(Clone)]
pub struct CalendarSource {
    pub kind: CalendarKind,
    pub address: String,
    pub user: String,
    pub password: String,
    /// Of the version that was read last; empty before.
    pub etag: String,
}

base::debug_without_secrets!(CalendarSource { kind });

/// What a calendar's server answered.
#[derive(Clone, Debug)]
pub enum CalendarAnswer {
    /// It has not changed since it was last read.
    Unchanged,
    Feed {
        bytes: Vec<u8>,
        etag: String,
    },
    /// A sentence for the host that names no secret.
    Failed(String),
}

/// Subscribes somebody to a calendar; it is read at once.
pub fn add(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    new: &NewCalendar,
) -> Result<BusyCalendarId> {
    let ws = cx.actor.ws;
    refuse_in_sample(tx, ws)?;
    let address = new.address.trim().replacen("webcal://", "https://", 1);
    let parsed = url::Url::parse(&address).ok();
    let parsed = parsed.filter(|url| matches!(url.scheme(), "http" | "https"));
    let host = parsed.as_ref().and_then(|url| url.host_str()).map(str::to_owned);
    let Some(host) = host.filter(|_| address.chars().count() <= WEBHOOK_URL_CHARS) else {
        return Err(Error::invalid("url", "must be the address of a calendar"));
    };
    if new.kind == CalendarKind::CalDav && (new.user.is_empty() || new.password.is_empty()) {
        return Err(Error::invalid("user", "and an app password are needed for CalDAV"));
    }
    let is_long = |text: &String| text.chars().count() > CREDENTIAL_CHARS;
    if is_long(&new.user) || is_long(&new.password) {
        return Err(Error::invalid("user", "is too long"));
    }
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM busy_calendars WHERE ws = ?1 AND person = ?2",
        &[&ws, person],
    )?;
    if count >= BUSY_CALENDARS {
        let sentence = format!("There are {BUSY_CALENDARS} calendars already. Remove one first.");
        return Err(Error::invalid("url", sentence));
    }
    hours::ensure(tx, ws, person)?;
    let id = BusyCalendarId::new(cx.ids, cx.now);
    let sealed_address = sealing::seal(cx, &sealing::calendar_purpose(ws, &id), &address);
    let sealed_password = sealing::seal(cx, &sealing::calendar_purpose(ws, &id), &new.password);
    tx.exec(
        "INSERT INTO busy_calendars (
            ws, id, person, kind, title, address, username, password, etag, next_fetch_at, problem,
            host_told, created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', ?9, '', FALSE, ?9)",
        &[
            &ws,
            &id,
            person,
            &new.kind,
            &host,
            &sealed_address,
            &new.user,
            &sealed_password,
            &cx.now,
        ],
    )?;
    tx.wake(Queue::BusyCalendars);
    Ok(id)
}

/// Forgets a calendar and the times that it was busy.
pub fn remove(tx: &mut Tx<'_>, ws: i64, person: &UserId, id: &BusyCalendarId) -> Result<()> {
    let removed = tx.exec(
        "DELETE FROM busy_calendars WHERE ws = ?1 AND id = ?2 AND person = ?3",
        &[&ws, id, person],
    )?;
    if removed == 0 {
        return Err(Error::NotFound("calendar"));
    }
    tx.exec(
        "DELETE FROM busy_times WHERE ws = ?1 AND person = ?2 AND calendar = ?3",
        &[&ws, person, id],
    )?;
    hours::bump(tx, ws, person)
}

/// The calendars of somebody, the oldest first.
pub fn of_person(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Vec<BusyCalendar>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM busy_calendars c WHERE c.ws = ?1 AND c.person = ?2
             ORDER BY c.id LIMIT ?3",
            BusyCalendar::COLUMNS
        ),
        &[&ws, person, &BUSY_CALENDARS],
    )?)
}

db::row! {
    struct SourceRow from "c" {
        kind: CalendarKind,
        address: String,
        username: String,
        password: String,
        etag: String,
    }
}

/// What is needed to read a calendar; `None` when it is gone.
pub fn source(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BusyCalendarId) -> Result<Option<CalendarSource>> {
    let found: Option<SourceRow> = tx.opt(
        &format!(
            "SELECT {} FROM busy_calendars c WHERE c.ws = ?1 AND c.id = ?2",
            SourceRow::COLUMNS
        ),
        &[&cx.actor.ws, id],
    )?;
    let Some(row) = found else { return Ok(None) };
    let purpose = sealing::calendar_purpose(cx.actor.ws, id);
    Ok(Some(CalendarSource {
        kind: row.kind,
        address: sealing::unseal(cx.sealer, &purpose, row.address)?,
        user: row.username,
        password: sealing::unseal(cx.sealer, &purpose, row.password)?,
        etag: row.etag,
    }))
}

/// The busy times of a feed, as its host's. Reading takes processor time, so this has no transaction.
pub fn busy_ranges(
    feed: &[u8],
    zone: &str,
    email: &str,
    public_url: &str,
    now: i64,
) -> Result<Vec<(i64, i64)>, String> {
    let domain = format!("@{}", mail::uid_domain(public_url));
    let is_own_uid = |uid: &str| uid.starts_with("bkg_") && uid.ends_with(&domain);
    let zone = zone_or_utc(zone);
    let from = now - BUSY_DAYS_BEFORE * DAY_MS;
    let query = BusyQuery {
        window: TimeRange::new(timestamp(from), timestamp(now + BUSY_DAYS_KEPT * DAY_MS)),
        host_zone: &zone,
        host_addresses: &[email],
        is_own_uid: &is_own_uid,
    };
    let busy = calendar::busy_times(feed, &query).map_err(|error| error.to_string())?;
    let range = |range: TimeRange| (range.start.as_millisecond(), range.end.as_millisecond());
    let mut ranges: Vec<(i64, i64)> = busy.intervals.iter().map(|one| range(one.range)).collect();
    ranges.sort_unstable();
    let merged = merge_ranges(&ranges);
    if merged.len() > BUSY_TIMES {
        return Err(format!("It has more than {} busy times.", thousands(BUSY_TIMES)));
    }
    Ok(merged)
}

/// Sorted ranges, those that touch as one.
fn merge_ranges(ranges: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if *start <= last.1 => last.1 = last.1.max(*end),
            _ => merged.push((*start, *end)),
        }
    }
    merged
}

db::row! {
    /// A time at which a host is busy by their calendars: who and when, never why.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HostBusyTime from "x" {
        pub person: UserId,
        pub name: String = "coalesce(u.name, '')",
        pub starts_at: i64,
        pub ends_at: i64,
    }
}

/// When the hosts of a type are busy between two moments.
pub(super) fn busy_hosts_of_type(
    tx: &mut Tx<'_>,
    ws: i64,
    kind: &BookingTypeId,
    (from, to): (i64, i64),
) -> Result<HostTimes<TimeRange>> {
    let hosts = "SELECT ws, person FROM booking_hosts WHERE ws = ?1 AND type = ?4";
    let sql = busy_between(hosts, "x.person, x.starts_at, x.ends_at", "");
    let mut busy = HostTimes::default();
    tx.each(&sql, &[&ws, &from, &to, kind], |row| {
        let times = busy.of_next(row)?;
        times.push(TimeRange::new(timestamp(row.take()?), timestamp(row.take()?)));
        Ok(())
    })?;
    Ok(busy)
}

/// When the hosts of the team's types are busy between two moments, by person and time. Times of
/// several calendars that meet are one.
pub fn busy_team(tx: &mut Tx<'_>, ws: i64, (from, to): (i64, i64)) -> Result<Vec<HostBusyTime>> {
    let hosts = "SELECT DISTINCT b.ws, b.person FROM booking_types t
                 JOIN booking_hosts b ON b.ws = t.ws AND b.type = t.id
                 WHERE t.ws = ?1 AND t.circle = 'team'";
    let names = "LEFT JOIN users u ON u.ws = x.ws AND u.id = x.person";
    let sql = busy_between(hosts, HostBusyTime::COLUMNS, names);
    let mut found: Vec<HostBusyTime> = tx.all(&sql, &[&ws, &from, &to])?;
    found.sort_by(|a, b| (&a.person, a.starts_at).cmp(&(&b.person, b.starts_at)));
    let mut apart: Vec<HostBusyTime> = Vec::new();
    for one in found {
        match apart.last_mut() {
            Some(last) if last.person == one.person && one.starts_at <= last.ends_at => {
                last.ends_at = last.ends_at.max(one.ends_at);
            }
            _ => apart.push(one),
        }
    }
    Ok(apart)
}

/// The busy times of some hosts after ?2 and before ?3. Those of one calendar do not overlap, so only the
/// first that ends after ?3 can begin before it; the year after that is not read. CROSS JOIN has SQLite
/// begin with the hosts, whatever it takes for the shortest way.
fn busy_between(hosts: &str, columns: &str, names: &str) -> String {
    format!(
        "SELECT {columns} FROM ({hosts}) h
         CROSS JOIN busy_times x
         {names}
         WHERE x.ws = h.ws AND x.person = h.person AND x.ends_at > ?2 AND x.ends_at <= ?3
         UNION ALL
         SELECT {columns} FROM ({hosts}) h
         CROSS JOIN busy_calendars c
         CROSS JOIN busy_times x
         {names}
         WHERE c.ws = h.ws AND c.person = h.person
           AND x.ws = c.ws AND x.person = c.person AND x.calendar = c.id
           AND x.ends_at = (
               SELECT min(y.ends_at) FROM busy_times y
               WHERE y.ws = c.ws AND y.person = c.person AND y.calendar = c.id AND y.ends_at > ?3
           )
           AND x.starts_at < ?3"
    )
}

/// What reading a calendar came to.
pub enum CalendarOutcome {
    Unchanged,
    Busy { ranges: Vec<(i64, i64)>, etag: String },
    Failed(String),
}

/// Records what reading a calendar came to, and when it is read next.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &BusyCalendarId,
    outcome: &CalendarOutcome,
) -> Result<()> {
    let ws = cx.actor.ws;
    let next = cx.now + CALENDAR_EVERY_MS;
    if let CalendarOutcome::Failed(problem) = outcome {
        tx.exec(
            "UPDATE busy_calendars
             SET failing_since = coalesce(failing_since, ?3), problem = ?4, next_fetch_at = ?5
             WHERE ws = ?1 AND id = ?2",
            &[&ws, id, &cx.now, problem, &next],
        )?;
        return warn(tx, cx, id);
    }
    // Days come into reach of an unchanged calendar too, so once a day all of it is read.
    let read: Option<(UserId,)> = tx.opt(
        "UPDATE busy_calendars
         SET failing_since = NULL, problem = '', host_told = FALSE, fetched_at = ?3,
             next_fetch_at = ?4,
             etag = CASE WHEN fetched_at < ?5 THEN '' ELSE etag END
         WHERE ws = ?1 AND id = ?2 RETURNING person",
        &[&ws, id, &cx.now, &next, &(cx.now - cx.now % DAY_MS)],
    )?;
    let (Some((person,)), CalendarOutcome::Busy { ranges, etag }) = (read, outcome) else {
        return Ok(());
    };
    tx.exec("UPDATE busy_calendars SET etag = ?3 WHERE ws = ?1 AND id = ?2", &[&ws, id, etag])?;
    let before: Vec<(i64, i64)> = tx.all(
        "SELECT starts_at, ends_at FROM busy_times
         WHERE ws = ?1 AND person = ?2 AND calendar = ?3 ORDER BY starts_at, ends_at",
        &[&ws, &person, id],
    )?;
    if before == *ranges {
        return Ok(());
    }
    tx.exec(
        "DELETE FROM busy_times WHERE ws = ?1 AND person = ?2 AND calendar = ?3",
        &[&ws, &person, id],
    )?;
    for (starts_at, ends_at) in ranges {
        tx.exec(
            "INSERT INTO busy_times (ws, person, calendar, ends_at, starts_at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            &[&ws, &person, id, ends_at, starts_at],
        )?;
    }
    hours::bump(tx, ws, &person)
}

/// Tells a host once that a calendar of theirs cannot be read.
fn warn(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BusyCalendarId) -> Result<()> {
    let due: Option<(UserId, String, String)> = tx.opt(
        "UPDATE busy_calendars SET host_told = TRUE
         WHERE ws = ?1 AND id = ?2 AND host_told = FALSE AND failing_since <= ?3
         RETURNING person, title, problem",
        &[&cx.actor.ws, id, &(cx.now - CALENDAR_WARNING_MS)],
    )?;
    let Some((person, title, problem)) = due else { return Ok(()) };
    let text = format!(
        "Hello,\n\nyour calendar at {title} could not be read for an hour: {problem}\n\nUntil it can \
         be read again, times that you are busy may be offered. After a day without it you are not \
         offered at all.\n\nLook at it here: {}/settings/bookings\n",
        cx.public_url
    );
    let notice = Notice { subject: "Your calendar cannot be read", text: &text };
    notices::notify(tx, cx, &person, &notice)
}
