//! Drafts without a model: by the mail that an answer was used on before.

use actions::writing::answers::{self, AnswerInput};
use actions::writing::saved_replies;
use mail::AuthorKind;
use model::mailboxes::DraftingMode;
use serde_json::json;
use testing::*;

on_both!(
    an_answer_used_on_like_mail_becomes_a_draft_with_its_source,
    drafting_is_off_until_it_is_switched_on,
    a_helpers_draft_waits_and_leaves_in_the_name_of_who_approves_it,
    an_answer_that_was_never_used_is_offered_and_not_drafted,
    mail_in_another_language_gets_no_draft,
    held_automatic_sandbox_and_risky_mail_gets_no_draft,
    a_draft_of_somebody_else_is_not_joined_by_one_of_the_helper,
    an_answer_that_is_retired_or_past_its_date_is_not_drafted,
    an_answer_for_another_inbox_is_not_drafted,
    an_answer_with_a_gap_or_an_empty_name_is_not_drafted,
    a_thank_you_gets_no_draft,
    a_name_that_is_markup_is_words_in_the_draft,
    saved_replies_are_answers_too,
);

async fn ready(app: &TestApp) -> (TestKey, String) {
    let key = app.key("read draft send").await;
    let answer = app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    (key, answer.to_string())
}

async fn an_answer_used_on_like_mail_becomes_a_draft_with_its_source(app: TestApp) {
    let (key, answer) = ready(&app).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo Berg", FEE_QUESTION_AGAIN).await;
    let drafts = app.drafts_in(&key, &mail).await;
    assert_eq!(drafts.len(), 1, "{drafts:?}");
    assert!(drafts[0]["text"].as_str().unwrap().starts_with("Hello Bo, when a monthly fee"));
    assert_eq!(drafts[0]["draftedBy"], "helper");
    assert_eq!(drafts[0]["sources"], json!([{ "id": answer, "title": "Fee taken twice" }]));
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["hasDraft"], true);
    let theirs = &app.timeline(&key, &mail.conversation, "message").await[0];
    assert!(theirs.get("draftedBy").is_none() && theirs.get("sources").is_none(), "{theirs}");
}

async fn drafting_is_off_until_it_is_switched_on(app: TestApp) {
    let (key, _) = ready(&app).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Off).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
}

async fn a_helpers_draft_waits_and_leaves_in_the_name_of_who_approves_it(app: TestApp) {
    let (key, answer) = ready(&app).await;
    let signed = AnswerInput {
        title: "Fee taken twice".into(),
        body: format!("{FEE_ANSWER}\n\n{{{{my_first_name}}}}"),
        ..AnswerInput::default()
    };
    let id = base::ids::AnswerId::parse(&answer).unwrap();
    app.act(&app.owner, move |tx, cx| answers::change_answer(tx, cx, &id, &signed)).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    app.pass(DAY).await;
    let drafts = app.drafts_in(&key, &mail).await;
    assert_eq!(drafts.len(), 1, "it waits");
    app.approve(&app.owner, &drafts[0], None).await;
    app.pass(UNDO).await;
    let sent = app.timeline(&key, &mail.conversation, "message").await;
    let sent = sent.last().unwrap();
    assert_eq!((&sent["status"], &sent["from"]["name"]), (&json!("sent"), &json!("Olive Owner")));
    assert_eq!(sent["draftedBy"], "helper");
    assert!(sent["text"].as_str().unwrap().ends_with("\n\nOlive"), "{sent}");
    let events = app.events().await;
    let approved = events.iter().find(|one| one["type"] == "draft.approved");
    let data = &approved.expect("the event")["data"];
    assert_eq!(data["drafted_by"], json!({ "type": null, "id": null }));
    assert_eq!(data["edited"], false);
}

async fn an_answer_that_was_never_used_is_offered_and_not_drafted(app: TestApp) {
    let key = app.key("read draft send").await;
    app.answer("Monthly fee charged twice", FEE_ANSWER).await;
    app.answer("Opening hours", "The office is open from nine to five on all working days.").await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    assert_eq!(super::findings::offers(&app, &mail).await, ["Monthly fee charged twice"]);
}

async fn mail_in_another_language_gets_no_draft(app: TestApp) {
    let (key, _) = ready(&app).await;
    let german = "Guten Tag, die Gebühr wurde in diesem Monat zwei Mal abgebucht (monthly fee \
                  charged twice). Können Sie mir bitte die zweite Abbuchung zurück überweisen?";
    let mail = app.mail_to(&app.support, "bo@y.example Bo", german).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    assert!(super::findings::offers(&app, &mail).await.is_empty());
}

async fn held_automatic_sandbox_and_risky_mail_gets_no_draft(app: TestApp) {
    let (key, _) = ready(&app).await;
    let question = |from: &str| letter(from, "Fee", FEE_QUESTION);
    let held = mail::Mail { warning: held_warning(), ..question("a@y.example") };
    let automatic = mail::Mail { kind: AuthorKind::AutoReply, ..question("b@y.example") };
    let mut warning = held_warning().unwrap();
    warning.hold = false;
    let risky = mail::Mail { warning: Some(warning), ..question("c@y.example") };
    for mail in [held, automatic, risky] {
        let mail = app.deliver(&app.support, mail).await;
        app.work().await;
        assert!(app.drafts_in(&key, &mail).await.is_empty());
    }
    let test_key = app.test_key("read").await;
    let mail = app.deliver(&app.sandbox, question("d@y.test")).await;
    app.work().await;
    assert!(app.drafts_in(&test_key, &mail).await.is_empty());
}

async fn a_draft_of_somebody_else_is_not_joined_by_one_of_the_helper(app: TestApp) {
    let (key, _) = ready(&app).await;
    let mail = app.deliver(&app.support, letter("bo@y.example", "Fee", FEE_QUESTION_AGAIN)).await;
    app.draft(&key, &mail.conversation, "I look into it.").await;
    app.work().await;
    let drafts = app.drafts_in(&key, &mail).await;
    assert_eq!(drafts.len(), 1);
    assert!(drafts[0].get("draftedBy").is_none());
}

async fn an_answer_that_is_retired_or_past_its_date_is_not_drafted(app: TestApp) {
    let (key, answer) = ready(&app).await;
    let id = base::ids::AnswerId::parse(&answer).unwrap();
    let retired = id.clone();
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &retired)).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty(), "retired");
    let input = AnswerInput {
        title: "Fee taken twice".into(),
        body: FEE_ANSWER.into(),
        valid_until: "2026-11-20".into(),
        ..AnswerInput::default()
    };
    app.act(&app.owner, move |tx, cx| answers::change_answer(tx, cx, &id, &input)).await;
    let mail = app.mail_to(&app.support, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&key, &mail).await.len(), 1, "in use again");
    app.pass(10 * DAY).await;
    let mail = app.mail_to(&app.support, "di@y.example Di", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty(), "past its date");
}

async fn an_answer_for_another_inbox_is_not_drafted(app: TestApp) {
    let (key, answer) = ready(&app).await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let id = base::ids::AnswerId::parse(&answer).unwrap();
    let input = AnswerInput {
        title: "Fee taken twice".into(),
        body: FEE_ANSWER.into(),
        inboxes: vec![sales.id.to_string()],
        ..AnswerInput::default()
    };
    app.act(&app.owner, move |tx, cx| answers::change_answer(tx, cx, &id, &input)).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    app.set_drafting(&app.owner, &sales, DraftingMode::Answers).await;
    let mail = app.mail_to(&sales, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&key, &mail).await.len(), 1);
}

async fn an_answer_with_a_gap_or_an_empty_name_is_not_drafted(app: TestApp) {
    let (key, answer) = ready(&app).await;
    let id = base::ids::AnswerId::parse(&answer).unwrap();
    for body in [FEE_ANSWER.replace("|there", ""), FEE_ANSWER.replace("five", "[…]")] {
        let (id, body) = (id.clone(), body.clone());
        let input = AnswerInput { title: "Fee taken twice".into(), body, ..AnswerInput::default() };
        app.act(&app.owner, move |tx, cx| answers::change_answer(tx, cx, &id, &input)).await;
        let mail = app.mail_to(&app.support, "bo@y.example", FEE_QUESTION_AGAIN).await;
        assert!(app.drafts_in(&key, &mail).await.is_empty());
        assert_eq!(super::findings::offers(&app, &mail).await, ["Fee taken twice"]);
    }
}

async fn a_thank_you_gets_no_draft(app: TestApp) {
    let (key, _) = ready(&app).await;
    let thanks = "Thank you, the second debit of the monthly fee came back.";
    let mail = app.mail_to(&app.support, "bo@y.example Bo", thanks).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    assert!(super::findings::offers(&app, &mail).await.is_empty());
}

async fn a_name_that_is_markup_is_words_in_the_draft(app: TestApp) {
    let (key, _) = ready(&app).await;
    let from = "bo@y.example [Login](https://evil.example)";
    let mail = app.deliver(&app.support, letter(from, "Fee", FEE_QUESTION_AGAIN)).await;
    app.work().await;
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    let text = draft["text"].as_str().unwrap();
    assert!(text.starts_with("Hello [Login](https://evil.example), when"), "{text}");
}

async fn saved_replies_are_answers_too(app: TestApp) {
    let key = app.key("read draft send").await;
    let input = saved_replies::SavedReplyInput {
        name: "Fee twice".into(),
        folder: String::new(),
        body: FEE_ANSWER.into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &input, &[])).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let drafts = app.drafts_in(&key, &mail).await;
    assert_eq!(drafts[0]["sources"][0]["title"], "Fee twice");
    assert!(drafts[0]["sources"][0]["id"].as_str().unwrap().starts_with("ans_"));
}
