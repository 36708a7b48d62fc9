//! Browsers that have proven an address: each for one conversation, for a while.

use base::error::Result;
use base::ids::ConversationId;
use base::limits::{GUEST_SESSION_IDLE_MS, GUEST_SESSION_MS};
use db::Tx;

use crate::guests::guest_tokens::GuestTokenHash;

/// A proven address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSession {
    pub email: String,
    /// When it ends if nothing more is read.
    pub ends_at: i64,
}

/// Begins a session, under a new cookie: what was known before the code was entered opens nothing.
pub fn begin(
    tx: &mut Tx<'_>,
    ws: i64,
    (before, browser): (GuestTokenHash, GuestTokenHash),
    conversation: &ConversationId,
    email: &str,
    now: i64,
) -> Result<()> {
    tx.exec("DELETE FROM guest_sessions WHERE created_at <= ?1", &[&(now - GUEST_SESSION_MS)])?;
    tx.exec(
        "DELETE FROM guest_sessions WHERE ws = ?1 AND browser = ?2 AND conversation = ?3",
        &[&ws, &before, conversation],
    )?;
    tx.exec(
        "UPDATE guest_sessions SET browser = ?3 WHERE ws = ?1 AND browser = ?2",
        &[&ws, &before, &browser],
    )?;
    tx.exec(
        "INSERT INTO guest_sessions (ws, browser, conversation, email, created_at, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        &[&ws, &browser, conversation, &email, &now],
    )?;
    Ok(())
}

/// The session of a browser, while it lasts.
pub fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    browser: GuestTokenHash,
    conversation: &ConversationId,
    now: i64,
) -> Result<Option<GuestSession>> {
    let found: Option<(String, i64, i64)> = tx.opt(
        "SELECT email, created_at, seen_at FROM guest_sessions
         WHERE ws = ?1 AND browser = ?2 AND conversation = ?3",
        &[&ws, &browser, conversation],
    )?;
    Ok(found.and_then(|(email, created_at, seen_at)| {
        let ends_at = (seen_at + GUEST_SESSION_IDLE_MS).min(created_at + GUEST_SESSION_MS);
        (ends_at > now).then_some(GuestSession { email, ends_at })
    }))
}

/// Writes down that the page is being read.
pub fn touch(
    tx: &mut Tx<'_>,
    ws: i64,
    browser: GuestTokenHash,
    conversation: &ConversationId,
    now: i64,
) -> Result<()> {
    tx.exec(
        "UPDATE guest_sessions SET seen_at = ?4
         WHERE ws = ?1 AND browser = ?2 AND conversation = ?3",
        &[&ws, &browser, conversation, &now],
    )?;
    Ok(())
}

/// Signs a browser out of one conversation.
pub fn end(
    tx: &mut Tx<'_>,
    ws: i64,
    browser: GuestTokenHash,
    conversation: &ConversationId,
) -> Result<()> {
    tx.exec(
        "DELETE FROM guest_sessions WHERE ws = ?1 AND browser = ?2 AND conversation = ?3",
        &[&ws, &browser, conversation],
    )?;
    Ok(())
}
