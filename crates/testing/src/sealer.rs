//! Seals secrets so that a test can tell them from plain ones. It hides nothing.

use base::ids::Ids;
use base::security::secret_sealer::{SEALED_PREFIX, SecretSealer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Keeps the rules of the real one but secrecy: sealing twice gives two texts, and a secret opens
/// for its purpose only.
pub struct TestSealer;

impl SecretSealer for TestSealer {
    fn seal(&self, ids: &Ids, purpose: &str, secret: &str) -> String {
        let sealed = format!("{}\n{purpose}\n{secret}", ids.token(8));
        format!("{SEALED_PREFIX}{}", STANDARD_NO_PAD.encode(sealed))
    }

    fn unseal(&self, purpose: &str, sealed: &str) -> Option<String> {
        let sealed = STANDARD_NO_PAD.decode(sealed.strip_prefix(SEALED_PREFIX)?).ok()?;
        let sealed = String::from_utf8(sealed).ok()?;
        let (_, sealed) = sealed.split_once('\n')?;
        Some(sealed.strip_prefix(purpose)?.strip_prefix('\n')?.to_owned())
    }
}
