//! Several stores on one database: the server and the command line, say, or two nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use db::{Store, StoreError};
use tokio::task::JoinSet;

use crate::harness::{Database, insert, stored};

on_both! {
    two_stores_on_one_database_can_both_write,
    a_store_writes_between_the_transactions_of_another_that_hardly_pauses,
    a_store_opened_later_finds_what_was_written,
    a_database_keeps_its_identity_and_shares_it_with_no_other,
}

async fn two_stores_on_one_database_can_both_write(db: &Database) {
    const EACH: i64 = 100;
    let stores = [db.open(), db.open()];
    let mut tasks = JoinSet::new();
    for n in 0..2 * EACH {
        let store = stores[usize::from(n >= EACH)].clone();
        tasks.spawn(async move { store.write(move |tx| insert(tx, n)).await.unwrap() });
    }
    tasks.join_all().await;
    let all: Vec<i64> = (0..2 * EACH).collect();
    for store in &stores {
        assert_eq!(stored(store).await, all);
    }
}

/// As the server does while the command line imports.
async fn a_store_writes_between_the_transactions_of_another_that_hardly_pauses(db: &Database) {
    const TRANSACTIONS: i64 = 20;
    const HELD: Duration = Duration::from_millis(150);
    const PAUSE: Duration = Duration::from_millis(10);
    // One or two on an idle machine; a slow one may sleep through some of the pauses.
    const MOST: i64 = 12;
    let (busy, other) = (db.open(), db.open());
    let done = Arc::new(AtomicI64::new(0));
    let counted = done.clone();
    let importing = tokio::spawn(async move {
        for n in 0..TRANSACTIONS {
            let long = move |tx: &mut db::Tx<'_>| {
                insert(tx, n)?;
                thread::sleep(HELD);
                Ok::<_, StoreError>(())
            };
            busy.write(long).await.unwrap();
            counted.store(n + 1, Ordering::SeqCst);
            tokio::time::sleep(PAUSE).await;
        }
    });
    for n in 0..3 {
        let before = done.load(Ordering::SeqCst);
        other.write(move |tx| insert(tx, TRANSACTIONS + n)).await.unwrap();
        let passed = done.load(Ordering::SeqCst) - before;
        assert!(passed <= MOST, "{passed} transactions of the other came first");
    }
    importing.await.unwrap();
    assert_eq!(stored(&other).await, (0..TRANSACTIONS + 3).collect::<Vec<i64>>());
}

async fn a_store_opened_later_finds_what_was_written(db: &Database) {
    let first: Store = db.open();
    first.write(|tx| insert(tx, 1)).await.unwrap();
    drop(first);
    assert_eq!(stored(&db.open()).await, [1]);
}

async fn a_database_keeps_its_identity_and_shares_it_with_no_other(db: &Database) {
    let first = db.open();
    let identity = first.identity(&db.url).await;
    first.write(|tx| insert(tx, 1)).await.unwrap();
    drop(first);
    assert_eq!(db.open().identity(&db.url).await, identity);
    let other = if is_file(&db.url) { Database::sqlite() } else { Database::postgres() };
    let another = other.open().identity(&other.url).await;
    // Some file systems do not tell when a file was made.
    assert!(identity.is_none() || identity != another, "{identity:?}");
    assert!(identity.is_some() || is_file(&db.url), "PostgreSQL always tells");
}

fn is_file(url: &str) -> bool {
    url.starts_with("sqlite:")
}
