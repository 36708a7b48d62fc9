//! Guests on booking pages: who may book at once, and who has to prove their address first.
//!
//! Customers read these texts.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, WorkspaceId};
use base::limits::{
    BOOKING_HOLD_MS, DAY_MS, HOLDS_PER_ADDRESS, HOLDS_PER_TYPE, NETWORKS_ASKING_FOR_CODES, OFFER_MS,
};
use db::Tx;
use model::branding::{self, Branding};
use model::conversations;
use model::figures::counting_turns::take_turns;
use model::guests::guest_tokens::{GuestToken, GuestTokenHash};
use model::people::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest, SentCode};

use super::booking::{self, NewBooking};
use super::entries::{self, BookingHostPerson};
use super::types::{self, BookingType};
use super::{Booking, BookingStatus, load, mail, offers, with_token};

/// Refused to a guest for whom it is too late.
const TOO_LATE: &str = "It is too late to move or cancel this appointment with the link. Please answer \
                        the mail with the invitation.";

/// Times that one client network holds while one is held.
const HOLDS_PER_NETWORK: i64 = 5;

/// A workspace whose page guests opened.
#[derive(Clone, Debug)]
pub struct GuestWorkspace {
    pub name: String,
    pub slug: String,
    pub branding: Branding,
    /// Mailroom at work for the team, or for whom the guest's own link belongs to.
    pub actor: Actor,
}

/// The workspace at an address.
pub fn workspace_at(tx: &mut Tx<'_>, slug: &str) -> Result<GuestWorkspace> {
    let missing = || Error::NotFound("page");
    // No workspace has it, and PostgreSQL takes no text with it.
    if slug.contains('\0') {
        return Err(missing());
    }
    let found: Option<(i64,)> = tx.opt("SELECT ws FROM workspaces WHERE slug = ?1", &[&slug])?;
    let (ws,) = found.ok_or_else(missing)?;
    workspace(tx, ws, Circle::team())
}

fn workspace(tx: &mut Tx<'_>, ws: i64, circle: Circle) -> Result<GuestWorkspace> {
    let (id, name, slug): (WorkspaceId, String, String) =
        tx.one("SELECT id, name, slug FROM workspaces WHERE ws = ?1", &[&ws])?;
    let actor = Actor::for_guest(tx, ws, id, circle)?;
    Ok(GuestWorkspace { name, slug, branding: branding::load(tx, ws)?, actor })
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
    /// Whose time it takes; nobody's once it is cancelled.
    pub hosts: Vec<BookingHostPerson>,
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
    let hosts = entries::host_ids(tx, ws, &booking.id)?;
    let hosts = entries::people(tx, ws, &hosts)?;
    Ok(GuestBooking { workspace, kind, booking, hosts })
}

/// Gives an appointment another time, for the guest who has its link.
pub fn reschedule(tx: &mut Tx<'_>, cx: &Cx<'_>, old: &Booking, starts_at: i64) -> Result<Booking> {
    must_be_in_time(tx, cx, old)?;
    booking::reschedule(tx, cx, old, starts_at)
}

/// Cancels an appointment, for the guest who has its link.
pub fn cancel(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking, reason: &str) -> Result<Booking> {
    must_be_in_time(tx, cx, booking)?;
    booking::cancel(tx, cx, booking, reason)
}

/// Refuses a guest for whom it is too late; that it is cancelled or has begun is said by others.
fn must_be_in_time(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking) -> Result<()> {
    // The caller's copy may be older than this transaction.
    let booking = booking::of_circle(tx, cx, &booking.id)?;
    match booking.is_late_for_guest(cx.now) {
        true => Err(Error::Conflict(TOO_LATE.into())),
        false => Ok(()),
    }
}

/// What a reply offered, for the customer who has its link.
pub struct GuestOffer {
    pub workspace: GuestWorkspace,
    pub kind: BookingType,
    pub offer: offers::BookingOffer,
    /// What the customer booked since the reply left.
    pub booked: Option<Booking>,
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
    let booked = booked_since(tx, &workspace.actor, &offer)?;
    match kind.active || booked.is_some() {
        true => Ok(GuestOffer { workspace, kind, offer, booked }),
        false => Err(missing()),
    }
}

/// The first appointment of this type that the guest of an offer made since the reply left, in its
/// conversation. One that was cancelled does not count; one that was moved does, at its new time, unless
/// it was made before the reply. A moved appointment is a new row with the same `uid`.
fn booked_since(
    tx: &mut Tx<'_>,
    actor: &Actor,
    offer: &offers::BookingOffer,
) -> Result<Option<Booking>> {
    let Some(expires_at) = offer.expires_at else { return Ok(None) };
    let found: Option<(BookingId,)> = tx.opt(
        "SELECT b.id FROM bookings b
         WHERE b.ws = ?1 AND b.guest_email = ?2 AND b.created_at > ?3 AND b.conversation = ?4
           AND b.type = ?5 AND b.status = 'booked'
           AND NOT EXISTS (SELECT 1 FROM bookings earlier
                           WHERE earlier.ws = b.ws AND earlier.uid = b.uid AND earlier.created_at <= ?3)
         ORDER BY b.created_at LIMIT 1",
        &[
            &offer.ws,
            &EmailAddress::new(&offer.guest_email),
            &(expires_at - OFFER_MS),
            &offer.conversation,
            &offer.type_id,
        ],
    )?;
    found.map(|(id,)| load(tx, actor, id.as_str())).transpose()
}

/// Books from a reply's link: the guest is known, so it counts at once. A link books once, also when
/// its form arrives twice.
pub fn book_offer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    found: &GuestOffer,
    new: &NewBooking<'_>,
) -> Result<Booking> {
    if let Some(booked) = &found.booked {
        return Ok(booked.clone());
    }
    // Of two forms at the same moment one loses its race for this row, runs again and finds the time
    // of the other.
    tx.exec(
        "UPDATE booking_offers SET expires_at = expires_at WHERE ws = ?1 AND message = ?2",
        &[&found.offer.ws, &found.offer.message],
    )?;
    let conversation = conversations::load(tx, cx.actor, found.offer.conversation.as_str())?;
    let new = NewBooking { conversation: Some(&conversation), ..new.clone() };
    booking::book(tx, cx, &found.kind, &new)
}

/// Holds a time for somebody whose address is not proven, and mails the code to it. A form that arrives
/// twice from a browser holds it once, and what it says last counts: also the address, which gets a code
/// of its own.
pub fn hold(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    browser: GuestTokenHash,
    place: &str,
) -> Result<Booking> {
    if let Some(held) = held_before(tx, cx, kind, new, (browser, place))? {
        if held.guest_email == EmailAddress::new(new.guest.email) {
            return booking::rewrite_held(tx, cx, &held, new);
        }
        booking::drop_held(tx, cx, &held)?;
    }
    must_hold_few(tx, cx, new.guest.email, place)?;
    let held = booking::hold(tx, cx, kind, new)?;
    send_code(tx, cx, kind, &held, browser, place)?;
    Ok(held)
}

/// Holds another time, or the same for another address, in place of what the browser held before.
pub fn hold_instead(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    before: &Booking,
    new: &NewBooking<'_>,
    browser: GuestTokenHash,
    place: &str,
) -> Result<Booking> {
    let is_same_guest = before.guest_email == EmailAddress::new(new.guest.email);
    if !is_same_guest || before.starts_at != new.starts_at {
        booking::drop_held(tx, cx, before)?;
    }
    hold(tx, cx, kind, new, browser, place)
}

/// The time that a browser holds, by the token of its page.
pub fn held_by(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    token: &str,
    browser: GuestTokenHash,
) -> Result<Option<Booking>> {
    let Some(token) = GuestToken::parse(token) else { return Ok(None) };
    let Some((ws, booking)) = with_token(tx, token.hash())? else { return Ok(None) };
    let is_held = booking.status == BookingStatus::Held
        && booking.holds_until.is_some_and(|until| until > cx.now);
    if ws != cx.actor.ws || !is_held {
        return Ok(None);
    }
    Ok(code_sent(tx, ws, &booking, browser)?.map(|_| booking))
}

/// The code that a browser may enter for a held time, if it has asked for one.
pub fn code_sent(
    tx: &mut Tx<'_>,
    ws: i64,
    held: &Booking,
    browser: GuestTokenHash,
) -> Result<Option<SentCode>> {
    one_time_codes::find_sent(tx, ws, &purpose(held), browser)
}

/// What this browser holds already at the same time: for the same guest, or, in the same network, for
/// the address that they typed before.
fn held_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    (browser, place): (GuestTokenHash, &str),
) -> Result<Option<Booking>> {
    let found: Vec<(BookingId,)> = tx.all(
        "SELECT id FROM bookings
         WHERE ws = ?1 AND type = ?2 AND holds_until > ?3 AND starts_at = ?4 AND status = 'held'
         LIMIT ?5",
        &[&cx.actor.ws, &kind.id, &cx.now, &new.starts_at, &HOLDS_PER_TYPE],
    )?;
    let email = EmailAddress::new(new.guest.email);
    for (id,) in found {
        let held = load(tx, cx.actor, id.as_str())?;
        let asked: Option<(String,)> = tx.opt(
            "SELECT place FROM one_time_codes
             WHERE ws = ?1 AND purpose = ?2 AND browser = ?3 AND used = FALSE
             ORDER BY sent_at DESC, id DESC LIMIT 1",
            &[&cx.actor.ws, &purpose(&held), &browser],
        )?;
        if asked.is_some_and(|(of,)| held.guest_email == email || of == place) {
            return Ok(Some(held));
        }
    }
    Ok(None)
}

/// Counts the codes, which outlive the held times: nobody keeps times from others by holding one after
/// the other.
fn must_hold_few(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str, place: &str) -> Result<()> {
    let from_here = format!("holds from {place}");
    let for_them = format!("holds for {}", EmailAddress::new(email).as_str());
    take_turns(tx, &[(0, from_here.as_str()), (cx.actor.ws, for_them.as_str())])?;
    let (of_place,): (i64,) = tx.one(
        "SELECT CAST(count(DISTINCT purpose) AS BIGINT) FROM one_time_codes
         WHERE place = ?1 AND sent_at > ?2 AND purpose LIKE 'booking %'",
        &[&place, &(cx.now - BOOKING_HOLD_MS)],
    )?;
    // Anybody can name an address, so others who did leave room for its owner.
    let of_address: Vec<(String, String)> = tx.all(
        "SELECT DISTINCT purpose, place FROM one_time_codes
         WHERE ws = ?1 AND email = ?2 AND sent_at > ?3 AND purpose LIKE 'booking %'",
        &[&cx.actor.ws, &EmailAddress::new(email), &(cx.now - DAY_MS)],
    )?;
    let of_both = of_address.iter().filter(|(_, from)| from == place).count() as i64;
    let of_all = of_address.len() as i64;
    if of_both >= HOLDS_PER_ADDRESS || of_all >= HOLDS_PER_ADDRESS * NETWORKS_ASKING_FOR_CODES {
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
