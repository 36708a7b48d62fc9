//! Migrations run once, in order, and a newer schema is refused.

use std::sync::Barrier;
use std::thread;

use db::{Migration, Store, StoreError, StoreOptions};

use crate::harness::Database;

on_both! {
    a_migration_runs_once,
    only_migrations_newer_than_the_schema_run,
    a_schema_newer_than_the_binary_is_refused,
    a_migration_that_fails_leaves_nothing_behind,
    a_migration_has_a_part_for_each_database,
    stores_opened_at_once_on_a_new_database_migrate_it_once,
}

const LOG: Migration = Migration {
    version: 1,
    name: "a log of what ran",
    both: "CREATE TABLE log (line TEXT NOT NULL) {rows}; INSERT INTO log VALUES ('first');",
    sqlite: "",
    postgres: "",
};
const SECOND: Migration = Migration {
    version: 2,
    name: "a second step",
    both: "INSERT INTO log VALUES ('second');",
    sqlite: "INSERT INTO log VALUES ('on sqlite');",
    postgres: "INSERT INTO log VALUES ('on postgres');",
};
const BROKEN: Migration = Migration {
    version: 3,
    name: "a step that fails half way",
    both: "CREATE TABLE half (n BIGINT PRIMARY KEY) {rows}; INSERT INTO nowhere VALUES (1);",
    sqlite: "",
    postgres: "",
};

async fn a_migration_runs_once(db: &Database) {
    for _ in 0..3 {
        let store = open(db, &[LOG]).unwrap();
        assert_eq!(log(&store).await, ["first"]);
    }
}

async fn only_migrations_newer_than_the_schema_run(db: &Database) {
    drop(open(db, &[LOG]).unwrap());
    let store = open(db, &[LOG, SECOND]).unwrap();
    assert_eq!(log(&store).await[..2], ["first", "second"]);
}

async fn a_migration_has_a_part_for_each_database(db: &Database) {
    let store = open(db, &[LOG, SECOND]).unwrap();
    let own: &str =
        store.read(|tx| Ok::<_, StoreError>(tx.pick("on sqlite", "on postgres"))).await.unwrap();
    assert_eq!(log(&store).await, ["first", "second", own]);
}

async fn a_schema_newer_than_the_binary_is_refused(db: &Database) {
    drop(open(db, &[LOG, SECOND]).unwrap());
    let refused = open(db, &[LOG]).err().unwrap();
    assert!(matches!(refused, StoreError::TooNew { found: 2, known: 1 }), "{refused}");
    let store = open(db, &[LOG, SECOND]).unwrap();
    assert_eq!(log(&store).await.len(), 3, "the refused one changed something");
}

async fn a_migration_that_fails_leaves_nothing_behind(db: &Database) {
    let failed = open(db, &[LOG, SECOND, BROKEN]).err().unwrap();
    assert!(matches!(failed, StoreError::Migration { version: 3, .. }), "{failed}");
    assert_eq!(db.tables(), Vec::<String>::new());

    drop(open(db, &[LOG]).unwrap());
    let before = db.tables();
    assert!(open(db, &[LOG, SECOND, BROKEN]).is_err());
    assert_eq!(db.tables(), before);
    let store = open(db, &[LOG]).unwrap();
    assert_eq!(log(&store).await, ["first"]);
}

async fn stores_opened_at_once_on_a_new_database_migrate_it_once(db: &Database) {
    const STORES: usize = 6;
    let start = Barrier::new(STORES);
    let stores: Vec<Store> = thread::scope(|scope| {
        let opening: Vec<_> = (0..STORES)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    open(db, &[LOG, SECOND]).unwrap()
                })
            })
            .collect();
        opening.into_iter().map(|store| store.join().unwrap()).collect()
    });
    for store in stores {
        assert_eq!(log(&store).await.len(), 3);
    }
}

fn open(db: &Database, migrations: &[Migration]) -> Result<Store, StoreError> {
    Store::open(&db.url, &StoreOptions { connections: 2, ..StoreOptions::default() }, migrations)
}

async fn log(store: &Store) -> Vec<String> {
    let lines = store.read(|tx| tx.all::<(String,)>("SELECT line FROM log", &[]));
    let lines = lines.await.map_err(|error: StoreError| error).unwrap();
    lines.into_iter().map(|(line,)| line).collect()
}
