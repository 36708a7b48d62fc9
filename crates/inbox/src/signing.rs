//! Signatures on events, by the Standard Webhooks scheme (API section 6.1).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::ids::{EventId, Ids};

/// Random bytes of a signing secret.
const SECRET_BYTES: usize = 32;
const PREFIX: &str = "whsec_";

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
    let key = STANDARD.decode(secret.strip_prefix(PREFIX).unwrap_or(secret)).unwrap_or_default();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key may have any length");
    mac.update(signed.as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
