//! The provider's public keys (RFC 7517), and signatures by them (RFC 7515, RFC 7518, RFC 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// Keys of one provider that are kept.
const KEYS: usize = 64;
/// Bytes of a coordinate of P-256, and of an Ed25519 key.
const CURVE_BYTES: usize = 32;

/// The signatures that are accepted. `none` and those with a shared secret are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenAlgorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl TokenAlgorithm {
    pub fn parse(word: &str) -> Option<TokenAlgorithm> {
        match word {
            "RS256" => Some(TokenAlgorithm::Rs256),
            "ES256" => Some(TokenAlgorithm::Es256),
            "EdDSA" | "Ed25519" => Some(TokenAlgorithm::EdDsa),
            _ => None,
        }
    }
}

/// The keys of a provider that can verify something here.
#[derive(Clone, Debug, Default)]
pub struct ProviderKeys(Vec<ProviderKey>);

#[derive(Clone, Debug)]
struct ProviderKey {
    id: Option<String>,
    material: KeyMaterial,
}

/// A key is for one algorithm, whatever a token's header says.
#[derive(Clone, Debug)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct KeyDocument {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct WebKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl ProviderKeys {
    /// `None` for what is no set of keys. Keys of other kinds are left out (RFC 7517, 5).
    pub fn parse(bytes: &[u8]) -> Option<ProviderKeys> {
        let document: KeyDocument = serde_json::from_slice(bytes).ok()?;
        let keys = document.keys.into_iter().filter_map(|key| {
            let key: WebKey = serde_json::from_value(key).ok()?;
            ProviderKey::of(key)
        });
        Some(ProviderKeys(keys.take(KEYS).collect()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if there is a key that a token with this header may be signed with.
    pub fn has(&self, algorithm: TokenAlgorithm, id: Option<&str>) -> bool {
        self.fitting(algorithm, id).next().is_some()
    }

    /// True if one of the keys that the header allows has made the signature.
    pub fn verify(
        &self,
        algorithm: TokenAlgorithm,
        id: Option<&str>,
        signed: &[u8],
        signature: &[u8],
    ) -> bool {
        self.fitting(algorithm, id).any(|key| key.material.verify(signed, signature))
    }

    fn fitting(
        &self,
        algorithm: TokenAlgorithm,
        id: Option<&str>,
    ) -> impl Iterator<Item = &ProviderKey> {
        self.0.iter().filter(move |key| {
            let names_it = id.is_none() || key.id.is_none() || key.id.as_deref() == id;
            key.material.algorithm() == algorithm && names_it
        })
    }
}

impl ProviderKey {
    fn of(key: WebKey) -> Option<ProviderKey> {
        if key.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let curve = key.crv.as_deref();
        let material = match key.kty.as_str() {
            "RSA" => KeyMaterial::Rsa { n: number(key.n)?, e: number(key.e)? },
            "EC" if curve == Some("P-256") => {
                KeyMaterial::P256([vec![4], coordinate(key.x)?, coordinate(key.y)?].concat())
            }
            "OKP" if curve == Some("Ed25519") => KeyMaterial::Ed25519(coordinate(key.x)?),
            _ => return None,
        };
        let said = key.alg.as_deref();
        if said.is_some_and(|word| TokenAlgorithm::parse(word) != Some(material.algorithm())) {
            return None;
        }
        Some(ProviderKey { id: key.kid, material })
    }
}

impl KeyMaterial {
    fn algorithm(&self) -> TokenAlgorithm {
        match self {
            KeyMaterial::Rsa { .. } => TokenAlgorithm::Rs256,
            KeyMaterial::P256(_) => TokenAlgorithm::Es256,
            KeyMaterial::Ed25519(_) => TokenAlgorithm::EdDsa,
        }
    }

    fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        let checked = match self {
            KeyMaterial::Rsa { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            }
            KeyMaterial::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            KeyMaterial::Ed25519(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(signed, signature)
            }
        };
        checked.is_ok()
    }
}

/// A number without leading zeros, which some providers write.
fn number(text: Option<String>) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text?).ok()?;
    let bytes: Vec<u8> = bytes.into_iter().skip_while(|byte| *byte == 0).collect();
    (!bytes.is_empty()).then_some(bytes)
}

fn coordinate(text: Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok().filter(|bytes| bytes.len() == CURVE_BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // The key and the signature of RFC 8037, A.4.
    const EDWARDS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a",
        "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    const SIGNED: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    const SIGNATURE: &str =
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

    // The key and the signature of RFC 7515, A.3.
    const CURVE: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig",
        "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
    const CURVE_SIGNED: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQog\
        Imh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const CURVE_SIGNATURE: &str =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

    // The key and the signature of RFC 7515, A.2.
    const RSA: &str = concat!(
        r#"{"keys":[{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddx"#,
        "HmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGz",
        "jb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3",
        "qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp",
        r#"oQ"}]}"#
    );
    const RSA_SIGNED: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQog\
        Imh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const RSA_SIGNATURE: &str = concat!(
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5ju",
        "jGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07",
        "Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipU",
        "TI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    );

    fn verifies(keys: &str, algorithm: TokenAlgorithm, signed: &str, signature: &str) -> bool {
        let keys = ProviderKeys::parse(keys.as_bytes()).expect("a set");
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        keys.verify(algorithm, None, signed.as_bytes(), &signature)
    }

    #[test]
    fn the_signatures_of_the_specifications_are_verified() {
        for (keys, algorithm, signed, signature) in [
            (EDWARDS, TokenAlgorithm::EdDsa, SIGNED, SIGNATURE),
            (CURVE, TokenAlgorithm::Es256, CURVE_SIGNED, CURVE_SIGNATURE),
            (RSA, TokenAlgorithm::Rs256, RSA_SIGNED, RSA_SIGNATURE),
        ] {
            assert!(verifies(keys, algorithm, signed, signature), "{algorithm:?}");
            assert!(!verifies(keys, algorithm, &signed[1..], signature), "{algorithm:?}");
            for other in [TokenAlgorithm::Rs256, TokenAlgorithm::Es256, TokenAlgorithm::EdDsa] {
                assert_eq!(verifies(keys, other, signed, signature), other == algorithm);
            }
        }
    }

    #[test]
    fn a_key_is_used_for_what_its_own_words_allow_alone() {
        let keys = ProviderKeys::parse(EDWARDS.as_bytes()).unwrap();
        assert!(
            keys.has(TokenAlgorithm::EdDsa, Some("a")) && keys.has(TokenAlgorithm::EdDsa, None)
        );
        assert!(!keys.has(TokenAlgorithm::EdDsa, Some("b")));
        for other in [
            EDWARDS.replace("\"kid\"", "\"use\":\"enc\",\"kid\""),
            EDWARDS.replace("\"kid\"", "\"alg\":\"HS256\",\"kid\""),
            EDWARDS.replace("Ed25519", "Ed448"),
            EDWARDS.replace("OKP", "oct"),
            EDWARDS.replace("11qY", "1qY"),
        ] {
            assert!(
                ProviderKeys::parse(other.as_bytes()).is_some_and(|keys| keys.is_empty()),
                "{other}"
            );
        }
        for word in ["none", "HS256", "RS1", "", "rs256"] {
            assert_eq!(TokenAlgorithm::parse(word), None);
        }
        assert!(ProviderKeys::parse(b"[]").is_none());
    }

    proptest! {
        #[test]
        fn any_key_is_read_without_a_panic(
            kty in "(RSA|EC|OKP|oct)", crv in "(P-256|Ed25519|P-384)", part in "[A-Za-z0-9_-]{0,90}"
        ) {
            let text = format!(
                r#"{{"keys":[{{"kty":"{kty}","crv":"{crv}","x":"{part}","y":"{part}","n":"{part}","e":"{part}"}}, 7]}}"#
            );
            if let Some(keys) = ProviderKeys::parse(text.as_bytes()) {
                for algorithm in [TokenAlgorithm::Rs256, TokenAlgorithm::Es256, TokenAlgorithm::EdDsa] {
                    prop_assert!(!keys.verify(algorithm, None, b"x", part.as_bytes()));
                }
            }
        }
    }
}
