//! Codes and tokens: what they are good for, and when they end.

use actions::integrations::oauth_tokens;
use actions::people::{removal, roles};
use base::actor::Role;
use serde_json::json;

use super::{
    allow, asks, call, challenge, connected, exchange, exchanging, form, query, registered, text,
};
use crate::support::*;
use crate::web::browser::Page;

on_both!(
    the_tokens_of_an_app_share_one_rate,
    an_app_that_refreshes_without_end_is_stopped,
    who_becomes_a_member_takes_their_apps_scopes_along,
    a_code_works_once_for_its_client_address_and_verifier_and_a_minute,
    a_code_used_twice_ends_what_it_gave,
    on_one_computer_an_app_gives_back_nothing_of_another,
    refresh_tokens_are_replaced_and_parallel_processes_get_the_same_one,
    an_old_refresh_token_ends_the_grant_from_any_network,
    a_replaced_refresh_token_ends_once_its_successor_was_used,
    a_client_gives_its_token_back,
    a_tool_beyond_the_grant_is_403_with_the_scope_needed,
    scopes_changed_in_the_settings_count_at_once,
    disconnecting_ends_the_next_request,
    who_is_removed_takes_their_apps_along
);

async fn refresh(app: &TestApp, client: &str, token: &str) -> Answer {
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)];
    form(app, "/token", &fields).await
}

fn disconnect_path(page: &Page) -> String {
    let id = page.between("/settings/apps/agt_", "/");
    format!("/settings/apps/agt_{id}/disconnect")
}

async fn a_code_works_once_for_its_client_address_and_verifier_and_a_minute(app: TestApp) {
    let client = registered(&app).await;
    let other = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, &[], "live").await;
    for (name, bad) in [
        ("client_id", other.as_str()),
        ("redirect_uri", "http://127.0.0.1:3119/callback"),
        ("code_verifier", "another-verifier-another-verifier-another-verifier"),
        ("code", "rc_nothing"),
    ] {
        let fields: Vec<(&str, &str)> = exchanging(&client, &code)
            .into_iter()
            .map(|(found, value)| (found, if found == name { bad } else { value }))
            .collect();
        let refused = form(&app, "/token", &fields).await.is(400).json();
        assert_eq!(refused["error"], "invalid_grant", "{name}");
    }
    let mut fields = exchanging(&client, &code);
    fields.push(("resource", "https://other.example/mcp"));
    assert_eq!(form(&app, "/token", &fields).await.is(400).json()["error"], "invalid_target");
    let mut fields = exchanging(&client, &code);
    fields.push(("code", &code));
    assert_eq!(form(&app, "/token", &fields).await.is(400).json()["error"], "invalid_request");
    assert_eq!(exchange(&app, "ocl_nobody", &code).await.is(401).json()["error"], "invalid_client");
    let fields = [("grant_type", "password"), ("client_id", client.as_str())];
    let refused = form(&app, "/token", &fields).await.is(400).json();
    assert_eq!(refused["error"], "unsupported_grant_type");
    app.advance(MINUTE);
    assert_eq!(exchange(&app, &client, &code).await.is(400).json()["error"], "invalid_grant");
}

async fn a_code_used_twice_ends_what_it_gave(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, &[], "live").await;
    let tokens = exchange(&app, &client, &code).await.is(200).json();
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(200);
    let other = registered(&app).await;
    exchange(&app, &other, &code).await.is(400);
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(200);
    exchange(&app, &client, &code).await.is(400);
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(401);
    refresh(&app, &client, text(&tokens, "refresh_token")).await.is(400);
}

async fn refresh_tokens_are_replaced_and_parallel_processes_get_the_same_one(app: TestApp) {
    let (client, tokens) = connected(&app, &["write"]).await;
    let old = text(&tokens, "refresh_token");
    let (first, second, third, fourth, fifth) = tokio::join!(
        refresh(&app, &client, old),
        refresh(&app, &client, old),
        refresh(&app, &client, old),
        refresh(&app, &client, old),
        refresh(&app, &client, old)
    );
    let all = [first, second, third, fourth, fifth].map(|answer| answer.is(200).json());
    for one in &all {
        assert_eq!(one["refresh_token"], all[0]["refresh_token"]);
        assert_ne!(one["refresh_token"], tokens["refresh_token"]);
        call(&app, text(one, "access_token"), "whoami", json!({})).await.is(200);
    }
    assert_eq!(refresh(&app, "ocl_nobody", old).await.is(401).json()["error"], "invalid_client");
    let other = registered(&app).await;
    assert_eq!(refresh(&app, &other, old).await.is(400).json()["error"], "invalid_grant");

    app.advance(3 * MINUTE);
    let next = refresh(&app, &client, text(&all[0], "refresh_token")).await.is(200).json();
    app.advance(91 * DAY);
    refresh(&app, &client, text(&next, "refresh_token")).await.is(400);
}

async fn an_old_refresh_token_ends_the_grant_from_any_network(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    for (place, network) in [("198.51.100.7", "another network"), ("unknown", "the same network")] {
        let (client, tokens) = connected(&app, &[]).await;
        let old = text(&tokens, "refresh_token").to_owned();
        let next = refresh(&app, &client, &old).await.is(200).json();
        app.advance(3 * MINUTE);
        let service = app.service(&app.support);
        let thief = (client.clone(), old);
        let stolen = app.act(&service, move |tx, cx| {
            oauth_tokens::refresh_tokens(tx, cx, &thief.1, &thief.0, place)
        });
        assert!(stolen.await.is_err());
        call(&app, text(&next, "access_token"), "whoami", json!({})).await.is(401);
        refresh(&app, &client, text(&next, "refresh_token")).await.is(400);
        let log = browser.get("/settings/audit").await.is(200);
        log.shows("ended the access of the app").shows(network);
    }
}

async fn a_replaced_refresh_token_ends_once_its_successor_was_used(app: TestApp) {
    let (client, tokens) = connected(&app, &[]).await;
    let first = text(&tokens, "refresh_token");
    let second = refresh(&app, &client, first).await.is(200).json();
    let again = refresh(&app, &client, first).await.is(200).json();
    assert_eq!(second["refresh_token"], again["refresh_token"]);
    let third = refresh(&app, &client, text(&second, "refresh_token")).await.is(200).json();
    let refused = refresh(&app, &client, first).await.is(400).json();
    assert_eq!(refused["error"], "invalid_grant");
    // A slow process is refused alone: what the quick one has goes on working.
    call(&app, text(&third, "access_token"), "whoami", json!({})).await.is(200);
    refresh(&app, &client, text(&third, "refresh_token")).await.is(200);
}

async fn a_client_gives_its_token_back(app: TestApp) {
    let (client, tokens) = connected(&app, &[]).await;
    let (access, kept) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
    form(&app, "/revoke", &[("token", "nonsense")]).await.is(200);
    form(&app, "/revoke", &[("token", access)]).await.is(200);
    call(&app, access, "whoami", json!({})).await.is(401);
    let next = refresh(&app, &client, kept).await.is(200).json();
    form(&app, "/revoke", &[("token", text(&next, "refresh_token"))]).await.is(200);
    call(&app, text(&next, "access_token"), "whoami", json!({})).await.is(401);
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/apps").await.is(200).shows("No app is connected");
}

async fn on_one_computer_an_app_gives_back_nothing_of_another(app: TestApp) {
    let (client, first) = connected(&app, &["send"]).await;
    app.advance(MINUTE);
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/authorize?{}", query(&asks(&client, &challenge())))).await;
    let shown = page.text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("value=\"send\" checked"), "{shown}");
    page.shows("So far this app works with real mail.");
    let code = allow(&browser, &client, &["send"], "live").await;
    let second = exchange(&app, &client, &code).await.is(200).json();
    form(&app, "/revoke", &[("token", text(&first, "refresh_token"))]).await.is(200);
    call(&app, text(&first, "access_token"), "whoami", json!({})).await.is(401);
    call(&app, text(&second, "access_token"), "whoami", json!({})).await.is(200);
    refresh(&app, &client, text(&second, "refresh_token")).await.is(200);
}

async fn a_tool_beyond_the_grant_is_403_with_the_scope_needed(app: TestApp) {
    let (_, tokens) = connected(&app, &[]).await;
    let token = text(&tokens, "access_token");
    let note = json!({"id": "cnv_0", "body": "x"});
    let answer = call(&app, token, "add_note", note).await.is(403);
    let told = answer.header("www-authenticate");
    assert!(told.contains("error=\"insufficient_scope\""), "{told}");
    assert!(told.contains("scope=\"read write\""), "{told}");

    let (_, tokens) = connected(&app, &["draft"]).await;
    let note = json!({"id": "cnv_0", "body": "x"});
    let answer = call(&app, text(&tokens, "access_token"), "add_note", note).await.is(403);
    let told = answer.header("www-authenticate");
    assert!(told.contains("scope=\"read write draft\""), "{told}");
    let reply = json!({"id": "cnv_0", "body": "x", "send": true});
    let answer = call(&app, text(&tokens, "access_token"), "reply", reply).await.is(200).json();
    assert_eq!(answer["result"]["isError"], true);
    assert!(answer["result"].to_string().contains("without send"), "{answer}");
}

async fn scopes_changed_in_the_settings_count_at_once(app: TestApp) {
    let (client, tokens) = connected(&app, &["write"]).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/settings/apps").await.is(200);
    let path = page.between("action=\"", "/scopes\"").rsplit('"').next().unwrap().to_owned();
    let path = format!("{path}/scopes");
    browser.post(&path, &[("scope", "draft")]).await.goes_to("/settings/apps");
    let token = text(&tokens, "access_token");
    call(&app, token, "add_note", json!({"id": "cnv_0", "body": "x"})).await.is(403);
    let next = refresh(&app, &client, text(&tokens, "refresh_token")).await.is(200).json();
    assert_eq!(next["scope"], "read draft");
}

async fn disconnecting_ends_the_next_request(app: TestApp) {
    let (client, tokens) = connected(&app, &[]).await;
    let browser = app.signed_in(&app.owner).await;
    let path = disconnect_path(&browser.get("/settings/apps").await.is(200));
    let member = app.person("Mia").await;
    app.signed_in(&member).await.post(&path, &[]).await.is(404);
    browser.post(&path, &[]).await.goes_to("/settings/apps");
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(401);
    refresh(&app, &client, text(&tokens, "refresh_token")).await.is(400);
    browser.get("/settings/apps").await.is(200).shows("No app is connected");
}

async fn who_is_removed_takes_their_apps_along(app: TestApp) {
    let admin = app.person_with("Ada", Role::Admin).await;
    let client = registered(&app).await;
    let browser = app.signed_in(&admin).await;
    let code = allow(&browser, &client, &[], "live").await;
    let tokens = exchange(&app, &client, &code).await.is(200).json();
    let id = user(&admin);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(401);
    refresh(&app, &client, text(&tokens, "refresh_token")).await.is(400);
}

async fn the_tokens_of_an_app_share_one_rate(app: TestApp) {
    let (client, tokens) = connected(&app, &[]).await;
    let next = refresh(&app, &client, text(&tokens, "refresh_token")).await.is(200).json();
    let app = app.with_rate(2);
    call(&app, text(&tokens, "access_token"), "whoami", json!({})).await.is(200);
    call(&app, text(&next, "access_token"), "whoami", json!({})).await.is(200);
    call(&app, text(&next, "access_token"), "whoami", json!({})).await.is(429);
}

async fn an_app_that_refreshes_without_end_is_stopped(app: TestApp) {
    let (client, tokens) = connected(&app, &[]).await;
    let mut token = text(&tokens, "refresh_token").to_owned();
    for _ in 0..60 {
        let next = refresh(&app, &client, &token).await.is(200).json();
        token = text(&next, "refresh_token").to_owned();
    }
    let refused = refresh(&app, &client, &token).await.is(429).json();
    assert_eq!(refused["error"], "temporarily_unavailable");
    app.advance(15 * MINUTE);
    refresh(&app, &client, &token).await.is(200);
}

async fn who_becomes_a_member_takes_their_apps_scopes_along(app: TestApp) {
    let admin = app.person_with("Ada", Role::Admin).await;
    let client = registered(&app).await;
    let browser = app.signed_in(&admin).await;
    let code = allow(&browser, &client, &["write", "record"], "live").await;
    let tokens = exchange(&app, &client, &code).await.is(200).json();
    assert_eq!(tokens["scope"], "read write record");
    let id = user(&admin);
    app.act(&app.owner, move |tx, cx| roles::set_role(tx, cx, &id, Role::Member)).await;
    let next = refresh(&app, &client, text(&tokens, "refresh_token")).await.is(200).json();
    assert_eq!(next["scope"], "read write");
}
