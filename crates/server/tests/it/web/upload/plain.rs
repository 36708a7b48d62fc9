//! The page without a script: forms, streamed.

use axum::body::Body;
use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    several_files_of_a_plain_form_are_added_each_with_its_own_answer,
    a_file_that_is_too_large_is_refused_and_the_others_are_kept,
    a_form_that_breaks_off_keeps_what_was_whole,
    nothing_is_lost_or_added_when_nothing_was_chosen
);

async fn several_files_of_a_plain_form_are_added_each_with_its_own_answer(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let (one, two) = (pdf("one"), large_pdf(400_000));
    let answer = ann
        .post_files(
            0,
            &[("one.pdf", &one), ("evil.exe", b"MZ\x90\0"), ("", b""), ("two.pdf", &two)],
        )
        .await
        .is(303);
    assert_eq!(answer.header("location"), format!("{}#item-0", ann.path));
    let page = ann.page().await;
    for words in ["one.pdf", "two.pdf", "evil.exe was not taken", "Hand over these 2 files"] {
        assert!(page.contains(words), "no {words} in {page}");
    }
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["two.pdf", "one.pdf"]);
    assert!(ann.page().await.contains("Thank you, Ann. Everything is in."));
}

async fn a_file_that_is_too_large_is_refused_and_the_others_are_kept(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let big = large_pdf(25 * 1024 * 1024 + 1);
    ann.post_files(0, &[("big.pdf", &big), ("small.pdf", &pdf("x"))]).await.is(303);
    let page = ann.page().await;
    assert!(page.contains("larger than 25 MB") && page.contains("small.pdf"), "{page}");
    app.pass(MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 1);
}

async fn a_form_that_breaks_off_keeps_what_was_whole(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let mut body =
        b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"one.pdf\"\r\n\r\n"
            .to_vec();
    body.extend_from_slice(&pdf("one"));
    body.extend_from_slice(b"\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"two.pdf\"\r\n\r\n%PDF-1");
    let kind = [("content-type", "multipart/form-data; boundary=b")];
    ann.call("POST", "/items/0", &kind, Body::from(body)).await.is(303);
    let page = ann.page().await;
    assert!(
        page.contains("two.pdf was not taken") && page.contains("did not arrive whole"),
        "{page}"
    );
    assert!(page.contains("Hand over this file"), "{page}");
    ann.call("POST", "/items/0", &[("content-type", "text/plain")], Body::from("x")).await.is(400);
    ann.post_files(7, &[("one.pdf", b"x")]).await.is(404);
}

async fn nothing_is_lost_or_added_when_nothing_was_chosen(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    ann.post_files(0, &[("", b"")]).await.is(303);
    ann.hand_over().await;
    assert!(filed(&app, &key).await.is_empty());
    assert!(ann.page().await.contains("Still needed"));
}
