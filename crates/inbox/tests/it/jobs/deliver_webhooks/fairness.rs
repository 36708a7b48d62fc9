//! One webhook in trouble keeps no other waiting.

use inbox::actions;
use testing::{HOUR, MINUTE, TestApp, TestWebhook, on_both};

on_both!(
    a_thousand_deliveries_that_hang_keep_no_other_webhook_waiting,
    a_thousand_deliveries_that_fail_keep_no_other_webhook_waiting,
    a_thousand_deliveries_set_aside_keep_no_other_webhook_waiting,
    a_busy_webhook_keeps_none_of_thirty_others_waiting
);

/// Far more than one webhook may have in flight.
const MANY: usize = 1_000;

async fn fill(app: &TestApp, hook: &TestWebhook, count: usize) {
    let id = hook.id.clone();
    app.act(&app.owner, move |tx, cx| {
        for _ in 0..count {
            actions::send_test_event(tx, cx, &id)?;
        }
        Ok(())
    })
    .await;
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
