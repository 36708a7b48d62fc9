//! A webhook's secret, and changing it without losing an event.

use actions::integrations::delivery_log;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use testing::{DAY, HOUR, TestApp, TestWebhook, on_both, signature, signatures};

on_both!(
    a_secret_is_32_random_bytes_after_its_prefix_and_each_webhook_has_its_own,
    after_a_rotation_both_secrets_sign_for_exactly_24_hours,
    a_second_rotation_leaves_the_latest_two,
    a_retry_is_signed_with_the_secrets_of_its_own_time,
    rotating_one_secret_changes_no_other
);

async fn rotate(app: &TestApp, hook: &TestWebhook) -> String {
    let id = hook.id.clone();
    app.act(&app.owner, move |tx, cx| delivery_log::rotate_secret(tx, cx, &id)).await
}

/// Which of these secrets signed the latest call, in the order of its signatures.
async fn signed_by(app: &TestApp, hook: &TestWebhook, secrets: &[&str]) -> Vec<usize> {
    app.send_test_event(hook).await;
    app.work().await;
    let call = app.calls_to(hook).pop().expect("a call");
    let place = |signed: &str| {
        secrets
            .iter()
            .position(|secret| signature(secret, &call) == signed)
            .expect("a known secret")
    };
    signatures(&call).into_iter().map(place).collect()
}

async fn a_secret_is_32_random_bytes_after_its_prefix_and_each_webhook_has_its_own(app: TestApp) {
    let (one, two) = (app.hook("one").await, app.hook("two").await);
    assert_ne!(one.secret, two.secret);
    for secret in [one.secret.clone(), two.secret, rotate(&app, &one).await] {
        let bytes = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        assert_eq!(bytes.len(), 32);
    }
}

async fn after_a_rotation_both_secrets_sign_for_exactly_24_hours(app: TestApp) {
    let hook = app.hook("receiver").await;
    let old = hook.secret.as_str();
    assert_eq!(signed_by(&app, &hook, &[old]).await, [0]);
    let new = rotate(&app, &hook).await;
    assert_ne!(new, old);
    for wait in [0, 12 * HOUR, 12 * HOUR - 1] {
        app.pass(wait).await;
        assert_eq!(signed_by(&app, &hook, &[old, &new]).await, [1, 0], "the newest first");
    }
    app.pass(1).await;
    assert_eq!(signed_by(&app, &hook, &[old, &new]).await, [1]);
    app.pass(DAY).await;
    assert_eq!(signed_by(&app, &hook, &[old, &new]).await, [1]);
}

async fn a_second_rotation_leaves_the_latest_two(app: TestApp) {
    let hook = app.hook("receiver").await;
    let second = rotate(&app, &hook).await;
    app.pass(HOUR).await;
    let third = rotate(&app, &hook).await;
    let secrets = [hook.secret.as_str(), &second, &third];
    assert_eq!(signed_by(&app, &hook, &secrets).await, [2, 1]);
    app.pass(DAY - 1).await;
    assert_eq!(signed_by(&app, &hook, &secrets).await, [2, 1]);
    app.pass(1).await;
    assert_eq!(signed_by(&app, &hook, &secrets).await, [2]);
}

async fn a_retry_is_signed_with_the_secrets_of_its_own_time(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.work().await;
    let new = rotate(&app, &hook).await;
    app.pass(HOUR).await;
    let calls = app.calls_to(&hook);
    assert_eq!(signatures(&calls[0]), [signature(&hook.secret, &calls[0])]);
    let last = calls.last().unwrap();
    assert_eq!(signatures(last), [signature(&new, last), signature(&hook.secret, last)]);
}

async fn rotating_one_secret_changes_no_other(app: TestApp) {
    let (one, two) = (app.hook("one").await, app.hook("two").await);
    rotate(&app, &one).await;
    assert_eq!(signed_by(&app, &two, &[&two.secret]).await, [0]);
}
