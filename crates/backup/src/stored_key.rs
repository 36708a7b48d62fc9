//! The `secret.key` of a backup: whether it is the key that the secrets in its tables were sealed with.

use std::io::{self, BufRead};

use base::security::secret_sealer::SEALED_PREFIX;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use node::vault::KEY_FILE;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::Value;

/// The table that ties a database to its key and its blobs; backups of old versions have none.
pub(super) const NODE_FILES: &str = "node_files";

/// The key check in the lines of a whole dump: a word that was sealed with the key. `None` where the database
/// never had one.
pub(super) fn read_key_check(lines: &mut dyn BufRead) -> io::Result<Option<String>> {
    let (mut line, mut columns) = (Vec::new(), None);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.starts_with(b"{") {
            // The table ends here.
            if columns.is_some() {
                return Ok(None);
            }
            let head: Value = serde_json::from_slice(&line)?;
            columns = (head["table"] == NODE_FILES).then(|| head["columns"].clone());
        } else if let Some(columns) = &columns {
            let row: Value = serde_json::from_slice(&line)?;
            let value = |column: &str| {
                let at = columns.as_array()?.iter().position(|name| name == column)?;
                row.get(at)?.as_str()
            };
            if value("name") == Some(KEY_FILE) {
                return Ok(value("value").map(str::to_owned));
            }
        }
    }
}

/// True when this is the key of the tables. Without a check only its length can be wrong.
pub(super) fn is_key(secret: &[u8], check: Option<&str>) -> bool {
    match check {
        Some(check) => unseal(secret, check).is_some(),
        None => secret.len() == CHACHA20_POLY1305.key_len(),
    }
}

/// Opens the key check as the vault sealed it.
fn unseal(secret: &[u8], check: &str) -> Option<()> {
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, secret).ok()?);
    let mut sealed = STANDARD_NO_PAD.decode(check.strip_prefix(SEALED_PREFIX)?).ok()?;
    let nonce = Nonce::assume_unique_for_key(*sealed.first_chunk::<NONCE_LEN>()?);
    let purpose = Aad::from(KEY_FILE.as_bytes());
    key.open_in_place(nonce, purpose, &mut sealed[NONCE_LEN..]).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use base::ids::Ids;

    use super::*;
    use node::vault::Vault;

    #[test]
    fn a_key_is_told_from_every_other_by_the_check_of_a_dump() {
        let (folder, ids) = (tempfile::tempdir().unwrap(), Ids::with_seed(1));
        let vault = Vault::open(folder.path(), &ids).unwrap();
        let check = vault.seal(&ids, KEY_FILE, "mailroom");
        let dump = format!(
            "{{\"mailroom_dump\":1,\"schema\":1}}\n\
             {{\"table\":\"blobs\",\"columns\":[\"name\",\"value\"]}}\n[\"secret.key\",\"no\"]\n\
             {{\"end\":\"blobs\",\"rows\":1}}\n\
             {{\"table\":\"node_files\",\"columns\":[\"name\",\"value\"]}}\n[\"secret.key\",\"{check}\"]\n\
             {{\"end\":\"node_files\",\"rows\":1}}\n{{\"complete\":true,\"tables\":2}}\n"
        );
        let found = read_key_check(&mut dump.as_bytes()).unwrap();
        assert_eq!(found.as_ref(), Some(&check));
        let secret = std::fs::read(folder.path().join(KEY_FILE)).unwrap();
        assert!(is_key(&secret, found.as_deref()) && is_key(&secret, None));
        let mut changed = secret.clone();
        changed[31] ^= 1;
        for wrong in [&changed[..], &secret[..31], b""] {
            assert!(!is_key(wrong, found.as_deref()), "{wrong:?}");
        }
        assert!(!is_key(&secret[..31], None));
        assert_eq!(read_key_check(&mut &b"{\"mailroom_dump\":1}\n"[..]).unwrap(), None);
    }
}
