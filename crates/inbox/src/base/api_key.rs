//! API keys: how they look, and their hash, which is all that is kept.

use db::{Arg, Value};
use sha2::{Digest, Sha256};

/// The SHA-256 of a key, which is all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// `None` for what cannot be a key: `rk_`, perhaps `live_` or `test_`, 48 letters and digits.
    pub fn of(key: &str) -> Option<KeyHash> {
        let rest = key.strip_prefix("rk_")?;
        let secret =
            rest.strip_prefix("live_").or_else(|| rest.strip_prefix("test_")).unwrap_or(rest);
        (secret.len() == KEY_SECRET_CHARS && secret.bytes().all(|b| b.is_ascii_alphanumeric()))
            .then(|| KeyHash(Sha256::digest(key).into()))
    }

    pub(crate) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn from_hex(text: &str) -> Option<KeyHash> {
        let digits = text.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(KeyHash(hash))
    }
}

pub const KEY_SECRET_CHARS: usize = 48;

impl Arg for KeyHash {
    fn value(&self) -> Value<'_> {
        Value::Bytes(&self.0)
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
}
