//! Signatures on events, by the Standard Webhooks scheme (API section 6.1).

use base::ids::{EventId, Ids};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Random bytes of a signing secret.
const SECRET_BYTES: usize = 32;
const PREFIX: &str = "whsec_";
/// The minimum length in bytes of a secret made elsewhere.
const LEAST_SECRET_BYTES: usize = 16;
/// How old a signed call may be, or how far ahead its sender's clock.
const TOLERANCE_SECONDS: i64 = 5 * 60;

pub fn new_secret(ids: &Ids) -> String {
    format!("{PREFIX}{}", STANDARD.encode(ids.bytes::<SECRET_BYTES>()))
}

/// The headers of one try, signed with each secret, the newest first.
pub fn headers(
    event: &EventId,
    now: i64,
    body: &str,
    secrets: &[String],
) -> Vec<(&'static str, String)> {
    let timestamp = now.div_euclid(1_000);
    let signed = format!("{event}.{timestamp}.{body}");
    let signatures: Vec<String> = secrets.iter().map(|secret| signature(secret, &signed)).collect();
    vec![
        ("content-type", "application/json".into()),
        ("webhook-id", event.to_string()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ]
}

fn signature(secret: &str, signed: &str) -> String {
    format!("v1,{}", STANDARD.encode(mac(secret, signed.as_bytes()).finalize().into_bytes()))
}

fn mac(secret: &str, signed: &[u8]) -> Hmac<Sha256> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX).unwrap_or(secret)).unwrap_or_default();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key may have any length");
    mac.update(signed);
    mac
}

/// An incoming call signed by the same scheme, not verified yet.
pub struct Signed<'a> {
    pub id: &'a str,
    pub timestamp: &'a str,
    /// One or more, with spaces between.
    pub signatures: &'a str,
    pub body: &'a [u8],
}

/// True when a call is signed with this secret, and not long ago.
pub fn is_genuine(call: &Signed<'_>, secret: &str, now: i64) -> bool {
    let Ok(at) = call.timestamp.parse::<i64>() else { return false };
    if call.id.is_empty() || now.div_euclid(1_000).saturating_sub(at).abs() > TOLERANCE_SECONDS {
        return false;
    }
    let signed = [format!("{}.{at}.", call.id).as_bytes(), call.body].concat();
    let given = call.signatures.split(' ').filter_map(|one| one.strip_prefix("v1,"));
    given
        .filter_map(|one| STANDARD.decode(one).ok())
        .any(|one| mac(secret, &signed).verify_slice(&one).is_ok())
}

/// True for a well-formed secret of this scheme.
pub fn is_secret(text: &str) -> bool {
    let key = text.strip_prefix(PREFIX).and_then(|key| STANDARD.decode(key).ok());
    key.is_some_and(|key| key.len() >= LEAST_SECRET_BYTES)
}

/// Compares two secrets in constant time.
pub fn are_same(one: &[u8], other: &[u8]) -> bool {
    mac("", one).verify_slice(&mac("", other).finalize().into_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_from_other_words_and_compared_whole() {
        assert!(is_secret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="));
        for bad in ["", "whsec_", "whsec_AAAA", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "whsec_ä"] {
            assert!(!is_secret(bad), "{bad}");
        }
        assert!(are_same(b"a", b"a") && !are_same(b"a", b"ab") && !are_same(b"", b"a"));
    }

    /// Made with Python's own HMAC.
    #[test]
    fn a_signature_is_over_id_time_and_body_and_both_secrets_sign() {
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned();
        let expected = "v1,RFWIiYU2el/rXg69rxXbjr2i00es5mF/LAxx9D/oqo8=";
        let event = EventId::parse("evt_1").expect("an id");
        let body = r#"{"type":"webhook.test"}"#;
        let signed = |secrets: &[String]| headers(&event, 1_794_733_200_999, body, secrets);
        assert_eq!(
            signed(std::slice::from_ref(&secret)),
            [
                ("content-type", "application/json".to_owned()),
                ("webhook-id", "evt_1".to_owned()),
                ("webhook-timestamp", "1794733200".to_owned()),
                ("webhook-signature", expected.to_owned()),
            ]
        );
        let both = signed(&["whsec_AAAA".into(), secret]);
        assert!(both[3].1.ends_with(&format!(" {expected}")), "{both:?}");
    }
}
