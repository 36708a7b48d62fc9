//! A key of its own for one message or file: without it the sealed bytes cannot be read by anybody,
//! so deleting the key is enough to forget them, in backups too.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::ids::Ids;

const KEY_BYTES: usize = 32;

/// The key of one message's words or one file's bytes. It is never printed.
#[derive(Clone)]
pub struct ContentKey([u8; KEY_BYTES]);

impl ContentKey {
    pub fn new(ids: &Ids) -> ContentKey {
        ContentKey(ids.bytes())
    }

    /// As it is kept, sealed or among other sealed words.
    pub fn to_text(&self) -> String {
        STANDARD_NO_PAD.encode(self.0)
    }

    pub fn from_text(text: &str) -> Option<ContentKey> {
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        bytes.try_into().ok().map(ContentKey)
    }

    /// Seals bytes for one purpose.
    pub fn seal(&self, ids: &Ids, purpose: &str, bytes: &[u8]) -> Vec<u8> {
        let nonce = ids.bytes::<NONCE_LEN>();
        let mut sealed = bytes.to_vec();
        self.key()
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .expect("a file is shorter than what one key may seal");
        [nonce.as_slice(), &sealed].concat()
    }

    /// `None` for what was sealed with another key, for another purpose, or was changed.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let opened = self
            .key()
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .ok()?;
        Some(opened.to_vec())
    }

    fn key(&self) -> LessSafeKey {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.0);
        LessSafeKey::new(key.expect("the key has the length that the cipher takes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_bytes_open_with_their_key_and_purpose_alone() {
        let ids = Ids::with_seed(1);
        let (key, other) = (ContentKey::new(&ids), ContentKey::new(&ids));
        let sealed = key.seal(&ids, "a", b"words");
        assert_ne!(sealed, key.seal(&ids, "a", b"words"));
        assert!(!sealed.windows(5).any(|part| part == b"words"));
        let again = ContentKey::from_text(&key.to_text()).unwrap();
        assert_eq!(again.open("a", &sealed).as_deref(), Some(b"words".as_slice()));
        assert_eq!(key.open("b", &sealed), None);
        assert_eq!(other.open("a", &sealed), None);
        assert_eq!(key.open("a", &sealed[..4]), None);
    }
}
