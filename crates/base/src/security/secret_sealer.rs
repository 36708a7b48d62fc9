//! The port that encrypts secrets which have to be used again.

use crate::ids::Ids;

/// The prefix of sealed secrets. No plain secret begins with it.
pub const SEALED_PREFIX: &str = "v1.";

/// Seals and opens secrets with a key that the database does not hold.
pub trait SecretSealer: Send + Sync {
    fn seal(&self, ids: &Ids, purpose: &str, secret: &str) -> String;
    /// `None` for what was sealed with another key, for another purpose, or was changed.
    fn unseal(&self, purpose: &str, sealed: &str) -> Option<String>;
}

/// Keeps secrets as they are, for tools that fill a database before its server has a key: the
/// server seals them when it starts.
pub struct NoopSealer;

impl SecretSealer for NoopSealer {
    fn seal(&self, _: &Ids, _: &str, secret: &str) -> String {
        secret.to_owned()
    }

    fn unseal(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
