//! OAuth for MCP clients: metadata, registration, consent, and the attacks on them.

mod attacks;
mod choices;
mod tokens;

use actions::integrations::oauth_consent;
use axum::body::Body;
use axum::http::Request;
use base::actor::Plan;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::people::oauth_clients::ClientMetadata;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::mcp::{MODERN, modern, post};
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    clients_find_out_where_to_ask_from_a_401,
    what_is_written_about_us_says_what_works,
    a_client_registers_itself_and_addresses_of_strangers_are_left_out,
    registering_has_an_end,
    a_person_lets_a_client_in_and_it_works_at_mcp_alone,
    who_refuses_sends_the_client_away_with_an_answer,
    an_unknown_client_or_address_leads_nowhere,
    what_the_client_got_wrong_is_answered_to_it,
    a_mistake_of_a_stranger_sends_nobody_to_their_site,
    a_mistake_of_a_document_sends_nobody_to_its_site,
    a_person_signs_in_first_and_comes_back,
    the_page_lets_its_form_lead_on_to_the_client,
    consenting_again_changes_the_agent_and_ends_nothing_elsewhere,
    members_connect_apps_only_where_they_may,
    a_client_named_by_its_document_shows_its_host,
    on_the_free_plan_nothing_is_connected,
    forms_of_other_sites_let_nobody_in
);

const VERIFIER: &str = "verifier-verifier-verifier-verifier-verifier-1";
const CALLBACK: &str = "http://127.0.0.1:3118/callback";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

async fn get(app: &TestApp, path: &str) -> Answer {
    app.send(Request::get(path).body(Body::empty()).unwrap()).await
}

async fn form(app: &TestApp, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    app.send(request.body(Body::from(query(pairs))).unwrap()).await
}

async fn register(app: &TestApp, told: Value) -> Answer {
    let request = Request::post("/register").header("content-type", "application/json");
    app.send(request.body(Body::from(told.to_string())).unwrap()).await
}

async fn registered(app: &TestApp) -> String {
    let told = json!({"client_name": "Quill", "redirect_uris": ["http://127.0.0.1/callback"]});
    register(app, told).await.is(201).json()["client_id"].as_str().unwrap().to_owned()
}

/// The parameters of a client's request.
fn asks<'a>(client: &'a str, challenge: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("state", "a b&c"),
    ]
}

/// The query of the address that a page leads to.
fn answered(page: &Page) -> Vec<(String, String)> {
    let location = page.answer.header("location");
    assert!(location.starts_with(CALLBACK), "{location}");
    let url = url::Url::parse(location).unwrap();
    url.query_pairs().into_owned().collect()
}

fn value(pairs: &[(String, String)], name: &str) -> String {
    pairs.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name}")).1.clone()
}

/// The code that a person gives a client.
async fn allow(browser: &Browser<'_>, client: &str, scopes: &[&str], works: &str) -> String {
    let challenge = challenge();
    let mut fields = asks(client, &challenge);
    fields.extend(scopes.iter().map(|scope| ("allow", *scope)));
    fields.extend([("works", works), ("answer", "allow")]);
    let page = browser.post("/authorize", &fields).await.is(303);
    value(&answered(&page), "code")
}

async fn exchange(app: &TestApp, client: &str, code: &str) -> Answer {
    form(app, "/token", &exchanging(client, code)).await
}

fn exchanging<'a>(client: &'a str, code: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ]
}

/// Tokens of a client that the owner let in.
async fn connected(app: &TestApp, scopes: &[&str]) -> (String, Value) {
    let client = registered(app).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, scopes, "live").await;
    let tokens = exchange(app, &client, &code).await.is(200).json();
    (client, tokens)
}

fn text<'a>(json: &'a Value, name: &str) -> &'a str {
    json[name].as_str().unwrap_or_else(|| panic!("no {name} in {json}"))
}

async fn call(app: &TestApp, token: &str, tool: &str, arguments: Value) -> Answer {
    let headers =
        [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)];
    let body = modern("tools/call", json!({"name": tool, "arguments": arguments}));
    app.send(post(Some(token), &headers, body.to_string())).await
}

async fn clients_find_out_where_to_ask_from_a_401(app: TestApp) {
    let answer = app.send(post(None, &[], "{}")).await.is(401);
    let told = answer.header("www-authenticate");
    let metadata = format!("{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp");
    let wanted = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read write draft\"");
    assert_eq!(told, wanted);
    let wrong = format!("ro_{}", "x".repeat(48));
    let answer = app.send(post(Some(&wrong), &[], "{}")).await.is(401);
    assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""));
}

async fn what_is_written_about_us_says_what_works(app: TestApp) {
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let answer = get(&app, path).await.is(200);
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        let told = answer.json();
        assert_eq!(told["resource"], format!("{PUBLIC_URL}/mcp"));
        assert_eq!(told["authorization_servers"], json!([PUBLIC_URL]));
    }
    let told = get(&app, "/.well-known/oauth-authorization-server").await.is(200).json();
    assert_eq!(told["issuer"], PUBLIC_URL);
    assert_eq!(told["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(told["authorization_response_iss_parameter_supported"], true);
    assert_eq!(told["client_id_metadata_document_supported"], true);
    for (name, path) in [
        ("authorization_endpoint", "/authorize"),
        ("token_endpoint", "/token"),
        ("registration_endpoint", "/register"),
        ("revocation_endpoint", "/revoke"),
    ] {
        assert_eq!(told[name], format!("{PUBLIC_URL}{path}"));
    }
    get(&app, "/token").await.is(405);
}

async fn a_client_registers_itself_and_addresses_of_strangers_are_left_out(app: TestApp) {
    let told = json!({
        "client_name": "Cursor",
        "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "http://evil.example/"],
        "application_type": "web",
        "token_endpoint_auth_method": "client_secret_post",
    });
    let answer = register(&app, told).await.is(201);
    let client = answer.json();
    assert_eq!(client["redirect_uris"], json!(["cursor://anysphere.cursor-mcp/oauth/callback"]));
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert!(client.as_object().unwrap().values().all(|value| !value.is_null()), "{client}");
    for (bad, error) in [
        (json!({"redirect_uris": ["https://a@b.example/"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!("x"), "invalid_client_metadata"),
    ] {
        assert_eq!(register(&app, bad).await.is(400).json()["error"], error);
    }
}

async fn registering_has_an_end(app: TestApp) {
    for _ in 0..10 {
        registered(&app).await;
    }
    let told = json!({"redirect_uris": ["http://127.0.0.1/callback"]});
    let answer = register(&app, told).await.is(429);
    assert_eq!(answer.json()["error"], "temporarily_unavailable");
    app.advance(15 * MINUTE);
    registered(&app).await;
}

async fn a_person_lets_a_client_in_and_it_works_at_mcp_alone(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let page =
        browser.get(&format!("/authorize?{}", query(&asks(&client, &challenge)))).await.is(200);
    page.shows("calls itself “Quill”").shows("Not confirmed").shows("127.0.0.1:3118");
    page.shows("Never before").shows("Quill · Olive");

    let code = allow(&browser, &client, &["write", "draft"], "live").await;
    let answer = exchange(&app, &client, &code).await.is(200);
    assert_eq!(answer.header("cache-control"), "no-store");
    let tokens = answer.json();
    assert_eq!(
        (text(&tokens, "token_type"), text(&tokens, "scope")),
        ("Bearer", "read write draft")
    );
    assert_eq!(tokens["expires_in"], 3_600);
    let token = text(&tokens, "access_token");
    let who = call(&app, token, "whoami", json!({})).await.is(200).json();
    let who = &who["result"]["structuredContent"];
    assert_eq!(who["agent"]["name"], "Quill · Olive", "{who}");
    let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
    app.send(request.body(Body::empty()).unwrap()).await.is(401);

    browser.get("/settings/apps").await.is(200).shows("Quill · Olive").shows("read, write, draft");
    browser.get("/settings/keys").await.is(200).hides("Quill · Olive");
    app.advance(HOUR);
    call(&app, token, "whoami", json!({})).await.is(401);
}

async fn who_refuses_sends_the_client_away_with_an_answer(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let mut fields = asks(&client, &challenge);
    fields.push(("answer", "refuse"));
    let told = answered(&browser.post("/authorize", &fields).await.is(303));
    assert_eq!(value(&told, "error"), "access_denied");
    assert_eq!(value(&told, "error_description"), "The person refused.");
    assert_eq!(value(&told, "state"), "a b&c");
    assert_eq!(value(&told, "iss"), PUBLIC_URL);
    browser.get("/settings/apps").await.is(200).hides("Quill · Olive");
}

async fn an_unknown_client_or_address_leads_nowhere(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    for (name, bad) in [
        ("client_id", "ocl_nobody"),
        ("client_id", ""),
        ("redirect_uri", "https://evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:3118/other"),
        ("redirect_uri", "http://localhost:3118/callback"),
        ("redirect_uri", "//127.0.0.1/callback"),
        ("redirect_uri", ""),
    ] {
        let fields: Vec<(&str, &str)> = asks(&client, &challenge)
            .into_iter()
            .map(|(found, value)| (found, if found == name { bad } else { value }))
            .collect();
        let page = browser.get(&format!("/authorize?{}", query(&fields))).await.is(400);
        assert_eq!(page.answer.header("location"), "", "{name} {bad}");
        let mut fields = fields;
        fields.push(("answer", "allow"));
        browser.post("/authorize", &fields).await.is(400);
    }
    let twice = format!("/authorize?{}&state=x", query(&asks(&client, &challenge)));
    browser.get(&twice).await.is(400).shows("says something twice");
}

async fn what_the_client_got_wrong_is_answered_to_it(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    for (name, bad, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", VERIFIER, "invalid_request"),
        ("resource", "https://other.example/mcp", "invalid_target"),
    ] {
        let mut fields: Vec<(&str, &str)> =
            asks(&client, &challenge).into_iter().filter(|(found, _)| *found != name).collect();
        fields.push((name, bad));
        let page = browser.get(&format!("/authorize?{}", query(&fields))).await.is(303);
        let told = answered(&page);
        assert_eq!(value(&told, "error"), error, "{name} {bad}");
        assert!(value(&told, "error_description").ends_with('.'), "{name} {bad}");
        assert_eq!(
            (value(&told, "state"), value(&told, "iss")),
            ("a b&c".into(), PUBLIC_URL.into())
        );
    }
}

async fn a_mistake_of_a_stranger_sends_nobody_to_their_site(app: TestApp) {
    let told = json!({"client_name": "Quill", "redirect_uris": ["https://evil.example/cb"]});
    let client = register(&app, told).await.is(201).json();
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("response_type", "token"),
        ("client_id", text(&client, "client_id")),
        ("redirect_uri", "https://evil.example/cb"),
    ];
    let page = browser.get(&format!("/authorize?{}", query(&fields))).await.is(400);
    page.shows("unsupported_response_type");
}

async fn a_person_signs_in_first_and_comes_back(app: TestApp) {
    let client = registered(&app).await;
    let challenge = challenge();
    let path = format!("/authorize?{}", query(&asks(&client, &challenge)));
    let page = app.browser().get(&path).await.is(303);
    let location = page.answer.header("location");
    let (_, next) = location.split_once("/sign-in?next=").expect("to sign in");
    let next = url::form_urlencoded::parse(format!("next={next}").as_bytes())
        .into_owned()
        .next()
        .unwrap()
        .1;
    assert_eq!(next, path);
}

async fn the_page_lets_its_form_lead_on_to_the_client(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let page =
        browser.get(&format!("/authorize?{}", query(&asks(&client, &challenge)))).await.is(200);
    let policy = page.answer.header("content-security-policy");
    // A browser applies it to every redirect after the form, also to those of the client's site.
    assert!(!policy.contains("form-action"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.answer.header("cross-origin-opener-policy"), "unsafe-none");
    assert_eq!(page.answer.header("x-frame-options"), "DENY");
}

async fn consenting_again_changes_the_agent_and_ends_nothing_elsewhere(app: TestApp) {
    let (client, tokens) = connected(&app, &["write", "draft"]).await;
    let browser = app.signed_in(&app.owner).await;
    let code = allow(&browser, &client, &["send"], "live").await;
    let again = exchange(&app, &client, &code).await.is(200).json();
    assert_eq!(again["scope"], "read send");
    // The same program on another computer stays signed in, with what is allowed now.
    let other = text(&tokens, "access_token");
    call(&app, other, "whoami", json!({})).await.is(200);
    call(&app, other, "add_note", json!({"id": "cnv_0", "body": "x"})).await.is(403);
    browser.get("/settings/apps").await.is(200).shows("1 connected app<");
    let code = allow(&browser, &client, &[], "sandbox").await;
    exchange(&app, &client, &code).await.is(200);
    browser.get("/settings/apps").await.is(200).shows("2 connected apps");
}

async fn members_connect_apps_only_where_they_may(app: TestApp) {
    let member = app.person("Mia").await;
    let client = registered(&app).await;
    let browser = app.signed_in(&member).await;
    let challenge = challenge();
    let path = format!("/authorize?{}", query(&asks(&client, &challenge)));
    browser.get(&path).await.is(403).shows("Only an owner or an admin can connect apps");
    browser.post("/settings/apps/rule", &[("who", "everybody")]).await.is(403);
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/apps/rule", &[("who", "everybody")]).await.goes_to("/settings/apps");
    browser.get(&path).await.is(200).hides("Record mail");
    let mut fields = asks(&client, &challenge);
    fields.extend([("allow", "record"), ("works", "live"), ("answer", "allow")]);
    browser.post("/authorize", &fields).await.is(403);
    let code = allow(&browser, &client, &["write"], "live").await;
    exchange(&app, &client, &code).await.is(200);
    owner.get("/settings/apps").await.is(200).shows("Quill · Mia");
}

async fn a_client_named_by_its_document_shows_its_host(app: TestApp) {
    let address = "https://claude.ai/oauth/claude-code-client-metadata";
    let document = json!({
        "client_id": address,
        "client_name": "Claude Code",
        "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
    });
    let metadata = ClientMetadata::of_document(address, document.to_string().as_bytes()).unwrap();
    app.act(&app.owner, move |tx, cx| {
        oauth_consent::keep_client_document(tx, cx, address, &metadata).map(drop)
    })
    .await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let path = format!("/authorize?{}", query(&asks(address, &challenge)));
    let page = browser.get(&path).await.is(200);
    page.shows("Connect <strong>claude.ai</strong>?").shows("Site confirmed");
    page.shows("Go on only if you started this yourself");
    let code = allow(&browser, address, &["write"], "live").await;
    exchange(&app, address, &code).await.is(200);
    browser.get("/settings/apps").await.is(200).shows("claude.ai");
    browser.get(&path).await.is(200).shows("Olive Owner connected it");
}

async fn a_mistake_of_a_document_sends_nobody_to_its_site(app: TestApp) {
    let address = "https://evil.example/client.json";
    let document = json!({ "client_id": address, "redirect_uris": ["https://evil.example/cb"] });
    let metadata = ClientMetadata::of_document(address, document.to_string().as_bytes()).unwrap();
    app.act(&app.owner, move |tx, cx| {
        oauth_consent::keep_client_document(tx, cx, address, &metadata).map(drop)
    })
    .await;
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("response_type", "x"),
        ("client_id", address),
        ("redirect_uri", "https://evil.example/cb"),
    ];
    browser.get(&format!("/authorize?{}", query(&fields))).await.is(400);
}

async fn on_the_free_plan_nothing_is_connected(app: TestApp) {
    let client = registered(&app).await;
    app.set_plan(Plan::Free).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let path = format!("/authorize?{}", query(&asks(&client, &challenge)));
    browser.get(&path).await.is(403).shows("part of the Pro and Team plans");
}

async fn forms_of_other_sites_let_nobody_in(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let mut fields = asks(&client, &challenge);
    fields.extend([("works", "live"), ("answer", "allow")]);
    browser.post_bare("/authorize", &fields).await.is(403);
    browser.get("/settings/apps").await.is(200).shows("No app is connected");
}
