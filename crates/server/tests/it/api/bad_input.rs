//! API section 7: a 400 names every problem at once, each starting with the field it is about.

use serde_json::{Value, json};

use super::{ALL, OPS, a_conversation, fields_named, op, rows};
use crate::support::{TestApp, on_both};

on_both!(
    every_problem_of_a_body_is_named_by_its_path,
    every_problem_of_a_query_is_named_by_its_parameter,
    the_sentence_tells_what_would_be_right,
    a_body_is_a_json_object,
    an_empty_body_is_taken_only_where_it_is_optional,
    unknown_fields_and_parameters_are_ignored,
    every_kind_of_date_that_is_a_day_is_taken
);

/// An operation, a body, and the fields that are wrong in it.
const BODIES: &[(&str, &str, &[&str])] = &[
    ("add_note", r#"{}"#, &["body"]),
    ("add_note", r#"{ "Body": "x" }"#, &["body"]),
    ("add_note", r#"{ "body": 5 }"#, &["body"]),
    ("add_note", r#"{ "body": null }"#, &["body"]),
    ("add_note", r#"{ "body": ["x"] }"#, &["body"]),
    ("add_note", r#"{ "body": { "text": "x" } }"#, &["body"]),
    ("add_note", r#"{ "body": true }"#, &["body"]),
    ("add_note", r#"{ "body": "a\u0000b" }"#, &["body"]),
    ("link_item", r#"{}"#, &["url"]),
    ("link_item", r#"{ "url": "https://github.com/acme/shop" }"#, &["url"]),
    ("link_item", r#"{ "url": "https://github.com/acme/shop/issues/1\u0000" }"#, &["url"]),
    ("set_status", r#"{}"#, &["status"]),
    ("set_status", r#"{ "status": "snoozed" }"#, &["status"]),
    ("set_status", r#"{ "status": "all" }"#, &["status"]),
    ("set_status", r#"{ "status": "Open" }"#, &["status"]),
    ("set_status", r#"{ "status": " open" }"#, &["status"]),
    ("set_status", r#"{ "status": "open\u0000" }"#, &["status"]),
    ("set_status", r#"{ "status": ["open"] }"#, &["status"]),
    ("set_status", r#"{ "status": null }"#, &["status"]),
    ("set_sorting", r#"{}"#, &["topic"]),
    ("set_sorting", r#"{ "topic": "Unknown" }"#, &["topic"]),
    ("set_sorting", r#"{ "topic": " ", "urgency": null }"#, &["topic", "urgency"]),
    ("set_sorting", r#"{ "urgency": "High" }"#, &["urgency"]),
    ("tag_conversation", r#"{ "add": "vip" }"#, &["add"]),
    ("tag_conversation", r#"{ "add": null, "remove": {} }"#, &["add", "remove"]),
    (
        "tag_conversation",
        r#"{ "add": ["vip", 3, " ", "x\u0000"] }"#,
        &["add[1]", "add[2]", "add[3]"],
    ),
    ("tag_conversation", r#"{ "remove": [["vip"]], "add": [null] }"#, &["add[0]", "remove[0]"]),
    ("assign_conversation", r#"{}"#, &["to"]),
    ("assign_conversation", r#"{ "to": 5 }"#, &["to"]),
    ("assign_conversation", r#"{ "to": null }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "Me" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "usr_0" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "user:" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "user:usr_" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "user:agt_0" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "agent:usr_0" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "agent:agt_0\u0000" }"#, &["to"]),
    ("assign_conversation", r#"{ "to": "user:usr_0' OR 1=1" }"#, &["to"]),
    ("reply", r#"{}"#, &["body"]),
    (
        "reply",
        r#"{ "send": "yes", "summary": 5, "documents": {} }"#,
        &["body", "send", "summary", "documents"],
    ),
    (
        "reply",
        r#"{
            "body": "x",
            "documents": [
                { "label": "A" }, 5, { "description": 3, "required": "no" }, { "label": null }, []
            ]
        }"#,
        &[
            "documents[1]",
            "documents[2].label",
            "documents[2].description",
            "documents[2].required",
            "documents[3].label",
            "documents[4]",
        ],
    ),
    ("reply", r#"{ "body": "\u0000", "summary": "\u0000" }"#, &["body", "summary"]),
    ("reply", r#"{ "body": "x", "summary": null }"#, &["summary"]),
    (
        "reply",
        r#"{ "body": "x", "sendAt": "tomorrow", "followUpAt": 5 }"#,
        &["sendAt", "followUpAt"],
    ),
    ("reply", r#"{ "body": "x", "sendAt": "2026-11-30" }"#, &["sendAt"]),
    ("request_documents", r#"{}"#, &["documents"]),
    ("request_documents", r#"{ "documents": null }"#, &["documents"]),
    ("request_documents", r#"{ "documents": "Passport" }"#, &["documents"]),
    (
        "request_documents",
        r#"{ "documents": [{}], "message": 1, "dueDate": "soon", "send": 0 }"#,
        &["documents[0].label", "message", "dueDate", "send"],
    ),
    (
        "request_documents",
        r#"{ "documents": [{ "label": "A" }], "dueDate": 20261130 }"#,
        &["dueDate"],
    ),
    (
        "request_documents",
        r#"{ "documents": [{ "label": "A" }], "dueDate": "30-11-2026" }"#,
        &["dueDate"],
    ),
    (
        "request_documents",
        r#"{ "documents": [{ "label": "A" }], "dueDate": "2026-11-3" }"#,
        &["dueDate"],
    ),
    (
        "request_documents",
        r#"{ "documents": [{ "label": "A" }], "dueDate": "2026-11-30T10:00:00Z" }"#,
        &["dueDate"],
    ),
    ("record_sent", r#"{}"#, &["messageId", "reference", "to", "subject"]),
    (
        "record_sent",
        r#"{ "messageId": 1, "reference": 2, "to": "a@b", "subject": 3, "text": 4, "html": 5 }"#,
        &["messageId", "reference", "to", "subject", "text", "html"],
    ),
    (
        "record_sent",
        r#"{
            "messageId": "a\u0000", "reference": "a1\u0000", "to": ["a\u0000@b.example"],
            "subject": "\u0000", "text": "\u0000", "html": "\u0000"
        }"#,
        &["messageId", "reference", "to[0]", "subject", "text", "html"],
    ),
    (
        "record_sent",
        r#"{
            "messageId": "a@b", "reference": "billing", "subject": "",
            "to": ["a@b.example", "x", 3, "a b@c.example", "a@b@c.example"]
        }"#,
        &["reference", "to[1]", "to[2]", "to[3]", "to[4]"],
    ),
];

/// A list, a query, and the parameters that are wrong in it.
const QUERIES: &[(&str, &str, &[&str])] = &[
    ("/conversations", "view=held", &["view"]),
    ("/conversations", "view=", &["view"]),
    ("/conversations", "view=Open", &["view"]),
    ("/conversations", "assigned=usr_0", &["assigned"]),
    ("/conversations", "limit=ten", &["limit"]),
    ("/conversations", "cursor=x", &["cursor"]),
    (
        "/conversations",
        "cursor=&limit=0&assigned=you&view=no",
        &["view", "assigned", "limit", "cursor"],
    ),
    ("/events", "limit=0&cursor=x", &["limit", "cursor"]),
    ("/events", "limit=101", &["limit"]),
    ("/documents", "kind=letter", &["kind"]),
    ("/documents", "limit=0&kind=Invoice&cursor=1", &["kind", "limit", "cursor"]),
];

async fn every_problem_of_a_body_is_named_by_its_path(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let before = rows(&app).await;
    for (name, body, fields) in BODIES {
        let answer = op(name).ask_with(&app, &key, &id, *body).await;
        assert_eq!(answer.status, 400, "{name} {body}");
        assert_eq!(fields_named(&answer), *fields, "{name} {body}: {}", answer.error());
    }
    assert_eq!(rows(&app).await, before);
}

async fn every_problem_of_a_query_is_named_by_its_parameter(app: TestApp) {
    let key = app.key("read").await;
    for (list, query, fields) in QUERIES {
        let answer = app.get(&key, &format!("{list}?{query}")).await;
        assert_eq!(answer.status, 400, "{list} {query}");
        assert_eq!(fields_named(&answer), *fields, "{list} {query}: {}", answer.error());
    }
}

async fn the_sentence_tells_what_would_be_right(app: TestApp) {
    let key = app.key("read").await;
    let answer = app.get(&key, "/conversations?limit=x&view=y").await.is(400);
    let error = answer.error();
    assert!(error.contains("limit: must be a whole number from 1 to 100"), "{error}");
    let views = ["open", "waiting", "snoozed", "closed", "all", "spam", "trash"];
    assert!(error.contains("view: must be one of "), "{error}");
    assert!(views.iter().all(|view| error.contains(view)), "{error}");
}

async fn a_body_is_a_json_object(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in OPS.iter().filter(|op| op.method == "POST") {
        for body in ["null", "true", "5", "\"text\"", "[]", "[{ \"body\": \"x\" }]"] {
            let answer = op.ask_with(&app, &key, &id, body).await.is(400);
            assert_eq!(fields_named(&answer), ["body"], "{} {body}", op.name);
        }
    }
}

async fn an_empty_body_is_taken_only_where_it_is_optional(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    op("stop_message").ask(&app, &key, &id).await.is(200);
    let before = rows(&app).await;
    for op in OPS.iter().filter(|op| op.method == "POST") {
        let answer = op.ask_with(&app, &key, &id, "").await;
        match op.name {
            "tag_conversation" | "stop_message" => assert_eq!(answer.json()["ok"], true),
            name => assert_eq!(fields_named(&answer.is(400)), ["body"], "{name}"),
        }
    }
    assert_eq!(rows(&app).await, before);
}

async fn unknown_fields_and_parameters_are_ignored(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let unknown = json!({ "nonsense": [1, { "a": null }], "limit": "x", "id": "cnv_0", "": 0 });
    for op in OPS {
        let path = format!("{}?nonsense=1&nonsense=2&body=x&=&%FF&a=%00", op.at(&id));
        let mut body: Value = unknown.clone();
        if op.method == "POST" {
            body.as_object_mut().unwrap().extend(op.json().as_object().unwrap().clone());
        }
        if let Some(item) = body.pointer_mut("/documents/0") {
            item["nonsense"] = json!(["x"]);
        }
        let body = axum::body::Body::from(body.to_string());
        let request = crate::support::request(op.method, &path, Some(&key.key), body);
        assert_eq!(app.send(request).await.status, op.success, "{}", op.name);
    }
    assert_eq!(app.read(&key, &id).await["status"], "waiting");
}

async fn every_kind_of_date_that_is_a_day_is_taken(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for date in ["2026-11-30", "2028-02-29", "1999-01-01", "9999-12-31"] {
        let body = json!({ "documents": [{ "label": "A" }], "dueDate": date });
        op("request_documents").ask_with(&app, &key, &id, body.to_string()).await.is(201);
    }
}
