//! Links are secrets: guessing finds nothing, and one link opens one request.

use actions::documents::document_requests;
use axum::body::Body;
use model::guests::guest_tokens::GuestToken;
use serde_json::json;

use super::*;
use crate::support::{TestApp, on_both};

on_both!(
    a_link_that_leads_nowhere_looks_like_any_other_and_many_are_stopped,
    a_draft_has_no_page_before_it_is_approved,
    one_link_reaches_no_file_of_another_request,
    one_workspaces_link_reaches_nothing_of_another,
    the_page_ends_30_days_after_completion_and_at_once_when_taken_back
);

async fn a_link_that_leads_nowhere_looks_like_any_other_and_many_are_stopped(app: TestApp) {
    let key = app.key("read draft send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let token = ann.path.strip_prefix("/u/").unwrap();
    assert_eq!(token.len(), 40);
    let guess = |path: String| Customer { path, ..ann.another() };
    let mut answers = Vec::new();
    for path in [
        "/u/x".to_owned(),
        format!("/u/{}", "0".repeat(40)),
        format!("{}0", ann.path),
        "/u/%00".into(),
    ] {
        let missing = guess(path).call("GET", "", &[], Body::empty()).await.is(404);
        answers.push((missing.header_list(), missing.bytes));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    for number in 0..96 {
        guess(format!("/u/{number}")).call("GET", "", &[], Body::empty()).await.is(404);
    }
    guess("/u/more".into()).call("GET", "", &[], Body::empty()).await.is(429);
    guess("/u/more".into())
        .call("POST", "/uploads", &[], Body::from(r#"{"item":0,"name":"a","size":1}"#))
        .await
        .is(429);
    assert!(ann.page().await.contains("Passport"), "who has a link is not kept out");
    app.advance(16 * MINUTE);
    guess("/u/more".into()).call("GET", "", &[], Body::empty()).await.is(404);
}

async fn a_draft_has_no_page_before_it_is_approved(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let body = json!({ "documents": [{ "label": "Passport" }] });
    let asked = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    let purpose = format!("upload {} 1", text_of(&asked, "requestId"));
    let derived = app.act(&app.owner, move |tx, cx| GuestToken::derive(tx, cx, &purpose)).await;
    let token = derived.as_str();
    let page = Request::get(format!("/u/{token}")).body(Body::empty()).unwrap();
    app.send(page).await.is(404);
}

async fn one_link_reaches_no_file_of_another_request(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let bo = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let id = text_of(&ann.begin(0, "pass.pdf", 100).await.is(201).json(), "id");
    bo.call("GET", &format!("/uploads/{id}"), &[], Body::empty()).await.is(404);
    bo.send(&id, 0, b"x").await.is(404);
    bo.call("POST", &format!("/uploads/{id}/remove"), &[], Body::empty()).await.is(303);
    let asked = ann.call("GET", &format!("/uploads/{id}"), &[], Body::empty()).await.is(200).json();
    assert_eq!((&asked["offset"], &asked["state"]), (&json!(0), &json!("arriving")));
    for id in ["upl_0", "../../x", "doc_0", ""] {
        let answer = ann.call("GET", &format!("/uploads/{id}"), &[], Body::empty()).await;
        assert!([404, 405].contains(&answer.status), "{id}: {}", answer.status);
    }
}

async fn one_workspaces_link_reaches_nothing_of_another(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let other = app.other_workspace("Globex").await;
    let their_key = app.key_of(&other, "Their", "read write send", false).await;
    let mail = json!({ "from": "zed@shop.test", "text": "Hello" });
    let mail = app.post(&their_key, "/sandbox/inbound", mail).await.is(201).json();
    let id = text_of(&mail, "conversationId");
    let zed = app.ask_in(&their_key, &id, json!([{ "label": "Lease" }])).await;
    assert!(zed.page().await.contains("for Globex") && !zed.page().await.contains("Passport"));
    let file = text_of(&ann.begin(0, "pass.pdf", 100).await.is(201).json(), "id");
    zed.call("GET", &format!("/uploads/{file}"), &[], Body::empty()).await.is(404);
    zed.send(&file, 0, b"x").await.is(404);
    zed.add(0, "lease.pdf", &pdf("lease")).await;
    zed.hand_over().await;
    assert_eq!(filed(&app, &their_key).await, ["lease.pdf"]);
    assert!(filed(&app, &key).await.is_empty());
    assert_eq!(told(&app, "ask.completed").await, 0, "this workspace hears nothing of it");
}

async fn the_page_ends_30_days_after_completion_and_at_once_when_taken_back(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.pass(60 * DAY).await;
    assert!(ann.page().await.contains("Passport"), "while something is missing it stays");
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    ann.hand_over().await;
    app.pass(30 * DAY - MINUTE).await;
    assert!(ann.page().await.contains("Everything is in"));
    app.pass(2 * MINUTE).await;
    ann.call("GET", "", &[], Body::empty()).await.is(404);
    ann.begin(0, "late.pdf", 10).await.is(404);
    ann.call("POST", "", &[], Body::empty()).await.is(404);
    let bo = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let id = base::ids::RequestId::parse(&bo.request).unwrap();
    app.act(&app.owner, move |tx, cx| document_requests::revoke_request(tx, cx, &id)).await;
    bo.call("GET", "", &[], Body::empty()).await.is(404);
    bo.begin(0, "late.pdf", 10).await.is(404);
}
