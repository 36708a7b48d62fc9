//! What falls due, on the way of time (API section 3.3).

use std::collections::BTreeSet;

use actions::writing::drafts;
use base::ids::MessageId;
use jobs::{OutgoingMail, RelayOutcome};
use serde_json::json;
use testing::*;

on_both!(
    a_sent_reply_leaves_after_the_undo_window_and_it_is_the_customers_turn,
    a_temporary_refusal_is_tried_again_with_the_same_message_id_for_two_days,
    a_snooze_ends_by_the_clock,
    a_draft_never_leaves_until_a_person_approves_it,
    anyone_on_the_team_can_stop_a_message_during_the_window,
    what_leaves_is_a_mail_that_answers_the_customers,
    a_permanent_refusal_fails_at_once_and_tells_no_message_sent,
    a_busy_workspace_keeps_no_other_waiting
);

async fn a_sent_reply_leaves_after_the_undo_window_and_it_is_the_customers_turn(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example Mara", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
    app.pass(UNDO - 1).await;
    assert!(app.outside.relay.attempts().is_empty());
    app.pass(1).await;
    let sent = app.outside.relay.attempts();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].recipients, ["mara@customer.example"]);
    assert_eq!(sent[0].message_id, app.header_id(&message).await);
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["status"], "waiting");
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "sent");
    assert_eq!(app.event_types().await, ["turn.changed", "turn.changed", "message.sent"]);
}

async fn a_temporary_refusal_is_tried_again_with_the_same_message_id_for_two_days(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&vec![RelayOutcome::Later("busy".into()); 100]);
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    for (wait, attempts) in [(1, 2), (5, 3), (15, 4), (60, 5), (240, 6), (240, 7)] {
        app.pass(wait * MINUTE - 1).await;
        assert_eq!(app.outside.relay.attempts().len(), attempts - 1, "before {wait} minutes");
        app.pass(1).await;
        assert_eq!(app.outside.relay.attempts().len(), attempts, "after {wait} minutes");
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(messages[1]["status"], "sending");
    }
    app.pass(3 * DAY).await;
    let attempts = app.outside.relay.attempts();
    assert!((15..20).contains(&attempts.len()), "{}", attempts.len());
    assert!(attempts.iter().all(|parcel| parcel.message_id == attempts[0].message_id));
    assert!(attempts.iter().all(|parcel| parcel.bytes == attempts[0].bytes));
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "failed");
    assert!(!app.event_types().await.contains(&"message.sent".to_owned()));
}

async fn a_snooze_ends_by_the_clock(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.snooze(&app.owner, &mail.conversation, app.now() + HOUR).await;
    app.pass(HOUR - 1).await;
    assert_eq!(app.list(&key, "view=open").await.len(), 0);
    app.pass(1).await;
    assert_eq!(app.list(&key, "view=open").await.len(), 1);
    let happened = app.timeline_events(&key, &mail.conversation).await;
    assert_eq!(happened.last().unwrap(), &("woke".to_owned(), json!({ "by": "clock" })));
}

async fn a_draft_never_leaves_until_a_person_approves_it(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    app.pass(3 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    let id = MessageId::parse(&draft).unwrap();
    app.act(&app.owner, move |tx, cx| {
        testing::approve_draft(tx, cx, &id, 1, "It left on Tuesday.")
    })
    .await;
    app.pass(UNDO - 1).await;
    assert!(app.outside.relay.attempts().is_empty());
    app.pass(1).await;
    let sent = app.outside.relay.attempts();
    assert_eq!(sent.len(), 1);
    assert!(text_of_mail(&sent[0]).contains("It left on Tuesday."));
    let types = app.event_types().await;
    assert_eq!(types, ["turn.changed", "draft.approved", "turn.changed", "message.sent"]);
}

async fn anyone_on_the_team_can_stop_a_message_during_the_window(app: TestApp) {
    let key = app.key("send").await;
    let ann = app.person("Ann").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO - 1).await;
    let id = MessageId::parse(&message).unwrap();
    app.act(&ann, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
}

async fn what_leaves_is_a_mail_that_answers_the_customers(app: TestApp) {
    let key = app.key("send").await;
    let first = mail::Mail {
        message_id: Some("first@customer.example".into()),
        ..letter("mara@customer.example Mara Lind", "Lamp", "Where is it?")
    };
    let id = app.deliver(&app.support, first).await.conversation;
    app.schedule(&key, &id, "It left on Tuesday.").await;
    app.pass(UNDO).await;
    let parcel = app.outside.relay.attempts().remove(0);
    let text = text_of_mail(&parcel);
    for line in [
        "From: \"Robo\" <support@acme.example>",
        "To: \"Mara Lind\" <mara@customer.example>",
        "Subject: Re: Lamp",
        "In-Reply-To: <first@customer.example>",
        "References: <first@customer.example>",
        &format!("Message-ID: <{}>", parcel.message_id),
    ] {
        assert!(text.lines().any(|have| have == line), "{line} in {text}");
    }
    assert!(parcel.sender.starts_with("support+b_"), "{}", parcel.sender);
    assert!(text.contains("It left on Tuesday."));
}

async fn a_permanent_refusal_fails_at_once_and_tells_no_message_sent(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[RelayOutcome::Never("no such person".into())]);
    app.pass(3 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "failed");
    let bounced = ("bounced".to_owned(), json!({ "messageId": message }));
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, [bounced]);
    assert_eq!(app.event_types().await, ["turn.changed"]);
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
}

async fn a_busy_workspace_keeps_no_other_waiting(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let (ours, theirs) =
        (app.key("send").await, app.key_of(&other, "Their", "write send", false).await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    for number in 0..40 {
        app.schedule(&ours, &mail.conversation, &format!("Number {number}")).await;
    }
    let body = json!({ "from": "delivered@x.test", "text": "Hello" });
    let made = app.post(&theirs, "/sandbox/inbound", body).await.is(201).json();
    let id = text_of(&made, "conversationId");
    app.schedule(&theirs, &id, "Hello").await;
    app.advance(UNDO);
    app.outside.relay.hangs();
    app.keep_working();
    app.outside.relay.was_given(8).await;
    eventually(async || app.timeline(&theirs, &id, "message").await[1]["status"] == "sent").await;
    assert_eq!(app.outside.relay.attempts().len(), 8, "as many as one workspace may have");
}

fn text_of_mail(parcel: &OutgoingMail) -> String {
    String::from_utf8(parcel.bytes.to_vec()).unwrap()
}

#[test]
fn two_processes_share_the_messages_and_one_takes_over_what_the_other_was_killed_with() {
    run(Backend::Postgres, share_and_take_over);
}

async fn share_and_take_over(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    for number in 0..20 {
        app.schedule(&key, &mail.conversation, &format!("Number {number}")).await;
    }
    app.advance(UNDO);
    let ids = |parcels: &[OutgoingMail]| -> BTreeSet<String> {
        parcels.iter().map(|parcel| parcel.message_id.clone()).collect()
    };
    let doomed = app.another_process();
    doomed.outside.relay.hangs();
    doomed.work();
    doomed.outside.relay.was_given(8).await;
    app.work().await;
    let (theirs, ours) =
        (ids(&doomed.outside.relay.attempts()), ids(&app.outside.relay.attempts()));
    assert_eq!((theirs.len(), ours.len()), (8, 12));
    assert!(theirs.is_disjoint(&ours), "none is sent by both");
    doomed.kill();
    app.pass(MINUTE - 1).await;
    assert_eq!(app.outside.relay.attempts().len(), 12);
    app.pass(1).await;
    let attempts = app.outside.relay.attempts();
    assert_eq!(attempts.len(), 20);
    assert_eq!(ids(&attempts[12..]), theirs, "with the same Message-IDs");
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert!(messages[1..].iter().all(|message| message["status"] == "sent"));
    let sent = app.event_types().await.iter().filter(|kind| *kind == "message.sent").count();
    assert_eq!(sent, 20);
}
