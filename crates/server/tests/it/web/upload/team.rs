//! What the team sees of a request and does about it.

use axum::body::Body;
use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    the_conversation_shows_each_items_state_and_its_documents,
    closing_ends_reminders_and_opening_again_goes_on_with_them,
    a_link_that_was_taken_back_stays_dead_and_opening_again_makes_a_new_one
);

async fn the_conversation_shows_each_items_state_and_its_documents(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app
        .ask(&key, json!([{ "label": "Passport" }, { "label": "Bill", "required": false }]))
        .await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", ann.conversation);
    let page = browser.get(&path).await.is(200);
    for words in [
        "2 documents asked for",
        "Required",
        "Nice to have",
        "Waiting on customer",
        "Next reminder",
    ] {
        page.shows(words);
    }
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    browser.get(&path).await.shows("Being added").hides("pass.pdf");
    ann.hand_over().await;
    browser
        .get(&path)
        .await
        .shows("Everything is in")
        .shows(">pass.pdf</a>")
        .hides("Next reminder");
}

async fn closing_ends_reminders_and_opening_again_goes_on_with_them(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let browser = app.signed_in(&app.owner).await;
    let path = |what: &str| format!("/requests/{}/{what}", ann.request);
    let back = format!("/conversations/{}", ann.conversation);
    browser.post(&path("close"), &[]).await.goes_to(&back);
    browser.post(&path("close"), &[]).await.goes_to(&back);
    assert!(ann.page().await.contains("Nothing more is needed"));
    let told = ann.begin(0, "late.pdf", 10).await.is(422).json();
    assert_eq!(text_of(&told, "problem"), "Nothing more is needed here.");
    ann.post_files(0, &[("late.pdf", b"x")]).await.is(400);
    app.pass(5 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    browser.post(&path("reopen"), &[]).await.goes_to(&back);
    assert!(ann.page().await.contains("Still needed"));
    app.pass(30 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 2, "day 7 is still to come");
    let names = ["request-closed", "request-reopened"];
    assert_eq!(ann.happened(&key, &names).await.len(), 2);
}

async fn a_link_that_was_taken_back_stays_dead_and_opening_again_makes_a_new_one(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let browser = app.signed_in(&app.owner).await;
    browser.post(&format!("/requests/{}/revoke", ann.request), &[]).await.is(303);
    ann.call("GET", "", &[], Body::empty()).await.is(404);
    browser.get(&format!("/conversations/{}", ann.conversation)).await.shows("Link taken back");
    browser.post(&format!("/requests/{}/reopen", ann.request), &[]).await.is(303);
    ann.call("GET", "", &[], Body::empty()).await.is(404);
    let page = browser.get(&format!("/conversations/{}", ann.conversation)).await;
    let new = page.between(&format!("s\" href=\"{PUBLIC_URL}/u/"), "\"").to_owned();
    assert!(!ann.path.ends_with(&new));
    app.send(Request::get(format!("/u/{new}")).body(Body::empty()).unwrap()).await.is(200);
    app.pass(2 * DAY).await;
    let mail = String::from_utf8_lossy(&app.outside.relay.attempts()[1].bytes).into_owned();
    assert!(mail.contains(&format!("/u/{new}/stop")), "{mail}");
}
