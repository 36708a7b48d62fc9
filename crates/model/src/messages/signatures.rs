//! Signatures: a person's own, or that of the inbox. They are Markdown and go below sent messages.

use base::error::Result;
use base::ids::{MailboxId, UserId};
use db::Tx;

use crate::messages::placeholders::{fill, first_word};

/// The signature of what somebody writes in an inbox: their own if they have one, else that of the
/// inbox with their name filled in.
pub fn in_effect(
    tx: &mut Tx<'_>,
    ws: i64,
    author: Option<&UserId>,
    name: &str,
    mailbox: &MailboxId,
) -> Result<String> {
    let own: Option<(String,)> = match author {
        Some(author) => {
            tx.opt("SELECT signature FROM users WHERE ws = ?1 AND id = ?2", &[&ws, author])?
        }
        None => None,
    };
    let (shared, inbox): (String, String) =
        tx.one("SELECT signature, name FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, mailbox])?;
    let signature = own.map(|(own,)| own).filter(|own| !own.trim().is_empty()).unwrap_or(shared);
    Ok(fill_placeholders(&signature, name, &inbox))
}

/// A signature with its placeholders filled in.
pub fn fill_placeholders(signature: &str, name: &str, inbox: &str) -> String {
    let filled = fill(signature, |placeholder| match placeholder {
        "my_name" => Some(name.to_owned()),
        "my_first_name" => Some(first_word(name).to_owned()),
        "inbox" => Some(inbox.to_owned()),
        _ => None,
    });
    filled.trim().to_owned()
}
