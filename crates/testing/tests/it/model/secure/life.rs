//! The life of a secure message: opening, answering, taking back, expiring, reminding.

use actions::writing::compose::{self, ForwardedMessage, NewReply};
use actions::writing::{drafts, secure_messages};
use base::error::Error;
use model::guests::secure::LinkState;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;

use super::*;

on_both!(
    an_answer_on_the_page_comes_in_as_secure_and_the_next_reply_is_secure_by_itself,
    opening_is_recorded_once_and_an_opened_message_is_not_recalled,
    a_message_that_nobody_opens_is_recalled_once_with_the_same_link,
    a_message_that_is_taken_back_is_closed_at_once_and_stays_so,
    a_key_closes_the_page_of_what_a_person_approved,
    only_a_secure_message_that_has_left_is_taken_back,
    a_closed_page_can_ask_for_a_new_link_once_a_day_and_a_person_sends_it,
    a_message_that_is_stopped_has_no_page,
    days_and_senders_are_what_the_workspace_says,
    an_inbox_can_send_secure_messages_only,
    a_page_opens_every_message_that_it_shows,
    a_new_link_goes_only_to_those_who_asked_for_one,
    wrong_codes_of_others_do_not_stop_a_proven_reader,
    held_mail_leaves_the_next_reply_protected,
    the_words_of_a_discarded_draft_are_gone,
    after_a_protected_answer_plain_mail_is_passed_on_and_protected_words_are_not
);

async fn an_answer_on_the_page_comes_in_as_secure_and_the_next_reply_is_secure_by_itself(
    app: TestApp,
) {
    let key = app.key("read draft send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let token = token(&app);
    let before = app.events().await.len();
    let id = answer(&app, &token, "Second", None).await;
    let events = app.events_since(before).await;
    let replied = events.iter().find(|event| event["type"] == "client.replied").unwrap();
    assert_eq!(replied["data"]["secure"], true);
    assert_eq!(replied["data"]["message_id"], id.as_str());
    let read = message(&app, &key, &sent, &id).await;
    assert_eq!((&read["secure"], &read["direction"]), (&json!(true), &json!("inbound")));
    assert!(!fields(&read).contains(&"openedAt"));
    assert_eq!(app.read(&key, &sent.conversation).await["status"], "open");
    let draft = app.draft(&key, &sent.conversation, "Third").await;
    assert_eq!(message(&app, &key, &sent, &draft).await["secure"], true);
    let body = json!({ "body": "Plain", "secure": false });
    let plain = app.on(&key, &sent.conversation, "replies", body).await.is(201).json();
    assert_eq!(message(&app, &key, &sent, &text_of(&plain, "messageId")).await["secure"], false);
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
}

async fn open(app: &TestApp, token: &str) {
    let (token, inner) = (token.to_owned(), app.app.clone());
    let opened = app.app.store.write(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        secure::mark_opened(tx, &inner.cx(&link.actor), &link)
    });
    opened.await.unwrap();
}

async fn opening_is_recorded_once_and_an_opened_message_is_not_recalled(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let at = app.iso();
    open(&app, &token(&app)).await;
    app.advance(MINUTE);
    open(&app, &token(&app)).await;
    assert_eq!(message(&app, &key, &sent, &sent.message).await["openedAt"], at.as_str());
    let events = app.timeline_events(&key, &sent.conversation).await;
    let opened = events.iter().filter(|(name, _)| name == "opened").count();
    assert_eq!(opened, 1, "{events:?}");
    app.pass(10 * DAY).await;
    assert_eq!(mails(&app).len(), 1);
}

async fn a_message_that_nobody_opens_is_recalled_once_with_the_same_link(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Hidden").await;
    let first = token(&app);
    app.pass(3 * DAY).await;
    let all = mails(&app);
    assert_eq!(all.len(), 2);
    assert_eq!(token(&app), first);
    assert!(all[1].contains("Auto-Submitted") && !all[1].contains("Hidden"), "{}", all[1]);
    app.pass(20 * DAY).await;
    assert_eq!(mails(&app).len(), 2);
    assert_eq!(app.timeline(&key, &sent.conversation, "message").await.len(), 3);
}

async fn a_message_that_is_taken_back_is_closed_at_once_and_stays_so(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Hidden").await;
    let token = token(&app);
    let path = format!("/messages/{}/revoke", sent.message);
    for _ in 0..2 {
        assert_eq!(app.post(&key, &path, json!({})).await.is(200).json(), json!({ "ok": true }));
    }
    assert_eq!(link(&app, &token).await.state, LinkState::Closed);
    assert_eq!(page_texts(&app, &token).await, [""; 0]);
    let events = app.timeline_events(&key, &sent.conversation).await;
    let revoked = events.iter().filter(|(name, _)| name == "secure-revoked").count();
    assert_eq!(revoked, 1);
    assert_eq!(app.count("agent_acts WHERE kind = 'withdrew'").await, 1);
    app.pass(10 * DAY).await;
    assert_eq!(mails(&app).len(), 1, "nobody is reminded of it");
}

async fn only_a_secure_message_that_has_left_is_taken_back(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let plain = app.schedule(&key, &mail.conversation, "Hello").await;
    app.pass(UNDO).await;
    let body = json!({ "body": "Secret", "secure": true, "send": true });
    let waits = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    for (id, status) in [(plain, 400), (text_of(&waits, "messageId"), 400), ("msg_0".into(), 404)] {
        app.post(&key, &format!("/messages/{id}/revoke"), json!({})).await.is(status);
    }
}

async fn a_key_closes_the_page_of_what_a_person_approved(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let body = json!({ "body": "Hidden", "secure": true });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = text_of(&made, "messageId");
    app.approve(&app.owner, &json!({ "id": id }), Some("Hidden")).await;
    app.pass(UNDO).await;
    app.post(&key, &format!("/messages/{id}/revoke"), json!({})).await.is(200);
    assert_ne!(link(&app, &token(&app)).await.state, LinkState::Open);
}

async fn a_closed_page_can_ask_for_a_new_link_once_a_day_and_a_person_sends_it(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Hidden").await;
    let old = token(&app);
    app.pass(30 * DAY).await;
    assert_eq!(link(&app, &old).await.state, LinkState::Closed);
    for _ in 0..2 {
        let (token, inner) = (old.clone(), app.app.clone());
        let asked = app.app.store.write(move |tx| {
            let link = secure::link_at(tx, &token, inner.clock.now())?;
            secure::request_link(tx, &inner.cx(&link.actor), &link)
        });
        asked.await.unwrap();
    }
    let events = app.timeline_events(&key, &sent.conversation).await;
    assert_eq!(events.iter().filter(|(name, _)| name == "link-asked").count(), 1);
    assert_eq!(app.read(&key, &sent.conversation).await["status"], "open");
    let id = sent.id();
    app.act(&app.owner, move |tx, cx| secure_messages::send_secure_again(tx, cx, &id)).await;
    app.work().await;
    let new = token(&app);
    assert_ne!(new, old);
    assert_eq!(page_texts(&app, &new).await, ["Hidden"]);
    let now = app.now();
    let gone = app.app.store.read(move |tx| secure::link_at(tx, &old, now)).await;
    assert!(matches!(gone, Err(Error::NotFound("page"))));
}

async fn a_message_that_is_stopped_has_no_page(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let body = json!({ "body": "Secret", "secure": true, "send": true });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = text_of(&made, "messageId");
    app.post(&key, &format!("/messages/{id}/stop"), json!({})).await.is(200);
    let wanted = MessageId::parse(&id).unwrap();
    let found =
        app.expect_refusal(&app.owner, move |tx, cx| secure::link_of(tx, cx, &wanted, ANN)).await;
    assert!(matches!(found, Error::NotFound("page")));
}

async fn days_and_senders_are_what_the_workspace_says(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let with = |days: i64| json!({ "body": "Secret", "secure": true, "secureDays": days });
    for (days, status) in [(0, 400), (91, 400), (90, 201), (1, 201)] {
        app.on(&key, &mail.conversation, "replies", with(days)).await.is(status);
    }
    app.exec("UPDATE workspaces SET secure_days_max = 7").await;
    let refused = app.on(&key, &mail.conversation, "replies", with(8)).await.is(400);
    assert_eq!(refused.error(), "secureDays: must be at most 7 in this workspace");
    app.exec("UPDATE workspaces SET secure_senders = 'admins'").await;
    app.on(&key, &mail.conversation, "replies", with(7)).await.is(403);
    let plain = json!({ "body": "Plain" });
    app.on(&key, &mail.conversation, "replies", plain).await.is(201);
}

async fn an_inbox_can_send_secure_messages_only(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let before = app.draft(&key, &mail.conversation, "Written before").await;
    app.exec("UPDATE mailboxes SET always_secure = TRUE").await;
    let draft = app.draft(&key, &mail.conversation, "Words").await;
    let sent = Sent { conversation: mail.conversation.to_string(), message: draft };
    assert_eq!(message(&app, &key, &sent, &sent.message).await["secure"], true);
    let body = json!({ "body": "Plain", "secure": false });
    let refused = app.on(&key, &mail.conversation, "replies", body).await.is(400);
    assert_eq!(refused.error(), "secure: this inbox sends protected messages only");
    let before = base::ids::MessageId::parse(&before).unwrap();
    let refused = app.expect_refusal(&app.owner, move |tx, cx| {
        testing::approve_draft(tx, cx, &before, 1, "Written before")
    });
    assert_eq!(refused.await.to_string(), "secure: this inbox sends protected messages only");
}

async fn a_page_opens_every_message_that_it_shows(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let first = token(&app);
    let second = secure_reply_in(&app, &key, &sent.conversation, "Second").await;
    open(&app, &first).await;
    for id in [&sent.message, &second] {
        let opened = message(&app, &key, &sent, id).await;
        assert_eq!(opened["openedAt"], app.iso().as_str());
    }
    app.pass(10 * DAY).await;
    assert_eq!(mails(&app).len(), 2, "nobody is reminded");
}

async fn a_new_link_goes_only_to_those_who_asked_for_one(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({
        "body": "Hidden", "secure": true, "send": true, "to": [ANN], "cc": ["bo@shop.example"],
    });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = MessageId::parse(&text_of(&made, "messageId")).unwrap();
    app.pass(UNDO).await;
    app.pass(30 * DAY).await;
    let before = mails(&app).len();
    let asked = id.clone();
    app.act(&app.owner, move |tx, cx| {
        let link = secure::link_of(tx, cx, &asked, "bo@shop.example")?;
        secure::request_link(tx, cx, &link)
    })
    .await;
    app.act(&app.owner, move |tx, cx| secure_messages::send_secure_again(tx, cx, &id)).await;
    app.work().await;
    let attempts = app.outside.relay.attempts();
    let recipients: Vec<_> =
        attempts[before..].iter().map(|mail| mail.recipients.clone()).collect();
    assert_eq!(recipients, [["bo@shop.example"]]);
}

async fn wrong_codes_of_others_do_not_stop_a_proven_reader(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let token = token(&app);
    app.exec(&format!("UPDATE secure_links SET locked_at = {}", app.now())).await;
    assert_eq!(link(&app, &token).await.state, LinkState::Locked);
    let id = answer(&app, &token, "Second", None).await;
    assert_eq!(message(&app, &key, &sent, &id).await["text"], "Second");
}

async fn held_mail_leaves_the_next_reply_protected(app: TestApp) {
    let key = app.key("read draft send").await;
    let sent = secure_reply(&app, &key, "First").await;
    answer(&app, &token(&app), "Second", None).await;
    let held = mail::Mail { warning: held_warning(), ..letter(ANN, "Lamps", "Click here") };
    let held = app.deliver(&app.support, held).await;
    assert_eq!(held.conversation.as_str(), sent.conversation);
    let draft = app.draft(&key, &sent.conversation, "Third").await;
    assert_eq!(message(&app, &key, &sent, &draft).await["secure"], true);
}

async fn the_words_of_a_discarded_draft_are_gone(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let body = json!({ "body": "Secret", "secure": true });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = MessageId::parse(&text_of(&made, "messageId")).unwrap();
    assert_eq!(app.count("secure_messages WHERE key IS NOT NULL").await, 1);
    app.act(&app.owner, move |tx, cx| drafts::discard_draft(tx, cx, &id, 1, "Not now")).await;
    assert_eq!(app.count("secure_messages WHERE key IS NOT NULL").await, 0);
}

async fn after_a_protected_answer_plain_mail_is_passed_on_and_protected_words_are_not(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let answered = answer(&app, &token(&app), "Second", None).await;
    let forward = |id: &str| NewReply {
        body: "See below".into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties("bo@bank.example").unwrap(),
            ..RecipientList::default()
        },
        close: false,
        send: true,
        forwards: Some(ForwardedMessage { id: MessageId::parse(id).unwrap(), files: Vec::new() }),
        secure: None,
        times: MessageTimes::default(),
    };
    let all = app.timeline(&key, &sent.conversation, "message").await;
    let (id, plain) = (sent.conversation.clone(), forward(&text_of(&all[0], "id")));
    app.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &plain)).await;
    app.pass(11 * MINUTE).await;
    let left = mails(&app).pop().unwrap();
    assert!(left.contains("Fwd: Lamps") && left.contains("Hello"), "{left}");
    let (id, protected) = (sent.conversation.clone(), forward(&answered));
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &protected))
        .await;
    assert!(matches!(refused, Error::Invalid(problems) if problems.0[0].field == "send"));
}
