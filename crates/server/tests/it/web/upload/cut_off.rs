//! Files in pieces, over connections that break.

use axum::body::{Body, Bytes};
use serde_json::json;

use super::*;

on_both!(
    a_file_goes_on_where_it_was_cut_off,
    what_came_before_a_connection_broke_is_not_sent_again,
    whoever_comes_back_takes_over_from_a_connection_that_hangs,
    a_body_that_is_longer_than_announced_is_cut,
    bytes_that_stop_coming_are_swept_after_a_day,
    files_and_requests_have_their_limits_at_n_and_n_plus_1
);

async fn a_file_goes_on_where_it_was_cut_off(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let file = large_pdf(700_000);
    let begun = ann.begin(0, "pass.pdf", file.len()).await.is(201);
    assert!(begun.header("location").starts_with(&format!("{}/uploads/upl_", ann.path)));
    let id = text_of(&begun.json(), "id");
    let first = ann.send(&id, 0, &file[..300_000]).await.is(200);
    assert_eq!(first.header("upload-offset"), "300000");
    assert!(ann.page().await.contains("42 % arrived"));
    let asked = ann.call("HEAD", &format!("/uploads/{id}"), &[], Body::empty()).await.is(200);
    assert_eq!(asked.header("upload-offset"), "300000");
    let wrong = ann.send(&id, 0, &file[..10]).await.is(409);
    assert_eq!(wrong.header("upload-offset"), "300000");
    let again = ann.begin(0, "pass.pdf", file.len()).await.is(201).json();
    assert_eq!((&again["id"], &again["offset"]), (&json!(id), &json!(300_000)));
    let done = ann.send(&id, 300_000, &file[300_000..]).await.is(200).json();
    assert_eq!(done["state"], "kept", "{done}");
    ann.hand_over().await;
    let document = text_of(&app.get(&key, "/documents").await.json()[0], "id");
    let browser = app.signed_in(&app.owner).await;
    let bytes = browser.get(&format!("/documents/{document}")).await.is(200).answer.bytes;
    assert!(bytes == file, "every byte is as it was sent");
}

async fn what_came_before_a_connection_broke_is_not_sent_again(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let file = large_pdf(500_000);
    let id = text_of(&ann.begin(0, "pass.pdf", file.len()).await.is(201).json(), "id");
    let (sender, body) = pieces();
    sender.send(Ok(Bytes::copy_from_slice(&file[..200_000]))).await.unwrap();
    sender.send(Err(std::io::ErrorKind::ConnectionReset.into())).await.unwrap();
    let broken =
        ann.call("PATCH", &format!("/uploads/{id}"), &[("upload-offset", "0")], body).await.is(200);
    assert_eq!(broken.json()["offset"], 200_000);
    let done = ann.send(&id, 200_000, &file[200_000..]).await.is(200).json();
    assert_eq!(done["state"], "kept");
}

async fn whoever_comes_back_takes_over_from_a_connection_that_hangs(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let file = large_pdf(400_000);
    let id = text_of(&ann.begin(0, "pass.pdf", file.len()).await.is(201).json(), "id");
    let (sender, hanging) = pieces();
    sender.send(Ok(Bytes::copy_from_slice(&file[..100_000]))).await.unwrap();
    let path = format!("/uploads/{id}");
    let headers = [("upload-offset", "0")];
    let hangs = ann.call("PATCH", &path, &headers, hanging);
    let back = async {
        eventually(async || sender.capacity() == sender.max_capacity()).await;
        let asked = ann.call("GET", &path, &[], Body::empty()).await.is(200).json();
        assert_eq!(asked["offset"], 100_000);
        ann.send(&id, 100_000, &file[100_000..]).await.is(200).json()
    };
    let (_, done) = tokio::join!(hangs, back);
    drop(sender);
    assert_eq!(done["state"], "kept");
}

async fn a_body_that_is_longer_than_announced_is_cut(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let file = pdf("pass");
    let id = text_of(&ann.begin(0, "pass.pdf", file.len() - 5).await.is(201).json(), "id");
    ann.send(&id, 0, &file).await.is(413);
    let asked = ann.call("GET", &format!("/uploads/{id}"), &[], Body::empty()).await.is(200).json();
    assert_eq!(asked["offset"], file.len() - 5);
}

async fn bytes_that_stop_coming_are_swept_after_a_day(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let id = text_of(&ann.begin(0, "pass.pdf", 1_000).await.is(201).json(), "id");
    ann.send(&id, 0, &[b'x'; 500]).await.is(200);
    app.pass(DAY - MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 1);
    assert!(ann.page().await.contains("50 % arrived"));
    app.pass(MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 0);
    ann.send(&id, 500, &[b'x'; 500]).await.is(404);
    assert!(!ann.page().await.contains("pass.pdf"));
}

async fn files_and_requests_have_their_limits_at_n_and_n_plus_1(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }, { "label": "Bill" }])).await;
    let megabyte = 1024 * 1024;
    let most = 25 * megabyte;
    let over = ann.begin(0, "big.pdf", most + 1).await.is(422).json();
    assert!(text_of(&over, "problem").contains("larger than 25 MB"));
    assert!(
        text_of(&ann.begin(0, "none.pdf", 0).await.is(422).json(), "problem").contains("empty")
    );
    for number in 0..8 {
        ann.begin(number % 2, &format!("{number}.pdf"), most).await.is(201);
    }
    let full = ann.begin(0, "one more.pdf", 1).await.is(422).json();
    assert!(text_of(&full, "problem").contains("200 MB"), "{full}");
    ann.begin(2, "nowhere.pdf", 1).await.is(404);
    ann.begin(-1, "nowhere.pdf", 1).await.is(404);
    ann.call("POST", "/uploads", &[], Body::from("{")).await.is(400);
    ann.call("POST", "/uploads", &[], Body::from(vec![b' '; 10_000])).await.is(400);
}
