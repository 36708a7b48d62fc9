//! Guests on booking pages: who may book at once, and who has to prove their address first.

use db::Tx;

use super::booking::{self, NewBooking};
use super::types::{self, BookingType};
use super::{Booking, BookingStatus, load, mail, offers, with_token};
use crate::app::Cx;
use crate::base::actor::{Actor, Circle};
use crate::base::email_address::EmailAddress;
use crate::base::error::{Error, Result};
use crate::base::ids::{BookingId, WorkspaceId};
use crate::base::limits::{BOOKING_HOLD_MS, DAY_MS, HOLDS_PER_ADDRESS};
use crate::model::conversations;
use crate::model::guest_tokens::{GuestToken, GuestTokenHash};
use crate::model::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest};

/// Times that one client network holds while one is held.
const HOLDS_PER_NETWORK: i64 = 5;

/// A workspace whose page guests opened.
#[derive(Clone, Debug)]
pub struct GuestWorkspace {
    pub name: String,
    pub slug: String,
    /// Mailroom at work for the team, or for whom the guest's own link belongs to.
    pub actor: Actor,
}

/// The workspace at an address.
pub fn workspace_at(tx: &mut Tx<'_>, slug: &str) -> Result<GuestWorkspace> {
    let found: Option<(i64,)> = tx.opt("SELECT ws FROM workspaces WHERE slug = ?1", &[&slug])?;
    let (ws,) = found.ok_or(Error::NotFound("page"))?;
    workspace(tx, ws, Circle::team())
}

fn workspace(tx: &mut Tx<'_>, ws: i64, circle: Circle) -> Result<GuestWorkspace> {
    let (id, name, slug): (WorkspaceId, String, String) =
        tx.one("SELECT id, name, slug FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(GuestWorkspace { name, slug, actor: Actor::system(ws, id, circle) })
}

/// The types on a workspace's page, by name.
pub fn listed_types(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<BookingType>> {
    let all = types::list(tx, actor)?;
    Ok(all.into_iter().filter(|kind| kind.active && kind.listed).collect())
}

/// A booking with its workspace and type, for the guest who has its link.
pub struct GuestBooking {
    pub workspace: GuestWorkspace,
    pub kind: BookingType,
    pub booking: Booking,
}

/// The booking behind a guest's link.
pub fn booking_at(tx: &mut Tx<'_>, token: &str, now: i64) -> Result<GuestBooking> {
    let missing = || Error::NotFound("page");
    let token = GuestToken::parse(token).ok_or_else(missing)?;
    let (ws, booking) = with_token(tx, token.hash())?.ok_or_else(missing)?;
    if booking.status == BookingStatus::Held && booking.holds_until.is_none_or(|at| at <= now) {
        return Err(missing());
    }
    let workspace = workspace(tx, ws, booking.circle.clone())?;
    let kind = types::of_booking(tx, ws, &booking.type_id)?;
    Ok(GuestBooking { workspace, kind, booking })
}

/// What a reply offered, for the customer who has its link.
pub struct GuestOffer {
    pub workspace: GuestWorkspace,
    pub kind: BookingType,
    pub offer: offers::BookingOffer,
}

pub fn offer_at(tx: &mut Tx<'_>, token: &str, now: i64) -> Result<GuestOffer> {
    let missing = || Error::NotFound("page");
    let token = GuestToken::parse(token).ok_or_else(missing)?;
    let offer = offers::with_token(tx, token.hash(), now)?.ok_or_else(missing)?;
    let found: Option<(Circle,)> = tx.opt(
        "SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&offer.ws, &offer.conversation],
    )?;
    let (circle,) = found.ok_or_else(missing)?;
    let workspace = workspace(tx, offer.ws, circle)?;
    let kind = types::of_booking(tx, offer.ws, &offer.type_id)?;
    match kind.active {
        true => Ok(GuestOffer { workspace, kind, offer }),
        false => Err(missing()),
    }
}

/// Books from a reply's link: the guest is known, so it counts at once. A form that arrives twice books
/// once.
pub fn book_offer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    found: &GuestOffer,
    new: &NewBooking<'_>,
) -> Result<Booking> {
    let same: Option<(BookingId,)> = tx.opt(
        "SELECT id FROM bookings
         WHERE ws = ?1 AND conversation = ?2 AND starts_at = ?3 AND type = ?4 AND guest_email = ?5
           AND status = 'booked'
         LIMIT 1",
        &[
            &cx.actor.ws,
            &found.offer.conversation,
            &new.starts_at,
            &found.kind.id,
            &EmailAddress::new(new.guest.email),
        ],
    )?;
    if let Some((id,)) = same {
        return load(tx, cx.actor, id.as_str());
    }
    let conversation = conversations::load(tx, cx.actor, found.offer.conversation.as_str())?;
    let new = NewBooking { conversation: Some(&conversation), ..new.clone() };
    booking::book(tx, cx, &found.kind, &new)
}

/// Holds a time for somebody whose address is not proven, and mails the code to it. A form that arrives
/// twice from a browser holds it once.
pub fn hold(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    browser: GuestTokenHash,
    place: &str,
) -> Result<Booking> {
    if let Some(held) = held_before(tx, cx, kind, new, browser)? {
        return Ok(held);
    }
    must_hold_few(tx, cx, new.guest.email, place)?;
    let held = booking::hold(tx, cx, kind, new)?;
    send_code(tx, cx, kind, &held, browser, place)?;
    Ok(held)
}

/// What this browser holds already, for the same guest at the same time.
fn held_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    browser: GuestTokenHash,
) -> Result<Option<Booking>> {
    let found: Option<(BookingId,)> = tx.opt(
        "SELECT id FROM bookings
         WHERE ws = ?1 AND guest_email = ?2 AND created_at > ?3 AND type = ?4 AND starts_at = ?5
           AND status = 'held' AND holds_until > ?6
         LIMIT 1",
        &[
            &cx.actor.ws,
            &EmailAddress::new(new.guest.email),
            &(cx.now - BOOKING_HOLD_MS),
            &kind.id,
            &new.starts_at,
            &cx.now,
        ],
    )?;
    let Some((id,)) = found else { return Ok(None) };
    let held = load(tx, cx.actor, id.as_str())?;
    let code = one_time_codes::sent(tx, cx.actor.ws, &purpose(&held), browser)?;
    Ok(code.map(|_| held))
}

/// Counts the codes, which outlive the held times: nobody keeps times from others by holding one after
/// the other.
fn must_hold_few(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str, place: &str) -> Result<()> {
    let (of_place,): (i64,) = tx.one(
        "SELECT CAST(count(DISTINCT purpose) AS BIGINT) FROM one_time_codes
         WHERE place = ?1 AND sent_at > ?2 AND purpose LIKE 'booking %'",
        &[&place, &(cx.now - BOOKING_HOLD_MS)],
    )?;
    let (of_address,): (i64,) = tx.one(
        "SELECT CAST(count(DISTINCT purpose) AS BIGINT) FROM one_time_codes
         WHERE ws = ?1 AND email = ?2 AND sent_at > ?3 AND purpose LIKE 'booking %'",
        &[&cx.actor.ws, &EmailAddress::new(email), &(cx.now - DAY_MS)],
    )?;
    if of_address >= HOLDS_PER_ADDRESS {
        return Err(Error::Forbidden(
            "Several times were held for this address today. Please try again tomorrow, or ask the \
             people you want to meet."
                .into(),
        ));
    }
    if of_place >= HOLDS_PER_NETWORK {
        return Err(Error::Forbidden(
            "Too many times were held from here. Please try again in a quarter of an hour.".into(),
        ));
    }
    Ok(())
}

/// Mails a code for a held booking; the one before stops working.
pub fn send_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    held: &Booking,
    browser: GuestTokenHash,
    place: &str,
) -> Result<()> {
    let purpose = purpose(held);
    let holder = CodeHolder { purpose: &purpose, email: &held.guest_email, browser, place };
    match one_time_codes::request(tx, cx, &holder)? {
        CodeRequest::Issued(code) => mail::send_code(tx, cx, kind, held, &code),
        CodeRequest::Wait(_) => Err(Error::Forbidden(
            "Several codes were sent in a short time. Please try again in a quarter of an hour."
                .into(),
        )),
    }
}

/// Tries a code; the right one makes the booking firm.
pub fn enter_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    held: &Booking,
    browser: GuestTokenHash,
    place: &str,
    typed: &str,
) -> Result<CodeEntry> {
    let purpose = purpose(held);
    let holder = CodeHolder { purpose: &purpose, email: &held.guest_email, browser, place };
    let entry = one_time_codes::enter(tx, cx, &holder, typed)?;
    if entry == CodeEntry::Right {
        booking::prove(tx, cx, &held.id)?;
    }
    Ok(entry)
}

fn purpose(held: &Booking) -> String {
    format!("booking {}", held.id)
}
