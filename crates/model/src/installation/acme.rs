//! The certificate of the public URL's host that an ACME server issues (RFC 8555): when it is ordered, the account there,
//! and the challenges of the order that is under way. The rows are shared by all nodes.

use base::app::App;
use base::error::Result;
use base::ids::Ids;
use base::limits::{DAY_MS, HOUR_MS, MINUTE_MS};
use base::string_enum::string_enum;
use base::time::Moment;
use db::{Arg, Tx};

use crate::installation::sealing;

/// How long one order may take, and how long a node holds the row for it.
pub const ORDER_MS: i64 = 5 * MINUTE_MS;
pub const LEASE_MS: i64 = 2 * ORDER_MS;
/// The pause after a failure, which doubles up to the longest. ACME servers limit failures by the hour.
pub const FIRST_PAUSE_MS: i64 = HOUR_MS;
pub const LONGEST_PAUSE_MS: i64 = DAY_MS;
/// A server that asks for a longer pause gets it, up to this.
pub const LONGEST_ASKED_PAUSE_MS: i64 = 7 * DAY_MS;
/// How often a server is asked whether it wants the certificate to be renewed.
pub const ASK_EVERY_MS: i64 = 6 * HOUR_MS;
/// Characters of the reason that a server gave.
const FAILURE_CHARS: usize = 1_000;

string_enum! {
    /// How a server is shown that the host is ours.
    ChallengeKind {
        Http01 = "http-01",
        TlsAlpn01 = "tls-alpn-01",
    }
}

db::row! {
    /// The certificate of a host, without its key.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AcmeCertificate from "acme_certificates" {
        pub host: String,
        pub directory: String,
        /// `None` until the first one is there.
        pub issued_at: Option<i64>,
        pub expires_at: Option<i64>,
        pub next_at: i64,
        pub ask_at: Option<i64>,
        pub leased_until: Option<i64>,
        /// How many orders failed since the last success.
        pub failures: i64,
        pub failed_at: Option<i64>,
        /// Why, in the words of the server; for the operator alone.
        pub failure: Option<String>,
    }
}

/// A certificate and its key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedCertificate {
    pub chain: String,
    pub private_key: String,
    pub issued_at: i64,
    pub expires_at: i64,
}

base::debug_without_secrets!(IssuedCertificate { issued_at, expires_at });

/// A challenge that a server may ask about.
#[derive(Clone, PartialEq, Eq)]
pub struct AcmeChallenge {
    pub kind: ChallengeKind,
    pub token: String,
    pub key_authorization: String,
}

base::debug_without_secrets!(AcmeChallenge { kind });

/// An account at a server.
pub struct AcmeAccount {
    /// The address that the server was told, or nothing.
    pub contact: String,
    pub credentials: String,
}

impl AcmeCertificate {
    /// What is wrong, without the server's words.
    pub fn problem(&self) -> Option<String> {
        let host = &self.host;
        let next = Moment(self.next_at).iso();
        match (self.failures, self.issued_at) {
            (1, _) => Some(format!(
                "the TLS certificate of {host} could not be ordered; it is tried again at {next}"
            )),
            (2.., _) => Some(format!(
                "the TLS certificate of {host} could not be ordered {} times; it is tried again at {next}",
                self.failures
            )),
            (_, None) => Some(format!(
                "there is no TLS certificate of {host} yet: a self-signed one is served"
            )),
            _ => None,
        }
    }
}

/// The certificate of a host, or that it is still to be ordered; `None` before the server's first start.
pub fn certificate(tx: &mut Tx<'_>, host: &str) -> Result<Option<AcmeCertificate>> {
    let sql = format!("SELECT {} FROM acme_certificates WHERE host = ?1", AcmeCertificate::COLUMNS);
    Ok(tx.opt(&sql, &[&host])?)
}

/// Writes down which certificate is wanted. Other hosts are given up; another server gets an order at once.
pub fn set_plan(tx: &mut Tx<'_>, host: &str, directory: &str, now: i64) -> Result<()> {
    tx.exec("DELETE FROM acme_certificates WHERE host <> ?1", &[&host])?;
    tx.exec(
        "INSERT INTO acme_certificates (host, directory, next_at, failures) VALUES (?1, ?2, ?3, 0)
         ON CONFLICT (host) DO NOTHING",
        &[&host, &directory, &now],
    )?;
    tx.exec(
        "UPDATE acme_certificates
         SET directory = ?2, next_at = ?3, ask_at = NULL, failures = 0, failed_at = NULL,
             failure = NULL
         WHERE host = ?1 AND directory <> ?2",
        &[&host, &directory, &now],
    )?;
    Ok(())
}

/// Takes the due order for one node, until the lease ends; false where none is due or another node has it. If the
/// node never says how it went, the next is due after the pause of a failure.
pub fn claim_order(tx: &mut Tx<'_>, host: &str, now: i64) -> Result<bool> {
    let claimed = tx.exec(
        "UPDATE acme_certificates SET leased_until = ?3, next_at = ?4
         WHERE host = ?1 AND next_at <= ?2 AND (leased_until IS NULL OR leased_until <= ?2)",
        &[&host, &now, &(now + LEASE_MS), &(now + FIRST_PAUSE_MS)],
    )?;
    Ok(claimed > 0)
}

/// Takes the due question whether the server wants a renewal.
pub fn claim_question(tx: &mut Tx<'_>, host: &str, now: i64) -> Result<bool> {
    let claimed = tx.exec(
        "UPDATE acme_certificates SET ask_at = ?3 WHERE host = ?1 AND ask_at <= ?2",
        &[&host, &now, &(now + ASK_EVERY_MS)],
    )?;
    Ok(claimed > 0)
}

/// Moves the next order: to now where somebody asks for it, or as the server suggests.
pub fn move_order(tx: &mut Tx<'_>, host: &str, next_at: i64) -> Result<()> {
    tx.exec("UPDATE acme_certificates SET next_at = ?2 WHERE host = ?1", &[&host, &next_at])?;
    Ok(())
}

/// Keeps a certificate that was issued, for all nodes.
pub fn succeed(
    tx: &mut Tx<'_>,
    app: &App,
    host: &str,
    issued: &IssuedCertificate,
    next_at: i64,
) -> Result<()> {
    let purpose = sealing::acme_key_purpose(host);
    let args: [&dyn Arg; 7] = [
        &host,
        &issued.chain,
        &app.sealer.seal(&app.ids, &purpose, &issued.private_key),
        &issued.issued_at,
        &issued.expires_at,
        &next_at,
        &(issued.issued_at + ASK_EVERY_MS),
    ];
    tx.exec(
        "UPDATE acme_certificates
         SET chain = ?2, private_key = ?3, issued_at = ?4, expires_at = ?5, next_at = ?6,
             ask_at = ?7, leased_until = NULL, failures = 0, failed_at = NULL, failure = NULL
         WHERE host = ?1",
        &args,
    )?;
    Ok(())
}

/// Records that an order failed. The certificate stays as it was.
pub fn fail(tx: &mut Tx<'_>, host: &str, why: &str, now: i64, next_at: i64) -> Result<()> {
    let why: String = why.chars().filter(|c| !c.is_control()).take(FAILURE_CHARS).collect();
    tx.exec(
        "UPDATE acme_certificates
         SET leased_until = NULL, failures = failures + 1, failed_at = ?2, failure = ?3,
             next_at = ?4
         WHERE host = ?1",
        &[&host, &now, &why, &next_at],
    )?;
    Ok(())
}

/// The certificate that is served, with its key.
pub fn issued_certificate(
    tx: &mut Tx<'_>,
    app: &App,
    host: &str,
) -> Result<Option<IssuedCertificate>> {
    let found: Option<(String, String, i64, i64)> = tx.opt(
        "SELECT chain, private_key, issued_at, expires_at FROM acme_certificates
         WHERE host = ?1 AND issued_at IS NOT NULL",
        &[&host],
    )?;
    let Some((chain, sealed, issued_at, expires_at)) = found else { return Ok(None) };
    let private_key = sealing::unseal(&*app.sealer, &sealing::acme_key_purpose(host), sealed)?;
    Ok(Some(IssuedCertificate { chain, private_key, issued_at, expires_at }))
}

/// When a certificate is renewed: at two thirds of its lifetime, or up to a thirtieth earlier, so that the servers of
/// the world do not come together.
pub fn renewal_time(ids: &Ids, issued_at: i64, expires_at: i64) -> i64 {
    let lifetime = (expires_at - issued_at).max(0);
    issued_at + lifetime / 3 * 2 - ids.between(0, lifetime / 30)
}

/// When an order is tried again that failed for the n-th time: never within an hour, and not before the server
/// allows it.
pub fn retry_time(ids: &Ids, now: i64, failures: i64, allowed_from: Option<i64>) -> i64 {
    let doublings = failures.saturating_sub(1).clamp(0, 10) as u32;
    let pause = (FIRST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS);
    let own = now + pause + ids.between(0, pause / 10);
    let allowed_from = allowed_from.unwrap_or(0).min(now + LONGEST_ASKED_PAUSE_MS);
    own.max(allowed_from)
}

/// The account at the server of a directory.
pub fn account(tx: &mut Tx<'_>, app: &App, directory: &str) -> Result<Option<AcmeAccount>> {
    let found: Option<(String, String)> = tx.opt(
        "SELECT contact, credentials FROM acme_accounts WHERE directory = ?1",
        &[&directory],
    )?;
    let Some((contact, sealed)) = found else { return Ok(None) };
    let purpose = sealing::acme_account_purpose(directory);
    let credentials = sealing::unseal(&*app.sealer, &purpose, sealed)?;
    Ok(Some(AcmeAccount { contact, credentials }))
}

pub fn keep_account(
    tx: &mut Tx<'_>,
    app: &App,
    directory: &str,
    account: &AcmeAccount,
) -> Result<()> {
    let purpose = sealing::acme_account_purpose(directory);
    let sealed = app.sealer.seal(&app.ids, &purpose, &account.credentials);
    tx.exec(
        "INSERT INTO acme_accounts (directory, contact, credentials) VALUES (?1, ?2, ?3)
         ON CONFLICT (directory) DO UPDATE
         SET contact = excluded.contact, credentials = excluded.credentials",
        &[&directory, &account.contact, &sealed],
    )?;
    Ok(())
}

/// For an account that the server does not know any more.
pub fn drop_account(tx: &mut Tx<'_>, directory: &str) -> Result<()> {
    tx.exec("DELETE FROM acme_accounts WHERE directory = ?1", &[&directory])?;
    Ok(())
}

/// Lets every node answer a challenge.
pub fn publish_challenge(tx: &mut Tx<'_>, host: &str, challenge: &AcmeChallenge) -> Result<()> {
    tx.exec(
        "INSERT INTO acme_challenges (host, token, kind, key_authorization)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (host, token) DO UPDATE
         SET kind = excluded.kind, key_authorization = excluded.key_authorization",
        &[&host, &challenge.token, &challenge.kind, &challenge.key_authorization],
    )?;
    Ok(())
}

/// What a server that asks by HTTP is answered (RFC 8555, section 8.3).
pub fn http_answer(tx: &mut Tx<'_>, host: &str, token: &str) -> Result<Option<String>> {
    let found: Option<(String,)> = tx.opt(
        "SELECT key_authorization FROM acme_challenges
         WHERE host = ?1 AND token = ?2 AND kind = ?3",
        &[&host, &token, &ChallengeKind::Http01],
    )?;
    Ok(found.map(|(answer,)| answer))
}

/// What a server that asks in a TLS handshake is answered (RFC 8737). An order has one challenge of a host.
pub fn tls_answer(tx: &mut Tx<'_>, host: &str) -> Result<Option<String>> {
    let found: Option<(String,)> = tx.opt(
        "SELECT key_authorization FROM acme_challenges WHERE host = ?1 AND kind = ?2 LIMIT 1",
        &[&host, &ChallengeKind::TlsAlpn01],
    )?;
    Ok(found.map(|(answer,)| answer))
}

pub fn clear_challenges(tx: &mut Tx<'_>) -> Result<()> {
    tx.exec("DELETE FROM acme_challenges", &[])?;
    Ok(())
}
