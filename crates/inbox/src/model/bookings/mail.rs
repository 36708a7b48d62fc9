//! What guest and host are told of a booking: invitations, changes and cancellations that every calendar
//! takes for one entry, the code of an unproven address, and reminders.

use calendar::{BookingInvitation, InvitationPerson, TimeRange};
use db::Tx;
use jiff::tz::TimeZone;
use translation::{Reader, t, text_in_context};

use super::types::BookingType;
use super::{Booking, manage_url, timestamp, zone_or_utc};
use crate::app::Cx;
use crate::base::actor::Actor;
use crate::base::email_address::EmailAddress;
use crate::base::error::{Error, Result};
use crate::base::ids::{ConversationId, MailboxId, UserId};
use crate::base::limits::{BOOKING_HOLD_MS, CODE_MS, DAY_MS, MINUTE_MS, duration};
use crate::model::calendar_words::{date_and_clock, short_date_and_clock};
use crate::model::notices::{self, CustomerNotice, Notice, NoticeCalendar};
use crate::model::{inbox_access, mail_language, mailboxes};

/// The domain of UIDs when the public address has none.
const NO_DOMAIN: &str = "localhost";

/// Refused to somebody who does not send from the inbox that writes to a guest.
const MAY_NOT_WRITE: &str = "The customer is told by mail from an inbox that you do not send from. Ask \
                             somebody who does.";

/// The domain by which the UIDs of this installation are known.
pub fn uid_domain(public_url: &str) -> String {
    let parsed = url::Url::parse(public_url).ok();
    let host = parsed.as_ref().and_then(|url| url.host_str());
    host.unwrap_or(NO_DOMAIN).to_owned()
}

/// Tells guest and hosts that a time is booked, or that it replaces an earlier one, which had these
/// hosts.
pub(super) fn invite(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    before: Option<(&Booking, &[UserId])>,
) -> Result<()> {
    if booking.circle.is_sandbox() {
        return Ok(());
    }
    let sender = sender(tx, cx, kind, booking)?;
    let news = if before.is_some() { BookingMailKind::Moved } else { BookingMailKind::Booked };
    let link = manage_url(tx, cx, &booking.id)?;
    guest_reader(tx, cx, booking)?.run(|| {
        let lead = match before {
            Some(_) => t!("your appointment has moved."),
            None => t!("it is booked."),
        };
        let text = guest_text(kind, booking, lead, Some((link.as_str(), cx.now)), &sender.firm);
        let about = guest_entry_words(booking, &link, cx.now);
        let entry = entry(cx, kind, booking, &sender, (&link, &about));
        let letter = Letter { news, text: &text, calendar: Some(("REQUEST", &entry)) };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    let hosts = hosts(tx, cx, booking)?;
    for host in &hosts {
        mail_language::of_person(tx, cx.actor.ws, host)?.run(|| {
            let (link, text) = host_text(cx, kind, booking, news);
            let about = t!("Move or cancel: {link}", link);
            let entry = entry(cx, kind, booking, &sender, (&link, &about));
            let letter = Letter { news, text: &text, calendar: Some(("REQUEST", &entry)) };
            write_host(tx, cx, kind, booking, &sender, host, &letter)
        })?;
    }
    let Some((before, former)) = before else { return Ok(()) };
    for gone in former.iter().filter(|host| !hosts.contains(host)) {
        tell_former_host(tx, cx, kind, (before, gone), booking, &sender)?;
    }
    Ok(())
}

/// Somebody else has the appointment now, so it leaves the calendar of a host before.
fn tell_former_host(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (before, host): (&Booking, &UserId),
    booking: &Booking,
    sender: &BookingSender,
) -> Result<()> {
    let gone = Booking { sequence: booking.sequence, ..before.clone() };
    let entry = cancelled_entry(cx, kind, &gone, sender);
    mail_language::of_person(tx, cx.actor.ws, host)?.run(|| {
        let (_, text) = host_text(cx, kind, before, BookingMailKind::GivenAway);
        let news = BookingMailKind::Moved;
        let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
        write_host(tx, cx, kind, before, sender, host, &letter)
    })
}

/// Tells the guest and those who were its hosts that an appointment is off.
pub(super) fn cancel(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    hosts: &[UserId],
) -> Result<()> {
    if booking.circle.is_sandbox() {
        return Ok(());
    }
    let sender = sender(tx, cx, kind, booking)?;
    let entry = cancelled_entry(cx, kind, booking, &sender);
    let said = match booking.reason.is_empty() {
        true => String::new(),
        false => format!("\n\n  {}", booking.reason),
    };
    let news = BookingMailKind::Cancelled;
    guest_reader(tx, cx, booking)?.run(|| {
        let lead = format!("{}{said}", t!("this appointment is cancelled."));
        let text = guest_text(kind, booking, &lead, None, &sender.firm);
        let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    for host in hosts {
        mail_language::of_person(tx, cx.actor.ws, host)?.run(|| {
            let (_, text) = host_text(cx, kind, booking, news);
            let text = format!("{text}{said}");
            let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
            write_host(tx, cx, kind, booking, &sender, host, &letter)
        })?;
    }
    Ok(())
}

/// Reminds guest and hosts of an appointment.
pub fn remind(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: &BookingType, booking: &Booking) -> Result<()> {
    if booking.circle.is_sandbox() {
        return Ok(());
    }
    let sender = sender(tx, cx, kind, booking)?;
    let link = manage_url(tx, cx, &booking.id)?;
    let is_tomorrow = booking.starts_at - cx.now > DAY_MS / 2;
    let news = BookingMailKind::Reminder;
    guest_reader(tx, cx, booking)?.run(|| {
        let lead = match is_tomorrow {
            true => t!("we remind you of your appointment tomorrow."),
            false => t!("we remind you of your appointment in an hour."),
        };
        let text = guest_text(kind, booking, lead, Some((link.as_str(), cx.now)), &sender.firm);
        let letter = Letter { news, text: &text, calendar: None };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    for host in hosts(tx, cx, booking)? {
        mail_language::of_person(tx, cx.actor.ws, &host)?.run(|| {
            let (_, text) = host_text(cx, kind, booking, news);
            let letter = Letter { news, text: &text, calendar: None };
            write_host(tx, cx, kind, booking, &sender, &host, &letter)
        })?;
    }
    Ok(())
}

/// Mails the code that proves a guest's address. It says nothing else of what they wrote. It is in the
/// language of the page, which is that of the current reader: whose address it is, is not known.
pub fn send_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    code: &str,
) -> Result<()> {
    let sender = sender(tx, cx, kind, booking)?;
    let (subject, text) = (code_subject(&sender.firm), code_text(code, &sender.firm));
    let letter = CustomerNotice {
        mailbox: &sender.mailbox,
        from_name: &sender.firm,
        email: &booking.guest_email,
        answers: None,
        conversation: None,
        calendar: None,
        notice: Notice { subject: &subject, text: &text },
    };
    notices::write_to_customer(tx, cx, &booking.circle, &letter)
}

/// The subject of the mail with a code, which the page names.
pub fn code_subject(firm: &str) -> String {
    t!("Your code for booking a time with {firm}", firm)
}

fn code_text(code: &str, firm: &str) -> String {
    let hello = mail_language::salutation(None);
    let lead = t!("somebody, probably you, is booking a time with {firm}.", firm);
    let code = t!("The code is {code}", code);
    let (works, held) = (duration(CODE_MS), duration(BOOKING_HOLD_MS));
    let about = t!(
        "It works for {works}, on the page where it was asked for; the time is held for {held}. If it \
         was not you, do nothing: without the code nothing is booked, and we do not write again.",
        works = translation::sentence(&works),
        held = translation::sentence(&held),
    );
    format!("{hello}\n\n{lead}\n\n{code}\n\n{about}\n")
}

/// In whose name a booking's mail is written.
struct BookingSender {
    mailbox: MailboxId,
    address: EmailAddress,
    firm: String,
    /// The Message-ID of the customer's latest mail.
    answers: Option<String>,
}

/// What a mail is about; its subject begins with the word for it.
#[derive(Clone, Copy)]
enum BookingMailKind {
    Booked,
    Moved,
    /// It has moved to another host.
    GivenAway,
    Cancelled,
    Reminder,
}

impl BookingMailKind {
    fn word(self) -> &'static str {
        match self {
            BookingMailKind::Booked => text_in_context("booking mail", "Booked"),
            BookingMailKind::Moved => text_in_context("booking mail", "Moved"),
            BookingMailKind::GivenAway => text_in_context("booking mail", "Moved to somebody else"),
            BookingMailKind::Cancelled => text_in_context("booking mail", "Cancelled"),
            BookingMailKind::Reminder => text_in_context("booking mail", "Reminder"),
        }
    }
}

struct Letter<'a> {
    news: BookingMailKind,
    text: &'a str,
    /// Method and entry for the recipient's calendar.
    calendar: Option<(&'a str, &'a str)>,
}

/// True for whoever may write to a guest: they see the inbox that does, and send from it.
pub fn may_write(
    tx: &mut Tx<'_>,
    actor: &Actor,
    kind: &BookingType,
    conversation: Option<&ConversationId>,
) -> Result<bool> {
    let (mailbox, _) = sending_inbox(tx, actor.ws, kind, conversation)?;
    let is_seen = mailboxes::seen_by(tx, actor, &mailbox)?.is_some();
    Ok(is_seen && inbox_access::may_send(tx, actor, &mailbox)?)
}

/// Refuses whoever may not write to a guest: a booking that is made, moved or cancelled sends mail.
pub fn must_write(
    tx: &mut Tx<'_>,
    actor: &Actor,
    kind: &BookingType,
    conversation: Option<&ConversationId>,
) -> Result<()> {
    match may_write(tx, actor, kind, conversation)? {
        true => Ok(()),
        false => Err(Error::Forbidden(MAY_NOT_WRITE.into())),
    }
}

/// The inbox of the conversation, or the type's; the team's first where that is gone.
fn sending_inbox(
    tx: &mut Tx<'_>,
    ws: i64,
    kind: &BookingType,
    conversation: Option<&ConversationId>,
) -> Result<(MailboxId, EmailAddress)> {
    let of_conversation: Option<(MailboxId,)> = match conversation {
        Some(conversation) => tx.opt(
            "SELECT mailbox FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&ws, conversation],
        )?,
        None => None,
    };
    let wanted = of_conversation.map_or_else(|| kind.mailbox.clone(), |(mailbox,)| mailbox);
    let found: Option<(MailboxId, EmailAddress)> =
        tx.opt("SELECT id, address FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, &wanted])?;
    match found {
        Some(found) => Ok(found),
        None => Ok(tx.one(
            "SELECT id, address FROM mailboxes WHERE ws = ?1 AND circle = 'team'
             ORDER BY created_at, id LIMIT 1",
            &[&ws],
        )?),
    }
}

fn sender(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
) -> Result<BookingSender> {
    let ws = cx.actor.ws;
    let (mailbox, address) = sending_inbox(tx, ws, kind, booking.conversation.as_ref())?;
    let (firm,): (String,) = tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let answers: Option<(String,)> = match &booking.conversation {
        Some(conversation) => tx.opt(
            "SELECT header_id FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound'
             ORDER BY at DESC, id DESC LIMIT 1",
            &[&ws, conversation],
        )?,
        None => None,
    };
    Ok(BookingSender { mailbox, address, firm, answers: answers.map(|(id,)| id) })
}

/// The people that a live booking takes time from.
pub(super) fn hosts(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking) -> Result<Vec<UserId>> {
    let people: Vec<(UserId,)> = tx.all(
        "SELECT person FROM host_bookings WHERE ws = ?1 AND booking = ?2 ORDER BY person",
        &[&cx.actor.ws, &booking.id],
    )?;
    Ok(people.into_iter().map(|(person,)| person).collect())
}

fn write_guest(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    sender: &BookingSender,
    letter: &Letter<'_>,
) -> Result<()> {
    let zone = zone_or_utc(guest_zone(booking));
    let subject = subject(kind, booking, letter.news, &zone);
    let notice = CustomerNotice {
        mailbox: &sender.mailbox,
        from_name: &sender.firm,
        email: &booking.guest_email,
        answers: sender.answers.as_deref(),
        conversation: booking.conversation.as_ref(),
        calendar: letter.calendar.map(|(method, text)| NoticeCalendar { method, text }),
        notice: Notice { subject: &subject, text: letter.text },
    };
    notices::write_to_customer(tx, cx, &booking.circle, &notice)
}

fn write_host(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    sender: &BookingSender,
    host: &UserId,
    letter: &Letter<'_>,
) -> Result<()> {
    let found: Option<(String,)> =
        tx.opt("SELECT email FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, host])?;
    let Some((email,)) = found else { return Ok(()) };
    if notices::is_unread(tx, &email)? {
        return Ok(());
    }
    let subject = subject(kind, booking, letter.news, &zone_or_utc(&booking.host_zone));
    let subject = t!("{subject} with {guest}", subject, guest = booking.guest_name);
    let notice = CustomerNotice {
        mailbox: &sender.mailbox,
        from_name: &sender.firm,
        email: &email,
        answers: None,
        conversation: None,
        calendar: letter.calendar.map(|(method, text)| NoticeCalendar { method, text }),
        notice: Notice { subject: &subject, text: letter.text },
    };
    notices::write_to_customer(tx, cx, &booking.circle, &notice)
}

fn subject(
    kind: &BookingType,
    booking: &Booking,
    news: BookingMailKind,
    zone: &TimeZone,
) -> String {
    let at = short_date_and_clock(booking.starts_at, zone);
    let place = zone.iana_name().unwrap_or("UTC");
    format!("{}: {}, {at} ({})", news.word(), kind.name, city(place))
}

/// The guest, in the language of the conversation that a booking belongs to, or else of their mail to the
/// team.
fn guest_reader(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking) -> Result<Reader> {
    let (ws, email) = (cx.actor.ws, booking.guest_email.as_str());
    match &booking.conversation {
        Some(conversation) => mail_language::of_conversation(tx, ws, conversation),
        None => mail_language::of_address(tx, ws, &booking.circle, email),
    }
}

/// The words for the guest, with the address of their page and the moment at which they are written.
fn guest_text(
    kind: &BookingType,
    booking: &Booking,
    lead: &str,
    link: Option<(&str, i64)>,
    firm: &str,
) -> String {
    let guest = zone_or_utc(guest_zone(booking));
    let salutation = mail_language::salutation(Some(&booking.guest_name));
    let mut text = format!("{salutation}\n\n{lead}\n\n  {}\n", kind.name);
    text.push_str(&format!("  {}\n", span(booking, &guest)));
    let host = zone_or_utc(&booking.host_zone);
    if offset(booking, &host) != offset(booking, &guest) {
        text.push_str(&format!("  {}\n", span(booking, &host)));
    }
    let minutes = (booking.ends_at - booking.starts_at) / MINUTE_MS;
    let with = t!("With {host}, {minutes} minutes", host = booking.host_name, minutes);
    text.push_str(&format!("  {with}\n"));
    if !booking.place.is_empty() {
        text.push_str(&format!("  {}\n", booking.place));
    }
    if let Some((link, now)) = link {
        let (lead, about) = change_words(booking, &guest, now);
        text.push_str(&format!("\n{lead}\n{link}\n\n{about}\n"));
    }
    text.push_str(&format!("\n{firm}\n"));
    text
}

/// What stands above the link of the guest's page, and below it.
fn change_words(booking: &Booking, zone: &TimeZone, now: i64) -> (String, &'static str) {
    if !booking.guest_may_change(now) {
        let about = t!(
            "It begins too soon to be moved or cancelled with this link. If you cannot come, please \
             answer this mail."
        );
        return (t!("See the appointment:").to_owned(), about);
    }
    let lead = match booking.cancel_hours {
        0 => t!("Move or cancel it:").to_owned(),
        _ => {
            let until = date_and_clock(booking.change_until(), zone);
            let place = city(zone.iana_name().unwrap_or("UTC"));
            t!("Move or cancel it until {until} ({place}):", until, place)
        }
    };
    let about =
        t!("Whoever has this link can move or cancel the appointment, so do not pass it on. We \
         remind you a day and an hour before. Questions? Answer this mail.");
    (lead, about)
}

/// The description of the entry in the guest's calendar.
fn guest_entry_words(booking: &Booking, link: &str, now: i64) -> String {
    match booking.guest_may_change(now) {
        true => t!("Move or cancel: {link}", link),
        false => t!("See the appointment: {link}", link),
    }
}

/// The address of the booking in the app, and the words for its host.
fn host_text(
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    news: BookingMailKind,
) -> (String, String) {
    let link = format!("{}/calendar/{}", cx.public_url, booking.id);
    let guest = format!("{} <{}>", booking.guest_name, booking.guest_email);
    let mut text = format!(
        "{}: {}\n\n  {}\n  {}\n",
        news.word(),
        kind.name,
        span(booking, &zone_or_utc(&booking.host_zone)),
        t!("With {guest}", guest),
    );
    if !booking.place.is_empty() {
        text.push_str(&format!("  {}\n", booking.place));
    }
    for one in booking.answers.iter() {
        text.push_str(&format!("\n{}\n  {}\n", one.question, one.answer));
    }
    let lead = t!("Move or cancel it, or see the conversation:");
    text.push_str(&format!("\n{lead}\n{link}\n"));
    (link, text)
}

/// The entry of an appointment, with an address and a description that names it.
fn entry(
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    sender: &BookingSender,
    link: (&str, &str),
) -> String {
    written(cx, kind, booking, sender, Some(link), calendar::invitation)
}

fn cancelled_entry(
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    sender: &BookingSender,
) -> String {
    written(cx, kind, booking, sender, None, calendar::cancellation)
}

fn written(
    cx: &Cx<'_>,
    kind: &BookingType,
    booking: &Booking,
    sender: &BookingSender,
    link: Option<(&str, &str)>,
    write: fn(&BookingInvitation<'_>) -> String,
) -> String {
    let guest =
        InvitationPerson { name: Some(&booking.guest_name), email: booking.guest_email.as_str() };
    write(&BookingInvitation {
        uid: &booking.uid,
        sequence: u32::try_from(booking.sequence).unwrap_or(u32::MAX),
        stamp: timestamp(cx.now),
        range: TimeRange::new(timestamp(booking.starts_at), timestamp(booking.ends_at)),
        summary: &kind.name,
        location: Some(booking.place.as_str()).filter(|place| !place.is_empty()),
        description: link.map(|(_, about)| about),
        url: link.map(|(url, _)| url),
        organizer: InvitationPerson { name: Some(&sender.firm), email: sender.address.as_str() },
        attendees: &[guest],
    })
}

fn guest_zone(booking: &Booking) -> &str {
    if booking.guest_zone.is_empty() { &booking.host_zone } else { &booking.guest_zone }
}

fn offset(booking: &Booking, zone: &TimeZone) -> jiff::tz::Offset {
    zone.to_offset(timestamp(booking.starts_at))
}

/// `Monday 16 November 2026, 10:00 to 10:30 (Lisbon)`.
fn span(booking: &Booking, zone: &TimeZone) -> String {
    let end = timestamp(booking.ends_at).to_zoned(zone.clone());
    let place = city(zone.iana_name().unwrap_or("UTC"));
    let (start, end) = (date_and_clock(booking.starts_at, zone), end.strftime("%H:%M").to_string());
    t!("{start} to {end} ({place})", start, end, place)
}

/// The last part of a zone's name: `New York`.
pub fn city(zone: &str) -> String {
    zone.rsplit('/').next().unwrap_or(zone).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_named_after_its_city_and_uids_after_the_installation() {
        assert_eq!(city("America/New_York"), "New York");
        assert_eq!(city("UTC"), "UTC");
        assert_eq!(uid_domain("https://mail.acme.example:8443"), "mail.acme.example");
        assert_eq!(uid_domain(""), "localhost");
    }
}
