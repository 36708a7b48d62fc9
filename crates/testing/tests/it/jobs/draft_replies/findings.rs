//! What the helper finds beside a draft: answers to choose from, and where it was answered before.

use actions::inboxes::drafting::{self, HelperFindings};
use base::error::Error;
use inbound::incoming_mail::FiledMail;
use model::mailboxes::DraftingMode;
use testing::*;

on_both!(
    mail_that_was_answered_before_is_listed_with_its_reply,
    at_most_three_answers_are_offered,
    what_was_found_is_seen_by_those_alone_who_see_the_conversation,
);

/// What the owner sees beside a conversation.
pub async fn found(app: &TestApp, mail: &FiledMail) -> HelperFindings {
    let id = mail.conversation.to_string();
    let read =
        move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| drafting::helper_findings(tx, cx, &id);
    app.app.read(&app.owner, read).await.unwrap()
}

/// The titles of the answers that are offered.
pub async fn offers(app: &TestApp, mail: &FiledMail) -> Vec<String> {
    found(app, mail).await.offers.into_iter().map(|answer| answer.title).collect()
}

async fn mail_that_was_answered_before_is_listed_with_its_reply(app: TestApp) {
    let key = app.key("read draft send").await;
    let first = app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let before = found(&app, &mail).await.answered_before;
    assert_eq!(before.len(), 1);
    assert_eq!((&before[0].id, before[0].by.as_str()), (&first.conversation, "Robo"));
    assert_eq!(before[0].text, FEE_REPLY);
    let other = app.mail_to(&app.support, "cy@y.example Cy", "Do you sell green lamps?").await;
    assert!(found(&app, &other).await.answered_before.is_empty());
}

async fn at_most_three_answers_are_offered(app: TestApp) {
    for number in 0..5 {
        app.answer(&format!("Monthly fee {number}"), &format!("{FEE_QUESTION} {number}")).await;
    }
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION).await;
    assert_eq!(offers(&app, &mail).await.len(), 3);
    let key = app.key("read send").await;
    app.send_reply(&key, &mail.conversation, "I have looked into it.").await;
    assert!(offers(&app, &mail).await.is_empty(), "nothing is offered once it was answered");
}

async fn what_was_found_is_seen_by_those_alone_who_see_the_conversation(app: TestApp) {
    let mia = app.person("Mia").await;
    let inbox = app.private_inbox(&mia).await;
    let mail = app.mail_to(&inbox, "bo@y.example Bo", FEE_QUESTION).await;
    let id = mail.conversation.to_string();
    let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        drafting::helper_findings(tx, cx, &id).map(|_| ())
    };
    let refused = app.app.read(&app.owner, read).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound("conversation")));
}
