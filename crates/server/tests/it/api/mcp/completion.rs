//! Completion: ids by words, for a key that sees what they name, and never too many.

use base::actor::Role;
use serde_json::{Value, json};

use super::{INVALID_PARAMS, ask, ask_legacy, code, recorded, result};
use crate::api::a_conversation;
use crate::support::{TestApp, TestKey, letter, on_both, text_of};

on_both!(
    conversations_are_found_by_their_subject_their_contact_and_their_id,
    a_key_is_offered_what_it_sees,
    inboxes_answers_and_tools_are_found_by_name,
    a_hundred_values_are_given_at_most,
    what_cannot_be_completed_is_told_in_a_sentence,
    completing_ids_is_kept_among_the_calls_of_the_key
);

fn of_prompt(prompt: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": argument, "value": value },
    })
}

fn of_resource(uri: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/resource", "uri": uri },
        "argument": { "name": argument, "value": value },
    })
}

/// The values for what was typed, and whether there are more.
async fn complete(app: &TestApp, key: &TestKey, params: Value) -> (Vec<String>, bool) {
    let completion = result(app, key, "completion/complete", params).await["completion"].clone();
    let values = completion["values"].as_array().unwrap().iter();
    let values = values.map(|value| value.as_str().unwrap().to_owned()).collect();
    (values, completion["hasMore"].as_bool().unwrap())
}

async fn conversations_are_found_by_their_subject_their_contact_and_their_id(app: TestApp) {
    let key = app.key("read write").await;
    let mail = app.mail("bruno@keller.example Bruno", "Broken lamp", "Hello").await;
    let lamp = mail.conversation.to_string();
    let mail = app.mail("carla@haus.example Carla", "Parcel", "Hello").await;
    let parcel = mail.conversation.to_string();
    app.on(&key, &parcel, "status", json!({ "status": "closed" })).await.is(200);
    for (typed, found) in [
        ("broken la", &lamp),
        ("keller", &lamp),
        ("carla", &parcel),
        (parcel.as_str(), &parcel),
        ("", &lamp),
    ] {
        for params in [
            of_prompt("answer", "conversation", typed),
            of_prompt("summary", "conversation", typed),
            of_resource("mailroom://conversations/{id}", "id", typed),
        ] {
            let expected = (vec![found.clone()], false);
            assert_eq!(complete(&app, &key, params).await, expected, "{typed}");
        }
    }
    let all = complete(&app, &key, of_prompt("answer", "conversation", "cnv_")).await;
    assert_eq!(all.0.len(), 2);
    let none = complete(&app, &key, of_prompt("answer", "conversation", "zebra")).await;
    assert_eq!(none, (Vec::new(), false));
}

async fn a_key_is_offered_what_it_sees(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    app.deliver(&inbox, letter("bruno@keller.example", "Secret lamp", "Hello")).await;
    app.answer(
        "Lamps",
        "We repair the lamps that you have bought from us, and send them back to you.",
    )
    .await;
    let (key, test_key) = (app.key("read").await, app.test_key("read").await);
    for typed in ["lamp", "", "cnv_"] {
        let params = of_prompt("summary", "conversation", typed);
        assert_eq!(complete(&app, &key, params).await.0, Vec::<String>::new(), "{typed}");
    }
    let boxes = complete(&app, &key, of_prompt("triage", "mailbox", "private")).await;
    assert_eq!(boxes.0, Vec::<String>::new());
    let answers = of_resource("mailroom://answers/{id}", "id", "lamps");
    assert_eq!(complete(&app, &test_key, answers.clone()).await.0, Vec::<String>::new());
    assert_eq!(complete(&app, &key, answers).await.0.len(), 1);
}

async fn inboxes_answers_and_tools_are_found_by_name(app: TestApp) {
    let key = app.key("read").await;
    let support = app.support.id.to_string();
    let address = app.support.address.to_string();
    for typed in [address.as_str(), support.as_str()] {
        let boxes = complete(&app, &key, of_prompt("triage", "mailbox", typed)).await;
        assert_eq!(boxes, (vec![support.clone()], false), "{typed}");
    }
    let fee = app.answer("Fee taken twice", "When a fee is taken twice, the second debit goes back to the account that it came from.").await.to_string();
    app.answer(
        "Opening hours",
        "We are open from nine to five on every day of the week but Sunday.",
    )
    .await;
    let answers = |typed: &str| of_resource("mailroom://answers/{id}", "id", typed);
    let (found, _) = complete(&app, &key, answers("fee taken twice")).await;
    assert_eq!(found.first(), Some(&fee));
    assert_eq!(complete(&app, &key, answers(&fee)).await, (vec![fee.clone()], false));
    let tools = |typed: &str| of_resource("mailroom://help/{tool}", "tool", typed);
    assert_eq!(complete(&app, &key, tools("answers")).await.0, ["search_answers"]);
    // What a key may not use is not offered.
    assert_eq!(complete(&app, &key, tools("repl")).await.0, Vec::<String>::new());
    let drafting = app.key("draft").await;
    assert_eq!(complete(&app, &drafting, tools("repl")).await.0, ["reply"]);
    let limits = complete(&app, &key, of_prompt("triage", "limit", "1")).await;
    assert_eq!(limits, (Vec::new(), false));
}

async fn a_hundred_values_are_given_at_most(app: TestApp) {
    let key = app.key("read").await;
    let mails =
        (0..101).map(|n| letter(&format!("c{n}@keller.example"), &format!("Lamp {n}"), "x"));
    app.deliver_all(&app.support, mails.collect()).await;
    for typed in ["", "cnv_", "lamp"] {
        let params = of_prompt("answer", "conversation", typed);
        let (values, has_more) = complete(&app, &key, params).await;
        assert!(has_more && (1..=100).contains(&values.len()), "{typed} {}", values.len());
    }
    // What is longer than a search may be is cut, not refused.
    let long = "lamp ".repeat(1_000);
    complete(&app, &key, of_prompt("answer", "conversation", &long)).await;
}

async fn what_cannot_be_completed_is_told_in_a_sentence(app: TestApp) {
    let key = app.key("read").await;
    for params in [
        json!({}),
        json!({ "ref": { "type": "ref/prompt", "name": "answer" } }),
        json!({ "argument": { "name": "conversation", "value": "" } }),
        json!({ "ref": "answer", "argument": { "name": "conversation", "value": "" } }),
        json!({ "ref": { "type": "ref/prompt" }, "argument": { "name": "x", "value": "" } }),
        json!({
            "ref": { "type": "ref/prompt", "name": "answer" },
            "argument": { "name": "conversation", "value": 1 },
        }),
        of_prompt("no_such_prompt", "conversation", ""),
        of_prompt("answer", "no_such_argument", ""),
        of_resource("mailroom://policy", "id", ""),
        of_resource("mailroom://conversations/{id}", "tool", ""),
    ] {
        let modern = ask(&app, &key, "completion/complete", params.clone()).await.is(400);
        let legacy = ask_legacy(&app, &key, "completion/complete", params.clone()).await.is(200);
        for answer in [modern, legacy] {
            assert_eq!(code(&answer), INVALID_PARAMS, "{params}");
            assert!(text_of(&answer.json()["error"], "message").len() > 20, "{params}");
        }
    }
}

async fn completing_ids_is_kept_among_the_calls_of_the_key(app: TestApp) {
    let key = app.key("read").await;
    a_conversation(&app).await;
    complete(&app, &key, of_prompt("answer", "conversation", "lamp")).await;
    complete(&app, &key, of_prompt("triage", "mailbox", "")).await;
    assert_eq!(recorded(&app, &key).await, ["list_conversations", "list_mailboxes"]);
}
