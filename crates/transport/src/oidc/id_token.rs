//! Identity tokens: who signed in, for whom, when, and that the provider says so (OpenID Connect Core, 2 and
//! 3.1.3.7).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::key_set::{ProviderKeys, TokenAlgorithm};

/// Clocks may differ by this much, in seconds.
const SKEW: f64 = 120.0;
/// A token is made for the sign-in that has just ended, in seconds.
const AGE: f64 = 15.0 * 60.0;
/// Bytes of a token.
const TOKEN_BYTES: usize = 32 * 1024;
/// Characters of a subject (Core, 2).
const SUBJECT_CHARS: usize = 255;

/// What a token must be about.
pub struct TokenExpectation<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    /// In seconds.
    pub now: f64,
}

/// What a checked token says.
#[derive(Clone, Debug, Deserialize)]
pub struct IdentityClaims {
    pub sub: String,
    #[serde(default)]
    pub email: Option<String>,
    /// A boolean, or one as text: providers differ.
    #[serde(default)]
    email_verified: Value,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    amr: Value,
}

impl IdentityClaims {
    pub fn email_verified(&self) -> Option<bool> {
        match &self.email_verified {
            Value::Bool(is_verified) => Some(*is_verified),
            Value::String(word) => Some(word == "true"),
            Value::Null => None,
            _ => Some(false),
        }
    }

    /// True where several factors were used (RFC 8176).
    pub fn says_several_factors(&self) -> bool {
        self.amr.as_array().is_some_and(|methods| methods.iter().any(|method| method == "mfa"))
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    #[serde(default)]
    crit: Value,
    #[serde(default)]
    typ: Option<String>,
}

/// The claims that only make a token ours.
#[derive(Deserialize)]
struct Bounds {
    iss: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// A token whose parts were read, and nothing else.
pub struct ReadToken<'t> {
    algorithm: TokenAlgorithm,
    key_id: Option<String>,
    signed: &'t str,
    signature: Vec<u8>,
    payload: Vec<u8>,
}

impl<'t> ReadToken<'t> {
    pub fn read(token: &'t str) -> Result<ReadToken<'t>, &'static str> {
        let unreadable = "the identity token cannot be read";
        if token.len() > TOKEN_BYTES {
            return Err("the identity token is too long");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(unreadable)?;
        let (header, payload) = signed.split_once('.').ok_or(unreadable)?;
        let part = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable);
        let header: Header = serde_json::from_slice(&part(header)?).map_err(|_| unreadable)?;
        let algorithm = TokenAlgorithm::parse(&header.alg)
            .ok_or("the identity token is signed in a way that is not accepted")?;
        // Extensions that must be understood (RFC 7515, 4.1.11), and access tokens (RFC 9068, 2.1).
        if !header.crit.is_null() || header.typ.as_deref().is_some_and(|typ| typ.contains("at+jwt"))
        {
            return Err("the ID token has a crit header or is an access token (at+jwt)");
        }
        let (signature, payload) = (part(signature)?, part(payload)?);
        Ok(ReadToken { algorithm, key_id: header.kid, signed, signature, payload })
    }

    /// True if the keys have one that it may be signed with.
    pub fn has_key(&self, keys: &ProviderKeys) -> bool {
        keys.has(self.algorithm, self.key_id.as_deref())
    }

    pub fn check(
        &self,
        keys: &ProviderKeys,
        expected: &TokenExpectation<'_>,
    ) -> Result<IdentityClaims, &'static str> {
        if !self.has_key(keys) {
            return Err("the identity token is signed with a key that the provider does not list");
        }
        let (key_id, signed) = (self.key_id.as_deref(), self.signed.as_bytes());
        if !keys.verify(self.algorithm, key_id, signed, &self.signature) {
            return Err("the signature of the identity token does not fit");
        }
        let unreadable = |_| "the claims of the identity token cannot be read";
        let bounds: Bounds = serde_json::from_slice(&self.payload).map_err(unreadable)?;
        bounds.check(expected)?;
        let claims: IdentityClaims = serde_json::from_slice(&self.payload).map_err(unreadable)?;
        let is_subject = claims.sub.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if claims.sub.is_empty() || claims.sub.len() > SUBJECT_CHARS || !is_subject {
            return Err("sub of the ID token is empty, too long or not printable ASCII");
        }
        Ok(claims)
    }
}

impl Bounds {
    fn check(&self, expected: &TokenExpectation<'_>) -> Result<(), &'static str> {
        if self.iss != expected.issuer {
            return Err("iss of the ID token is not the issuer of the provider");
        }
        let (is_for_us, is_for_others) = match &self.aud {
            Audience::One(audience) => (audience == expected.client_id, false),
            Audience::Several(all) => {
                (all.iter().any(|it| it == expected.client_id), all.len() > 1)
            }
        };
        if !is_for_us {
            return Err("aud of the ID token does not contain our client_id");
        }
        let is_asked_by_us = match &self.azp {
            Some(party) => party == expected.client_id,
            None => !is_for_others,
        };
        if !is_asked_by_us {
            return Err("azp of the ID token is not our client_id");
        }
        let now = expected.now;
        if self.exp <= now - SKEW {
            return Err("the identity token has expired");
        }
        let is_early = self.iat > now + SKEW || self.nbf.is_some_and(|from| from > now + SKEW);
        if is_early || self.iat < now - AGE - SKEW {
            return Err("iat or nbf of the ID token is outside the allowed time");
        }
        if self.nonce.as_deref() != Some(expected.nonce) {
            return Err("the nonce of the ID token does not match");
        }
        Ok(())
    }
}
