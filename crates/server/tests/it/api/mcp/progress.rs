//! Long calls that tell how far they are and can be cancelled, and drafts that lead a person to their page.

use std::sync::Arc;

use base::concurrency::call_progress::CallProgress;
use serde_json::{Value, json};

use super::{MODERN, ask, call, modern, post, result};
use crate::api::ALL;
use crate::support::{Answer, PUBLIC_URL, TestApp, TestKey, on_both, text_of};

on_both!(
    a_long_call_tells_its_progress_and_then_its_result,
    only_who_asks_for_progress_and_reads_events_gets_a_stream,
    a_cancelled_call_changes_nothing,
    a_message_that_became_a_draft_leads_a_person_to_its_page,
    the_page_of_a_draft_is_for_clients_that_show_pages
);

const TOKEN: &str = "progressToken";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Calls a tool with these members of `_meta` and of the parameters.
async fn call_with(
    app: &TestApp,
    key: &TestKey,
    (tool, arguments): (&str, Value),
    (meta, more): (Value, Value),
) -> Answer {
    let mut message = modern("tools/call", json!({ "name": tool, "arguments": arguments }));
    for (name, value) in meta.as_object().unwrap() {
        message["params"]["_meta"][name] = value.clone();
    }
    for (name, value) in more.as_object().unwrap() {
        message["params"][name] = value.clone();
    }
    let headers =
        [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)];
    app.send(post(Some(&key.key), &headers, message.to_string())).await
}

/// The messages of a stream of events.
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

async fn conversations(app: &TestApp) -> Vec<String> {
    let mut ids = Vec::new();
    for place in 0..4 {
        let from = format!("c{place}@keller.example");
        ids.push(app.mail(&from, &format!("Lamp {place}"), "Hello").await.conversation.to_string());
    }
    ids
}

async fn a_long_call_tells_its_progress_and_then_its_result(app: TestApp) {
    let key = app.key("read write").await;
    let ids = conversations(&app).await;
    let closes = ("update_conversations", json!({ "ids": ids, "status": "closed" }));
    let answer = call_with(&app, &key, closes, (json!({ TOKEN: "t1" }), json!({}))).await.is(200);
    let events = events(&answer);
    let (last, news) = events.split_last().unwrap();
    assert!(!news.is_empty(), "{events:?}");
    let mut before = 0;
    for one in news {
        assert_eq!(one["method"], "notifications/progress");
        assert_eq!((&one["params"][TOKEN], &one["params"]["total"]), (&json!("t1"), &json!(5)));
        let progress = one["params"]["progress"].as_i64().unwrap();
        assert!(progress > before, "{events:?}");
        before = progress;
    }
    assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(7), &json!(false)));
    for id in ids {
        assert_eq!(app.read(&key, &id).await["status"], "closed");
    }
}

async fn only_who_asks_for_progress_and_reads_events_gets_a_stream(app: TestApp) {
    let key = app.key("read write").await;
    let ids = conversations(&app).await;
    let closes = || ("update_conversations", json!({ "ids": ids, "status": "closed" }));
    for meta in [json!({}), json!({ TOKEN: 1.5 }), json!({ TOKEN: null })] {
        let answer = call_with(&app, &key, closes(), (meta, json!({}))).await.is(200);
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let mut message = modern("tools/call", json!({ "name": closes().0, "arguments": closes().1 }));
    message["params"]["_meta"][TOKEN] = json!("t1");
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "update_conversations"),
    ];
    let mut request = post(Some(&key.key), &headers, message.to_string());
    request.headers_mut().insert("accept", "application/json".parse().unwrap());
    let answer = app.send(request).await.is(200);
    assert_eq!(answer.header("content-type"), "application/json");
    // What is refused before anything is done has its own status and headers.
    let reader = app.key("read").await;
    let refused = call_with(&app, &reader, closes(), (json!({ TOKEN: "t1" }), json!({}))).await;
    assert_eq!(refused.is(200).json()["result"]["isError"], true);
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][TOKEN] = json!("t1");
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    let listed = app.send(post(Some(&key.key), &headers, message.to_string())).await.is(200);
    assert_eq!(listed.header("content-type"), "application/json");
}

async fn a_cancelled_call_changes_nothing(app: TestApp) {
    let key = app.key("read write").await;
    let ids = conversations(&app).await;
    let progress = Arc::new(CallProgress::default());
    progress.cancel();
    let arguments = json!({ "ids": ids, "status": "closed" });
    let cancelled = call(&app, &key, "update_conversations", arguments);
    let answer = progress.follow(cancelled).await.is(200).json();
    assert_eq!(answer["result"]["isError"], true);
    let sentence = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(sentence.contains("was cancelled"), "{sentence}");
    for id in ids {
        assert_eq!(app.read(&key, &id).await["status"], "open");
    }
    // A notification about a call that is over, or that was never made, is taken and changes nothing.
    let mut message = modern("notifications/cancelled", json!({ "requestId": 7 }));
    message.as_object_mut().unwrap().remove("id");
    let headers = [("mcp-protocol-version", MODERN)];
    app.send(post(Some(&key.key), &headers, message.to_string())).await.is(202);
}

async fn a_message_that_became_a_draft_leads_a_person_to_its_page(app: TestApp) {
    let key = app.agent_key("read draft send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let id = mail.conversation.to_string();
    let arguments =
        json!({ "id": id, "body": "They left.", "to": ["eve@evil.example"], "send": true });
    let reply = || ("reply", arguments.clone());
    // A client that opens no addresses gets the draft.
    let plain = call_with(&app, &key, reply(), (json!({}), json!({}))).await.is(200).json();
    assert_eq!(plain["result"]["structuredContent"]["status"], "draft", "{plain}");
    assert_eq!(plain["result"]["resultType"], "complete");

    let opens = json!({ CAPABILITIES: { "elicitation": { "url": {} } } });
    let asked = call_with(&app, &key, reply(), (opens.clone(), json!({}))).await.is(200).json();
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let question = &result["inputRequests"]["approval"];
    assert_eq!(
        (&question["method"], &question["params"]["mode"]),
        (&json!("elicitation/create"), &json!("url"))
    );
    let draft = text_of(&question["params"], "elicitationId");
    assert_eq!(question["params"]["url"], format!("{PUBLIC_URL}/approvals/{draft}"));
    let drafts = app.count("messages WHERE status = 'draft'").await;
    // Whatever the client answers, only the person's own page approves.
    for action in ["accept", "decline", "cancel"] {
        let again = json!({
            "requestState": result["requestState"],
            "inputResponses": { "approval": { "action": action } },
        });
        let answer = call_with(&app, &key, reply(), (opens.clone(), again)).await.is(200).json();
        let sentence = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(sentence.contains("waits for a person"), "{sentence}");
    }
    assert_eq!(app.count("messages WHERE status = 'draft'").await, drafts);
    let owner = app.owner.clone();
    app.approve(&owner, &json!({ "id": draft, "text": "They left." }), None).await;
    let again = json!({
        "requestState": result["requestState"],
        "inputResponses": { "approval": { "action": "accept" } },
    });
    let answer = call_with(&app, &key, reply(), (opens, again)).await.is(200).json();
    let sentence = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(sentence.contains("A person approved"), "{sentence}");
}

async fn the_page_of_a_draft_is_for_clients_that_show_pages(app: TestApp) {
    let key = app.key(ALL).await;
    let uri = "ui://mailroom/draft";
    let read = result(&app, &key, "resources/read", json!({ "uri": uri })).await;
    let page = &read["contents"][0];
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    let text = page["text"].as_str().unwrap();
    assert!(text.contains(&format!("{PUBLIC_URL}/approvals/")), "{text}");
    let listed = ask(&app, &key, "tools/list", json!({})).await.is(200);
    assert!(!String::from_utf8_lossy(&listed.bytes).contains("ui://"));
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][CAPABILITIES] = json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": [page["mimeType"]] } } });
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    let listed = app.send(post(Some(&key.key), &headers, message.to_string())).await.is(200).json();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let with_page: Vec<&Value> =
        tools.iter().filter(|tool| tool["_meta"]["ui"]["resourceUri"] == uri).collect();
    assert_eq!(with_page.len(), 2);
    assert!(with_page.iter().any(|tool| tool["name"] == "reply"));
}
