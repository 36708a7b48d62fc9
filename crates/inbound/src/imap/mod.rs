//! State of mail fetching by IMAP or Microsoft Graph: which inbox is due, how far each has been fetched,
//! and errors. The network code is in the server crate.
//!
//! The row is the job. A process claims an inbox by a lease and renews it, so that only one of
//! several processes fetches its mail. The cursor moves only after a mail is filed, and duplicates
//! are recognized by Message-ID and content, so that a crash repeats a download and nothing else.

mod account;
mod graph_folders;
mod health;
mod sent_folder;

use base::error::Result;
use base::files::blobs::Blobs;
use base::ids::Ids;
use base::limits::FETCHING_LEASE_MS;
use base::unless_resting;
use db::Tx;
use model::mailboxes::Mailbox;
use outbound::messages::header_key;

use account::AccountRow;

pub use account::{
    FetchProtocol, FolderCursor, ImapAccount, ImapServer, PostFetchAction, Security,
};
pub use graph_folders::{
    GraphCursor, GraphFolder, forget_graph_link, graph_cursor, has_message_id, note_graph_item,
    note_graph_passed_over, note_graph_stuck, set_graph_link,
};
pub use health::{
    FetchFailure, FetchFailureKind, failing, let_go, note_failure, note_passed_over, note_round,
    note_skipped, note_stuck, stay_away,
};
pub use sent_folder::{
    SentCursor, end_copy, note_copy_refused, plan_copy, planned_copies, sent_cursor,
    set_sent_cursor,
};

const HOLDER_CHARS: usize = 20;
/// Mails with one Message-ID and size whose headers are compared.
const COMPARED_MAILS: i64 = 5;

/// Claims the due inboxes. One whose row cannot be read gets a backoff and does not block the
/// others.
pub fn claim_due(tx: &mut Tx<'_>, ids: &Ids, now: i64, most: usize) -> Result<Vec<ImapAccount>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, String)> = tx.all(
        &format!(
            "SELECT ws, mailbox FROM imap_accounts
             WHERE next_attempt_at <= ?1 AND {} ORDER BY next_attempt_at LIMIT ?2{lock}",
            unless_resting!()
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

/// Ends all leases. For databases with a single process, where leases are left only by a killed
/// process.
pub fn release_all(tx: &mut Tx<'_>, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE imap_accounts SET holder = '', next_attempt_at = ?1 WHERE holder <> ''",
        &[&now],
    )?;
    Ok(())
}

/// When the next inbox is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    let (next,): (Option<i64>,) = tx.one(
        concat!(
            "SELECT (SELECT next_attempt_at FROM imap_accounts WHERE ",
            unless_resting!(),
            " ORDER BY next_attempt_at LIMIT 1)"
        ),
        &[],
    )?;
    Ok(next)
}

/// Renews an inbox's lease; false when another process has claimed it, it was set up anew or removed, or its
/// workspace rests.
pub fn hold(tx: &mut Tx<'_>, account: &ImapAccount, now: i64) -> Result<bool> {
    let held = tx.exec(
        concat!(
            "UPDATE imap_accounts SET next_attempt_at = ?4
             WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3 AND ",
            unless_resting!()
        ),
        &[
            &account.inbox.ws,
            &account.inbox.mailbox.id,
            &account.holder,
            &(now + FETCHING_LEASE_MS),
        ],
    )?;
    Ok(held == 1)
}

/// Renews the leases of many inboxes in one transaction; says of each, in their order, whether it still is held.
pub fn hold_all(tx: &mut Tx<'_>, accounts: &[ImapAccount], now: i64) -> Result<Vec<bool>> {
    accounts.iter().map(|account| hold(tx, account, now)).collect()
}

/// True while the lease is held and the workspace does not rest. Filing checks this in its own transaction, so that ending the
/// fetching and filing are serialized.
pub fn is_held(tx: &mut Tx<'_>, account: &ImapAccount, mailbox: &Mailbox) -> Result<bool> {
    let lock = tx.pick("", " FOR SHARE");
    let found: Option<(String,)> = tx.opt(
        &format!(
            "SELECT mailbox FROM imap_accounts
             WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3 AND {}{lock}",
            unless_resting!()
        ),
        &[&account.inbox.ws, &mailbox.id, &account.holder],
    )?;
    Ok(found.is_some())
}

/// Resets the cursor, because UIDVALIDITY changed or the folder is new. Mails up to `seen_to` may
/// have been fetched under their old UIDs.
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

/// Moves the cursor past a mail and counts whether it was `fetched` (0 or 1). False when the lease
/// was lost.
pub fn count(tx: &mut Tx<'_>, account: &ImapAccount, uid: i64, fetched: i64) -> Result<bool> {
    let counted = tx.exec(
        "UPDATE imap_accounts SET last_uid = ?4, fetched = fetched + ?5
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3 AND last_uid < ?4",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &account.holder, &uid, &fetched],
    )?;
    Ok(counted == 1)
}

/// True when the inbox has a mail with this Message-ID, this header, trace fields included, and this
/// many bytes: the very delivery. Others are fetched, and compared as a whole.
pub fn is_filed(
    tx: &mut Tx<'_>,
    blobs: &Blobs,
    account: &ImapAccount,
    (header_id, header, bytes): (&str, &[u8], u32),
) -> Result<bool> {
    let (ws, key) = (account.inbox.ws, header_key(header_id));
    let named: Vec<(String,)> = tx.all(
        "SELECT b.hash FROM messages m CROSS JOIN blobs b
         WHERE m.ws = ?1 AND m.mailbox = ?2 AND m.header_key >= ?3 AND m.header_key < ?4
           AND b.ws = m.ws AND b.hash = m.raw_hash AND b.size = ?5
         LIMIT ?6",
        &[
            &ws,
            &account.inbox.mailbox.id,
            &key,
            &format!("{key}!"),
            &i64::from(bytes),
            &COMPARED_MAILS,
        ],
    )?;
    for (hash,) in named {
        let stored = blobs.get(tx, ws, &hash)?;
        if stored.is_some_and(|stored| !header.is_empty() && stored.starts_with(header)) {
            return Ok(true);
        }
    }
    Ok(false)
}
