//! A plain form that the back button, a reload or a second click sends again.

use axum::body::Body;
use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    a_form_that_is_sent_again_stores_each_file_once_and_is_answered_as_before,
    a_second_click_stores_no_second_file_whichever_node_it_comes_to,
    other_bytes_and_other_forms_are_other_files,
    a_file_that_was_removed_can_be_sent_again_from_the_same_form,
    what_did_not_arrive_whole_is_not_held_against_the_same_file_later,
    a_form_that_is_sent_again_when_there_is_no_room_is_told_nothing_of_what_is_stored
);

/// Files that are stored or were refused, and not put away.
async fn rows(app: &TestApp) -> i64 {
    app.count("uploads WHERE state <> 'removed'").await
}

async fn a_form_that_is_sent_again_stores_each_file_once_and_is_answered_as_before(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let form = ann.form_id().await;
    assert_eq!(form.len(), 26);
    assert_ne!(ann.form_id().await, form, "each page has an id of its own");
    let (one, two) = (pdf("one"), large_pdf(400_000));
    let files: &[(&str, &[u8])] =
        &[("one.pdf", &one), ("evil.exe", b"MZ\x90\0"), ("two.pdf", &two)];
    for _ in 0..3 {
        let answer = ann.post_form(0, &form, files).await.is(303);
        assert_eq!(answer.header("location"), format!("{}#item-0", ann.path));
        let page = ann.page().await;
        assert!(page.contains("Hand over these 2 files"), "{page}");
        assert_eq!(page.matches("evil.exe was not taken").count(), 1, "{page}");
        assert_eq!(rows(&app).await, 3);
    }
    app.pass(MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 2, "the second copies are swept");
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["two.pdf", "one.pdf"]);
    // The same page, opened again by the back button after everything was handed over.
    ann.post_form(0, &form, files).await.is(303);
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["two.pdf", "one.pdf"]);
    assert_eq!(ann.happened(&key, &["uploaded"]).await.len(), 2);
}

async fn a_second_click_stores_no_second_file_whichever_node_it_comes_to(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let form = ann.form_id().await;
    let nodes = [app.router(), app.another_node().unwrap_or_else(|| app.router())];
    let file = large_pdf(300_000);
    let files: &[(&str, &[u8])] = &[("pass.pdf", &file), ("evil.exe", b"MZ\x90\0")];
    let post = |node: usize| {
        let request = ann.form_request(0, Some(&form), files);
        TestApp::send_to(&nodes[node], request)
    };
    let (one, two, three, four) = tokio::join!(post(0), post(1), post(0), post(1));
    for answer in [one, two, three, four] {
        let answer = answer.is(303);
        assert_eq!(answer.header("location"), format!("{}#item-0", ann.path));
    }
    assert_eq!(rows(&app).await, 2);
    let page = ann.page().await;
    assert!(page.contains("Hand over this file"), "{page}");
    assert_eq!(page.matches("evil.exe was not taken").count(), 1, "{page}");
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
    app.pass(MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 0);
}

async fn other_bytes_and_other_forms_are_other_files(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }, { "label": "Bill" }])).await;
    let form = ann.form_id().await;
    let (one, two) = (pdf("1"), pdf("2"));
    assert_eq!(one.len(), two.len());
    // Some cameras give every photo the same name.
    ann.post_form(0, &form, &[("image.pdf", &one), ("image.pdf", &two)]).await.is(303);
    assert_eq!(rows(&app).await, 2);
    // The same file under another name, for another item, and from a page that was opened anew.
    ann.post_form(0, &form, &[("copy.pdf", &one)]).await.is(303);
    ann.post_form(1, &form, &[("image.pdf", &one)]).await.is(303);
    let next = ann.form_id().await;
    ann.post_form(0, &next, &[("image.pdf", &one)]).await.is(303);
    assert_eq!(rows(&app).await, 5);
    // What is no id of a form is none, and every file of it is taken.
    for bad in ["", "short", &"x".repeat(100_000)] {
        ann.post_form(0, bad, &[("image.pdf", &one)]).await.is(303);
    }
    assert_eq!(rows(&app).await, 8);
}

async fn a_file_that_was_removed_can_be_sent_again_from_the_same_form(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let (form, file) = (ann.form_id().await, pdf("pass"));
    for _ in 0..2 {
        ann.post_form(0, &form, &[("pass.pdf", &file)]).await.is(303);
        assert_eq!(rows(&app).await, 1);
        let id = app.column("SELECT id FROM uploads WHERE state = 'kept'").await;
        ann.call("POST", &format!("/uploads/{id}/remove"), &[], Body::empty()).await.is(303);
        assert_eq!(rows(&app).await, 0);
    }
    ann.post_form(0, &form, &[("pass.pdf", &file)]).await.is(303);
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
}

async fn what_did_not_arrive_whole_is_not_held_against_the_same_file_later(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let (form, file) = (ann.form_id().await, pdf("pass"));
    let mut body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"form_id\"\r\n\r\n{form}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"pass.pdf\"\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(&file[..file.len() / 2]);
    let kind = [("content-type", "multipart/form-data; boundary=b")];
    for _ in 0..2 {
        ann.call("POST", "/items/0", &kind, Body::from(body.clone())).await.is(303);
        let page = ann.page().await;
        assert_eq!(page.matches("did not arrive whole").count(), 1, "{page}");
    }
    ann.post_form(0, &form, &[("pass.pdf", &file)]).await.is(303);
    let page = ann.page().await;
    assert!(page.contains("Hand over this file") && !page.contains("was not taken"), "{page}");
}

async fn a_form_that_is_sent_again_when_there_is_no_room_is_told_nothing_of_what_is_stored(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let (form, file) = (ann.form_id().await, pdf("pass"));
    ann.post_form(0, &form, &[("pass.pdf", &file)]).await.is(303);
    let most = 25 * 1024 * 1024;
    for number in 0..7 {
        ann.begin(0, &format!("{number}.pdf"), most).await.is(201);
    }
    ann.begin(0, "last.pdf", most - file.len()).await.is(201);
    ann.post_form(0, &form, &[("pass.pdf", &file)]).await.is(303);
    assert!(!ann.page().await.contains("was not taken"));
    for _ in 0..2 {
        ann.post_form(0, &form, &[("pass.pdf", &pdf("corrected"))]).await.is(303);
        let page = ann.page().await;
        assert_eq!(page.matches("pass.pdf was not taken").count(), 1, "{page}");
        assert!(page.contains("200 MB"), "{page}");
    }
}
