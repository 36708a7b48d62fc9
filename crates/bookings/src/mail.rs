//! What guest and host are told of a booking: invitations, changes and cancellations that every calendar
//! takes for one entry, the code of an unproven address, and reminders.

use base::actor::Actor;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, UserId};
use base::limits::DAY_MS;
use db::Tx;
use model::mailboxes;
use model::mailboxes::inbox_access;
use model::messages::mail_language;
use model::people::notices::{self, CustomerNotice, Notice, NoticeCalendar};
use translation::{Reader, t};

use super::entries::{
    self, BookingHostPerson, EntryFacts, EntryWords, cancelled_entry, guest_title, host_names,
    host_title, request_entry,
};
use super::mail_words::{
    BookingMailKind, cancelled_by, capitalize, code_subject, code_text, guest_entry_words,
    guest_text, guest_zone, host_entry_words, host_text, reason_words, subject,
};
use super::types::BookingType;
use super::{Booking, manage_url, zone_or_utc};

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
/// Customers read it.
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
    let ids = hosts(tx, cx, booking)?;
    let hosts = entries::people(tx, cx.actor.ws, &ids)?;
    let news = if before.is_some() { BookingMailKind::Moved } else { BookingMailKind::Booked };
    let link = manage_url(tx, cx, &booking.id)?;
    let facts = sender.facts(booking, &hosts);
    guest_reader(tx, cx, booking)?.run(|| {
        let lead = match before {
            Some(_) => t!("your appointment has moved."),
            None => t!("it is booked."),
        };
        let with = host_names(booking, &hosts);
        let link = Some((link.as_str(), cx.now));
        let text = guest_text(kind, booking, &with, lead, link, &sender.firm);
        let words = EntryWords {
            title: &guest_title(&kind.name, &with, &sender.firm),
            description: &guest_entry_words(booking, link),
            link: link.map(|(link, _)| link),
        };
        let entry = request_entry(cx, &facts, &words);
        let letter = Letter { news, text: &text, calendar: Some(("REQUEST", &entry)) };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    for host in &hosts {
        mail_language::of_person(tx, cx.actor.ws, &host.id)?.run(|| {
            let (link, text) = host_text(cx, kind, booking, news);
            let words = EntryWords {
                title: &host_title(&kind.name, booking),
                description: &host_entry_words(booking, &link),
                link: Some(&link),
            };
            let entry = request_entry(cx, &facts, &words);
            let letter = Letter { news, text: &text, calendar: Some(("REQUEST", &entry)) };
            write_host(tx, cx, kind, booking, &sender, host, &letter)
        })?;
    }
    let Some((before, former)) = before else { return Ok(()) };
    let gone: Vec<UserId> = former.iter().filter(|host| !ids.contains(host)).cloned().collect();
    for gone in &entries::people(tx, cx.actor.ws, &gone)? {
        tell_former_host(tx, cx, kind, (before, gone), booking, &sender)?;
    }
    Ok(())
}

/// Somebody else has the appointment now, so it leaves the calendar of a host before.
fn tell_former_host(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (before, host): (&Booking, &BookingHostPerson),
    booking: &Booking,
    sender: &BookingSender,
) -> Result<()> {
    let gone = Booking { sequence: booking.sequence, ..before.clone() };
    let facts = sender.facts(&gone, std::slice::from_ref(host));
    mail_language::of_person(tx, cx.actor.ws, &host.id)?.run(|| {
        let (_, text) = host_text(cx, kind, before, BookingMailKind::GivenAway);
        let title = host_title(&kind.name, before);
        let words = EntryWords { title: &title, description: "", link: None };
        let entry = cancelled_entry(cx, &facts, &words);
        let news = BookingMailKind::Moved;
        let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
        write_host(tx, cx, kind, before, sender, host, &letter)
    })
}

/// Tells the guest and those who were its hosts that an appointment is off, who cancelled it, and why.
/// Customers read it.
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
    let hosts = entries::people(tx, cx.actor.ws, hosts)?;
    let facts = sender.facts(booking, &hosts);
    let by = cancelled_by(tx, cx.actor.ws, booking)?;
    let news = BookingMailKind::Cancelled;
    guest_reader(tx, cx, booking)?.run(|| {
        let why = reason_words(booking).map_or(String::new(), |why| format!("\n\n{why}"));
        let lead = format!("{}{why}", by.words_for_guest());
        let with = host_names(booking, &hosts);
        let text = guest_text(kind, booking, &with, &lead, None, &sender.firm);
        let title = guest_title(&kind.name, &with, &sender.firm);
        let words = EntryWords { title: &title, description: &capitalize(&lead), link: None };
        let entry = cancelled_entry(cx, &facts, &words);
        let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    for host in &hosts {
        mail_language::of_person(tx, cx.actor.ws, &host.id)?.run(|| {
            let why = reason_words(booking);
            let why = why.unwrap_or_else(|| t!("No reason was given.").to_owned());
            let said = format!("{} {why}", by.words_for_host(booking, host));
            let (_, text) = host_text(cx, kind, booking, news);
            let text = format!("{said}\n\n{text}");
            let title = host_title(&kind.name, booking);
            let words = EntryWords { title: &title, description: &said, link: None };
            let entry = cancelled_entry(cx, &facts, &words);
            let letter = Letter { news, text: &text, calendar: Some(("CANCEL", &entry)) };
            write_host(tx, cx, kind, booking, &sender, host, &letter)
        })?;
    }
    Ok(())
}

/// Reminds guest and hosts of an appointment.
/// Customers read it.
pub fn remind(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: &BookingType, booking: &Booking) -> Result<()> {
    if booking.circle.is_sandbox() {
        return Ok(());
    }
    let sender = sender(tx, cx, kind, booking)?;
    let link = manage_url(tx, cx, &booking.id)?;
    let ids = hosts(tx, cx, booking)?;
    let hosts = entries::people(tx, cx.actor.ws, &ids)?;
    let is_tomorrow = booking.starts_at - cx.now > DAY_MS / 2;
    let news = BookingMailKind::Reminder;
    guest_reader(tx, cx, booking)?.run(|| {
        let lead = match is_tomorrow {
            true => t!("we remind you of your appointment tomorrow."),
            false => t!("we remind you of your appointment in an hour."),
        };
        let with = host_names(booking, &hosts);
        let link = Some((link.as_str(), cx.now));
        let text = guest_text(kind, booking, &with, lead, link, &sender.firm);
        let letter = Letter { news, text: &text, calendar: None };
        write_guest(tx, cx, kind, booking, &sender, &letter)
    })?;
    for host in &hosts {
        mail_language::of_person(tx, cx.actor.ws, &host.id)?.run(|| {
            let (_, text) = host_text(cx, kind, booking, news);
            let letter = Letter { news, text: &text, calendar: None };
            write_host(tx, cx, kind, booking, &sender, host, &letter)
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

/// In whose name a booking's mail is written.
struct BookingSender {
    mailbox: MailboxId,
    address: EmailAddress,
    firm: String,
    /// The Message-ID of the customer's latest mail.
    answers: Option<String>,
}

impl BookingSender {
    fn facts<'a>(&'a self, booking: &'a Booking, hosts: &'a [BookingHostPerson]) -> EntryFacts<'a> {
        EntryFacts { booking, hosts, firm: &self.firm, from: &self.address }
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
    entries::host_ids(tx, cx.actor.ws, &booking.id)
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
    host: &BookingHostPerson,
    letter: &Letter<'_>,
) -> Result<()> {
    if notices::is_unread(tx, &host.email)? {
        return Ok(());
    }
    let subject = subject(kind, booking, letter.news, &zone_or_utc(&booking.host_zone));
    let subject = t!("{subject} with {guest}", subject, guest = booking.guest_name);
    let notice = CustomerNotice {
        mailbox: &sender.mailbox,
        from_name: &sender.firm,
        email: &host.email,
        answers: None,
        conversation: None,
        calendar: letter.calendar.map(|(method, text)| NoticeCalendar { method, text }),
        notice: Notice { subject: &subject, text: letter.text },
    };
    notices::write_to_customer(tx, cx, &booking.circle, &notice)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_named_after_the_installation() {
        assert_eq!(uid_domain("https://mail.acme.example:8443"), "mail.acme.example");
        assert_eq!(uid_domain(""), "localhost");
    }
}
