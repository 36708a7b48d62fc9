//! The folder of sent mail of a connected mailbox: how far it was read, and what is to be put there.

use base::app::Cx;
use base::error::Result;
use base::ids::{MailboxId, MessageId};
use db::Tx;
use model::mailboxes::outgoing_servers::{self, SubmissionProtocol};

use super::ImapAccount;

/// Copies that are put there in one round.
const COPIES: i64 = 20;
/// Tries to put a copy there before it is given up.
const COPY_ATTEMPTS: i64 = 5;

/// How far the folder was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCursor {
    /// The folder's name as the server writes it; empty where there is none, `None` until it was
    /// looked for.
    pub folder: Option<String>,
    pub validity: Option<i64>,
    pub last_uid: i64,
}

pub fn sent_cursor(tx: &mut Tx<'_>, account: &ImapAccount) -> Result<SentCursor> {
    let (folder, validity, last_uid) = tx.one(
        "SELECT sent_folder, sent_validity, sent_uid FROM imap_accounts
         WHERE ws = ?1 AND mailbox = ?2",
        &[&account.inbox.ws, &account.inbox.mailbox.id],
    )?;
    Ok(SentCursor { folder, validity, last_uid })
}

/// Moves the cursor; false when the lease was lost.
pub fn set_sent_cursor(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    cursor: &SentCursor,
) -> Result<bool> {
    let set = tx.exec(
        "UPDATE imap_accounts SET sent_folder = ?4, sent_validity = ?5, sent_uid = ?6
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[
            &account.inbox.ws,
            &account.inbox.mailbox.id,
            &account.holder,
            &cursor.folder,
            &cursor.validity,
            &cursor.last_uid,
        ],
    )?;
    Ok(set == 1)
}

/// Plans a copy of a message that was sent from an inbox, where its mail is fetched by IMAP and sent by
/// something else than Microsoft Graph, which keeps what it sends.
pub fn plan_copy(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    message: &MessageId,
) -> Result<()> {
    let fetched: Option<(String,)> = tx.opt(
        "SELECT mailbox FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2 AND protocol = 'imap'",
        &[&cx.actor.ws, mailbox],
    )?;
    if fetched.is_some()
        && outgoing_servers::protocol_of(tx, cx.actor.ws, mailbox)?
            != Some(SubmissionProtocol::Graph)
    {
        tx.exec(
            "INSERT INTO sent_copies (ws, mailbox, message, attempts) VALUES (?1, ?2, ?3, 0)
             ON CONFLICT (ws, mailbox, message) DO NOTHING",
            &[&cx.actor.ws, mailbox, message],
        )?;
    }
    Ok(())
}

/// The messages that are to be put into the folder, with their Message-IDs.
pub fn planned_copies(tx: &mut Tx<'_>, account: &ImapAccount) -> Result<Vec<(MessageId, String)>> {
    Ok(tx.all(
        "SELECT c.message, m.header_id FROM sent_copies c
         JOIN messages m ON m.ws = c.ws AND m.id = c.message
         WHERE c.ws = ?1 AND c.mailbox = ?2 ORDER BY c.message LIMIT ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &COPIES],
    )?)
}

/// The copy is there, or is not wanted.
pub fn end_copy(tx: &mut Tx<'_>, account: &ImapAccount, message: &MessageId) -> Result<()> {
    tx.exec(
        "DELETE FROM sent_copies WHERE ws = ?1 AND mailbox = ?2 AND message = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, message],
    )?;
    Ok(())
}

/// The server did not take the copy: it is tried again, and then given up.
pub fn note_copy_refused(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    message: &MessageId,
) -> Result<()> {
    let key: [&dyn db::Arg; 3] = [&account.inbox.ws, &account.inbox.mailbox.id, message];
    tx.exec(
        "UPDATE sent_copies SET attempts = attempts + 1
         WHERE ws = ?1 AND mailbox = ?2 AND message = ?3",
        &key,
    )?;
    tx.exec(
        "DELETE FROM sent_copies
         WHERE ws = ?1 AND mailbox = ?2 AND message = ?3 AND attempts >= ?4",
        &[&account.inbox.ws, &account.inbox.mailbox.id, message, &COPY_ATTEMPTS],
    )?;
    Ok(())
}
