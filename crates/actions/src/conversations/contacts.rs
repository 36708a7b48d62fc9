//! The page of a contact: everything with one person, notes on them, and their addresses.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, ContactNoteId};
use base::states::View;
use db::Tx;
use model::contacts::contact_profile::{self, ContactProfile, SharedConversation};
use model::contacts::{contact_addresses, contact_notes};
use search::list::ListCount;

/// A contact with what their page shows beside the list of conversations.
pub struct OpenContact {
    pub profile: ContactProfile,
    /// Conversations that are neither spam nor deleted, and the open ones.
    pub conversations: ListCount,
    pub open: ListCount,
    /// Conversations with others in which they take part.
    pub also_in: Vec<SharedConversation>,
    pub next_booking: Option<(i64, BookingId)>,
}

pub fn open_contact(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<OpenContact> {
    let profile = contact_profile::load(tx, cx.actor, email)?;
    let addresses = &profile.addresses;
    let count = contact_profile::count_conversations;
    Ok(OpenContact {
        conversations: count(tx, cx.actor, addresses, View::KEPT)?,
        open: count(tx, cx.actor, addresses, &[View::Open])?,
        also_in: contact_profile::also_in(tx, cx.actor, addresses)?,
        next_booking: contact_profile::next_booking(tx, cx.actor, addresses, cx.now)?,
        profile,
    })
}

/// Writes a note on a contact.
pub fn add_contact_note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    body: &str,
) -> Result<()> {
    let profile = contact_profile::load(tx, cx.actor, email)?;
    contact_notes::add(tx, cx, &profile.addresses, body)
}

pub fn delete_contact_note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    note: &ContactNoteId,
) -> Result<()> {
    let profile = contact_profile::load(tx, cx.actor, email)?;
    contact_notes::delete(tx, cx, &profile.addresses, note)
}

/// Makes the contact with another address part of this one.
pub fn merge_contacts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    from: &EmailAddress,
    into: &EmailAddress,
) -> Result<()> {
    let into = contact_profile::load(tx, cx.actor, into)?;
    let from = contact_profile::load(tx, cx.actor, from).map_err(|error| match error {
        Error::NotFound(_) => {
            Error::invalid("with", "There is no mail of this address that you can see.")
        }
        error => error,
    })?;
    contact_addresses::merge(tx, cx, &from.email, &into.email)
}

/// Undoes the merge by which an address came to a contact.
pub fn separate_address(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    contact: &EmailAddress,
    email: &EmailAddress,
) -> Result<()> {
    let profile = contact_profile::load(tx, cx.actor, contact)?;
    if !profile.addresses.contains(email) {
        return Err(Error::NotFound("address"));
    }
    contact_addresses::separate(tx, cx, email)
}
