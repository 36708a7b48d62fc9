//! One webhook in trouble keeps no other waiting.

use actions::integrations::delivery_log;
use base::actor::Actor;
use testing::{HOUR, Hears, MINUTE, TestApp, TestWebhook, on_both};

on_both!(
    a_few_deliveries_that_hang_keep_no_other_webhook_waiting,
    a_thousand_deliveries_that_hang_keep_no_other_webhook_waiting,
    a_thousand_deliveries_that_fail_keep_no_other_webhook_waiting,
    a_thousand_deliveries_set_aside_keep_no_other_webhook_waiting,
    a_busy_webhook_keeps_none_of_thirty_others_waiting,
    many_webhooks_of_a_workspace_that_hang_keep_no_other_workspace_waiting
);

/// More than one webhook may have in flight, and far more.
const FEW: usize = 50;
const MANY: usize = 1_000;

async fn fill(app: &TestApp, hook: &TestWebhook, count: usize) {
    fill_of(app, &app.owner, hook, count).await;
}

async fn fill_of(app: &TestApp, owner: &Actor, hook: &TestWebhook, count: usize) {
    let id = hook.id.clone();
    app.act(owner, move |tx, cx| {
        for _ in 0..count {
            delivery_log::send_test_event(tx, cx, &id)?;
        }
        Ok(())
    })
    .await;
}

async fn a_few_deliveries_that_hang_keep_no_other_webhook_waiting(app: TestApp) {
    let stuck = app.hook("stuck").await;
    app.outside.webhook_sender.hangs(&stuck.url);
    fill(&app, &stuck, FEW).await;
    let healthy = app.hook("healthy").await;
    app.keep_working();
    app.outside.webhook_sender.was_called(&stuck.url, 16).await;
    fill(&app, &healthy, 3).await;
    app.outside.webhook_sender.was_called(&healthy.url, 3).await;
}

async fn a_thousand_deliveries_that_hang_keep_no_other_webhook_waiting(app: TestApp) {
    let stuck = app.hook("stuck").await;
    app.outside.webhook_sender.hangs(&stuck.url);
    fill(&app, &stuck, MANY).await;
    let healthy = app.hook("healthy").await;
    app.keep_working();
    app.outside.webhook_sender.was_called(&stuck.url, 1).await;
    for _ in 0..5 {
        let expected = app.calls_to(&healthy).len() + 20;
        fill(&app, &healthy, 20).await;
        app.outside.webhook_sender.was_called(&healthy.url, expected).await;
    }
    assert!(app.calls_to(&stuck).len() <= 16, "{}", app.calls_to(&stuck).len());
}

async fn a_thousand_deliveries_that_fail_keep_no_other_webhook_waiting(app: TestApp) {
    let failing = app.hook("failing").await;
    app.outside.webhook_sender.answers_status(&failing.url, 500);
    fill(&app, &failing, MANY).await;
    let healthy = app.hook("healthy").await;
    fill(&app, &healthy, 1).await;
    app.work().await;
    let calls = app.outside.webhook_sender.calls();
    let place = calls.iter().position(|call| call.url == healthy.url).expect("a call");
    assert!(place <= 64, "{place} calls came first");
    assert_eq!(calls.len(), MANY + 1);
}

async fn a_thousand_deliveries_set_aside_keep_no_other_webhook_waiting(app: TestApp) {
    let paused = app.hook("paused").await;
    app.outside.webhook_sender.answers_status(&paused.url, 500);
    fill(&app, &paused, MANY).await;
    app.work().await;
    app.exec("UPDATE webhooks SET state = 'off'").await;
    let healthy = app.hook("healthy").await;
    fill(&app, &healthy, 3).await;
    app.pass(MINUTE).await;
    assert_eq!(app.calls_to(&healthy).len(), 3);
    app.pass(HOUR).await;
    assert_eq!(app.calls_to(&paused).len(), MANY);
    assert!(app.states(&paused).await.iter().all(|state| *state == "skipped"));
}

async fn a_busy_webhook_keeps_none_of_thirty_others_waiting(app: TestApp) {
    let busy = app.hook("busy").await;
    fill(&app, &busy, MANY).await;
    let mut others = Vec::new();
    for number in 0..30 {
        let hook = app.hook(&format!("n{number}")).await;
        fill(&app, &hook, 1).await;
        others.push(hook);
    }
    app.work().await;
    let calls = app.outside.webhook_sender.calls();
    assert_eq!(calls.len(), MANY + 30);
    for hook in &others {
        let place = calls.iter().position(|call| call.url == hook.url).expect("a call");
        assert!(place <= 64, "{place} calls came before {}", hook.url);
    }
}

async fn many_webhooks_of_a_workspace_that_hang_keep_no_other_workspace_waiting(app: TestApp) {
    let mut stuck = Vec::new();
    for number in 0..40 {
        let hook = app.hook(&format!("stuck{number}")).await;
        app.outside.webhook_sender.hangs(&hook.url);
        fill(&app, &hook, 20).await;
        stuck.push(hook);
    }
    let other = app.other_workspace("Globex").await;
    let healthy = app.hook_of(&other, "healthy", Hears::Team).await;
    fill_of(&app, &other, &healthy, 3).await;
    app.keep_working();
    app.outside.webhook_sender.was_called(&healthy.url, 3).await;
    let calls: usize = stuck.iter().map(|hook| app.calls_to(hook).len()).sum();
    assert!(calls <= 128, "{calls} of 512 slots are at receivers that hang");
}
