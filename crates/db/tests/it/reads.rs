//! Reads see one snapshot and cannot write.

use std::sync::mpsc;

use db::StoreError;

use crate::harness::{Database, NONE, insert, numbers, stored};

on_both! {
    a_read_sees_every_write_acknowledged_before_it,
    a_read_is_one_snapshot_from_its_first_statement_on,
    a_read_cannot_write,
    a_read_that_fails_or_panics_leaves_the_store_usable,
}

async fn a_read_sees_every_write_acknowledged_before_it(db: &Database) {
    let store = db.open();
    for n in 0..50 {
        store.write(move |tx| insert(tx, n)).await.unwrap();
        assert_eq!(stored(&store).await.last(), Some(&n));
    }
}

async fn a_read_is_one_snapshot_from_its_first_statement_on(db: &Database) {
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();

    let (looked, mut has_looked) = tokio::sync::mpsc::unbounded_channel();
    let (written, has_written) = mpsc::channel::<()>();
    let reader = store.clone();
    let reading = tokio::spawn(async move {
        let seen: Result<_, StoreError> = reader
            .read(move |tx| {
                let before = numbers(tx)?;
                looked.send(()).unwrap();
                let _ = has_written.recv();
                Ok((before, numbers(tx)?))
            })
            .await;
        seen.unwrap()
    });
    has_looked.recv().await.unwrap();
    store.write(|tx| insert(tx, 2)).await.unwrap();
    drop(written);

    assert_eq!(reading.await.unwrap(), (vec![1], vec![1]));
    assert_eq!(stored(&store).await, [1, 2]);
}

async fn a_read_cannot_write(db: &Database) {
    let store = db.open();
    for sql in ["INSERT INTO numbers (n) VALUES (1)", "DROP TABLE numbers"] {
        let refused: Result<u64, StoreError> = store.read(move |tx| tx.exec(sql, &[])).await;
        assert!(refused.is_err(), "{sql}: {refused:?}");
    }
    assert_eq!(stored(&store).await, NONE);
}

async fn a_read_that_fails_or_panics_leaves_the_store_usable(db: &Database) {
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();
    // More rounds than there are read connections, so that each has been through both.
    for _ in 0..10 {
        let failed: Result<u64, StoreError> =
            store.read(|tx| tx.exec("SELECT nonsense", &[])).await;
        assert!(failed.is_err());
        let panicked: Result<(), StoreError> = store.read(|tx| panic!("{:?}", numbers(tx))).await;
        assert!(matches!(panicked, Err(StoreError::Panicked)), "{panicked:?}");
    }
    for _ in 0..10 {
        assert_eq!(stored(&store).await, [1]);
    }
}
