//! A write is committed whole or not at all, whatever the others in its group do.

use std::collections::BTreeMap;

use db::{Store, StoreError, Tx};

use crate::harness::{Database, Failure, NONE, insert, stored};

on_both! {
    among_many_at_once_exactly_the_successful_writes_remain,
    a_write_that_fails_undoes_all_it_did,
    a_write_sees_its_own_rows,
    a_write_that_goes_on_after_a_failed_statement_is_undone,
    a_duplicate_is_the_error_of_the_one_who_brought_it,
    a_write_that_nobody_waited_for_tells_its_own_error,
    the_answers_of_writes_that_nobody_waits_for_block_none_behind_them,
    a_write_waits_for_the_disk_and_a_jot_does_not,
    what_is_put_off_is_there_with_the_write_and_not_without_it,
}

async fn among_many_at_once_exactly_the_successful_writes_remain(db: &Database) {
    const WRITES: i64 = 300;
    let store = db.open();
    let mut tasks = BTreeMap::new();
    for n in 0..WRITES {
        let store = store.clone();
        tasks.insert(n, tokio::spawn(async move { store.write(move |tx| mixed(tx, n)).await }));
    }
    for (n, task) in tasks {
        let outcome = task.await.unwrap();
        let is_its_own = match n % 3 {
            0 => matches!(outcome, Ok(told) if told == n),
            1 => matches!(outcome, Err(Failure::Own(told)) if told == n),
            _ => matches!(outcome, Err(Failure::Store(StoreError::Panicked))),
        };
        assert!(is_its_own, "{n}: {outcome:?}");
    }
    let successful: Vec<i64> = (0..WRITES).filter(|n| n % 3 == 0).collect();
    assert_eq!(stored(&store).await, successful);
}

async fn a_write_waits_for_the_disk_and_a_jot_does_not(db: &Database) {
    let store = db.open();
    let waits = |tx: &mut Tx<'_>| {
        let sql = tx.pick(
            "SELECT CAST(synchronous AS TEXT) FROM pragma_synchronous",
            "SELECT current_setting('synchronous_commit')",
        );
        let (level,): (String,) = tx.one(sql, &[])?;
        Ok::<_, StoreError>(matches!(level.as_str(), "2" | "on"))
    };
    for _ in 0..2 {
        assert!(store.write(waits).await.unwrap());
        assert!(!store.write_relaxed(waits).await.unwrap());
    }
}

async fn what_is_put_off_is_there_with_the_write_and_not_without_it(db: &Database) {
    const COUNT: &str = "INSERT INTO counters (n, name) VALUES (?1, ?2)";
    let store = db.open();
    let put_off = |n: i64, name: &'static str| {
        move |tx: &mut Tx<'_>| {
            tx.exec_last(COUNT, n, name.to_owned())?;
            mixed(tx, n)
        }
    };
    let (kept, failed, panicked, also_kept) = tokio::join!(
        store.write(put_off(9, "kept")),
        store.write(put_off(1, "failed")),
        store.write(put_off(2, "panicked")),
        store.write(put_off(3, "also kept")),
    );
    assert!(kept.is_ok() && failed.is_err() && panicked.is_err() && also_kept.is_ok());
    let names = |tx: &mut Tx<'_>| {
        let rows: Vec<(String,)> = tx.all("SELECT name FROM counters ORDER BY n", &[])?;
        Ok::<_, StoreError>(rows.into_iter().map(|(name,)| name).collect::<Vec<_>>())
    };
    assert_eq!(store.read(names).await.unwrap(), ["also kept", "kept"]);
    assert_eq!(stored(&store).await, [3, 9]);
}

/// Writes its number, then succeeds, fails or panics according to it.
fn mixed(tx: &mut Tx<'_>, n: i64) -> Result<i64, Failure> {
    insert(tx, n)?;
    match n % 3 {
        0 => Ok(n),
        1 => Err(Failure::Own(n)),
        _ => panic!("write {n} was told to panic"),
    }
}

async fn a_write_that_fails_undoes_all_it_did(db: &Database) {
    let store = db.open();
    let failed: Result<(), Failure> = store
        .write(|tx| {
            insert(tx, 1)?;
            insert(tx, 2)?;
            Err(Failure::Own(7))
        })
        .await;
    assert!(matches!(failed, Err(Failure::Own(7))), "{failed:?}");
    assert_eq!(stored(&store).await, NONE);
}

async fn a_write_sees_its_own_rows(db: &Database) {
    let store = db.open();
    let seen: Result<(i64,), StoreError> = store
        .write(|tx| {
            insert(tx, 5)?;
            tx.one("SELECT n FROM numbers", &[])
        })
        .await;
    assert_eq!(seen.unwrap(), (5,));
}

/// PostgreSQL would answer the commit of such a transaction with a rollback and no error.
async fn a_write_that_goes_on_after_a_failed_statement_is_undone(db: &Database) {
    let store = db.open();
    let outcome: Result<(), StoreError> = store
        .write(|tx| {
            insert(tx, 1)?;
            let _ = tx.exec("INSERT INTO nowhere (n) VALUES (1)", &[]);
            Ok(())
        })
        .await;
    assert!(matches!(outcome, Err(StoreError::Commit(_))), "{outcome:?}");
    assert_eq!(stored(&store).await, NONE);
    assert_works(&store).await;
}

async fn a_duplicate_is_the_error_of_the_one_who_brought_it(db: &Database) {
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();
    let duplicate = store.write(|tx| insert(tx, 1)).await;
    assert!(
        matches!(duplicate, Err(StoreError::Sqlite(_) | StoreError::Postgres(_))),
        "{duplicate:?}"
    );
    assert_works(&store).await;
}

async fn a_write_that_nobody_waited_for_tells_its_own_error(db: &Database) {
    const INSERT: &str = "INSERT INTO numbers (n) VALUES (?1)";
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();
    let at_the_end: Result<(), StoreError> =
        store.write(|tx| tx.exec_soon(INSERT, &[&1_i64])).await;
    let before_another: Result<u64, StoreError> = store
        .write(|tx| {
            tx.exec_soon(INSERT, &[&1_i64])?;
            tx.exec("UPDATE numbers SET n = n / 0", &[])
        })
        .await;
    for error in [at_the_end.unwrap_err(), before_another.unwrap_err()] {
        assert!(error.to_string().to_lowercase().contains("unique constraint"), "{error}");
    }
    assert_eq!(stored(&store).await, [1]);
    assert_works(&store).await;
}

/// Their answers come in pieces of any size, and more of them than there is room for.
async fn the_answers_of_writes_that_nobody_waits_for_block_none_behind_them(db: &Database) {
    const INSERT: &str = "INSERT INTO numbers (n) VALUES (?1)";
    let store = db.open();
    store.write(|tx| insert(tx, 1)).await.unwrap();
    for writes in 1..80 {
        let outcome: Result<(), StoreError> = store
            .write(move |tx| {
                for n in 2..=writes {
                    tx.exec_soon(INSERT, &[&n])?;
                }
                (0..writes).try_for_each(|_| tx.exec_soon(INSERT, &[&1_i64]))?;
                tx.one::<(i64,)>("SELECT count(*) FROM numbers", &[]).map(drop)
            })
            .await;
        let error = outcome.unwrap_err();
        assert!(error.to_string().to_lowercase().contains("unique constraint"), "{error}");
    }
    assert_eq!(stored(&store).await, [1]);
    assert_works(&store).await;
}

async fn assert_works(store: &Store) {
    store.write(|tx| insert(tx, 99)).await.unwrap();
    assert_eq!(stored(store).await.last(), Some(&99));
}
