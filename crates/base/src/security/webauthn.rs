//! Passkeys: what a browser says when one is made or used (Web Authentication Level 3), checked.
//!
//! No attestation is asked for: which maker's device it is does not matter here. The public key comes as
//! the browser's `getPublicKey()` gives it, so that no CBOR is read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use url::{Host, Url};

/// Bytes of a challenge.
pub const CHALLENGE_BYTES: usize = 32;
/// The longest credential id (Web Authentication, 4), in bytes.
pub const CREDENTIAL_BYTES: usize = 1_023;
/// The longest public key, client data, authenticator data and signature, in bytes.
const PART_BYTES: usize = 8 * 1024;
/// rpIdHash, flags and counter.
const HEAD_BYTES: usize = 37;
const AAGUID_BYTES: usize = 16;

// Flags of the authenticator data (6.1).
const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const ATTESTED: u8 = 1 << 6;

/// COSE algorithms (RFC 9053, RFC 8812), the best first.
pub const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];
const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

// What precedes the key itself in a SubjectPublicKeyInfo of each kind that has a fixed length.
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const P256_BYTES: usize = 65;
const ED25519_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const ED25519_BYTES: usize = 32;
/// The algorithm of RSA keys, as DER.
const RSA_KIND: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// Whom passkeys are made for: this site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// The site's name.
    pub id: String,
    pub origin: String,
}

impl RelyingParty {
    /// `None` where browsers offer no passkeys: without https, or at an address without a name.
    pub fn at(public_url: &str) -> Option<RelyingParty> {
        let url = Url::parse(public_url).ok()?;
        let Some(Host::Domain(name)) = url.host() else { return None };
        let is_secure = url.scheme() == "https" || name == "localhost";
        let origin = url.origin().ascii_serialization();
        is_secure.then(|| RelyingParty { id: name.to_owned(), origin })
    }
}

/// Why a passkey was not accepted; for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasskeyFault(pub &'static str);

/// What a browser says of a new passkey, each part in base64url.
#[derive(Clone, Debug, Default)]
pub struct NewCredential {
    pub id: String,
    pub client_data: String,
    pub authenticator_data: String,
    pub public_key: String,
    pub algorithm: i64,
}

/// What a browser says when a passkey is used.
#[derive(Clone, Debug, Default)]
pub struct Assertion {
    pub id: String,
    pub client_data: String,
    pub authenticator_data: String,
    pub signature: String,
    pub user_handle: String,
}

/// A passkey as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCredential {
    pub id: Vec<u8>,
    pub public_key: Vec<u8>,
    pub algorithm: i64,
    pub counter: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

impl NewCredential {
    /// The steps of section 7.1 that are left without attestation.
    pub fn check(
        &self,
        site: &RelyingParty,
        challenge: &str,
    ) -> Result<CheckedCredential, PasskeyFault> {
        check_client_data(&part(&self.client_data)?, "webauthn.create", site, challenge)?;
        let data = part(&self.authenticator_data)?;
        let counter = check_head(&data, site)?;
        if data[32] & ATTESTED == 0 {
            return Err(PasskeyFault("the authenticator data has no credential"));
        }
        let length_at = HEAD_BYTES + AAGUID_BYTES;
        let length = data.get(length_at..length_at + 2).ok_or(PasskeyFault("cut short"))?;
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        let id = data.get(length_at + 2..length_at + 2 + length);
        let id = id.ok_or(PasskeyFault("the credential id is cut short"))?.to_vec();
        if id.is_empty() || id.len() > CREDENTIAL_BYTES || part(&self.id)? != id {
            return Err(PasskeyFault("the credential id does not fit"));
        }
        let public_key = part(&self.public_key)?;
        key_of(&public_key, self.algorithm)?;
        Ok(CheckedCredential { id, public_key, algorithm: self.algorithm, counter })
    }
}

impl Assertion {
    /// The id of the passkey that was used.
    pub fn credential(&self) -> Result<Vec<u8>, PasskeyFault> {
        part(&self.id)
    }

    /// The steps of section 7.2; answers the counter. One that does not grow is normal: passkeys that
    /// are copied between devices always say 0.
    pub fn check(
        &self,
        site: &RelyingParty,
        challenge: &str,
        person: &str,
        public_key: &[u8],
        algorithm: i64,
    ) -> Result<i64, PasskeyFault> {
        if part(&self.user_handle)? != person.as_bytes() {
            return Err(PasskeyFault("the passkey is somebody else's"));
        }
        let client_data = part(&self.client_data)?;
        check_client_data(&client_data, "webauthn.get", site, challenge)?;
        let data = part(&self.authenticator_data)?;
        let counter = check_head(&data, site)?;
        let mut signed = data;
        signed.extend_from_slice(&Sha256::digest(&client_data));
        let (key, how) = key_of(public_key, algorithm)?;
        UnparsedPublicKey::new(how, key)
            .verify(&signed, &part(&self.signature)?)
            .map_err(|_| PasskeyFault("the signature does not fit"))?;
        Ok(counter)
    }
}

fn part(text: &str) -> Result<Vec<u8>, PasskeyFault> {
    if text.len() > PART_BYTES {
        return Err(PasskeyFault("a part is too long"));
    }
    URL_SAFE_NO_PAD.decode(text).map_err(|_| PasskeyFault("a part is not base64url"))
}

fn check_client_data(
    bytes: &[u8],
    kind: &str,
    site: &RelyingParty,
    challenge: &str,
) -> Result<(), PasskeyFault> {
    let data: ClientData = serde_json::from_slice(bytes)
        .map_err(|_| PasskeyFault("the client data cannot be read"))?;
    if data.kind != kind {
        return Err(PasskeyFault("the type of the client data is not the expected one"));
    }
    if data.challenge != challenge {
        return Err(PasskeyFault("the challenge does not match"));
    }
    if data.origin != site.origin || data.cross_origin {
        return Err(PasskeyFault("the origin does not match, or the request is cross-origin"));
    }
    Ok(())
}

/// The counter of authenticator data that is for this site and says that the person was verified.
fn check_head(data: &[u8], site: &RelyingParty) -> Result<i64, PasskeyFault> {
    if data.len() < HEAD_BYTES {
        return Err(PasskeyFault("the authenticator data is cut short"));
    }
    if data[..32] != *Sha256::digest(&site.id) {
        return Err(PasskeyFault("the passkey is for another site"));
    }
    let wanted = USER_PRESENT | USER_VERIFIED;
    if data[32] & wanted != wanted {
        return Err(PasskeyFault("the flag of user presence or user verification is missing"));
    }
    Ok(i64::from(u32::from_be_bytes([data[33], data[34], data[35], data[36]])))
}

/// The key inside a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), as the verifier takes it.
fn key_of(
    spki: &[u8],
    algorithm: i64,
) -> Result<(&[u8], &'static dyn VerificationAlgorithm), PasskeyFault> {
    let fault = PasskeyFault("the public key is not of its algorithm");
    match algorithm {
        ES256 => {
            let key = spki.strip_prefix(&P256_HEAD).filter(|key| key.len() == P256_BYTES);
            let is_whole = |key: &&[u8]| key[0] == 4;
            let key = key.filter(is_whole).ok_or(fault)?;
            Ok((key, &signature::ECDSA_P256_SHA256_ASN1))
        }
        EDDSA => {
            let key = spki.strip_prefix(&ED25519_HEAD).filter(|key| key.len() == ED25519_BYTES);
            Ok((key.ok_or(fault)?, &signature::ED25519))
        }
        RS256 => {
            let (inside, after) = der(spki, 0x30).ok_or(fault)?;
            let bits = inside.strip_prefix(&RSA_KIND).ok_or(fault)?;
            let (key, behind) = der(bits, 0x03).ok_or(fault)?;
            let key = key.strip_prefix(&[0]).filter(|_| after.is_empty() && behind.is_empty());
            Ok((key.ok_or(fault)?, &signature::RSA_PKCS1_2048_8192_SHA256))
        }
        _ => Err(PasskeyFault("the algorithm is not one of ours")),
    }
}

/// The content of a DER element of this kind, and what follows it.
fn der(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        short @ 0..=0x7f => (usize::from(short), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?])), &rest[2..]),
        _ => return None,
    };
    (*tag == kind && rest.len() >= length).then(|| rest.split_at(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};

    use super::*;

    const PERSON: &str = "usr_1";
    const CHALLENGE: &str = "Y2hhbGxlbmdl";

    fn site() -> RelyingParty {
        RelyingParty::at("https://mail.acme.test").expect("a name")
    }

    fn b64(bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn client_data(kind: &str, challenge: &str, origin: &str) -> Vec<u8> {
        let text = format!(
            r#"{{"type":"{kind}","challenge":"{challenge}","origin":"{origin}","crossOrigin":false}}"#
        );
        text.into_bytes()
    }

    fn head(site: &str, flags: u8, counter: u32) -> Vec<u8> {
        let mut data = Sha256::digest(site).to_vec();
        data.push(flags);
        data.extend(counter.to_be_bytes());
        data
    }

    /// A key of each kind that this library can make: its SPKI, its algorithm and what signs with it.
    type Signs = Box<dyn Fn(&[u8]) -> Vec<u8>>;

    fn keys() -> Vec<(Vec<u8>, i64, Signs)> {
        let chance = SystemRandom::new();
        let edwards = Ed25519KeyPair::generate_pkcs8(&chance).unwrap();
        let edwards = Ed25519KeyPair::from_pkcs8(edwards.as_ref()).unwrap();
        let spki = [ED25519_HEAD.as_slice(), edwards.public_key().as_ref()].concat();
        let kind = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let curve = EcdsaKeyPair::generate_pkcs8(kind, &chance).unwrap();
        let curve = EcdsaKeyPair::from_pkcs8(kind, curve.as_ref(), &chance).unwrap();
        let p256 = [P256_HEAD.as_slice(), curve.public_key().as_ref()].concat();
        let sign =
            move |text: &[u8]| curve.sign(&SystemRandom::new(), text).unwrap().as_ref().to_vec();
        vec![
            (spki, EDDSA, Box::new(move |text| edwards.sign(text).as_ref().to_vec())),
            (p256, ES256, Box::new(sign)),
        ]
    }

    fn new_credential(spki: &[u8], algorithm: i64) -> NewCredential {
        let mut data = head("mail.acme.test", USER_PRESENT | USER_VERIFIED | ATTESTED, 0);
        data.extend([0; AAGUID_BYTES]);
        data.extend([0, 3, 7, 8, 9]);
        NewCredential {
            id: b64(&[7, 8, 9]),
            client_data: b64(&client_data("webauthn.create", CHALLENGE, &site().origin)),
            authenticator_data: b64(&data),
            public_key: b64(spki),
            algorithm,
        }
    }

    fn assertion(data: &[u8], client_data: &[u8], sign: &Signs) -> Assertion {
        let signed = [data, Sha256::digest(client_data).as_slice()].concat();
        Assertion {
            id: b64(&[7, 8, 9]),
            client_data: b64(client_data),
            authenticator_data: b64(data),
            signature: b64(&sign(&signed)),
            user_handle: b64(PERSON.as_bytes()),
        }
    }

    #[test]
    fn a_passkey_is_made_and_used_with_each_algorithm() {
        for (spki, algorithm, sign) in keys() {
            let made =
                new_credential(&spki, algorithm).check(&site(), CHALLENGE).expect("a passkey");
            assert_eq!((made.id.as_slice(), made.counter), ([7, 8, 9].as_slice(), 0));
            let data = head("mail.acme.test", USER_PRESENT | USER_VERIFIED, 4);
            let said = client_data("webauthn.get", CHALLENGE, &site().origin);
            let used = assertion(&data, &said, &sign);
            let check = |used: &Assertion| used.check(&site(), CHALLENGE, PERSON, &spki, algorithm);
            assert_eq!(check(&used), Ok(4));
            let other = used.check(&site(), "b3RoZXI", PERSON, &spki, algorithm);
            assert_eq!(other, Err(PasskeyFault("the challenge does not match")));
            assert!(used.check(&site(), CHALLENGE, "usr_2", &spki, algorithm).is_err());
            for (data, said) in [
                (head("evil.test", USER_PRESENT | USER_VERIFIED, 4), said.clone()),
                (head("mail.acme.test", USER_PRESENT, 4), said.clone()),
                (data.clone(), client_data("webauthn.create", CHALLENGE, &site().origin)),
                (data.clone(), client_data("webauthn.get", CHALLENGE, "https://evil.test")),
                (data[..30].to_vec(), said.clone()),
            ] {
                assert!(check(&assertion(&data, &said, &sign)).is_err());
            }
            let mut forged = used.clone();
            forged.authenticator_data =
                b64(&head("mail.acme.test", USER_PRESENT | USER_VERIFIED, 5));
            assert_eq!(check(&forged), Err(PasskeyFault("the signature does not fit")));
        }
    }

    #[test]
    fn what_is_no_new_passkey_of_this_site_is_refused() {
        let (spki, algorithm, _) = keys().remove(0);
        let good = new_credential(&spki, algorithm);
        assert!(good.check(&site(), CHALLENGE).is_ok());
        let elsewhere = b64(&client_data("webauthn.create", CHALLENGE, "https://evil.test"));
        for bad in [
            NewCredential { id: b64(&[1]), ..good.clone() },
            NewCredential { client_data: elsewhere, ..good.clone() },
            NewCredential { public_key: b64(&[1; 44]), ..good.clone() },
            NewCredential { algorithm: ES256, ..good.clone() },
            NewCredential { algorithm: -35, ..good.clone() },
            NewCredential {
                authenticator_data: b64(&head("mail.acme.test", 0x45, 0)),
                ..good.clone()
            },
            NewCredential { authenticator_data: "?".into(), ..good.clone() },
            NewCredential { client_data: "A".repeat(PART_BYTES + 1), ..good },
        ] {
            assert!(bad.check(&site(), CHALLENGE).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_browser_says_is_answered_without_a_panic(
            data in proptest::collection::vec(any::<u8>(), 0..120),
            spki in proptest::collection::vec(any::<u8>(), 0..60),
            cut in 0_usize..60,
        ) {
            let (good, algorithm, _) = keys().remove(0);
            let mut whole = head("mail.acme.test", USER_PRESENT | USER_VERIFIED | ATTESTED, 0);
            whole.extend(&data);
            let made = NewCredential {
                authenticator_data: b64(&whole),
                public_key: b64(&good[..cut.min(good.len())]),
                ..new_credential(&good, algorithm)
            };
            let _ = made.check(&site(), CHALLENGE);
            for algorithm in ALGORITHMS {
                let _ = key_of(&spki, algorithm);
                let envelope = [&[0x30, 0x82], spki.as_slice()].concat();
                let _ = key_of(&envelope, algorithm);
            }
        }
    }

    #[test]
    fn passkeys_need_a_name_and_https() {
        assert_eq!(site().origin, "https://mail.acme.test");
        let here = RelyingParty::at("http://localhost:3000").expect("this machine");
        assert_eq!(
            (here.id.as_str(), here.origin.as_str()),
            ("localhost", "http://localhost:3000")
        );
        for bad in ["http://mail.acme.test", "https://192.0.2.1", "http://[::1]:80", "x"] {
            assert_eq!(RelyingParty::at(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_rsa_key_is_found_inside_its_envelope() {
        let mut bits = vec![0x03, 0x82, 1, 1, 0];
        bits.extend([0x55; 256]);
        let mut spki = vec![0x30, 0x82, 1, 20];
        spki.extend(RSA_KIND);
        spki.extend(&bits);
        assert_eq!(key_of(&spki, RS256).map(|(key, _)| key.len()), Ok(256));
        for length in 0..spki.len() {
            assert!(key_of(&spki[..length], RS256).is_err(), "{length}");
        }
    }
}
