//! API sections 2.8 and 4.8.

use base::time::Moment;
use inbound::incoming_mail::FiledMail;
use mail::{Address, Mail};
use serde_json::{Value, json};
use testing::{DAY, PUBLIC_URL, SECOND, TestApp, UNDO, fields, letter, on_both, text_of};

on_both!(
    a_reply_is_a_draft_that_waits_for_a_person,
    a_sent_reply_leaves_after_the_undo_window,
    in_the_sandbox_a_sent_reply_leaves_after_five_seconds,
    a_reply_that_went_out_stands_at_its_time_and_counts,
    the_subject_of_a_reply_starts_with_re_once,
    a_reply_goes_to_the_contact_alone_and_answers_their_latest_mail,
    the_message_id_is_fixed_and_unguessable_before_anything_is_sent,
    each_call_makes_a_reply_of_its_own,
    a_reply_may_ask_for_documents,
    an_empty_list_of_documents_asks_for_nothing,
    a_reply_on_a_conversation_in_any_status_is_kept,
    a_reply_to_all_goes_to_everybody_of_the_newest_mail_but_our_own_inboxes,
    a_reply_to_all_after_our_own_mail_keeps_its_lines,
    the_caller_may_name_the_recipients_instead,
    who_got_a_copy_of_our_mail_may_answer_into_the_conversation,
    a_reply_tells_of_other_drafts_and_can_insist_to_be_the_only_one
);

async fn a_reply_is_a_draft_that_waits_for_a_person(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example Ann", "Lamp", "text").await;
    let body = json!({ "body": "Hello Ann", "summary": "Says hello" });
    let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    assert_eq!(fields(&answer), ["messageId", "note", "status"]);
    assert_eq!(answer["status"], "draft");
    assert_eq!(answer["note"], "Waits for a person to approve it.");
    let message = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
    assert_eq!(
        message,
        json!({
            "type": "message",
            "id": answer["messageId"],
            "at": app.iso(),
            "by": { "type": "agent", "name": "Robo", "id": key.id },
            "direction": "outbound",
            "from": { "name": "Robo", "email": "support@acme.example" },
            "to": ["a@x.example"],
            "cc": [],
            "status": "draft",
            "text": "Hello Ann",
            "attachments": [],
            "secure": false,
        })
    );
    assert_eq!(app.events().await.len(), 1);
}

async fn a_sent_reply_leaves_after_the_undo_window(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({ "body": "Hello", "send": true });
    let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    assert_eq!(fields(&answer), ["messageId", "note", "sendsAt", "status"]);
    assert_eq!(answer["status"], "scheduled");
    let leaves = Moment(app.now() + UNDO);
    assert_eq!(answer["sendsAt"], leaves.iso());
    let note = text_of(&answer, "note");
    let begins = format!("Leaves at {}", leaves.clock_time());
    assert!(note.starts_with(&begins) && note.ends_with("."), "{note}");
    let message = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
    assert_eq!(message["status"], "scheduled");
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
    assert_eq!(app.events().await.len(), 1);
}

async fn in_the_sandbox_a_sent_reply_leaves_after_five_seconds(app: TestApp) {
    let key = app.test_key("send").await;
    let mail = app.deliver(&app.sandbox, letter("delivered@x.test", "Lamp", "text")).await;
    app.advance(55 * SECOND);
    let body = json!({ "body": "Hello", "send": true });
    let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    assert_eq!(answer["sendsAt"], "2026-11-15T09:01:00.000Z");
    let message = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
    let from = json!({ "name": "Testo", "email": "sandbox@acme.test" });
    assert_eq!(message["from"], from);
}

async fn a_reply_that_went_out_stands_at_its_time_and_counts(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let message = app.schedule(&key, &mail.conversation, "Hello").await;
    app.advance(UNDO);
    app.mark_sent(&app.support, &message).await;
    let item = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
    assert_eq!((&item["status"], &item["at"]), (&json!("sent"), &json!(app.iso())));
    let types = app.event_types_since(1).await;
    assert_eq!(types, ["turn.changed", "message.sent"]);
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "waiting");
}

async fn the_subject_of_a_reply_starts_with_re_once(app: TestApp) {
    let key = app.key("draft").await;
    for (subject, expected) in [
        ("Lamp", "Re: Lamp"),
        ("Re: Lamp", "Re: Lamp"),
        ("RE: Lamp", "RE: Lamp"),
        ("re:Lamp", "re:Lamp"),
        ("", "Re:"),
        ("Éé", "Re: Éé"),
        ("漢字", "Re: 漢字"),
    ] {
        let mail = app.mail("a@x.example", subject, "text").await;
        app.advance(31 * DAY);
        let message = app.draft(&key, &mail.conversation, "Hello").await;
        assert_eq!(stored(&app, &message).await.0, expected);
    }
}

async fn a_reply_goes_to_the_contact_alone_and_answers_their_latest_mail(app: TestApp) {
    let key = app.key("draft").await;
    let mail = mail::Mail {
        message_id: Some("one@x.example".into()),
        cc: vec![mail::Address::new(None, "carl@x.example")],
        ..letter("ann@x.example Ann", "Lamp", "text")
    };
    let mail = app.deliver(&app.support, mail).await;
    app.advance(SECOND);
    let second = mail::Mail {
        message_id: Some("two@x.example".into()),
        ..letter("ann@x.example Ann", "Lamp", "text")
    };
    app.deliver(&app.support, second).await;
    let message = app.draft(&key, &mail.conversation, "Hello").await;
    let (_, to, cc, answers) = stored(&app, &message).await;
    assert_eq!(to, json!([{ "name": "Ann", "email": "ann@x.example" }]));
    assert_eq!(cc, json!([]));
    assert_eq!(answers, json!(["two@x.example"]));
}

async fn the_message_id_is_fixed_and_unguessable_before_anything_is_sent(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let message = app.schedule(&key, &mail.conversation, "Hello").await;
    let header_id = app.header_id(&message).await;
    assert!(header_id.ends_with("@acme.example"), "{header_id}");
    assert!(header_id.len() > 60, "{header_id}");
    app.mark_sent(&app.support, &message).await;
    assert_eq!(app.header_id(&message).await, header_id);
}

async fn each_call_makes_a_reply_of_its_own(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let first = app.draft(&key, &mail.conversation, "Hello").await;
    let second = app.draft(&key, &mail.conversation, "Hello").await;
    assert_ne!(first, second);
    assert_eq!(app.timeline(&key, &mail.conversation, "message").await.len(), 3);
}

async fn a_reply_may_ask_for_documents(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for send in [false, true] {
        let documents = json!([{ "label": "Passport" }, { "label": "Bill", "required": false }]);
        let body = json!({ "body": "Hello", "send": send, "documents": documents });
        let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
        assert!(text_of(&answer, "requestId").starts_with("req_"));
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        let written = messages.iter().find(|one| one["id"] == answer["messageId"]).unwrap();
        let text = text_of(written, "text");
        assert!(text.starts_with("Hello"));
        assert_eq!(text.contains("- Passport\n"), send, "{text}");
        assert_eq!(text.contains("- Bill (nice to have)\n"), send, "{text}");
        assert_eq!(text.contains(&format!("{PUBLIC_URL}/u/")), send, "{text}");
        let last = app.timeline_events(&key, &mail.conversation).await.pop().unwrap();
        assert_eq!(last, ("requested".into(), json!({ "requestId": answer["requestId"] })));
    }
}

async fn an_empty_list_of_documents_asks_for_nothing(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({ "body": "Hello", "documents": [] });
    let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    assert_eq!(answer.get("requestId"), None);
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}

async fn a_reply_on_a_conversation_in_any_status_is_kept(app: TestApp) {
    let key = app.key("write draft").await;
    for status in ["open", "waiting", "closed"] {
        let mail = app.mail("a@x.example", status, "text").await;
        app.on(&key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
        app.draft(&key, &mail.conversation, "Hello").await;
        assert_eq!(app.read(&key, &mail.conversation).await["status"], status);
    }
}

/// The subject, To, Cc and ancestors with which a message will leave.
async fn stored(app: &testing::TestApp, message: &str) -> (String, Value, Value, Value) {
    let id = base::ids::MessageId::parse(message).unwrap();
    let read = app.app.store.read(move |tx| {
        tx.one::<(String, String, String, String)>(
            "SELECT subject, to_list, cc_list, answers FROM messages WHERE id = ?1",
            &[&id],
        )
    });
    let (subject, to, cc, answers) =
        read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"));
    let json = |text: String| serde_json::from_str(&text).unwrap();
    (subject, json(to), json(cc), json(answers))
}

/// A mail from Ann to us and Bo, with Cy and another inbox of ours in copy.
async fn mail_to_several(app: &TestApp) -> FiledMail {
    app.team_inbox("sales@acme.example", "Sales").await;
    let address = |name: Option<&str>, email: &str| Address::new(name, email);
    let mail = Mail {
        to: vec![address(None, "support+x1@acme.example"), address(Some("Bo"), "bo@x.example")],
        cc: vec![address(None, "cy@x.example"), address(None, "sales@acme.example")],
        ..letter("ann@x.example Ann", "Lamp", "text")
    };
    app.deliver(&app.support, mail).await
}

/// To and Cc of the mail that left last.
fn lines_of_last(app: &TestApp) -> (String, String) {
    let sent = app.outside.relay.attempts().pop().expect("a mail left");
    let participants = mail::participants(&sent.bytes);
    let line = |people: &[Address]| {
        people.iter().map(|one| one.email.as_str()).collect::<Vec<_>>().join(" ")
    };
    (line(&participants.to), line(&participants.cc))
}

async fn a_reply_to_all_goes_to_everybody_of_the_newest_mail_but_our_own_inboxes(app: TestApp) {
    let key = app.key("send").await;
    let mail = mail_to_several(&app).await;
    let body = json!({ "body": "Hello all", "send": true, "replyAll": true });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(DAY).await;
    assert_eq!(lines_of_last(&app), ("ann@x.example".into(), "bo@x.example cy@x.example".into()));
}

async fn a_reply_to_all_after_our_own_mail_keeps_its_lines(app: TestApp) {
    let key = app.key("send").await;
    let mail = mail_to_several(&app).await;
    let body =
        json!({ "body": "Hello", "send": true, "to": ["bo@x.example"], "cc": ["dee@x.example"] });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(DAY).await;
    let body = json!({ "body": "One more thing", "send": true, "replyAll": true });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(DAY).await;
    assert_eq!(lines_of_last(&app), ("bo@x.example".into(), "dee@x.example".into()));
}

async fn the_caller_may_name_the_recipients_instead(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = mail_to_several(&app).await;
    let body = json!({
        "body": "Hello", "send": true, "replyAll": true,
        "cc": ["Eve@X.example", "eve@x.example"],
    });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.pass(DAY).await;
    assert_eq!(lines_of_last(&app), ("ann@x.example".into(), "eve@x.example".into()));
    for wrong in
        [json!([]), json!(["no address"]), json!(vec!["a@x.example"; 21]), json!("a@x.example")]
    {
        let body = json!({ "body": "Hello", "to": wrong });
        let error = app.on(&key, &mail.conversation, "replies", body).await.is(400).error();
        assert!(error.starts_with("to"), "{error}");
    }
}

async fn who_got_a_copy_of_our_mail_may_answer_into_the_conversation(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let body = json!({ "body": "Hello", "send": true, "cc": ["fay@elsewhere.example"] });
    let answer = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    app.pass(DAY).await;
    let header_id = app.header_id(&text_of(&answer, "messageId")).await;
    let reply =
        Mail { answers: vec![header_id], ..letter("fay@elsewhere.example", "Re: Lamp", "Me too") };
    let joined = app.deliver(&app.support, reply).await;
    assert_eq!(joined.conversation, mail.conversation);
}

async fn a_reply_tells_of_other_drafts_and_can_insist_to_be_the_only_one(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let only = |body: &str| json!({ "body": body, "onlyIfNoDraft": true });
    let first = app.on(&key, &mail.conversation, "replies", only("Hello")).await.is(201).json();
    let first = text_of(&first, "messageId");
    let refused = app.on(&key, &mail.conversation, "replies", only("Hi")).await.is(409).error();
    assert!(refused.contains(&first), "{refused}");
    let second = app.on(&key, &mail.conversation, "replies", json!({ "body": "Hi" })).await.is(201);
    assert_eq!(second.json()["otherDrafts"], json!([first]));
    let documents = json!({ "documents": [{ "label": "Passport" }], "onlyIfNoDraft": true });
    app.on(&key, &mail.conversation, "document-requests", documents).await.is(409);
    let elsewhere = app.mail("bo@x.example", "Desk", "text").await;
    app.on(&key, &elsewhere.conversation, "replies", only("Hello")).await.is(201);
}
