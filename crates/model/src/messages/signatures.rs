//! Signatures: a person's own, or that of the inbox. They are Markdown and go below sent messages.

use base::error::Result;
use base::ids::{MailboxId, UserId};
use db::Tx;

use crate::mailboxes::{self, InboxWriting};
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
    let own = match author {
        Some(author) => writing_of(tx, ws, author)?,
        None => None,
    };
    let inbox = mailboxes::writing_of(tx, ws, mailbox)?;
    let own = own.map(|(own, _)| own);
    Ok(choose(own.as_deref(), &inbox, name))
}

/// A person's own signature if they have one, else that of the inbox, with its placeholders filled
/// in.
pub fn choose(own: Option<&str>, inbox: &InboxWriting, name: &str) -> String {
    let own = own.filter(|own| !own.trim().is_empty());
    fill_placeholders(own.unwrap_or(&inbox.signature), name, &inbox.name)
}

/// A person's signature, and whether they write plain text.
pub fn writing_of(tx: &mut Tx<'_>, ws: i64, author: &UserId) -> Result<Option<(String, bool)>> {
    let sql = "SELECT signature, plain_text FROM users WHERE ws = ?1 AND id = ?2";
    Ok(tx.opt(sql, &[&ws, author])?)
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
