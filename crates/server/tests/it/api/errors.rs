//! API section 7: every error has a status and exactly one field, `error`.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Uri};
use hyper::body::Frame;
use serde_json::{Value, json};

use super::{
    ALL, OPS, SENDING, a_conversation, every_op, fields_named, op, rows, rows_of, with_header,
};
use crate::support::{TestApp, nowhere, on_both, request};

on_both!(
    an_error_is_one_sentence_in_json,
    outside_the_prefix_the_app_has_nothing_either,
    unknown_paths_are_404,
    wrong_methods_are_405_and_told_the_right_ones,
    head_answers_as_get_does_without_the_body,
    a_body_over_a_megabyte_is_413_however_it_comes,
    what_is_no_json_is_a_problem_of_the_body,
    a_failed_request_tells_nothing_of_what_was_sent,
    a_nul_in_a_search_is_harmless,
    a_body_or_content_type_with_a_get_does_not_matter
);

/// The largest body, in bytes.
const MOST: usize = 1024 * 1024;

const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"];

/// A body of unknown length that comes in pieces.
struct Pieces(usize);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = self.0.min(10_000);
        self.0 -= piece;
        let frame = || Ok(Frame::data(Bytes::from(vec![b' '; piece])));
        Poll::Ready((piece > 0).then(frame))
    }
}

/// The path as it is, without the prefix before it.
fn at(method: &str, path: &str, key: &str) -> Request<Body> {
    let mut request = request(method, "/me", Some(key), Body::empty());
    *request.uri_mut() = path.parse::<Uri>().unwrap();
    request
}

/// A note with so many bytes of body, most of them in a field that is ignored.
fn padded(bytes: usize) -> String {
    let empty = json!({ "body": "x", "padding": "" }).to_string();
    json!({ "body": "x", "padding": "p".repeat(bytes - empty.len()) }).to_string()
}

async fn note(app: &TestApp, key: &str, body: impl Into<Body>) -> Request<Body> {
    let id = a_conversation(app).await;
    request("POST", &op("add_note").at(&id), Some(key), body.into())
}

async fn an_error_is_one_sentence_in_json(app: TestApp) {
    let (key, reads) = (app.key(ALL).await, app.key("read").await);
    let id = nowhere();
    for (status, request) in [
        (400, request("GET", "/conversations?limit=0", Some(&key.key), Body::empty())),
        (401, request("GET", "/me", None, Body::empty())),
        (403, op("add_note").request(Some(&reads.key), &id)),
        (403, with_header(op("me").request(None, &id), "origin", "https://elsewhere.example")),
        (404, op("get_conversation").request(Some(&key.key), &id)),
        (404, request("GET", "/nothing", Some(&key.key), Body::empty())),
        (405, request("PUT", "/me", Some(&key.key), Body::empty())),
        (413, note(&app, &key.key, padded(MOST + 1)).await),
    ] {
        let answer = app.send(request).await.is(status);
        assert!(answer.error().len() > 10, "{}", answer.error());
        assert_eq!(answer.header("content-type"), "application/json", "{status}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{status}");
        assert_eq!(answer.header("cache-control"), "no-store", "{status}");
    }
}

async fn outside_the_prefix_the_app_has_nothing_either(app: TestApp) {
    let key = app.key(ALL).await;
    for path in ["/API/v1/me", "/calls", "//api/v1/me"] {
        for method in ["GET", "POST", "DELETE", "BREW"] {
            assert_eq!(app.send(at(method, path, &key.key)).await.status, 404, "{method} {path}");
        }
    }
}

async fn unknown_paths_are_404(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for path in [
        "/api/v1".into(),
        "/api/v1/".into(),
        "/api/v1/nothing".into(),
        "/api/v1/me/".into(),
        "/api/v1/ME".into(),
        "/api/v1//me".into(),
        "/api/v1/me/me".into(),
        "/api/v1/conversations/".into(),
        "/api/v1/conversations//notes".into(),
        "/api/v1/openapi.yaml".into(),
        "/api/v2/me".into(),
        "/api/v10/me".into(),
        "/api".into(),
        format!("/api/v1/conversations/{id}/"),
        format!("/api/v1/conversations/{id}/nothing"),
        format!("/api/v1/conversations/{id}/notes/1"),
        format!("/api/v1/conversations/{id}/../{id}"),
    ] {
        for method in ["GET", "POST", "DELETE", "BREW"] {
            let answer = app.send(at(method, &path, &key.key)).await;
            assert_eq!(answer.status, 404, "{method} {path}");
            answer.error();
        }
    }
}

async fn wrong_methods_are_405_and_told_the_right_ones(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let before = rows(&app).await;
    let mut paths = BTreeMap::from([("/openapi.json".to_owned(), vec!["GET", "HEAD"])]);
    for op in every_op() {
        let own: &[&str] = match op.method {
            "GET" => &["GET", "HEAD"],
            "DELETE" => &["DELETE"],
            _ => &["POST"],
        };
        paths.entry(op.at(&id)).or_default().extend(own);
    }
    for (path, allowed) in paths {
        for wrong in METHODS.iter().filter(|method| !allowed.contains(method)) {
            let body = Body::from("{}");
            let answer = app.send(request(wrong, &path, Some(&key.key), body)).await;
            assert_eq!(answer.status, 405, "{wrong} {path}");
            let told: Vec<&str> = answer.header("allow").split(", ").collect();
            assert_eq!(told, allowed, "{wrong} {path}");
            if *wrong != "HEAD" {
                answer.error();
            }
        }
    }
    assert_eq!(rows(&app).await, before);
}

async fn head_answers_as_get_does_without_the_body(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let gets = OPS.iter().filter(|op| op.method == "GET").map(|op| op.at(&id));
    let odd = ["/openapi.json", "/nothing", "/conversations?limit=0", "/conversations?limit=1"];
    for path in gets.chain(odd.map(str::to_owned)) {
        let ask = |method| request(method, &path, Some(&key.key), Body::empty());
        let (get, head) = (app.send(ask("GET")).await, app.send(ask("HEAD")).await);
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.bytes, b"", "{path}");
        for name in ["content-type", "content-length", "link", "cache-control", "vary"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
    app.send(request("HEAD", "/me", None, Body::empty())).await.is(401);
}

async fn a_body_over_a_megabyte_is_413_however_it_comes(app: TestApp) {
    let key = app.key(ALL).await;
    let whole = note(&app, &key.key, padded(MOST)).await;
    app.send(whole).await.is(201);
    for op in every_op().chain(SENDING).filter(|op| op.method == "POST") {
        let path = op.at(&a_conversation(&app).await);
        let before = rows(&app).await;
        let ask = |body| request("POST", &path, Some(&key.key), body);
        let told = with_header(ask(Body::empty()), "content-length", &(MOST + 1).to_string());
        for request in [
            told,
            ask(Body::from(padded(MOST + 1))),
            ask(Body::new(Pieces(MOST + 1))),
            ask(Body::new(Pieces(usize::MAX))),
        ] {
            app.send(request).await.is(413).error();
        }
        assert_eq!(rows(&app).await, before, "{}", op.name);
    }
    let pieces = note(&app, &key.key, Body::new(Pieces(MOST))).await;
    app.send(pieces).await.is(400);
}

async fn what_is_no_json_is_a_problem_of_the_body(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let before = rows(&app).await;
    let deep = |open: &str, close: &str| {
        format!("{{ \"body\": {}{} }}", open.repeat(100_000), close.repeat(100_000))
    };
    let bodies: Vec<Vec<u8>> = vec![
        b" ".into(),
        b"{".into(),
        b"}".into(),
        b"{ body: 1 }".into(),
        b"{ 'body': 'x' }".into(),
        b"{ \"body\": \"x\", }".into(),
        b"{ \"body\": \"x\" } x".into(),
        b"{ \"body\": \"x\" }{}".into(),
        b"{ \"body\": \"x".into(),
        b"{ \"body\": \"line\nline\" }".into(),
        b"{ \"body\": \"\\x\" }".into(),
        b"{ \"body\": \"\\ud800\" }".into(),
        b"{ \"body\": \"\\udc00\\ud800\" }".into(),
        b"{ \"body\": \"\xff\" }".into(),
        b"{ \"body\": \"\xc0\x80\" }".into(),
        b"{ \"body\": \"\xed\xa0\x80\" }".into(),
        b"{ \"x\": \"\xf5\x80\x80\x80\", \"body\": \"x\" }".into(),
        b"\xef\xbb\xbf{ \"body\": \"x\" }".into(),
        b"\x00".into(),
        b"{ \"body\": \"a\x00b\" }".into(),
        b"{ \"body\": NaN }".into(),
        b"{ \"body\": 1e999 }".into(),
        b"body=x".into(),
        deep("[", "]").into(),
        deep("{ \"a\": ", "}").into(),
        "[".repeat(100_000).into(),
        "{\"body\":".repeat(100_000).into(),
    ];
    for op in OPS.iter().filter(|op| op.method == "POST") {
        for body in &bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            let answer = op.ask_with(&app, &key, &id, body.clone()).await;
            assert_eq!(answer.status, 400, "{} {shown}", op.name);
            assert_eq!(fields_named(&answer), ["body"], "{} {shown}", op.name);
        }
    }
    assert_eq!(rows(&app).await, before);
}

async fn a_failed_request_tells_nothing_of_what_was_sent(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let secret = "hunter2";
    for body in [format!("{{ \"body\": {secret}"), json!({ "body": [secret] }).to_string()] {
        let answer = op("add_note").ask_with(&app, &key, &id, body).await.is(400);
        assert!(!answer.error().contains(secret), "{}", answer.error());
    }
    let answer = app.get(&key, &format!("/conversations/{secret}")).await.is(404);
    assert!(!answer.error().contains(secret), "{}", answer.error());
}

async fn a_nul_in_a_search_is_harmless(app: TestApp) {
    let key = app.key("read").await;
    let id = a_conversation(&app).await;
    for list in ["/conversations", "/documents"] {
        for q in ["%00", "lamp%00", "%00lamp", "la%00mp", "%22%00%22"] {
            app.get(&key, &format!("{list}?q={q}")).await.is(200);
        }
    }
    let found = app.get(&key, "/conversations?q=lamp%00").await.is(200).json();
    assert_eq!(found[0]["id"], Value::from(id));
}

async fn a_body_or_content_type_with_a_get_does_not_matter(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in OPS.iter().filter(|op| op.method == "GET") {
        let answer = op.ask_with(&app, &key, &id, "{ not json").await;
        assert_eq!(answer.status, 200, "{}", op.name);
    }
    let note = op("add_note").request(Some(&key.key), &id);
    app.send(with_header(note, "content-type", "text/plain")).await.is(201);
    assert_eq!(rows_of(&app, "notes").await, 1);
}
