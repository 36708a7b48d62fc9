//! Reports and the audit log are read from a standby of the database. Another database, in which nothing
//! has happened, stands for it.

use actions::people::removal;
use db::ReplicaOptions;
use serde_json::json;
use testing::PATIENCE;

use crate::api::mcp;
use crate::support::*;

#[test]
fn reports_and_the_audit_log_come_from_the_replica_and_nothing_else_does() {
    with_stand_in(async |app: TestApp, replica: ReplicaOptions| {
        let key = app.key("read").await;
        app.mail("ann@x.example", "Lamp", "It is broken").await;
        app.pass(3 * SECOND).await;
        assert_eq!(told(&app, &key).await, [true; 5]);
        let app = app.with_replica(replica).await;
        used(&app).await;
        assert_eq!(told(&app, &key).await, [false; 5]);
    });
}

#[test]
fn a_revoked_key_and_a_removed_teammate_read_nothing_from_the_replica() {
    with_stand_in(async |app: TestApp, replica: ReplicaOptions| {
        let app = app.with_replica(replica).await;
        used(&app).await;
        let (key, bo) = (app.key("read").await, app.person("Bo").await);
        let browser = app.signed_in(&bo).await;
        app.get(&key, "/reports").await.is(200);
        browser.get("/reports").await.is(200);
        browser.get("/settings/audit").await.is(403);
        app.revoke(&key).await;
        let person = user(&bo);
        app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
        app.get(&key, "/reports").await.is(401);
        for path in ["/reports", "/reports.csv", "/settings/audit"] {
            let page = browser.get(path).await.is(303);
            assert!(page.answer.header("location").starts_with("/sign-in"), "{path}");
        }
    });
}

/// Whether REST, MCP, CSV, the page and the audit log tell of the mail and the key of the database.
async fn told(app: &TestApp, key: &TestKey) -> [bool; 5] {
    let rest = app.get(key, "/reports").await.is(200).json();
    let tool = mcp::done(app, key, "get_reports", json!({})).await;
    let browser = app.signed_in(&app.owner).await;
    let csv = browser.get("/reports.csv").await.is(200);
    let page = browser.get("/reports").await.is(200);
    let log = browser.get("/settings/audit").await.is(200);
    // The layout and everything else are the database's.
    page.shows(&app.support.name);
    let listed = app.get(key, "/conversations").await.is(200).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    [
        rest["received"] == 1,
        tool["received"] == 1,
        csv.text.contains(&app.support.name),
        page.text.contains(&format!("<option value=\"{}\"", app.support.id)),
        log.text.contains("made the key"),
    ]
}

async fn used(app: &TestApp) {
    let problem = || app.app.store.replica_status().unwrap().problem;
    eventually(async || problem().is_none()).await;
}

/// Runs a rule beside a database that stands for the standby.
fn with_stand_in(rule: impl AsyncFnOnce(TestApp, ReplicaOptions)) {
    let folder = tempfile::tempdir().unwrap();
    let there = Database::new(Backend::Postgres, folder.path());
    let replica = ReplicaOptions {
        identity: "SELECT 'the same'",
        state: "SELECT true, CAST($1 AS TEXT) IS NOT NULL",
        silence: PATIENCE,
        ..ReplicaOptions::at(&there.url)
    };
    run(Backend::Postgres, async move |app: TestApp| rule(app, replica).await);
}
