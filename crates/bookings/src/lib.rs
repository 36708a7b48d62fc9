//! Bookings: appointments that customers pick, from a reply or a page.
//!
//! | file | contents |
//! |---|---|
//! | `types` | what can be booked, and who is there |
//! | `hours` | when a person can be booked |
//! | `availability` | the times that are free now |
//! | `booking` | making, proving, moving and cancelling a booking |
//! | `agent_acts` | what agents do to bookings, as long as it can be stopped |
//! | `booking_events` | what is told of it to its conversation and to webhooks |
//! | `guest` | who may book at once, and who has to prove their address |
//! | `offers` | times that a reply offers |
//! | `mail` | what guest and host are told |
//! | `mail_words` | the sentences of that |
//! | `entries` | the entry of a booking in calendars |
//! | `feed` | the address at which a host subscribes to their bookings |
//! | `calendars` | calendars that say when a host is busy |
//! | `freshness` | reading them once more just before a booking |
//! | `team_calendar` | what the team's calendar shows beside appointments |

pub mod agent_acts;
pub mod availability;
pub mod booking;
mod booking_events;
pub mod calendars;
pub mod entries;
pub mod feed;
mod freshness;
pub mod guest;
mod host_times;
pub mod hours;
pub mod mail;
pub mod mail_words;
pub mod offers;
pub mod team_calendar;
pub mod types;

pub use freshness::freshen_calendars;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, BookingTypeId, ConversationId, UserId};
use base::limits::HOUR_MS;
use base::string_enum::string_enum;
use db::{Json, Tx};
use jiff::Timestamp;
use model::guests::guest_tokens::{GuestToken, GuestTokenHash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

string_enum! {
    /// `held` is a booking whose guest has not yet proven their address.
    BookingStatus { Held = "held", Booked = "booked", Cancelled = "cancelled" }
}

/// What a guest answered to one of a type's questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BookingAnswer {
    pub question: String,
    pub answer: String,
}

db::row! {
    /// A booking with the names of its type and host.
    #[derive(Clone, Debug)]
    pub struct Booking from "b" {
        pub id: BookingId,
        pub circle: Circle,
        pub type_id: BookingTypeId = "b.type",
        pub type_name: String = "coalesce(t.name, '')",
        pub host: UserId,
        pub host_name: String = "coalesce(u.name, s.name, '')",
        pub host_zone: String = "coalesce(s.zone, 'UTC')",
        pub conversation: Option<ConversationId>,
        pub starts_at: i64,
        pub ends_at: i64,
        pub guest_name: String,
        pub guest_email: EmailAddress,
        pub guest_zone: String,
        pub answers: Json<Vec<BookingAnswer>>,
        pub place: String,
        pub status: BookingStatus,
        pub uid: String,
        pub sequence: i64,
        /// Hours before the start until which the guest moves or cancels, as the type had it when this was
        /// made; 0: until the start.
        pub cancel_hours: i64,
        pub holds_until: Option<i64>,
        pub made_by: String,
        pub cancelled_at: Option<i64>,
        pub cancelled_by: String,
        pub reason: String,
        pub rescheduled_from: Option<BookingId>,
        pub rescheduled_to: Option<BookingId>,
        pub created_at: i64,
    }
}

impl Booking {
    /// The moment from which on the guest does not move or cancel it with the link any more. It binds
    /// guests only, never the team.
    pub fn change_until(&self) -> i64 {
        self.starts_at - self.cancel_hours * HOUR_MS
    }

    /// The guest can move or cancel it with the link.
    pub fn guest_may_change(&self, now: i64) -> bool {
        self.status == BookingStatus::Booked && self.change_until() > now
    }

    /// It is ahead, and too late for the guest to move or cancel it with the link.
    pub fn is_late_for_guest(&self, now: i64) -> bool {
        self.status == BookingStatus::Booked && self.change_until() <= now && self.starts_at > now
    }
}

/// Everything that the columns of a booking come from.
const TABLES: &str = "bookings b
    LEFT JOIN booking_types t ON t.ws = b.ws AND t.id = b.type
    LEFT JOIN users u ON u.ws = b.ws AND u.id = b.host
    LEFT JOIN hosts s ON s.ws = b.ws AND s.person = b.host";

/// A booking that the actor may see.
pub fn load(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<Booking> {
    let not_found = || Error::NotFound("booking");
    let id = BookingId::parse(id).ok_or_else(not_found)?;
    let (first, second) = actor.circles.pair();
    let found: Option<Booking> = tx.opt(
        &format!(
            "SELECT {} FROM {TABLES} WHERE b.ws = ?1 AND b.id = ?2 AND b.circle IN (?3, ?4)",
            Booking::COLUMNS
        ),
        &[&actor.ws, &id, first, second],
    )?;
    found.ok_or_else(not_found)
}

/// A booking by the token of its guest's page.
pub fn with_token(tx: &mut Tx<'_>, hash: GuestTokenHash) -> Result<Option<(i64, Booking)>> {
    let found: Option<(i64, Circle, BookingId)> =
        tx.opt("SELECT ws, circle, id FROM bookings WHERE token_hash = ?1", &[&hash])?;
    let Some((ws, circle, id)) = found else { return Ok(None) };
    let booking: Booking = tx.one(
        &format!(
            "SELECT {} FROM {TABLES} WHERE b.ws = ?1 AND b.id = ?2 AND b.circle = ?3",
            Booking::COLUMNS
        ),
        &[&ws, &id, &circle],
    )?;
    Ok(Some((ws, booking)))
}

/// Which bookings are listed.
#[derive(Clone, Debug, Default)]
pub struct BookingFilter<'a> {
    /// Those that end after this.
    pub from: Option<i64>,
    /// Those that start before this.
    pub to: Option<i64>,
    pub conversation: Option<&'a ConversationId>,
    /// Those of this person, with others or alone.
    pub host: Option<&'a UserId>,
    pub status: Option<BookingStatus>,
}

/// The bookings that the actor may see, soonest first.
pub fn list(
    tx: &mut Tx<'_>,
    actor: &Actor,
    filter: &BookingFilter<'_>,
    limit: i64,
) -> Result<Vec<Booking>> {
    let (first, second) = actor.circles.pair();
    // Appointments are shorter than a day, so an index of their starts finds those that end later.
    let from = filter.from.unwrap_or(0);
    let earliest = from.saturating_sub(base::limits::DAY_MS);
    let to = filter.to.unwrap_or(i64::MAX);
    let of_conversation = match filter.conversation {
        Some(_) => "b.conversation = ?7",
        None => "CAST(?7 AS TEXT) IS NULL",
    };
    Ok(tx.all(
        &format!(
            "SELECT {} FROM {TABLES}
             WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND b.starts_at >= ?4 AND b.starts_at < ?5
               AND b.ends_at > ?6 AND {of_conversation}
               AND (CAST(?8 AS TEXT) IS NULL OR b.status = ?8)
               AND (CAST(?9 AS TEXT) IS NULL OR b.host = ?9 OR EXISTS (
                   SELECT 1 FROM host_bookings x
                   WHERE x.ws = b.ws AND x.person = ?9 AND x.booking = b.id
               ))
             ORDER BY b.starts_at, b.id LIMIT ?10",
            Booking::COLUMNS
        ),
        &[
            &actor.ws,
            first,
            second,
            &earliest,
            &to,
            &from,
            &filter.conversation,
            &filter.status,
            &filter.host,
            &limit,
        ],
    )?)
}

/// The secret of the page where a guest moves or cancels a booking.
pub fn manage_token(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<GuestToken> {
    GuestToken::derive(tx, cx, &format!("booking {id}"))
}

/// The address of that page.
pub fn manage_url(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<String> {
    Ok(format!("{}/b/m/{}", cx.public_url, manage_token(tx, cx, id)?.as_str()))
}

/// A time as people read it: `Tuesday 24 November 2026, 10:00`.
pub fn local_time(at: i64, zone: &jiff::tz::TimeZone) -> String {
    let at = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone()).strftime("%A %-d %B %Y, %H:%M").to_string()
}

/// The zone of a name; UTC for one that nobody knows.
pub fn zone_or_utc(name: &str) -> jiff::tz::TimeZone {
    calendar::zone_named(name).unwrap_or(jiff::tz::TimeZone::UTC)
}

fn timestamp(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}
