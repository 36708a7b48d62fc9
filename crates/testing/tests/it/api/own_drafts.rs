//! `POST /messages/{id}/update` and `/discard`: an agent's own drafts, and nobody else's.

use actions::writing::{approvals, drafts};
use base::ids::MessageId;
use model::messages::recipients::{Party, RecipientList};
use serde_json::json;
use testing::{Answer, DAY, TestApp, TestKey, on_both};

on_both!(
    an_agent_changes_its_own_draft_and_a_person_approves_the_new_text,
    an_agent_discards_its_own_draft,
    a_draft_of_another_is_like_one_that_was_never_there,
    a_draft_that_a_person_changed_is_theirs,
    a_draft_whose_recipients_a_person_changed_is_theirs,
    what_a_person_wrote_as_they_approved_is_theirs_once_it_is_stopped,
    discarding_is_an_act_that_is_kept,
    what_is_no_draft_any_more_is_not_found,
    other_drafts_are_named_and_its_own_is_not,
    own_drafts_need_the_draft_scope
);

async fn update(app: &TestApp, key: &TestKey, message: &str, body: &str) -> Answer {
    app.post(key, &format!("/messages/{message}/update"), json!({ "body": body })).await
}

async fn discard(app: &TestApp, key: &TestKey, message: &str) -> Answer {
    app.post(key, &format!("/messages/{message}/discard"), json!({ "reason": "Solved." })).await
}

async fn an_agent_changes_its_own_draft_and_a_person_approves_the_new_text(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left on Monday.").await;
    let answer = update(&app, &key, &draft, "It left on Tuesday.").await.is(200).json();
    assert_eq!(answer["messageId"], *draft);
    assert_eq!(answer["status"], "draft");
    let id = MessageId::parse(&draft).unwrap();
    let seen = id.clone();
    let decision = app.act(&app.owner, move |tx, cx| approvals::look_at_draft(tx, cx, &seen)).await;
    assert_eq!(decision.draft.text, "It left on Tuesday.");
    let (text, revision) = (decision.draft.text.clone(), decision.draft.revision);
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &id, revision, &text)).await;
    app.pass(DAY).await;
    let sent = app.outside.relay.attempts();
    assert_eq!(sent.len(), 1);
    assert!(String::from_utf8_lossy(&sent[0].bytes).contains("It left on Tuesday."));
}

async fn an_agent_discards_its_own_draft(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    assert_eq!(discard(&app, &key, &draft).await.is(200).json(), json!({ "ok": true }));
    assert_eq!(app.timeline(&key, &mail.conversation, "message").await.len(), 1);
    assert_eq!(
        app.timeline_events(&key, &mail.conversation).await,
        [("discarded".into(), json!({ "messageId": draft, "reason": "Solved." }))]
    );
    discard(&app, &key, &draft).await.is(404);
    update(&app, &key, &draft, "Again").await.is(404);
}

async fn a_draft_of_another_is_like_one_that_was_never_there(app: TestApp) {
    let (one, two) = (app.key("draft").await, app.key("draft send").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&one, &mail.conversation, "It left.").await;
    let before = app.read(&one, &mail.conversation).await;
    let missing = update(&app, &two, "msg_01kag11q2w3e4r5t6y7z8a9b0c", "Mine now").await.is(404);
    assert_eq!(update(&app, &two, &draft, "Mine now").await.is(404).error(), missing.error());
    assert_eq!(discard(&app, &two, &draft).await.is(404).error(), missing.error());
    assert_eq!(app.read(&one, &mail.conversation).await, before);
}

async fn a_draft_that_a_person_changed_is_theirs(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    let id = MessageId::parse(&draft).unwrap();
    app.act(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 1, "Olive's words")).await;
    let refused = update(&app, &key, &draft, "Robo's words").await.is(409).error();
    assert_eq!(refused, "A person has changed this draft; it was left as it is.");
    assert_eq!(discard(&app, &key, &draft).await.is(409).error(), refused);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["text"], "Olive's words");
}

async fn address(app: &TestApp, draft: &str, revision: i64, address: &str) {
    let id = MessageId::parse(draft).unwrap();
    let to = Party::from_addresses(&[address.to_owned()]);
    let recipients = RecipientList { to, ..RecipientList::default() };
    app.act(&app.owner, move |tx, cx| drafts::address_draft(tx, cx, &id, revision, &recipients))
        .await;
}

async fn a_draft_whose_recipients_a_person_changed_is_theirs(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    address(&app, &draft, 1, "Mara@customer.example").await;
    update(&app, &key, &draft, "It left on Monday.").await.is(200);
    address(&app, &draft, 2, "boss@customer.example").await;
    update(&app, &key, &draft, "It left on Tuesday.").await.is(409);
    discard(&app, &key, &draft).await.is(409);
    assert_eq!(app.timeline(&key, &mail.conversation, "message").await.len(), 2);
}

async fn what_a_person_wrote_as_they_approved_is_theirs_once_it_is_stopped(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    app.approve(&app.owner, &json!({ "id": draft }), Some("Olive's words")).await;
    let id = MessageId::parse(&draft).unwrap();
    app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    discard(&app, &key, &draft).await.is(409);
}

async fn discarding_is_an_act_that_is_kept(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    discard(&app, &key, &draft).await.is(200);
    let kept = format!("agent_acts WHERE kind = 'withdrew' AND thing = '{draft}'");
    assert_eq!(app.count(&kept).await, 1);
}

async fn what_is_no_draft_any_more_is_not_found(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    update(&app, &key, &message, "Another").await.is(404);
    discard(&app, &key, &message).await.is(404);
    app.pass(DAY).await;
    update(&app, &key, &message, "Another").await.is(404);
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn other_drafts_are_named_and_its_own_is_not(app: TestApp) {
    let (one, two) = (app.key("draft").await, app.key("draft").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let first = app.draft(&one, &mail.conversation, "It left.").await;
    let second = app.draft(&two, &mail.conversation, "It left, too.").await;
    let answer = update(&app, &two, &second, "Twice").await.is(200).json();
    assert_eq!(answer["otherDrafts"], json!([first]));
}

async fn own_drafts_need_the_draft_scope(app: TestApp) {
    let key = app.key("write send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    update(&app, &key, &message, "Another").await.is(403);
    discard(&app, &key, &message).await.is(403);
}
