//! Reads that go to a standby, and to the database itself where the standby cannot answer. Another
//! database stands for the standby: what it holds tells where an answer comes from.

use std::time::Duration;

use db::{Migration, ReplicaOptions, Store, StoreError, StoreOptions, Tx};
use tokio::task::JoinSet;

use crate::harness::{Database, Failure, PATIENCE, SCHEMA, insert, numbers, stored};
use crate::proxy::Proxy;

on_postgres! {
    a_read_goes_to_the_replica_after_the_database_has_admitted_it,
    who_is_not_admitted_does_not_read,
    a_replica_that_cannot_be_reached_is_passed_over,
    a_replica_that_is_lost_or_falls_silent_is_passed_over_and_used_again,
    an_error_of_the_replica_is_never_the_answer,
    a_replica_that_is_behind_is_passed_over_until_it_has_caught_up,
    a_replica_of_another_schema_is_passed_over,
    another_database_and_a_server_that_is_no_standby_are_passed_over,
    no_connection_to_the_replica_outlives_the_store,
}

on_sqlite! {
    a_file_has_no_replica,
}

/// The same rows but for what a test writes there.
const STAND_IN: (&str, &str) = ("SELECT 'the same'", "SELECT true, CAST(?1 AS TEXT) IS NOT NULL");
/// It has caught up when it has the number 7.
const SEVEN: &str =
    "SELECT true, CAST(?1 AS TEXT) IS NOT NULL AND EXISTS (SELECT 1 FROM numbers WHERE n = 7)";

async fn a_read_goes_to_the_replica_after_the_database_has_admitted_it(db: &Database) {
    let (there, standby) = other_database().await;
    let store = with_replica(db, stand_in(&there.url)).await;
    used(&store).await;
    assert_eq!(read(&store).await, (vec![1], vec![2]));
    standby.write(|tx| insert(tx, 3)).await.unwrap();
    assert_eq!(read(&store).await, (vec![1], vec![2, 3]));
    assert_eq!(stored(&store).await, [1], "other reads stay");
    let status = store.replica_status().unwrap();
    assert_eq!((status.answered, status.passed_over), (2, 0));
    // Nothing is written there.
    let written: Result<u64, StoreError> =
        store.read_from_replica(|_| Ok(()), |tx, ()| tx.exec("DELETE FROM numbers", &[])).await;
    assert!(written.is_err());
    assert_eq!((stored(&store).await, stored(&standby).await), (vec![1], vec![2, 3]));
}

async fn who_is_not_admitted_does_not_read(db: &Database) {
    let (there, _standby) = other_database().await;
    let store = with_replica(db, stand_in(&there.url)).await;
    used(&store).await;
    let refused: Result<(), Failure> = store
        .read_from_replica(|_| Err::<(), _>(Failure::Own(3)), |_, ()| panic!("it is read"))
        .await;
    assert!(matches!(refused, Err(Failure::Own(3))), "{refused:?}");
}

async fn a_replica_that_cannot_be_reached_is_passed_over(db: &Database) {
    let store = with_replica(db, ReplicaOptions::at("postgres://u@127.0.0.1:1/none")).await;
    assert_eq!(read(&store).await, (vec![1], vec![1]));
    not_used(&store, "it cannot be reached").await;
    assert_eq!(read(&store).await, (vec![1], vec![1]));
    let status = store.replica_status().unwrap();
    assert_eq!((status.answered, status.passed_over), (0, 2));
}

async fn a_replica_that_is_lost_or_falls_silent_is_passed_over_and_used_again(db: &Database) {
    let (there, _standby) = other_database().await;
    let mut proxy = Proxy::before(&there).await;
    let silence = Duration::from_millis(300);
    let store = with_replica(db, ReplicaOptions { silence, ..stand_in(&proxy.url) }).await;
    // A slow machine may seem silent for a moment.
    while read(&store).await.1 != [2] {}
    proxy.cut().await;
    for _ in 0..20 {
        assert_eq!(read(&store).await, (vec![1], vec![1]));
    }
    proxy.mend().await;
    while read(&store).await.1 != [2] {}
    proxy.stall();
    let mut readers = JoinSet::new();
    for _ in 0..20 {
        let store = store.clone();
        readers.spawn(async move { read(&store).await });
    }
    for answer in readers.join_all().await {
        assert_eq!(answer, (vec![1], vec![1]));
    }
    proxy.pass();
    while read(&store).await.1 != [2] {}
}

async fn an_error_of_the_replica_is_never_the_answer(db: &Database) {
    let (there, standby) = other_database().await;
    let store = with_replica(db, stand_in(&there.url)).await;
    used(&store).await;
    standby.write(|tx| tx.exec("DROP TABLE counters", &[])).await.map_err(only_store).unwrap();
    let counted: Result<(i64,), StoreError> = store
        .read_from_replica(
            |_| Ok(()),
            |tx, ()| tx.one("SELECT CAST(count(*) AS BIGINT) FROM counters", &[]),
        )
        .await;
    assert_eq!(counted.unwrap(), (0,));
    let own: Result<Vec<i64>, Failure> = store
        .read_from_replica(
            |_| Ok(()),
            |tx, ()| match numbers(tx)? {
                found if found == [1] => Ok(found),
                _ => Err(Failure::Own(2)),
            },
        )
        .await;
    assert_eq!(own.unwrap(), [1]);
    assert_eq!(read(&store).await, (vec![1], vec![2]));
    let status = store.replica_status().unwrap();
    assert_eq!((status.answered, status.passed_over), (1, 2));
}

async fn a_replica_that_is_behind_is_passed_over_until_it_has_caught_up(db: &Database) {
    let (there, standby) = other_database().await;
    let (catch_up, rest) = (Duration::from_millis(50), Duration::ZERO);
    let options = ReplicaOptions { state: SEVEN, catch_up, rest, ..stand_in(&there.url) };
    let store = with_replica(db, options).await;
    used(&store).await;
    while store.replica_status().unwrap().problem.is_none() {
        assert_eq!(read(&store).await, (vec![1], vec![1]));
    }
    not_used(&store, "it is too far behind").await;
    assert_eq!(read(&store).await, (vec![1], vec![1]));
    standby.write(|tx| insert(tx, 7)).await.unwrap();
    used(&store).await;
    assert_eq!(read(&store).await, (vec![1], vec![2, 7]));
}

async fn a_replica_of_another_schema_is_passed_over(db: &Database) {
    let there = Database::postgres();
    let step = Migration {
        version: 2,
        name: "a later version",
        both: "CREATE TABLE later (n BIGINT PRIMARY KEY) {keyed};",
        sqlite: "",
        postgres: "",
    };
    let steps = [SCHEMA[0], step];
    let _standby = Store::open(&there.url, &StoreOptions::default(), &steps).unwrap();
    let store = with_replica(db, stand_in(&there.url)).await;
    not_used(&store, "its schema is another one (2, not 1)").await;
    assert_eq!(read(&store).await, (vec![1], vec![1]));
}

async fn another_database_and_a_server_that_is_no_standby_are_passed_over(db: &Database) {
    let (there, _standby) = other_database().await;
    for (url, problem) in
        [(&there.url, "it is no copy of this database"), (&db.url, "it is no standby")]
    {
        let store = db.open().with_replica(ReplicaOptions::at(url)).await.unwrap();
        not_used(&store, problem).await;
        let (here, found) = read(&store).await;
        assert_eq!(found, here);
    }
}

async fn no_connection_to_the_replica_outlives_the_store(db: &Database) {
    let (there, standby) = other_database().await;
    let before = connections(&standby).await;
    let store = with_replica(db, stand_in(&there.url)).await;
    used(&store).await;
    read(&store).await;
    assert!(connections(&standby).await > before);
    drop(store);
    while connections(&standby).await > before {
        tokio::task::yield_now().await;
    }
}

async fn a_file_has_no_replica(db: &Database) {
    let refused = db.open().with_replica(ReplicaOptions::at("postgres://u@h/d")).await;
    assert!(matches!(refused.err(), Some(StoreError::Url(_))));
}

/// A database with the number 2.
async fn other_database() -> (Database, Store) {
    let there = Database::postgres();
    let standby = there.open();
    standby.write(|tx| insert(tx, 2)).await.unwrap();
    (there, standby)
}

/// A store with the number 1.
async fn with_replica(db: &Database, options: ReplicaOptions) -> Store {
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();
    store.with_replica(options).await.unwrap()
}

fn stand_in(url: &str) -> ReplicaOptions {
    let (identity, state) = STAND_IN;
    ReplicaOptions { identity, state, silence: PATIENCE, ..ReplicaOptions::at(url) }
}

/// The numbers of the database, and of where it was read.
async fn read(store: &Store) -> (Vec<i64>, Vec<i64>) {
    let both = |tx: &mut Tx<'_>, here: Vec<i64>| Ok((here, numbers(tx)?));
    store.read_from_replica(numbers, both).await.unwrap()
}

async fn used(store: &Store) {
    while store.replica_status().unwrap().problem.is_some() {
        tokio::task::yield_now().await;
    }
}

async fn not_used(store: &Store, because: &str) {
    while store.replica_status().unwrap().problem.as_deref() != Some(because) {
        tokio::task::yield_now().await;
    }
}

async fn connections(store: &Store) -> i64 {
    let query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
    let (count,) = store.read(move |tx| tx.one(query, &[])).await.map_err(only_store).unwrap();
    count
}

/// Says which error type is meant where nothing else does.
fn only_store(error: StoreError) -> StoreError {
    error
}
