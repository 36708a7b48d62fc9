//! The pages of answers and of drafting.

use actions::inboxes::drafting;
use base::ids::MessageId;
use model::mailboxes::DraftingMode;
use transport::reply_model::ModelEndpoint;

use crate::support::*;

on_both!(
    answers_are_written_found_retired_and_used_again,
    a_sent_reply_becomes_an_answer_in_two_clicks,
    a_helpers_draft_shows_its_sources_and_is_approved,
    an_answer_that_may_fit_is_put_into_the_reply,
    drafting_is_switched_and_the_model_only_after_its_request_was_shown,
);

async fn answers_are_written_found_retired_and_used_again(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.get("/answers").await.is(200).shows("No answers yet");
    browser
        .post("/answers", &[("title", ""), ("body", "{{nobody}} is here and you are not")])
        .await
        .is(422)
        .shows("Give it a title")
        .shows("There is no");
    let fields =
        [("title", "Fee taken twice"), ("body", FEE_ANSWER), ("valid_until", "2026-12-31")];
    browser.post("/answers", &fields).await.goes_to("/answers");
    let list = browser.get("/answers?q=debited").await.is(200);
    list.shows("Fee taken twice").shows("Valid until");
    browser.get("/answers?q=zebra").await.is(200).shows("Nothing found");
    let id = list.between("href=\"/answers/ans_", "\"").to_owned();
    browser.get(&format!("/answers/ans_{id}")).await.is(200).shows("Not sent yet");
    browser.post(&format!("/answers/ans_{id}/retire"), &[]).await.goes_to("/answers");
    browser.get("/answers").await.is(200).hides("Fee taken twice");
    browser.get("/answers?show=retired").await.is(200).shows("Fee taken twice");
    browser.post(&format!("/answers/ans_{id}/restore"), &[]).await.goes_to("/answers");
    browser.get("/answers").await.is(200).shows("Fee taken twice");
}

async fn a_sent_reply_becomes_an_answer_in_two_clicks(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = app.mail("ann@x.example Ann", "Fee twice", FEE_QUESTION).await;
    let reply = "Hello Ann, the 348.00 EUR go back to the account within five bank days.";
    let message = app.send_reply(&key, &mail.conversation, reply).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows(&format!("/answers/new?from={message}"));
    let form = browser.get(&format!("/answers/new?from={message}")).await.is(200);
    form.shows("Make an answer of this reply").shows("348.00").shows("{{first_name}}");
    let fields = [
        ("from", message.as_str()),
        ("title", "Fee twice"),
        ("body", "Hello {{first_name}}, the 348.00 EUR go back within five bank days."),
        ("language", "en"),
        ("found", "348.00"),
        ("remove", "348.00"),
    ];
    browser.post("/answers", &fields).await.goes_to("/answers");
    browser.get("/answers").await.is(200).shows("the […] EUR go back");
}

async fn a_helpers_draft_shows_its_sources_and_is_approved(app: TestApp) {
    let key = app.key("read draft send").await;
    let answer = app.answer("Fee taken twice", &format!("{FEE_ANSWER}\n\n{{{{my_name}}}}")).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows("Drafting helper").shows(">helper<").shows("Rests on").shows("Olive Owner");
    page.shows(&format!("/answers/{answer}"));
    let side = browser.get(&format!("/conversations/{}/side", mail.conversation)).await.is(200);
    side.shows("Answered before");
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    let id = draft["id"].as_str().unwrap();
    let queue = browser.get("/approvals").await.is(200);
    queue.shows("Drafting helper").shows("Rests on").shows("Olive Owner");
    let fields = [("revision", "1"), ("seen", "99"), ("next", "/approvals")];
    browser.post(&format!("/approvals/{id}/approve"), &fields).await.goes_to("/approvals");
    let message = MessageId::parse(id).unwrap();
    let sent = app
        .act(&app.owner, move |tx, cx| {
            Ok(outbound::messages::load_outgoing(tx, cx.actor, &message)?.0.text)
        })
        .await;
    assert!(sent.ends_with("Olive Owner"), "{sent}");
    let (listed, _) = app.app.read(&app.owner, drafting::list_drafting).await.unwrap();
    assert_eq!(listed[0].tally.as_it_was, 1, "the name is no edit");
}

async fn an_answer_that_may_fit_is_put_into_the_reply(app: TestApp) {
    let answer = app.answer("Monthly fee charged twice", FEE_ANSWER).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", mail.conversation);
    browser.get(&path).await.is(200).shows("May fit:").shows("Monthly fee charged twice");
    let answer = answer.to_string();
    let page = browser.post(&format!("{path}/answer"), &[("answer", &answer)]).await;
    assert_eq!(page.status, 303);
    browser.get(&format!("{path}?write=reply")).await.is(200).shows("Hello Bo, when a monthly fee");
    browser.post(&format!("{path}/answer"), &[("answer", "ans_0")]).await.is(404);
}

async fn drafting_is_switched_and_the_model_only_after_its_request_was_shown(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/drafting/{}", app.support.id);
    browser.get("/settings/drafting").await.is(200).shows("No model is set up");
    browser.post(&path, &[("mode", "model")]).await.is(422).shows("No model is set up");
    browser.post(&path, &[("mode", "answers")]).await.goes_to("/settings/drafting");
    browser.post(&path, &[("mode", "sometimes")]).await.is(400);
    let url = "http://127.0.0.1:9/v1".to_owned();
    let app = app.with_model(ModelEndpoint { url, key_file: None, model: "small".into() });
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.mail("bo@y.example Bo Berg", "Fee twice", FEE_QUESTION).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/drafting").await.is(200).shows("127.0.0.1").shows("small");
    let shown = format!("{path}/model");
    browser.post(&path, &[("mode", "model")]).await.goes_to(&shown);
    let request = browser.get(&shown).await.is(200);
    request.shows("Leaves this server").shows("[NAME-1]").hides("Bo Berg writes");
    browser.post(&path, &[("mode", "model"), ("seen", "yes")]).await.goes_to("/settings/drafting");
    browser.post(&path, &[("mode", "model"), ("calls", "7")]).await.goes_to("/settings/drafting");
    browser.get("/settings/drafting").await.is(200).shows("value=\"7\"");
    browser.post(&path, &[("mode", "model"), ("calls", "-1")]).await.is(422).shows("A day has");
    let member = app.person("Mia").await;
    app.signed_in(&member).await.get("/settings/drafting").await.is(403);
}
