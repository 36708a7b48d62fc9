//! Whether a call really comes from the service: each service has a scheme of its own.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::webhooks::webhook_signing::{self, are_same};
use ring::hmac;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde_json::Value;

use super::POSTMARK_USER;

/// How old a signed call may be, or how far ahead its sender's clock, in seconds. A call that is
/// repeated within that time changes nothing: a mail is noted once.
const TOLERANCE_SECONDS: i64 = 15 * 60;
/// A public key of the curve P-256 in its usual form (SubjectPublicKeyInfo) is these bytes and the
/// point.
const P256_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A header as text.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Resend: the Standard Webhooks scheme.
pub fn by_resend(headers: &HeaderMap, body: &[u8], secret: &str, now: i64) -> bool {
    let named = |name: &str| {
        let own = header(headers, &format!("svix-{name}"));
        own.or_else(|| header(headers, &format!("webhook-{name}")))
    };
    let [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(named);
    let call = webhook_signing::Signed {
        id: id.unwrap_or_default(),
        timestamp: timestamp.unwrap_or_default(),
        signatures: signatures.unwrap_or_default(),
        body,
    };
    webhook_signing::is_genuine(&call, secret, now)
}

/// Postmark: HTTP basic authentication.
pub fn by_postmark(headers: &HeaderMap, secret: &str) -> bool {
    let given = header(headers, AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        let decoded = STANDARD.decode(rest.trim()).ok()?;
        scheme.eq_ignore_ascii_case("basic").then_some(decoded)
    });
    let wanted = format!("{POSTMARK_USER}:{secret}");
    given.is_some_and(|given| are_same(&given, wanted.as_bytes()))
}

/// Mailgun: the HMAC of a time and a token, in the body.
pub fn by_mailgun(call: &Value, secret: &str, now: i64) -> bool {
    let signature = &call["signature"];
    let text = |name: &str| signature[name].as_str().unwrap_or_default();
    let (timestamp, token) = (text("timestamp"), text("token"));
    if token.is_empty() || !is_recent(timestamp, now) {
        return false;
    }
    let Some(given) = from_hex(text("signature")) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, format!("{timestamp}{token}").as_bytes(), &given).is_ok()
}

/// SendGrid: ECDSA over the time and the body.
pub fn by_sendgrid(headers: &HeaderMap, body: &[u8], public_key: &str, now: i64) -> bool {
    let named = |name: &str| header(headers, &format!("x-twilio-email-event-webhook-{name}"));
    let (Some(signature), Some(timestamp)) = (named("signature"), named("timestamp")) else {
        return false;
    };
    let Ok(signature) = STANDARD.decode(signature) else { return false };
    let Some(point) = p256_point(public_key) else { return false };
    if !is_recent(timestamp, now) {
        return false;
    }
    let signed = [timestamp.as_bytes(), body].concat();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(&signed, &signature).is_ok()
}

/// The point of a P-256 public key that SendGrid shows as base64.
fn p256_point(public_key: &str) -> Option<Vec<u8>> {
    let key = STANDARD.decode(public_key.trim()).ok()?;
    let point = key.strip_prefix(&P256_PREFIX)?;
    (point.len() == 65 && point[0] == 4).then(|| point.to_vec())
}

fn is_recent(seconds: &str, now: i64) -> bool {
    let at: Option<i64> = seconds.parse().ok();
    at.is_some_and(|at| now.div_euclid(1_000).saturating_sub(at).abs() <= TOLERANCE_SECONDS)
}

/// The bytes that hexadecimal digits say.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_794_733_200_000;

    /// Made with Python's own HMAC.
    #[test]
    fn a_call_of_mailgun_is_signed_over_time_and_token() {
        let call = |timestamp: &str, token: &str, signature: &str| json!({ "signature": { "timestamp": timestamp, "token": token, "signature": signature } });
        let good = "6c889c3dd11c3c622efe81103d6e18b33b3cc9932e7899791d9aa5c249eb6567";
        let key = "key-0123456789abcdef";
        let token = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";
        assert!(by_mailgun(&call("1794733200", token, good), key, NOW));
        for (timestamp, token, signature, key, now) in [
            ("1794733201", token, good, key, NOW),
            ("1794733200", "other", good, key, NOW),
            ("1794733200", token, &good[2..], key, NOW),
            ("1794733200", token, good, "key-other", NOW),
            ("1794733200", token, good, key, NOW + 16 * 60 * 1_000),
            ("1794733200", token, good, key, NOW - 16 * 60 * 1_000),
            ("x", token, good, key, NOW),
            ("1794733200", "", good, key, NOW),
            ("1794733200", token, "zz", key, NOW),
        ] {
            assert!(!by_mailgun(&call(timestamp, token, signature), key, now), "{timestamp}");
        }
    }

    /// Made with Python's cryptography.
    #[test]
    fn a_call_of_sendgrid_is_signed_over_time_and_body() {
        let key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiP2sK8s9QDS+oHaiPO/rkG4d0cPjEvth5O\
                   23LknL+ik4W/l7BzIhHVHx5NCRR14AI282BNM5V5AB3kmy4xb0Iw==";
        let signature = "MEQCIATseh7IFZcBNr4qbpN0KPuzCygQa7M2vwi8KjgmsvUgAiAcYxf65/HT\
                         ZroDUEIo36sWwbwnbprxefC4SJzsWu1+vQ==";
        let body = br#"[{"email":"bruno@x.example","event":"processed"}]"#;
        let headers = |timestamp: &str, signature: &str| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("timestamp", timestamp), ("signature", signature)] {
                let name = format!("x-twilio-email-event-webhook-{name}");
                let name = axum::http::HeaderName::try_from(name).expect("a name");
                headers.insert(name, value.parse().expect("a value"));
            }
            headers
        };
        assert!(by_sendgrid(&headers("1794733200", signature), body, key, NOW));
        assert!(!by_sendgrid(&headers("1794733201", signature), body, key, NOW));
        assert!(!by_sendgrid(&headers("1794733200", signature), b"[]", key, NOW));
        assert!(!by_sendgrid(&headers("1794733200", "AAAA"), body, key, NOW));
        assert!(!by_sendgrid(&headers("1794733200", signature), body, "AAAA", NOW));
        let old = NOW + 16 * 60 * 1_000;
        assert!(!by_sendgrid(&headers("1794733200", signature), body, key, old));
        assert!(!by_sendgrid(&HeaderMap::new(), body, key, NOW));
    }
}
