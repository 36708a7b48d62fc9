//! The words and files of secure messages stand nowhere but on their page.

use actions::writing::approvals;

use super::*;

on_both!(
    the_mail_of_a_secure_reply_says_only_who_wrote_and_where_to_read_it,
    each_recipient_gets_a_mail_and_a_link_of_their_own,
    words_and_files_are_in_no_table_event_mail_or_blob,
    search_and_lists_know_a_secure_message_by_subject_and_contact_only,
    a_plain_reply_quotes_nothing_that_was_said_on_a_page,
    a_secure_draft_is_sealed_from_the_first_word_and_approved_as_it_was_read,
    a_conversation_that_is_erased_leaves_no_sealed_file
);

async fn the_mail_of_a_secure_reply_says_only_who_wrote_and_where_to_read_it(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Your account is 4711.").await;
    let mails = mails(&app);
    assert_eq!(mails.len(), 1);
    for part in [
        "Subject: Re: Lamps",
        "Robo of Acme has written to you",
        &format!("{PUBLIC_URL}/s/"),
        "open until 15 December 2026",
        "travels as ordinary mail",
    ] {
        assert!(mails[0].contains(part), "{part} in {}", mails[0]);
    }
    assert!(!mails[0].contains("4711") && !mails[0].contains("Hello\r\n"), "{}", mails[0]);
    let read = message(&app, &key, &sent, &sent.message).await;
    assert_eq!(read["text"], "Your account is 4711.");
    assert_eq!((&read["secure"], &read["openedAt"]), (&json!(true), &Value::Null));
    assert_eq!(read["expiresAt"], base::time::Moment(app.now() + 30 * DAY).iso());
    let events = app.events().await;
    let left = events.iter().find(|event| event["type"] == "message.sent").unwrap();
    assert_eq!(left["data"]["secure"], true);
}

async fn each_recipient_gets_a_mail_and_a_link_of_their_own(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({
        "body": "Secret", "secure": true, "send": true, "to": [ANN], "cc": ["bo@shop.example"],
    });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(UNDO).await;
    let attempts = app.outside.relay.attempts();
    let mut recipients: Vec<_> = attempts.iter().map(|mail| mail.recipients.clone()).collect();
    recipients.sort();
    assert_eq!(recipients, [[ANN], ["bo@shop.example"]]);
    let mails = mails(&app);
    let links: Vec<&str> =
        mails.iter().map(|mail| &mail.split_once("/s/").unwrap().1[..40]).collect();
    assert_ne!(links[0], links[1]);
    assert!(mails.iter().all(|mail| !(mail.contains(ANN) && mail.contains("bo@shop"))));
}

async fn words_and_files_are_in_no_table_event_mail_or_blob(app: TestApp) {
    let key = app.key("read write draft send").await;
    let hook = app.hook("receiver").await;
    let sent = secure_reply(&app, &key, "It says canarywordone here.").await;
    let token = token(&app);
    ask(&app, &token, "b").await;
    assert_eq!(enter(&app, &token, "b", &code(&app)).await, CodeEntry::Right);
    let file = Some(("canarynametwo.pdf", b"%PDF canarybytesthree".as_slice()));
    let id = answer(&app, &token, "And canarywordfour back.", file).await;
    let body = json!({ "body": "A canarywordfive draft.", "summary": "Says canarywordsix" });
    app.on(&key, &sent.conversation, "replies", body).await.is(201);
    app.pass(4 * DAY).await;
    let read = message(&app, &key, &sent, &id).await;
    assert_eq!(read["attachments"][0]["filename"], "canarynametwo.pdf");
    assert_eq!(read["text"], "And canarywordfour back.");
    let stored = app.stored_bytes().await;
    assert!(stored.hold("Protected message"), "the scan sees what is stored");
    let mails = mails(&app).join("\n");
    assert!(mails.contains("arrived at Acme"), "{mails}");
    let calls: Vec<String> = app.calls_to(&hook).iter().map(|call| call.body.to_string()).collect();
    assert!(calls.iter().any(|call| call.contains(r#""secure":true"#)));
    for canary in
        ["canarywordone", "canarynametwo", "canarybytesthree", "canarywordfour", "canaryword"]
    {
        assert!(!stored.hold(canary), "{canary} is stored");
        assert!(!mails.contains(canary), "{canary} in mail");
        assert!(!calls.iter().any(|call| call.contains(canary)), "{canary} in a webhook");
    }
    assert!(!stored.hold(&token), "the link is stored");
}

async fn a_conversation_that_is_erased_leaves_no_sealed_file(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "It says canarywordone here.").await;
    let token = token(&app);
    ask(&app, &token, "b").await;
    assert_eq!(enter(&app, &token, "b", &code(&app)).await, CodeEntry::Right);
    let mut chance = Chance::new(7);
    let noise: Vec<u8> = (0..300_000).map(|_| chance.below(256) as u8).collect();
    let file = [b"%PDF-1.4 ".as_slice(), &noise].concat();
    answer(&app, &token, "Here it is.", Some(("plan.pdf", &file))).await;
    assert!(app.count("blobs").await > 0);
    let (id, now) = (sent.conversation.clone(), app.now());
    let removed = app.app.store.write(move |tx| {
        tx.exec(
            "UPDATE conversations SET removed = 'trash', erase_at = ?2 WHERE id = ?1",
            &[&id, &now],
        )
    });
    assert_eq!(removed.await.unwrap(), 1);
    app.pass(HOUR).await;
    app.pass(HOUR).await;
    assert_eq!(
        app.count(&format!("messages WHERE conversation = '{}'", sent.conversation)).await,
        0
    );
    for table in ["secure_messages", "unused_blobs", "blobs"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

async fn search_and_lists_know_a_secure_message_by_subject_and_contact_only(app: TestApp) {
    let key = app.key("read send").await;
    secure_reply(&app, &key, "Quixotic zeppelin").await;
    assert_eq!(app.search_subjects(&key, "zeppelin").await, [""; 0]);
    assert_eq!(app.search_subjects(&key, "Lamps").await, ["Lamps"]);
    assert_eq!(app.list(&key, "view=all").await[0]["snippet"], "Protected message");
    answer(&app, &token(&app), "Also zeppelin", None).await;
    assert_eq!(app.search_subjects(&key, "zeppelin").await, [""; 0]);
    assert_eq!(app.list(&key, "view=all").await[0]["snippet"], "Protected message");
}

async fn a_plain_reply_quotes_nothing_that_was_said_on_a_page(app: TestApp) {
    let key = app.key("read send").await;
    let sent = secure_reply(&app, &key, "Wordfromus").await;
    answer(&app, &token(&app), "Wordfromthem", None).await;
    let body = json!({ "body": "See you.", "secure": false, "send": true });
    app.on(&key, &sent.conversation, "replies", body).await.is(201);
    app.pass(UNDO).await;
    let last = mails(&app).pop().unwrap();
    assert!(last.contains("See you."), "{last}");
    for word in ["Wordfrom", "Protected message", "Hello"] {
        assert!(!last.contains(word), "{word} in {last}");
    }
}

async fn a_secure_draft_is_sealed_from_the_first_word_and_approved_as_it_was_read(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({ "body": "Draftword", "summary": "Summaryword", "secure": true });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = MessageId::parse(&text_of(&made, "messageId")).unwrap();
    let stored = app.stored_bytes().await;
    assert!(!stored.hold("Draftword") && !stored.hold("Summaryword"));
    let (looked, wanted) = (id.clone(), id.clone());
    let decision =
        app.act(&app.owner, move |tx, cx| approvals::look_at_draft(tx, cx, &looked)).await;
    assert_eq!(decision.draft.text, "Draftword");
    assert_eq!(decision.draft.summary.as_deref(), Some("Summaryword"));
    let revision = decision.draft.revision;
    app.act(&app.owner, move |tx, cx| {
        testing::approve_draft(tx, cx, &wanted, revision, "Otherword")
    })
    .await;
    app.pass(UNDO).await;
    assert_eq!(page_texts(&app, &token(&app)).await, ["Otherword"]);
    assert!(!app.stored_bytes().await.hold("Otherword"));
}
