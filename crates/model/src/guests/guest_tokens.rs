//! The secret in the address of a customer's page.
//!
//! Only its hash is kept, so the database alone opens no page. It is derived from what the page is
//! about, under the workspace's secret, which is sealed with `secret.key`: a reminder can name it again.

use base::app::Cx;
use base::error::Result;
use base::ids::short_base32;
use db::{Arg, Tx, Value};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::installation::mail_secret::{self, MailSecret};

/// Characters of a token, 5 bits each.
pub const GUEST_TOKEN_CHARS: usize = 40;
/// Bytes that become eight characters.
const GROUP_BYTES: usize = 5;
const GROUP_CHARS: u32 = 8;

/// The token of a customer's page. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct GuestToken(String);

impl GuestToken {
    /// `None` for what cannot be a token.
    pub fn parse(text: &str) -> Option<GuestToken> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
        (text.len() == GUEST_TOKEN_CHARS && plain).then(|| GuestToken(text.to_owned()))
    }

    /// The token of one page; `purpose` tells it from every other page of the workspace.
    pub fn derive(tx: &mut Tx<'_>, cx: &Cx<'_>, purpose: &str) -> Result<GuestToken> {
        let digest = keyed_digest(tx, cx, &format!("guest page {purpose}"))?;
        let groups =
            digest.chunks_exact(GROUP_BYTES).take(GUEST_TOKEN_CHARS / GROUP_CHARS as usize);
        let text = groups.map(|group| {
            let number = group.iter().fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
            short_base32(number, GROUP_CHARS)
        });
        Ok(GuestToken(text.collect()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> GuestTokenHash {
        GuestTokenHash(Sha256::digest(&self.0).into())
    }
}

/// The SHA-256 of a token or of a browser's cookie, which is all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestTokenHash([u8; 32]);

impl GuestTokenHash {
    pub fn of(secret: &str) -> GuestTokenHash {
        GuestTokenHash(Sha256::digest(secret).into())
    }
}

impl Arg for GuestTokenHash {
    fn value(&self) -> Value<'_> {
        Value::Bytes(&self.0)
    }
}

/// HMAC-SHA-256 under the workspace's secret.
pub fn keyed_digest(tx: &mut Tx<'_>, cx: &Cx<'_>, text: &str) -> Result<[u8; 32]> {
    Ok(digest(&mail_secret::mail_secret(tx, cx)?, text))
}

/// The same where nothing can be written; `None` in a workspace that has no secret yet.
pub fn known_keyed_digest(tx: &mut Tx<'_>, cx: &Cx<'_>, text: &str) -> Result<Option<[u8; 32]>> {
    Ok(mail_secret::load(tx, cx)?.map(|secret| digest(&secret, text)))
}

fn digest(secret: &MailSecret, text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forty_letters_and_digits_can_be_a_token() {
        let good = "a1".repeat(20);
        assert!(GuestToken::parse(&good).is_some());
        for bad in ["", "a1", &good[1..], &format!("{good}a"), &"é".repeat(20)] {
            assert!(GuestToken::parse(bad).is_none(), "{bad}");
        }
    }
}
