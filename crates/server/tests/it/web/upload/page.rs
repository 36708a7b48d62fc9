//! The upload page with and without script.

use axum::body::Body;
use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    the_page_says_who_asks_for_what_and_nothing_else_of_the_conversation,
    a_replys_own_words_are_not_shown_on_the_page,
    the_address_is_kept_secret_and_the_page_runs_only_our_script,
    hostile_labels_and_names_are_only_text
);

async fn the_page_says_who_asks_for_what_and_nothing_else_of_the_conversation(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Secret subject", "Secret words").await;
    let asks = json!([
        { "label": "Passport", "description": "The page with your photo" },
        { "label": "Old bill", "required": false },
    ]);
    let ann = app.ask_in(&key, mail.conversation.as_str(), asks).await;
    let page = ann.page().await;
    for words in [
        "Two documents for Acme",
        "Private page for Ann Shopper",
        "Robo of Acme asked you",
        "For the account.",
        "Passport",
        "The page with your photo",
        "Old bill",
        "Nice to have",
        "Still needed",
        "up to 25 MB each",
    ] {
        assert!(page.contains(words), "no {words} in {page}");
    }
    for words in ["Secret", "ann@shop.example", "cnv_", "req_", "support@"] {
        assert!(!page.contains(words), "{words} in {page}");
    }
}

async fn a_replys_own_words_are_not_shown_on_the_page(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({ "body": "About your divorce", "send": true, "documents": [{ "label": "Passport" }] });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    let text = app.column("SELECT text FROM messages WHERE direction = 'outbound'").await;
    let token = text.split_once("/u/").unwrap().1.trim().to_owned();
    let page =
        app.send(Request::get(format!("/u/{token}")).body(Body::empty()).unwrap()).await.is(200);
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(text.contains("One document for Acme") && !text.contains("divorce"), "{text}");
}

async fn the_address_is_kept_secret_and_the_page_runs_only_our_script(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    for (path, status) in [("", 200), ("/stop", 200), ("0", 404)] {
        let answer = ann.call("GET", path, &[], Body::empty()).await.is(status);
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(answer.header("x-robots-tag").contains("noindex"));
        assert!(answer.header("content-security-policy").contains("script-src 'self';"));
        assert_eq!(answer.header("x-frame-options"), "DENY");
    }
    let answer = ann.begin(0, "a.pdf", 10).await.is(201);
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

async fn hostile_labels_and_names_are_only_text(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app
        .ask(
            &key,
            json!([{ "label": "<script>alert(1)</script>", "description": "\"><img src=x>" }]),
        )
        .await;
    ann.add(0, "<b>\"x\".pdf", &pdf("x")).await;
    let page = ann.page().await;
    for raw in ["<script>alert", "<img", "<b>"] {
        assert!(!page.contains(raw) || raw == "<b>" && !page.contains("<b>\""), "{raw} in {page}");
    }
}
