//! The code that opens a page: who gets it, how often, and what guessing leads to.

use model::guests::secure::LinkState;

use super::*;

on_both!(
    a_code_goes_to_the_address_of_the_message_and_counts_once_in_its_browser,
    a_code_runs_out_after_ten_minutes_and_after_five_tries,
    three_codes_in_a_quarter_of_an_hour_are_the_most,
    twenty_wrong_codes_lock_the_page_and_tell_the_team_whichever_node_they_come_to,
    a_closed_page_mails_no_code_and_does_not_say_so
);

async fn a_code_goes_to_the_address_of_the_message_and_counts_once_in_its_browser(app: TestApp) {
    let key = app.key("read send").await;
    secure_reply(&app, &key, "Secret").await;
    let token = token(&app);
    assert_eq!(enter(&app, &token, "ann", "00000000").await, CodeEntry::NotAsked);
    assert_eq!(ask(&app, &token, "ann").await, None);
    let mail = app.outside.relay.attempts().pop().unwrap();
    assert_eq!(mail.recipients, [ANN]);
    let text = mails(&app).pop().unwrap();
    assert!(text.contains("Subject: Your code for Acme") && !text.contains("/s/"), "{text}");
    let code = code(&app);
    assert_eq!(enter(&app, &token, "somebody else", &code).await, CodeEntry::NotAsked);
    assert_eq!(enter(&app, &token, "ann", &code).await, CodeEntry::Right);
    assert_eq!(enter(&app, &token, "ann", &code).await, CodeEntry::NotAsked);
}

async fn a_code_runs_out_after_ten_minutes_and_after_five_tries(app: TestApp) {
    let key = app.key("read send").await;
    secure_reply(&app, &key, "Secret").await;
    let token = token(&app);
    ask(&app, &token, "ann").await;
    let first = code(&app);
    for left in (0..5).rev() {
        let entry = enter(&app, &token, "ann", "12").await;
        assert_eq!(entry, CodeEntry::Wrong { tries_left: left });
    }
    assert_eq!(enter(&app, &token, "ann", &first).await, CodeEntry::RunOut);
    ask(&app, &token, "ann").await;
    let second = code(&app);
    app.advance(10 * MINUTE);
    assert_eq!(enter(&app, &token, "ann", &second).await, CodeEntry::RunOut);
}

async fn three_codes_in_a_quarter_of_an_hour_are_the_most(app: TestApp) {
    let key = app.key("read send").await;
    secure_reply(&app, &key, "Secret").await;
    let (token, begun) = (token(&app), app.now());
    for browser in ["a", "b", "c"] {
        assert_eq!(ask(&app, &token, browser).await, None);
    }
    let mailed = mails(&app).len();
    assert_eq!(ask(&app, &token, "d").await, Some(begun + 15 * MINUTE));
    assert_eq!(mails(&app).len(), mailed);
    app.advance(15 * MINUTE);
    assert_eq!(ask(&app, &token, "d").await, None);
}

async fn twenty_wrong_codes_lock_the_page_and_tell_the_team_whichever_node_they_come_to(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Secret").await;
    let token = token(&app);
    for round in 0..4 {
        assert_eq!(ask(&app, &token, "x").await, None, "round {round}");
        for _ in 0..5 {
            enter(&app, &token, "x", "12").await;
        }
        app.advance(15 * MINUTE);
    }
    let there = app.on_another_node();
    let (wanted, now) = (token.clone(), app.now());
    let found = there.store.read(move |tx| secure::link_at(tx, &wanted, now)).await.unwrap();
    assert_eq!(found.state, LinkState::Locked);
    let events = app.timeline_events(&key, &sent.conversation).await;
    let locked = json!({ "messageId": sent.message, "email": ANN });
    assert!(events.contains(&("link-locked".into(), locked)), "{events:?}");
    app.work().await;
    let mails = app.outside.relay.attempts();
    let told = mails.iter().filter(|mail| mail.recipients == ["owner@acme.example"]).count();
    assert_eq!(told, 1, "the owner is told once");
    app.advance(DAY);
    assert_eq!(link(&app, &token).await.state, LinkState::Open);
}

async fn a_closed_page_mails_no_code_and_does_not_say_so(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Secret").await;
    let token = token(&app);
    app.post(&key, &format!("/messages/{}/revoke", sent.message), json!({})).await.is(200);
    let mailed = mails(&app).len();
    assert_eq!(ask(&app, &token, "ann").await, None);
    assert_eq!(mails(&app).len(), mailed);
}
