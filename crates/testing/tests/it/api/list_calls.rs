//! Additions to the API, section 9: what a key called is kept, for itself and for those who look after keys.

use actions::integrations::agent_activity;
use model::people::agent_calls::CallFilter;
use serde_json::{Value, json};
use testing::{DAY, HOUR, TestApp, fields, on_both, texts};

on_both!(
    a_key_reads_its_own_calls_the_latest_first,
    those_who_administer_keys_read_what_was_asked_and_why_it_was_refused,
    secrets_that_were_written_into_a_text_are_not_kept,
    arguments_of_a_private_inbox_are_its_persons_alone,
    calls_and_acts_are_forgotten_after_their_time
);

async fn a_key_reads_its_own_calls_the_latest_first(app: TestApp) {
    let (key, other) = (app.key("read").await, app.key_of(&app.owner, "Other", "read", true).await);
    app.get(&other, "/me").await.is(200);
    app.get(&key, "/me").await.is(200);
    app.advance(HOUR);
    let since = app.iso();
    app.get(&key, "/tags").await.is(200);
    app.post(&key, "/conversations/cnv_0/notes", json!({ "body": "x" })).await.is(403);
    app.app.background.finish().await;
    let calls = app.get(&key, "/calls").await.is(200).json();
    let calls = calls.as_array().unwrap();
    let mut operations = texts(calls, "operation");
    operations.sort_unstable();
    assert_eq!(operations, ["add_note", "list_tags", "me"]);
    assert_eq!(fields(&calls[0]), ["operation", "status", "time"]);
    let refused = calls.iter().find(|call| call["operation"] == "add_note").unwrap();
    assert_eq!(refused["status"], 403);
    let path = format!("/calls?since={since}&key={}", key.id);
    let late = app.get(&key, &path).await.is(200).json();
    assert!(late.as_array().unwrap().iter().all(|call| call["operation"] != "me"), "{late}");
    app.get(&key, &format!("/calls?key={}", other.id)).await.is(404);
    app.get(&key, "/calls?since=then").await.is(400);
}

async fn those_who_administer_keys_read_what_was_asked_and_why_it_was_refused(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Hello" })).await.is(403);
    app.app.background.finish().await;
    let agent = key.id.clone();
    let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        let filter = CallFilter { refused: true, ..CallFilter::default() };
        agent_activity::list_calls(tx, cx, &agent, &filter)
    };
    let calls = app.act(&app.owner, read).await;
    assert_eq!(calls.len(), 1);
    let asked: Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert_eq!(asked, json!({ "body": "Hello", "id": mail.conversation }));
    assert!(calls[0].error.as_deref().unwrap().contains("lacks the scope write"));
    assert_eq!(calls[0].conversation.as_deref(), Some(mail.conversation.as_str()));
}

async fn secrets_that_were_written_into_a_text_are_not_kept(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    for body in ["Her password is hunter2.", "Card 4111 1111 1111 1111", "Nothing secret"] {
        app.on(&key, &mail.conversation, "notes", json!({ "body": body })).await.is(201);
    }
    app.app.background.finish().await;
    let agent = key.id.clone();
    let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        agent_activity::list_calls(tx, cx, &agent, &CallFilter::default())
    };
    let calls = app.act(&app.owner, read).await;
    let mut asked: Vec<String> = calls
        .iter()
        .map(|call| serde_json::from_str::<Value>(&call.arguments).unwrap()["body"].to_string())
        .collect();
    asked.sort_unstable();
    assert_eq!(asked, [r#""Nothing secret""#, r#""[secret]""#, r#""[secret]""#]);
}

async fn arguments_of_a_private_inbox_are_its_persons_alone(app: TestApp) {
    let private = app.private_inbox(&app.owner).await;
    let admin = app.person_with("Ada", base::actor::Role::Admin).await;
    let secret = app.deliver(&private, testing::letter("a@x.example", "Secret", "text")).await;
    let key = app.key("write").await;
    app.on(&key, &secret.conversation, "notes", json!({ "body": "Psst" })).await.is(201);
    app.app.background.finish().await;
    for (person, sees) in [(&app.owner, true), (&admin, false)] {
        let agent = key.id.clone();
        let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            agent_activity::list_calls(tx, cx, &agent, &CallFilter::default())
        };
        let calls = app.act(person, read).await;
        assert_eq!(calls[0].operation, "add_note");
        assert_eq!(calls[0].arguments.contains("Psst"), sees);
        assert_eq!(calls[0].conversation.is_some(), sees);
    }
}

async fn calls_and_acts_are_forgotten_after_their_time(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["x"] })).await.is(200);
    app.app.background.finish().await;
    let count = |table: &'static str| {
        let sql = format!("SELECT count(*) FROM {table}");
        app.act(&app.owner, move |tx, _| {
            let (count,): (i64,) = tx.one(&sql, &[])?;
            Ok(count)
        })
    };
    assert_eq!((count("agent_acts").await, count("agent_calls").await), (1, 1));
    app.pass(30 * DAY + 2 * HOUR).await;
    assert_eq!((count("agent_acts").await, count("agent_calls").await), (0, 1));
    app.pass(60 * DAY + 2 * HOUR).await;
    assert_eq!(count("agent_calls").await, 0);
}
