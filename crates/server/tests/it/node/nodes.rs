//! Several nodes on one database: the files they share, and the rate of a key.

use std::path::Path;
use std::process::{Command, Output};

use axum::Router;
use axum::body::Body;
use base::agent_presence::share_agents;
use base::app::App;
use base::ids::Ids;
use base::rate_limit::{RateLimiter, share_rates};
use node::roster::NodePlace;
use node::vault::{KEY_FILE, Vault};
use tokio_util::sync::CancellationToken;

use crate::support::*;

on_both!(
    a_node_with_another_key_or_another_folder_of_blobs_does_not_start,
    a_database_from_before_adopts_the_key_that_opens_what_is_sealed,
    a_folder_without_the_files_of_the_database_is_not_adopted,
    a_key_that_is_paused_at_one_node_is_refused_at_once_by_all
);

async fn a_node_with_another_key_or_another_folder_of_blobs_does_not_start(app: TestApp) {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let blobs = first.path().join("blobs");
    assert!(start(&app, first.path(), &blobs).status.success());
    assert!(start(&app, first.path(), &blobs).status.success());
    refuses(start(&app, second.path(), &blobs), "secret.key is missing, and this database");
    assert!(!second.path().join(KEY_FILE).exists(), "no key is made beside the right one");
    std::fs::write(second.path().join(KEY_FILE), [7; 32]).unwrap();
    refuses(start(&app, second.path(), &blobs), "secret.key is not the key that this database");
    std::fs::copy(first.path().join(KEY_FILE), second.path().join(KEY_FILE)).unwrap();
    let own = second.path().join("blobs");
    refuses(start(&app, second.path(), &own), "is not the folder that this database keeps");
    assert!(start(&app, second.path(), &blobs).status.success());
    let mark = std::fs::read_to_string(blobs.join("mailroom-id")).unwrap();
    std::fs::write(own.join("mailroom-id"), mark).unwrap();
    assert!(start(&app, second.path(), &own).status.success(), "it was said to be the right one");
}

async fn a_database_from_before_adopts_the_key_that_opens_what_is_sealed(app: TestApp) {
    let (right, wrong) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let vault = Vault::open(right.path(), &Ids::with_seed(1)).unwrap();
    Vault::open(wrong.path(), &Ids::with_seed(2)).unwrap();
    let sealed = vault.seal(&Ids::with_seed(3), "service key svc_1", "a key");
    let ws = app.owner.ws;
    app.exec(&format!(
        "INSERT INTO services (ws, id, service, token, api_key, api_url, reference_tag, made_by,
            noted, created_at)
         VALUES ({ws}, 'svc_1', 'resend', 't', '{sealed}', 'u', 'r', 'x', 0, 0)"
    ))
    .await;
    let blobs = right.path().join("blobs");
    refuses(start(&app, wrong.path(), &blobs), "is not the key that this database");
    assert!(start(&app, right.path(), &blobs).status.success());
    refuses(start(&app, wrong.path(), &blobs), "is not the key that this database");
}

async fn a_folder_without_the_files_of_the_database_is_not_adopted(app: TestApp) {
    let (right, wrong) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ws, hash) = (app.owner.ws, "ab".repeat(32));
    app.exec(&format!("INSERT INTO blobs (ws, hash, size) VALUES ({ws}, '{hash}', 1)")).await;
    std::fs::create_dir_all(right.path().join("ab")).unwrap();
    std::fs::write(right.path().join("ab").join(&hash), b"x").unwrap();
    let data = tempfile::tempdir().unwrap();
    refuses(start(&app, data.path(), wrong.path()), "is not the folder that this database");
    assert!(start(&app, data.path(), right.path()).status.success());
}

async fn a_key_that_is_paused_at_one_node_is_refused_at_once_by_all(app: TestApp) {
    let mut nodes = vec![app.router_of(&app.app)];
    // SQLite has one node alone.
    if app.app.store.is_shared() {
        for seed in [10, 11] {
            let other = App { ids: Ids::with_seed(seed).into(), ..app.on_another_node() };
            nodes.push(app.router_of(&other));
        }
    }
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    let notes = format!("/conversations/{}/notes", mail.conversation);
    for paused_at in &nodes {
        let key = app.key("write send").await;
        for node in &nodes {
            ask(node, &key, "POST", &notes, r#"{ "body": "Before" }"#).await.is(201);
        }
        ask(paused_at, &key, "POST", "/agents/me/pause", "{}").await.is(200);
        for node in &nodes {
            let refused = ask(node, &key, "POST", &notes, r#"{ "body": "After" }"#).await.is(403);
            assert_eq!(refused.json()["code"], "agent_paused");
            let me = ask(node, &key, "GET", "/me", "").await.is(200).json();
            assert_eq!(me["policy"]["paused"], true);
        }
    }
}

async fn ask(node: &Router, key: &TestKey, method: &str, path: &str, body: &str) -> Answer {
    let asked = request(method, path, Some(&key.key), Body::from(body.to_owned()));
    TestApp::send_to(node, asked).await
}

#[test]
fn the_rate_of_a_key_is_shared_by_all_nodes() {
    run(Backend::Postgres, async |app: TestApp| {
        const LIMIT: u32 = 10;
        let app = app.with_rate(LIMIT);
        let other = App { limiter: RateLimiter::new(LIMIT).into(), ..app.on_another_node() };
        let (key, stopping) = (app.key("read").await, CancellationToken::new());
        for node in [app.app.clone(), other.clone()] {
            let stopping = stopping.clone();
            tokio::spawn(async move {
                share_rates(&node.store, &node.limiter, &*node.clock, &stopping).await
            });
        }
        for _ in 0..6 {
            app.get(&key, "/me").await.is(200);
        }
        let hash = base::security::api_key::KeyHash::of(&key.key).unwrap();
        eventually(async || other.limiter.remaining(&hash, app.now()) == LIMIT - 6).await;
        let there = app.router_of(&other);
        let call = async || {
            let request = request("GET", "/me", Some(&key.key), Body::empty());
            TestApp::send_to(&there, request).await
        };
        for left in ["3", "2", "1", "0"] {
            let answer = call().await.is(200);
            assert!(answer.header("ratelimit").contains(&format!("r={left}")), "{left}");
        }
        call().await.is(429);
        eventually(async || app.app.limiter.remaining(&hash, app.now()) == 0).await;
        app.get(&key, "/me").await.is(429);
        stopping.cancel();
    });
}

#[test]
fn a_node_that_is_reached_elsewhere_does_not_run_beside_others() {
    run(Backend::Postgres, async |app: TestApp| {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let take = async |data: &Path, url: &str, is_named: bool| {
            let node = App { public_url: url.into(), ..app.app.clone() };
            NodePlace::take(&node, data, is_named.then_some(url)).await
        };
        let (ours, other) = ("https://mail.acme.test", "https://elsewhere.acme.test");
        let first = take(one.path(), ours, false).await.unwrap();
        for (url, is_named) in [(other, true), (ours, false)] {
            let refusal = take(two.path(), url, is_named).await.err().unwrap();
            assert!(refusal.contains("the same MAILROOM_PUBLIC_URL"), "{refusal}");
        }
        // The same node again, after it was killed, may be reached elsewhere.
        drop(first);
        drop(take(one.path(), other, true).await.unwrap());
        drop(take(one.path(), ours, true).await.unwrap());
        let second = take(two.path(), ours, true).await.unwrap().expect("a place");
        assert_eq!(app.count("nodes").await, 2);
        // Who stops leaves the list.
        let stopping = CancellationToken::new();
        stopping.cancel();
        second.hold(stopping).await;
        second.leave().await;
        assert_eq!(app.count("nodes").await, 1);
        // Who was killed counts for a minute.
        app.advance(61 * SECOND);
        assert!(take(two.path(), other, true).await.unwrap().is_some());
        assert_eq!(app.count("nodes").await, 1);
        // Who was seen far in the future does not count: a clock was wrong.
        app.exec("UPDATE nodes SET seen_at = seen_at + 3600000").await;
        assert!(take(one.path(), ours, true).await.unwrap().is_some());
        assert_eq!(app.count("nodes").await, 1);
    });
}

#[test]
fn an_agent_is_seen_on_the_pages_of_other_nodes() {
    run(Backend::Postgres, async |app: TestApp| {
        let other = app.on_another_node();
        let stopping = CancellationToken::new();
        tokio::spawn({
            let (node, stopping) = (other.clone(), stopping.clone());
            async move { share_agents(&node.store, &node.agents, &*node.clock, &stopping).await }
        });
        let key = app.key("read write").await;
        let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
        let id = mail.conversation.as_str();
        eventually(async || {
            app.get(&key, &format!("/conversations/{id}")).await.is(200);
            app.advance(20 * SECOND);
            !other.agents.at(app.owner.ws, id, app.now()).is_empty()
        })
        .await;
        stopping.cancel();
    });
}

/// Starts a process that brings the database up to date and stops.
fn start(app: &TestApp, data: &Path, blobs: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
    command
        .arg("migrate")
        .env("MAILROOM_DATA", data)
        .env("MAILROOM_BLOBS", blobs)
        .env("MAILROOM_DATABASE_URL", app.database_url());
    command.output().unwrap()
}

fn refuses(output: Output, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains(sentence), "{said}");
}
