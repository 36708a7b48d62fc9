//! A suspended workspace: nobody works with it, nothing comes in or leaves, and it goes on where it stood.

use actions::workspace::suspension;
use base::actor::{Actor, Circle};
use base::error::Error;
use base::workspaces::resting;
use inbound::Ingested;
use serde_json::json;
use testing::{DAY, HOUR, TestApp, UNDO, on_both, raw, text_of};

on_both!(
    a_suspended_workspace_is_refused_to_keys_with_a_reason,
    nothing_leaves_a_suspended_workspace_and_everything_goes_on_afterwards,
    mail_to_a_suspended_workspace_is_put_off_and_comes_again,
    other_workspaces_work_beside_a_suspended_one,
    a_sample_rests_with_its_workspace_after_an_upgrade,
    from_a_quiet_workspace_nothing_leaves_and_people_work_with_it,
    only_the_operator_suspends_and_resumes
);

const REASON: &str = "The bill of May is open. Write to billing@host.example.";

fn operator(of: &Actor) -> Actor {
    Actor::system(of.ws, of.workspace.clone(), Circle::team())
}

async fn suspend(app: &TestApp) {
    app.act(&operator(&app.owner), |tx, cx| suspension::suspend(tx, cx, REASON)).await;
}

async fn resume(app: &TestApp) {
    app.act(&operator(&app.owner), suspension::resume).await;
}

async fn a_suspended_workspace_is_refused_to_keys_with_a_reason(app: TestApp) {
    let key = app.key("read write").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    suspend(&app).await;
    for answer in [
        app.get(&key, "/conversations").await,
        app.on(&key, &mail.conversation, "notes", json!({ "body": "Hello" })).await,
    ] {
        let answer = answer.is(403);
        assert_eq!(answer.json()["code"], "workspace_suspended");
        let said = text_of(&answer.json(), "error");
        assert!(said.contains(REASON), "{said}");
    }
    resume(&app).await;
    assert_eq!(app.subjects(&key, "view=all").await, ["Lamp"]);
    assert_eq!(app.count("resting_workspaces").await, 0);
    assert_eq!(app.count("audit_log WHERE action LIKE 'workspace-%'").await, 2);
    let ended = app.expect_refusal(&operator(&app.owner), suspension::resume).await;
    assert!(matches!(ended, Error::Conflict(_)), "{ended:?}");
}

async fn nothing_leaves_a_suspended_workspace_and_everything_goes_on_afterwards(app: TestApp) {
    let key = app.key("read write send").await;
    let hook = app.hook("shop").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    let snoozed = app.mail("kim@x.example", "Bench", "It wobbles").await;
    app.snooze(&app.owner, &snoozed.conversation, app.now() + HOUR).await;
    app.schedule(&key, &mail.conversation, "On its way").await;
    suspend(&app).await;
    let rows = app.count("messages").await + app.count("deliveries").await;
    app.pass(40 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert!(app.calls_to(&hook).is_empty());
    assert_eq!(app.count("conversations WHERE snoozed_until IS NOT NULL").await, 1);
    assert_eq!(app.count("messages").await + app.count("deliveries").await, rows);
    resume(&app).await;
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert!(!app.calls_to(&hook).is_empty());
    assert_eq!(app.count("conversations WHERE snoozed_until IS NOT NULL").await, 0);
}

async fn mail_to_a_suspended_workspace_is_put_off_and_comes_again(app: TestApp) {
    let mail = raw("ann@x.example", "Lamp", "It is broken");
    suspend(&app).await;
    let taken = app.ingest(&["support@acme.example"], &mail).await;
    assert_eq!(taken, [Ok(Ingested::Deferred)]);
    assert_eq!(app.count("messages").await, 0);
    resume(&app).await;
    let taken = app.ingest(&["support@acme.example"], &mail).await;
    assert!(matches!(taken[0], Ok(Ingested::Filed(_))), "{taken:?}");
}

async fn other_workspaces_work_beside_a_suspended_one(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    app.act(&operator(&other), |tx, cx| suspension::suspend(tx, cx, "")).await;
    let key = app.key("read write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    app.schedule(&key, &mail.conversation, "On its way").await;
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let taken = app.ingest(&["support@globex.example"], &raw("a@x.example", "Hi", "Hi")).await;
    assert_eq!(taken, [Ok(Ingested::Deferred)]);
}

async fn a_sample_rests_with_its_workspace_after_an_upgrade(app: TestApp) {
    let (own, sample) = (app.owner.ws, app.other_workspace("Globex").await.ws);
    app.exec(&format!("UPDATE workspaces SET sample_of = {own} WHERE ws = {sample}")).await;
    suspend(&app).await;
    app.exec(&format!("DELETE FROM resting_workspaces WHERE ws = {sample}")).await;
    let step = model::schema::MIGRATIONS.iter().find(|step| step.version == 81).unwrap();
    app.exec(step.both.trim_end().trim_end_matches(';')).await;
    let state = app.app.store.read(move |tx| resting::resting(tx, sample)).await.unwrap();
    assert!(state.is_some_and(|state| state.suspended_at.is_some() && state.reason == REASON));
}

async fn from_a_quiet_workspace_nothing_leaves_and_people_work_with_it(app: TestApp) {
    let key = app.key("read write send").await;
    let ws = app.owner.ws;
    app.exec(&format!("INSERT INTO resting_workspaces (ws, quiet_at) VALUES ({ws}, 1)")).await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    let snoozed = app.mail("kim@x.example", "Bench", "It wobbles").await;
    app.snooze(&app.owner, &snoozed.conversation, app.now() + HOUR).await;
    app.schedule(&key, &mail.conversation, "On its way").await;
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(app.count("conversations WHERE snoozed_until IS NOT NULL").await, 0);
    // Suspended and resumed, it is quiet as before.
    suspend(&app).await;
    resume(&app).await;
    let state = app.app.store.read(move |tx| resting::resting(tx, ws)).await.unwrap();
    assert!(state.is_some_and(|state| state.quiet_at.is_some() && state.suspended_at.is_none()));
    app.act(&operator(&app.owner), suspension::end_quiet).await;
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn only_the_operator_suspends_and_resumes(app: TestApp) {
    let refused =
        app.expect_refusal(&app.owner, |tx, cx| suspension::suspend(tx, cx, "Holidays")).await;
    assert!(matches!(refused, Error::Forbidden(_)), "{refused:?}");
    suspend(&app).await;
    let refused = app.expect_refusal(&app.owner, suspension::resume).await;
    assert!(matches!(refused, Error::Forbidden(_)), "{refused:?}");
    let long = "x".repeat(501);
    for wrong in [long.as_str(), "two\nlines"] {
        let wrong = wrong.to_owned();
        let refused = app
            .expect_refusal(&operator(&app.owner), move |tx, cx| {
                suspension::suspend(tx, cx, &wrong)
            })
            .await;
        assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
    }
}
