//! A conversation as an agent saw it: its calls in their order, what there was to read, what it did, what was refused.

use actions::integrations::agent_activity;
use actions::integrations::agent_replay::{self, AgentReplay, ChangedSince, SeenItemKind};
use base::actor::{Actor, Role};
use base::error::Error;
use base::ids::AgentId;
use model::conversations::agent_acts::AgentActKind;
use model::people::agent_calls::CallFilter;
use serde_json::json;
use testing::{HOUR, MINUTE, TestApp, TestKey, letter, on_both};

on_both!(
    a_conversation_is_walked_call_by_call,
    what_was_seen_and_changed_since_says_so,
    a_batch_and_what_the_policy_said_are_told,
    a_conversation_that_one_may_not_see_is_not_replayed,
    calls_are_found_by_their_words
);

async fn replay(
    app: &TestApp,
    by: &Actor,
    agent: &AgentId,
    id: &str,
) -> Result<AgentReplay, Error> {
    app.app.background.finish().await;
    let (agent, id) = (agent.clone(), id.to_owned());
    let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        agent_replay::replay(tx, cx, &agent, &id)
    };
    app.app.read(by, read).await
}

async fn replay_of(app: &TestApp, key: &TestKey, id: &str) -> AgentReplay {
    replay(app, &app.owner, &key.id, id).await.unwrap()
}

async fn a_conversation_is_walked_call_by_call(app: TestApp) {
    let key = app.key("write draft").await;
    let id = app.mail("ann@x.example Ann", "Lamp", "Where is it?").await.conversation.to_string();
    app.advance(MINUTE);
    app.read(&key, &id).await;
    app.advance(MINUTE);
    app.on(&key, &id, "notes", json!({ "body": "She asks for the lamp" })).await.is(201);
    app.advance(MINUTE);
    app.mail("ann@x.example Ann", "Re: Lamp", "Hello?").await;
    app.advance(MINUTE);
    app.read(&key, &id).await;
    app.advance(MINUTE);
    app.draft(&key, &id, "It left today.").await;
    app.advance(MINUTE);
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
    let replay = replay_of(&app, &key, &id).await;
    let operations: Vec<&str> =
        replay.steps.iter().map(|step| step.call.operation.as_str()).collect();
    assert_eq!(
        operations,
        ["get_conversation", "add_note", "get_conversation", "reply", "set_status"]
    );
    let first = replay.steps[0].seen.as_ref().unwrap();
    assert_eq!((first.count, first.new.len()), (1, 1));
    assert_eq!(first.new[0].kind, SeenItemKind::FromCustomer);
    assert_eq!((first.new[0].by.as_str(), first.new[0].text.as_str()), ("Ann", "Where is it?"));
    let second = replay.steps[2].seen.as_ref().unwrap();
    let new: Vec<&str> = second.new.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(new, ["She asks for the lamp", "Hello?"]);
    assert_eq!(replay.steps[1].did[0].kind, AgentActKind::Noted);
    assert_eq!(replay.steps[1].did[0].words, ["She asks for the lamp"]);
    assert_eq!(replay.steps[3].did[0].kind, AgentActKind::Wrote);
    assert_eq!(replay.steps[3].did[0].words, ["It left today."]);
    assert_eq!(replay.steps[4].did[0].words, ["status: open → closed"]);
    assert!(!replay.has_more);
}

async fn what_was_seen_and_changed_since_says_so(app: TestApp) {
    let (key, other) = (app.key("write draft").await, app.key("write draft").await);
    let id = app.mail("ann@x.example Ann", "Lamp", "Where is it?").await.conversation.to_string();
    let draft = app.draft(&other, &id, "It left today.").await;
    app.on(&other, &id, "notes", json!({ "body": "Hide me" })).await.is(201);
    app.advance(MINUTE);
    app.read(&key, &id).await;
    app.advance(HOUR);
    let (agent, since) = (other.id.clone(), app.now() - 2 * HOUR);
    app.act(&app.owner, move |tx, cx| agent_activity::undo_part(tx, cx, &agent, since)).await;
    let replay = replay_of(&app, &key, &id).await;
    let seen = replay.steps[0].seen.as_ref().unwrap();
    let since: Vec<Option<ChangedSince>> = seen.new.iter().map(|item| item.since).collect();
    assert!(since.contains(&Some(ChangedSince::Discarded)), "{since:?} {draft}");
    assert!(since.contains(&Some(ChangedSince::Hidden)), "{since:?}");
    // What is erased takes its calls along.
    let none = replay_of_nothing(&app, &key).await;
    assert!(matches!(none, Error::NotFound(_)), "{none}");
}

async fn replay_of_nothing(app: &TestApp, key: &TestKey) -> Error {
    let unseen = app.mail("bo@x.example", "Chair", "Hi").await.conversation.to_string();
    replay(app, &app.owner, &key.id, &unseen).await.err().expect("nothing to replay")
}

async fn a_batch_and_what_the_policy_said_are_told(app: TestApp) {
    let key = app.agent_key("write draft send").await;
    let id = app.mail("ann@x.example Ann", "Lamp", "Where is it?").await.conversation.to_string();
    app.advance(MINUTE);
    let body = json!({ "body": "It left.", "to": ["eve@evil.example"], "send": true });
    app.on(&key, &id, "replies", body).await.is(201);
    app.advance(MINUTE);
    let batch = json!({ "ids": [id], "addTags": ["lamps"] });
    app.post(&key, "/conversations/batch", batch).await.is(200);
    let replay = replay_of(&app, &key, &id).await;
    let said = replay.steps[0].call.error.clone().unwrap_or_default();
    assert!(said.starts_with("recipients"), "{said}");
    assert_eq!(replay.steps[0].call.status, 201);
    let batch = &replay.steps[1];
    assert_eq!(batch.call.operation, "update_conversations");
    assert_eq!(batch.did[0].words, ["tags: – → lamps"]);
}

async fn a_conversation_that_one_may_not_see_is_not_replayed(app: TestApp) {
    let private = app.private_inbox(&app.owner).await;
    let admin = app.person_with("Ada", Role::Admin).await;
    let member = app.person("Bo").await;
    let key = app.key_of(&app.owner, "Secret agent", "read", true).await;
    let mail = app.deliver(&private, letter("a@x.example", "Secret", "text")).await;
    let id = mail.conversation.to_string();
    app.read(&key, &id).await;
    assert_eq!(replay_of(&app, &key, &id).await.steps.len(), 1);
    let hidden = replay(&app, &admin, &key.id, &id).await.err().unwrap();
    let unknown = replay(&app, &admin, &key.id, "cnv_0").await.err().unwrap();
    assert_eq!(hidden.to_string(), unknown.to_string());
    let team = app.mail("ann@x.example", "Lamp", "Hi").await.conversation.to_string();
    app.read(&key, &team).await;
    let refused = replay(&app, &member, &key.id, &team).await.err().unwrap();
    assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
}

async fn calls_are_found_by_their_words(app: TestApp) {
    let key = app.key("write").await;
    let id = app.mail("ann@x.example Ann", "Lamp", "Where is it?").await.conversation.to_string();
    for body in ["First words", "Second words"] {
        app.on(&key, &id, "notes", json!({ "body": body })).await.is(201);
        app.advance(MINUTE);
    }
    app.post(&key, "/conversations/cnv_0/notes", json!({ "body": "Third words" })).await.is(404);
    app.app.background.finish().await;
    let find = async |words: &str| {
        let (agent, words) = (key.id.clone(), words.to_owned());
        let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let filter = CallFilter { words: words.clone(), ..CallFilter::default() };
            agent_activity::find_calls(tx, cx, &agent, &filter)
        };
        app.app.read(&app.owner, read).await.unwrap().calls.len()
    };
    assert_eq!(find("").await, 3);
    assert_eq!(find("SECOND words").await, 1);
    assert_eq!(find(&id).await, 2);
    assert_eq!(find("no such conversation").await, 1);
    assert_eq!(find("nothing has this").await, 0);
}
