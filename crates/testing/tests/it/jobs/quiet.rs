//! Quiet mode: what leaves the house waits, everything else goes on.

use actions::inboxes::setup;
use model::installation::{
    Installation, QuietReason, begin_quiet, end_quiet, installation, recognise_copy,
};
use model::people::notices::{Notice, notify};
use serde_json::json;
use testing::*;

on_both!(
    a_quiet_server_sends_nothing_and_what_waits_leaves_unchanged_afterwards,
    the_sandbox_and_snoozes_go_on_while_a_server_is_quiet,
    a_database_with_another_identity_than_it_knows_is_a_copy_until_told_otherwise,
    a_copy_without_a_workspace_has_nothing_to_be_quiet_about,
    an_installation_that_was_restored_stays_marked_so,
    a_list_is_read_while_somebody_writes_and_tells_no_page
);

async fn known(app: &TestApp) -> Installation {
    app.app.store.read(installation).await.unwrap()
}

async fn recognise(app: &TestApp, identity: Option<&'static str>) {
    let now = app.now();
    app.app.store.write(move |tx| recognise_copy(tx, identity, now)).await.unwrap();
}

async fn a_quiet_server_sends_nothing_and_what_waits_leaves_unchanged_afterwards(app: TestApp) {
    let mut app = app;
    let key = app.key("send").await;
    app.webhook(&app.owner, false, true).await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let ask = json!({ "documents": [{ "label": "Passport" }], "send": true });
    app.on(&key, &mail.conversation, "document-requests", ask).await.is(201);
    app.pass(UNDO).await;
    let (attempts, calls) =
        (app.outside.relay.attempts().len(), app.outside.webhook_sender.calls().len());
    assert!(attempts > 0 && calls > 0, "what is tested leaves otherwise");

    app.set_quiet(true);
    app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
    let owner = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        notify(tx, cx, &owner, &Notice { subject: "Hello", text: "Hello." })
    })
    .await;
    app.pass(5 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), attempts, "no mail, reminder or notice");
    assert_eq!(app.outside.webhook_sender.calls().len(), calls, "no webhook");
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages.last().unwrap()["status"], "scheduled", "as it was");

    app.set_quiet(false);
    app.work().await;
    let left = &app.outside.relay.attempts()[attempts..];
    assert_eq!(left.len(), 3, "the reply, the notice and the first reminder");
    assert!(app.outside.webhook_sender.calls().len() > calls);
}

async fn the_sandbox_and_snoozes_go_on_while_a_server_is_quiet(app: TestApp) {
    let mut app = app;
    app.set_quiet(true);
    let (key, test_key) = (app.key("read").await, app.test_key("write send").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.snooze(&app.owner, &mail.conversation, app.now() + HOUR).await;
    let inbound = json!({ "from": "reply@customer.test", "subject": "Lamp", "text": "Hello" });
    let made = app.post(&test_key, "/sandbox/inbound", inbound).await.is(201).json();
    let simulated = text_of(&made, "conversationId");
    app.schedule(&test_key, &simulated, "It is in stock.").await;
    app.pass(HOUR).await;
    let messages = app.timeline(&test_key, &simulated, "message").await;
    let statuses: Vec<_> = messages.iter().map(|m| m["status"].clone()).collect();
    assert_eq!(messages.len(), 3, "the simulated customer has written back: {statuses:?}");
    assert_eq!(messages[1]["status"], "sent");
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
    assert!(app.outside.relay.attempts().is_empty());
}

async fn a_database_with_another_identity_than_it_knows_is_a_copy_until_told_otherwise(
    app: TestApp,
) {
    recognise(&app, Some("here")).await;
    recognise(&app, Some("here")).await;
    recognise(&app, None).await;
    assert_eq!(known(&app).await.quiet(), None, "the original, or nothing is known");
    app.advance(HOUR);
    let copied_at = app.now();
    recognise(&app, Some("there")).await;
    app.advance(HOUR);
    recognise(&app, Some("there")).await;
    let mark = known(&app).await.quiet().unwrap();
    assert_eq!((mark.reason, mark.since.0), (QuietReason::Copied, copied_at));
    app.app.store.write(|tx| end_quiet(tx, Some("there"))).await.unwrap();
    recognise(&app, Some("there")).await;
    assert_eq!(known(&app).await.quiet(), None, "it is the original now");
    recognise(&app, Some("here")).await;
    assert!(known(&app).await.quiet().is_some());
}

async fn a_copy_without_a_workspace_has_nothing_to_be_quiet_about(app: TestApp) {
    recognise(&app, Some("here")).await;
    app.exec("DELETE FROM workspaces").await;
    recognise(&app, Some("there")).await;
    assert_eq!(known(&app).await.quiet(), None);
    assert_eq!(known(&app).await.identity.as_deref(), Some("there"));
}

async fn an_installation_that_was_restored_stays_marked_so(app: TestApp) {
    let now = app.now();
    let mark = move |reason| move |tx: &mut db::Tx<'_>| begin_quiet(tx, reason, now);
    app.app.store.write(mark(QuietReason::Restored)).await.unwrap();
    app.app.store.write(mark(QuietReason::Asked)).await.unwrap();
    assert_eq!(known(&app).await.quiet().unwrap().reason, QuietReason::Restored);
}

async fn a_list_is_read_while_somebody_writes_and_tells_no_page(app: TestApp) {
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (end, may_end) = std::sync::mpsc::channel::<()>();
    let store = app.app.store.clone();
    let writing = tokio::spawn(async move {
        let mut once = Some(may_end);
        store
            .write(move |tx| {
                tx.exec("UPDATE workspaces SET name = name", &[])?;
                let _ = begun.send(());
                if let Some(may_end) = once.take() {
                    let _ = may_end.recv();
                }
                Ok::<_, base::error::Error>(())
            })
            .await
    });
    tokio::task::spawn_blocking(move || has_begun.recv()).await.unwrap().unwrap();
    let mut wakes = app.app.store.wakes();
    let people = app.app.read(&app.owner, setup::list_people).await.unwrap();
    assert_eq!(people.len(), 1);
    assert!(wakes.try_recv().is_err(), "nobody is woken");
    end.send(()).unwrap();
    writing.await.unwrap().unwrap();
}
