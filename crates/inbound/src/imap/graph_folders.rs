//! How far the folders of a mailbox were read by Microsoft Graph.
//!
//! A folder is listed by its delta link, and the next link is written only after everything that was
//! listed is filed: a crash repeats downloads and nothing else, because duplicates are recognized by
//! Message-ID and content.

use base::error::Result;
use base::string_enum::string_enum;
use db::Tx;
use outbound::messages::header_key;

use super::{ImapAccount, is_held};

/// More ids than this, about a thousand, are not remembered.
const PASSED_OVER_CHARS: i64 = 200_000;

string_enum! {
    /// A folder that is read, by its well-known name.
    GraphFolder { Inbox = "inbox", Sent = "sentitems" }
}

db::row! {
    /// How far a folder was read.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct GraphCursor from "f" {
        /// Leads to what is new; `None` where the folder is listed from its beginning.
        pub delta_link: Option<String>,
        /// The latest time at which a mail was received that is dealt with.
        pub done_to: i64,
        /// A mail whose download failed, and the number of attempts.
        pub stuck_item: String,
        pub stuck_attempts: i64,
        /// The mails that were left since the link was written: their ids, one a line.
        pub passed_over: String,
    }
}

pub fn graph_cursor(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
) -> Result<GraphCursor> {
    let found: Option<GraphCursor> = tx.opt(
        &format!(
            "SELECT {} FROM graph_folders f WHERE f.ws = ?1 AND f.mailbox = ?2 AND f.folder = ?3",
            GraphCursor::COLUMNS
        ),
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder],
    )?;
    Ok(found.unwrap_or_default())
}

/// Writes down a mail that is dealt with, and counts whether it was `fetched` (0 or 1). False when the
/// lease was lost.
pub fn note_graph_item(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
    received_at: i64,
    fetched: i64,
) -> Result<bool> {
    if !begin_write(tx, account, folder)? {
        return Ok(false);
    }
    tx.exec(
        "UPDATE graph_folders SET done_to = ?4
         WHERE ws = ?1 AND mailbox = ?2 AND folder = ?3 AND done_to < ?4",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder, &received_at],
    )?;
    if fetched > 0 {
        tx.exec(
            "UPDATE imap_accounts SET fetched = fetched + ?3 WHERE ws = ?1 AND mailbox = ?2",
            &[&account.inbox.ws, &account.inbox.mailbox.id, &fetched],
        )?;
    }
    Ok(true)
}

/// Everything that was listed is dealt with. False when the lease was lost.
pub fn set_graph_link(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
    link: &str,
) -> Result<bool> {
    if !begin_write(tx, account, folder)? {
        return Ok(false);
    }
    tx.exec(
        "UPDATE graph_folders SET delta_link = ?4, stuck_item = '', stuck_attempts = 0,
            passed_over = ''
         WHERE ws = ?1 AND mailbox = ?2 AND folder = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder, &link],
    )?;
    Ok(true)
}

/// The server does not know the link any more: the folder is listed from its beginning. False when the
/// lease was lost.
pub fn forget_graph_link(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
) -> Result<bool> {
    if !begin_write(tx, account, folder)? {
        return Ok(false);
    }
    tx.exec(
        "UPDATE graph_folders SET delta_link = NULL
         WHERE ws = ?1 AND mailbox = ?2 AND folder = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder],
    )?;
    Ok(true)
}

/// Counts a failed download of a mail. False when the lease was lost.
pub fn note_graph_stuck(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
    item: &str,
) -> Result<bool> {
    if !begin_write(tx, account, folder)? {
        return Ok(false);
    }
    tx.exec(
        "UPDATE graph_folders SET stuck_item = ?4,
            stuck_attempts = CASE WHEN stuck_item = ?4 THEN stuck_attempts + 1 ELSE 1 END
         WHERE ws = ?1 AND mailbox = ?2 AND folder = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder, &item],
    )?;
    Ok(true)
}

/// Remembers a mail that is left where it is. False when the lease was lost.
pub fn note_graph_passed_over(
    tx: &mut Tx<'_>,
    account: &ImapAccount,
    folder: GraphFolder,
    item: &str,
) -> Result<bool> {
    if !begin_write(tx, account, folder)? {
        return Ok(false);
    }
    tx.exec(
        "UPDATE graph_folders SET passed_over = passed_over || ?4
         WHERE ws = ?1 AND mailbox = ?2 AND folder = ?3 AND length(passed_over) < ?5",
        &[
            &account.inbox.ws,
            &account.inbox.mailbox.id,
            &folder,
            &format!("{item}\n"),
            &PASSED_OVER_CHARS,
        ],
    )?;
    Ok(true)
}

/// True when a mail of the inbox has this Message-ID, without angle brackets.
pub fn has_message_id(tx: &mut Tx<'_>, account: &ImapAccount, header_id: &str) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT id FROM messages WHERE ws = ?1 AND mailbox = ?2 AND header_key = ?3 LIMIT 1",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &header_key(header_id)],
    )?;
    Ok(found.is_some())
}

/// Sees to it that the folder has a row; false when the lease was lost.
fn begin_write(tx: &mut Tx<'_>, account: &ImapAccount, folder: GraphFolder) -> Result<bool> {
    if !is_held(tx, account, &account.inbox.mailbox)? {
        return Ok(false);
    }
    tx.exec(
        "INSERT INTO graph_folders (ws, mailbox, folder, done_to, stuck_item, stuck_attempts,
            passed_over)
         VALUES (?1, ?2, ?3, 0, '', 0, '')
         ON CONFLICT (ws, mailbox, folder) DO NOTHING",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &folder],
    )?;
    Ok(true)
}
