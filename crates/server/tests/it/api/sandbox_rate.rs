//! 120 simulated mails a minute across all test keys (section 8).

use serde_json::json;

use crate::support::{MINUTE, SECOND, TestApp, TestKey, on_both};

on_both!(
    the_120th_simulated_mail_of_a_minute_is_taken_and_the_121st_is_not,
    each_workspace_has_its_own_count,
    a_refused_live_key_takes_nothing_from_the_count,
    the_keys_own_rate_counts_too
);

async fn status(app: &TestApp, key: &TestKey, number: usize) -> u16 {
    let from = format!("n{number}@customer.test");
    app.inbound(key, json!({ "from": from, "text": "Hello" })).await.status
}

async fn the_120th_simulated_mail_of_a_minute_is_taken_and_the_121st_is_not(app: TestApp) {
    let keys =
        [app.test_key("write").await, app.test_key("write").await, app.test_key("write").await];
    for number in 0..120 {
        assert_eq!(status(&app, &keys[number % 3], number).await, 201, "{number}");
    }
    app.advance(18 * SECOND);
    for key in &keys {
        let body = json!({ "from": "late@customer.test", "text": "Hello" });
        let answer = app.inbound(key, body).await.is(429);
        assert!(answer.error().contains("120 a minute"), "{}", answer.error());
        assert_eq!(answer.header("retry-after"), "42", "waiting so long is enough");
    }
    assert_eq!(app.list(&keys[0], "view=all&limit=100").await.len(), 100);
    assert_eq!(app.events().await.len(), 120);
    app.get(&keys[0], "/me").await.is(200);
    app.advance(42 * SECOND - 1);
    assert_eq!(status(&app, &keys[0], 0).await, 429);
    app.advance(1);
    assert_eq!(status(&app, &keys[1], 121).await, 201);
}

async fn each_workspace_has_its_own_count(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let (ours, theirs) =
        (app.test_key("write").await, app.key_of(&other, "Their", "write", false).await);
    for number in 0..121 {
        status(&app, &ours, number).await;
    }
    assert_eq!(status(&app, &ours, 0).await, 429);
    assert_eq!(status(&app, &theirs, 0).await, 201);
}

async fn a_refused_live_key_takes_nothing_from_the_count(app: TestApp) {
    let (live, test) = (app.key("write").await, app.test_key("write").await);
    for number in 0..130 {
        assert_eq!(status(&app, &live, number).await, 403);
    }
    assert_eq!(status(&app, &test, 0).await, 201);
}

async fn the_keys_own_rate_counts_too(app: TestApp) {
    let test = app.test_key("write").await;
    let app = app.with_rate(3);
    for number in 0..3 {
        assert_eq!(status(&app, &test, number).await, 201);
    }
    assert_eq!(status(&app, &test, 3).await, 429);
    app.advance(MINUTE);
    assert_eq!(status(&app, &test, 4).await, 201);
}
