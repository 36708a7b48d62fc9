//! Pinning and following conversations.

use actions::conversations::triage::{self, TriageAct};
use actions::conversations::{following, undo_triage};
use actions::inboxes::inbox_access::{self, InboxAccess};
use api::operations::ListConversationsInput;
use api::operations::list_conversations;
use base::actor::{Actor, Circle};
use base::ids::UndoId;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::json;
use testing::{MINUTE, SECOND, TestApp, letter, on_both, user};

on_both!(
    what_is_pinned_is_listed_apart_for_its_person_alone,
    a_follower_is_told_of_answers,
    a_mention_lets_those_follow_who_chose_so,
    whoever_sees_a_conversation_no_longer_is_not_told_of_it,
    pins_and_followers_go_along_with_a_merge
);

async fn act(app: &TestApp, by: &Actor, act: TriageAct, id: &impl ToString) -> UndoId {
    let id = id.to_string();
    app.act(by, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage_one(tx, cx, &undo, &act, &id)?;
        Ok(undo)
    })
    .await
}

async fn subjects(app: &TestApp, by: &Actor, pinned: Option<bool>) -> Vec<String> {
    let input = ListConversationsInput { pinned, ..Default::default() };
    let page = app.act(by, move |tx, cx| list_conversations(tx, cx, input.clone())).await;
    page.items.into_iter().map(|summary| summary.subject).collect()
}

async fn searched(app: &TestApp, by: &Actor, q: &str) -> Vec<String> {
    let input = ListConversationsInput {
        q: Some(q.to_owned()),
        view: Some("all".into()),
        ..Default::default()
    };
    let page = app.act(by, move |tx, cx| list_conversations(tx, cx, input.clone())).await;
    page.items.into_iter().map(|summary| summary.subject).collect()
}

/// To whom notices have left.
fn told(app: &TestApp) -> Vec<String> {
    let sent = app.outside.relay.attempts();
    sent.into_iter().flat_map(|mail| mail.recipients).collect()
}

async fn what_is_pinned_is_listed_apart_for_its_person_alone(app: TestApp) {
    let first = app.mail("a@x.example", "First", "1").await.conversation;
    app.advance(SECOND);
    app.mail("b@x.example", "Second", "2").await;
    let undo = act(&app, &app.owner, TriageAct::Pin, &first).await;
    assert_eq!(subjects(&app, &app.owner, Some(true)).await, ["First"]);
    assert_eq!(subjects(&app, &app.owner, Some(false)).await, ["Second"]);
    assert_eq!(subjects(&app, &app.owner, None).await, ["Second", "First"]);
    assert_eq!(searched(&app, &app.owner, "is:pinned").await, ["First"]);
    assert_eq!(searched(&app, &app.owner, "-is:pinned").await, ["Second"]);
    let bo = app.person("Bo").await;
    assert_eq!(subjects(&app, &bo, Some(true)).await, [""; 0]);
    app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &undo)).await;
    assert_eq!(subjects(&app, &app.owner, Some(true)).await, [""; 0]);
    act(&app, &app.owner, TriageAct::Pin, &first).await;
    act(&app, &app.owner, TriageAct::Unpin, &first).await;
    assert_eq!(subjects(&app, &app.owner, Some(true)).await, [""; 0]);
}

async fn a_follower_is_told_of_answers(app: TestApp) {
    let bo = app.person("Bo").await;
    let id = app.mail("a@x.example", "Lamp", "1").await.conversation;
    act(&app, &bo, TriageAct::Follow, &id).await;
    assert_eq!(searched(&app, &bo, "is:followed").await, ["Lamp"]);
    app.advance(SECOND);
    app.mail("a@x.example", "Re: Lamp", "2").await;
    app.pass(MINUTE).await;
    assert_eq!(told(&app), ["bo@acme.example"]);
    let mail = String::from_utf8_lossy(&app.outside.relay.attempts()[0].bytes).replace("=\r\n", "");
    assert!(mail.contains(&format!("/conversations/{id}")), "{mail}");
    app.mail("a@x.example", "Re: Lamp", "3").await;
    app.pass(MINUTE).await;
    assert_eq!(told(&app).len(), 1, "the next comes ten minutes after the last");
    app.pass(10 * MINUTE).await;
    assert_eq!(told(&app).len(), 2);
    let undo = act(&app, &bo, TriageAct::Unfollow, &id).await;
    assert_eq!(searched(&app, &bo, "is:followed").await, [""; 0]);
    app.act(&bo, move |tx, cx| undo_triage::undo_triage(tx, cx, &undo)).await;
    assert_eq!(searched(&app, &bo, "is:followed").await, ["Lamp"]);
}

async fn a_mention_lets_those_follow_who_chose_so(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let id = app.mail("a@x.example", "Lamp", "1").await.conversation;
    app.act(&bo, |tx, cx| following::follow_mentions(tx, cx, true)).await;
    let key = app.key("write").await;
    app.on(&key, &id, "notes", json!({ "body": "@Ann @Bo look" })).await.is(201);
    assert_eq!(searched(&app, &bo, "is:followed").await, ["Lamp"]);
    assert_eq!(searched(&app, &ann, "is:followed").await, [""; 0]);
}

async fn whoever_sees_a_conversation_no_longer_is_not_told_of_it(app: TestApp) {
    let bo = app.person("Bo").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let id = app.deliver(&sales, letter("a@x.example", "Lamp", "1")).await.conversation;
    act(&app, &bo, TriageAct::Follow, &id).await;
    let holder = AccessHolder::Person(user(&app.owner));
    let entries = vec![AccessEntry { holder, may_see: true, may_send: true }];
    let access = InboxAccess { everybody: false, all_send: true, entries };
    let mailbox = sales.id.clone();
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &mailbox, &access))
        .await;
    let mut closed = sales.clone();
    closed.circle = Circle::of_inbox(&sales.id);
    app.advance(SECOND);
    let answer = app.deliver(&closed, letter("a@x.example", "Re: Lamp", "2")).await;
    assert_eq!(answer.conversation, id);
    app.pass(MINUTE).await;
    assert_eq!(told(&app), [""; 0]);
}

async fn pins_and_followers_go_along_with_a_merge(app: TestApp) {
    let first = app.mail("a@x.example", "First", "1").await.conversation;
    let second = app.mail("a@x.example", "Second", "2").await.conversation;
    act(&app, &app.owner, TriageAct::Pin, &first).await;
    act(&app, &app.owner, TriageAct::Follow, &first).await;
    act(&app, &app.owner, TriageAct::Merge(second.to_string()), &first).await;
    assert_eq!(searched(&app, &app.owner, "is:pinned").await, ["Second"]);
    assert_eq!(searched(&app, &app.owner, "is:followed").await, ["Second"]);
}
