//! Compares a workspace that was loaded with what was loaded: rows, blobs and the search index.

use std::collections::BTreeMap;

use base::error::Result;
use base::files::blobs::Blobs;
use db::Tx;

/// Sentences about what differs; none when everything is there.
pub fn verify_workspace(
    tx: &mut Tx<'_>,
    blobs: &Blobs,
    ws: i64,
    tables: &BTreeMap<String, u64>,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (table, rows) in tables {
        let (found,): (i64,) =
            tx.one(&format!("SELECT CAST(count(*) AS BIGINT) FROM {table} WHERE ws = ?1"), &[&ws])?;
        // The restore itself is a line of the log.
        let expected = *rows as i64 + i64::from(table == "audit_log");
        if found != expected {
            faults.push(format!("{table} has {found} rows instead of {expected}."));
        }
    }
    let stored: Vec<(String, i64, Option<Vec<u8>>)> =
        tx.all("SELECT hash, size, packed FROM blobs WHERE ws = ?1 ORDER BY hash", &[&ws])?;
    for (hash, size, packed) in stored {
        let packed = match packed {
            Some(packed) => Some(packed),
            None => blobs.read_file(&hash).ok(),
        };
        if !packed.is_some_and(|packed| Blobs::is_whole(&hash, size, &packed)) {
            faults.push(format!("The blob {hash} is not whole."));
        }
    }
    let (unindexed,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM conversations c
         WHERE c.ws = ?1 AND c.merged_into IS NULL AND NOT EXISTS (
             SELECT 1 FROM conversation_index i WHERE i.num = c.num
         )",
        &[&ws],
    )?;
    if unindexed > 0 {
        faults.push(format!("Search does not know {unindexed} conversations."));
    }
    Ok(faults)
}
