//! What the store holds, past the operations.

use base::ids::MessageId;
use serde_json::Value;

use crate::json::texts;
use crate::{TestApp, eventually};

impl TestApp {
    /// Every event of the workspace, oldest first, as it would be sent.
    pub async fn events(&self) -> Vec<Value> {
        let ws = self.owner.ws;
        let rows: Vec<(String,)> = self
            .app
            .store
            .read(move |tx| {
                tx.all::<(String,)>("SELECT body FROM events WHERE ws = ?1 ORDER BY id", &[&ws])
            })
            .await
            .unwrap_or_else(|error: db::StoreError| panic!("{error}"));
        rows.iter().map(|(body,)| serde_json::from_str(body).unwrap()).collect()
    }

    /// The types of the events since the last call left off at `from`.
    pub async fn event_types(&self) -> Vec<String> {
        let events = self.events().await;
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn events_since(&self, count: usize) -> Vec<Value> {
        self.events().await.split_off(count)
    }

    pub async fn event_types_since(&self, count: usize) -> Vec<String> {
        texts(&self.events_since(count).await, "type")
    }

    /// The Message-ID of one of our messages.
    pub async fn header_id(&self, message: &str) -> String {
        let id = MessageId::parse(message).unwrap();
        let ws = self.owner.ws;
        let read = self.app.store.read(move |tx| {
            tx.one::<(String,)>(
                "SELECT header_id FROM messages WHERE ws = ?1 AND id = ?2",
                &[&ws, &id],
            )
        });
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
    }

    /// The rows of a table, or of `TABLE WHERE …`.
    pub async fn count(&self, sql: &str) -> i64 {
        let sql = format!("SELECT CAST(count(*) AS BIGINT) FROM {sql}");
        let read = self.app.store.read(move |tx| tx.one::<(i64,)>(&sql, &[]));
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
    }

    /// Changes rows behind the domain's back, where no operation does it yet.
    pub async fn exec(&self, sql: &str) {
        let sql = sql.to_owned();
        self.act(&self.owner, move |tx, _| Ok(tx.exec(&sql, &[])?)).await;
    }

    /// Planned deliveries as (webhook, event type, state), in the order of the events.
    pub async fn deliveries(&self) -> Vec<(String, String, String)> {
        let ws = self.owner.ws;
        let read = self.app.store.read(move |tx| {
            tx.all::<(String, String, String)>(
                "SELECT d.webhook, e.type, d.state
                 FROM deliveries d JOIN events e ON e.ws = d.ws AND e.id = d.event
                 WHERE d.ws = ?1 ORDER BY d.event, d.webhook",
                &[&ws],
            )
        });
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"))
    }

    /// Waits for transactions of other tests on the same PostgreSQL that began before what this
    /// test wrote: `GET /events` goes no further than the oldest of the whole server.
    pub async fn settle(&self) {
        let open = |tx: &mut db::Tx<'_>| {
            let sql = tx.pick(
                "SELECT 0",
                "SELECT count(*) FROM events
                 WHERE txn >= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)",
            );
            Ok::<_, db::StoreError>(tx.one::<(i64,)>(sql, &[])?.0)
        };
        eventually(async || self.app.store.read(open).await.unwrap() == 0).await;
    }
}
