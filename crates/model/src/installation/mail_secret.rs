//! The secret that signs a workspace's markers in mail.

use base::app::Cx;
use base::error::Result;
use db::Tx;

use crate::installation::sealing;

/// Random bytes of a secret: as many as the hash it keys gives out.
const SECRET_BYTES: usize = 32;

/// The key of every mark in a workspace's mail: signed Message-IDs, reply addresses, return paths
/// and the loop mark of `mail`. It is never printed.
#[derive(Clone)]
pub struct MailSecret(Vec<u8>);

impl MailSecret {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The workspace's secret, created on first use. It never changes: replies to sent mail may arrive
/// years later.
pub fn mail_secret(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<MailSecret> {
    if let Some(secret) = load(tx, cx)? {
        return Ok(secret);
    }
    // Of two that make one at the same time, one loses the race and reads the other's.
    let made = cx.ids.bytes::<SECRET_BYTES>();
    tx.exec(
        "INSERT INTO mail_secrets (ws, secret) VALUES (?1, ?2)",
        &[&cx.actor.ws, &sealing::seal_bytes(cx, &sealing::mail_purpose(cx.actor.ws), &made)],
    )?;
    Ok(MailSecret(made.to_vec()))
}

/// The workspace's secret, where it has one. Nothing is written.
pub fn load(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<MailSecret>> {
    let ws = cx.actor.ws;
    let found: Option<(Vec<u8>,)> =
        tx.opt("SELECT secret FROM mail_secrets WHERE ws = ?1", &[&ws])?;
    let Some((kept,)) = found else { return Ok(None) };
    Ok(Some(MailSecret(sealing::unseal_bytes(cx, &sealing::mail_purpose(ws), kept)?)))
}
