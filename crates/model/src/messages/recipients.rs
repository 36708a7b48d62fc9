//! The recipients of an outgoing message: the contact, everyone on the newest message, or the given
//! addresses.

use std::collections::HashSet;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use base::limits::RECIPIENTS;
use base::states::Direction;
use db::{Json, Tx};
use serde::{Deserialize, Serialize};

use crate::conversations::Conversation;

/// Inboxes of a workspace that count as its own addresses.
const OWN_INBOXES: i64 = 1_000;

/// A name and address as kept in a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Party {
    pub name: Option<String>,
    pub email: String,
}

impl Party {
    /// Addresses without names, each once.
    pub fn from_addresses(addresses: &[String]) -> Vec<Party> {
        let mut parties: Vec<Party> = Vec::new();
        for email in addresses.iter().map(|address| String::from(EmailAddress::new(address))) {
            if !parties.iter().any(|known| known.email == email) {
                parties.push(Party { name: None, email });
            }
        }
        parties
    }

    pub fn address(&self) -> EmailAddress {
        EmailAddress::new(&self.email)
    }
}

impl From<&mail::Address> for Party {
    fn from(address: &mail::Address) -> Party {
        Party { name: address.name.clone(), email: address.email.clone() }
    }
}

/// The lines To, Cc and Bcc of a message.
#[derive(Clone, Debug, Default)]
pub struct RecipientList {
    pub to: Vec<Party>,
    pub cc: Vec<Party>,
    pub bcc: Vec<Party>,
}

impl RecipientList {
    /// The conversation's contact alone.
    pub fn contact(conversation: &Conversation) -> RecipientList {
        let contact = Party {
            name: conversation.contact_name.clone(),
            email: conversation.contact_email.as_str().to_owned(),
        };
        RecipientList { to: vec![contact], ..RecipientList::default() }
    }

    /// The validation error, as a sentence for the author.
    pub fn problem(&self) -> Option<String> {
        if self.to.is_empty() {
            return Some("Say who it goes to.".into());
        }
        let too_many = [&self.to, &self.cc, &self.bcc].iter().any(|line| line.len() > RECIPIENTS);
        too_many.then(|| format!("A message goes to at most {RECIPIENTS} addresses in each line."))
    }

    /// True for the same addresses in the same lines, whatever names stand beside them.
    pub fn has_addresses_of(&self, other: &RecipientList) -> bool {
        let lines = [(&self.to, &other.to), (&self.cc, &other.cc), (&self.bcc, &other.bcc)];
        lines.iter().all(|(own, others)| {
            own.iter().map(Party::address).eq(others.iter().map(Party::address))
        })
    }

    /// All recipients.
    pub fn everybody(&self) -> impl Iterator<Item = &Party> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }
}

/// The recipients of an outgoing message.
pub fn of_message(tx: &mut Tx<'_>, ws: i64, id: &MessageId) -> Result<RecipientList> {
    type Lines = (Json<Vec<Party>>, Json<Vec<Party>>, Json<Vec<Party>>);
    let (to, cc, bcc): Lines = tx.one(
        "SELECT to_list, cc_list, bcc_list FROM messages WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    Ok(RecipientList { to: to.0, cc: cc.0, bcc: bcc.0 })
}

db::row! {
    struct AddressedMail from "messages" {
        direction: Direction,
        from_name: Option<String>,
        from_email: String,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
    }
}

/// Reply to all of the newest mail that was not passed on to others, without the inboxes of this workspace: its sender in To and the
/// others in Cc; for our own mail its To and Cc. Without any mail, the contact.
pub fn reply_all(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<RecipientList> {
    let newest: Option<AddressedMail> = tx.opt(
        &format!(
            "SELECT {} FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL AND NOT automatic
               AND forwards IS NULL
             ORDER BY at DESC, id DESC LIMIT 1",
            AddressedMail::COLUMNS
        ),
        &[&cx.actor.ws, &conversation.id],
    )?;
    let Some(newest) = newest else { return Ok(RecipientList::contact(conversation)) };
    let (to, cc) = match newest.direction {
        Direction::Inbound => {
            let sender = Party { name: newest.from_name, email: newest.from_email };
            (vec![sender], [newest.to_list.0, newest.cc_list.0].concat())
        }
        Direction::Outbound => (newest.to_list.0, newest.cc_list.0),
    };
    let mut seen = own_addresses(tx, cx.actor.ws)?;
    let mut others = |line: Vec<Party>| -> Vec<Party> {
        let mut is_other = |party: &Party| seen.insert(party.address().without_tag());
        line.into_iter().filter(|party| is_other(party)).collect()
    };
    let list = RecipientList { to: others(to), cc: others(cc), bcc: Vec::new() };
    Ok(if list.to.is_empty() { RecipientList::contact(conversation) } else { list })
}

fn own_addresses(tx: &mut Tx<'_>, ws: i64) -> Result<HashSet<EmailAddress>> {
    let own: Vec<(EmailAddress,)> =
        tx.all("SELECT address FROM mailboxes WHERE ws = ?1 LIMIT ?2", &[&ws, &OWN_INBOXES])?;
    Ok(own.into_iter().map(|(address,)| address).collect())
}

/// Adds a participant: their mail joins the conversation that its References name.
pub fn add_participant(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    email: &str,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO participants (ws, conversation, email) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, conversation, email) DO NOTHING",
        &[&ws, conversation, &email],
    )?;
    Ok(())
}
