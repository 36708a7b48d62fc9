//! Codes and tokens of OAuth: how they look, their hash, and their end.

use base::error::Result;
use base::ids::{AgentId, Ids};
use base::security::api_key::{ACCESS_TOKEN_PREFIX, KEY_SECRET_CHARS};
use base::string_enum::string_enum;
use db::{Arg, Tx, Value};
use sha2::{Digest, Sha256};

pub const CODE_PREFIX: &str = "rc_";
pub const REFRESH_TOKEN_PREFIX: &str = "rr_";

string_enum! {
    TokenKind { Access = "access", Refresh = "refresh" }
}

impl TokenKind {
    pub fn prefix(self) -> &'static str {
        match self {
            TokenKind::Access => ACCESS_TOKEN_PREFIX,
            TokenKind::Refresh => REFRESH_TOKEN_PREFIX,
        }
    }
}

/// The SHA-256 of a code or token, which is all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OauthHash([u8; 32]);

impl OauthHash {
    /// `None` for what cannot be one: the prefix, and as many letters and digits as a key has.
    pub fn of(prefix: &str, text: &str) -> Option<OauthHash> {
        let secret = text.strip_prefix(prefix)?;
        let is_secret =
            secret.len() == KEY_SECRET_CHARS && secret.bytes().all(|b| b.is_ascii_alphanumeric());
        is_secret.then(|| OauthHash(Sha256::digest(text).into()))
    }

    /// A new one, and its hash.
    pub fn make(ids: &Ids, prefix: &str) -> (String, OauthHash) {
        let made = format!("{prefix}{}", ids.secret(KEY_SECRET_CHARS));
        let hash = OauthHash(Sha256::digest(&made).into());
        (made, hash)
    }
}

impl Arg for OauthHash {
    fn value(&self) -> Value<'_> {
        Value::Bytes(&self.0)
    }
}

/// Ends all codes and tokens of an app. It stays connected, and must be let in again.
pub fn end_tokens(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<()> {
    tx.exec("DELETE FROM oauth_tokens WHERE ws = ?1 AND agent = ?2", &[&ws, agent])?;
    tx.exec("DELETE FROM oauth_codes WHERE ws = ?1 AND agent = ?2", &[&ws, agent])?;
    Ok(())
}
