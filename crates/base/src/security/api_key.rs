//! API keys and access tokens: how they look, and their hash, which is all that is kept.

use db::{Arg, Value};
use sha2::{Digest, Sha256};

/// The SHA-256 of an API key or of an access token, which is all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash {
    hash: [u8; 32],
    is_access_token: bool,
}

impl KeyHash {
    /// `None` for what cannot be a key: `rk_`, perhaps `live_` or `test_`, 48 letters and digits.
    pub fn of(key: &str) -> Option<KeyHash> {
        let rest = key.strip_prefix("rk_")?;
        let secret =
            rest.strip_prefix("live_").or_else(|| rest.strip_prefix("test_")).unwrap_or(rest);
        is_secret(secret).then(|| KeyHash { hash: digest(key), is_access_token: false })
    }

    /// `None` for what cannot be an access token of OAuth: `ro_` and 48 letters and digits.
    pub fn of_access_token(token: &str) -> Option<KeyHash> {
        let secret = token.strip_prefix(ACCESS_TOKEN_PREFIX)?;
        is_secret(secret).then(|| KeyHash { hash: digest(token), is_access_token: true })
    }

    /// The hash of a key as it is kept.
    pub fn from_stored(hash: &[u8]) -> Option<KeyHash> {
        Some(KeyHash { hash: hash.try_into().ok()?, is_access_token: false })
    }

    pub fn is_access_token(&self) -> bool {
        self.is_access_token
    }

    /// As nodes write it to each other.
    pub fn hex(&self) -> String {
        let digits: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        if self.is_access_token { format!("{digits}{TOKEN_MARK}") } else { digits }
    }

    pub fn from_hex(text: &str) -> Option<KeyHash> {
        let (digits, is_access_token) = match text.strip_suffix(TOKEN_MARK) {
            Some(digits) => (digits.as_bytes(), true),
            None => (text.as_bytes(), false),
        };
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(KeyHash { hash, is_access_token })
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn is_secret(secret: &str) -> bool {
    secret.len() == KEY_SECRET_CHARS && secret.bytes().all(|b| b.is_ascii_alphanumeric())
}

pub const KEY_SECRET_CHARS: usize = 48;
pub const ACCESS_TOKEN_PREFIX: &str = "ro_";
/// No digit, so that it cannot be part of a hash.
const TOKEN_MARK: char = 't';

impl Arg for KeyHash {
    fn value(&self) -> Value<'_> {
        Value::Bytes(&self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_rk_and_48_letters_and_digits_live_test_or_old() {
        let secret = "aB3".repeat(16);
        for prefix in ["rk_", "rk_live_", "rk_test_"] {
            assert!(KeyHash::of(&format!("{prefix}{secret}")).is_some(), "{prefix}");
        }
        for bad in ["", "rk_", "rk_live_short", &format!("sk_{secret}"), &format!("rk_{secret}x")] {
            assert!(KeyHash::of(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_token_is_told_from_a_key_on_other_nodes_too() {
        let secret = "aB3".repeat(16);
        let key = KeyHash::of(&format!("rk_{secret}")).expect("a key");
        let token = KeyHash::of_access_token(&format!("ro_{secret}")).expect("a token");
        assert!(KeyHash::of(&format!("ro_{secret}")).is_none());
        assert!(KeyHash::of_access_token(&format!("rk_{secret}")).is_none());
        for hash in [key, token] {
            assert!(KeyHash::from_hex(&hash.hex()) == Some(hash));
        }
    }
}
