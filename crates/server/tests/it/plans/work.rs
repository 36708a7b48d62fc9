//! How many pages of tables and indexes PostgreSQL reads for what a test does.

use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};

use db::StoreError;
use postgres::{Client, NoTls};

use crate::support::{CONNECTIONS, TestApp};

/// Counts pages from here to [`Meter::read`]. PostgreSQL tells what a connection has read when the
/// connection is told to.
pub struct Meter {
    before: BTreeMap<String, i64>,
}

impl Meter {
    pub async fn start(app: &TestApp) -> Meter {
        tell(app).await;
        Meter { before: pages(app) }
    }

    /// The pages read, and of which table most of them are.
    pub async fn read(self, app: &TestApp) -> (i64, String) {
        tell(app).await;
        let read = pages(app).into_iter().map(|(table, pages)| {
            let before = self.before.get(&table).copied().unwrap_or(0);
            (pages - before, table)
        });
        let read: Vec<(i64, String)> = read.collect();
        let all = read.iter().map(|(pages, _)| pages).sum();
        (
            all,
            read.into_iter()
                .max()
                .map_or(String::new(), |(pages, table)| format!("{table} {pages}")),
        )
    }
}

/// Has every connection of the store tell. A barrier keeps one from being asked twice.
async fn tell(app: &TestApp) {
    let half = CONNECTIONS / 2;
    let (reads, writes) = (Arc::new(Barrier::new(half)), Arc::new(Barrier::new(half)));
    let mut told = tokio::task::JoinSet::new();
    for _ in 0..half {
        let (store, together) = (app.app.store.clone(), reads.clone());
        told.spawn(async move { store.read(move |tx| together_tell(tx, &together)).await });
        let (store, together) = (app.app.store.clone(), writes.clone());
        told.spawn(async move { store.write(move |tx| together_tell(tx, &together)).await });
    }
    for told in told.join_all().await {
        told.unwrap();
    }
    // A read ends without waiting for the server, which counts its pages then.
    let busy = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'";
    past_the_store(app, |client| {
        while client.query_one(busy, &[]).unwrap().get::<_, i64>(0) > 0 {
            std::thread::yield_now();
        }
    });
}

fn together_tell(tx: &mut db::Tx<'_>, together: &Barrier) -> Result<(), StoreError> {
    together.wait();
    tx.exec("SELECT pg_stat_force_next_flush()", &[]).map(drop)
}

fn pages(app: &TestApp) -> BTreeMap<String, i64> {
    past_the_store(app, |client| {
        let sql = "SELECT CAST(relname AS TEXT), heap_blks_hit + heap_blks_read
                + coalesce(idx_blks_hit + idx_blks_read, 0)
                + coalesce(toast_blks_hit + toast_blks_read, 0)
                + coalesce(tidx_blks_hit + tidx_blks_read, 0)
            FROM pg_statio_user_tables";
        let rows = client.query(sql, &[]).unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    })
}

/// Works on the test's database with a client of its own, on a thread of its own: the client brings
/// a runtime along.
pub fn past_the_store<T: Send>(app: &TestApp, work: impl FnOnce(&mut Client) -> T + Send) -> T {
    let url = app.database_url();
    std::thread::scope(|scope| {
        let worked = scope.spawn(|| work(&mut Client::connect(url, NoTls).unwrap()));
        worked.join().unwrap()
    })
}
