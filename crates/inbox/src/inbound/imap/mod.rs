//! Mail that is fetched by IMAP from a mailbox elsewhere: whose turn it is, how far each inbox has
//! come, and how it goes. The sockets are in the server.
//!
//! The row is the job: whoever claims an inbox holds it for as long as they say so, so that of
//! several processes one fetches its mail. What is dealt with is counted only after it is filed, and
//! what was filed is known by its Message-ID, so that a crash repeats a download and nothing else.

mod account;
mod health;

pub use account::{FolderCursor, ImapAccount, PostFetchAction, Security};
pub use health::{
    FetchFailure, failing, let_go, note_failure, note_round, note_skipped, note_stuck,
};

use account::AccountRow;
use db::Tx;

use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{Ids, UserId};
use crate::base::limits::FETCHING_LEASE_MS;
use crate::model::mailboxes::Mailbox;
use crate::model::messages::header_key;

const HOLDER_CHARS: usize = 20;

/// Claims inboxes whose time has come, for whoever asks. One whose row cannot be read waits, and
/// holds up no other.
pub fn claim_due(tx: &mut Tx<'_>, ids: &Ids, now: i64, most: usize) -> Result<Vec<ImapAccount>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, String)> = tx.all(
        &format!(
            "SELECT ws, mailbox FROM imap_accounts
             WHERE next_attempt_at <= ?1 ORDER BY next_attempt_at LIMIT ?2{lock}"
        ),
        &[&now, &(most as i64)],
    )?;
    let mut accounts = Vec::with_capacity(due.len());
    for (ws, mailbox) in due {
        tx.exec(
            "UPDATE imap_accounts SET holder = ?3, next_attempt_at = ?4 WHERE ws = ?1 AND mailbox = ?2",
            &[&ws, &mailbox, &ids.token(HOLDER_CHARS), &(now + FETCHING_LEASE_MS)],
        )?;
        let loaded: Result<AccountRow, db::StoreError> = tx.one(
            &format!(
                "SELECT {} FROM {} WHERE a.ws = ?1 AND a.mailbox = ?2",
                AccountRow::COLUMNS,
                account::FROM
            ),
            &[&ws, &mailbox],
        );
        match loaded {
            Ok(account) => accounts.push(account.into()),
            Err(error @ (db::StoreError::Sqlite(_) | db::StoreError::Postgres(_))) => {
                return Err(error.into());
            }
            Err(error) => {
                tracing::error!(mailbox, %error, "IMAP account row is unreadable");
                health::note_unreadable(tx, ws, &mailbox, now)?;
            }
        }
    }
    Ok(accounts)
}

/// Takes back every claim, where no other process can have one: those that are there are of a
/// process that was killed.
pub fn release_all(tx: &mut Tx<'_>, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE imap_accounts SET holder = '', next_attempt_at = ?1 WHERE holder <> ''",
        &[&now],
    )?;
    Ok(())
}

/// When the next inbox's time comes.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    let (next,): (Option<i64>,) = tx.one("SELECT min(next_attempt_at) FROM imap_accounts", &[])?;
    Ok(next)
}

/// Says that an inbox is still being fetched; false when it has become somebody else's, was set up
/// anew or is fetched no more.
pub fn hold(tx: &mut Tx<'_>, account: &ImapAccount, now: i64) -> Result<bool> {
    let held = tx.exec(
        "UPDATE imap_accounts SET next_attempt_at = ?4 WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[
            &account.inbox.ws,
            &account.inbox.mailbox.id,
            &account.holder,
            &(now + FETCHING_LEASE_MS),
        ],
    )?;
    Ok(held == 1)
}

/// True while an inbox is fetched by whoever claimed it. Filing asks in its own transaction: of two,
/// who ends the fetching and who files, one comes first.
pub fn is_held(tx: &mut Tx<'_>, account: &ImapAccount, mailbox: &Mailbox) -> Result<bool> {
    let lock = tx.pick("", " FOR SHARE");
    let found: Option<(String,)> = tx.opt(
        &format!(
            "SELECT mailbox FROM imap_accounts
             WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3{lock}"
        ),
        &[&account.inbox.ws, &mailbox.id, &account.holder],
    )?;
    Ok(found.is_some())
}

/// Begins to count anew: the server has numbered its mails anew, or they are seen for the first
/// time. Mails up to `seen_to` may have been dealt with under their old numbers.
pub fn begin_count(tx: &mut Tx<'_>, account: &ImapAccount, cursor: &FolderCursor) -> Result<bool> {
    let begun = tx.exec(
        "UPDATE imap_accounts SET uid_validity = ?4, last_uid = ?5, seen_to = ?6,
            stuck_uid = 0, stuck_attempts = 0
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[
            &account.inbox.ws,
            &account.inbox.mailbox.id,
            &account.holder,
            &cursor.validity,
            &cursor.last_uid,
            &cursor.seen_to,
        ],
    )?;
    Ok(begun == 1)
}

/// Counts a mail as dealt with, and how many of it were `fetched`: none or one. False when the
/// inbox is somebody else's by now.
pub fn count(tx: &mut Tx<'_>, account: &ImapAccount, uid: i64, fetched: i64) -> Result<bool> {
    let counted = tx.exec(
        "UPDATE imap_accounts SET last_uid = ?4, fetched = fetched + ?5
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3 AND last_uid < ?4",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &account.holder, &uid, &fetched],
    )?;
    Ok(counted == 1)
}

/// True when the inbox has a mail of this Message-ID.
pub fn is_filed(tx: &mut Tx<'_>, account: &ImapAccount, header_id: &str) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT id FROM messages WHERE ws = ?1 AND mailbox = ?2 AND header_key = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &header_key(header_id)],
    )?;
    Ok(found.is_some())
}

/// Those who hear how fetching goes: the owners, or the one whose private inbox it is.
fn concerned(tx: &mut Tx<'_>, cx: &Cx<'_>, account: &ImapAccount) -> Result<Vec<UserId>> {
    if let Some(person) = account.inbox.mailbox.circle.person() {
        return Ok(vec![person]);
    }
    let owners: Vec<(UserId,)> = tx.all(
        "SELECT id FROM users WHERE ws = ?1 AND role = 'owner' ORDER BY created_at, id",
        &[&cx.actor.ws],
    )?;
    Ok(owners.into_iter().map(|(id,)| id).collect())
}
