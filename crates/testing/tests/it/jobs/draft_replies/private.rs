//! Private inboxes neither teach the team's helper nor learn into it.

use actions::writing::answers::AnswerInput;
use base::actor::Role;
use model::mailboxes::DraftingMode;
use serde_json::json;
use testing::*;

on_both!(
    a_private_inbox_teaches_nobody_else,
    what_the_team_does_teaches_no_private_inbox,
    an_answer_for_a_private_inbox_is_seen_there_alone,
    an_answer_cannot_be_for_a_private_inbox_and_the_team,
);

/// Drafts of a conversation whose inbox somebody alone sees.
async fn teach(app: &TestApp, key: &TestKey, mailbox: &model::mailboxes::Mailbox) {
    let mail = app.mail_to(mailbox, "ann@x.example Ann", FEE_QUESTION).await;
    let message = app.schedule(key, &mail.conversation, FEE_REPLY).await;
    app.mark_sent(mailbox, &message).await;
    app.work().await;
}

async fn a_private_inbox_teaches_nobody_else(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let own = app.key_of(&mia, "Own", "read draft send", true).await;
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    teach(&app, &own, &inbox).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    assert!(super::findings::found(&app, &mail).await.answered_before.is_empty());
}

async fn what_the_team_does_teaches_no_private_inbox(app: TestApp) {
    let admin = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&admin).await;
    let own = app.key_of(&admin, "Own", "read draft send", true).await;
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&admin, &inbox, DraftingMode::Answers).await;
    let mail = app.mail_to(&inbox, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&own, &mail).await.is_empty());
    teach(&app, &own, &inbox).await;
    let mail = app.mail_to(&inbox, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&own, &mail).await.len(), 1, "its own use teaches it");
}

async fn an_answer_for_a_private_inbox_is_seen_there_alone(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let input = AnswerInput {
        title: "Koala".into(),
        body: "The koala is at home on all days.".into(),
        inboxes: vec![inbox.id.to_string()],
        ..AnswerInput::default()
    };
    app.try_answer(&mia, input).await.unwrap();
    let own = app.key_of(&mia, "Own", "read", true).await;
    assert_eq!(app.get(&own, "/answers?q=koala").await.is(200).json()[0]["title"], "Koala");
    for key in [app.key("read").await, app.test_key("read").await] {
        assert_eq!(app.get(&key, "/answers?q=koala").await.is(200).json(), json!([]));
        assert_eq!(app.get(&key, "/answers").await.is(200).json(), json!([]));
    }
}

async fn an_answer_cannot_be_for_a_private_inbox_and_the_team(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let input = |inboxes: Vec<String>| AnswerInput {
        title: "Koala".into(),
        body: "The koala is at home on all days.".into(),
        inboxes,
        ..AnswerInput::default()
    };
    let both = input(vec![app.support.id.to_string(), inbox.id.to_string()]);
    let refused = app.try_answer(&mia, both).await.unwrap_err();
    assert!(refused.to_string().contains("not for both"), "{refused}");
    let theirs = app.try_answer(&app.owner, input(vec![inbox.id.to_string()])).await;
    assert!(theirs.is_err(), "somebody else's private inbox does not exist");
}
