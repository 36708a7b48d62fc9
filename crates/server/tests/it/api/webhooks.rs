//! Additions to the API, section 9: what is particular to webhooks by key over HTTP.

use axum::body::Body;
use serde_json::{Value, json};

use super::with_header;
use crate::support::{TestApp, TestKey, on_both, request, text_of};

on_both!(
    an_address_that_may_not_be_called_is_refused,
    a_repeat_tells_the_same_secret_and_it_is_kept_sealed
);

async fn count(app: &TestApp, key: &TestKey) -> usize {
    app.get(key, "/webhooks").await.is(200).json().as_array().map_or(0, Vec::len)
}

async fn an_address_that_may_not_be_called_is_refused(app: TestApp) {
    let key = app.key("admin").await;
    for url in [
        "http://shop.example/hook",
        "https://10.0.0.1/hook",
        "https://localhost/hook",
        "https://inside.shop.example/hook",
        "https://ann:pass@shop.example/hook",
        "shop.example",
    ] {
        let refused = app.post(&key, "/webhooks", json!({ "url": url })).await.is(400);
        assert!(refused.error().starts_with("url: must "), "{url}: {}", refused.error());
    }
    assert_eq!(count(&app, &key).await, 0);
    app.post(&key, "/webhooks", json!({ "url": "https://shop.example/hook" })).await.is(201);
    assert_eq!(count(&app, &key).await, 1);
}

async fn a_repeat_tells_the_same_secret_and_it_is_kept_sealed(app: TestApp) {
    let key = app.key("admin").await;
    let add = || {
        let body = Body::from(json!({ "url": "https://shop.example/hook" }).to_string());
        let asked = request("POST", "/webhooks", Some(&key.key), body);
        app.send(with_header(asked, "idempotency-key", "hook-1"))
    };
    let (first, again) = (add().await.is(201), add().await.is(201));
    assert_eq!(first.bytes, again.bytes);
    assert_eq!(count(&app, &key).await, 1);
    let made: Value = first.json();
    let kept = app
        .act(&app.owner, |tx, _| {
            let (body,): (Vec<u8>,) = tx.one("SELECT body FROM idempotency_keys", &[])?;
            Ok(body)
        })
        .await;
    assert!(!String::from_utf8_lossy(&kept).contains(&text_of(&made, "secret")));
}
