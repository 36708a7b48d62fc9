//! The owners of a workspace, of whom one always stays.

use base::error::Result;
use base::ids::UserId;
use db::Tx;

/// The owners, the oldest first, locked until the transaction ends: of two changes at once, one finds a
/// row that the other changed, and is tried again with who is left then.
pub fn hold_owners(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<UserId>> {
    let lock = tx.pick("", " FOR UPDATE");
    let owners: Vec<(UserId,)> = tx.all(
        &format!(
            "SELECT id FROM users WHERE ws = ?1 AND role = 'owner' ORDER BY created_at, id{lock}"
        ),
        &[&ws],
    )?;
    Ok(owners.into_iter().map(|(id,)| id).collect())
}
