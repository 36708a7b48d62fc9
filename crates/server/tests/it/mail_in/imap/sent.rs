//! The folder of sent mail, of a real Dovecot.

use super::*;

on_both!(
    what_another_program_sent_joins_its_conversation_and_so_does_the_reply,
    what_another_program_began_waits_for_the_customer,
    of_a_mailbox_that_is_connected_whole_old_replies_join_their_conversations,
    what_is_sent_here_is_put_there_once,
    what_the_server_has_put_there_itself_is_not_put_there_again,
    the_folder_that_the_server_marks_is_taken
);

/// A mail as a mail program sends it.
fn sent(id: &str, to: &str, answers: &str) -> String {
    let answers = match answers {
        "" => String::new(),
        answers => format!("In-Reply-To: <{answers}>\r\n"),
    };
    format!(
        "From: Ann <support@acme.example>\r\nTo: Bruno <{to}>\r\nSubject: Re: Lamp 1\r\n\
         Message-ID: <{id}>\r\n{answers}\r\nA new one is on its way.\r\n"
    )
}

async fn next_round(app: &TestApp, fetchers: &Fetchers) {
    app.advance(61_000);
    fetchers.fetch_due().await.unwrap();
    assert!(health(app).await.ok, "{:?}", health(app).await);
}

async fn what_another_program_sent_joins_its_conversation_and_so_does_the_reply(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    dovecot.deliver(&letter(1));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    dovecot.put("Sent", &sent("phone.1@acme.example", "bruno1@keller.example", "1@keller.example"));
    next_round(&app, &fetchers).await;
    let listed = app.list(&key, "view=all").await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["status"], "waiting");
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    let messages = app.timeline(&key, &id, "message").await;
    assert_eq!(messages[1]["direction"], "outbound");
    assert_eq!(messages[1]["status"], "sent");
    assert_eq!(messages[1]["text"], "A new one is on its way.");
    assert_eq!(messages[1]["from"]["name"], "Ann");
    dovecot.deliver(
        "From: Bruno <bruno1@keller.example>\r\nTo: support@acme.example\r\nSubject: Thanks\r\n\
         Message-ID: <2@keller.example>\r\nIn-Reply-To: <phone.1@acme.example>\r\n\r\nGood.\r\n",
    );
    next_round(&app, &fetchers).await;
    next_round(&app, &fetchers).await;
    let messages = app.timeline(&key, &id, "message").await;
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert_eq!(app.read(&key, &id).await["status"], "open");
}

async fn what_another_program_began_waits_for_the_customer(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    dovecot.put("Sent", &sent("old@acme.example", "cara@x.example", ""));
    let from = FetchFrom { history: MailHistory::Nothing, ..plain() };
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &from).await);
    fetchers.fetch_due().await.unwrap();
    assert!(app.list(&key, "view=all").await.is_empty(), "what was sent before is left alone");
    dovecot.put("Sent", &sent("new@acme.example", "cara@x.example", ""));
    dovecot.put("Sent", &sent("self@acme.example", "support@acme.example", ""));
    next_round(&app, &fetchers).await;
    let listed = app.list(&key, "view=all").await;
    assert_eq!(listed.len(), 1, "a mail to oneself begins nothing");
    assert_eq!(listed[0]["status"], "waiting");
    assert_eq!(listed[0]["contact"]["email"], "cara@x.example");
}

async fn of_a_mailbox_that_is_connected_whole_old_replies_join_their_conversations(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    let at = |days: i64| UNIX_EPOCH + Duration::from_millis((app.now() - days * DAY) as u64);
    dovecot.deliver_at(&letter(1), at(90));
    dovecot.put_at(
        "Sent",
        &sent("old.1@acme.example", "bruno1@keller.example", "1@keller.example"),
        at(89),
    );
    // We wrote first; the reply names our mail, which is filed only later.
    dovecot.deliver_at(
        "From: Cara <cara@x.example>\r\nTo: support@acme.example\r\nSubject: Re: Offer\r\n\
         Message-ID: <c1@x.example>\r\nIn-Reply-To: <old.2@acme.example>\r\n\r\nYes.\r\n",
        at(79),
    );
    let offer = sent("old.2@acme.example", "cara@x.example", "").replace("Re: Lamp 1", "Offer");
    dovecot.put_at("Sent", &offer, at(80));
    let lonely = sent("old.3@acme.example", "dora@x.example", "").replace("Re: Lamp 1", "Hello");
    dovecot.put_at("Sent", &lonely, at(70));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    let mut seen = Vec::new();
    for listed in app.list(&key, "view=all").await {
        let id = listed["id"].as_str().unwrap();
        let messages = app.timeline(&key, &id, "message").await;
        let contact = listed["contact"]["email"].as_str().unwrap().to_owned();
        seen.push((contact, listed["status"].clone(), texts(&messages, "direction")));
    }
    seen.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("bruno1@keller.example", "waiting", vec!["inbound", "outbound"]),
        ("cara@x.example", "open", vec!["outbound", "inbound"]),
        ("dora@x.example", "closed", vec!["outbound"]),
    ];
    for (found, (contact, status, directions)) in seen.iter().zip(&expected) {
        assert_eq!((found.0.as_str(), &found.1), (*contact, &serde_json::json!(status)));
        assert_eq!(found.2, *directions, "{contact}");
    }
    assert_eq!(seen.len(), expected.len(), "{seen:?}");
}

async fn what_is_sent_here_is_put_there_once(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    dovecot.deliver(&letter(1));
    let key = app.key("send").await;
    let fetchers = set_up(&app, &dovecot, &plain()).await;
    fetchers.fetch_due().await.unwrap();
    let id = app.list(&key, "").await[0]["id"].as_str().unwrap().to_owned();
    let message = app.schedule(&key, &id, "It left on Tuesday.").await;
    app.pass(testing::UNDO).await;
    for _ in 0..3 {
        next_round(&app, &fetchers).await;
    }
    let there = dovecot.mails(".Sent");
    assert_eq!(there.len(), 1, "{there:?}");
    assert!(there[0].contains('S'), "it is read: {there:?}");
    let text = dovecot.text(".Sent", &there[0]);
    assert!(text.contains(&app.header_id(&message).await), "{text}");
    assert!(text.contains("In-Reply-To: <1@keller.example>"), "{text}");
    assert!(text.contains("It left on Tuesday."), "{text}");
    let messages = app.timeline(&key, &id, "message").await;
    assert_eq!(messages.len(), 2, "the copy is no second message: {messages:?}");
}

async fn what_the_server_has_put_there_itself_is_not_put_there_again(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    dovecot.deliver(&letter(1));
    let key = app.key("send").await;
    let fetchers = set_up(&app, &dovecot, &plain()).await;
    fetchers.fetch_due().await.unwrap();
    let id = app.list(&key, "").await[0]["id"].as_str().unwrap().to_owned();
    let message = app.schedule(&key, &id, "It left on Tuesday.").await;
    app.pass(testing::UNDO).await;
    let own = app.header_id(&message).await;
    dovecot.put("Sent", &sent(&own, "bruno1@keller.example", "1@keller.example"));
    next_round(&app, &fetchers).await;
    assert_eq!(dovecot.mails(".Sent").len(), 1);
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 2);
}

async fn the_folder_that_the_server_marks_is_taken(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.make_folder("Sent");
    dovecot.make_folder("Outbox");
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    dovecot.put("Sent", &sent("a@acme.example", "wrong@x.example", ""));
    dovecot.put("Outbox", &sent("b@acme.example", "right@x.example", ""));
    next_round(&app, &fetchers).await;
    let listed = app.list(&key, "view=all").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["contact"]["email"], "right@x.example");
}
