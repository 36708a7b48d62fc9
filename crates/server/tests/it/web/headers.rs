//! Security headers of every page.

use axum::body::Body;
use axum::http::Request;

use crate::support::{TestApp, on_both};

on_both!(
    every_page_forbids_scripts_of_others_and_frames,
    a_form_from_elsewhere_changes_nothing,
    files_of_ours_are_kept_by_browsers_and_named_by_their_content,
    a_form_of_more_than_a_megabyte_is_refused
);

async fn every_page_forbids_scripts_of_others_and_frames(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    for path in ["/inbox", "/sign-in", "/keyboard", "/search", "/nowhere", "/settings/keys"] {
        let page = browser.get(path).await;
        let policy = page.answer.header("content-security-policy").to_owned();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(page.answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(page.answer.header("cache-control"), "no-store", "{path}");
        assert!(!page.text.contains("<script>") && !page.text.contains(" style="), "{path}");
        assert!(!page.text.contains(" onclick"), "{path}");
    }
}

async fn a_form_from_elsewhere_changes_nothing(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}/note", received.conversation);
    let csrf = browser.csrf();
    let body = format!("csrf={csrf}&body=hello");
    let form = |name: &'static str, value: &'static str| {
        Request::post(&path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header(name, value)
    };
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        browser.send(form(name, value), Body::from(body.clone())).await.is(403);
    }
    browser.post_bare(&path, &[("body", "hello")]).await.is(403);
    browser.post_bare(&path, &[("csrf", "0123"), ("body", "hello")]).await.is(403);
    let other = app.signed_in(&app.owner).await;
    other.post_bare(&path, &[("csrf", &csrf), ("body", "hello")]).await.is(403);
    let json = Request::post(&path).header("content-type", "text/plain");
    browser.send(json, Body::from(body.clone())).await.is(403);
    let key = app.key("read").await;
    assert!(app.timeline(&key, &received.conversation, "note").await.is_empty());

    let good = form("sec-fetch-site", "same-origin");
    browser.send(good, Body::from(body)).await.is(303);
    assert_eq!(app.timeline(&key, &received.conversation, "note").await.len(), 1);
}

async fn files_of_ours_are_kept_by_browsers_and_named_by_their_content(app: TestApp) {
    let browser = app.browser();
    let page = browser.get("/sign-in").await.is(200);
    let style = page.between("href=\"/assets/style.", "\"").to_owned();
    let file = browser.get(&format!("/assets/style.{style}")).await.is(200);
    assert!(file.answer.header("cache-control").contains("immutable"));
    assert_eq!(file.answer.header("content-type"), "text/css; charset=utf-8");
    let plain = file.text.len();
    let path = format!("/assets/style.{style}");
    let request = Request::get(&path).header("accept-encoding", "gzip, br, zstd");
    let packed = browser.send(request, Body::empty()).await.is(200);
    assert_eq!(packed.answer.header("content-encoding"), "zstd");
    assert!(packed.answer.bytes.len() * 3 < plain, "{}", packed.answer.bytes.len());
    browser.get("/assets/nothing.css").await.is(404);
    browser.get("/assets/..%2FCargo.toml").await.is(404);
}

async fn a_form_of_more_than_a_megabyte_is_refused(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let long = "x".repeat(1024 * 1024 + 1);
    browser.post("/settings/people", &[("name", &long)]).await.is(413);
}
