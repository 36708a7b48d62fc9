//! Secrets that have to be used again, such as IMAP passwords, are stored encrypted in the
//! database: the database alone does not reveal them. The key is a file in the data folder;
//! processes that share a database need the same file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use base::ids::Ids;
use base::security::secret_sealer::{SEALED_PREFIX as FORM, SecretSealer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

pub use model::installation::sealing::imap_purpose;

/// The key's file in the data folder.
pub const KEY_FILE: &str = "secret.key";
const KEY_BYTES: usize = 32;

/// Seals and opens secrets. Cheap to clone.
#[derive(Clone)]
pub struct Vault(Arc<LessSafeKey>);

/// A secret that was sealed with another key, for something else, or was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CannotOpen;

impl Vault {
    /// Opens the vault of a data folder; the first one to do so makes its key.
    pub fn open(data: &Path, ids: &Ids) -> Result<Vault, String> {
        let path = data.join(KEY_FILE);
        let told = |error: io::Error| format!("{}: {error}", path.display());
        let key = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_key(data, &path, &ids.bytes::<KEY_BYTES>()).map_err(told)?;
                fs::read(&path).map_err(told)?
            }
            read => read.map_err(told)?,
        };
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key)
            .map_err(|_| format!("{}: must hold {KEY_BYTES} bytes", path.display()))?;
        Ok(Vault(Arc::new(LessSafeKey::new(key))))
    }

    /// Seals a secret for one purpose: it can be opened for no other.
    pub fn seal(&self, ids: &Ids, purpose: &str, secret: &str) -> String {
        let nonce = ids.bytes::<NONCE_LEN>();
        let mut sealed = secret.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .expect("a secret is shorter than what one key may seal");
        format!("{FORM}{}", STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
    }

    pub fn unseal(&self, purpose: &str, sealed: &str) -> Result<String, CannotOpen> {
        let sealed = sealed.strip_prefix(FORM).ok_or(CannotOpen)?;
        let sealed = STANDARD_NO_PAD.decode(sealed).map_err(|_| CannotOpen)?;
        let (nonce, mut sealed) = match sealed.split_first_chunk::<NONCE_LEN>() {
            Some((nonce, sealed)) => (*nonce, sealed.to_vec()),
            None => return Err(CannotOpen),
        };
        let opened = self
            .0
            .open_in_place(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .map_err(|_| CannotOpen)?;
        String::from_utf8(opened.to_vec()).map_err(|_| CannotOpen)
    }
}

impl SecretSealer for Vault {
    fn seal(&self, ids: &Ids, purpose: &str, secret: &str) -> String {
        Vault::seal(self, ids, purpose, secret)
    }

    fn unseal(&self, purpose: &str, sealed: &str) -> Option<String> {
        Vault::unseal(self, purpose, sealed).ok()
    }
}

/// Writes the key beside its place and puts it there whole. Of two processes that do so at once, the
/// second keeps the first one's.
fn make_key(data: &Path, path: &Path, key: &[u8]) -> io::Result<()> {
    let beside = data.join(format!("{KEY_FILE}.{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(key)?;
    file.sync_all()?;
    let placed = match fs::hard_link(&beside, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        placed => placed,
    };
    fs::remove_file(&beside)?;
    File::open(data)?.sync_all()?;
    placed
}

/// What the `key` or `secret` of a connected service is sealed for.
pub fn service_purpose(what: &str, connection: &str) -> String {
    format!("service {what} {connection}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_opened_for_its_purpose_with_its_key_and_no_other() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ids = Ids::with_seed(1);
        let vault = Vault::open(folder.path(), &ids).unwrap();
        let sealed = vault.seal(&ids, "imap a", "pässword");
        assert!(!sealed.contains("ssword"));
        assert_ne!(sealed, vault.seal(&ids, "imap a", "pässword"));
        let again = Vault::open(folder.path(), &ids).unwrap();
        assert_eq!(again.unseal("imap a", &sealed).as_deref(), Ok("pässword"));
        assert_eq!(again.unseal("imap b", &sealed), Err(CannotOpen));
        let stranger = Vault::open(other.path(), &ids).unwrap();
        assert_eq!(stranger.unseal("imap a", &sealed), Err(CannotOpen));
        for bad in ["", "v1.", "v1.AAAA", "v2.AAAA", "pässword", &sealed[..sealed.len() - 4]] {
            assert_eq!(vault.unseal("imap a", bad), Err(CannotOpen), "{bad}");
        }
    }

    #[test]
    fn nobody_else_may_read_the_key_and_a_broken_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        Vault::open(folder.path(), &Ids::with_seed(1)).unwrap();
        let path = folder.path().join(KEY_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, b"short").unwrap();
        let told = Vault::open(folder.path(), &Ids::with_seed(1)).err().unwrap();
        assert!(told.ends_with("must hold 32 bytes"), "{told}");
    }
}
