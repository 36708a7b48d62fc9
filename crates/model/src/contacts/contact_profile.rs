//! What is known of a person, under all of their addresses, as far as an actor may see it.

use base::actor::Actor;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, ConversationId};
use base::states::{Status, View};
use db::Tx;
use search::list::{CountEffort, Filter, ListCount, ListWalk};

use crate::contacts;
use crate::contacts::contact_notes::{self, ContactNote};
use crate::contacts::{blocked_senders, contact_addresses};
use crate::messages::recipients::Party;

/// People of the same company that are shown.
const COLLEAGUES: usize = 10;
/// Bookings of one address that are looked at, the latest made first.
const BOOKINGS: i64 = 20;
/// Conversations of others in which somebody takes part.
const ALSO_IN: i64 = 10;
/// Conversations of one address among which these are looked for, the latest begun first. Somebody who
/// writes every day is the contact of most of them.
const ALSO_LOOKED_AT: i64 = 500;

/// A person whom mail came from or went to.
#[derive(Debug)]
pub struct ContactProfile {
    /// The address that they are shown under.
    pub email: EmailAddress,
    pub name: Option<String>,
    /// All addresses, that one first.
    pub addresses: Vec<EmailAddress>,
    pub is_blocked: bool,
    /// The language of their latest mail, as two letters.
    pub language: Option<String>,
    /// The time zone in which they booked an appointment.
    pub time_zone: Option<String>,
    pub notes: Vec<ContactNote>,
    /// Others with an address at the same domain.
    pub colleagues: Vec<Party>,
}

/// The person with an address; the same error for nobody and for somebody whose mail the actor does
/// not see.
pub fn load(tx: &mut Tx<'_>, actor: &Actor, email: &EmailAddress) -> Result<ContactProfile> {
    if email.as_str().contains('\0') {
        return Err(Error::NotFound("contact"));
    }
    let email = contact_addresses::shown_under(tx, actor, email)?;
    let addresses = contact_addresses::of(tx, actor, &email)?;
    let mut name = None;
    let mut is_seen = false;
    for address in &addresses {
        is_seen = is_seen || contacts::widest_circle(tx, actor, address)?.is_some();
        if name.is_none() {
            name = contacts::name_of(tx, actor, address)?;
        }
    }
    if !is_seen {
        return Err(Error::NotFound("contact"));
    }
    Ok(ContactProfile {
        name,
        is_blocked: blocked_senders::is_any_blocked(tx, actor, &addresses)?,
        language: language(tx, actor, &addresses)?,
        time_zone: time_zone(tx, actor, &addresses)?,
        notes: contact_notes::on(tx, actor, &addresses)?,
        colleagues: contacts::colleagues(tx, actor, &addresses, COLLEAGUES)?,
        email,
        addresses,
    })
}

/// The list of the conversations with a person.
pub fn conversations(addresses: &[EmailAddress], views: &[View]) -> Filter {
    Filter { views: views.to_vec(), contacts: addresses.to_vec(), ..Filter::default() }
}

/// How many conversations there are with a person in some views.
pub fn count_conversations(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &[EmailAddress],
    views: &[View],
) -> Result<ListCount> {
    let walk = ListWalk::begin(actor, &conversations(addresses, views));
    walk.count(tx, None, CountEffort::Thorough)
}

fn language(tx: &mut Tx<'_>, actor: &Actor, addresses: &[EmailAddress]) -> Result<Option<String>> {
    let (first, second) = actor.circles.pair();
    let mut latest: Option<(i64, String)> = None;
    for email in addresses {
        let found: Option<(i64, String)> = tx.opt(
            "SELECT last_message_at, language FROM conversations
             WHERE ws = ?1 AND contact_email = ?2 AND circle IN (?3, ?4) AND language IS NOT NULL
             ORDER BY last_message_at DESC, id DESC LIMIT 1",
            &[&actor.ws, email, first, second],
        )?;
        latest = latest.max(found);
    }
    Ok(latest.map(|(_, language)| language))
}

fn time_zone(tx: &mut Tx<'_>, actor: &Actor, addresses: &[EmailAddress]) -> Result<Option<String>> {
    let (first, second) = actor.circles.pair();
    let mut latest: Option<(i64, String)> = None;
    for email in addresses {
        let found: Option<(i64, String)> = tx.opt(
            "SELECT created_at, guest_zone FROM bookings
             WHERE ws = ?1 AND guest_email = ?2 AND circle IN (?3, ?4)
               AND guest_zone <> '' AND status <> 'held'
             ORDER BY created_at DESC LIMIT 1",
            &[&actor.ws, email, first, second],
        )?;
        latest = latest.max(found);
    }
    Ok(latest.map(|(_, zone)| zone))
}

/// The next appointment with a person, and when it begins.
pub fn next_booking(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &[EmailAddress],
    now: i64,
) -> Result<Option<(i64, BookingId)>> {
    let (first, second) = actor.circles.pair();
    let mut ahead: Vec<(i64, BookingId)> = Vec::new();
    for email in addresses {
        ahead.extend(tx.all::<(i64, BookingId)>(
            "SELECT starts_at, id FROM bookings
             WHERE ws = ?1 AND guest_email = ?2 AND circle IN (?3, ?4)
               AND status = 'booked' AND starts_at > ?5
             ORDER BY created_at DESC LIMIT ?6",
            &[&actor.ws, email, first, second, &now, &BOOKINGS],
        )?);
    }
    Ok(ahead.into_iter().min())
}

db::row! {
    /// A conversation with somebody else, in which a person takes part.
    pub struct SharedConversation from "c" {
        pub id: ConversationId,
        pub subject: String,
        pub contact_name: Option<String>,
        pub contact_email: EmailAddress,
        pub status: Status,
        pub last_message_at: i64,
    }
}

/// The conversations with others in which a person takes part, the latest begun first, among the latest of
/// each address.
pub fn also_in(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &[EmailAddress],
) -> Result<Vec<SharedConversation>> {
    let (first, second) = actor.circles.pair();
    let sql = format!(
        "SELECT {} FROM (
             SELECT ws, conversation FROM participants
             WHERE ws = ?1 AND email = ?2
             ORDER BY conversation DESC LIMIT ?6
         ) AS p
         JOIN conversations c ON c.ws = p.ws AND c.id = p.conversation
         WHERE c.circle IN (?3, ?4) AND c.contact_email <> ?2
           AND c.removed IS NULL AND c.merged_into IS NULL AND c.held = FALSE
         ORDER BY p.conversation DESC LIMIT ?5",
        SharedConversation::COLUMNS
    );
    let mut found: Vec<SharedConversation> = Vec::new();
    for email in addresses {
        let shared: Vec<SharedConversation> =
            tx.all(&sql, &[&actor.ws, email, first, second, &ALSO_IN, &ALSO_LOOKED_AT])?;
        for one in shared {
            let is_new = !found.iter().any(|known| known.id == one.id);
            if is_new && !addresses.contains(&one.contact_email) {
                found.push(one);
            }
        }
    }
    found.sort_by(|a, b| b.id.cmp(&a.id));
    found.truncate(ALSO_IN as usize);
    Ok(found)
}
