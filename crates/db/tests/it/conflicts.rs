//! Serialization conflicts between transactions are retried.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use db::{Store, StoreError, Tx};
use tokio::task::JoinSet;

use crate::harness::{Database, insert, stored};

on_both! {
    no_update_is_lost_between_concurrent_increments,
    of_two_who_look_and_then_insert_the_second_sees_the_first,
}

async fn no_update_is_lost_between_concurrent_increments(db: &Database) {
    const INCREMENTS: i64 = 50;
    let store = db.open();
    counter(&store, "total").await;
    let mut tasks = JoinSet::new();
    for _ in 0..INCREMENTS {
        let store = store.clone();
        tasks.spawn(async move { store.write(|tx| add_one(tx, "total")).await.unwrap() });
    }
    tasks.join_all().await;
    assert_eq!(value(&store, "total").await, INCREMENTS);
}

async fn of_two_who_look_and_then_insert_the_second_sees_the_first(db: &Database) {
    const WRITERS: usize = 20;
    let store = db.open();
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        let store = store.clone();
        tasks.spawn(async move { store.write(insert_if_missing).await.unwrap() });
    }
    let inserted = tasks.join_all().await.into_iter().filter(|inserted| *inserted).count();
    assert_eq!(inserted, 1);
    assert_eq!(stored(&store).await, [1]);
}

fn insert_if_missing(tx: &mut Tx<'_>) -> Result<bool, StoreError> {
    match tx.opt::<(i64,)>("SELECT n FROM numbers WHERE n = 1", &[])? {
        Some(_) => Ok(false),
        None => insert(tx, 1).map(|()| true),
    }
}

mod started_again {
    use super::*;

    on_postgres! {
        of_two_who_wait_for_each_other_both_succeed,
        of_two_who_change_one_row_the_second_starts_again,
    }

    async fn of_two_who_wait_for_each_other_both_succeed(db: &Database) {
        db.administer(&format!("ALTER DATABASE {} SET deadlock_timeout = '10ms'", db.name()));
        let store = db.open();
        counter(&store, "a").await;
        counter(&store, "b").await;

        let meet = Meeting::default();
        let (one, other) =
            tokio::join!(store.write(meet.between("a", "b")), store.write(meet.between("b", "a")),);
        one.unwrap();
        other.unwrap();
        assert_eq!((value(&store, "a").await, value(&store, "b").await), (2, 2));
        assert!(meet.runs() > 2, "neither had to start again");
    }

    async fn of_two_who_change_one_row_the_second_starts_again(db: &Database) {
        let store = db.open();
        counter(&store, "a").await;
        counter(&store, "b").await;
        counter(&store, "c").await;

        // Each has looked at everything before either changes the row both want.
        let meet = Meeting::default();
        let (one, other) =
            tokio::join!(store.write(meet.between("a", "c")), store.write(meet.between("b", "c")),);
        one.unwrap();
        other.unwrap();
        assert_eq!(value(&store, "c").await, 2);
        assert!(meet.runs() > 2, "neither had to start again");
    }

    /// Lets two closures meet, the first time they run, between their first and second change.
    #[derive(Clone)]
    struct Meeting {
        barrier: Arc<Barrier>,
        runs: Arc<AtomicU32>,
    }

    impl Default for Meeting {
        fn default() -> Self {
            Meeting { barrier: Arc::new(Barrier::new(2)), runs: Arc::default() }
        }
    }

    impl Meeting {
        fn between(
            &self,
            first: &'static str,
            second: &'static str,
        ) -> impl FnMut(&mut Tx<'_>) -> Result<(), StoreError> + use<> {
            let meet = self.clone();
            move |tx| {
                add_one(tx, first)?;
                if meet.runs.fetch_add(1, Ordering::SeqCst) < 2 {
                    meet.barrier.wait();
                }
                add_one(tx, second)
            }
        }

        fn runs(&self) -> u32 {
            self.runs.load(Ordering::SeqCst)
        }
    }
}

async fn counter(store: &Store, name: &'static str) {
    let made: Result<u64, StoreError> = store
        .write(move |tx| tx.exec("INSERT INTO counters (name, n) VALUES (?1, 0)", &[&name]))
        .await;
    made.unwrap();
}

/// Reads, adds in Rust and writes back, as an operation would.
fn add_one(tx: &mut Tx<'_>, name: &str) -> Result<(), StoreError> {
    let (n,): (i64,) = tx.one("SELECT n FROM counters WHERE name = ?1", &[&name])?;
    tx.exec("UPDATE counters SET n = ?2 WHERE name = ?1", &[&name, &(n + 1)])?;
    Ok(())
}

async fn value(store: &Store, name: &'static str) -> i64 {
    let read = store.read(move |tx| tx.one("SELECT n FROM counters WHERE name = ?1", &[&name]));
    let (n,) = read.await.map_err(|error: StoreError| error).unwrap();
    n
}
