//! API section 4.14: the rules of every operation hold for the one that only test keys may ask for.

use actions::inboxes::setup;
use axum::body::Body;
use axum::http::Request;
use base::actor::Plan;
use serde_json::{Value, json};

use super::limits::{IN_SANDBOX_TEXTS, wide};
use super::{ALL, a_test_conversation, fields_named, op, rows, rows_of, with_header};
use crate::support::{Answer, DAY, TestApp, TestKey, nowhere, on_both, request};

on_both!(
    every_problem_of_a_simulated_mail_is_named_at_once,
    each_text_may_have_so_many_characters_and_not_one_more,
    of_several_mistakes_the_first_in_order_is_told,
    on_the_free_plan_nothing_is_simulated,
    an_idempotency_key_makes_a_repeat_harmless_for_24_hours,
    without_a_word_each_request_makes_a_new_mail
);

async fn ask(app: &TestApp, key: &TestKey, body: Value) -> Answer {
    app.post(key, "/sandbox/inbound", body).await
}

/// A mail by somebody new, under a word.
fn keyed(key: &TestKey, word: &str, text: &str) -> Request<Body> {
    let body = json!({ "from": "bruno@keller.test", "text": text }).to_string();
    let asked = request("POST", "/sandbox/inbound", Some(&key.key), Body::from(body));
    with_header(asked, "idempotency-key", word)
}

async fn every_problem_of_a_simulated_mail_is_named_at_once(app: TestApp) {
    let key = app.test_key(ALL).await;
    let before = rows(&app).await;
    for (body, fields) in [
        (json!({}), &["from", "text"][..]),
        (
            json!({ "from": 1, "name": 2, "subject": 3, "text": 4, "conversationId": 5 }),
            &["from", "name", "subject", "text", "conversationId"],
        ),
        (json!({ "from": "a@x.example", "text": " " }), &["from", "text"]),
        (
            json!({ "from": "a@x.test\0", "name": "\0", "subject": "\0", "text": "\0" }),
            &["from", "name", "subject", "text"],
        ),
        (json!([]), &["body"]),
        (json!(null), &["body"]),
    ] {
        let answer = ask(&app, &key, body.clone()).await.is(400);
        assert_eq!(fields_named(&answer), fields, "{body}");
    }
    let empty = request("POST", "/sandbox/inbound", Some(&key.key), Body::empty());
    assert_eq!(fields_named(&app.send(empty).await.is(400)), ["body"]);
    assert_eq!(rows(&app).await, before);
}

async fn each_text_may_have_so_many_characters_and_not_one_more(app: TestApp) {
    let key = app.test_key(ALL).await;
    let right = json!({ "from": "bruno@keller.test", "text": "Hello" });
    for (_, pointer, most) in IN_SANDBOX_TEXTS {
        let name = pointer.trim_start_matches('/');
        for (chars, status) in [(*most, 201), (most + 1, 400)] {
            let mut body = right.clone();
            body[name] = json!(wide(chars));
            let answer = ask(&app, &key, body).await.is(status);
            if status == 400 {
                assert_eq!(fields_named(&answer), [name]);
            }
        }
    }
    let address = |chars: usize| format!("{}@keller.test", "a".repeat(chars - 12));
    for (chars, status) in [(254, 201), (255, 400)] {
        ask(&app, &key, json!({ "from": address(chars), "text": "Hello" })).await.is(status);
    }
}

async fn of_several_mistakes_the_first_in_order_is_told(app: TestApp) {
    let (reads, does, live, gone) = (
        app.test_key("read").await,
        app.test_key(ALL).await,
        app.key(ALL).await,
        app.test_key(ALL).await,
    );
    app.revoke(&gone).await;
    let before = rows(&app).await;
    let somewhere = json!({
        "from": "bruno@keller.test", "text": "Hello", "conversationId": nowhere(),
    });
    for (key, body, status) in [
        (&gone, json!({}), 401),
        (&live, json!({}), 403),
        (&live, somewhere.clone(), 403),
        (&reads, json!({}), 403),
        (&reads, somewhere.clone(), 403),
        (&does, json!({ "conversationId": nowhere() }), 400),
        (&does, somewhere, 404),
    ] {
        ask(&app, key, body).await.is(status);
    }
    assert_eq!(rows(&app).await, before);
    let app = app.with_rate(0);
    for key in [&live, &reads, &does] {
        ask(&app, key, json!({})).await.is(429);
    }
    ask(&app, &gone, json!({})).await.is(401);
}

async fn on_the_free_plan_nothing_is_simulated(app: TestApp) {
    let key = app.test_key(ALL).await;
    let id = a_test_conversation(&app).await;
    app.act(&app.owner, |tx, cx| setup::set_plan(tx, cx, Plan::Free)).await;
    let before = rows(&app).await;
    let answer = op("sandbox_inbound").ask(&app, &key, &id).await.is(403);
    assert!(answer.error().contains("plan"), "{}", answer.error());
    assert_eq!(rows(&app).await, before);
}

async fn an_idempotency_key_makes_a_repeat_harmless_for_24_hours(app: TestApp) {
    let (key, other) = (app.test_key(ALL).await, app.test_key(ALL).await);
    let first = app.send(keyed(&key, "word", "One")).await.is(201);
    app.advance(DAY - 1);
    assert_eq!(app.send(keyed(&key, "word", "One")).await.is(201).bytes, first.bytes);
    app.send(keyed(&key, "word", "Two")).await.is(422).error();
    assert_eq!(rows_of(&app, "messages").await, 1);
    app.send(keyed(&other, "word", "Two")).await.is(201);
    app.advance(1);
    assert_ne!(app.send(keyed(&key, "word", "One")).await.is(201).bytes, first.bytes);
    assert_eq!(rows_of(&app, "messages").await, 3);
    let answer = app.send(keyed(&key, "not a word", "One")).await.is(400);
    assert_eq!(fields_named(&answer), ["Idempotency-Key"]);
}

async fn without_a_word_each_request_makes_a_new_mail(app: TestApp) {
    let key = app.test_key(ALL).await;
    let id = a_test_conversation(&app).await;
    let before = rows_of(&app, "messages").await;
    for made in 1..=2 {
        let answer = op("sandbox_inbound").ask(&app, &key, &id).await.is(201).json();
        assert_eq!(answer["conversationId"], id);
        assert_eq!(rows_of(&app, "messages").await, before + made);
    }
}
