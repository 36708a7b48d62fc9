//! A body is waited for only when its sender has a key, and may be left out where it says nothing.

use axum::body::{Body, Bytes};
use axum::http::Request;
use serde_json::json;

use super::{ALL, a_conversation, rows, with_header};
use crate::support::{TestApp, on_both, pieces, request};

on_both!(
    who_has_no_key_is_told_before_the_body_has_come,
    a_body_that_takes_its_time_is_taken_and_its_key_checked_again_at_the_end,
    the_body_and_each_of_its_lists_may_be_left_out
);

/// The same request to the REST door and to the MCP door, with bodies that never end.
fn endless(key: &str, id: &str) -> [Request<Body>; 2] {
    let ours = |mut request: Request<Body>| {
        // The other end stays open: nobody drops it.
        let (sender, body) = pieces();
        std::mem::forget(sender);
        *request.body_mut() = body;
        request
    };
    let note = request("POST", &format!("/conversations/{id}/notes"), Some(key), Body::empty());
    let tool = Request::post(server::api::mcp::PATH)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::empty())
        .unwrap();
    [ours(note), ours(tool)]
}

async fn who_has_no_key_is_told_before_the_body_has_come(app: TestApp) {
    let (gone, id) = (app.key(ALL).await, a_conversation(&app).await);
    app.revoke(&gone).await;
    let before = rows(&app).await;
    let unknown = format!("rk_{}", "a".repeat(48));
    for key in [&gone.key, &unknown] {
        for request in endless(key, &id) {
            let answer = app.send(request).await.is(401);
            assert!(answer.header("www-authenticate").starts_with("Bearer"));
        }
        for (name, value) in [("content-length", "1000000"), ("expect", "100-continue")] {
            for request in endless(key, &id) {
                app.send(with_header(request, name, value)).await.is(401);
            }
        }
        for request in endless(key, &id) {
            app.send(with_header(request, "content-length", "2000000")).await.is(401);
        }
    }
    assert_eq!(rows(&app).await, before);
}

async fn a_body_that_takes_its_time_is_taken_and_its_key_checked_again_at_the_end(app: TestApp) {
    let (key, id) = (app.key(ALL).await, a_conversation(&app).await);
    let path = format!("/conversations/{id}/notes");
    let note = json!({ "body": "x".repeat(9_000) }).to_string();
    for revoked in [false, true] {
        let (sender, body) = pieces();
        let (first, rest) = note.split_at(100);
        let router = app.router();
        let request = request("POST", &path, Some(&key.key), body);
        let sending =
            tokio::spawn(async move { crate::support::TestApp::send_to(&router, request).await });
        sender.send(Ok(Bytes::copy_from_slice(first.as_bytes()))).await.unwrap();
        // The key was good when the body began.
        while sender.capacity() < sender.max_capacity() {
            tokio::task::yield_now().await;
        }
        if revoked {
            app.revoke(&key).await;
        }
        sender.send(Ok(Bytes::copy_from_slice(rest.as_bytes()))).await.unwrap();
        drop(sender);
        sending.await.unwrap().is(if revoked { 401 } else { 201 });
    }
}

async fn the_body_and_each_of_its_lists_may_be_left_out(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let path = format!("/conversations/{}/tags", mail.conversation);
    let empty = request("POST", &path, Some(&key.key), Body::empty());
    assert_eq!(app.send(empty).await.is(200).json(), json!({ "ok": true, "tags": [] }));
    for body in [json!({}), json!({ "add": [] }), json!({ "add": [], "remove": [] })] {
        app.post(&key, &path, body).await.is(200);
    }
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}
