//! Mail of the service itself to people of the workspace.

use actions::inboxes::setup;
use base::actor::Actor;
use base::ids::UserId;
use jobs::RelayOutcome;
use model::people::notices::{Notice, notify};
use testing::*;

on_both!(
    a_notice_leaves_at_once_as_automatic_mail_of_the_first_inbox,
    a_notice_waits_and_keeps_its_message_id_while_the_relay_is_busy,
    nothing_is_sent_to_an_inbox_of_ours_or_where_nobody_reads
);

async fn tell(app: &TestApp, person: &Actor, subject: &'static str) {
    let person: UserId = user(person);
    app.act(&app.owner, move |tx, cx| {
        notify(tx, cx, &person, &Notice { subject, text: "Look at https://mail.acme.example/in." })
    })
    .await;
}

async fn a_notice_leaves_at_once_as_automatic_mail_of_the_first_inbox(app: TestApp) {
    let ann = app.person("Ann").await;
    tell(&app, &ann, "Somebody mentioned you").await;
    app.work().await;
    let sent = app.outside.relay.attempts();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].recipients, ["ann@acme.example"]);
    let mail = String::from_utf8(sent[0].bytes.to_vec()).unwrap();
    for line in [
        "From: \"Mailroom\" <support@acme.example>",
        "To: <ann@acme.example>",
        "Subject: Somebody mentioned you",
        "Auto-Submitted: auto-generated",
    ] {
        assert!(mail.lines().any(|have| have == line), "{line} in {mail}");
    }
    app.pass(3 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1, "it is sent once");
}

async fn a_notice_waits_and_keeps_its_message_id_while_the_relay_is_busy(app: TestApp) {
    let ann = app.person("Ann").await;
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    tell(&app, &ann, "Hello").await;
    app.work().await;
    app.pass(MINUTE - 1).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    app.pass(1).await;
    let attempts = app.outside.relay.attempts();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].message_id, attempts[1].message_id);
    assert_eq!(attempts[0].bytes, attempts[1].bytes);
}

async fn nothing_is_sent_to_an_inbox_of_ours_or_where_nobody_reads(app: TestApp) {
    for address in ["support@acme.example", "support+x@acme.example", "no-reply@x.example"] {
        let id = app
            .act(&app.owner, move |tx, cx| {
                setup::add_person(tx, cx, address, "A Loop", base::actor::Role::Member)
            })
            .await;
        let notice = Notice { subject: "Hello", text: "Hello" };
        app.act(&app.owner, move |tx, cx| notify(tx, cx, &id, &notice)).await;
    }
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
}
