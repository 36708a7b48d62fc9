//! Simulated readers of secure messages.

use super::*;

on_both!(
    a_simulated_customer_answers_a_secure_reply_on_its_page,
    a_simulated_reader_opens_and_answers_nothing
);

async fn replied(app: &TestApp, from: &str) -> Vec<Value> {
    let key = app.test_key("read write send").await;
    let id = app.simulate(&key, from).await;
    let body = json!({ "body": "Secret", "secure": true, "send": true });
    app.on(&key, &id, "replies", body).await.is(201);
    app.pass(11 * SECOND).await;
    assert!(app.outside.relay.attempts().is_empty(), "nothing leaves the sandbox");
    app.timeline(&key, &id, "message").await
}

async fn a_simulated_customer_answers_a_secure_reply_on_its_page(app: TestApp) {
    let messages = replied(&app, "reply@shop.test").await;
    assert_eq!(messages.len(), 3);
    assert_eq!((&messages[1]["secure"], &messages[2]["secure"]), (&json!(true), &json!(true)));
    assert!(messages[1]["openedAt"].is_string());
    assert_eq!(messages[2]["direction"], "inbound");
    assert_eq!(messages[2]["text"], "Thank you, that answers my question.");
}

async fn a_simulated_reader_opens_and_answers_nothing(app: TestApp) {
    let messages = replied(&app, "opens@shop.test").await;
    assert_eq!(messages.len(), 2);
    assert!(messages[1]["openedAt"].is_string());
}
