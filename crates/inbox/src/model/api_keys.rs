//! The use of API keys.

use db::Tx;

use crate::base::api_key::KeyHash;
use crate::base::error::Result;

/// Writes down when a key was last used.
pub fn mark_used(tx: &mut Tx<'_>, key: &KeyHash, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE agents SET last_used_at = ?2
         WHERE key_hash = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
        &[key, &now],
    )?;
    Ok(())
}
