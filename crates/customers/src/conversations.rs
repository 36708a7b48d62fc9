//! The conversations of an address, and its times.

use base::actor::Circle;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{BookingId, ConversationId, MailboxId};
use base::limits::{OWN_BOOKINGS, OWN_CONVERSATIONS};
use base::states::Status;
use db::Tx;
use model::mailboxes;

use crate::messages::{self, OwnMessage};
use crate::workspace::CustomerWorkspace;

/// Whose turn it is, as the customer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomerTurn {
    WithTeam,
    WithCustomer,
    Closed,
}

impl CustomerTurn {
    fn of(status: Status) -> CustomerTurn {
        match status {
            Status::Open => CustomerTurn::WithTeam,
            Status::Waiting => CustomerTurn::WithCustomer,
            Status::Closed => CustomerTurn::Closed,
        }
    }
}

db::row! {
    #[derive(Clone, Debug)]
    pub(crate) struct OwnConversation from "c" {
        pub id: ConversationId,
        pub mailbox: MailboxId,
        pub circle: Circle,
        pub status: Status,
        pub last_message_at: i64,
    }
}

/// What everybody may see who is not of the team: no removed or merged conversation, none of the sandbox. Held mail
/// is left out message by message, so that a conversation stays readable when an answer in it is held.
const OPEN_TO_CUSTOMERS: &str = "c.merged_into IS NULL AND c.removed IS NULL
    AND c.circle <> 'sandbox' AND c.circle <> 'deleted'";

/// A conversation in the list.
#[derive(Clone, Debug)]
pub struct CustomerConversation {
    pub id: ConversationId,
    pub mailbox: MailboxId,
    pub circle: Circle,
    /// Of the first message that the customer sees: what the team calls the conversation, or what others wrote in
    /// it before, is not theirs.
    pub subject: String,
    pub turn: CustomerTurn,
    /// When the newest message came or went that the customer sees.
    pub newest_at: i64,
    /// The customer wrote it, which is proven.
    pub is_newest_mine: bool,
    pub messages: usize,
}

/// The latest conversations of an address, the newest first: those that it wrote in or that were written to it.
pub fn list(
    tx: &mut Tx<'_>,
    workspace: &CustomerWorkspace,
    email: &EmailAddress,
) -> Result<Vec<CustomerConversation>> {
    let mut listed = Vec::new();
    for conversation in with_address(tx, workspace.ws, email)? {
        let seen = messages::visible(tx, workspace.ws, &conversation, email)?;
        listed.extend(list_entry(conversation, &seen, email));
    }
    Ok(listed)
}

/// The inbox that an address is written to from, and that reads what it writes: that of its newest conversation,
/// unless the person of that inbox was removed; then that of another one, or the first of the team. `None` for an
/// address that has no conversation.
pub(crate) fn inbox_for(
    tx: &mut Tx<'_>,
    workspace: &CustomerWorkspace,
    email: &EmailAddress,
) -> Result<Option<(MailboxId, Circle)>> {
    let mut is_known = false;
    for conversation in with_address(tx, workspace.ws, email)? {
        if messages::visible(tx, workspace.ws, &conversation, email)?.is_empty() {
            continue;
        }
        is_known = true;
        if !mailboxes::is_deleted(tx, workspace.ws, &conversation.mailbox)? {
            return Ok(Some((conversation.mailbox, conversation.circle)));
        }
    }
    let of_team = mailboxes::all_seen_by(tx, &workspace.team())?.into_iter().next();
    Ok(of_team.filter(|_| is_known).map(|inbox| (inbox.id, inbox.circle)))
}

/// The conversations that an address has a part in, the newest first. What it sees of them is in their messages.
fn with_address(tx: &mut Tx<'_>, ws: i64, email: &EmailAddress) -> Result<Vec<OwnConversation>> {
    let mut all: Vec<OwnConversation> = tx.all(
        &format!(
            "SELECT {} FROM conversations c
             WHERE c.ws = ?1 AND c.contact_email = ?2 AND {OPEN_TO_CUSTOMERS}
             ORDER BY c.last_message_at DESC, c.id DESC LIMIT ?3",
            OwnConversation::COLUMNS
        ),
        &[&ws, email, &OWN_CONVERSATIONS],
    )?;
    let others: Vec<OwnConversation> = tx.all(
        &format!(
            "SELECT {} FROM participants p
             CROSS JOIN conversations c
             WHERE p.ws = ?1 AND p.email = ?2 AND c.ws = p.ws AND c.id = p.conversation
               AND c.contact_email <> ?2 AND {OPEN_TO_CUSTOMERS}
             ORDER BY p.conversation DESC LIMIT ?3",
            OwnConversation::COLUMNS
        ),
        &[&ws, email, &OWN_CONVERSATIONS],
    )?;
    all.extend(others);
    all.sort_by(|a, b| b.last_message_at.cmp(&a.last_message_at).then_with(|| b.id.cmp(&a.id)));
    all.truncate(OWN_CONVERSATIONS as usize);
    Ok(all)
}

/// `None` where nothing in it is the customer's.
fn list_entry(
    conversation: OwnConversation,
    seen: &[OwnMessage],
    email: &EmailAddress,
) -> Option<CustomerConversation> {
    let (first, newest) = (seen.first()?, seen.last()?);
    Some(CustomerConversation {
        turn: CustomerTurn::of(conversation.status),
        newest_at: newest.at,
        is_newest_mine: newest.is_proven_from(email),
        messages: seen.len(),
        subject: first.subject.clone(),
        id: conversation.id,
        mailbox: conversation.mailbox,
        circle: conversation.circle,
    })
}

/// One of them by its id, or the one that it was merged into. One that is not the customer's is not found, like one
/// that there is not.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    workspace: &CustomerWorkspace,
    id: &str,
) -> Result<Option<OwnConversation>> {
    let Some(id) = ConversationId::parse(id) else { return Ok(None) };
    let merged: Option<(ConversationId,)> = tx.opt(
        "SELECT merged_into FROM conversations
         WHERE ws = ?1 AND id = ?2 AND merged_into IS NOT NULL",
        &[&workspace.ws, &id],
    )?;
    let id = merged.map_or(id, |(into,)| into);
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM conversations c WHERE c.ws = ?1 AND c.id = ?2 AND {OPEN_TO_CUSTOMERS}",
            OwnConversation::COLUMNS
        ),
        &[&workspace.ws, &id],
    )?)
}

/// A time that was booked.
#[derive(Clone, Debug)]
pub struct CustomerBooking {
    pub name: String,
    pub starts_at: i64,
    /// Its page, on which it is moved or cancelled.
    pub url: String,
}

/// The times of an address that are still to come.
pub fn bookings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
) -> Result<Vec<CustomerBooking>> {
    let found: Vec<(BookingId, i64, String)> = tx.all(
        "SELECT b.id, b.starts_at, coalesce(t.name, '') FROM bookings b
         LEFT JOIN booking_types t ON t.ws = b.ws AND t.id = b.type
         WHERE b.ws = ?1 AND b.guest_email = ?2 AND b.status = 'booked' AND b.starts_at > ?3
           AND b.circle <> 'sandbox' AND b.circle <> 'deleted'
         ORDER BY b.starts_at, b.id LIMIT ?4",
        &[&cx.actor.ws, email, &cx.now, &OWN_BOOKINGS],
    )?;
    let mut times = Vec::with_capacity(found.len());
    for (id, starts_at, name) in found {
        let url = bookings::manage_url(tx, cx, &id)?;
        times.push(CustomerBooking { name, starts_at, url });
    }
    Ok(times)
}

pub(crate) fn turn_of(conversation: &OwnConversation) -> CustomerTurn {
    CustomerTurn::of(conversation.status)
}
