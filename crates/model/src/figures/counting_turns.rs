//! Limits that are counted before a row is added hold where transactions overlap: those that count the
//! same things take turns.

use base::error::Result;
use db::Tx;
use sha2::{Digest, Sha256};

/// Rows that names are spread over. Names that share one wait for each other, and nothing else happens.
const TURN_ROWS: u64 = 1_024;

/// Makes transactions that name the same things run one after the other, on PostgreSQL by a row that
/// each of them changes: the later one fails there and is tried again with what the earlier one wrote.
/// Workspace 0 is for what all of them share.
pub fn take_turns(tx: &mut Tx<'_>, names: &[(i64, &str)]) -> Result<()> {
    // SQLite has one writer.
    if tx.pick(true, false) {
        return Ok(());
    }
    let mut rows: Vec<(i64, i64)> = names.iter().map(|(ws, name)| (*ws, row_of(name))).collect();
    // In one order, so that no two wait for each other.
    rows.sort_unstable();
    rows.dedup();
    for (ws, row) in rows {
        tx.exec_soon(
            "INSERT INTO counting_turns (ws, num, turns) VALUES (?1, ?2, 1)
             ON CONFLICT (ws, num) DO UPDATE SET turns = counting_turns.turns + 1",
            &[&ws, &row],
        )?;
    }
    Ok(())
}

fn row_of(name: &str) -> i64 {
    let hash = Sha256::digest(name.as_bytes());
    let (first, _) = hash.split_at(8);
    let number = first.iter().fold(0u64, |number, byte| (number << 8) | u64::from(*byte));
    (number % TURN_ROWS) as i64
}
