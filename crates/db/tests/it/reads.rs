//! Reads see one snapshot and cannot write.

use std::sync::mpsc;

use db::{StoreError, Tx};

use crate::harness::{Database, NONE, insert, numbers, stored};

on_both! {
    a_read_sees_every_write_acknowledged_before_it,
    a_read_is_one_snapshot_from_its_first_statement_on,
    a_statement_repeated_in_a_read_has_the_same_answer,
    a_statement_repeated_in_a_write_sees_what_it_wrote,
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
                let after: Vec<(i64,)> =
                    tx.all("SELECT n FROM numbers WHERE n > 0 ORDER BY n", &[])?;
                Ok((before, after.into_iter().map(|(n,)| n).collect()))
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

async fn a_statement_repeated_in_a_read_has_the_same_answer(db: &Database) {
    let store = db.open();
    store.write(|tx| insert(tx, 1).and_then(|_| insert(tx, 2))).await.unwrap();
    let at_least = |tx: &mut Tx<'_>, least: i64| -> Result<Vec<(i64,)>, StoreError> {
        tx.all("SELECT n FROM numbers WHERE n >= ?1 ORDER BY n", &[&least])
    };
    let read: Result<_, StoreError> = store
        .read(move |tx| {
            Ok([at_least(tx, 1)?, at_least(tx, 2)?, at_least(tx, 1)?, at_least(tx, 2)?])
        })
        .await;
    let (both, one) = (vec![(1,), (2,)], vec![(2,)]);
    assert_eq!(read.unwrap(), [both.clone(), one.clone(), both, one]);
    store.write(|tx| insert(tx, 3)).await.unwrap();
    assert_eq!(stored(&store).await, [1, 2, 3]);
}

async fn a_statement_repeated_in_a_write_sees_what_it_wrote(db: &Database) {
    let store = db.open();
    let seen: Result<_, StoreError> = store
        .write(|tx| {
            let before = numbers(tx)?;
            insert(tx, 7)?;
            Ok((before, numbers(tx)?))
        })
        .await;
    assert_eq!(seen.unwrap(), (vec![], vec![7]));
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
