//! What stands beside a conversation: who its customer is, and what else there is with them.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use db::Tx;
use drafting::findings::SimilarConversation;
use model::contacts::contact_profile::{self, ContactProfile};
use model::conversations::{self, Conversation};
use model::linked_items::{self, LinkedItem};
use model::messages::answers::KnownAnswer;

use crate::conversations::open_conversation::{OtherConversation, other_conversations};
use crate::inboxes::drafting::{HelperFindings, helper_findings};
use crate::workspace::fields::{FieldSheet, fields_of_contact, fields_of_conversation};

/// People who follow a conversation, as far as they are named.
const FOLLOWERS: i64 = 20;

/// All of the column but the customer panel.
pub struct SideContent {
    pub conversation: Conversation,
    /// None where nothing is known yet, as of held mail.
    pub contact: Option<ContactProfile>,
    pub contact_fields: FieldSheet,
    pub own_fields: FieldSheet,
    pub links: Vec<LinkedItem>,
    pub others: Vec<OtherConversation>,
    pub offers: Vec<KnownAnswer>,
    pub answered_before: Vec<SimilarConversation>,
    pub followers: Vec<String>,
    /// The reader is one of them.
    pub is_followed: bool,
}

pub fn side_content(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<SideContent> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let email = EmailAddress::new(conversation.contact_email.as_str());
    let contact = match contact_profile::load(tx, cx.actor, &email) {
        Ok(contact) => Some(contact),
        Err(Error::NotFound(_)) => None,
        Err(error) => return Err(error),
    };
    let own_address = vec![email];
    let addresses = contact.as_ref().map_or(&own_address, |contact| &contact.addresses);
    let HelperFindings { offers, answered_before } = helper_findings(tx, cx, id)?;
    let followers = followers(tx, cx, &conversation)?;
    let me = cx.actor.member();
    let me = me.as_ref().map_or("", |me| me.as_str());
    Ok(SideContent {
        contact_fields: fields_of_contact(tx, cx, addresses)?,
        own_fields: fields_of_conversation(tx, cx, &conversation)?,
        links: linked_items::of_conversation(tx, cx.actor.ws, &conversation.id)?,
        others: other_conversations(tx, cx, &conversation)?,
        offers,
        answered_before,
        is_followed: followers.iter().any(|(id, _)| id == me),
        followers: followers.into_iter().map(|(_, name)| name).collect(),
        contact,
        conversation,
    })
}

fn followers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<(String, String)>> {
    Ok(tx.all(
        "SELECT u.id, u.name FROM followers f JOIN users u ON u.ws = f.ws AND u.id = f.person
         WHERE f.ws = ?1 AND f.conversation = ?2 ORDER BY f.since, u.id LIMIT ?3",
        &[&cx.actor.ws, &conversation.id, &FOLLOWERS],
    )?)
}
