//! Live updates of open pages.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::json;

use crate::support::*;

on_both!(
    an_open_page_hears_of_what_it_shows_and_of_nothing_else,
    who_else_has_a_conversation_open_is_told_to_those_who_may_see_it,
    an_agent_at_work_is_seen_for_a_minute,
    people_at_another_process_are_seen_and_warned_of,
    a_page_hears_of_what_changed_before_it_listened,
    a_page_hears_of_no_change_that_it_may_not_see_before_it_listened,
    the_page_of_a_webhook_looks_once_more_because_tries_wake_nobody,
    only_who_is_signed_in_may_listen
);

/// How long something that must happen may take on a busy machine.
const PATIENCE_MS: u64 = 30_000;

/// What an open page hears next, or nothing for a while.
async fn next(body: &mut Body, wait: u64) -> Option<String> {
    let frame = tokio::time::timeout(Duration::from_millis(wait), body.frame()).await.ok()??;
    let data = frame.ok()?.into_data().ok()?;
    Some(String::from_utf8(data.to_vec()).unwrap())
}

/// What an open page hears next, which must come.
async fn soon(body: &mut Body) -> String {
    next(body, PATIENCE_MS).await.unwrap()
}

async fn an_open_page_hears_of_what_it_shows_and_of_nothing_else(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let (bo, key) = (app.person("Bo").await, app.key("read write").await);
    let browser = app.signed_in(&app.owner).await;
    let session = browser.cookie("__Host-mailroom_session").unwrap();
    let path = format!("/live?view=open&conversation={}", received.conversation);
    let request = Request::get(path)
        .header("cookie", format!("__Host-mailroom_session={session}"))
        .body(Body::empty())
        .unwrap();
    let mut body = app.open(request).await;
    assert!(soon(&mut body).await.starts_with("event: here\ndata: "));

    app.on(&key, &received.conversation, "notes", json!({ "body": "Hm" })).await.is(201);
    assert!(soon(&mut body).await.starts_with("event: changed\ndata: "));
    app.mail("bo@shop.example", "Chairs", "Hello").await;
    assert!(soon(&mut body).await.starts_with("event: changed"));
    let private = app.private_inbox(&bo).await;
    app.deliver(&private, letter("ann@shop.example", "Secrets", "Hello")).await;
    assert_eq!(next(&mut body, 700).await, None);

    browser.post("/sign-out", &[]).await.goes_to("/sign-in");
    assert!(soon(&mut body).await.starts_with("event: changed"));
    assert_eq!(next(&mut body, 3_000).await, None);
}

async fn who_else_has_a_conversation_open_is_told_to_those_who_may_see_it(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let bo = app.person("Bo").await;
    let (one, two) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let path = format!("/conversations/{}", received.conversation);
    one.get(&path).await.is(200).hides("is reading");
    let session = two.cookie("__Host-mailroom_session").unwrap();
    let request = Request::get(format!("/live?conversation={}", received.conversation))
        .header("cookie", format!("__Host-mailroom_session={session}"))
        .body(Body::empty())
        .unwrap();
    let mut body = app.open(request).await;
    soon(&mut body).await;
    one.get(&path).await.is(200).shows("Bo is reading");
    two.get(&path).await.is(200).hides("Bo is reading");
    let fields = [("kind", "note"), ("body", "Half a")];
    two.post(&format!("{path}/autosave"), &fields).await.is(204);
    one.get(&path).await.is(200).shows("Bo is writing");
    app.advance(20 * SECOND);
    one.get(&path).await.is(200).shows("Bo is reading");
    drop(body);
    eventually(async || !one.get(&path).await.text.contains("Bo is reading")).await;
}

async fn an_agent_at_work_is_seen_for_a_minute(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let key = app.key_of(&app.owner, "Robo", "read write", true).await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    browser.get(&path).await.is(200).hides("Robo is");
    app.read(&key, &received.conversation).await;
    browser.get(&path).await.is(200).shows("Robo is reading");
    app.on(&key, &received.conversation, "notes", json!({ "body": "Hm" })).await.is(201);
    browser.get(&path).await.is(200).shows("Robo is writing");
    app.advance(MINUTE);
    browser.get(&path).await.is(200).hides("Robo is");
}

async fn people_at_another_process_are_seen_and_warned_of(app: TestApp) {
    let Some(node) = app.another_node() else { return };
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let (bo, key) =
        (app.person("Bo").await, app.key_of(&app.owner, "Robo", "read write", true).await);
    let one = app.signed_in(&app.owner).await;
    let two = app.signed_in(&bo).await;
    let path = format!("/conversations/{}", received.conversation);
    let session = two.cookie("__Host-mailroom_session").unwrap();
    let two = two.at(node.clone());
    let request = Request::get(format!("/live?conversation={}", received.conversation))
        .header("cookie", format!("__Host-mailroom_session={session}"))
        .body(Body::empty())
        .unwrap();
    let response = tower::ServiceExt::oneshot(node.clone(), request).await.unwrap();
    let mut body = response.into_body();
    soon(&mut body).await;
    eventually(async || one.get(&path).await.text.contains("Bo is reading")).await;
    let fields = [("kind", "note"), ("body", "Half a")];
    two.post(&format!("{path}/autosave"), &fields).await.is(204);
    eventually(async || one.get(&path).await.text.contains("Bo is writing")).await;
    app.on(&key, &received.conversation, "notes", json!({ "body": "Hm" })).await.is(201);
    two.get(&path).await.is(200).shows("Robo is writing");

    let page = one.get(&format!("{path}?write=reply")).await;
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let letter = |text| [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", text)];
    two.post(&format!("{path}/reply"), &letter("One")).await.goes_to(&path);
    one.post(&format!("{path}/reply"), &letter("Two"))
        .await
        .is(422)
        .shows("Bo Teammate answered while you were writing");
    drop(body);
    eventually(async || !one.get(&path).await.text.contains("Bo is")).await;
}

async fn a_page_hears_of_what_changed_before_it_listened(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let key = app.key("read write").await;
    let browser = app.signed_in(&app.owner).await;
    let session = browser.cookie("__Host-mailroom_session").unwrap();
    let listen = |mark: &str| {
        let path = format!("/live?conversation={}&mark={mark}", received.conversation);
        Request::get(path)
            .header("cookie", format!("__Host-mailroom_session={session}"))
            .body(Body::empty())
            .unwrap()
    };
    let page = format!("/conversations/{}", received.conversation);
    let mark = async || browser.get(&page).await.between("data-mark=\"", "\"").to_owned();
    let before = mark().await;
    app.on(&key, &received.conversation, "notes", json!({ "body": "Hm" })).await.is(201);
    let mut late = app.open(listen(&before)).await;
    assert!(soon(&mut late).await.starts_with("event: changed"));
    let now = mark().await;
    let mut fresh = app.open(listen(&now)).await;
    let heard = soon(&mut fresh).await;
    assert!(heard.starts_with(&format!("event: here\ndata: {now}\n")), "{heard}");
    let mut returning = listen(&before);
    returning.headers_mut().insert("last-event-id", now.parse().unwrap());
    assert!(soon(&mut app.open(returning).await).await.starts_with("event: here"));
}

async fn a_page_hears_of_no_change_that_it_may_not_see_before_it_listened(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let (bo, other) = (app.person("Bo").await, app.other_workspace("Globex").await);
    let (private, their_key) =
        (app.private_inbox(&bo).await, app.key_of(&other, "Their", "read write", false).await);
    let browser = app.signed_in(&app.owner).await;
    let session = browser.cookie("__Host-mailroom_session").unwrap();
    let conversation = format!("/conversations/{}?view=open", received.conversation);
    for (page, live) in [
        (conversation.as_str(), format!("/live?view=open&conversation={}", received.conversation)),
        ("/inbox?view=open", "/live?view=open".to_owned()),
        ("/leaving", "/live?page=leaving".to_owned()),
        ("/mentions", "/live?page=mentions".to_owned()),
        ("/approvals", "/live?page=approvals".to_owned()),
    ] {
        let made_at = app.now();
        let shown = browser.get(page).await;
        let mark = shown.between("data-mark=\"", "\"");
        app.advance(SECOND);
        app.deliver(&private, letter("ann@shop.example", page, "Hello")).await;
        let mail = json!({ "from": "zed@shop.test", "text": "Hello" });
        app.post(&their_key, "/sandbox/inbound", mail).await.is(201);
        let path = format!("{live}&mark={mark}&at={made_at}");
        let request = Request::get(path)
            .header("cookie", format!("__Host-mailroom_session={session}"))
            .body(Body::empty())
            .unwrap();
        let heard = soon(&mut app.open(request).await).await;
        assert!(heard.starts_with("event: here"), "{page}: {heard}");
    }
}

async fn the_page_of_a_webhook_looks_once_more_because_tries_wake_nobody(app: TestApp) {
    let hook = app.webhook(&app.owner, false, true).await;
    let browser = app.signed_in(&app.owner).await;
    let session = browser.cookie("__Host-mailroom_session").unwrap();
    let path = format!("/live?page=webhook&webhook={hook}&mark=0");
    let request = Request::get(path)
        .header("cookie", format!("__Host-mailroom_session={session}"))
        .body(Body::empty())
        .unwrap();
    let mut body = app.open(request).await;
    assert!(soon(&mut body).await.starts_with("event: changed"));
}

async fn only_who_is_signed_in_may_listen(app: TestApp) {
    app.browser().get("/live?view=open").await.goes_to("/sign-in?next=%2Flive%3Fview%3Dopen");
}
