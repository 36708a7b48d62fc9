//! API section 4.15: what `openapi.json` says is what is there, and what is there it says.

use std::collections::BTreeSet;

use actions::conversations::snooze;
use axum::body::Body;
use mail::{Attachment, Risk, Warning};
use serde_json::{Value, json};

use super::limits::{BOOKING_TEXTS, IN_SANDBOX_TEXTS, LISTS, TEXTS};
use super::schema::problems;
use super::{
    ALL, ALL_AND_ADMIN, CREATING, IN_SANDBOX, ON_BOOKINGS, ON_OWN_DRAFTS, ON_SECURE_MESSAGES, OPS,
    Op, SENDING, a_booking, a_secure_message, a_test_conversation, beside, every_op, fields_named,
    give_message, op,
};
use crate::support::{Answer, DAY, TestApp, TestKey, letter, nowhere, on_both, request};

on_both!(
    the_document_needs_no_key_and_is_openapi_3_1,
    the_document_lists_exactly_the_operations,
    the_document_tells_scope_key_and_refusals_of_each_operation,
    every_answer_is_as_the_document_says,
    every_refusal_is_as_the_document_says,
    the_examples_of_the_document_fit_its_own_schemas,
    the_document_tells_each_parameter_and_header,
    the_id_in_a_path_is_of_the_kind_that_the_path_names,
    the_document_tells_the_limits_that_hold,
    what_the_document_requires_of_a_body_is_what_is_required
);

async fn document(app: &TestApp) -> Value {
    app.send(request("GET", "/openapi.json", None, Body::empty())).await.is(200).json()
}

fn described<'d>(document: &'d Value, op: &Op) -> &'d Value {
    &document["paths"][op.path][op.method.to_lowercase()]
}

/// Holds an answer against what the document says of it.
fn fits(document: &Value, op: &Op, answer: &Answer) {
    let mut response = &described(document, op)["responses"][answer.status.to_string()];
    assert!(response.is_object(), "{} does not tell of {}", op.name, answer.status);
    if let Some(reference) = response["$ref"].as_str() {
        response = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    let schema = &response["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{} {}", op.name, answer.status);
    let found = problems(document, schema, &answer.json());
    assert_eq!(found, [""; 0], "{} {}", op.name, answer.status);
    assert_eq!(answer.header("content-type"), "application/json");
    for (name, _) in response["headers"].as_object().into_iter().flatten() {
        let optional = name == "Link" || name.starts_with("X-Total-");
        assert!(optional || answer.headers.contains_key(name), "{} {name}", op.name);
    }
}

/// A workspace in which every kind of thing has happened.
async fn busy(app: &TestApp, key: &TestKey) -> String {
    let record = json!({
        "messageId": "m1@acme.example", "reference": "A-1", "to": ["bruno@keller.example"],
        "subject": "Your order"
    });
    app.post(key, "/app-mail", record).await.is(201);
    let mut mail = letter("bruno@keller.example", "Your order", "Where is it?");
    mail.answers = vec!["m1@acme.example".into()];
    mail.warning =
        Some(Warning { risk: Risk::Phishing, reasons: vec!["Odd link".into()], hold: true });
    mail.attachments = vec![Attachment {
        filename: "a.pdf".into(),
        content_type: "application/pdf".into(),
        bytes: vec![1],
    }];
    let id = app.deliver(&app.support, mail).await.conversation;
    give_message(app, &app.service(&app.support), &id).await;
    for op in OPS.iter().chain(SENDING) {
        op.ask(app, key, &id).await;
    }
    let until = app.now() + DAY;
    let snoozed = id.clone();
    let open = json!({ "status": "open" });
    app.post(key, &op("set_status").at(&id), open).await.is(200);
    app.act(&app.owner, move |tx, cx| snooze::snooze(tx, cx, snoozed.as_str(), until)).await;
    id.to_string()
}

async fn the_document_needs_no_key_and_is_openapi_3_1(app: TestApp) {
    let answer = app.send(request("GET", "/openapi.json", None, Body::empty())).await.is(200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(answer.json()["openapi"].as_str().unwrap().starts_with("3.1."));
    let wrong = app.send(request("GET", "/openapi.json", Some("wrong"), Body::empty())).await;
    assert_eq!(wrong.is(200).bytes, answer.bytes);
}

async fn the_document_lists_exactly_the_operations(app: TestApp) {
    let document = document(&app).await;
    let mut listed = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            listed.insert((path.clone(), method.to_uppercase(), name.to_owned()));
        }
    }
    let expected = every_op().map(|op| (op.path.into(), op.method.into(), op.name.into()));
    let itself = ("/openapi.json".into(), "GET".into(), "openapi".into());
    assert_eq!(listed, expected.chain([itself]).collect());
}

async fn the_document_tells_scope_key_and_refusals_of_each_operation(app: TestApp) {
    let document = document(&app).await;
    for op in every_op().chain(SENDING) {
        let operation = described(&document, op);
        let about = operation["description"].as_str().unwrap();
        assert!(about.contains(&format!("`{}`", op.scope)), "{}: {about}", op.name);
        let statuses: BTreeSet<&str> =
            operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
        let success = op.success.to_string();
        let mut expected = BTreeSet::from([success.as_str(), "401", "403", "429", "500", "503"]);
        let asking = [
            "list_conversations",
            "get_conversation",
            "list_messages",
            "list_bookings",
            "find_slots",
            "search_answers",
            "search_documents",
            "get_reports",
            "list_events",
            "list_calls",
            "help",
        ];
        let takes_input = op.method == "POST" || asking.contains(&op.name);
        expected.extend(takes_input.then_some("400"));
        let naming = [
            "sandbox_inbound",
            "start_conversation",
            "list_bookings",
            "create_booking",
            "search_documents",
            "list_calls",
        ];
        let names_one = op.has_id() || naming.contains(&op.name);
        let insists = ["reply", "request_documents", "update_draft"].contains(&op.name)
            || op.name.ends_with("_booking");
        expected.extend(insists.then_some("409"));
        expected.extend(names_one.then_some("404"));
        expected.extend((op.method == "POST").then_some("413"));
        expected.extend(CREATING.contains(&op.name).then_some("422"));
        assert_eq!(statuses, expected, "{}", op.name);
    }
}

async fn every_answer_is_as_the_document_says(app: TestApp) {
    let document = document(&app).await;
    let key = app.key(ALL).await;
    let id = busy(&app, &key).await;
    let plain = app.mail("ann@keller.example", "Sofa", "Hi").await.conversation;
    give_message(&app, &app.service(&app.support), &plain).await;
    let plain = plain.to_string();
    for op in OPS {
        for id in [&id, &plain] {
            fits(&document, op, &op.ask(&app, &key, id).await.is(op.success));
        }
    }
    for op in SENDING {
        fits(&document, op, &op.ask(&app, &key, &id).await.is(201));
    }
    let (test, id) = (app.test_key(ALL).await, a_test_conversation(&app).await);
    for op in OPS.iter().chain(IN_SANDBOX) {
        fits(&document, op, &op.ask(&app, &test, &id).await.is(op.success));
    }
    for op in ON_OWN_DRAFTS {
        let draft = app.draft(&key, &plain, "It left.").await;
        let answer = op.ask(&app, &key, &beside(&draft)).await;
        fits(&document, op, &answer.is(op.success));
        fits(&document, op, &op.ask(&app, &test, &beside(&draft)).await.is(404));
    }
    for op in ON_SECURE_MESSAGES {
        let sent = a_secure_message(&app, &key, &plain).await;
        fits(&document, op, &op.ask(&app, &key, &beside(&sent)).await.is(op.success));
        fits(&document, op, &op.ask(&app, &test, &beside(&sent)).await.is(404));
    }
    let (kind, booking) = a_booking(&app, &key).await;
    for op in ON_BOOKINGS {
        let id = if op.name == "find_slots" { &kind } else { &booking };
        let mut body = op.json_or_empty();
        body["typeId"] = json!(kind);
        body["conversationId"] = json!(plain);
        let answer = op.ask_with(&app, &key, id, body.to_string()).await;
        fits(&document, op, &answer.is(op.success));
        fits(&document, op, &op.ask(&app, &test, id).await.is(404));
    }
    let taken = op("create_booking").ask_with(
        &app,
        &key,
        &id,
        json!({ "typeId": kind, "startsAt": "2026-11-16T10:00:00Z", "name": "A", "email": "a@b.example" })
            .to_string(),
    );
    fits(&document, op("create_booking"), &taken.await.is(409));
    fits(&document, op("list_bookings"), &op("list_bookings").ask(&app, &key, &id).await.is(200));
    let all = Op { path: "/conversations?view=all", ..*op("list_conversations") };
    let answer = all.ask(&app, &key, &id).await.is(200);
    assert!(answer.json().as_array().unwrap().len() >= 2);
    fits(&document, op("list_conversations"), &answer);
}

async fn every_refusal_is_as_the_document_says(app: TestApp) {
    let document = document(&app).await;
    let (key, reads) = (app.key(ALL).await, app.key("read").await);
    for op in OPS {
        fits(&document, op, &app.send(op.request(None, &nowhere())).await.is(401));
        if op.scope != "read" {
            fits(&document, op, &op.ask(&app, &reads, &nowhere()).await.is(403));
            fits(&document, op, &op.ask_with(&app, &key, &nowhere(), "[").await.is(400));
            let huge = vec![b' '; 2_000_000];
            fits(&document, op, &op.ask_with(&app, &key, &nowhere(), huge).await.is(413));
        }
        if op.has_id() {
            fits(&document, op, &op.ask(&app, &key, &nowhere()).await.is(404));
        }
    }
    let test = app.test_key(ALL).await;
    for op in IN_SANDBOX {
        fits(&document, op, &op.ask(&app, &key, &nowhere()).await.is(403));
        fits(&document, op, &op.ask(&app, &test, &nowhere()).await.is(404));
        fits(&document, op, &op.ask_with(&app, &test, &nowhere(), "[").await.is(400));
    }
    let app = app.with_rate(0);
    for op in OPS {
        fits(&document, op, &op.ask(&app, &key, &nowhere()).await.is(429));
    }
}

async fn the_examples_of_the_document_fit_its_own_schemas(app: TestApp) {
    let document = document(&app).await;
    for op in every_op() {
        let operation = described(&document, op);
        let answer = &operation["responses"][op.success.to_string()];
        let request = &operation["requestBody"];
        if op.name == "download_document" {
            assert!(answer["content"]["application/octet-stream"].is_object());
            continue;
        }
        for content in [answer, request].map(|place| &place["content"]["application/json"]) {
            if content.is_object() {
                let found = problems(&document, &content["schema"], &content["example"]);
                assert_eq!(found, [""; 0], "{}", op.name);
            }
        }
    }
}

async fn the_document_tells_each_parameter_and_header(app: TestApp) {
    let document = document(&app).await;
    let views = json!(["open", "waiting", "snoozed", "closed", "all", "spam", "trash"]);
    let kinds =
        json!(["invoice", "receipt", "statement", "contract", "id", "tax", "photo", "other"]);
    for op in every_op() {
        let mut told = BTreeSet::new();
        for parameter in described(&document, op)["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            told.insert(name);
            let schema = &parameter["schema"];
            match name {
                "view" => {
                    assert_eq!((&schema["enum"], &schema["default"]), (&views, &json!("open")))
                }
                "kind" => assert_eq!(schema["enum"], kinds),
                "assigned" => assert_eq!(schema["enum"], json!(["me", "unassigned"])),
                "q" => assert_eq!(schema["maxLength"], 200),
                "limit" if op.name != "find_slots" => {
                    let told = ["minimum", "maximum", "default"].map(|word| &schema[word]);
                    assert_eq!(told, [&json!(1), &json!(100), &json!(25)]);
                }
                _ => {}
            }
        }
        let expected: &[&str] = match op.name {
            "list_conversations" => &[
                "view",
                "mailbox",
                "q",
                "assigned",
                "sort",
                "since",
                "until",
                "tag",
                "topic",
                "urgency",
                "from",
                "limit",
                "count",
                "snippet",
                "reference",
                "cursor",
            ],
            "get_conversation" => &["id", "include", "omit", "after"],
            "list_messages" => &["status", "limit"],
            "list_bookings" => &["from", "to", "conversation", "status", "limit"],
            "find_slots" => &["id", "from", "to", "zone", "part", "limit"],
            "search_answers" => &["q", "language", "limit"],
            "get_reports" => &["from", "to", "mailbox", "zone"],
            "search_documents" => &["q", "kind", "conversation", "from", "limit", "cursor"],
            "help" => &["tool"],
            "list_calls" => &["key", "since", "limit"],
            "list_events" => &["start", "limit", "cursor"],
            "sandbox_inbound"
            | "start_conversation"
            | "create_booking"
            | "create_webhook"
            | "update_conversations" => &["Idempotency-Key"],
            name if CREATING.contains(&name) => &["id", "Idempotency-Key"],
            _ if op.has_id() => &["id"],
            _ => &[],
        };
        assert_eq!(told, expected.iter().copied().collect(), "{}", op.name);
    }
}

async fn the_id_in_a_path_is_of_the_kind_that_the_path_names(app: TestApp) {
    let document = document(&app).await;
    for (name, pattern) in [
        ("get_conversation", "^cnv_[0-9a-z]+$"),
        ("undo", "^und_[0-9a-z]+$"),
        ("unlink_item", "^lnk_[0-9a-z]+$"),
        ("undo_agent", "^agt_[0-9a-z]+$"),
        ("pause_agent", "^(me|agt_[0-9a-z]+)$"),
    ] {
        let id = &described(&document, op(name))["parameters"][0];
        assert_eq!((&id["name"], &id["schema"]["pattern"]), (&json!("id"), &json!(pattern)));
    }
}

async fn the_document_tells_the_limits_that_hold(app: TestApp) {
    let document = document(&app).await;
    let texts = TEXTS.iter().chain(IN_SANDBOX_TEXTS).chain(BOOKING_TEXTS);
    let limits = texts.map(|limit| (limit, "maxLength"));
    for ((name, pointer, most), word) in limits.chain(LISTS.iter().map(|l| (l, "maxItems"))) {
        let body = &described(&document, op(name))["requestBody"]["content"];
        let mut schema = &body["application/json"]["schema"];
        for part in pointer.split('/').skip(1) {
            schema = match part.parse::<usize>() {
                Ok(_) => &schema["items"],
                Err(_) => &schema["properties"][part],
            };
        }
        assert_eq!(schema[word], *most, "{name} {pointer}");
    }
}

async fn what_the_document_requires_of_a_body_is_what_is_required(app: TestApp) {
    let document = document(&app).await;
    let (live, test) = (app.key(ALL_AND_ADMIN).await, app.test_key(ALL).await);
    for op in every_op().filter(|op| op.method == "POST") {
        let key = if IN_SANDBOX.iter().any(|own| own.name == op.name) { &test } else { &live };
        let schema = &described(&document, op)["requestBody"]["content"]["application/json"];
        let schema = &schema["schema"];
        let named = |list: &Value| -> BTreeSet<String> {
            let names = list.as_array().into_iter().flatten();
            names.map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let fields: BTreeSet<String> =
            schema["properties"].as_object().unwrap().keys().cloned().collect();
        let mut known: BTreeSet<String> = op.json().as_object().unwrap().keys().cloned().collect();
        // Its type is made by a person first.
        known.extend((op.name == "reply").then(|| "booking".to_owned()));
        // Times to come are another day's in another run.
        if ["reply", "start_conversation"].contains(&op.name) {
            known.extend(["sendAt", "followUpAt"].map(str::to_owned));
        }
        assert_eq!(fields, known, "{}", op.name);
        let answer = op.ask_with(&app, key, &nowhere(), "{}").await;
        let missing = match answer.status {
            // One of its two fields is needed, whichever, which no list can say.
            400 if op.name == "set_sorting" => BTreeSet::new(),
            400 => fields_named(&answer).into_iter().collect(),
            _ => BTreeSet::new(),
        };
        assert_eq!(named(&schema["required"]), missing, "{}", op.name);
    }
}
