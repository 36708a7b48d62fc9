//! Whom somebody removed from a workspace: a sign-in provider that still knows them does not bring them
//! back. Kept are keyed hashes of addresses and accounts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::UserId;
use db::Tx;

use crate::guests::guest_tokens::keyed_digest;

/// Remembers a person who is being removed, while their rows are still there.
pub fn remember_removed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    email: &EmailAddress,
) -> Result<()> {
    let accounts: Vec<(String, String)> = tx.all(
        "SELECT issuer, subject FROM provider_accounts WHERE ws = ?1 AND person = ?2",
        &[&cx.actor.ws, person],
    )?;
    let accounts = accounts.iter().map(|(issuer, subject)| of_account(issuer, subject));
    for what in std::iter::once(of_address(email)).chain(accounts) {
        let hash = keyed_digest(tx, cx, &what)?;
        tx.exec(
            "INSERT INTO removed_people (ws, hash, removed_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (ws, hash) DO UPDATE SET removed_at = excluded.removed_at",
            &[&cx.actor.ws, &hash.as_slice(), &cx.now],
        )?;
    }
    Ok(())
}

/// Somebody with this address is added again.
pub fn forget_removed(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    let any: Option<(i64,)> =
        tx.opt("SELECT ws FROM removed_people WHERE ws = ?1 LIMIT 1", &[&cx.actor.ws])?;
    if any.is_none() {
        return Ok(());
    }
    let hash = keyed_digest(tx, cx, &of_address(email))?;
    tx.exec(
        "DELETE FROM removed_people WHERE ws = ?1 AND hash = ?2",
        &[&cx.actor.ws, &hash.as_slice()],
    )?;
    Ok(())
}

/// True for an address or an account of somebody who was removed.
pub fn was_removed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    issuer: &str,
    subject: &str,
) -> Result<bool> {
    for what in [of_address(email), of_account(issuer, subject)] {
        let hash = keyed_digest(tx, cx, &what)?;
        let found: Option<(i64,)> = tx.opt(
            "SELECT removed_at FROM removed_people WHERE ws = ?1 AND hash = ?2",
            &[&cx.actor.ws, &hash.as_slice()],
        )?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn of_address(email: &EmailAddress) -> String {
    format!("removed address {email}")
}

fn of_account(issuer: &str, subject: &str) -> String {
    format!("removed account {issuer} {subject}")
}
