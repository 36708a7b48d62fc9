//! What the page of a secure message shows: before the code only who wrote and when, after it the
//! secure messages of this conversation with this address.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use db::Tx;

use crate::branding::{self, Branding};
use crate::guests::secure::content::{self, ProtectedContent, ProtectedFile};
use crate::guests::secure::links::SecureLink;

/// Messages that one page shows; older ones are left out.
const MESSAGES: i64 = 100;

db::row! {
    /// What stands on the page before anything is proven.
    #[derive(Clone, Debug)]
    pub struct SecureFront from "m" {
        /// The firm.
        pub workspace: String = "w.name",
        pub author: Option<String> = "m.from_name",
        pub written_at: i64 = "m.at",
    } later {
        pub branding: Branding,
    }
}

pub fn front(tx: &mut Tx<'_>, link: &SecureLink) -> Result<SecureFront> {
    let front: SecureFront = tx.one(
        &format!(
            "SELECT {} FROM messages m JOIN workspaces w ON w.ws = m.ws
             WHERE m.ws = ?1 AND m.id = ?2",
            SecureFront::COLUMNS
        ),
        &[&link.actor.ws, &link.message],
    )?;
    Ok(SecureFront { branding: branding::load(tx, link.actor.ws)?, ..front })
}

/// The page of somebody who has proven their address.
pub struct SecurePage {
    pub front: SecureFront,
    pub subject: String,
    /// The reader's name, where it is known.
    pub reader: Option<String>,
    /// Oldest first.
    pub messages: Vec<PageMessage>,
    /// True if some of them were not opened before.
    pub has_unopened: bool,
}

/// Who wrote a message of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageAuthor {
    Team(String),
    Reader,
}

pub struct PageMessage {
    pub id: MessageId,
    pub at: i64,
    pub author: PageAuthor,
    pub content: ProtectedContent,
}

/// What the reader of a link may see: messages to this address whose pages are open, and the
/// reader's own answers.
pub fn read(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink) -> Result<SecurePage> {
    let ws = cx.actor.ws;
    let to_reader: Vec<(MessageId, i64, Option<String>, Option<i64>)> = tx.all(
        "SELECT m.id, m.at, m.from_name, l.opened_at
         FROM secure_links l
         JOIN secure_messages s ON s.ws = l.ws AND s.message = l.message
         JOIN messages m ON m.ws = l.ws AND m.id = l.message
         WHERE l.ws = ?1 AND l.conversation = ?2 AND l.email = ?3
           AND l.revoked_at IS NULL AND s.revoked_at IS NULL AND s.expires_at > ?4
           AND m.status IN ('sending', 'sent')
         ORDER BY l.message DESC LIMIT ?5",
        &[&ws, &link.conversation, &link.email, &cx.now, &MESSAGES],
    )?;
    let by_reader: Vec<(MessageId, i64)> = tx.all(
        "SELECT s.message, m.at
         FROM messages m JOIN secure_messages s ON s.ws = m.ws AND s.message = m.id
         WHERE m.ws = ?1 AND m.conversation = ?2 AND m.direction = 'inbound' AND m.secure = TRUE
           AND m.from_email = ?3
         ORDER BY m.at DESC, m.id DESC LIMIT ?4",
        &[&ws, &link.conversation, &link.email, &MESSAGES],
    )?;
    let ids: Vec<MessageId> = to_reader
        .iter()
        .map(|(id, _, _, _)| id)
        .chain(by_reader.iter().map(|(id, _)| id))
        .cloned()
        .collect();
    let mut states = content::states(tx, cx, &ids)?;
    let front = front(tx, link)?;
    let firm = front.workspace.clone();
    let has_unopened = to_reader.iter().any(|(_, _, _, opened_at)| opened_at.is_none());
    let sent = to_reader
        .into_iter()
        .map(|(id, at, name, _)| (id, at, PageAuthor::Team(name.unwrap_or_else(|| firm.clone()))));
    let answered = by_reader.into_iter().map(|(id, at)| (id, at, PageAuthor::Reader));
    let mut messages: Vec<PageMessage> = Vec::with_capacity(ids.len());
    for (id, at, author) in sent.chain(answered) {
        let state = states.remove(&id).ok_or(Error::NotFound("page"))?;
        messages.push(PageMessage { id, at, author, content: state.content });
    }
    messages.sort_by(|a, b| (a.at, a.id.as_str()).cmp(&(b.at, b.id.as_str())));
    let (subject, contact_email, contact_name): (String, String, Option<String>) = tx.one(
        "SELECT subject, contact_email, contact_name FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &link.conversation],
    )?;
    let reader = contact_name.filter(|_| contact_email == link.email);
    Ok(SecurePage { front, subject, reader, messages, has_unopened })
}

/// A file of the page, with its bytes.
pub fn file_of_page(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    id: &str,
) -> Result<(ProtectedFile, Vec<u8>)> {
    let page = read(tx, cx, link)?;
    let mut files = page.messages.into_iter().flat_map(|message| message.content.files);
    let file = files.find(|file| file.id.as_str() == id).ok_or(Error::NotFound("file"))?;
    let bytes = content::file_bytes(tx, cx, &file)?;
    Ok((file, bytes))
}
