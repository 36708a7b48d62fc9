//! API section 8: 120 requests a minute with each key.

use axum::body::Body;

use super::keys::insert_old_key;
use super::{ALL, OPS, a_conversation, at_once, op, rows, rows_of, with_header};
use crate::support::{
    Answer, DEVELOPER_SITE, MINUTE, SECOND, TestApp, TestKey, nowhere, on_both, request,
};

on_both!(
    the_121st_request_of_a_minute_is_refused,
    requests_that_fail_count_too,
    each_key_has_its_own_count,
    the_minute_ends_and_the_whole_number_is_there_again,
    waiting_as_long_as_told_is_enough,
    a_key_that_waits_while_refused_is_not_kept_out_longer,
    every_answer_tells_the_rate_and_a_request_id,
    guesses_at_keys_are_never_429_and_leave_no_count_behind,
    of_130_requests_at_once_120_are_served,
    refused_work_is_not_done_by_repeating_it
);

/// What is left, from `"default";r=119;t=60`.
fn left(answer: &Answer) -> (u32, i64) {
    let told = answer.header("ratelimit");
    let (remaining, seconds) = told
        .strip_prefix("\"default\";r=")
        .and_then(|rest| rest.split_once(";t="))
        .unwrap_or_else(|| panic!("RateLimit: {told}"));
    (remaining.parse().unwrap(), seconds.parse().unwrap())
}

async fn use_up(app: &TestApp, key: &TestKey) {
    for _ in 0..120 {
        app.get(key, "/me").await.is(200);
    }
}

async fn the_121st_request_of_a_minute_is_refused(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let app = app.with_rate(120);
    for (number, op) in (1..=120).zip(OPS.iter().cycle()) {
        let answer = op.ask(&app, &key, &id).await;
        assert_eq!(answer.status, op.success, "{number} {}", op.name);
        assert_eq!(left(&answer), (120 - number, 60), "{number}");
    }
    let before = rows(&app).await;
    app.advance(18 * SECOND);
    for op in OPS {
        let answer = op.ask(&app, &key, &id).await.is(429);
        assert!(answer.error().contains("120 a minute"), "{}", answer.error());
        assert_eq!(answer.header("retry-after"), "42");
        assert_eq!(left(&answer), (0, 42));
    }
    assert_eq!(rows(&app).await, before);
}

async fn requests_that_fail_count_too(app: TestApp) {
    let key = app.key("read").await;
    let app = app.with_rate(120);
    for (number, (path, status)) in (1..).zip([
        ("/conversations?limit=0", 400),
        (&op("get_conversation").at(&nowhere()), 404),
        ("/me", 200),
    ]) {
        let answer = app.get(&key, path).await.is(status);
        assert_eq!(left(&answer).0, 120 - number);
    }
    let answer = op("add_note").ask(&app, &key, &nowhere()).await.is(403);
    assert_eq!(left(&answer).0, 116);
}

async fn each_key_has_its_own_count(app: TestApp) {
    let (busy, idle, test) = (app.key(ALL).await, app.key(ALL).await, app.test_key(ALL).await);
    let app = app.with_rate(120);
    use_up(&app, &busy).await;
    app.get(&busy, "/me").await.is(429);
    for key in [&idle, &test] {
        assert_eq!(left(&app.get(key, "/me").await.is(200)), (119, 60));
    }
    app.get(&busy, "/me").await.is(429);
}

async fn the_minute_ends_and_the_whole_number_is_there_again(app: TestApp) {
    let key = app.key(ALL).await;
    let app = app.with_rate(120);
    use_up(&app, &key).await;
    app.advance(MINUTE - 1);
    assert_eq!(app.get(&key, "/me").await.is(429).header("retry-after"), "1");
    app.advance(1);
    assert_eq!(left(&app.get(&key, "/me").await.is(200)), (119, 60));
}

async fn waiting_as_long_as_told_is_enough(app: TestApp) {
    let key = app.key(ALL).await;
    let app = app.with_rate(2);
    for late in [0, 1, 999, 1_000, 30_500, 59_999] {
        app.get(&key, "/me").await.is(200);
        app.get(&key, "/me").await.is(200);
        app.advance(late);
        let told = app.get(&key, "/me").await.is(429).header("retry-after").to_owned();
        app.advance(told.parse::<i64>().unwrap() * SECOND);
        app.get(&key, "/me").await.is(200);
        app.advance(MINUTE);
    }
}

async fn a_key_that_waits_while_refused_is_not_kept_out_longer(app: TestApp) {
    let key = app.key(ALL).await;
    let app = app.with_rate(1);
    app.get(&key, "/me").await.is(200);
    for _ in 0..59 {
        app.advance(SECOND);
        app.get(&key, "/me").await.is(429);
    }
    app.advance(SECOND);
    app.get(&key, "/me").await.is(200);
}

async fn every_answer_tells_the_rate_and_a_request_id(app: TestApp) {
    let (key, reads, over) = (app.key(ALL).await, app.key("read").await, app.key("read").await);
    let id = a_conversation(&app).await;
    let app = app.with_rate(120);
    use_up(&app, &over).await;
    let body = |size: usize| Body::from(vec![b' '; size]);
    let note = || with_header(op("add_note").request(Some(&key.key), &id), "idempotency-key", "a");
    let mut reused = note();
    *reused.body_mut() = Body::from(r#"{ "body": "Other words" }"#);
    let path = op("add_note").at(&id);
    let preflight = request("OPTIONS", "/me", None, Body::empty());
    let preflight = with_header(preflight, "access-control-request-method", "GET");
    let preflight = with_header(preflight, "origin", DEVELOPER_SITE);
    let mut ids = Vec::new();
    for (status, request) in [
        (200, op("me").request(Some(&key.key), &id)),
        (200, request("GET", "/openapi.json", None, Body::empty())),
        (201, note()),
        (204, preflight),
        (400, request("POST", &path, Some(&key.key), body(1))),
        (401, op("me").request(None, &id)),
        (401, op("me").request(Some("rk_live_x"), &id)),
        (403, op("add_note").request(Some(&reads.key), &id)),
        (403, with_header(op("me").request(Some(&key.key), &id), "origin", "null")),
        (404, op("get_conversation").request(Some(&key.key), &nowhere())),
        (404, request("GET", "/nothing", None, Body::empty())),
        (405, request("DELETE", "/me", None, Body::empty())),
        (413, request("POST", &path, Some(&key.key), body(2_000_000))),
        (422, reused),
        (429, op("me").request(Some(&over.key), &id)),
    ] {
        let answer = app.send(request).await.is(status);
        assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=120;w=60", "{status}");
        let (remaining, seconds) = left(&answer);
        assert!(remaining <= 120 && (0..=60).contains(&seconds), "{status}");
        assert_eq!(answer.headers.contains_key("retry-after"), status == 429, "{status}");
        ids.push(answer.header("x-request-id").to_owned());
    }
    assert!(ids.iter().all(|id| id.len() >= 16), "{ids:?}");
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

async fn guesses_at_keys_are_never_429_and_leave_no_count_behind(app: TestApp) {
    let app = app.with_rate(3);
    let guess = format!("rk_{}", "g".repeat(48));
    for _ in 0..10 {
        let answer = app.send(op("me").request(Some(&guess), &"")).await.is(401);
        assert_eq!(left(&answer), (3, 60));
    }
    insert_old_key(&app, &guess).await;
    let answer = app.send(op("me").request(Some(&guess), &"")).await.is(200);
    assert_eq!(left(&answer), (2, 60));
}

async fn of_130_requests_at_once_120_are_served(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let app = app.with_rate(120);
    let note = |_| op("add_note").ask(&app, &key, &id);
    let answers = at_once((0..130).map(note)).await;
    let count = |status| answers.iter().filter(|answer| answer.status == status).count();
    let other = answers.iter().find(|answer| !matches!(answer.status, 201 | 429));
    let other = other.map(|answer| String::from_utf8_lossy(&answer.bytes).into_owned());
    assert_eq!((count(201), count(429)), (120, 10), "{other:?}");
    assert_eq!(rows_of(&app, "notes").await, 120);
}

async fn refused_work_is_not_done_by_repeating_it(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let app = app.with_rate(5);
    for _ in 0..8 {
        op("add_note").ask(&app, &key, &id).await;
    }
    assert_eq!(rows_of(&app, "notes").await, 5);
}
