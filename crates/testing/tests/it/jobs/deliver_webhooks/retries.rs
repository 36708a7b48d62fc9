//! The schedule of retries, to its end.

use jobs::DELIVERY_RETRIES_MS;
use testing::{DAY, HOUR, MINUTE, SECOND, TestApp, on_both};

on_both!(
    a_failure_is_tried_again_eight_times_then_dropped_and_a_day_of_it_pauses_the_webhook,
    the_waits_vary_from_one_event_to_the_next,
    a_retry_is_not_made_before_its_time_and_is_made_at_it,
    a_late_success_ends_the_retries
);

/// The waits of section 6.1.
const WAITS: [i64; 8] =
    [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

async fn a_failure_is_tried_again_eight_times_then_dropped_and_a_day_of_it_pauses_the_webhook(
    app: TestApp,
) {
    assert_eq!(DELIVERY_RETRIES_MS, WAITS);
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    let began = app.now();
    app.something_happens("first").await;
    app.pass(2 * DAY).await;
    let delivery = app.log(&hook).await.remove(0);
    let at: Vec<i64> = delivery.attempts.iter().map(|logged| logged.at.0).collect();
    assert_eq!(at[0], began);
    let waits: Vec<i64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits.len(), WAITS.len());
    for (wait, about) in waits.iter().zip(WAITS) {
        assert!((about * 4 / 5..=about * 6 / 5).contains(wait), "{wait} for about {about}");
    }
    assert_ne!(waits, WAITS, "each varies");
    assert_eq!(delivery.state.as_str(), "failed");
    assert_eq!(delivery.next_attempt_at, None);
    assert_eq!(app.calls_to(&hook).len(), 9);

    // With luck the last retry came before the day was over; then the next failure pauses.
    let in_time = usize::from(at[8] - began < DAY);
    app.something_happens("second").await;
    app.pass(DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 9 + in_time);
    assert_eq!(app.state_of(&hook).await, "paused");
    assert_eq!(app.states(&hook).await, ["skipped", "failed"]);
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn the_waits_vary_from_one_event_to_the_next(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    for name in ["one", "two", "three", "four", "five"] {
        app.something_happens(name).await;
    }
    app.work().await;
    let mut next: Vec<i64> = app
        .log(&hook)
        .await
        .iter()
        .map(|delivery| delivery.next_attempt_at.expect("a next try").0 - app.now())
        .collect();
    assert!(next.iter().all(|wait| (24 * SECOND..=36 * SECOND).contains(wait)), "{next:?}");
    next.sort_unstable();
    next.dedup();
    assert_eq!(next.len(), 5);
}

async fn a_retry_is_not_made_before_its_time_and_is_made_at_it(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    app.something_happens("one").await;
    app.work().await;
    for attempts in 1..=8 {
        let next = app.log(&hook).await[0].next_attempt_at.expect("a next try").0;
        app.pass(next - app.now() - 1).await;
        assert_eq!(app.calls_to(&hook).len(), attempts);
        app.pass(1).await;
        assert_eq!(app.calls_to(&hook).len(), attempts + 1);
    }
}

async fn a_late_success_ends_the_retries(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    app.something_happens("one").await;
    app.pass(5 * HOUR).await;
    let before = app.calls_to(&hook).len();
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.pass(3 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), before + 1);
    assert_eq!(app.states(&hook).await, ["delivered"]);
    assert_eq!(app.state_of(&hook).await, "active");
}
