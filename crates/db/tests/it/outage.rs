//! A PostgreSQL that cannot be reached: callers are told soon, and it is used again by itself.

use std::time::{Duration, Instant};

use db::{Store, StoreError, StoreOptions};
use tokio::task::JoinSet;

use crate::harness::{Database, PATIENCE, SCHEMA, insert, numbers, stored};
use crate::proxy::{Proxy, is_outage};

on_postgres! {
    a_server_that_is_gone_fails_callers_soon_and_is_used_again_when_it_is_back,
    a_server_that_falls_silent_fails_those_who_wait_and_what_they_wanted_is_not_done_later,
}

/// Far more than callers wait, and less than they would wait for a connection otherwise.
const SOON: Duration = Duration::from_secs(12);

async fn a_server_that_is_gone_fails_callers_soon_and_is_used_again_when_it_is_back(db: &Database) {
    let mut proxy = Proxy::before(db).await;
    let store = open(&proxy, PATIENCE);
    store.write(|tx| insert(tx, 1)).await.unwrap();
    proxy.cut().await;
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for n in 0..100 {
        let store = store.clone();
        callers.spawn(async move {
            match n % 2 {
                0 => store.read(numbers).await.map(drop),
                _ => store.write(move |tx| insert(tx, 2 + n)).await,
            }
        });
    }
    for answer in callers.join_all().await {
        assert!(is_outage(&answer), "{answer:?}");
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(!store.is_reachable());
    proxy.mend().await;
    while !store.is_reachable() {
        tokio::task::yield_now().await;
    }
    assert_eq!(stored(&store).await, [1]);
    store.write(|tx| insert(tx, 2)).await.unwrap();
}

async fn a_server_that_falls_silent_fails_those_who_wait_and_what_they_wanted_is_not_done_later(
    db: &Database,
) {
    let proxy = Proxy::before(db).await;
    let store = open(&proxy, Duration::from_millis(300));
    store.write(|tx| insert(tx, 1)).await.unwrap();
    proxy.stall();
    let mut callers = JoinSet::new();
    for n in 0..20 {
        let store = store.clone();
        callers.spawn(async move { store.write(move |tx| insert(tx, 2 + n)).await });
    }
    for answer in callers.join_all().await {
        assert!(is_outage(&answer), "{answer:?}");
    }
    assert!(is_outage(&store.read(numbers).await));
    proxy.pass();
    while !store.is_reachable() {
        tokio::task::yield_now().await;
    }
    // The one that was under way may have been done.
    let done = until_read(&store).await;
    assert!(done.len() <= 2, "{done:?}");
}

/// One connection writes and one reads.
fn open(proxy: &Proxy, silence: Duration) -> Store {
    let options = StoreOptions { connections: 2, silence, ..StoreOptions::default() };
    Store::open(&proxy.url, &options, SCHEMA).unwrap()
}

/// A slow machine may seem silent once more.
async fn until_read(store: &Store) -> Vec<i64> {
    loop {
        match store.read(numbers).await {
            Ok(numbers) => return numbers,
            Err(StoreError::Unreachable) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}
