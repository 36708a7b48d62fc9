//! `include=original` through the tool.

use serde_json::{Value, json};

use super::{body_of, call};
use crate::support::{TestApp, on_both};

on_both!(the_tool_takes_the_same_argument_and_gives_the_same_bytes);

const QUOTING: &str = "From: Bruno <bruno@keller.example>\r\nSubject: Re: Lamp\r\n\
    Message-ID: <quoting@keller.example>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
    It glows blüe now.\r\n\r\n\
    On Mon, 9 Nov 2026 at 10:00, Support <support@acme.example> wrote:\r\n\
    > Which colour is it?\r\n";

async fn the_tool_takes_the_same_argument_and_gives_the_same_bytes(app: TestApp) {
    let key = app.key("read").await;
    let id = app.arrives(QUOTING).await.conversation.to_string();
    let rest = app.get(&key, &format!("/conversations/{id}?include=original")).await.is(200);
    let arguments = json!({ "id": id, "include": "original" });
    let tool = call(&app, &key, "get_conversation", arguments).await.json();
    let whole = body_of("get_conversation", &tool["result"]);
    assert_eq!(whole.to_string().as_bytes(), rest.bytes);
    let text = tool["result"]["content"][0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    assert_eq!(text["timeline"][0]["original"], whole["timeline"][0]["original"]);
    let wrong = json!({ "id": id, "include": "everything" });
    let tool = call(&app, &key, "get_conversation", wrong).await.json();
    assert_eq!(tool["result"]["isError"], true);
    let wrong = app.get(&key, &format!("/conversations/{id}?include=everything")).await;
    assert_eq!(wrong.is(400).error(), "include: must be one of original");
}
