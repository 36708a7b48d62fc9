//! Files are checked before they are accepted.

use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    a_file_that_is_not_taken_says_why_beside_its_item_and_leaves_nothing,
    a_name_that_points_elsewhere_is_only_a_name,
    a_file_without_an_ending_is_called_what_it_is,
    while_the_scanner_cannot_be_reached_files_wait_and_are_checked_later,
    what_the_scanner_finds_is_refused
);

async fn a_file_that_is_not_taken_says_why_beside_its_item_and_leaves_nothing(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    for (name, bytes, words) in [
        ("tool.exe", b"MZ\x90\0\x03".to_vec(), "a program"),
        ("pass.pdf", b"MZ\x90\0\x03".to_vec(), "a program"),
        ("pass.jpg", pdf("pass"), "it really is a PDF"),
        ("page.html", b"<!doctype html><script>x()</script>".to_vec(), "a web page"),
        ("pic.svg", b"<svg onload='x()'></svg>".to_vec(), "a web page"),
        ("cut.pdf", [b"%PDF-1.7 ".as_slice(), &[b'x'; 9_000]].concat(), "damaged"),
        ("all.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec(), "packed folder"),
        ("locked.pdf", [pdf("x"), b"/Encrypt 9 0 R startxref".to_vec()].concat(), "a password"),
    ] {
        let said = ann.add(0, name, &bytes).await;
        assert_eq!(said["state"], "refused", "{name}");
        assert!(text_of(&said, "problem").contains(words), "{name}: {said}");
        let page = ann.page().await;
        assert!(page.contains(words) && page.contains("Please look"), "{name}");
        let away = format!("/uploads/{}/remove", text_of(&said, "id"));
        ann.call("POST", &away, &[], Body::empty()).await.is(303);
        assert!(!ann.page().await.contains(words));
    }
    ann.hand_over().await;
    assert!(filed(&app, &key).await.is_empty());
    assert_eq!(app.uploads_on_disk(), 0);
    assert_eq!(told(&app, "ask.completed").await, 0);
}

async fn a_name_that_points_elsewhere_is_only_a_name(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    for name in
        ["../../../etc/cron.d/x.pdf", "..\\..\\x.pdf", "/etc/passwd\u{202e}.pdf", "a\r\nb: c.pdf"]
    {
        ann.add(0, name, &pdf(name)).await;
    }
    ann.post_files(0, &[("../../y.pdf", &pdf("y"))]).await.is(303);
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["y.pdf", "ab_ c.pdf", "passwd.pdf", "x.pdf", "x.pdf"]);
    assert_eq!(app.uploads_on_disk(), 5, "all of them in the folder of arrivals");
    app.work().await;
    assert_eq!(app.uploads_on_disk(), 0);
}

async fn a_file_without_an_ending_is_called_what_it_is(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    ann.add(0, "scan", &pdf("scan")).await;
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["scan.pdf"]);
}

async fn while_the_scanner_cannot_be_reached_files_wait_and_are_checked_later(app: TestApp) {
    let (app, scanner) = app.with_scanner();
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    scanner.says(base::files::scanner::ScanResult::Later("no answer".into()));
    assert_eq!(ann.add(0, "pass.pdf", &pdf("pass")).await["state"], "checking");
    assert!(ann.page().await.contains("Being checked"));
    ann.hand_over().await;
    assert!(filed(&app, &key).await.is_empty(), "nothing is let in unseen");
    app.pass(3 * MINUTE).await;
    assert!(filed(&app, &key).await.is_empty());
    scanner.says(base::files::scanner::ScanResult::Clean);
    app.pass(10 * MINUTE).await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"], "it was handed over while it waited");
    assert_eq!(told(&app, "ask.completed").await, 1);
}

async fn what_the_scanner_finds_is_refused(app: TestApp) {
    let (app, scanner) = app.with_scanner();
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    scanner.says(base::files::scanner::ScanResult::Infected);
    let said = ann.add(0, "pass.pdf", &pdf("pass")).await;
    assert_eq!(said["state"], "refused");
    assert!(text_of(&said, "problem").contains("virus scanner"));
    assert_eq!(app.uploads_on_disk(), 0);
}
