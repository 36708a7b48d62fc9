//! The use of API keys.

use base::error::Result;
use base::security::api_key::KeyHash;
use db::Tx;

/// Writes down when a key, or an app by its access token, was last used.
pub fn mark_used(tx: &mut Tx<'_>, key: &KeyHash, now: i64) -> Result<()> {
    let whose = if key.is_access_token() {
        "(ws, id) IN (SELECT ws, agent FROM oauth_tokens WHERE token_hash = ?1)"
    } else {
        "key_hash = ?1"
    };
    tx.exec(
        &format!(
            "UPDATE agents SET last_used_at = ?2
             WHERE {whose} AND (last_used_at IS NULL OR last_used_at < ?2)"
        ),
        &[key, &now],
    )?;
    Ok(())
}
