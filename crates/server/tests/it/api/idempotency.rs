//! An `Idempotency-Key` makes a repeat of what creates something harmless, for 24 hours.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::{
    ALL, CREATING, OPS, Op, SENDING, a_conversation, at_once, fields_named, op, rows, rows_of,
    with_header,
};
use crate::support::{DAY, MINUTE, TestApp, TestKey, nowhere, on_both, request};

on_both!(
    the_same_request_under_the_same_word_repeats_the_answer_and_does_nothing,
    without_a_word_each_request_makes_a_new_item,
    another_request_under_the_same_word_is_422_and_does_nothing,
    a_word_belongs_to_its_agent,
    a_word_is_forgotten_after_24_hours,
    a_request_that_failed_is_not_remembered,
    a_mistake_under_a_used_word_is_still_told_as_such,
    on_what_may_be_repeated_the_word_is_ignored,
    a_word_has_1_to_200_plain_characters,
    a_malformed_word_is_told_with_every_other_problem,
    quotes_around_a_word_do_not_count,
    a_request_is_the_same_whatever_the_order_of_its_fields,
    the_same_request_ten_times_at_once_makes_one_item,
    ten_requests_at_once_under_one_word_make_one_item,
    ten_different_requests_at_once_make_ten_items
);

fn keyed(request: Request<Body>, word: &str) -> Request<Body> {
    with_header(request, "idempotency-key", word)
}

/// The operations that take the header, as drafts and sending.
fn creating() -> impl Iterator<Item = &'static Op> {
    OPS.iter().filter(|op| CREATING.contains(&op.name)).chain(SENDING)
}

/// The request that is right but for one value, under a word.
fn with_text(op: &Op, key: &TestKey, id: &str, word: &str, text: &str) -> Request<Body> {
    let mut body = op.json();
    match op.name {
        "request_documents" => body["documents"][0]["label"] = json!(text),
        _ => body["body"] = json!(text),
    }
    keyed(request("POST", &op.at(&id), Some(&key.key), Body::from(body.to_string())), word)
}

/// The row that one success of the operation adds.
fn item(op: &Op) -> &'static str {
    if op.name == "add_note" { "notes" } else { "messages" }
}

async fn repeats(app: &TestApp, key: &TestKey, word: &str, bodies: [Value; 2]) {
    let id = a_conversation(app).await;
    let path = op("reply").at(&id);
    let mut answers = Vec::new();
    for body in bodies {
        let body = Body::from(body.to_string());
        let sent = keyed(request("POST", &path, Some(&key.key), body), word);
        answers.push(app.send(sent).await.is(201).bytes);
    }
    assert_eq!(answers[0], answers[1], "{word}");
}

async fn the_same_request_under_the_same_word_repeats_the_answer_and_does_nothing(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for (number, op) in creating().enumerate() {
        let word = format!("word-{number}");
        let first = app.send(keyed(op.request(Some(&key.key), &id), &word)).await.is(201);
        let before = rows(&app).await;
        for _ in 0..3 {
            app.advance(MINUTE);
            let again = app.send(keyed(op.request(Some(&key.key), &id), &word)).await.is(201);
            assert_eq!(again.bytes, first.bytes, "{}", op.name);
            assert_eq!(again.header("content-type"), first.header("content-type"));
        }
        assert_eq!(rows(&app).await, before, "{}", op.name);
    }
}

async fn without_a_word_each_request_makes_a_new_item(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let before = rows_of(&app, item(op)).await;
        for made in 1..=2 {
            op.ask(&app, &key, &id).await.is(201);
            assert_eq!(rows_of(&app, item(op)).await, before + made, "{}", op.name);
        }
    }
}

async fn another_request_under_the_same_word_is_422_and_does_nothing(app: TestApp) {
    let key = app.key(ALL).await;
    let (id, other) = (a_conversation(&app).await, app.mail("ann@x.example", "Sofa", "Hi").await);
    let other = other.conversation.to_string();
    for (number, op) in creating().enumerate() {
        let word = format!("word-{number}");
        let first = app.send(with_text(op, &key, &id, &word, "One")).await.is(201);
        let before = rows(&app).await;
        app.send(with_text(op, &key, &id, &word, "Two")).await.is(422).error();
        if op.has_id() {
            app.send(with_text(op, &key, &other, &word, "One")).await.is(422).error();
        }
        let another = creating().find(|another| another.name != op.name).unwrap();
        app.send(with_text(another, &key, &id, &word, "One")).await.is(422).error();
        let again = app.send(with_text(op, &key, &id, &word, "One")).await.is(201);
        assert_eq!(again.bytes, first.bytes, "{}", op.name);
        assert_eq!(rows(&app).await, before, "{}", op.name);
    }
}

async fn a_word_belongs_to_its_agent(app: TestApp) {
    let (one, two) = (app.key(ALL).await, app.key(ALL).await);
    let id = a_conversation(&app).await;
    for op in creating() {
        let before = rows_of(&app, item(op)).await;
        let word = format!("{}-{}", op.name, op.scope);
        app.send(with_text(op, &one, &id, &word, "One")).await.is(201);
        app.send(with_text(op, &two, &id, &word, "One")).await.is(201);
        assert_eq!(rows_of(&app, item(op)).await, before + 2, "{}", op.name);
        app.send(with_text(op, &one, &id, &word, "Two")).await.is(422);
    }
}

async fn a_word_is_forgotten_after_24_hours(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let word = format!("{}-{}", op.name, op.scope);
        app.send(with_text(op, &key, &id, &word, "One")).await.is(201);
        let before = rows_of(&app, item(op)).await;
        app.advance(DAY - 1);
        app.send(with_text(op, &key, &id, &word, "One")).await.is(201);
        app.send(with_text(op, &key, &id, &word, "Two")).await.is(422);
        assert_eq!(rows_of(&app, item(op)).await, before, "{}", op.name);
        app.advance(1);
        app.send(with_text(op, &key, &id, &word, "Two")).await.is(201);
        assert_eq!(rows_of(&app, item(op)).await, before + 1, "{}", op.name);
        app.send(with_text(op, &key, &id, &word, "Two")).await.is(201);
        app.send(with_text(op, &key, &id, &word, "One")).await.is(422);
        assert_eq!(rows_of(&app, item(op)).await, before + 1, "{}", op.name);
    }
}

async fn a_request_that_failed_is_not_remembered(app: TestApp) {
    let (reads, does) = (app.key("read").await, app.key(ALL).await);
    let id = a_conversation(&app).await;
    for op in creating() {
        let word = format!("{}-{}", op.name, op.scope);
        app.send(with_text(op, &reads, &id, &word, "One")).await.is(403);
        app.send(with_text(op, &does, &id, &word, " ")).await.is(400);
        if op.has_id() {
            app.send(with_text(op, &does, &nowhere(), &word, "One")).await.is(404);
        }
        app.send(with_text(op, &does, &id, &word, "One")).await.is(201);
        app.send(with_text(op, &does, &id, &word, "Two")).await.is(422);
    }
}

async fn a_mistake_under_a_used_word_is_still_told_as_such(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let word = format!("{}-{}", op.name, op.scope);
        app.send(with_text(op, &key, &id, &word, "One")).await.is(201);
        app.send(with_text(op, &key, &id, &word, " ")).await.is(400);
    }
    app.revoke(&key).await;
    for op in creating() {
        let word = format!("{}-{}", op.name, op.scope);
        app.send(with_text(op, &key, &id, &word, "One")).await.is(401);
    }
}

async fn on_what_may_be_repeated_the_word_is_ignored(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in OPS.iter().filter(|op| !CREATING.contains(&op.name)) {
        for word in ["same", "same", "not well formed!", ""] {
            let answer = app.send(keyed(op.request(Some(&key.key), &id), word)).await;
            assert_eq!(answer.status, op.success, "{} {word}", op.name);
        }
    }
    for status in ["closed", "open", "closed"] {
        let body = Body::from(json!({ "status": status }).to_string());
        let sent = request("POST", &op("set_status").at(&id), Some(&key.key), body);
        app.send(keyed(sent, "same")).await.is(200);
        assert_eq!(app.read(&key, &id).await["status"], status);
    }
    assert_eq!(rows_of(&app, "idempotency_keys").await, 0);
}

async fn a_word_has_1_to_200_plain_characters(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let sent = |word: &str| keyed(op("add_note").request(Some(&key.key), &id), word);
    let long = "x".repeat(200);
    let quoted = format!("\"{long}\"");
    for word in ["a", "A-z_0.9:", "8c5f0c5e-2f5e-4f0e-9b1a-7f3d2c1b0a99", &long, &quoted] {
        app.send(sent(word)).await.is(201);
    }
    let before = rows(&app).await;
    let longer = "x".repeat(201);
    for word in ["", "\"\"", "a b", "a,b", "\"a", "a\"", "a/b", "\u{e9}", "a\tb", "'a'", &longer] {
        let answer = app.send(sent(word)).await;
        assert_eq!(answer.status, 400, "{word}");
        assert_eq!(fields_named(&answer), ["Idempotency-Key"], "{word}");
    }
    assert_eq!(rows(&app).await, before);
}

async fn a_malformed_word_is_told_with_every_other_problem(app: TestApp) {
    let key = app.key(ALL).await;
    let body = Body::from(r#"{ "send": 1 }"#);
    let sent = request("POST", &op("reply").at(&nowhere()), Some(&key.key), body);
    let answer = app.send(keyed(sent, "a b")).await.is(400);
    assert_eq!(fields_named(&answer), ["body", "send", "Idempotency-Key"]);
}

async fn quotes_around_a_word_do_not_count(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for word in ["a-1", "\"a-1\"", "a-1"] {
        app.send(keyed(op("add_note").request(Some(&key.key), &id), word)).await.is(201);
    }
    assert_eq!(rows_of(&app, "notes").await, 1);
}

async fn a_request_is_the_same_whatever_the_order_of_its_fields(app: TestApp) {
    let key = app.key(ALL).await;
    repeats(
        &app,
        &key,
        "outside",
        [
            json!({ "body": "Hi", "summary": "Says hi" }),
            json!({ "summary": "Says hi", "body": "Hi" }),
        ],
    )
    .await;
    repeats(
        &app,
        &key,
        "inside",
        [
            json!({ "body": "Hi", "documents": [{ "label": "A", "required": false }] }),
            json!({ "documents": [{ "required": false, "label": "A" }], "body": "Hi" }),
        ],
    )
    .await;
}

async fn the_same_request_ten_times_at_once_makes_one_item(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let before = rows_of(&app, item(op)).await;
        let word = format!("{}-{}", op.name, op.scope);
        let one = || app.send(with_text(op, &key, &id, &word, "One"));
        let answers = at_once((0..10).map(|_| one())).await;
        for answer in &answers {
            assert_eq!(answer.status, 201, "{}", op.name);
            assert_eq!(answer.bytes, answers[0].bytes, "{}", op.name);
        }
        assert_eq!(rows_of(&app, item(op)).await, before + 1, "{}", op.name);
    }
}

async fn ten_requests_at_once_under_one_word_make_one_item(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let before = rows_of(&app, item(op)).await;
        let word = format!("{}-{}", op.name, op.scope);
        let text = |number: usize| with_text(op, &key, &id, &word, &number.to_string());
        let one = |number| app.send(text(number));
        let answers = at_once((0..10).map(one)).await;
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        let refused = answers.iter().filter(|answer| answer.status == 422).count();
        assert_eq!((made, refused), (1, 9), "{}", op.name);
        assert_eq!(rows_of(&app, item(op)).await, before + 1, "{}", op.name);
    }
}

async fn ten_different_requests_at_once_make_ten_items(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in creating() {
        let before = rows_of(&app, item(op)).await;
        let one = |number: usize| {
            let word = format!("{}-{}-{number}", op.name, op.scope);
            app.send(with_text(op, &key, &id, &word, "One"))
        };
        for answer in at_once((0..10).map(one)).await {
            answer.is(201);
        }
        assert_eq!(rows_of(&app, item(op)).await, before + 10, "{}", op.name);
    }
}
