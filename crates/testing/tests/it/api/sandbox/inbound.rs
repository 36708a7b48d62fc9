//! `POST /sandbox/inbound` (section 4.14).

use serde_json::json;
use testing::{MINUTE, SECOND, TestApp, fields, letter, nowhere, on_both, text_of};

on_both!(
    a_simulated_mail_begins_a_conversation_as_a_real_one_does,
    name_and_subject_may_be_left_out,
    the_same_sender_and_subject_go_on_with_a_conversation,
    conversation_id_makes_it_a_reply_on_that_conversation,
    a_conversation_that_the_key_cannot_see_is_404_and_nothing_comes_in,
    the_sender_is_on_a_test_domain,
    a_live_key_is_refused_whatever_it_sends,
    a_test_key_needs_write,
    a_simulated_reply_answers_what_an_app_sent,
    a_simulated_mail_may_be_written_to_a_reference
);

async fn a_simulated_mail_begins_a_conversation_as_a_real_one_does(app: TestApp) {
    let key = app.test_key("write").await;
    let body = json!({
        "from": "Mara@Customer.test", "name": "Mara Lind", "subject": "Where is my order?",
        "text": "I ordered a lamp.",
    });
    let answer = app.inbound(&key, body).await.is(201).json();
    assert_eq!(fields(&answer), ["conversationId", "messageId"]);
    let id = text_of(&answer, "conversationId");
    let read = app.read(&key, &id).await;
    assert_eq!(read["subject"], "Where is my order?");
    assert_eq!(read["status"], "open");
    assert_eq!(read["mailbox"], "sandbox@acme.test");
    assert_eq!(
        read["contact"],
        json!({ "name": "Mara Lind", "email": "mara@customer.test", "known": false })
    );
    let message = &read["timeline"][0];
    assert_eq!(message["id"], answer["messageId"]);
    assert_eq!(message["direction"], "inbound");
    assert_eq!(message["text"], "I ordered a lamp.");
    assert_eq!(app.event_types().await, ["turn.changed"]);
    assert_eq!(app.search_subjects(&key, "ordered").await, ["Where is my order?"]);
}

async fn name_and_subject_may_be_left_out(app: TestApp) {
    let key = app.test_key("write").await;
    let body = json!({ "from": "mara@customer.test", "text": "Hello" });
    let answer = app.inbound(&key, body).await.is(201).json();
    let read = app.read(&key, &text_of(&answer, "conversationId")).await;
    assert_eq!(read["subject"], "");
    assert_eq!(read["contact"]["name"], json!(null));
}

async fn the_same_sender_and_subject_go_on_with_a_conversation(app: TestApp) {
    let key = app.test_key("write").await;
    let first = app.simulate(&key, "mara@customer.test").await;
    app.advance(SECOND);
    let body = json!({ "from": "mara@customer.test", "subject": "RE: Lamp", "text": "Hello?" });
    let answer = app.inbound(&key, body.clone()).await.is(201).json();
    assert_eq!(answer["conversationId"], first.as_str());
    assert_eq!(app.event_types().await, ["turn.changed", "client.replied"]);
    let body = json!({ "from": "other@customer.test", "subject": "Lamp", "text": "Hello?" });
    let answer = app.inbound(&key, body).await.is(201).json();
    assert_ne!(answer["conversationId"], first.as_str());
}

async fn conversation_id_makes_it_a_reply_on_that_conversation(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "mara@customer.test").await;
    app.schedule(&key, &id, "Which lamp?").await;
    app.pass(MINUTE).await;
    assert_eq!(app.read(&key, &id).await["status"], "waiting");
    let before = app.events().await.len();
    let body = json!({
        "from": "friend@elsewhere.test", "name": "A Friend", "text": "The brass one.",
        "conversationId": id,
    });
    let answer = app.inbound(&key, body).await.is(201).json();
    assert_eq!(answer["conversationId"], id.as_str());
    let read = app.read(&key, &id).await;
    assert_eq!(read["status"], "open");
    assert_eq!(read["contact"]["email"], "mara@customer.test");
    let last = app.timeline(&key, &id, "message").await.pop().unwrap();
    let from = json!({ "name": "A Friend", "email": "friend@elsewhere.test" });
    assert_eq!((&last["id"], &last["from"]), (&answer["messageId"], &from));
    let events = app.events_since(before).await;
    let replied = events.iter().find(|event| event["type"] == "client.replied").unwrap();
    assert_eq!(replied["data"]["conversation_id"], id.as_str());
    assert_eq!(replied["data"]["message_id"], answer["messageId"]);
    assert_eq!(replied["livemode"], false);
}

async fn a_conversation_that_the_key_cannot_see_is_404_and_nothing_comes_in(app: TestApp) {
    let key = app.test_key("write").await;
    let live = app.mail("a@x.example", "Lamp", "text").await.conversation.to_string();
    let other = app.other_workspace("Globex").await;
    let theirs = app.key_of(&other, "Their", "write", false).await;
    let elsewhere = app.simulate(&theirs, "mara@customer.test").await;
    let body =
        |id: &str| json!({ "from": "mara@customer.test", "text": "Hello", "conversationId": id });
    let missing = app.inbound(&key, body(&nowhere())).await.is(404);
    for id in [live.as_str(), &elsewhere, "", "x", "cnv_"] {
        assert_eq!(app.inbound(&key, body(id)).await.is(404).bytes, missing.bytes, "{id}");
    }
    assert!(app.list(&key, "view=all").await.is_empty());
}

async fn the_sender_is_on_a_test_domain(app: TestApp) {
    let key = app.test_key("write").await;
    for good in ["a@x.test", "a+b@x.y.test", "A@X.TEST", "a@sub-1.x.test"] {
        app.inbound(&key, json!({ "from": good, "text": "Hello" })).await.is(201);
    }
    let before = app.events().await.len();
    for bad in [
        "a@x.example",
        "a@test",
        "a@.test",
        "a@x.test.example",
        "a@xtest",
        "x.test",
        "@x.test",
        "a@x..test",
        "a b@x.test",
        "a@x.test>",
        "<a@x.test>",
        "a@x.test\n",
        "",
    ] {
        let answer = app.inbound(&key, json!({ "from": bad, "text": "Hello" })).await;
        assert_eq!(answer.status, 400, "{bad}");
        assert!(answer.error().starts_with("from: "), "{bad}: {}", answer.error());
    }
    assert_eq!(app.events().await.len(), before);
}

async fn a_live_key_is_refused_whatever_it_sends(app: TestApp) {
    let key = app.key("read write draft send record").await;
    for body in [json!({ "from": "a@x.test", "text": "Hello" }), json!({}), json!([])] {
        let answer = app.inbound(&key, body).await.is(403);
        assert!(answer.error().contains("test key"), "{}", answer.error());
    }
    assert!(app.events().await.is_empty());
}

async fn a_test_key_needs_write(app: TestApp) {
    for scopes in ["read", "draft", "send", "record", "read draft send record"] {
        let key = app.test_key(scopes).await;
        let body = json!({ "from": "a@x.test", "text": "Hello" });
        let error = app.inbound(&key, body).await.is(403).error();
        assert!(error.contains("write"), "{error}");
    }
    assert!(app.events().await.is_empty());
}

async fn a_simulated_reply_answers_what_an_app_sent(app: TestApp) {
    let key = app.test_key("write record").await;
    let record = json!({
        "messageId": "order-7.x9@acme.example", "reference": "Order-7",
        "to": ["mara@customer.test"], "subject": "Your order",
    });
    app.post(&key, "/app-mail", record).await.is(201);
    let mail = mail::Mail {
        answers: vec!["order-7.x9@acme.example".into()],
        ..letter("mara@customer.test", "Re: Your order", "Thanks")
    };
    let live = app.deliver(&app.support, mail).await.conversation;
    assert_eq!(app.read(&app.key("read").await, &live).await.get("reference"), None);
    let reply = json!({
        "from": "mara@customer.test", "text": "Thanks",
        "inReplyTo": "<order-7.x9@acme.example>",
    });
    let simulated = app.inbound(&key, reply.clone()).await.is(201).json();
    let simulated = simulated["conversationId"].as_str().unwrap();
    let read = app.read(&key, &simulated).await;
    assert_eq!(read["reference"], "order-7");
    assert_eq!(read["appSent"]["subject"], "Your order");
    let mut stranger = reply;
    stranger["from"] = json!("eve@evil.test");
    let alone = app.inbound(&key, stranger).await.is(201).json();
    let alone = app.read(&key, &alone["conversationId"].as_str().unwrap()).await;
    assert_eq!((alone.get("reference"), alone.get("appSent")), (None, None));
}

async fn a_simulated_mail_may_be_written_to_a_reference(app: TestApp) {
    let key = app.test_key("write").await;
    let mail = json!({ "from": "mara@customer.test", "text": "Hi", "reference": "Order-8" });
    let id = app.inbound(&key, mail).await.is(201).json()["conversationId"].clone();
    assert_eq!(app.read(&key, &id.as_str().unwrap()).await["reference"], "order-8");
    let wrong = json!({ "from": "mara@customer.test", "text": "Hi", "reference": "billing" });
    assert!(app.inbound(&key, wrong).await.is(400).error().starts_with("reference: "));
}
