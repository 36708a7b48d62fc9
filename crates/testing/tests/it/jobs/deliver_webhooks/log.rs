//! The delivery log of a webhook: every try, for 30 days, and sending an event again.

use actions::integrations::delivery_log::{self, DeliveryState, LogFilter};
use base::ids::EventId;
use serde_json::json;
use testing::{DAY, HOUR, MINUTE, SECOND, TestApp, TestWebhook, fields, header, on_both};

on_both!(
    the_log_shows_every_try_with_its_time_and_answer,
    the_log_tells_how_long_an_answer_took,
    the_log_is_filtered_by_state_and_by_event,
    the_log_is_read_in_pages_of_50_newest_first,
    a_redelivery_has_the_same_id_and_body,
    a_redelivery_has_a_schedule_of_its_own,
    only_what_is_in_the_log_of_an_active_webhook_is_redelivered,
    events_deliveries_and_tries_are_kept_for_30_days,
    more_than_can_be_forgotten_at_once_is_forgotten_all_the_same
);

async fn types(
    app: &TestApp,
    hook: &TestWebhook,
    filter: LogFilter,
) -> Vec<(String, &'static str)> {
    let log = app.filtered_log(hook, filter).await;
    log.into_iter().map(|delivery| (delivery.event_type, delivery.state.as_str())).collect()
}

/// How many rows of the log there are, tries and deliveries.
async fn kept(app: &TestApp) -> (i64, i64, i64) {
    app.act(&app.owner, |tx, _| {
        Ok(tx.one(
            "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM deliveries),
                    (SELECT count(*) FROM delivery_attempts)",
            &[],
        )?)
    })
    .await
}

async fn the_log_shows_every_try_with_its_time_and_answer(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    app.something_happens("one").await;
    app.work().await;
    app.outside.webhook_sender.answers_status(&hook.url, 404);
    app.pass(MINUTE).await;
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.pass(5 * MINUTE).await;
    let log = app.log(&hook).await;
    assert_eq!(log.len(), 1);
    let attempts = &log[0].attempts;
    let told: Vec<(Option<i64>, &str)> =
        attempts.iter().map(|logged| (logged.status, logged.answer.as_str())).collect();
    let expected = [(Some(503), "says 503"), (Some(404), "says 404"), (Some(200), "says 200")];
    assert_eq!(told, expected);
    assert!(attempts.windows(2).all(|pair| pair[0].at.0 < pair[1].at.0));
    assert_eq!(attempts[0].at, log[0].created_at);
    assert_eq!(log[0].event_type, "turn.changed");
    let shown = serde_json::to_value(&log[0]).unwrap();
    assert_eq!(
        fields(&shown),
        ["attempts", "createdAt", "event", "nextAttemptAt", "state", "type"]
    );
    assert_eq!(fields(&shown["attempts"][0]), ["answer", "at", "status", "tookMs"]);
    assert_eq!(shown["nextAttemptAt"], json!(null));
}

async fn the_log_tells_how_long_an_answer_took(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.hangs(&hook.url);
    app.something_happens("one").await;
    app.keep_working();
    app.outside.webhook_sender.was_called(&hook.url, 1).await;
    app.advance(3 * SECOND);
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.work().await;
    let logged = app.log(&hook).await.remove(0).attempts.remove(0);
    assert_eq!(logged.took_ms, 3 * SECOND);
    assert_eq!(logged.at.0, app.now() - 3 * SECOND);
}

async fn the_log_is_filtered_by_state_and_by_event(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.something_happens("one").await;
    app.work().await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("two").await;
    app.pass(30 * HOUR).await;
    app.resume(&hook).await;
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.send_test_event(&hook).await;
    app.work().await;
    app.pause(&hook).await;
    app.send_test_event(&hook).await;
    app.resume(&hook).await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("three").await;
    app.work().await;
    let of = |state: Option<DeliveryState>, event_type: Option<&str>| LogFilter {
        state,
        event_type: event_type.map(str::to_owned),
        before: None,
    };
    let (turn, test) = ("turn.changed", "webhook.test");
    let owned = |rows: &[(&str, &'static str)]| -> Vec<(String, &'static str)> {
        rows.iter().map(|(kind, state)| (kind.to_string(), *state)).collect()
    };
    for (state, event_type, expected) in [
        (
            None,
            None,
            &[
                (turn, "waiting"),
                (test, "skipped"),
                (test, "delivered"),
                (turn, "failed"),
                (turn, "delivered"),
            ][..],
        ),
        (Some(DeliveryState::Failed), None, &[(turn, "failed")]),
        (Some(DeliveryState::Delivered), None, &[(test, "delivered"), (turn, "delivered")]),
        (Some(DeliveryState::Skipped), None, &[(test, "skipped")]),
        (Some(DeliveryState::Waiting), None, &[(turn, "waiting")]),
        (None, Some(test), &[(test, "skipped"), (test, "delivered")]),
        (Some(DeliveryState::Delivered), Some(turn), &[(turn, "delivered")]),
        (Some(DeliveryState::Failed), Some(test), &[]),
        (None, Some("client.replied"), &[]),
    ] {
        let found = types(&app, &hook, of(state, event_type)).await;
        assert_eq!(found, owned(expected), "{state:?} {event_type:?}");
    }
}

async fn the_log_is_read_in_pages_of_50_newest_first(app: TestApp) {
    let hook = app.hook("receiver").await;
    let other = app.hook("other").await;
    for _ in 0..120 {
        app.send_test_event(&hook).await;
        app.send_test_event(&other).await;
    }
    let mut pages: Vec<Vec<EventId>> = Vec::new();
    let mut before = None;
    loop {
        let filter = LogFilter { before: before.clone(), ..LogFilter::default() };
        let page = app.filtered_log(&hook, filter).await;
        if page.is_empty() {
            break;
        }
        pages.push(page.into_iter().map(|delivery| delivery.event).collect());
        before = pages.last().unwrap().last().cloned();
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 20]);
    let all = pages.concat();
    assert!(all.windows(2).all(|pair| pair[0] > pair[1]));
}

async fn a_redelivery_has_the_same_id_and_body(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.something_happens("one").await;
    app.work().await;
    let event = app.log(&hook).await[0].event.clone();
    app.pass(DAY).await;
    app.redeliver(&hook, &event).await;
    assert_eq!(app.states(&hook).await, ["waiting"]);
    app.work().await;
    let calls = app.calls_to(&hook);
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].body, calls[1].body);
    assert_eq!(header(&calls[0], "webhook-id"), header(&calls[1], "webhook-id"));
    assert_ne!(header(&calls[0], "webhook-timestamp"), header(&calls[1], "webhook-timestamp"));
    let log = app.log(&hook).await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].attempts.len(), 2);
    assert_eq!(log[0].state.as_str(), "delivered");
}

async fn a_redelivery_has_a_schedule_of_its_own(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.something_happens("one").await;
    app.work().await;
    let event = app.log(&hook).await[0].event.clone();
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.redeliver(&hook, &event).await;
    app.pass(30 * HOUR).await;
    let log = app.log(&hook).await;
    assert_eq!(log[0].attempts.len(), 1 + 9);
    assert_eq!(log[0].state.as_str(), "failed");
}

async fn only_what_is_in_the_log_of_an_active_webhook_is_redelivered(app: TestApp) {
    let (hook, other) = (app.hook("receiver").await, app.hook("other").await);
    let theirs = app.send_test_event(&other).await;
    let event = app.send_test_event(&hook).await;
    app.work().await;
    let id = hook.id.clone();
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| delivery_log::redeliver(tx, cx, &id, &theirs));
    let refused = refused.await.to_string();
    assert!(refused.contains("event in this webhook's log"), "{refused}");
    app.pause(&hook).await;
    let id = hook.id.clone();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| delivery_log::redeliver(tx, cx, &id, &event))
        .await;
    assert_eq!(refused.to_string(), "webhook: is not active; resume it first");
    app.work().await;
    assert_eq!(app.calls_to(&hook).len(), 1);
}

async fn events_deliveries_and_tries_are_kept_for_30_days(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.something_happens("one").await;
    app.work().await;
    let event = app.log(&hook).await[0].event.clone();
    app.pass(30 * DAY).await;
    assert_eq!(kept(&app).await, (1, 1, 1));
    app.redeliver(&hook, &event).await;
    app.something_happens("two").await;
    app.work().await;
    assert_eq!(kept(&app).await, (2, 2, 3));
    app.pass(2 * HOUR).await;
    assert_eq!(kept(&app).await, (1, 1, 1));
    assert_ne!(app.log(&hook).await[0].event, event);
    app.pass(31 * DAY).await;
    assert_eq!(kept(&app).await, (0, 0, 0));
}

async fn more_than_can_be_forgotten_at_once_is_forgotten_all_the_same(app: TestApp) {
    let hook = app.hook("receiver").await;
    let id = hook.id.clone();
    app.act(&app.owner, move |tx, cx| {
        for _ in 0..1_203 {
            delivery_log::send_test_event(tx, cx, &id)?;
        }
        Ok(())
    })
    .await;
    app.work().await;
    assert_eq!(kept(&app).await, (1_203, 1_203, 1_203));
    app.pass(31 * DAY).await;
    assert_eq!(kept(&app).await, (0, 0, 0));
}
