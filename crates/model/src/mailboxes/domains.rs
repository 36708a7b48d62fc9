//! The domains that a workspace sends from, and the keys that sign their mail (DKIM).

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::Ids;
use base::string_enum::string_enum;
use db::Tx;
use mail::{DkimKey, DomainName};
use serde::Serialize;

use crate::installation::audit_log::{self, Action};
use crate::installation::sealing;

/// Characters of a selector behind its start.
const SELECTOR_CHARS: usize = 8;
/// Keys of one domain that are listed; the newest first.
const KEYS_LISTED: i64 = 20;

string_enum! {
    /// The state of a domain's DKIM key. `waiting`: its DNS record is not visible yet. `signing`:
    /// it signs the domain's mail. `retired`: it was replaced, and its record stays published until
    /// the mail that it signed has arrived.
    KeyState { Waiting = "waiting", Signing = "signing", Retired = "retired" }
}

db::row! {
    /// A key of a domain, without its secret.
    #[derive(Clone, Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct ListedKey from "signing_keys" {
        pub selector: String,
        pub state: KeyState,
        /// The public half, in base64.
        pub public: String,
        pub created_at: i64,
    }
}

/// The key that signs a domain's mail now.
#[derive(Clone, Debug)]
pub struct Signer {
    pub domain: String,
    pub selector: String,
    pub key: DkimKey,
}

/// Makes a key. It takes a second or so, so do it outside of a transaction.
pub fn make_key(ids: &Ids) -> Result<DkimKey> {
    DkimKey::generate(|bytes| {
        for chunk in bytes.chunks_mut(32) {
            chunk.copy_from_slice(&ids.bytes::<32>()[..chunk.len()]);
        }
    })
    .ok_or_else(|| Error::invalid("domain", "cannot be given a key on this machine"))
}

/// The domains of the workspace's inboxes, by name.
pub fn list_domains(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<String>> {
    cx.actor.must_administer()?;
    let addresses: Vec<(String,)> = tx.all(
        "SELECT address FROM mailboxes WHERE ws = ?1 AND circle <> 'sandbox' ORDER BY address",
        &[&cx.actor.ws],
    )?;
    let mut domains: Vec<String> =
        addresses.iter().filter_map(|(address,)| domain_of(address)).collect();
    domains.sort();
    domains.dedup();
    Ok(domains)
}

/// The keys of a domain, the newest first.
pub fn list_keys(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str) -> Result<Vec<ListedKey>> {
    let domain = own_domain(tx, cx, domain)?;
    Ok(tx.all(
        &format!(
            "SELECT {} FROM signing_keys
             WHERE ws = ?1 AND domain = ?2 ORDER BY created_at DESC, selector LIMIT ?3",
            ListedKey::COLUMNS
        ),
        &[&cx.actor.ws, &domain, &KEYS_LISTED],
    )?)
}

/// Keeps the first key of a domain, which signs at once: a signature whose record cannot be found
/// counts as none. Where there is a key already, nothing changes.
pub fn keep_first_key(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str, key: &DkimKey) -> Result<()> {
    let domain = own_domain(tx, cx, domain)?;
    match signs(tx, cx, &domain)? {
        true => Ok(()),
        false => insert(tx, cx, &domain, key, KeyState::Signing),
    }
}

/// Keeps a key that takes over once its record is seen in the DNS. One that was still waiting for
/// that is forgotten.
pub fn keep_next_key(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str, key: &DkimKey) -> Result<()> {
    let domain = own_domain(tx, cx, domain)?;
    tx.exec(
        "DELETE FROM signing_keys WHERE ws = ?1 AND domain = ?2 AND state = 'waiting'",
        &[&cx.actor.ws, &domain],
    )?;
    let state = match signs(tx, cx, &domain)? {
        true => KeyState::Waiting,
        false => KeyState::Signing,
    };
    insert(tx, cx, &domain, key, state)
}

/// Lets a waiting key sign from now on, as its record is seen in the DNS.
pub fn begin_signing(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str, selector: &str) -> Result<()> {
    let domain = own_domain(tx, cx, domain)?;
    let waits: Option<(String,)> = tx.opt(
        "SELECT selector FROM signing_keys
         WHERE ws = ?1 AND domain = ?2 AND selector = ?3 AND state = 'waiting'",
        &[&cx.actor.ws, &domain, &selector],
    )?;
    if waits.is_none() {
        return Ok(());
    }
    tx.exec(
        "UPDATE signing_keys SET state = CASE WHEN selector = ?3 THEN 'signing' ELSE 'retired' END
         WHERE ws = ?1 AND domain = ?2 AND state IN ('signing', 'waiting')",
        &[&cx.actor.ws, &domain, &selector],
    )?;
    Ok(())
}

/// The key that signs mail from this address, if its domain has one.
pub fn signer_of(tx: &mut Tx<'_>, cx: &Cx<'_>, address: &str) -> Result<Option<Signer>> {
    match domain_of(address) {
        Some(domain) => signer(tx, cx, &domain),
        None => Ok(None),
    }
}

/// True when a key signs the domain's mail.
fn signs(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT selector FROM signing_keys WHERE ws = ?1 AND domain = ?2 AND state = 'signing'",
        &[&cx.actor.ws, &domain],
    )?;
    Ok(found.is_some())
}

fn signer(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str) -> Result<Option<Signer>> {
    let ws = cx.actor.ws;
    let found: Option<(String, Vec<u8>, String)> = tx.opt(
        "SELECT selector, secret, public FROM signing_keys
         WHERE ws = ?1 AND domain = ?2 AND state = 'signing'",
        &[&ws, &domain],
    )?;
    let Some((selector, kept, public)) = found else { return Ok(None) };
    let purpose = sealing::dkim_purpose(ws, domain, &selector);
    let key = DkimKey::from_stored(sealing::unseal_bytes(cx, &purpose, kept)?, public);
    Ok(Some(Signer { domain: domain.to_owned(), selector, key }))
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    domain: &str,
    key: &DkimKey,
    state: KeyState,
) -> Result<()> {
    let selector = format!("mr{}", cx.ids.token(SELECTOR_CHARS));
    let purpose = sealing::dkim_purpose(cx.actor.ws, domain, &selector);
    let secret = sealing::seal_bytes(cx, &purpose, key.secret());
    tx.exec(
        "INSERT INTO signing_keys (ws, domain, selector, secret, public, state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[&cx.actor.ws, &domain, &selector, &secret, &key.public(), &state, &cx.now],
    )?;
    audit_log::record(tx, cx, &Circle::team(), Action::SigningKeyMade, domain, &selector)
}

/// A domain that the workspace has an inbox at, in ASCII.
fn own_domain(tx: &mut Tx<'_>, cx: &Cx<'_>, domain: &str) -> Result<String> {
    let wanted = mail::ascii_domain(domain.trim())
        .ok_or_else(|| Error::invalid("domain", "must be a domain such as acme.example"))?;
    let domains = list_domains(tx, cx)?;
    match domains.contains(&wanted) {
        true => Ok(wanted),
        false => Err(Error::invalid(
            "domain",
            format!("must be one that has an inbox here: {}", domains.join(", ")),
        )),
    }
}

fn domain_of(address: &str) -> Option<String> {
    DomainName::of_address(address).map(|domain| domain.to_string())
}
