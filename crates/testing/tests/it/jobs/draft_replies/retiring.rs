//! A newer message of either side retires the helper's draft; nobody can approve it by accident.

use actions::writing::drafts;
use base::error::Error;
use base::ids::MessageId;
use inbound::incoming_mail::FiledMail;
use mail::AuthorKind;
use model::mailboxes::DraftingMode;
use serde_json::{Value, json};
use testing::*;

on_both!(
    a_new_mail_of_the_customer_retires_the_draft_and_the_helper_looks_again,
    a_message_of_ours_retires_the_draft,
    a_retired_draft_cannot_be_approved_edited_or_discarded,
    an_automatic_answer_retires_the_draft_too,
    a_stopped_draft_is_retired_when_something_was_said_meanwhile,
    a_stopped_draft_waits_again_when_nothing_was_said,
    drafts_of_agents_stay,
    where_replies_are_protected_nothing_is_drafted,
);

async fn drafted(app: &TestApp) -> (TestKey, FiledMail, Value) {
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    (key, mail, draft)
}

fn again() -> mail::Mail {
    let subject = "Re: Question of bo@y.example Bo";
    letter("bo@y.example Bo", subject, "I forgot to say that it was the fee of October, sorry.")
}

async fn retirements(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Vec<Value> {
    let events = app.timeline_events(key, &mail.conversation).await;
    events.into_iter().filter(|(name, _)| name == "draft-retired").map(|(_, data)| data).collect()
}

async fn a_new_mail_of_the_customer_retires_the_draft_and_the_helper_looks_again(app: TestApp) {
    let (key, mail, draft) = drafted(&app).await;
    let more = app.deliver(&app.support, again()).await;
    assert_eq!(more.conversation, mail.conversation, "it joins");
    assert!(app.drafts_in(&key, &mail).await.is_empty(), "at once, with the mail itself");
    let expected = json!([{ "messageId": draft["id"], "by": "customer" }]);
    assert_eq!(json!(retirements(&app, &key, &mail).await), expected);
    assert_eq!(app.read(&key, &mail.conversation).await["hasDraft"], false);
    assert_eq!(
        app.count("helper_drafts WHERE drafted_text IS NOT NULL").await,
        0,
        "its text is gone"
    );
}

async fn a_message_of_ours_retires_the_draft(app: TestApp) {
    let (key, mail, draft) = drafted(&app).await;
    app.schedule(&key, &mail.conversation, "I answer this myself.").await;
    assert!(app.drafts_in(&key, &mail).await.is_empty(), "as soon as it is to be sent");
    let expected = json!([{ "messageId": draft["id"], "by": "team" }]);
    assert_eq!(json!(retirements(&app, &key, &mail).await), expected);
}

async fn a_retired_draft_cannot_be_approved_edited_or_discarded(app: TestApp) {
    let (_, _, draft) = drafted(&app).await;
    app.deliver(&app.support, again()).await;
    let id = MessageId::parse(draft["id"].as_str().unwrap()).unwrap();
    for revision in [1, 2] {
        let own = id.clone();
        let approved = app
            .expect_refusal(&app.owner, move |tx, cx| {
                testing::approve_draft(tx, cx, &own, revision, "Yes")
            })
            .await;
        assert!(matches!(approved, Error::NotFound("message")), "{approved}");
    }
    let own = id.clone();
    app.expect_refusal(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &own, 1, "Yes")).await;
    app.expect_refusal(&app.owner, move |tx, cx| drafts::discard_draft(tx, cx, &id, 1, "")).await;
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 0, "nothing leaves");
}

async fn an_automatic_answer_retires_the_draft_too(app: TestApp) {
    let (key, mail, _) = drafted(&app).await;
    let away = mail::Mail { kind: AuthorKind::AutoReply, ..again() };
    app.deliver(&app.support, away).await;
    app.work().await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
}

async fn a_stopped_draft_is_retired_when_something_was_said_meanwhile(app: TestApp) {
    let (key, mail, draft) = drafted(&app).await;
    app.approve(&app.owner, &draft, None).await;
    app.deliver(&app.support, again()).await;
    let id = MessageId::parse(draft["id"].as_str().unwrap()).unwrap();
    app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    app.work().await;
    let ids: Vec<Value> =
        app.drafts_in(&key, &mail).await.into_iter().map(|draft| draft["id"].clone()).collect();
    assert!(!ids.contains(&draft["id"]), "the old draft is gone");
    assert_eq!(retirements(&app, &key, &mail).await.len(), 1);
}

async fn a_stopped_draft_waits_again_when_nothing_was_said(app: TestApp) {
    let (key, mail, draft) = drafted(&app).await;
    app.approve(&app.owner, &draft, None).await;
    let id = MessageId::parse(draft["id"].as_str().unwrap()).unwrap();
    app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    let waiting = app.drafts_in(&key, &mail).await;
    assert_eq!(waiting.len(), 1);
    assert_eq!((&waiting[0]["id"], &waiting[0]["draftedBy"]), (&draft["id"], &json!("helper")));
}

async fn drafts_of_agents_stay(app: TestApp) {
    let (key, mail, _) = drafted(&app).await;
    app.draft(&key, &mail.conversation, "A draft of mine.").await;
    assert_eq!(app.drafts_in(&key, &mail).await.len(), 2, "another draft retires nothing");
    app.deliver(&app.support, again()).await;
    let left = app.drafts_in(&key, &mail).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["text"], "A draft of mine.");
}

async fn where_replies_are_protected_nothing_is_drafted(app: TestApp) {
    let (key, _, _) = drafted(&app).await;
    app.exec("UPDATE mailboxes SET always_secure = TRUE").await;
    let mail = app.mail_to(&app.support, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
}
