//! The secret address at which a host's calendar program subscribes to their bookings. Only a hash of the
//! secret is kept, and a new address ends the one before.

use base::actor::{Actor, Circle, Circles};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{UserId, WorkspaceId};
use base::limits::DAY_MS;
use calendar::{BookingFeed, BookingFeedEntry, BookingFeedStatus, TimeRange};
use db::Tx;
use model::guests::guest_tokens::GuestToken;

use super::{Booking, BookingFilter, BookingStatus, hours, list, timestamp};

/// Bookings in a feed, and days before today that it reaches back.
const ENTRIES: i64 = 500;
const DAYS_BACK: i64 = 30;
/// How often programs are asked to look, in minutes.
const REFRESH_MINUTES: u32 = 15;

/// The address of somebody's feed, if they have made one.
pub fn url(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<Option<String>> {
    let found: Option<(i64, bool)> = tx.opt(
        "SELECT feed_generation, feed_hash IS NOT NULL FROM hosts WHERE ws = ?1 AND person = ?2",
        &[&cx.actor.ws, person],
    )?;
    let Some((generation, true)) = found else { return Ok(None) };
    let token = token(tx, cx, person, generation)?;
    Ok(Some(format!("{}/calendar/feed/{}", cx.public_url, token.as_str())))
}

/// Gives somebody a new address; the one before leads nowhere.
pub fn renew(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    hours::ensure(tx, cx.actor.ws, person)?;
    let (generation,): (i64,) = tx.one(
        "UPDATE hosts SET feed_generation = feed_generation + 1
         WHERE ws = ?1 AND person = ?2 RETURNING feed_generation",
        &[&cx.actor.ws, person],
    )?;
    let token = token(tx, cx, person, generation)?;
    tx.exec(
        "UPDATE hosts SET feed_hash = ?3 WHERE ws = ?1 AND person = ?2",
        &[&cx.actor.ws, person, &token.hash()],
    )?;
    Ok(())
}

/// The feed behind an address, as iCalendar. Titles name the type, never the customer's words.
pub fn at(tx: &mut Tx<'_>, app: &App, token: &str) -> Result<String> {
    let missing = || Error::NotFound("page");
    let token = GuestToken::parse(token).ok_or_else(missing)?;
    let found: Option<(i64, UserId)> = tx.opt(
        "SELECT h.ws, h.person FROM hosts h
         JOIN users u ON u.ws = h.ws AND u.id = h.person WHERE h.feed_hash = ?1",
        &[&token.hash()],
    )?;
    let (ws, person) = found.ok_or_else(missing)?;
    let (workspace, name): (WorkspaceId, String) =
        tx.one("SELECT id, name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let mut actor = Actor::for_guest(tx, ws, workspace, Circle::team())?;
    actor.circles = Circles::of_person(tx, ws, &person)?;
    let now = app.clock.now();
    let filter = BookingFilter {
        from: Some(now - DAYS_BACK * DAY_MS),
        host: Some(&person),
        ..BookingFilter::default()
    };
    let bookings = list(tx, &actor, &filter, ENTRIES)?;
    let is_shown =
        |one: &&Booking| one.rescheduled_to.is_none() && one.status != BookingStatus::Held;
    let shown: Vec<&Booking> = bookings.iter().filter(is_shown).collect();
    let links: Vec<String> =
        shown.iter().map(|one| format!("{}/calendar/{}", app.public_url, one.id)).collect();
    let entries: Vec<BookingFeedEntry<'_>> = shown
        .iter()
        .zip(&links)
        .map(|(booking, link)| BookingFeedEntry {
            uid: &booking.uid,
            sequence: u32::try_from(booking.sequence).unwrap_or(0),
            stamp: timestamp(booking.created_at),
            range: TimeRange::new(timestamp(booking.starts_at), timestamp(booking.ends_at)),
            status: match booking.status {
                BookingStatus::Held => BookingFeedStatus::Held,
                BookingStatus::Booked => BookingFeedStatus::Booked,
                BookingStatus::Cancelled => BookingFeedStatus::Cancelled,
            },
            summary: &booking.type_name,
            location: Some(booking.place.as_str()).filter(|place| !place.is_empty()),
            description: None,
            url: Some(link.as_str()),
        })
        .collect();
    let name = format!("Bookings, {name}");
    let feed = BookingFeed { name: &name, refresh_minutes: REFRESH_MINUTES, entries: &entries };
    Ok(calendar::booking_feed(&feed))
}

fn token(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, generation: i64) -> Result<GuestToken> {
    GuestToken::derive(tx, cx, &format!("feed {person} {generation}"))
}
