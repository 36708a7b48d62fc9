//! API sections 2.9 and 4.9.

use actions::writing::drafts;
use base::time::Moment;
use serde_json::{Value, json};
use testing::{PUBLIC_URL, TestApp, TestKey, UNDO, fields, on_both, text_of};

on_both!(
    a_request_kept_as_a_draft_has_no_link_yet,
    a_request_that_is_sent_has_its_checklist_and_link_under_the_text,
    a_link_is_unguessable_and_each_request_has_its_own,
    without_a_message_the_customer_is_greeted,
    approving_a_request_adds_checklist_and_link_once,
    a_request_changes_neither_status_nor_place_and_tells_no_webhook
);

async fn a_request_kept_as_a_draft_has_no_link_yet(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({ "documents": [{ "label": "Passport" }], "message": "One more paper." });
    let answer = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    assert_eq!(fields(&answer), ["messageId", "note", "requestId", "status"]);
    assert_eq!(answer["status"], "draft");
    assert_eq!(answer["note"], "Waits for a person to approve it.");
    assert!(text_of(&answer, "requestId").starts_with("req_"));
    assert_eq!(text_in(&app, &key, &mail.conversation, &answer).await, "One more paper.");
    assert_eq!(
        app.timeline_events(&key, &mail.conversation).await,
        [("requested".into(), json!({ "requestId": answer["requestId"] })),]
    );
}

async fn a_request_that_is_sent_has_its_checklist_and_link_under_the_text(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({
        "documents": [
            { "label": "Passport", "description": "The page with your photo" },
            { "label": "Old contract", "required": false },
        ],
        "message": "One more paper.",
        "dueDate": "2026-11-30",
        "send": true,
    });
    let answer = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    assert_eq!(fields(&answer), ["messageId", "note", "requestId", "sendsAt", "status"]);
    assert_eq!(answer["status"], "scheduled");
    assert_eq!(answer["sendsAt"], Moment(app.now() + UNDO).iso());
    let text = text_in(&app, &key, &mail.conversation, &answer).await;
    let mut rest = text.as_str();
    for part in [
        "One more paper.",
        "Passport",
        "The page with your photo",
        "Old contract",
        "nice to have",
        "30 November 2026",
        &format!("{PUBLIC_URL}/u/"),
    ] {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} in {text}")).1;
    }
    assert!(!text.split("Old contract").next().unwrap().contains("nice to have"));
}

async fn a_link_is_unguessable_and_each_request_has_its_own(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let mut links = Vec::new();
    for _ in 0..2 {
        let body = json!({ "documents": [{ "label": "Passport" }], "send": true });
        let answer = app.on(&key, &mail.conversation, "document-requests", body).await.is(201);
        let text = text_in(&app, &key, &mail.conversation, &answer.json()).await;
        let token = text.split_once("/u/").unwrap().1.trim().to_owned();
        assert!(token.len() >= 26 && token.bytes().all(|b| b.is_ascii_alphanumeric()), "{token}");
        links.push(token);
    }
    assert_ne!(links[0], links[1]);
}

async fn without_a_message_the_customer_is_greeted(app: TestApp) {
    let key = app.key("draft").await;
    for (from, start) in [("a@x.example Ann Bell", "Hello Ann Bell,"), ("b@x.example", "Hello,")] {
        for message in [Value::Null, json!("  \n")] {
            let mail = app.mail(from, "Lamp", "text").await;
            let mut body = json!({ "documents": [{ "label": "Passport" }] });
            if message.is_string() {
                body["message"] = message;
            }
            let answer = app.on(&key, &mail.conversation, "document-requests", body).await.is(201);
            let text = text_in(&app, &key, &mail.conversation, &answer.json()).await;
            assert!(text.starts_with(start), "{text}");
        }
    }
}

async fn approving_a_request_adds_checklist_and_link_once(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({ "documents": [{ "label": "Passport" }], "message": "One more paper." });
    let answer = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    let id = base::ids::MessageId::parse(&text_of(&answer, "messageId")).unwrap();
    let (one, two) = (id.clone(), id.clone());
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &one, 1, "As edited.")).await;
    let text = text_in(&app, &key, &mail.conversation, &answer).await;
    assert!(text.starts_with("As edited.\n\n"), "{text}");
    assert_eq!(text.matches("Passport").count(), 1);
    assert_eq!(text.matches("/u/").count(), 1);
    app.act(&app.owner, move |tx, cx| {
        drafts::stop_message(tx, cx, &two)?;
        let (draft, _) = outbound::messages::load_outgoing(tx, cx.actor, &two)?;
        testing::approve_draft(tx, cx, &two, draft.revision, &draft.text)
    })
    .await;
    assert_eq!(text_in(&app, &key, &mail.conversation, &answer).await, text);
}

async fn a_request_changes_neither_status_nor_place_and_tells_no_webhook(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let mut before = app.list(&key, "").await;
    for send in [false, true] {
        let body = json!({ "documents": [{ "label": "Passport" }], "send": send });
        app.on(&key, &mail.conversation, "document-requests", body).await.is(201);
    }
    before[0]["hasDraft"] = json!(true);
    assert_eq!(app.list(&key, "").await, before);
    assert_eq!(app.events().await.len(), 1);
}

/// The text of the message that a reply result names.
async fn text_in(app: &TestApp, key: &TestKey, id: &impl ToString, result: &Value) -> String {
    let messages = app.timeline(key, id, "message").await;
    let found = messages.iter().find(|message| message["id"] == result["messageId"]);
    text_of(found.expect("the message"), "text")
}
