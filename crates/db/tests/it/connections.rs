//! Connections to PostgreSQL that are lost while the store is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use db::{Store, StoreError, StoreOptions};
use tokio::sync::broadcast::error::TryRecvError;
use tokio::task::JoinSet;

use crate::harness::{Database, Named, insert, stored};

on_postgres! {
    after_all_connections_were_lost_every_read_and_write_succeeds,
    a_connection_lost_inside_a_write_runs_it_again,
    a_connection_lost_inside_a_read_runs_it_again,
    wake_ups_cross_nodes_again_after_all_connections_were_lost,
    no_connection_outlives_the_last_clone_of_the_store,
    no_transaction_stays_open_after_its_read,
    a_read_follows_one_that_failed_on_the_same_connection,
}

async fn after_all_connections_were_lost_every_read_and_write_succeeds(db: &Database) {
    let store = db.open();
    for round in 0..3 {
        end_connections(db);
        let mut tasks = JoinSet::new();
        for n in 0..20 {
            let store = store.clone();
            tasks.spawn(async move {
                store.write(move |tx| insert(tx, round * 20 + n)).await.unwrap();
                stored(&store).await;
            });
        }
        tasks.join_all().await;
    }
    assert_eq!(stored(&store).await, (0..60).collect::<Vec<i64>>());
}

async fn a_connection_lost_inside_a_write_runs_it_again(db: &Database) {
    let store = db.open();
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let written: Result<(), StoreError> = store
        .write(move |tx| {
            insert(tx, 1)?;
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                tx.all::<(bool,)>(END_MYSELF, &[])?;
            }
            insert(tx, 2)
        })
        .await;
    written.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(stored(&store).await, [1, 2]);
}

async fn a_connection_lost_inside_a_read_runs_it_again(db: &Database) {
    let store = db.open();
    let mut runs = 0;
    let read: Result<u32, StoreError> = store
        .read(move |tx| {
            runs += 1;
            if runs == 1 {
                tx.all::<(bool,)>(END_MYSELF, &[])?;
            }
            Ok(runs)
        })
        .await;
    assert_eq!(read.unwrap(), 2);
}

async fn no_transaction_stays_open_after_its_read(db: &Database) {
    let store = db.open();
    for _ in 0..20 {
        stored(&store).await;
    }
    // A read ends without waiting for the server, which may need a moment.
    while in_transactions(&store).await > 0 {
        tokio::task::yield_now().await;
    }
}

/// Connections that wait inside a transaction.
async fn in_transactions(store: &Store) -> i64 {
    let query = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    let (count,) = store.read(move |tx| tx.one(query, &[])).await.map_err(only_store).unwrap();
    count
}

async fn a_read_follows_one_that_failed_on_the_same_connection(db: &Database) {
    let store = db.open();
    let mut tasks = JoinSet::new();
    for n in 0..40 {
        let store = store.clone();
        tasks.spawn(async move {
            let sql = if n % 2 == 0 { "SELECT 1 / 0" } else { "SELECT n FROM no_such_table" };
            let failed: Result<Vec<(i64,)>, StoreError> =
                store.read(move |tx| tx.all(sql, &[])).await;
            assert!(failed.is_err());
            stored(&store).await
        });
    }
    assert!(tasks.join_all().await.iter().all(Vec::is_empty));
}

async fn wake_ups_cross_nodes_again_after_all_connections_were_lost(db: &Database) {
    let (here, there) = (db.open(), db.open());
    end_connections(db);
    let mut heard = there.wakes();
    // A wake-up is a hint that may be lost with its connection, so it is given until it arrives.
    while let Err(TryRecvError::Empty) = heard.try_recv() {
        wake(&here, "again").await;
        tokio::task::yield_now().await;
    }
}

async fn no_connection_outlives_the_last_clone_of_the_store(db: &Database) {
    let options = StoreOptions::default();
    // Beside the connections that work, one listens and one notifies.
    let watchers = options.connections as i64 + 2;
    let watcher = db.open_with(&options);
    let store = db.open();
    let clone = store.clone();
    drop(store);
    wake(&clone, "outbox").await;
    assert!(connections(&watcher).await > watchers);
    drop(clone);
    while connections(&watcher).await > watchers {
        wake(&watcher, "noise that a listener must not stay for").await;
    }
}

const END_MYSELF: &str = "SELECT pg_terminate_backend(pg_backend_pid())";

/// Ends every connection to the database and waits until they are gone.
fn end_connections(db: &Database) {
    let name = db.name();
    db.administer(&format!(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'"
    ));
}

async fn connections(store: &Store) -> i64 {
    let query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
    let (count,) = store.read(move |tx| tx.one(query, &[])).await.map_err(only_store).unwrap();
    count
}

async fn wake(store: &Store, queue: &'static str) {
    let woken = store.write(move |tx| {
        tx.wake(Named(queue));
        Ok(())
    });
    woken.await.map_err(only_store).unwrap();
}

/// Says which error type is meant where nothing else does.
fn only_store(error: StoreError) -> StoreError {
    error
}
