//! Undoing what agents did where somebody has gone on with it or a policy stands against it, and stopping
//! all that they are about to send.

use actions::writing::{approvals, drafts};
use api::operations::{self, ReplyInput};
use base::ids::MessageId;
use base::states::Status;
use model::conversations::{self, notes};
use model::messages::recipients::{Party, RecipientList};
use outbound::agent_undo::{self, AgentUndo};
use serde_json::json;
use testing::{MINUTE, TestApp, TestKey, letter, on_both, text_of};

on_both!(
    what_a_policy_refuses_is_left_for_people_and_the_rest_is_undone,
    a_status_that_somebody_decided_since_stays,
    what_was_split_off_stays_where_somebody_has_gone_on_with_it,
    what_was_merged_stays_where_somebody_has_gone_on_with_it,
    a_draft_that_a_person_changed_is_left,
    a_message_that_its_agent_stopped_itself_stays_a_draft_for_nobody,
    stopping_all_of_agents_finds_every_message_and_nothing_of_people
);

/// As the owner does it, a while later.
async fn undo_all(app: &TestApp, key: &TestKey) -> AgentUndo {
    app.advance(MINUTE);
    let agent = key.id.clone();
    app.act(&app.owner, move |tx, cx| agent_undo::undo_since(tx, cx, &agent, 0)).await
}

async fn note_by_owner(app: &TestApp, id: &str) {
    let id = id.to_owned();
    app.act(&app.owner, move |tx, cx| {
        let found = conversations::load(tx, cx.actor, &id)?;
        notes::add(tx, cx, &found, "I called them.").map(drop)
    })
    .await;
}

async fn what_a_policy_refuses_is_left_for_people_and_the_rest_is_undone(app: TestApp) {
    let key = app.agent_key("write").await;
    let one = app.mail("ann@x.example", "One", "text").await.conversation.to_string();
    let two = app.mail("bo@x.example", "Two", "text").await.conversation.to_string();
    let batch = json!({ "ids": [one, two], "addTags": ["x"] });
    let done = app.post(&key, "/conversations/batch", batch).await.is(200).json();
    app.exec(&format!("UPDATE conversations SET risk = 'phishing' WHERE id = '{one}'")).await;
    let undo = format!("/undo/{}", text_of(&done, "undoId"));
    let undone = app.post(&key, &undo, json!({})).await.is(200).json();
    assert_eq!(undone["undone"], json!([two]), "{undone}");
    assert_eq!(undone["left"][0]["id"], json!(one), "{undone}");
    assert!(text_of(&undone["left"][0], "error").len() > 20, "{undone}");
    let rest = undo_all(&app, &key).await;
    assert_eq!((rest.undone.len(), rest.left.len()), (1, 0));
    assert_eq!(app.read(&key, &one).await["tags"], json!([]));
}

async fn a_status_that_somebody_decided_since_stays(app: TestApp) {
    let key = app.key("write").await;
    let mut ids = Vec::new();
    for who in ["ann", "bo", "cy"] {
        let mail = app.mail(&format!("{who}@x.example"), who, "text").await;
        app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
        ids.push(mail.conversation.to_string());
    }
    app.advance(MINUTE);
    let decided = ids[0].clone();
    app.act(&app.owner, move |tx, cx| {
        for status in [Status::Open, Status::Closed] {
            let mut found = conversations::load(tx, cx.actor, &decided)?;
            conversations::set_status(tx, cx, &mut found, status)?;
        }
        Ok(())
    })
    .await;
    note_by_owner(&app, &ids[1]).await;
    let outcome = undo_all(&app, &key).await;
    assert_eq!((outcome.undone.len(), outcome.left.len()), (1, 2));
    assert!(outcome.left.iter().all(|step| step.reason.contains("status")));
    for (id, status) in ids.iter().zip(["closed", "closed", "open"]) {
        assert_eq!(app.read(&key, id).await["status"], status);
    }
}

/// The conversation of the second mail of a customer, which the key has split off.
async fn split_off(app: &TestApp, key: &TestKey, who: &str) -> String {
    let from = format!("{who}@x.example");
    let mut first = letter(&from, "Lamp", "text");
    first.message_id = Some(format!("{who}.first@x.example"));
    app.deliver(&app.support, first).await;
    app.advance(MINUTE);
    let mut second = letter(&from, "Odd", "more");
    second.message_id = Some(format!("{who}.second@x.example"));
    second.answers = vec![format!("{who}.first@x.example")];
    let second = app.deliver(&app.support, second).await;
    let body = json!({ "messageId": second.message.to_string() });
    let made = app.on(key, &second.conversation, "split", body).await.is(200).json();
    text_of(&made, "conversationId")
}

async fn what_was_split_off_stays_where_somebody_has_gone_on_with_it(app: TestApp) {
    let key = app.key("write").await;
    let untouched = split_off(&app, &key, "ann").await;
    let noted = split_off(&app, &key, "bo").await;
    let answered = split_off(&app, &key, "cy").await;
    app.advance(MINUTE);
    note_by_owner(&app, &noted).await;
    let mut answer = letter("cy@x.example", "Odd", "and more");
    answer.answers = vec!["cy.second@x.example".into()];
    assert_eq!(app.deliver(&app.support, answer).await.conversation.to_string(), answered);
    let outcome = undo_all(&app, &key).await;
    assert_eq!((outcome.undone.len(), outcome.left.len()), (1, 2));
    for id in [&noted, &answered] {
        assert_eq!(text_of(&app.read(&key, id).await, "id"), *id);
    }
    assert_ne!(text_of(&app.read(&key, &untouched).await, "id"), untouched);
}

/// Two conversations of a customer, the first of which the key has merged into the second.
async fn merged(app: &TestApp, key: &TestKey, who: &str) -> (String, String) {
    let from = format!("{who}@x.example");
    let one = app.mail(&from, "Lamp", "text").await.conversation;
    let two = app.mail(&from, "Chair", "text").await.conversation.to_string();
    app.on(key, &one, "merge", json!({ "into": two })).await.is(200);
    (one.to_string(), two)
}

async fn what_was_merged_stays_where_somebody_has_gone_on_with_it(app: TestApp) {
    let key = app.key("write").await;
    let (untouched, _) = merged(&app, &key, "ann").await;
    let (gone_on, whole) = merged(&app, &key, "bo").await;
    app.advance(MINUTE);
    note_by_owner(&app, &whole).await;
    let outcome = undo_all(&app, &key).await;
    assert_eq!((outcome.undone.len(), outcome.left.len()), (1, 1));
    assert_eq!(outcome.left[0].on.as_str(), gone_on);
    assert!(outcome.left[0].reason.contains("gone on"), "{}", outcome.left[0].reason);
    assert_eq!(text_of(&app.read(&key, &gone_on).await, "id"), whole);
    assert_eq!(text_of(&app.read(&key, &untouched).await, "id"), untouched);
}

async fn a_draft_that_a_person_changed_is_left(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let mut ids = Vec::new();
    for text in ["Reworded", "Readdressed", "Untouched"] {
        ids.push(MessageId::parse(&app.draft(&key, &mail.conversation, text).await).unwrap());
    }
    let id = ids[0].clone();
    app.act(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 1, "Olive's words")).await;
    let id = ids[1].clone();
    app.act(&app.owner, move |tx, cx| {
        let to = Party::from_addresses(&["other@x.example".to_owned()]);
        drafts::address_draft(tx, cx, &id, 1, &RecipientList { to, ..RecipientList::default() })
    })
    .await;
    let outcome = undo_all(&app, &key).await;
    assert_eq!((outcome.undone.len(), outcome.left.len()), (1, 2));
    assert!(outcome.left.iter().all(|step| step.reason.contains("person")));
    let waiting = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(waiting.iter().filter(|message| message["status"] == "draft").count(), 2);
}

async fn a_message_that_its_agent_stopped_itself_stays_a_draft_for_nobody(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.advance(MINUTE);
    app.post(&key, &format!("/messages/{message}/stop"), json!({})).await.is(200);
    let outcome = undo_all(&app, &key).await;
    // The message goes; that it was stopped is told.
    assert_eq!((outcome.undone.len(), outcome.left.len()), (1, 1));
    assert_eq!(app.count("messages WHERE status = 'draft' AND discarded_at IS NULL").await, 0);
}

async fn stopping_all_of_agents_finds_every_message_and_nothing_of_people(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let draft = app.draft(&key, &mail.conversation, "Approved").await;
    app.approve(&app.owner, &json!({ "id": draft }), Some("Approved")).await;
    for (actor, count) in [(app.owner.clone(), 1), (app.agent(&key).await, 250)] {
        let id = mail.conversation.to_string();
        app.act(&actor, move |tx, cx| {
            for n in 0..count {
                let input = ReplyInput {
                    id: id.clone(),
                    body: format!("Message {n}"),
                    send: true,
                    ..ReplyInput::default()
                };
                operations::reply(tx, cx, input)?;
            }
            Ok(())
        })
        .await;
    }
    assert!(app.act(&app.owner, approvals::do_agents_send).await);
    assert_eq!(app.act(&app.owner, approvals::stop_agents).await, 250);
    assert!(!app.act(&app.owner, approvals::do_agents_send).await);
    assert_eq!(app.count("messages WHERE status = 'scheduled'").await, 2);
    assert_eq!(app.count("messages WHERE status = 'scheduled' AND author LIKE 'agt%'").await, 1);
}
