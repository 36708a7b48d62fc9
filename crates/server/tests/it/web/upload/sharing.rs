//! One link does not take the places of all others.

use axum::body::Bytes;
use serde_json::json;
use tokio::task::JoinHandle;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(a_link_that_sends_many_files_at_once_keeps_nobody_else_out);

/// Begins a file and sends a part of it, for as long as the sender is kept.
async fn half_a_file(
    ann: &Customer<'_>,
    number: usize,
) -> (tokio::sync::mpsc::Sender<std::io::Result<Bytes>>, JoinHandle<Answer>) {
    let name = format!("{number}.pdf");
    let id = text_of(&ann.begin(0, &name, 100_000).await.is(201).json(), "id");
    let (sender, body) = pieces();
    sender.send(Ok(Bytes::from_static(b"%PDF-1.7\n"))).await.unwrap();
    let request = Request::patch(format!("{}/uploads/{id}", ann.path))
        .header("upload-offset", "0")
        .body(body)
        .unwrap();
    let router = ann.app.router();
    (sender, tokio::spawn(async move { TestApp::send_to(&router, request).await }))
}

async fn a_link_that_sends_many_files_at_once_keeps_nobody_else_out(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let bo = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let more = text_of(&ann.begin(0, "more.pdf", 100).await.is(201).json(), "id");
    let mut halves = Vec::new();
    for number in 0..8 {
        halves.push(half_a_file(&ann, number).await);
    }
    let read = || halves.iter().all(|(sender, _)| sender.capacity() == sender.max_capacity());
    eventually(async || read()).await;
    ann.send(&more, 0, b"").await.is(503);
    bo.add(0, "pass.pdf", &pdf("pass")).await;
    for (sender, sending) in halves {
        drop(sender);
        sending.await.unwrap().is(200);
    }
    ann.send(&more, 0, b"").await.is(200);
}
