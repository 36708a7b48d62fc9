//! Several stores on one database: the server and the command line, say, or two nodes.

use db::Store;
use tokio::task::JoinSet;

use crate::harness::{Database, insert, stored};

on_both! {
    two_stores_on_one_database_can_both_write,
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
