//! `GET /answers`.

use actions::writing::answers::{self, AnswerInput};
use actions::writing::saved_replies::{self, SavedReplyInput};
use base::ids::AnswerId;
use serde_json::json;
use testing::*;

on_both!(
    answers_and_saved_replies_are_found_best_match_first,
    an_answer_that_says_the_same_in_other_words_comes_first,
    the_language_and_the_limit_are_kept,
    what_is_retired_or_past_its_date_is_left_out,
    a_test_key_finds_nothing_of_the_team,
);

async fn titles(app: &TestApp, query: &str) -> Vec<String> {
    let key = app.key("read").await;
    let found = app.get(&key, &format!("/answers?{query}")).await.is(200).json();
    texts(found.as_array().unwrap(), "title")
}

async fn answers_and_saved_replies_are_found_best_match_first(app: TestApp) {
    let fee = app.answer("Fee taken twice", FEE_ANSWER).await;
    app.answer("Opening hours", "We are open from nine to five on all working days.").await;
    let saved = SavedReplyInput {
        name: "Receipts".into(),
        folder: String::new(),
        body: "Please send us the receipts for the fee you have paid.".into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &saved, &[])).await;
    assert_eq!(titles(&app, "q=fee").await, ["Fee taken twice", "Receipts"]);
    assert_eq!(titles(&app, "q=which%20receipts%20do%20you%20need").await[0], "Receipts");
    assert_eq!(titles(&app, "q=zebra").await, Vec::<String>::new());
    assert_eq!(titles(&app, "").await.len(), 3);
    let key = app.key("read").await;
    let found = app.get(&key, "/answers?q=fee&limit=1").await.is(200).json();
    assert_eq!(
        found,
        json!([{
            "id": fee, "title": "Fee taken twice", "text": FEE_ANSWER, "language": "en",
            "updatedAt": app.iso(), "kind": "answer", "public": false, "section": null, "url": null,
        }])
    );
    let saved = app.get(&key, "/answers?q=receipts").await.is(200).json();
    assert_eq!(saved[0]["kind"], "saved-reply");
    assert!(AnswerId::parse(saved[0]["id"].as_str().unwrap()).is_some());
}

async fn an_answer_that_says_the_same_in_other_words_comes_first(app: TestApp) {
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.answer("Opening hours", "The office is open from nine to five.").await;
    assert_eq!(titles(&app, "q=you%20charged%20me%20double").await[0], "Fee taken twice");
}

async fn the_language_and_the_limit_are_kept(app: TestApp) {
    app.answer("Hours", "We are open from nine to five on all working days.").await;
    app.answer("Zeiten", "Wir haben von neun bis fünf für Sie geöffnet und sind dann da.").await;
    assert_eq!(titles(&app, "language=de").await, ["Zeiten"]);
    assert_eq!(titles(&app, "language=fr").await, Vec::<String>::new());
    assert_eq!(titles(&app, "limit=1").await.len(), 1);
    let key = app.key("read").await;
    for bad in ["language=deu", "language=DE", "limit=0", "limit=101"] {
        app.get(&key, &format!("/answers?{bad}")).await.is(400);
    }
}

async fn what_is_retired_or_past_its_date_is_left_out(app: TestApp) {
    let retired = app.answer("Koala one", "The koala is at home on all days of the week.").await;
    let input = AnswerInput {
        title: "Koala two".into(),
        body: "The koala is at home on all days of the week.".into(),
        valid_until: "2026-11-15".into(),
        ..AnswerInput::default()
    };
    app.try_answer(&app.owner, input).await.unwrap();
    assert_eq!(titles(&app, "q=koala").await.len(), 2);
    let id = retired.clone();
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &id)).await;
    assert_eq!(titles(&app, "q=koala").await, ["Koala two"]);
    app.pass(DAY).await;
    assert_eq!(titles(&app, "q=koala").await, Vec::<String>::new());
    app.act(&app.owner, move |tx, cx| answers::restore_answer(tx, cx, &retired)).await;
    assert_eq!(titles(&app, "q=koala").await, ["Koala one"]);
}

async fn a_test_key_finds_nothing_of_the_team(app: TestApp) {
    app.answer("Fee taken twice", FEE_ANSWER).await;
    let saved = SavedReplyInput {
        name: "Receipts".into(),
        folder: String::new(),
        body: "Please send us the receipts for the fee you have paid.".into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &saved, &[])).await;
    let key = app.test_key("read").await;
    for path in ["/answers", "/answers?q=fee"] {
        assert_eq!(app.get(&key, path).await.is(200).json(), json!([]));
    }
}
