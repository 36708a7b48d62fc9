//! Listeners are woken after a commit, and only then.

use std::sync::mpsc;

use db::StoreError;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::mpsc::unbounded_channel;

use crate::harness::{Database, Failure, Named, insert, stored};

on_both! {
    a_wake_up_comes_after_the_commit_and_before_the_answer,
    who_is_woken_sees_what_was_written,
    a_write_that_fails_wakes_nobody,
    a_queue_named_twice_in_one_write_is_woken_once,
}

async fn a_wake_up_comes_after_the_commit_and_before_the_answer(db: &Database) {
    let store = db.open();
    let mut heard = store.wakes();
    let (woke, mut has_woken) = unbounded_channel();
    let (gate, closed) = mpsc::channel::<()>();
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        writer
            .write(move |tx| {
                insert(tx, 1)?;
                tx.wake(Named("outbox"));
                let _ = woke.send(());
                let _ = closed.recv();
                Ok::<_, StoreError>(())
            })
            .await
    });
    has_woken.recv().await.unwrap();
    assert_eq!(heard.try_recv(), Err(TryRecvError::Empty), "told before the commit");
    drop(gate);
    writing.await.unwrap().unwrap();
    assert_eq!(heard.try_recv(), Ok("outbox".to_owned()), "answered before it was told");
}

async fn who_is_woken_sees_what_was_written(db: &Database) {
    let store = db.open();
    let mut heard = store.wakes();
    let names: Vec<&'static str> = (0..30).map(|n| &*format!("queue-{n}").leak()).collect();
    for (n, name) in (0..).zip(names) {
        let writer = store.clone();
        let writing = tokio::spawn(async move {
            writer
                .write(move |tx| {
                    tx.wake(Named(name));
                    insert(tx, n)
                })
                .await
        });
        while heard.recv().await.unwrap() != name {}
        assert_eq!(stored(&store).await.last(), Some(&n));
        writing.await.unwrap().unwrap();
    }
}

async fn a_write_that_fails_wakes_nobody(db: &Database) {
    let store = db.open();
    let mut heard = store.wakes();
    let failed: Result<(), Failure> = store
        .write(|tx| {
            tx.wake(Named("failed"));
            Err(Failure::Own(1))
        })
        .await;
    assert!(failed.is_err());
    let panicked: Result<(), Failure> = store
        .write(|tx| {
            tx.wake(Named("panicked"));
            panic!("told to panic")
        })
        .await;
    assert!(panicked.is_err());
    let written: Result<(), Failure> = store
        .write(|tx| {
            tx.wake(Named("written"));
            Ok(())
        })
        .await;
    written.unwrap();
    assert_eq!(heard.recv().await.unwrap(), "written");
}

async fn a_queue_named_twice_in_one_write_is_woken_once(db: &Database) {
    let store = db.open();
    let mut heard = store.wakes();
    let written: Result<(), StoreError> = store
        .write(|tx| {
            tx.wake(Named("outbox"));
            tx.wake(Named("outbox"));
            Ok(())
        })
        .await;
    written.unwrap();
    assert_eq!(heard.try_recv(), Ok("outbox".to_owned()));
    assert_eq!(heard.try_recv(), Err(TryRecvError::Empty));
}

mod across_nodes {
    use super::*;

    on_postgres! {
        a_write_on_one_node_wakes_the_other,
        a_write_that_fails_wakes_no_other_node,
        a_node_is_not_woken_a_second_time_by_its_own_write,
    }

    async fn a_write_on_one_node_wakes_the_other(db: &Database) {
        let (here, there) = (db.open(), db.open());
        let mut heard = there.wakes();
        let written: Result<(), StoreError> = here
            .write(|tx| {
                tx.wake(Named("outbox"));
                insert(tx, 1)
            })
            .await;
        written.unwrap();
        assert_eq!(heard.recv().await.unwrap(), "outbox");
        assert_eq!(stored(&there).await, [1]);
    }

    async fn a_write_that_fails_wakes_no_other_node(db: &Database) {
        let (here, there) = (db.open(), db.open());
        let mut heard = there.wakes();
        let failed: Result<(), Failure> = here
            .write(|tx| {
                tx.wake(Named("a failed one"));
                Err(Failure::Own(1))
            })
            .await;
        assert!(failed.is_err());
        let written: Result<(), StoreError> = here
            .write(|tx| {
                tx.wake(Named("b written"));
                Ok(())
            })
            .await;
        written.unwrap();
        assert_eq!(heard.recv().await.unwrap(), "b written");
    }

    async fn a_node_is_not_woken_a_second_time_by_its_own_write(db: &Database) {
        let (here, there) = (db.open(), db.open());
        let mut heard = here.wakes();
        for (store, name) in [(&here, "first"), (&there, "second")] {
            let written: Result<(), StoreError> = store
                .write(move |tx| {
                    tx.wake(Named(name));
                    Ok(())
                })
                .await;
            written.unwrap();
        }
        assert_eq!(heard.recv().await.unwrap(), "first");
        assert_eq!(heard.recv().await.unwrap(), "second");
    }
}
