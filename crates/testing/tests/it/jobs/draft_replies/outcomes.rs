//! What becomes of drafts is counted; drafting pauses where too few are right.

use actions::inboxes::drafting::{self, InboxDrafting};
use actions::writing::drafts;
use base::ids::MessageId;
use model::mailboxes::DraftingMode;
use model::messages::draft_outcomes::OutcomeTally;
use serde_json::Value;
use testing::*;

on_both!(
    every_outcome_is_counted,
    drafting_pauses_below_a_fifth_over_fifty_drafts_and_can_be_resumed,
    drafting_goes_on_at_a_fifth,
    only_owners_and_admins_switch_drafting,
);

async fn ready(app: &TestApp) -> TestKey {
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    app.advance(SECOND);
    key
}

async fn drafted(app: &TestApp, key: &TestKey, number: usize) -> Option<Value> {
    let from = format!("c{number}@y.example Cy");
    let mail = app.mail_to(&app.support, &from, FEE_QUESTION_AGAIN).await;
    app.drafts_in(key, &mail).await.into_iter().next()
}

async fn discard(app: &TestApp, draft: &Value) {
    let id = MessageId::parse(draft["id"].as_str().unwrap()).unwrap();
    app.act(&app.owner, move |tx, cx| drafts::discard_draft(tx, cx, &id, 1, "")).await;
}

async fn support(app: &TestApp) -> InboxDrafting {
    let (listed, _) = app.app.read(&app.owner, drafting::list_drafting).await.unwrap();
    listed.into_iter().find(|one| one.mailbox.id == app.support.id).unwrap()
}

async fn every_outcome_is_counted(app: TestApp) {
    let key = ready(&app).await;
    let as_is = drafted(&app, &key, 1).await.unwrap();
    app.approve(&app.owner, &as_is, None).await;
    let edited = drafted(&app, &key, 2).await.unwrap();
    let text = edited["text"].as_str().unwrap().replace("five", "ten");
    app.approve(&app.owner, &edited, Some(&text)).await;
    let discarded = drafted(&app, &key, 3).await.unwrap();
    discard(&app, &discarded).await;
    let from = "c4@y.example Cy";
    let overtaken = app.mail_to(&app.support, from, FEE_QUESTION_AGAIN).await;
    app.schedule(&key, &overtaken.conversation, "I answer this myself.").await;
    let retired = app.mail_to(&app.support, "c5@y.example Cy", FEE_QUESTION_AGAIN).await;
    let again =
        letter("c5@y.example Cy", "Re: Question of c5@y.example Cy", "Thank you, found it.");
    assert_eq!(app.deliver(&app.support, again).await.conversation, retired.conversation);
    let OutcomeTally { as_it_was, edited, discarded, overtaken, retired, changed } =
        support(&app).await.tally;
    assert_eq!([as_it_was, edited, discarded, overtaken, retired], [1; 5]);
    assert!(changed > 0.0 && changed < 0.1, "one word of many: {changed}");
}

async fn drafting_pauses_below_a_fifth_over_fifty_drafts_and_can_be_resumed(app: TestApp) {
    let key = ready(&app).await;
    for number in 0..50 {
        let draft = drafted(&app, &key, number).await.expect("a draft");
        assert!(support(&app).await.paused_at.is_none(), "not before fifty");
        match number < 9 {
            true => app.approve(&app.owner, &draft, None).await,
            false => discard(&app, &draft).await,
        }
    }
    assert!(support(&app).await.paused_at.is_some());
    assert!(drafted(&app, &key, 50).await.is_none(), "it drafts no more");
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    assert!(support(&app).await.paused_at.is_none());
    app.advance(SECOND);
    let draft = drafted(&app, &key, 51).await.expect("resumed");
    discard(&app, &draft).await;
    assert!(support(&app).await.paused_at.is_none(), "the old ones do not count again");
}

async fn drafting_goes_on_at_a_fifth(app: TestApp) {
    let key = ready(&app).await;
    for number in 0..50 {
        let draft = drafted(&app, &key, number).await.expect("a draft");
        match number < 10 {
            true => app.approve(&app.owner, &draft, None).await,
            false => discard(&app, &draft).await,
        }
    }
    assert!(support(&app).await.paused_at.is_none());
}

async fn only_owners_and_admins_switch_drafting(app: TestApp) {
    let member = app.person("Mia").await;
    let id = app.support.id.clone();
    let switch = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        drafting::set_drafting(tx, cx, &id, DraftingMode::Answers, 1)
    };
    let refused = app.expect_refusal(&member, switch).await;
    assert!(refused.to_string().contains("owner or an admin"), "{refused}");
}
