//! The form of an answer: what it sends is stored once, however often and wherever it arrives.

use std::sync::Arc;

use base::app::App;
use base::error::Result;
use base::ids::Ids;
use model::guests::guest_forms::GuestFormId;

use super::*;

on_both!(
    what_a_form_sends_again_is_stored_once_whichever_node_it_comes_to,
    what_arrives_many_times_at_the_same_moment_is_stored_once,
    other_words_from_a_form_that_was_sent_are_refused_and_change_nothing,
    the_forms_of_two_readers_have_nothing_to_do_with_each_other,
    a_form_is_known_after_its_conversation_was_merged
);

fn form(seed: u64) -> GuestFormId {
    GuestFormId::new(&Ids::with_seed(seed))
}

/// Sends a form with some words and a file.
async fn send(node: &App, token: &str, form: &GuestFormId, words: &str) -> Result<MessageId> {
    let (name, kind) = ("card.pdf".to_owned(), "application/pdf".to_owned());
    let now = node.clock.now();
    let file = secure::seal_file((&node.blobs, &node.ids), now, name, kind, b"4711").unwrap();
    let form = Some(form.clone());
    let answer = SecureAnswer { text: words.to_owned(), files: vec![file], form };
    let (token, inner) = (token.to_owned(), node.clone());
    let filed = node.store.write(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        receive_answer(tx, &inner.cx(&link.actor), &link, &answer)
    });
    filed.await
}

async fn what_a_form_sends_again_is_stored_once_whichever_node_it_comes_to(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let (token, before) = (token(&app), app.events().await.len());
    let id = send(&app.app, &token, &form(5), "Second").await.unwrap();
    let there = app.on_another_node();
    for node in [&there, &app.app, &there] {
        assert_eq!(send(node, &token, &form(5), "Second").await.unwrap(), id);
    }
    app.work().await;
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
    let told = app.event_types_since(before).await;
    assert_eq!(told.iter().filter(|told| *told == "client.replied").count(), 1, "{told:?}");
    let told =
        mails(&app).iter().filter(|mail| mail.contains("Your reply on the protected")).count();
    assert_eq!(told, 1, "it is confirmed once");
    let read = message(&app, &key, &sent, id.as_str()).await;
    assert_eq!(read["attachments"].as_array().unwrap().len(), 1);
    // The same words from a form of their own are another answer.
    assert_ne!(send(&app.app, &token, &form(6), "Second").await.unwrap(), id);
    assert_eq!(page_texts(&app, &token).await, ["First", "Second", "Second"]);
}

async fn what_arrives_many_times_at_the_same_moment_is_stored_once(app: TestApp) {
    const TIMES: usize = 12;
    let key = app.key("read send").await;
    secure_reply(&app, &key, "First").await;
    let token = token(&app);
    let nodes = [Arc::new(app.app.clone()), Arc::new(app.on_another_node())];
    let mut sending = Vec::new();
    for number in 0..TIMES {
        let (node, token) = (Arc::clone(&nodes[number % 2]), token.clone());
        sending.push(tokio::spawn(async move {
            send(&node, &token, &form(5), "Second").await.unwrap()
        }));
    }
    let mut ids = Vec::new();
    for one in sending {
        ids.push(one.await.unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "everybody is told of the same answer");
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
    assert_eq!(app.count("messages WHERE direction = 'inbound' AND secure = TRUE").await, 1);
}

async fn other_words_from_a_form_that_was_sent_are_refused_and_change_nothing(app: TestApp) {
    let key = app.key("read send").await;
    secure_reply(&app, &key, "First").await;
    let token = token(&app);
    send(&app.app, &token, &form(5), "Second").await.unwrap();
    let refused = send(&app.app, &token, &form(5), "Second, and more").await.unwrap_err();
    assert_eq!(refused.to_string(), format!("text: {}", secure::SENT_BEFORE));
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
}

async fn the_forms_of_two_readers_have_nothing_to_do_with_each_other(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({
        "body": "First", "secure": true, "send": true, "to": [ANN], "cc": ["bo@shop.example"],
    });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(UNDO).await;
    let token_of = |email: &str| {
        let mails = app.outside.relay.attempts();
        let mail = mails.iter().find(|mail| mail.recipients == [email]).expect("a mail");
        let text = String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "");
        text.split_once("/s/").unwrap().1.chars().take(40).collect::<String>()
    };
    let (of_ann, of_bo) = (token_of(ANN), token_of("bo@shop.example"));
    let by_ann = send(&app.app, &of_ann, &form(5), "Second").await.unwrap();
    let by_bo = send(&app.app, &of_bo, &form(5), "Second").await.unwrap();
    assert_ne!(by_ann, by_bo);
    for token in [&of_ann, &of_bo] {
        assert_eq!(page_texts(&app, token).await, ["First", "Second"]);
    }
}

async fn a_form_is_known_after_its_conversation_was_merged(app: TestApp) {
    let key = app.key("read write send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let token = token(&app);
    let id = send(&app.app, &token, &form(5), "Second").await.unwrap();
    let other = app.mail(ANN, "Chairs", "Hello").await;
    let into = json!({ "into": other.conversation.to_string() });
    app.on(&key, &sent.conversation, "merge", into).await.is(200);
    assert_eq!(send(&app.app, &token, &form(5), "Second").await.unwrap(), id);
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
}
