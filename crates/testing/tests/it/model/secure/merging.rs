//! Conversations with protected messages that are merged, split, forwarded and given to others.

use actions::conversations::merging;
use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::writing::secure_messages;
use base::ids::ConversationId;
use model::guests::secure::LinkState;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};

use super::*;

on_both!(
    after_a_merge_every_link_shows_the_messages_of_its_own_address,
    an_answer_on_a_merged_page_comes_into_the_target_and_its_reply_is_protected,
    a_message_that_was_merged_is_recalled_taken_back_and_given_back,
    a_protected_message_that_is_split_off_keeps_its_page,
    a_merge_keeps_the_mark_of_a_draft_that_is_protected,
    a_plain_reply_in_a_merged_conversation_quotes_nothing_protected,
    a_page_goes_on_when_its_inbox_is_given_to_some
);

const BO: &str = "bo@shop.example";

/// A secure reply to somebody's mail that has left, and its link.
async fn reply_to(app: &TestApp, key: &TestKey, who: &str, words: &str) -> (Sent, String) {
    let mail = app.mail(who, &format!("About {words}"), "Hello").await;
    let conversation = mail.conversation.to_string();
    let message = secure_reply_in(app, key, &conversation, words).await;
    (Sent { conversation, message }, token(app))
}

async fn merge(app: &TestApp, key: &TestKey, source: &Sent, target: &Sent) {
    let into = json!({ "into": target.conversation });
    app.on(key, &source.conversation, "merge", into).await.is(200);
}

async fn after_a_merge_every_link_shows_the_messages_of_its_own_address(app: TestApp) {
    let key = app.key("read write send").await;
    let (first, of_ann) = reply_to(&app, &key, ANN, "First").await;
    let (second, of_bo) = reply_to(&app, &key, BO, "Second").await;
    let (third, also_of_ann) = reply_to(&app, &key, ANN, "Third").await;
    answer(&app, &of_bo, "Bo's words", None).await;
    merge(&app, &key, &second, &first).await;
    merge(&app, &key, &third, &first).await;
    for link in [&of_ann, &also_of_ann] {
        assert_eq!(page_texts(&app, link).await, ["First", "Third"]);
    }
    assert_eq!(page_texts(&app, &of_bo).await, ["Second", "Bo's words"]);
    let merged = app.read(&key, &first.conversation).await;
    assert_eq!(merged["id"], first.conversation.as_str());
    let id = ConversationId::parse(&second.conversation).unwrap();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, id.as_str())).await;
    assert_eq!(page_texts(&app, &of_bo).await, ["Second", "Bo's words"]);
    assert_eq!(page_texts(&app, &of_ann).await, ["First", "Third"]);
}

async fn an_answer_on_a_merged_page_comes_into_the_target_and_its_reply_is_protected(app: TestApp) {
    let key = app.key("read write draft send").await;
    let (first, _) = reply_to(&app, &key, ANN, "First").await;
    let (second, of_bo) = reply_to(&app, &key, BO, "Second").await;
    merge(&app, &key, &second, &first).await;
    ask(&app, &of_bo, "b").await;
    assert_eq!(enter(&app, &of_bo, "b", &code(&app)).await, CodeEntry::Right);
    let file = Some(("plan.pdf", b"%PDF plan".as_slice()));
    let id = answer(&app, &of_bo, "Bo's words", file).await;
    let read = message(&app, &key, &first, &id).await;
    assert_eq!((&read["secure"], &read["from"]["email"]), (&json!(true), &json!(BO)));
    assert_eq!(read["attachments"][0]["filename"], "plan.pdf");
    let draft = app.draft(&key, &first.conversation, "Next").await;
    assert_eq!(message(&app, &key, &first, &draft).await["secure"], true);
}

async fn a_message_that_was_merged_is_recalled_taken_back_and_given_back(app: TestApp) {
    let key = app.key("read write send").await;
    let (first, _) = reply_to(&app, &key, ANN, "First").await;
    let (second, of_bo) = reply_to(&app, &key, BO, "Second").await;
    merge(&app, &key, &second, &first).await;
    app.pass(3 * DAY).await;
    let recalled: Vec<_> = app.outside.relay.attempts().into_iter().rev().take(2).collect();
    let to_bo = recalled.iter().find(|mail| mail.recipients == [BO]).expect("a reminder to Bo");
    let text = String::from_utf8_lossy(&to_bo.bytes).replace("=\r\n", "");
    assert!(text.contains(&of_bo) && !text.contains("Second\r\n"), "{text}");
    app.post(&key, &format!("/messages/{}/revoke", second.message), json!({})).await.is(200);
    assert_eq!(link(&app, &of_bo).await.state, LinkState::Closed);
    let id = second.id();
    app.act(&app.owner, move |tx, cx| secure_messages::send_secure_again(tx, cx, &id)).await;
    app.work().await;
    assert_eq!(page_texts(&app, &token(&app)).await, ["Second"]);
}

async fn a_protected_message_that_is_split_off_keeps_its_page(app: TestApp) {
    let key = app.key("read write send").await;
    let (first, old) = reply_to(&app, &key, ANN, "First").await;
    let second = secure_reply_in(&app, &key, &first.conversation, "Second").await;
    let new = token(&app);
    let answered = answer(&app, &new, "Answer", None).await;
    assert_eq!(page_texts(&app, &old).await, ["First", "Second", "Answer"]);
    for (split, conversation) in [(&second, "the message"), (&answered, "the answer")] {
        let body = json!({ "messageId": split });
        app.on(&key, &first.conversation, "split", body).await.is(200);
        assert_ne!(app.list(&key, "view=all").await.len(), 1, "{conversation}");
    }
    assert_eq!(page_texts(&app, &old).await, ["First"]);
    assert_eq!(page_texts(&app, &new).await, ["Second"]);
    assert_eq!(app.count("conversations WHERE has_secure").await, 3);
    assert_eq!(app.count("conversations WHERE secure_answer").await, 1);
    let (there, inner) = (new.clone(), app.app.clone());
    let opened = app.app.store.write(move |tx| {
        let link = secure::link_at(tx, &there, inner.clock.now())?;
        secure::mark_opened(tx, &inner.cx(&link.actor), &link)
    });
    opened.await.unwrap();
    assert_eq!(app.count("secure_links WHERE opened_at IS NOT NULL").await, 1);
}

async fn a_merge_keeps_the_mark_of_a_draft_that_is_protected(app: TestApp) {
    let key = app.key("read write draft send").await;
    let (target, source) = (app.mail(ANN, "One", "Hello").await, app.mail(BO, "Two", "Hi").await);
    let body = json!({ "body": "Hidden", "secure": true });
    app.on(&key, &source.conversation, "replies", body).await.is(201);
    let into = json!({ "into": target.conversation.to_string() });
    app.on(&key, &source.conversation, "merge", into).await.is(200);
    let id = &target.conversation;
    assert_eq!(app.count(&format!("conversations WHERE has_secure AND id = '{id}'")).await, 1);
}

async fn a_plain_reply_in_a_merged_conversation_quotes_nothing_protected(app: TestApp) {
    let key = app.key("read write send").await;
    let (first, _) = reply_to(&app, &key, ANN, "Wordofours").await;
    let (second, of_bo) = reply_to(&app, &key, BO, "Wordtobo").await;
    answer(&app, &of_bo, "Wordofbo", None).await;
    merge(&app, &key, &second, &first).await;
    let body = json!({ "body": "See you.", "secure": false, "send": true });
    app.on(&key, &first.conversation, "replies", body).await.is(201);
    app.pass(UNDO).await;
    let all = mails(&app);
    assert!(all.iter().any(|mail| mail.contains("See you.")));
    for (mail, word) in all.iter().flat_map(|mail| ["Wordof", "Wordto"].map(|word| (mail, word))) {
        // The subject is not protected.
        let body = mail.split_once("\r\n\r\n").unwrap().1;
        assert!(!body.contains(word), "{word} in {mail}");
    }
    assert_eq!(app.list(&key, "view=all").await[0]["snippet"], "See you.");
}

async fn a_page_goes_on_when_its_inbox_is_given_to_some(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "First").await;
    let token = token(&app);
    let file = Some(("plan.pdf", b"%PDF plan".as_slice()));
    let answered = MessageId::parse(&answer(&app, &token, "Second", file).await).unwrap();
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let file = message(&app, &key, &sent, answered.as_str()).await;
    assert_eq!(file["attachments"][0]["filename"], "plan.pdf");
    let entry =
        AccessEntry { holder: AccessHolder::Person(user(&ann)), may_see: true, may_send: false };
    let access = InboxAccess { everybody: false, all_send: true, entries: vec![entry] };
    let inbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &inbox, &access))
        .await;
    let wanted = answered.clone();
    let refused = app.expect_refusal(&bo, move |tx, cx| {
        secure_messages::secure_file(tx, cx, &wanted, "enc_00000000000000000000000000")
    });
    assert_eq!(refused.await.to_string(), base::error::Error::NotFound("file").to_string());
    app.get(&key, &format!("/conversations/{}", sent.conversation)).await.is(404);
    assert_eq!(page_texts(&app, &token).await, ["First", "Second"]);
    ask(&app, &token, "b").await;
    assert_eq!(enter(&app, &token, "b", &code(&app)).await, CodeEntry::Right);
    answer(&app, &token, "Third", None).await;
    assert_eq!(page_texts(&app, &token).await, ["First", "Second", "Third"]);
}
