//! The developer site: every page, every link, every example, and the console.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use inbox::RateStatus;
use inbox::actions;
use inbox::api::operations::OPERATIONS;
use inbox::base::scopes::Scope;
use inbox::model::events::EVENTS;
use inbox::model::webhook_signing::{Signed, is_genuine};
use serde_json::{Value, json};

use crate::api::ALL;
use crate::support::{TestApp, TestKey, file, letter, on_both, request, text_of};

on_both!(
    every_page_is_small_and_plain_and_every_link_leads_somewhere,
    every_example_runs_and_answers_as_shown,
    the_console_runs_in_the_sandbox_and_the_catcher_signs_what_it_shows,
    a_program_catches_signed_events_with_a_test_key
);

const PAGE_BYTES: usize = 60 * 1024;

fn links(html: &str) -> Vec<String> {
    let values = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let own = values.filter(|link| link.starts_with('/') && !link.starts_with("//"));
    own.map(|link| link.split('#').next().unwrap().replace("&amp;", "&")).collect()
}

async fn every_page_is_small_and_plain_and_every_link_leads_somewhere(app: TestApp) {
    let browser = app.browser();
    let (mut waiting, mut seen) = (vec!["/developers".to_owned()], BTreeSet::new());
    while let Some(path) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = browser.get(&path).await;
        assert!(page.status < 400, "{path}: {}", page.status);
        let is_page = path.starts_with("/developers")
            && page.answer.header("content-type").starts_with("text/html");
        if !is_page {
            continue;
        }
        let text = &page.text;
        assert!(text.len() < PAGE_BYTES, "{path} has {} bytes", text.len());
        for forbidden in ["<script", " style=", " onclick", "{address}", "{events}", "{rate}"] {
            assert!(!text.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(text.matches("<h1>").count(), 1, "{path}");
        waiting.extend(links(text));
        if path.starts_with("/developers/search") || path.contains('?') {
            continue;
        }
        let twin = browser.get(&format!("{path}.md")).await.is(200);
        assert!(twin.answer.header("content-type").starts_with("text/markdown"), "{path}");
        assert!(twin.text.starts_with("# "), "{path}");
        if !["/developers/console", "/developers/catcher"].contains(&path.as_str()) {
            let asked = Request::get(&path).header("accept", "text/markdown");
            let asked = browser.send(asked, Body::empty()).await.is(200);
            assert_eq!(asked.text, twin.text, "{path}");
        }
    }
    for operation in OPERATIONS {
        assert!(seen.contains(&format!("/developers/reference/{}", operation.name)));
        if let Some(tool) = &operation.tool {
            assert!(seen.contains(&format!("/developers/tools/{}", tool.name)), "{}", tool.name);
        }
    }
    for event in EVENTS {
        assert!(seen.contains(&format!("/developers/events/{}", event.name)), "{}", event.name);
    }
    programs_find_every_page(&app, &seen).await;
}

/// What `/llms.txt` lists is there, and it lists every page.
async fn programs_find_every_page(app: &TestApp, seen: &BTreeSet<String>) {
    let browser = app.browser();
    let list = browser.get("/llms.txt").await.is(200).text;
    let whole = browser.get("/llms-full.txt").await.is(200).text;
    let listed: BTreeSet<String> = list
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(".md)").next())
        .map(|url| url.strip_prefix(crate::support::PUBLIC_URL).expect("our address").to_owned())
        .collect();
    let pages = seen.iter().filter(|path| {
        path.starts_with("/developers")
            && !path.ends_with(".md")
            && !path.contains('?')
            && !path.starts_with("/developers/clients/")
    });
    for page in pages {
        assert!(listed.contains(page), "{page} is not in llms.txt");
        if page != "/developers/changelog" {
            assert!(whole.contains(&format!("Source: {}{page}\n", crate::support::PUBLIC_URL)));
        }
    }
    let found = browser.get("/developers/search?q=idempotency+reply").await.is(200);
    assert!(found.text.contains("/developers/reference/reply"));
    let none = browser.get("/developers/search?q=xyzzy").await.is(200);
    assert!(none.text.contains("Nothing here has all of these words"));
    let sentences = browser.get("/developers/errors.md").await.is(200).text;
    let rate = RateStatus { limit: 120, remaining: 0, resets_in: 1, over: true };
    for error in [
        inbox::Error::Unauthorized,
        inbox::Error::KeyReused,
        inbox::Error::NotFound("conversation"),
        inbox::Error::Lacks { scope: Scope::Send, entirely: true },
        inbox::Error::TooMany(rate),
        inbox::Error::Files(std::io::Error::other("")),
    ] {
        assert!(sentences.contains(&error.to_string()), "{error}");
        assert!(sentences.contains(&format!("| {} |", error.status())), "{error}");
    }
}

/// A request that a page shows with curl, and the answer shown after it.
struct Example {
    path: String,
    body: Option<Value>,
    shown: Option<Value>,
}

fn examples(markdown: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    for block in markdown.split("```").skip(1).step_by(2) {
        let (info, text) = block.split_once('\n').expect("a block has a first line");
        if info.starts_with("sh ") {
            let url = text.split('"').nth(1).expect("an address");
            // What follows in the events has the address that the header named.
            let path = match url.strip_prefix(crate::support::PUBLIC_URL) {
                Some(page) => page,
                None if url == "$NEXT" => "/events",
                None => &url["$MAILROOM".len()..],
            };
            let path = path.to_owned();
            let body = text.split_once("-d '").map(|(_, rest)| {
                let rest = rest.split(" | tee").next().unwrap_or_default();
                serde_json::from_str(rest.trim_end().trim_end_matches('\'')).expect("JSON")
            });
            found.push(Example { path, body, shown: None });
        } else if info.starts_with("json Answer") {
            let example = found.last_mut().expect("a request before its answer");
            example.shown = Some(serde_json::from_str(text).expect("JSON"));
        }
    }
    found
}

/// The things of a sandbox that examples name.
async fn real_id(app: &TestApp, key: &TestKey, path: &str) -> Option<String> {
    if let Some(address) = path.strip_prefix("/contacts/") {
        app.simulated(key, "mara@customer.test").await;
        return Some(path.replace(address, "mara@customer.test"));
    }
    let parts: Vec<&str> = path.split(['/', '?']).collect();
    let id = parts.iter().find(|part| part.contains("_01k") || **part == "$CONVERSATION")?;
    let conversation = app.simulated(key, "mara@customer.test").await;
    let made = match (&id[..4], *parts.last().unwrap()) {
        ("cnv_", "split") => {
            app.deliver(&app.sandbox, letter("mara@keller.test", "Two", "One matter.")).await;
            let second = letter("mara@keller.test", "Two", "Another.");
            app.deliver(&app.sandbox, second).await.conversation.to_string()
        }
        ("cnv_" | "$CON", _) => conversation,
        ("doc_", _) => {
            let mut mail = letter("ann@keller.test", "Paper", "Here.");
            mail.attachments = vec![file("a.txt", b"Total 12.00 EUR")];
            app.deliver(&app.sandbox, mail).await;
            let found = app.get(key, "/documents").await.is(200).json();
            text_of(&found[0], "id")
        }
        ("msg_", "revoke") => {
            let body = json!({ "body": "It is private.", "secure": true, "send": true });
            let sent = app.on(key, &conversation, "replies", body).await.is(201).json();
            let message = text_of(&sent, "messageId");
            app.mark_sent(&app.sandbox, &message).await;
            message
        }
        ("msg_", "stop") => {
            let body = json!({ "body": "On its way.", "send": true });
            let sent = app.on(key, &conversation, "replies", body).await.is(201).json();
            text_of(&sent, "messageId")
        }
        ("msg_", _) => app.draft(key, &conversation, "It left.").await,
        ("bkt_", _) => sandbox_type(app, key).await,
        ("bkg_", _) => {
            let body = json!({ "typeId": "", "startsAt": "", "name": "Mara", "email": "mara@keller.test" });
            let body = with_real_things(app, key, body).await;
            text_of(&app.post(key, "/bookings", body).await.is(201).json(), "id")
        }
        (other, _) => panic!("an id that no example has: {other}"),
    };
    Some(path.replace(*id, &made))
}

async fn every_example_runs_and_answers_as_shown(app: TestApp) {
    let key = app.test_key(ALL).await;
    app.act(&app.owner, |tx, cx| actions::add_topic(tx, cx, "Refunds", "").map(drop)).await;
    let browser = app.browser();
    let list = browser.get("/llms.txt").await.is(200).text;
    let pages = list.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut run = 0;
    for page in pages {
        let path = page.strip_prefix(crate::support::PUBLIC_URL).unwrap();
        for example in examples(&browser.get(path).await.is(200).text) {
            let at = real_id(&app, &key, &example.path).await.unwrap_or(example.path);
            let method = if example.body.is_some() { "POST" } else { "GET" };
            let body = match example.body {
                Some(body) => {
                    let mut body = with_real_things(&app, &key, body).await;
                    if let Some(conversation) = at.strip_suffix("/split") {
                        let read = app.get(&key, conversation).await.is(200).json();
                        body["messageId"] = read["timeline"][0]["id"].clone();
                    }
                    Some(body)
                }
                None => None,
            };
            let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
            app.settled().await;
            let answer = if at.starts_with("/developers/") {
                let key = format!("Bearer {}", key.key);
                app.send(Request::get(&at).header("authorization", key).body(body).unwrap()).await
            } else {
                app.send(request(method, &at, Some(&key.key), body)).await
            };
            assert!(answer.status < 300, "{path} {at}: {} {}", answer.status, answer.error());
            if let Some(shown) = example.shown {
                same_shape(&shown, &answer.json(), path);
            }
            run += 1;
        }
        app.advance(60_000);
    }
    assert!(run > OPERATIONS.len(), "{run}");
}

async fn sandbox_type(app: &TestApp, key: &TestKey) -> String {
    let types = app.get(key, "/booking-types").await.is(200).json();
    text_of(&types[0], "id")
}

/// A body that names an inbox, a type of booking, a free time and a conversation that there are.
async fn with_real_things(app: &TestApp, key: &TestKey, mut body: Value) -> Value {
    if body["mailbox"].is_string() {
        body["mailbox"] = json!(app.sandbox.id.to_string());
    }
    let kind = sandbox_type(app, key).await;
    if body["startsAt"].is_string() {
        let free = app.get(key, &format!("/booking-types/{kind}/slots")).await.is(200).json();
        body["startsAt"] = free[0]["startsAt"].clone();
    }
    for name in ["typeId", "conversationId"] {
        if body[name].is_string() {
            body[name] = match name {
                "typeId" => json!(kind),
                _ => json!(app.simulated(key, "mara@customer.test").await),
            };
        }
    }
    if body["into"].is_string() {
        body["into"] = json!(app.simulated(key, "noor@customer.test").await);
    }
    body
}

/// Holds that every name of the shown answer is in the real one, with a value of its kind.
fn same_shape(shown: &Value, real: &Value, at: &str) {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            for (name, value) in shown {
                let found =
                    real.get(name).unwrap_or_else(|| panic!("{at}: {name} is not in {real:?}"));
                same_shape(value, found, &format!("{at}.{name}"));
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            if let (Some(one), Some(other)) = (shown.first(), real.first()) {
                // Items of a timeline, events and the fields of documents are of several kinds.
                if one["type"] == other["type"] {
                    same_shape(one, other, at);
                }
            }
        }
        (shown, real) => {
            let kind = |value: &Value| match value {
                Value::Null => 0,
                Value::Bool(_) => 1,
                Value::Number(_) => 2,
                Value::String(_) => 3,
                Value::Array(_) => 4,
                Value::Object(_) => 5,
            };
            let fits = shown.is_null() || real.is_null() || kind(shown) == kind(real);
            assert!(fits, "{at}: {shown} is shown, {real} is answered");
        }
    }
}

async fn the_console_runs_in_the_sandbox_and_the_catcher_signs_what_it_shows(app: TestApp) {
    let stranger = app.browser();
    let told = stranger.get("/developers/console").await.is(200);
    assert!(told.text.contains("/sign-in?next=/developers/console"));
    assert!(stranger.post_bare("/developers/console", &[("op", "me")]).await.status != 200);

    let member = app.person("Mia").await;
    let browser = app.signed_in(&member).await;
    browser.get("/developers/console?op=nothing").await.is(404);
    let form =
        [("op", "sandbox_inbound"), ("f.from", "mara@customer.test"), ("f.text", "Hello <b>")];
    let page = browser.post("/developers/console", &form).await.is(200);
    assert!(page.text.contains("201") && page.text.contains("cnv_"), "{}", page.text);
    assert!(page.text.contains("as Console · Mia"), "{}", page.text);
    assert!(page.text.contains("$MAILROOM/sandbox/inbound"));
    assert!(!page.text.contains("rk_test_") && !page.text.contains("<b>\""), "no key, no markup");

    let live = app.mail("bruno@keller.example", "Lamp", "Secret lamp").await.conversation;
    let look = [("op", "get_conversation"), ("id", live.as_str())];
    let hidden = browser.post("/developers/console", &look).await.is(200);
    assert!(hidden.text.contains("404") && !hidden.text.contains("Secret lamp"));
    let prefilled = browser.get("/developers/console?op=reply").await.is(200);
    assert!(prefilled.text.contains("value=\"cnv_"), "{}", prefilled.text);
    let wrong = [("op", "reply"), ("id", "cnv_1"), ("f.send", "true"), ("more", "[")];
    let wrong = browser.post("/developers/console", &wrong).await.is(200);
    assert!(wrong.text.contains("must be a JSON object"));
    browser.post("/developers/key", &[]).await.is(403);

    let caught = browser.get("/developers/catcher").await.is(200);
    let secret = caught.between("<code>whsec_", "</code>").to_owned();
    let header = |name: &str| caught.between(&format!("{name}: "), "\n").trim().to_owned();
    let (id, stamp) = (header("webhook-id"), header("webhook-timestamp"));
    let signatures = header("webhook-signature");
    let body = caught.between("class=\"g-bytes\">", "</code>").replace("&#34;", "\"");
    let body = body.replace("&quot;", "\"").replace("&#39;", "'");
    let call =
        Signed { id: &id, timestamp: &stamp, signatures: &signatures, body: body.as_bytes() };
    assert!(is_genuine(&call, &format!("whsec_{secret}"), app.now()), "{body}");
    assert!(body.contains("\"livemode\":false"), "{body}");

    let owner = app.signed_in(&app.owner).await;
    let made = owner.post("/developers/key", &[]).await.is(200);
    let key = made.between("MAILROOM_KEY=", "<").trim().to_owned();
    let me = app.send(request("GET", "/me", Some(&key), Body::empty())).await.is(200).json();
    assert_eq!(me["livemode"], false);
}

async fn a_program_catches_signed_events_with_a_test_key(app: TestApp) {
    let key = app.test_key("read").await;
    app.simulated(&app.test_key(ALL).await, "mara@customer.test").await;
    let ask = async |key: &str| {
        let request = Request::get("/developers/catcher.json").header("authorization", key);
        app.send(request.body(Body::empty()).unwrap()).await
    };
    let caught = ask(&format!("Bearer {}", key.key)).await.is(200).json();
    let secret = text_of(&caught, "secret");
    let event = &caught["events"][0];
    let header = |name: &str| event["headers"][name].as_str().unwrap().to_owned();
    let body = text_of(event, "body");
    let call = Signed {
        id: &header("webhook-id"),
        timestamp: &header("webhook-timestamp"),
        signatures: &header("webhook-signature"),
        body: body.as_bytes(),
    };
    assert!(is_genuine(&call, &secret, app.now()), "{caught}");
    assert!(body.contains("\"livemode\":false"), "{body}");

    let live = app.key("read").await;
    ask(&format!("Bearer {}", live.key)).await.is(403);
    ask("Bearer rk_test_0000").await.is(401);
    ask("").await.is(401);
}
