//! The first answer to a request that carries an `Idempotency-Key`, kept for 24 hours in the
//! transaction that did the work: a repeat finds the answer, or finds nothing done.

use std::borrow::Cow;

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{IDEMPOTENCY_KEPT_MS, IDEMPOTENCY_KEY_CHARS};
use db::Tx;
use model::installation::sealing;
use sha2::{Digest, Sha256};

use crate::operations::{Operation, OperationOutput};

/// A key that a caller chose for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Exactly what [`IdempotencyKey::parse`] accepts.
pub const PATTERN: &str = r#"^("[A-Za-z0-9_.:-]{1,200}"|[A-Za-z0-9_.:-]{1,200})$"#;

impl IdempotencyKey {
    /// The error for other values.
    pub const RULE: &str = "must be 1 to 200 letters, digits, _ . : or -, with or without quotes";

    /// A structured-field string in its quotes, or the same without them.
    pub fn parse(text: &str) -> Option<IdempotencyKey> {
        let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let key = quoted.unwrap_or(text);
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.:-".contains(&b);
        let fits = (1..=IDEMPOTENCY_KEY_CHARS).contains(&key.len()) && key.bytes().all(plain);
        fits.then(|| IdempotencyKey(key.to_owned()))
    }
}

/// The fingerprint of a request: the operation and its validated input.
pub fn fingerprint(operation: &Operation, input: &serde_json::Value) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(operation.name);
    hash.update([0]);
    hash.update(input.to_string());
    hash.finalize().to_vec()
}

/// The answer kept under this key, if the request is the same.
pub fn recall(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    key: &IdempotencyKey,
    fingerprint: &[u8],
) -> Result<Option<OperationOutput>> {
    let kept: Option<(Vec<u8>, Vec<u8>)> = tx.opt(
        "SELECT request, body FROM idempotency_keys
         WHERE ws = ?1 AND agent = ?2 AND key = ?3 AND created_at > ?4",
        &[&cx.actor.ws, &agent(cx), &key.0, &(cx.now - IDEMPOTENCY_KEPT_MS)],
    )?;
    match kept {
        None => Ok(None),
        Some((request, body)) if request == fingerprint => {
            let purpose = sealing::answer_purpose(cx.actor.ws, &agent(cx), &key.0);
            let body = sealing::unseal_bytes(cx, &purpose, body)?;
            Ok(Some(OperationOutput { body, ..OperationOutput::default() }))
        }
        Some(_) => Err(Error::KeyReused),
    }
}

/// Stores a response, and deletes some expired ones.
pub fn keep(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    key: &IdempotencyKey,
    fingerprint: &[u8],
    answer: &OperationOutput,
) -> Result<()> {
    let (ws, agent) = (cx.actor.ws, agent(cx));
    let body = match answer.has_secret {
        true => {
            let purpose = sealing::answer_purpose(ws, &agent, &key.0);
            Cow::Owned(sealing::seal_bytes(cx, &purpose, &answer.body))
        }
        false => Cow::Borrowed(&answer.body),
    };
    tx.exec(
        "DELETE FROM idempotency_keys WHERE ws = ?1 AND agent = ?2 AND key IN (
            SELECT key FROM idempotency_keys WHERE ws = ?1 AND agent = ?2 AND created_at <= ?3
            ORDER BY created_at LIMIT 5
         )",
        &[&ws, &agent, &(cx.now - IDEMPOTENCY_KEPT_MS)],
    )?;
    tx.exec(
        "INSERT INTO idempotency_keys (ws, agent, key, request, body, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws, agent, key) DO UPDATE SET
            request = excluded.request, body = excluded.body, created_at = excluded.created_at",
        &[&ws, &agent, &key.0, &fingerprint, &*body, &cx.now],
    )?;
    Ok(())
}

fn agent(cx: &Cx<'_>) -> String {
    cx.actor.member().map_or(String::new(), |member| member.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_stand_in_quotes_or_without() {
        let bare = IdempotencyKey::parse("a-1").expect("a key");
        assert_eq!(IdempotencyKey::parse("\"a-1\"").expect("a key"), bare);
        for bad in ["", "\"\"", "\"a", "a b", "ä", &"x".repeat(201)] {
            assert!(IdempotencyKey::parse(bad).is_none(), "{bad}");
        }
    }
}
