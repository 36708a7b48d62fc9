//! API section 5.9: browsers may ask from the developer site only.

use axum::body::Body;
use axum::http::Request;

use super::{ALL, OPS, a_conversation, rows, with_header};
use crate::support::{DEVELOPER_SITE, PUBLIC_URL, TestApp, on_both, request};

on_both!(
    a_foreign_page_is_refused_before_anything_else,
    no_page_and_the_services_own_pass,
    the_developer_site_may_ask_and_read_every_answer,
    a_preflight_of_the_developer_site_needs_no_key,
    options_that_is_no_preflight_is_a_wrong_method
);

/// Pages that are neither ours nor the developer site's.
const FOREIGN: [&str; 14] = [
    "https://elsewhere.example",
    "null",
    "",
    "*",
    "http://developers.mailroom.example",
    "https://developers.mailroom.example:8443",
    "https://developers.mailroom.example/",
    "https://DEVELOPERS.mailroom.example",
    "https://evil.developers.mailroom.example",
    "https://developers.mailroom.example.evil.example",
    "http://mail.acme.example",
    "https://mail.acme.example.evil.example",
    "https://mail.acme.example, https://elsewhere.example",
    "\u{fc}",
];

fn from(request: Request<Body>, origin: &str) -> Request<Body> {
    with_header(request, "origin", origin)
}

fn preflight(path: &str, origin: &str) -> Request<Body> {
    let asks = request("OPTIONS", path, None, Body::empty());
    let asks = with_header(asks, "access-control-request-method", "POST");
    from(with_header(asks, "access-control-request-headers", "authorization"), origin)
}

/// A header's words, without case and order.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split(", ").map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}

async fn a_foreign_page_is_refused_before_anything_else(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let before = rows(&app).await;
    let app = app.with_rate(1);
    for origin in FOREIGN {
        let rights = OPS.iter().map(|op| op.request(Some(&key.key), &id));
        let wrongs = [
            request("GET", "/me", None, Body::empty()),
            request("GET", "/me", Some("rk_live_wrong"), Body::empty()),
            request("GET", "/conversations?limit=0", Some(&key.key), Body::empty()),
            request("GET", "/nothing", None, Body::empty()),
            request("DELETE", "/me", None, Body::empty()),
            request("GET", "/openapi.json", None, Body::empty()),
            request("POST", "/app-mail", Some(&key.key), Body::from(vec![b' '; 2_000_000])),
            preflight("/me", origin),
            preflight("/nothing", origin),
        ];
        for request in rights.chain(wrongs) {
            let answer = app.send(from(request, origin)).await.is(403);
            answer.error();
            assert!(!answer.headers.contains_key("access-control-allow-origin"), "{origin}");
            assert!(!answer.headers.contains_key("access-control-allow-methods"), "{origin}");
        }
    }
    assert_eq!(rows(&app).await, before);
    app.get(&key, "/me").await.is(200);
}

async fn no_page_and_the_services_own_pass(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for op in OPS {
        let bare = app.send(op.request(Some(&key.key), &id)).await;
        let own = app.send(from(op.request(Some(&key.key), &id), PUBLIC_URL)).await;
        for answer in [bare, own] {
            assert_eq!(answer.status, op.success, "{}", op.name);
            assert!(!answer.headers.contains_key("access-control-allow-origin"), "{}", op.name);
            assert_eq!(answer.header("vary").to_lowercase(), "origin", "{}", op.name);
        }
    }
}

async fn the_developer_site_may_ask_and_read_every_answer(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let rights = OPS.iter().map(|op| (op.success, op.request(Some(&key.key), &id)));
    let wrongs = [
        (200, request("GET", "/openapi.json", None, Body::empty())),
        (400, request("GET", "/conversations?limit=0", Some(&key.key), Body::empty())),
        (401, request("GET", "/me", None, Body::empty())),
        (404, request("GET", "/nothing", None, Body::empty())),
        (405, request("DELETE", "/me", None, Body::empty())),
    ];
    for (status, request) in rights.chain(wrongs) {
        let answer = app.send(from(request, DEVELOPER_SITE)).await.is(status);
        assert_eq!(answer.header("access-control-allow-origin"), DEVELOPER_SITE, "{status}");
        assert_eq!(answer.header("vary").to_lowercase(), "origin", "{status}");
        let exposed = words(answer.header("access-control-expose-headers"));
        for name in ["link", "ratelimit", "ratelimit-policy", "retry-after", "x-request-id"] {
            assert!(exposed.contains(&name.to_owned()), "{name}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{status}");
    }
}

async fn a_preflight_of_the_developer_site_needs_no_key(app: TestApp) {
    let app = app.with_rate(1);
    for op in OPS {
        let answer = app.send(preflight(&op.at(&"cnv_0"), DEVELOPER_SITE)).await.is(204);
        assert_eq!(answer.bytes, b"");
        assert_eq!(answer.header("access-control-allow-origin"), DEVELOPER_SITE);
        assert_eq!(answer.header("vary").to_lowercase(), "origin");
        let methods = words(answer.header("access-control-allow-methods"));
        assert!(methods.contains(&op.method.to_lowercase()), "{methods:?}");
        let headers = words(answer.header("access-control-allow-headers"));
        for name in ["authorization", "content-type", "idempotency-key"] {
            assert!(headers.contains(&name.to_owned()), "{name}");
        }
        assert!(answer.header("access-control-max-age").parse::<u32>().unwrap() <= 86_400);
    }
}

async fn options_that_is_no_preflight_is_a_wrong_method(app: TestApp) {
    let asks = || request("OPTIONS", "/me", None, Body::empty());
    for asks in [asks(), from(asks(), PUBLIC_URL), from(asks(), DEVELOPER_SITE)] {
        app.send(asks).await.is(405);
    }
}
