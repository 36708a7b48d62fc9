//! The entry of a booking in calendars: the guest's names the person and the company, a host's names the
//! guest and has what they answered. Both list everybody who comes.
//!
//! Customers read these texts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{BookingId, UserId};
use calendar::{BookingInvitation, InvitationPerson, TimeRange};
use db::Tx;
use translation::t;

use super::{Booking, timestamp};

/// A host, as guests and calendars know them.
#[derive(Clone, Debug)]
pub struct BookingHostPerson {
    pub id: UserId,
    pub name: String,
    pub email: String,
}

/// The people among `hosts` who are still on the team.
pub(super) fn people(tx: &mut Tx<'_>, ws: i64, hosts: &[UserId]) -> Result<Vec<BookingHostPerson>> {
    let mut people = Vec::with_capacity(hosts.len());
    for id in hosts {
        let found: Option<(String, String)> =
            tx.opt("SELECT name, email FROM users WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
        if let Some((name, email)) = found {
            people.push(BookingHostPerson { id: id.clone(), name, email });
        }
    }
    Ok(people)
}

/// The people that a live booking takes time from.
pub(super) fn host_ids(tx: &mut Tx<'_>, ws: i64, booking: &BookingId) -> Result<Vec<UserId>> {
    let people: Vec<(UserId,)> = tx.all(
        "SELECT person FROM host_bookings WHERE ws = ?1 AND booking = ?2 ORDER BY person",
        &[&ws, booking],
    )?;
    Ok(people.into_iter().map(|(person,)| person).collect())
}

/// `Marit Aalto and Deniz Kaya`. A booking that takes nobody's time any more names the host it had.
pub fn host_names(booking: &Booking, hosts: &[BookingHostPerson]) -> String {
    match hosts {
        [] => booking.host_name.clone(),
        [only] => only.name.clone(),
        [rest @ .., last] => {
            let names: Vec<&str> = rest.iter().map(|host| host.name.as_str()).collect();
            t!("{names} and {last}", names = names.join(", "), last = last.name)
        }
    }
}

/// The title in the guest's calendar: with whom, and of which company.
pub fn guest_title(appointment: &str, hosts: &str, firm: &str) -> String {
    match hosts.is_empty() {
        true => t!("{appointment} with {firm}", appointment, firm),
        false => t!("{appointment} with {hosts}, {firm}", appointment, hosts, firm),
    }
}

/// The title in a host's calendar: with which guest.
pub fn host_title(appointment: &str, booking: &Booking) -> String {
    t!("{appointment} with {guest}", appointment, guest = booking.guest_name)
}

/// Everything that the entries of one booking share.
pub(super) struct EntryFacts<'a> {
    pub booking: &'a Booking,
    pub hosts: &'a [BookingHostPerson],
    pub firm: &'a str,
    /// The sender of the mail with the entry.
    pub from: &'a EmailAddress,
}

/// What differs between the entries of a guest and of a host.
pub(super) struct EntryWords<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub link: Option<&'a str>,
}

pub(super) fn request_entry(cx: &Cx<'_>, facts: &EntryFacts<'_>, words: &EntryWords<'_>) -> String {
    write_entry(cx, facts, words, calendar::invitation)
}

pub(super) fn cancelled_entry(
    cx: &Cx<'_>,
    facts: &EntryFacts<'_>,
    words: &EntryWords<'_>,
) -> String {
    write_entry(cx, facts, words, calendar::cancellation)
}

fn write_entry(
    cx: &Cx<'_>,
    facts: &EntryFacts<'_>,
    words: &EntryWords<'_>,
    write: fn(&BookingInvitation<'_>) -> String,
) -> String {
    let EntryFacts { booking, hosts, firm, from } = *facts;
    let guest =
        InvitationPerson { name: Some(&booking.guest_name), email: booking.guest_email.as_str() };
    let hosts = hosts
        .iter()
        .map(|host| InvitationPerson { name: Some(host.name.as_str()), email: &host.email });
    let attendees: Vec<InvitationPerson<'_>> = [guest].into_iter().chain(hosts).collect();
    write(&BookingInvitation {
        uid: &booking.uid,
        sequence: u32::try_from(booking.sequence).unwrap_or(u32::MAX),
        stamp: timestamp(cx.now),
        range: TimeRange::new(timestamp(booking.starts_at), timestamp(booking.ends_at)),
        summary: words.title,
        location: Some(booking.place.as_str()).filter(|place| !place.is_empty()),
        description: Some(words.description).filter(|text| !text.is_empty()),
        url: words.link,
        organizer: InvitationPerson { name: Some(firm), email: from.as_str() },
        attendees: &attendees,
    })
}
