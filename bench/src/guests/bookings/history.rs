//! A workspace whose hosts have many bookings before, and many in the month ahead.

use actions::inboxes::setup;
use base::actor::{self, Role};
use base::app::{App, Cx};
use base::ids::UserId;
use base::limits::DAY_MS;
use base::time::{Clock, SystemClock};
use bookings::types::BookingTypeInput;
use db::Tx;
use jiff::Timestamp;
use tokio::runtime::Runtime;

use crate::fill::workspace::{self, BenchDatabase, OWNER};

const QUARTER_MS: i64 = 15 * 60_000;
/// Days of the month that is asked for.
const MONTH_DAYS: i64 = 31;
/// Ten hours of quarters, from 07:00 UTC.
const DAY_STARTS: i64 = 40;
const FIRST_START: i64 = 28;
/// Of five starts these are booked.
const BOOKED_OF_FIVE: i64 = 3;
/// Busy times of each host's calendar, spread over a year.
const BUSY_TIMES: i64 = 1_000;
/// Bookings that share one transaction.
const AT_ONCE: usize = 1_000;

pub struct BookingHistory {
    pub hosts: usize,
    /// Bookings of the month ahead.
    pub ahead: usize,
    pub past: usize,
}

/// A booking to be written.
#[derive(Clone)]
struct BookedTime {
    number: usize,
    host: UserId,
    starts_at: i64,
}

impl BookingHistory {
    /// Fills a workspace; answers the path that asks for the free times of the month.
    pub fn write(&self, place: &BenchDatabase, runtime: &Runtime) -> Result<String, String> {
        let app = workspace::app(workspace::open(&place.url)?, place.folder.path())?;
        runtime.block_on(self.fill(&app)).map_err(|error| error.to_string())
    }

    async fn fill(&self, app: &App) -> base::error::Result<String> {
        let ws = app.store.read(setup::list_workspaces).await?.first().map_or(0, |one| one.ws);
        let owner = app.store.read(move |tx| actor::person(tx, ws, OWNER)).await?;
        let count = self.hosts;
        let (kind, hosts) = app.act(&owner, move |tx, cx| set_up(tx, cx, count)).await?;
        let midnight = SystemClock.now() / DAY_MS * DAY_MS;
        let booked = self.booked_times(&hosts, midnight);
        for part in booked.chunks(AT_ONCE) {
            let (part, kind) = (part.to_vec(), kind.clone());
            app.store
                .write(move |tx| part.iter().try_for_each(|one| insert(tx, ws, &kind, one)))
                .await?;
        }
        let busy = hosts.clone();
        app.store.write(move |tx| add_busy_times(tx, ws, &busy, midnight)).await?;
        let day = |at: i64| {
            Timestamp::from_millisecond(at).unwrap_or_default().strftime("%Y-%m-%d").to_string()
        };
        let (from, to) = (day(midnight), day(midnight + (MONTH_DAYS - 1) * DAY_MS));
        Ok(format!("/booking-types/{kind}/slots?from={from}&to={to}&zone=UTC"))
    }

    /// Three of five starts of each host's working days ahead; before them one after the other, so that
    /// the days just before the month are the same whatever came before those.
    fn booked_times(&self, hosts: &[UserId], midnight: i64) -> Vec<BookedTime> {
        let days = (0..MONTH_DAYS).filter(|day| ((midnight / DAY_MS + day + 3) % 7) < 5);
        let starts = days.flat_map(|day| (0..DAY_STARTS).map(move |start| (day, start)));
        let places = starts.flat_map(|(day, start)| {
            hosts.iter().zip(0..).map(move |(host, number)| (day, start, host, number))
        });
        let ahead = places
            .filter(|(day, start, _, number)| (day + start + number) % 5 < BOOKED_OF_FIVE)
            .map(|(day, start, host, _)| {
                (host.clone(), midnight + day * DAY_MS + (FIRST_START + start) * QUARTER_MS)
            })
            .take(self.ahead);
        let before = (1..).flat_map(|back| {
            hosts.iter().map(move |host| (host.clone(), midnight - back * QUARTER_MS))
        });
        let all = ahead.chain(before.take(self.past)).enumerate();
        all.map(|(number, (host, starts_at))| BookedTime { number, host, starts_at }).collect()
    }
}

/// The hosts with their hours, and the type.
fn set_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    count: usize,
) -> base::error::Result<(String, Vec<UserId>)> {
    let mut hosts = Vec::new();
    for number in 0..count {
        let email = format!("host{number}@bench.example");
        let host = setup::add_person(tx, cx, &email, &format!("Host {number}"), Role::Member)?;
        actions::bookings::set_hours(tx, cx, &host, "UTC", "mon-fri 07:00-17:00")?;
        hosts.push(host);
    }
    let input = BookingTypeInput {
        name: "A quarter".into(),
        slug: "quarter".into(),
        minutes: 15,
        hosts: hosts.clone(),
        ..BookingTypeInput::default()
    };
    Ok((actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string(), hosts))
}

fn insert(tx: &mut Tx<'_>, ws: i64, kind: &str, booked: &BookedTime) -> base::error::Result<()> {
    let BookedTime { number, host, starts_at } = booked;
    let (id, ends_at) = (format!("bkg_{number:026}"), starts_at + QUARTER_MS);
    let token: Vec<u8> = format!("{number:032}").into_bytes();
    tx.exec(
        "INSERT INTO bookings (
            ws, id, circle, type, host, starts_at, ends_at, guest_name, guest_email, guest_zone,
            answers, place, status, uid, sequence, token_hash, made_by, cancelled_by, reason,
            created_at
         ) VALUES (
            ?1, ?2, 'team', ?3, ?4, ?5, ?6, 'A guest', 'guest@customers.example', '', '[]', '',
            'booked', ?2, 0, ?7, '', '', '', ?5
         )",
        &[&ws, &id, &kind, host, starts_at, &ends_at, &token],
    )?;
    tx.exec(
        "INSERT INTO host_bookings (
            ws, person, booking, type, starts_at, ends_at, pad_from, pad_to
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5, ?6)",
        &[&ws, host, &id, &kind, starts_at, &ends_at],
    )?;
    Ok(())
}

/// A calendar of each host, read just now and not to be fetched.
fn add_busy_times(
    tx: &mut Tx<'_>,
    ws: i64,
    hosts: &[UserId],
    midnight: i64,
) -> base::error::Result<()> {
    let now = SystemClock.now();
    for (number, host) in hosts.iter().enumerate() {
        let calendar = format!("cal_{number:026}");
        tx.exec(
            "INSERT INTO busy_calendars (
                ws, id, person, kind, title, address, username, password, etag, fetched_at, problem,
                host_told, created_at
             ) VALUES (?1, ?2, ?3, 'ics', 'bench.example', '', '', '', '', ?4, '', FALSE, ?4)",
            &[&ws, &calendar, host, &now],
        )?;
        let gap = 365 * DAY_MS / BUSY_TIMES;
        for place in 0..BUSY_TIMES {
            let starts_at = midnight + place * gap;
            tx.exec(
                "INSERT INTO busy_times (ws, person, calendar, ends_at, starts_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                &[&ws, host, &calendar, &(starts_at + QUARTER_MS), &starts_at],
            )?;
        }
    }
    Ok(())
}
