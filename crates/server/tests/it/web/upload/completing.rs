//! A document request is completed by uploads.

use actions::people::removal;
use axum::body::Body;
use serde_json::json;

use super::*;
use crate::support::{TestApp, UNDO, on_both};

on_both!(
    what_is_handed_over_becomes_documents_and_the_last_completes_it_once,
    only_required_items_count_and_all_where_none_is_required,
    more_can_be_added_after_completion_and_is_told_no_second_time,
    files_that_are_left_lying_are_handed_over_after_an_hour,
    a_closed_or_snoozed_conversation_comes_back_when_everything_is_in,
    what_was_removed_or_replaced_is_never_filed,
    two_presses_at_once_file_each_file_once,
    a_test_request_works_the_same_within_the_sandbox,
    a_private_inboxs_request_is_heard_by_its_own_webhooks_alone,
    a_page_ends_with_the_person_whose_inbox_it_is_for
);

async fn what_is_handed_over_becomes_documents_and_the_last_completes_it_once(app: TestApp) {
    let key = app.key("read write send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }, { "label": "Bill" }])).await;
    assert_eq!(app.read(&key, &ann.conversation).await["status"], "waiting");
    let before = app.events().await.len();
    assert_eq!(ann.add(0, "pass.pdf", &pdf("pass")).await["state"], "kept");
    assert!(filed(&app, &key).await.is_empty(), "nothing is filed before it is handed over");
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
    assert_eq!(app.read(&key, &ann.conversation).await["status"], "waiting");
    assert_eq!(app.events().await.len(), before, "a part is no news");
    ann.add(1, "bill.pdf", &pdf("bill")).await;
    ann.hand_over().await;
    ann.hand_over().await;
    let list = app.get(&key, "/documents").await.json();
    assert_eq!(list[0]["filename"], "bill.pdf");
    assert_eq!(list[0]["conversationId"], *ann.conversation);
    assert_eq!((&list[0]["kind"], &list[0]["fields"]), (&json!(null), &json!({})));
    let (request, bill) = (&ann.request, text_of(&list[0], "id"));
    let events = ann.happened(&key, &["uploaded", "completed"]).await;
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(events[1], ("uploaded".into(), json!({ "requestId": request, "documentId": bill })));
    assert_eq!(events[2], ("completed".into(), json!({ "requestId": request })));
    let news = app.events_since(before).await;
    assert_eq!(texts(&news, "type"), ["turn.changed", "ask.completed"]);
    assert_eq!(
        news[1]["data"],
        json!({
            "summary": "Everything asked of the customer is in",
            "url": format!("{PUBLIC_URL}/conversations/{}", ann.conversation),
            "conversation_id": ann.conversation,
            "ask_id": request,
            "kind": "documents",
        })
    );
    assert_eq!(app.read(&key, &ann.conversation).await["status"], "open");
}

async fn only_required_items_count_and_all_where_none_is_required(app: TestApp) {
    let key = app.key("read send").await;
    let nice = |label: &str| json!({ "label": label, "required": false });
    let ann = app.ask(&key, json!([{ "label": "Passport" }, nice("Photo")])).await;
    ann.add(1, "photo.pdf", &pdf("photo")).await;
    ann.hand_over().await;
    assert_eq!(told(&app, "ask.completed").await, 0);
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    ann.hand_over().await;
    assert_eq!(told(&app, "ask.completed").await, 1);
    let bo = app.ask(&key, json!([nice("One"), nice("Two")])).await;
    bo.add(0, "one.pdf", &pdf("one")).await;
    bo.hand_over().await;
    assert_eq!(told(&app, "ask.completed").await, 1);
    bo.add(1, "two.pdf", &pdf("two")).await;
    bo.hand_over().await;
    assert_eq!(told(&app, "ask.completed").await, 2);
}

async fn more_can_be_added_after_completion_and_is_told_no_second_time(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    ann.add(0, "one.pdf", &pdf("one")).await;
    ann.hand_over().await;
    assert!(ann.page().await.contains("Everything is in."));
    ann.add(0, "two.pdf", &pdf("two")).await;
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["two.pdf", "one.pdf"]);
    assert_eq!(told(&app, "ask.completed").await, 1);
}

async fn files_that_are_left_lying_are_handed_over_after_an_hour(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    app.pass(59 * MINUTE).await;
    assert!(filed(&app, &key).await.is_empty());
    app.pass(MINUTE).await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
    assert_eq!(told(&app, "ask.completed").await, 1);
}

async fn a_closed_or_snoozed_conversation_comes_back_when_everything_is_in(app: TestApp) {
    let key = app.key("read write send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.on(&key, &ann.conversation, "status", json!({ "status": "closed" })).await.is(200);
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    ann.hand_over().await;
    assert_eq!(app.read(&key, &ann.conversation).await["status"], "open");
    let bo = app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.on(&key, &bo.conversation, "status", json!({ "status": "open" })).await.is(200);
    app.snooze(&app.owner, &bo.conversation, app.now() + DAY).await;
    bo.add(0, "pass.pdf", &pdf("pass two")).await;
    bo.hand_over().await;
    let read = app.read(&key, &bo.conversation).await;
    assert_eq!((&read["status"], &read["snoozedUntil"]), (&json!("open"), &json!(null)));
}

async fn what_was_removed_or_replaced_is_never_filed(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let wrong = ann.add(0, "wrong.pdf", &pdf("wrong")).await;
    ann.call("POST", &format!("/uploads/{}/remove", text_of(&wrong, "id")), &[], Body::empty())
        .await
        .is(303);
    ann.add(0, "right.pdf", &pdf("right")).await;
    assert!(!ann.page().await.contains("wrong.pdf"));
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["right.pdf"]);
    let right = ann.begin(0, "x.pdf", 10).await.is(201).json();
    let page = ann.page().await;
    assert!(page.contains("right.pdf"));
    ann.call("POST", &format!("/uploads/{}/remove", text_of(&right, "id")), &[], Body::empty())
        .await
        .is(303);
    app.pass(MINUTE).await;
    assert_eq!(app.uploads_on_disk(), 0, "nothing is left beside what was filed");
}

async fn two_presses_at_once_file_each_file_once(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    for number in 0..4 {
        ann.add(0, &format!("{number}.pdf"), &pdf(&number.to_string())).await;
    }
    tokio::join!(ann.hand_over(), ann.hand_over(), ann.hand_over());
    assert_eq!(filed(&app, &key).await.len(), 4);
    assert_eq!(told(&app, "ask.completed").await, 1);
    assert_eq!(ann.happened(&key, &["uploaded"]).await.len(), 4);
}

async fn a_test_request_works_the_same_within_the_sandbox(app: TestApp) {
    let key = app.test_key("read write send").await;
    let live = app.key("read").await;
    app.webhook(&app.owner, false, false).await;
    app.webhook(&app.owner, false, true).await;
    let mail = app.deliver(&app.sandbox, letter("delivered@shop.test Ann", "Lamps", "Hello")).await;
    let ann = app.ask_in(&key, mail.conversation.as_str(), json!([{ "label": "Passport" }])).await;
    app.pass(10 * SECOND).await;
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    ann.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
    assert!(filed(&app, &live).await.is_empty());
    let told: Vec<_> =
        app.events().await.into_iter().filter(|e| e["type"] == "ask.completed").collect();
    assert_eq!((told.len(), &told[0]["livemode"]), (1, &json!(false)));
    assert!(told[0]["data"].get("url").is_none());
    let deliveries = app.deliveries().await;
    let heard = deliveries.iter().filter(|(_, kind, _)| kind == "ask.completed");
    assert_eq!(heard.count(), 1, "{deliveries:?}");
}

async fn a_private_inboxs_request_is_heard_by_its_own_webhooks_alone(app: TestApp) {
    let ann = app.person_with("Ann", base::actor::Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let key = app.key_of(&ann, "Anns", "read send", true).await;
    let team = app.key("read").await;
    app.webhook(&app.owner, false, true).await;
    let own = app.webhook(&ann, true, true).await;
    let mail = app.deliver(&inbox, letter("zed@shop.example", "Secret", "Hello")).await;
    let zed = app.ask_in(&key, mail.conversation.as_str(), json!([{ "label": "Passport" }])).await;
    app.pass(UNDO).await;
    zed.add(0, "pass.pdf", &pdf("pass")).await;
    zed.hand_over().await;
    assert_eq!(filed(&app, &key).await, ["pass.pdf"]);
    assert!(filed(&app, &team).await.is_empty());
    let deliveries = app.deliveries().await;
    let heard: Vec<_> = deliveries.iter().filter(|(_, kind, _)| kind == "ask.completed").collect();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].0, own.as_str());
}

async fn a_page_ends_with_the_person_whose_inbox_it_is_for(app: TestApp) {
    let ann = app.person_with("Ann", base::actor::Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let key = app.key_of(&ann, "Anns", "read send", true).await;
    let mail = app.deliver(&inbox, letter("zed@shop.example", "Secret", "Hello")).await;
    let zed = app.ask_in(&key, mail.conversation.as_str(), json!([{ "label": "Passport" }])).await;
    app.pass(UNDO).await;
    app.browser().get(&zed.path).await.is(200);
    let person = user(&ann);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    app.browser().get(&zed.path).await.is(404);
}
