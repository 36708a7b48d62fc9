//! What the harness does to a database while its server is dead.
//!
//! The undo window is minutes long and leases last one minute. Rather than wait, or have a product whose
//! window can be shortened, the harness lets the time pass in the rows: while nobody serves, every
//! moment that something is planned for moves nearer.

use std::collections::HashSet;

use base::limits::UNDO_LIVE_MS;
use db::{Store, StoreError, Tx};

/// What is left of an undo window that was just begun.
const LEFT_MS: i64 = 1_000;

/// Lets the undo window pass but for a second; returns the messages that were being sent.
pub async fn pass(store: &Store) -> Result<HashSet<String>, String> {
    let work = |tx: &mut Tx<'_>| {
        let sending: Vec<(String,)> =
            tx.all("SELECT id FROM messages WHERE status = 'sending'", &[])?;
        for (table, column) in QUEUES {
            tx.exec(
                &format!("UPDATE {table} SET {column} = {column} - ?1 WHERE {column} IS NOT NULL"),
                &[&(UNDO_LIVE_MS - LEFT_MS)],
            )?;
        }
        Ok::<_, StoreError>(sending.into_iter().map(|(id,)| id).collect())
    };
    store.write(work).await.map_err(|error| error.to_string())
}

/// How many rows are still planned for some time.
pub async fn count_planned(store: &Store) -> Result<i64, String> {
    let work = |tx: &mut Tx<'_>| {
        let mut planned = 0;
        for (table, column) in QUEUES {
            let sql = format!("SELECT count(*) FROM {table} WHERE {column} IS NOT NULL");
            planned += tx.one::<(i64,)>(&sql, &[])?.0;
        }
        Ok::<_, StoreError>(planned)
    };
    store.read(work).await.map_err(|error| error.to_string())
}

/// The rows that fall due in this harness.
const QUEUES: [(&str, &str); 3] =
    [("messages", "sends_at"), ("deliveries", "next_attempt_at"), ("sandbox_replies", "due_at")];
