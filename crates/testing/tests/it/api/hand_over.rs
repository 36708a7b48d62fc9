//! Additions to the API, section 9: handing over to people, typed authors, and undoing what an agent did.

use outbound::agent_undo;
use serde_json::{Value, json};
use testing::{TestApp, letter, nowhere, on_both, text_of, user};

on_both!(
    a_key_of_any_scope_hands_over_to_whoever_takes_it,
    a_handover_names_a_person_or_a_team,
    a_person_who_acts_has_taken_it_over,
    who_wrote_what_is_typed,
    all_that_an_agent_did_since_a_time_is_undone_as_one_act
);

async fn a_key_of_any_scope_hands_over_to_whoever_takes_it(app: TestApp) {
    for scope in ["read", "write", "draft", "send", "record"] {
        let key = app.key(scope).await;
        let mail = app.mail("ann@x.example", scope, "text").await;
        let reason = "The bank account is another one.";
        let body = json!({ "reason": reason });
        let done = app.on(&key, &mail.conversation, "handover", body).await.is(200).json();
        assert_eq!((&done["ok"], &done["assignee"]), (&json!(true), &Value::Null), "{scope}");
        let read = app.read(&key, &mail.conversation).await;
        assert!(read["handedOverAt"].is_string(), "{read}");
        let note = &app.timeline(&key, &mail.conversation, "note").await[0];
        assert_eq!((&note["body"], &note["id"]), (&json!(reason), &done["noteId"]));
        assert_eq!(note["by"]["type"], "agent");
    }
    let key = app.key("read").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    for wrong in [json!({}), json!({ "reason": " " }), json!({ "reason": "x".repeat(501) })] {
        app.on(&key, &mail.conversation, "handover", wrong).await.is(400);
    }
    app.on(&key, &nowhere(), "handover", json!({ "reason": "x" })).await.is(404);
    assert_eq!(app.timeline(&key, &mail.conversation, "note").await.len(), 0);
}

async fn a_handover_names_a_person_or_a_team(app: TestApp) {
    let (key, ines) = (app.key("write").await, app.person("Ines").await);
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    for to in [format!("user:{}", user(&ines)), "ines".into(), "Ines".into()] {
        app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
        let body = json!({ "reason": "Please decide.", "to": to });
        let done = app.on(&key, &mail.conversation, "handover", body).await.is(200).json();
        assert!(done["assignee"]["name"].as_str().unwrap().starts_with("Ines"), "{to}");
        assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
    }
    for to in ["Nobody", "user:usr_0", "tem_0", "agent:agt_0"] {
        let body = json!({ "reason": "Please decide.", "to": to });
        app.on(&key, &mail.conversation, "handover", body).await.is(400);
    }
}

async fn a_person_who_acts_has_taken_it_over(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "handover", json!({ "reason": "x" })).await.is(200);
    // What an agent does afterwards leaves it with people.
    app.on(&key, &mail.conversation, "status", json!({ "status": "waiting" })).await.is(200);
    assert!(app.read(&key, &mail.conversation).await["handedOverAt"].is_string());
    let id = mail.conversation.to_string();
    app.act(&app.owner, move |tx, cx| {
        let mut found = model::conversations::load(tx, cx.actor, &id)?;
        model::conversations::set_status(tx, cx, &mut found, base::states::Status::Closed)
    })
    .await;
    assert_eq!(app.read(&key, &mail.conversation).await.get("handedOverAt"), None);
}

async fn who_wrote_what_is_typed(app: TestApp) {
    let key = app.key("write draft").await;
    let mail = app.mail("ann@x.example Ann", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Seen" })).await.is(201);
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["x"] })).await.is(200);
    app.draft(&key, &mail.conversation, "It left.").await;
    let read = app.read(&key, &mail.conversation).await;
    let items = read["timeline"].as_array().unwrap();
    let by = |kind: &str, nth: usize| {
        items.iter().filter(|item| item["type"] == kind).nth(nth).unwrap()["by"].clone()
    };
    let agent = json!({ "type": "agent", "name": "Robo", "id": key.id });
    assert_eq!(by("message", 0), json!({ "type": "customer", "name": "Ann" }));
    assert_eq!(by("message", 1), agent);
    assert_eq!(by("note", 0), agent);
    assert_eq!(by("event", 0), agent);
    let drafted = items.iter().rfind(|item| item["type"] == "message").unwrap();
    assert_eq!((&drafted["to"], &drafted["cc"]), (&json!(["ann@x.example"]), &json!([])));
}

async fn all_that_an_agent_did_since_a_time_is_undone_as_one_act(app: TestApp) {
    let (key, admin) = (app.key("write draft send").await, app.key("admin").await);
    let first = app.mail("ann@x.example", "First", "text").await;
    let second = app.mail("ann@x.example", "Second", "text").await;
    let third = app.deliver(&app.support, letter("bo@x.example", "Third", "text")).await;
    app.on(&key, &first.conversation, "tags", json!({ "add": ["before"] })).await.is(200);
    app.advance(60_000);
    let since = app.iso();
    app.on(&key, &first.conversation, "tags", json!({ "add": ["after"] })).await.is(200);
    app.on(&key, &first.conversation, "notes", json!({ "body": "zebra" })).await.is(201);
    app.on(&key, &first.conversation, "status", json!({ "status": "closed" })).await.is(200);
    let draft = app.draft(&key, &third.conversation, "A draft").await;
    let leaving = app.schedule(&key, &third.conversation, "It leaves").await;
    let into = json!({ "into": first.conversation });
    app.on(&key, &second.conversation, "merge", into).await.is(200);
    let path = format!("/agents/{}/undo", key.id);
    app.post(&key, &path, json!({ "since": since })).await.is(403);
    let done = app.post(&admin, &path, json!({ "since": since })).await.is(200).json();
    assert_eq!(done["left"], json!([]), "{done}");
    assert_eq!(done["undone"].as_array().unwrap().len(), 6, "{done}");
    assert_eq!(done["more"], false);
    let read = app.read(&key, &first.conversation).await;
    assert_eq!((&read["status"], &read["tags"]), (&json!("open"), &json!(["before"])));
    assert_eq!(app.timeline(&key, &first.conversation, "note").await.len(), 0);
    assert_eq!(app.search_subjects(&key, "zebra").await, [""; 0]);
    assert_eq!(
        text_of(&app.read(&key, &second.conversation).await, "id"),
        second.conversation.to_string()
    );
    let waiting = app.get(&key, "/messages").await.is(200).json();
    assert_eq!(waiting, json!([]), "{draft} {leaving}");
    // What is undone is not undone again.
    let again = app.post(&admin, &path, json!({ "since": since })).await.is(200).json();
    assert_eq!(again, json!({ "undone": [], "left": [], "more": false }));
    let agent = key.id.clone();
    let own = app.act(&app.owner, move |tx, cx| agent_undo::undo_since(tx, cx, &agent, 0)).await;
    assert_eq!(own.undone.len(), 1);
    assert_eq!(app.read(&key, &first.conversation).await["tags"], json!([]));
}
