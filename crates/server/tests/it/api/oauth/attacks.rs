//! Attacks on OAuth that the flow itself does not show, and the documents that clients publish.

use actions::integrations::oauth_consent;
use axum::body::Body;
use axum::http::Request;
use base::actor::Plan;
use model::people::oauth_clients::ClientMetadata;
use serde_json::{Value, json};

use super::{
    VERIFIER, allow, asks, call, challenge, connected, exchange, form, query, registered, text,
};
use crate::support::*;

on_both!(
    a_refresh_gives_no_more_than_was_granted,
    a_code_or_a_refresh_token_opens_no_door,
    no_page_of_the_flow_tells_the_next_site_where_it_came_from,
    a_name_that_looks_like_anothers_is_shown_as_it_is_spelled,
    a_site_that_nobody_here_knows_is_pointed_out,
    the_free_plan_ends_what_apps_may_do,
    a_client_that_names_itself_by_header_is_refused_by_header,
    the_redirect_rules_hold_for_the_documents_that_clients_publish,
    a_consent_cannot_be_given_twice_with_one_code
);

/// A client with a document about it, as if it had been fetched.
async fn documented(app: &TestApp, document: &Value) -> String {
    let address = text(document, "client_id").to_owned();
    let metadata = ClientMetadata::of_document(&address, document.to_string().as_bytes());
    let (id, metadata) = (address.clone(), metadata.unwrap());
    app.act(&app.owner, move |tx, cx| {
        oauth_consent::keep_client_document(tx, cx, &id, &metadata).map(drop)
    })
    .await;
    address
}

async fn a_refresh_gives_no_more_than_was_granted(app: TestApp) {
    let (client, tokens) = connected(&app, &["write"]).await;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", text(&tokens, "refresh_token")),
        ("client_id", client.as_str()),
        ("scope", "read write draft send record"),
    ];
    let next = form(&app, "/token", &fields).await.is(200).json();
    assert_eq!(next["scope"], "read write");
    let reply = json!({"id": "cnv_0", "body": "x", "send": true});
    call(&app, text(&next, "access_token"), "reply", reply).await.is(403);
}

async fn a_code_or_a_refresh_token_opens_no_door(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, &["write"], "live").await;
    call(&app, &code, "whoami", json!({})).await.is(401);
    let tokens = exchange(&app, &client, &code).await.is(200).json();
    for token in [text(&tokens, "refresh_token"), VERIFIER, client.as_str()] {
        call(&app, token, "whoami", json!({})).await.is(401);
        for path in ["/api/v1/me", "/api/v1/conversations"] {
            let request = Request::get(path).header("authorization", format!("Bearer {token}"));
            app.send(request.body(Body::empty()).unwrap()).await.is(401);
        }
    }
}

async fn no_page_of_the_flow_tells_the_next_site_where_it_came_from(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let mut fields = asks(&client, &challenge);
    let page = browser.get(&format!("/authorize?{}", query(&fields))).await.is(200);
    // Our own pages may know, so that forms can be told from those of other sites.
    assert_eq!(page.answer.header("referrer-policy"), "same-origin");
    fields.extend([("works", "live"), ("answer", "allow")]);
    let page = browser.post("/authorize", &fields).await.is(303);
    assert_eq!(page.answer.header("referrer-policy"), "same-origin");
}

/// `clаude.ai` with a Cyrillic letter: its host is shown in ASCII, and a confirmed name stays second.
async fn a_name_that_looks_like_anothers_is_shown_as_it_is_spelled(app: TestApp) {
    let client = documented(
        &app,
        &json!({
            "client_id": "https://xn--clude-5ve.ai/client.json",
            "client_name": "claude.ai\u{202e}\u{200b}",
            "redirect_uris": ["http://127.0.0.1/callback"],
        }),
    )
    .await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/authorize?{}", query(&asks(&client, &challenge())));
    let page = browser.get(&path).await.is(200);
    page.shows("Connect <strong>xn--clude-5ve.ai</strong>?").shows("It calls itself “claude.ai”.");
    page.hides("\u{202e}").hides("\u{200b}");
    let spelled = path.replace("xn--clude-5ve.ai", "cl%D0%B0ude.ai");
    browser.get(&spelled).await.is(400);
}

async fn a_site_that_nobody_here_knows_is_pointed_out(app: TestApp) {
    let callback = "https://app.example/callback";
    let address = "https://app.example/client.json";
    let document = json!({"client_id": address, "redirect_uris": [callback]});
    let client = documented(&app, &document).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let mut fields = asks(&client, &challenge);
    for field in &mut fields {
        if field.0 == "redirect_uri" {
            field.1 = callback;
        }
    }
    let path = format!("/authorize?{}", query(&fields));
    browser.get(&path).await.is(200).shows("Nobody here has connected this site before");
    fields.extend([("works", "live"), ("answer", "allow")]);
    browser.post("/authorize", &fields).await.is(303);
    browser.get(&path).await.is(200).hides("Nobody here has connected this site before");
}

async fn the_free_plan_ends_what_apps_may_do(app: TestApp) {
    let (_, tokens) = connected(&app, &["write"]).await;
    let token = text(&tokens, "access_token");
    call(&app, token, "whoami", json!({})).await.is(200);
    app.set_plan(Plan::Free).await;
    call(&app, token, "whoami", json!({})).await.is(403);
}

/// RFC 6749 section 5.2: a client that used the header is answered in its scheme.
async fn a_client_that_names_itself_by_header_is_refused_by_header(app: TestApp) {
    let fields = [("grant_type", "refresh_token"), ("refresh_token", "rr_x")];
    // ocl_nobody and an empty password.
    let request = Request::post("/token")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("authorization", "Basic b2NsX25vYm9keTo=");
    let answer = app.send(request.body(Body::from(query(&fields))).unwrap()).await.is(401);
    assert_eq!(answer.json()["error"], "invalid_client");
    assert!(answer.header("www-authenticate").starts_with("Basic "));
    let fields = [("client_id", "ocl_nobody"), fields[0], fields[1]];
    let answer = form(&app, "/token", &fields).await.is(401);
    assert_eq!(answer.header("www-authenticate"), "");
}

/// Each document as its maker publishes it, the addresses that its program asks for, and ones that a thief
/// would.
async fn the_redirect_rules_hold_for_the_documents_that_clients_publish(app: TestApp) {
    let claude_code = json!({
        "client_id": "https://claude.ai/oauth/claude-code-client-metadata",
        "client_name": "Claude Code",
        "client_uri": "https://claude.ai",
        "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    let vs_code = json!({
        "client_id": "https://vscode.dev/oauth/client-metadata.json",
        "client_name": "Visual Studio Code",
        "client_uri": "https://vscode.dev/product",
        "redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    let cursor = json!({
        "client_id": "https://www.cursor.com/oauth/client.json",
        "client_name": "Cursor",
        "redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ],
        "application_type": "web",
    });
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    for (document, good, bad) in [
        (
            claude_code,
            vec!["http://localhost:51234/callback", "http://127.0.0.1:3118/callback"],
            vec!["http://localhost:51234/other", "https://localhost/callback"],
        ),
        (
            vs_code,
            vec![
                "http://127.0.0.1:33418/",
                "http://127.0.0.1:54321/",
                "https://vscode.dev/redirect",
            ],
            vec![
                "https://vscode.dev/redirect/",
                "https://vscode.dev:8443/redirect",
                "vscode://x/y",
            ],
        ),
        (
            cursor,
            vec![
                "cursor://anysphere.cursor-mcp/oauth/callback",
                "https://www.cursor.com/agents/mcp/oauth/callback",
                "http://localhost:8788/callback",
            ],
            vec!["cursor://other/oauth/callback", "https://cursor.com/agents/mcp/oauth/callback"],
        ),
    ] {
        let client = documented(&app, &document).await;
        for (uris, status) in [(good, 200), (bad, 400)] {
            for uri in uris {
                let mut fields = asks(&client, &challenge);
                fields.retain(|(name, _)| *name != "redirect_uri");
                fields.push(("redirect_uri", uri));
                let page = browser.get(&format!("/authorize?{}", query(&fields))).await;
                assert_eq!(page.answer.status, status, "{client} {uri}");
            }
        }
    }
}

async fn a_consent_cannot_be_given_twice_with_one_code(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, &[], "live").await;
    let (first, second) =
        tokio::join!(exchange(&app, &client, &code), exchange(&app, &client, &code));
    let mut both = [first.status, second.status];
    both.sort_unstable();
    assert_eq!(both, [200, 400]);
}
