//! Secrets that have to be used again, such as the keys that sign mail and events, are kept in the
//! database sealed. Each is sealed for one purpose and can be opened for no other. Plain secrets of
//! earlier versions are still read, and are sealed when a server starts.

use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{
    AttachmentId, BusyCalendarId, MessageId, RequestId, SessionId, SubscriptionId, UserId,
    WebhookId,
};
use base::security::secret_sealer::{SEALED_PREFIX, SecretSealer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::Tx;
use sha2::{Digest, Sha256};

/// Bytes of a workspace's mail secret while it is not sealed.
const PLAIN_MAIL_SECRET_BYTES: i64 = 32;
/// Rows that are sealed in one transaction.
const SEALED_AT_ONCE: i64 = 100;

/// A webhook's signing secret.
pub fn webhook_purpose(ws: i64, id: &WebhookId) -> String {
    format!("webhook {ws} {id}")
}

/// The signing secret of the customer panel.
pub fn panel_purpose(ws: i64, livemode: bool) -> String {
    format!("panel {ws} {livemode}")
}

/// The secret that proves calls of an issue tracker.
pub fn tracker_purpose(ws: i64, kind: &str) -> String {
    format!("tracker {ws} {kind}")
}

/// A domain's DKIM key.
pub fn dkim_purpose(ws: i64, domain: &str, selector: &str) -> String {
    format!("dkim {ws} {domain} {selector}")
}

/// The secret that signs a workspace's markers in mail.
pub fn mail_purpose(ws: i64) -> String {
    format!("mail {ws}")
}

/// The token of an upload page from before tokens were derived.
pub fn upload_purpose(ws: i64, request: &RequestId) -> String {
    format!("upload {ws} {request}")
}

/// The key of a secure message.
pub fn secure_purpose(ws: i64, message: &MessageId) -> String {
    format!("secure {ws} {message}")
}

/// The key and name of a file of an unsent secure message.
pub fn attachment_purpose(ws: i64, id: &AttachmentId) -> String {
    format!("attachment {ws} {id}")
}

/// An unsent secure text.
pub fn autosave_purpose(ws: i64, person: &str, place: &str) -> String {
    format!("autosave {ws} {person} {place}")
}

/// The text of a queued notice: it may contain a sign-in link.
pub fn notice_purpose(ws: i64, id: &str) -> String {
    format!("notice {ws} {id}")
}

/// The key pair by which push services know this installation.
pub fn push_key_purpose() -> String {
    "push key".into()
}

/// Where a browser takes messages, with its keys.
pub fn push_target_purpose(ws: i64, id: &SubscriptionId) -> String {
    format!("push {ws} {id}")
}

/// A message on its way to a browser.
pub fn push_message_purpose(ws: i64, id: &str) -> String {
    format!("push message {ws} {id}")
}

/// Address and app password of a calendar.
pub fn calendar_purpose(ws: i64, id: &BusyCalendarId) -> String {
    format!("calendar {ws} {id}")
}

/// The password of the server that an inbox, or every inbox, sends through.
pub fn submission_purpose(ws: i64, mailbox: &str) -> String {
    format!("smtp {ws} {mailbox}")
}

/// The tokens of the grant by which an inbox's mailbox is read and sent from.
pub fn grant_purpose(ws: i64, mailbox: &str) -> String {
    format!("grant {ws} {mailbox}")
}

/// What somebody chose before they left to sign in at a provider: only their session can use it.
pub fn sign_in_purpose(ws: i64, session: &SessionId) -> String {
    format!("mailbox sign-in {ws} {session}")
}

/// What somebody typed when their session was over.
pub fn interrupted_form_purpose(person: &UserId) -> String {
    format!("interrupted form {person}")
}

/// The secret of a person's authenticator app.
pub fn totp_purpose(ws: i64, person: &UserId) -> String {
    format!("totp {ws} {person}")
}

/// An answer with a secret, kept for those who repeat their `Idempotency-Key`.
pub fn answer_purpose(ws: i64, agent: &str, key: &str) -> String {
    format!("answer {ws} {agent} {key}")
}

/// The password of the mailbox that an inbox's mail is fetched from.
pub fn imap_purpose(address: &str) -> String {
    format!("imap {address}")
}

/// The account at an ACME server, by the address of its directory.
pub fn acme_account_purpose(directory: &str) -> String {
    format!("acme account {directory}")
}

/// The key of the certificate that an ACME server issued for a host.
pub fn acme_key_purpose(host: &str) -> String {
    format!("acme key {host}")
}

/// A secret as it is kept.
pub fn seal(cx: &Cx<'_>, purpose: &str, secret: &str) -> String {
    cx.sealer.seal(cx.ids, purpose, secret)
}

/// A secret that was kept, to be used.
pub fn unseal(sealer: &dyn SecretSealer, purpose: &str, kept: String) -> Result<String> {
    match kept.starts_with(SEALED_PREFIX) {
        true => sealer.unseal(purpose, &kept).ok_or_else(cannot_open),
        false => Ok(kept),
    }
}

/// The same for a secret of bytes.
pub fn seal_bytes(cx: &Cx<'_>, purpose: &str, secret: &[u8]) -> Vec<u8> {
    match cx.sealer.seal(cx.ids, purpose, &STANDARD.encode(secret)) {
        sealed if sealed.starts_with(SEALED_PREFIX) => sealed.into_bytes(),
        _ => secret.to_vec(),
    }
}

pub fn unseal_bytes(cx: &Cx<'_>, purpose: &str, kept: Vec<u8>) -> Result<Vec<u8>> {
    let is_sealed =
        kept.starts_with(SEALED_PREFIX.as_bytes()) && kept.len() as i64 != PLAIN_MAIL_SECRET_BYTES;
    if !is_sealed {
        return Ok(kept);
    }
    let sealed = std::str::from_utf8(&kept).map_err(|_| cannot_open())?;
    let opened = cx.sealer.unseal(purpose, sealed).ok_or_else(cannot_open)?;
    STANDARD.decode(opened).map_err(|_| cannot_open())
}

fn cannot_open() -> Error {
    Error::Files(std::io::Error::other(
        "a secret in the database does not open with this secret.key",
    ))
}

/// Seals plain secrets; returns how many. Several processes may do so concurrently, and an
/// interruption is safe: each row is updated only where it still has the value that was read.
pub async fn seal_plain_secrets(app: &App) -> Result<usize> {
    let sample = app.sealer.seal(&app.ids, "", "");
    if !sample.starts_with(SEALED_PREFIX) {
        return Ok(0);
    }
    let mut sealed = 0;
    for step in [seal_webhooks, seal_signing_keys, seal_mail_secrets, seal_upload_tokens] {
        loop {
            let inner = app.clone();
            let some = app.store.write(move |tx| step(tx, &inner)).await?;
            if some == 0 {
                break;
            }
            sealed += some;
        }
    }
    Ok(sealed)
}

fn seal_webhooks(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let plain: Vec<(i64, WebhookId, String, Option<String>)> = tx.all(
        "SELECT ws, id, secret, old_secret FROM webhooks
         WHERE secret NOT LIKE 'v1.%' OR old_secret NOT LIKE 'v1.%' LIMIT ?1",
        &[&SEALED_AT_ONCE],
    )?;
    let mut sealed = 0;
    for (ws, id, secret, old) in plain {
        let purpose = webhook_purpose(ws, &id);
        let kept = |secret: &str| match secret.starts_with(SEALED_PREFIX) {
            true => secret.to_owned(),
            false => app.sealer.seal(&app.ids, &purpose, secret),
        };
        sealed += tx.exec(
            "UPDATE webhooks SET secret = ?4, old_secret = ?5
             WHERE ws = ?1 AND id = ?2 AND secret = ?3",
            &[&ws, &id, &secret, &kept(&secret), &old.as_deref().map(kept)],
        )?;
    }
    Ok(sealed as usize)
}

fn seal_signing_keys(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let plain: Vec<(i64, String, String, Vec<u8>)> = tx.all(
        "SELECT ws, domain, selector, secret FROM signing_keys
         WHERE substr(secret, 1, 3) <> ?1 LIMIT ?2",
        &[&SEALED_PREFIX.as_bytes(), &SEALED_AT_ONCE],
    )?;
    let mut sealed = 0;
    for (ws, domain, selector, secret) in plain {
        let purpose = dkim_purpose(ws, &domain, &selector);
        let kept = app.sealer.seal(&app.ids, &purpose, &STANDARD.encode(&secret));
        sealed += tx.exec(
            "UPDATE signing_keys SET secret = ?5
             WHERE ws = ?1 AND domain = ?2 AND selector = ?3 AND secret = ?4",
            &[&ws, &domain, &selector, &secret, &kept.as_bytes()],
        )?;
    }
    Ok(sealed as usize)
}

fn seal_mail_secrets(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let plain: Vec<(i64, Vec<u8>)> = tx.all(
        "SELECT ws, secret FROM mail_secrets WHERE length(secret) = ?1 LIMIT ?2",
        &[&PLAIN_MAIL_SECRET_BYTES, &SEALED_AT_ONCE],
    )?;
    let mut sealed = 0;
    for (ws, secret) in plain {
        let kept = app.sealer.seal(&app.ids, &mail_purpose(ws), &STANDARD.encode(&secret));
        sealed += tx.exec(
            "UPDATE mail_secrets SET secret = ?3 WHERE ws = ?1 AND secret = ?2",
            &[&ws, &secret, &kept.as_bytes()],
        )?;
    }
    Ok(sealed as usize)
}

/// Links of earlier versions go on working: their hash is what they are found by, and their sealed
/// token what a reminder names.
fn seal_upload_tokens(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let plain: Vec<(i64, RequestId, String)> = tx.all(
        "SELECT ws, id, old_token FROM document_requests WHERE token_hash IS NULL LIMIT ?1",
        &[&SEALED_AT_ONCE],
    )?;
    let mut sealed = 0;
    for (ws, id, token) in plain {
        let kept = app.sealer.seal(&app.ids, &upload_purpose(ws, &id), &token);
        sealed += tx.exec(
            "UPDATE document_requests SET old_token = ?4, token_hash = ?5
             WHERE ws = ?1 AND id = ?2 AND old_token = ?3 AND token_hash IS NULL",
            &[&ws, &id, &token, &kept, &Sha256::digest(&token).as_slice()],
        )?;
    }
    Ok(sealed as usize)
}
