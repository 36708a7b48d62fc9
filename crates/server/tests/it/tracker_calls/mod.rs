//! Calls of issue trackers, in the forms that GitHub, GitLab, Jira and Linear document.

mod payloads;

use actions::integrations::issue_trackers::{
    connect_tracker, disconnect_tracker, set_reopening, set_tracker_secret, tracker_settings,
};
use axum::body::Body;
use axum::http::Request;
use base::limits::TRACKER_CALLS_PER_MINUTE;
use hmac::{Hmac, Mac};
use model::linked_items::Tracker;
use serde_json::{Value, json};
use server::tracker_calls::router;
use sha2::Sha256;

use crate::support::{Answer, MINUTE, TestApp, on_both, text_of};

on_both!(
    each_tracker_tells_how_its_items_stand,
    whoever_does_not_prove_a_call_learns_and_changes_nothing,
    a_call_of_linear_is_recent,
    calls_about_other_things_are_thanked_for,
    a_call_is_bounded_in_size_and_number,
    a_tracker_that_is_disconnected_is_not_heard,
    the_secret_is_kept_sealed
);

const LINEAR_SECRET: &str = "lin_wh_0123456789abcdefghij";

/// A connected tracker.
struct Connection {
    tracker: Tracker,
    path: String,
    secret: String,
}

async fn connect(app: &TestApp, tracker: Tracker) -> Connection {
    let made = app.act(&app.owner, move |tx, cx| connect_tracker(tx, cx, tracker)).await;
    if made.is_none() {
        app.act(&app.owner, move |tx, cx| set_tracker_secret(tx, cx, tracker, LINEAR_SECRET)).await;
    }
    let settings = app.act(&app.owner, tracker_settings).await;
    let mut connections = settings.connections.into_iter();
    let connection = connections.find(|one| one.kind == tracker).expect("a connection");
    let (_, path) = connection.address.split_once("/hooks/").expect("an address");
    Connection {
        tracker,
        path: format!("/hooks/{path}"),
        secret: made.unwrap_or_else(|| LINEAR_SECRET.to_owned()),
    }
}

impl Connection {
    /// A call with the proof that this secret gives.
    async fn call(&self, app: &TestApp, event: &str, body: &str, secret: &str) -> Answer {
        let signature = signature(secret, body);
        let request = Request::post(&self.path).header("content-type", "application/json");
        let request = match self.tracker {
            Tracker::GitHub => request
                .header("x-github-event", event)
                .header("x-hub-signature-256", format!("sha256={signature}")),
            Tracker::GitLab => request.header("x-gitlab-token", secret),
            Tracker::Jira => request.header("x-hub-signature", format!("sha256={signature}")),
            Tracker::Linear => request.header("linear-signature", signature),
        };
        let request = request.body(Body::from(body.to_owned())).unwrap();
        TestApp::send_to(&router(app.app.clone()), request).await
    }

    async fn tell(&self, app: &TestApp, (event, payload): &(&str, Value)) -> Answer {
        self.call(app, event, &payload.to_string(), &self.secret).await
    }
}

/// The HMAC of a body, in hexadecimal digits.
fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A closed conversation that is linked to a page.
async fn linked(app: &TestApp, url: &str) -> String {
    let key = app.key("read write").await;
    let id = app.mail("ann@x.example", url, "It is broken").await.conversation.to_string();
    app.on(&key, &id, "links", json!({ "url": url })).await.is(200);
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
    id
}

async fn read(app: &TestApp, id: &str) -> (String, Value) {
    let key = app.key("read").await;
    let read = app.read(&key, &id).await;
    (text_of(&read, "status"), read["links"][0].clone())
}

async fn each_tracker_tells_how_its_items_stand(app: TestApp) {
    app.act(&app.owner, |tx, cx| set_reopening(tx, cx, true)).await;
    for (tracker, url, open, closed) in [
        (
            Tracker::GitHub,
            "https://github.com/Codertocat/Hello-World/issues/1",
            payloads::github_issue("edited", "open"),
            payloads::github_issue("closed", "closed"),
        ),
        (
            Tracker::GitHub,
            "https://github.com/Codertocat/Hello-World/pull/2",
            payloads::github_pull("opened", "open"),
            payloads::github_pull("closed", "closed"),
        ),
        (
            Tracker::GitLab,
            "http://example.com/gitlabhq/gitlab-test/-/issues/23",
            payloads::gitlab_issue("open", "opened"),
            payloads::gitlab_issue("close", "closed"),
        ),
        (
            Tracker::GitLab,
            "http://example.com/gitlabhq/gitlab-test/-/merge_requests/1",
            payloads::gitlab_merge_request("open", "opened"),
            payloads::gitlab_merge_request("merge", "merged"),
        ),
        (
            Tracker::Jira,
            "https://your-domain.atlassian.net/browse/PROJ-4",
            payloads::jira_issue("new"),
            payloads::jira_issue("done"),
        ),
        (
            Tracker::Linear,
            "https://linear.app/acme/issue/ENG-7/lamps-flicker",
            payloads::linear_issue("started", app.now()),
            payloads::linear_issue("completed", app.now()),
        ),
    ] {
        let id = linked(&app, url).await;
        let connection = connect(&app, tracker).await;
        connection.tell(&app, &open).await.is(200);
        let (status, link) = read(&app, &id).await;
        assert_eq!((status.as_str(), &link["state"]), ("closed", &json!("open")), "{url}");
        assert_eq!(link["title"], "Lamps flicker", "{url}");
        connection.tell(&app, &closed).await.is(200);
        let (status, link) = read(&app, &id).await;
        assert_eq!((status.as_str(), &link["state"]), ("open", &json!("closed")), "{url}");
    }
}

async fn whoever_does_not_prove_a_call_learns_and_changes_nothing(app: TestApp) {
    let id = linked(&app, "https://github.com/Codertocat/Hello-World/issues/1").await;
    let (_, payload) = payloads::github_issue("closed", "closed");
    let body = payload.to_string();
    let mut connection = connect(&app, Tracker::GitHub).await;
    let right = connection.secret.clone();
    let mut refused = vec![connection.call(&app, "issues", &body, "another").await];
    let path = connection.path.clone();
    for wrong in [
        "/hooks/items/github/00000000000000000000000000000000".to_owned(),
        "/hooks/items/github/%00".to_owned(),
        path.replace("/github/", "/gitlab/"),
        path.replace("/github/", "/pigeon/"),
        format!("{path}?secret={right}"),
    ] {
        connection.path = wrong;
        let secret = if connection.path.contains('?') { "another" } else { right.as_str() };
        refused.push(connection.call(&app, "issues", &body, secret).await);
    }
    // Not even whether the body is JSON.
    connection.path = path;
    refused.push(connection.call(&app, "issues", "{", "another").await);
    for answer in refused {
        assert_eq!(answer.is(404).error(), "There is no such connection.");
    }
    assert_eq!(read(&app, &id).await.1["state"], Value::Null);
    connection.call(&app, "issues", "{", &right).await.is(400);
    // Linear has no secret until somebody enters it.
    app.act(&app.owner, |tx, cx| connect_tracker(tx, cx, Tracker::Linear)).await;
    let settings = app.act(&app.owner, tracker_settings).await;
    assert!(settings.connections.iter().any(|one| !one.complete));
}

async fn a_call_of_linear_is_recent(app: TestApp) {
    let connection = connect(&app, Tracker::Linear).await;
    for age in [16 * MINUTE, -16 * MINUTE] {
        let old = payloads::linear_issue("completed", app.now() - age);
        connection.tell(&app, &old).await.is(404);
    }
    let recent = payloads::linear_issue("completed", app.now() - MINUTE);
    connection.tell(&app, &recent).await.is(200);
}

async fn calls_about_other_things_are_thanked_for(app: TestApp) {
    let id = linked(&app, "https://github.com/Codertocat/Hello-World/issues/1").await;
    let connection = connect(&app, Tracker::GitHub).await;
    let (_, issue) = payloads::github_issue("closed", "closed");
    for call in [
        ("ping", json!({ "zen": "Keep it logically awesome.", "hook_id": 1 })),
        ("issue_comment", issue),
        ("issues", json!({ "action": "closed" })),
        ("issues", json!([1])),
        ("issues", payloads::github_issue("closed", "closed").1["issue"].clone()),
    ] {
        connection.tell(&app, &call).await.is(200);
    }
    assert_eq!(read(&app, &id).await.1["state"], Value::Null);
    let settings = app.act(&app.owner, tracker_settings).await;
    assert_eq!(settings.connections[0].called_at, Some(app.now()));
}

async fn a_call_is_bounded_in_size_and_number(app: TestApp) {
    let connection = connect(&app, Tracker::GitHub).await;
    let large = " ".repeat(1024 * 1024 + 1);
    connection.call(&app, "issues", &large, &connection.secret).await.is(413);
    for _ in 1..TRACKER_CALLS_PER_MINUTE {
        connection.call(&app, "issues", "{}", "another").await.is(404);
    }
    let over = connection.call(&app, "issues", "{}", &connection.secret).await.is(429);
    assert_eq!(over.header("retry-after"), "60");
    app.advance(MINUTE);
    connection.call(&app, "issues", "{}", &connection.secret).await.is(200);
}

async fn a_tracker_that_is_disconnected_is_not_heard(app: TestApp) {
    let connection = connect(&app, Tracker::GitLab).await;
    let call = payloads::gitlab_issue("close", "closed");
    connection.tell(&app, &call).await.is(200);
    app.act(&app.owner, |tx, cx| disconnect_tracker(tx, cx, Tracker::GitLab)).await;
    connection.tell(&app, &call).await.is(404);
}

async fn the_secret_is_kept_sealed(app: TestApp) {
    let connection = connect(&app, Tracker::GitHub).await;
    let kept = "tracker_webhooks WHERE secret LIKE 'v1.%'";
    assert_eq!(app.count(kept).await, 1);
    let plain = format!("tracker_webhooks WHERE secret LIKE '%{}%'", connection.secret);
    assert_eq!(app.count(&plain).await, 0);
}
