//! Web Push: a message encrypted for one browser (RFC 8291) and the proof of who sends it (RFC 8292).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::ids::Ids;

/// Bytes of a public key: an uncompressed point of P-256.
const PUBLIC_KEY_BYTES: usize = 65;
const POINT_PREFIX: u8 = 4;
const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const CONTENT_KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const SHARED_BYTES: usize = 32;
/// The record size of the content coding (RFC 8188, 2.1). Push services take 4,096 bytes.
const RECORD_BYTES: u32 = 4_096;
/// The longest message, in bytes: what a record has room for behind the header and the delimiter.
pub const PUSH_MESSAGE_BYTES: usize = 3_072;
/// Messages are padded to a multiple of this, so that their length tells little.
const PADDED_TO: usize = 512;
/// The delimiter of the last record (RFC 8188, 2).
const LAST_RECORD: u8 = 2;
/// The longest address of a push service, in bytes.
pub const ENDPOINT_BYTES: usize = 2_000;

/// A browser that takes messages: where it is reached, and the keys it gave.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushTarget {
    pub endpoint: String,
    /// The browser's public key, in base64url.
    pub p256dh: String,
    /// The secret that browser and sender share, in base64url.
    pub auth: String,
}

crate::security::debug_without_secrets::debug_without_secrets!(PushTarget {});

impl PushTarget {
    /// True where both keys have the form that RFC 8291 asks for.
    pub fn is_usable(&self) -> bool {
        self.endpoint.len() <= ENDPOINT_BYTES && self.keys().is_some()
    }

    fn keys(&self) -> Option<([u8; PUBLIC_KEY_BYTES], [u8; AUTH_BYTES])> {
        let key: [u8; PUBLIC_KEY_BYTES] = decode(&self.p256dh)?.try_into().ok()?;
        let auth: [u8; AUTH_BYTES] = decode(&self.auth)?.try_into().ok()?;
        (key[0] == POINT_PREFIX).then_some((key, auth))
    }

    /// The message as the browser alone can read it. `None` where its key is no key, or the message is
    /// too long.
    pub fn encrypt(&self, ids: &Ids, message: &str) -> Option<Vec<u8>> {
        let (browser_key, auth) = self.keys()?;
        if message.len() > PUSH_MESSAGE_BYTES {
            return None;
        }
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).ok()?;
        let own_key: [u8; PUBLIC_KEY_BYTES] =
            own.compute_public_key().ok()?.as_ref().try_into().ok()?;
        let shared =
            agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, browser_key), |shared| {
                <[u8; SHARED_BYTES]>::try_from(shared).ok()
            });
        let exchange = KeyExchange { shared: shared.ok()??, browser_key, own_key, auth };
        let padding = message.len().next_multiple_of(PADDED_TO) - message.len();
        exchange.seal(&ids.bytes::<SALT_BYTES>(), message.as_bytes(), padding).ok()
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

/// What both sides derive the key of a message from.
struct KeyExchange {
    shared: [u8; SHARED_BYTES],
    browser_key: [u8; PUBLIC_KEY_BYTES],
    own_key: [u8; PUBLIC_KEY_BYTES],
    auth: [u8; AUTH_BYTES],
}

impl KeyExchange {
    /// One record of the coding `aes128gcm` (RFC 8188, 2; RFC 8291, 4).
    fn seal(
        &self,
        salt: &[u8; SALT_BYTES],
        message: &[u8],
        padding: usize,
    ) -> Result<Vec<u8>, Unspecified> {
        let combined = Salt::new(HKDF_SHA256, &self.auth).extract(&self.shared);
        let info: [&[u8]; 3] = [b"WebPush: info\0", &self.browser_key, &self.own_key];
        let input: [u8; SHARED_BYTES] = expand(&combined, &info)?;
        let secret = Salt::new(HKDF_SHA256, salt).extract(&input);
        let key: [u8; CONTENT_KEY_BYTES] = expand(&secret, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce: [u8; NONCE_BYTES] = expand(&secret, &[b"Content-Encoding: nonce\0"])?;
        let mut record = Vec::with_capacity(message.len() + 1 + padding + TAG_BYTES);
        record.extend_from_slice(message);
        record.push(LAST_RECORD);
        record.resize(record.len() + padding, 0);
        LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?).seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::empty(),
            &mut record,
        )?;
        let mut body = salt.to_vec();
        body.extend_from_slice(&RECORD_BYTES.to_be_bytes());
        body.push(PUBLIC_KEY_BYTES as u8);
        body.extend_from_slice(&self.own_key);
        body.append(&mut record);
        Ok(body)
    }
}

struct OutputLength(usize);

impl KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(secret: &Prk, info: &[&[u8]]) -> Result<[u8; N], Unspecified> {
    let mut output = [0; N];
    secret.expand(info, OutputLength(N))?.fill(&mut output)?;
    Ok(output)
}

/// The key pair by which push services know this installation.
pub struct VapidKey(EcdsaKeyPair);

impl VapidKey {
    /// A new key pair, as PKCS #8 in base64url.
    pub fn generate() -> Option<String> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).ok()?;
        Some(URL_SAFE_NO_PAD.encode(document.as_ref()))
    }

    pub fn read(kept: &str) -> Option<VapidKey> {
        let document = decode(kept)?;
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        EcdsaKeyPair::from_pkcs8(algorithm, &document, &SystemRandom::new()).ok().map(VapidKey)
    }

    /// The `applicationServerKey` of subscriptions.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// The `Authorization` of a call to a push service (RFC 8292, 2 and 3): a token for that service alone,
    /// until `expires_at` in seconds. `contact` is where its operator reaches ours.
    pub fn authorization(&self, endpoint: &str, contact: &str, expires_at: i64) -> Option<String> {
        let audience = Url::parse(endpoint).ok()?.origin().ascii_serialization();
        let mut claims = serde_json::json!({ "aud": audience, "exp": expires_at });
        if contact.starts_with("https://") {
            claims["sub"] = contact.into();
        }
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Some(format!("vapid t={signed}.{signature}, k={}", self.public_key()))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        decode(text).unwrap().try_into().unwrap()
    }

    #[test]
    fn the_example_of_rfc_8291_has_its_bytes() {
        // Appendix A.
        let exchange = KeyExchange {
            shared: bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            browser_key: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            own_key: bytes(
                "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
            ),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let message = b"When I grow up, I want to be a watermelon";
        let sealed = exchange.seal(&bytes("DGv6ra1nlYgDCS1FRnbzlw"), message, 0).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6\
                        e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZ\
                        wbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(sealed), expected);
    }

    #[test]
    fn a_message_is_padded_and_never_longer_than_a_push_service_takes() {
        let browser = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let key = browser.compute_public_key().unwrap();
        let target = PushTarget {
            endpoint: "https://push.example/1".into(),
            p256dh: URL_SAFE_NO_PAD.encode(key.as_ref()),
            auth: URL_SAFE_NO_PAD.encode([7; AUTH_BYTES]),
        };
        let ids = Ids::with_seed(1);
        let length = |message: &str| target.encrypt(&ids, message).map(|body| body.len());
        assert_eq!(length("short"), length("a little longer"));
        assert!(length(&"x".repeat(PUSH_MESSAGE_BYTES)).unwrap() <= RECORD_BYTES as usize);
        assert_eq!(length(&"x".repeat(PUSH_MESSAGE_BYTES + 1)), None);
    }

    #[test]
    fn keys_of_another_form_are_refused() {
        let target = |p256dh: &str, auth: &str| PushTarget {
            endpoint: "https://push.example/1".into(),
            p256dh: p256dh.into(),
            auth: auth.into(),
        };
        let (key, auth) = (
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        );
        assert!(target(key, auth).is_usable());
        assert!(target(&format!("{key}="), auth).is_usable());
        for (key, auth) in [(key, ""), ("", auth), (&key[1..], auth), (key, "short"), (auth, key)] {
            assert!(!target(key, auth).is_usable());
        }
        let beside_the_curve = URL_SAFE_NO_PAD.encode([POINT_PREFIX; PUBLIC_KEY_BYTES]);
        assert_eq!(target(&beside_the_curve, auth).encrypt(&Ids::with_seed(1), "x"), None);
    }

    #[test]
    fn a_token_names_the_push_service_and_is_signed() {
        let key = VapidKey::read(&VapidKey::generate().unwrap()).unwrap();
        let said = key
            .authorization(
                "https://push.example:8443/send/1?x",
                "https://mail.example",
                1_800_000_000,
            )
            .unwrap();
        let (token, public) = said.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let claims = decode(signed.split_once('.').unwrap().1).unwrap();
        assert_eq!(
            serde_json::from_slice::<serde_json::Value>(&claims).unwrap(),
            serde_json::json!({
                "aud": "https://push.example:8443",
                "exp": 1_800_000_000,
                "sub": "https://mail.example",
            })
        );
        let verified = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public).unwrap())
            .verify(signed.as_bytes(), &decode(signature).unwrap());
        assert!(verified.is_ok());
        assert!(VapidKey::read("none").is_none());
    }
}
