//! What one try is, and what counts as delivered.

use jobs::WebhookResponse;
use serde_json::{Value, json};
use testing::{HOUR, MINUTE, SECOND, TestApp, UNDO, header, on_both, signature, signatures, texts};

on_both!(
    an_event_is_posted_as_the_bytes_it_was_stored_as,
    a_try_carries_the_headers_of_standard_webhooks,
    every_event_of_a_conversation_is_delivered_in_its_own_call,
    any_2xx_is_delivered_and_never_sent_again,
    anything_else_is_tried_again,
    each_try_has_the_same_id_and_body_and_its_own_time,
    an_answer_that_no_database_can_hold_is_logged_without_what_it_cannot,
    what_is_in_flight_is_finished_and_recorded_before_the_worker_ends
);

async fn an_event_is_posted_as_the_bytes_it_was_stored_as(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.work().await;
    let calls = app.calls_to(&hook);
    let stored: Vec<(String,)> = app
        .act(&app.owner, |tx, cx| {
            Ok(tx.all("SELECT body FROM events WHERE ws = ?1", &[&cx.actor.ws])?)
        })
        .await;
    assert_eq!(calls.len(), 1);
    assert_eq!(&*calls[0].body, stored[0].0);
    let event: Value = serde_json::from_str(&calls[0].body).unwrap();
    assert_eq!(event["type"], "turn.changed");
}

async fn a_try_carries_the_headers_of_standard_webhooks(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.advance(777);
    app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.work().await;
    let call = &app.calls_to(&hook)[0];
    let event: Value = serde_json::from_str(&call.body).unwrap();
    assert_eq!(header(call, "content-type"), "application/json");
    assert_eq!(header(call, "webhook-id"), event["id"]);
    assert_eq!(header(call, "webhook-timestamp"), (app.now() / SECOND).to_string());
    assert_eq!(signatures(call), [signature(&hook.secret, call)]);
    assert_eq!(call.headers.len(), 4);
}

async fn every_event_of_a_conversation_is_delivered_in_its_own_call(app: TestApp) {
    let hook = app.hook("receiver").await;
    let key = app.key("write send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO).await;
    app.mail("mara@customer.example", "Re: Lamp", "Thank you").await;
    app.work().await;
    let calls = app.calls_to(&hook);
    let heard: Vec<Value> =
        calls.iter().map(|call| serde_json::from_str(&call.body).unwrap()).collect();
    assert_eq!(heard, app.events().await);
    assert_eq!(
        texts(&heard, "type"),
        [
            "turn.changed",
            "conversation.assigned",
            "turn.changed",
            "message.sent",
            "turn.changed",
            "client.replied",
        ]
    );
}

async fn any_2xx_is_delivered_and_never_sent_again(app: TestApp) {
    let hook = app.hook("receiver").await;
    for code in [200, 201, 202, 204, 226, 299] {
        app.outside.webhook_sender.answers_status(&hook.url, code);
        let before = app.calls_to(&hook).len();
        app.something_happens(&format!("n{code}")).await;
        app.pass(24 * HOUR).await;
        assert_eq!(app.calls_to(&hook).len(), before + 1, "{code}");
        let delivery = app.log(&hook).await.remove(0);
        assert_eq!(delivery.state.as_str(), "delivered", "{code}");
        assert_eq!(delivery.next_attempt_at, None);
        assert_eq!(delivery.attempts.len(), 1);
        assert_eq!(delivery.attempts[0].status, Some(i64::from(code)));
    }
}

async fn anything_else_is_tried_again(app: TestApp) {
    let webhook_sender = &app.outside.webhook_sender;
    let answers = [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 411, 429];
    let status = |code: u16| WebhookResponse::Status { code, body: "no".into() };
    let answers = answers.into_iter().chain([500, 502, 503, 599]).map(status);
    let silent = [WebhookResponse::Failed("No answer within 10 seconds.".into())];
    let refused = [WebhookResponse::Refused("The address leads to a private network.".into())];
    for (number, answer) in answers.chain(silent).chain(refused).enumerate() {
        let hook = app.hook(&format!("receiver{number}")).await;
        webhook_sender.answers(&hook.url, answer.clone());
        app.send_test_event(&hook).await;
        app.work().await;
        let delivery = app.log(&hook).await.remove(0);
        assert_eq!(delivery.state.as_str(), "waiting", "{answer:?}");
        assert!(delivery.next_attempt_at.is_some(), "{answer:?}");
        let logged = (delivery.attempts[0].status, delivery.attempts[0].answer.clone());
        let expected = match answer {
            WebhookResponse::Status { code, body } => (Some(i64::from(code)), body),
            WebhookResponse::Failed(sentence) | WebhookResponse::Refused(sentence) => {
                (None, sentence)
            }
        };
        assert_eq!(logged, expected);
        webhook_sender.answers_status(&hook.url, 200);
        app.pass(MINUTE).await;
        assert_eq!(app.states(&hook).await, ["delivered"]);
        assert_eq!(app.calls_to(&hook).len(), 2);
    }
}

async fn each_try_has_the_same_id_and_body_and_its_own_time(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.pass(HOUR).await;
    let calls = app.calls_to(&hook);
    assert!(calls.len() > 3);
    for pair in calls.windows(2) {
        assert_eq!(pair[0].body, pair[1].body);
        assert_eq!(header(&pair[0], "webhook-id"), header(&pair[1], "webhook-id"));
        let at = |call| header(call, "webhook-timestamp").parse::<i64>().unwrap();
        assert!(at(&pair[0]) < at(&pair[1]));
    }
    for call in &calls {
        assert_eq!(signatures(call), [signature(&hook.secret, call)]);
    }
}

async fn an_answer_that_no_database_can_hold_is_logged_without_what_it_cannot(app: TestApp) {
    let hook = app.hook("receiver").await;
    let body = "a\0b\u{1f4ee}".to_owned();
    app.outside.webhook_sender.answers(&hook.url, WebhookResponse::Status { code: 200, body });
    app.something_happens("one").await;
    app.work().await;
    let delivery = app.log(&hook).await.remove(0);
    assert_eq!(delivery.attempts[0].answer, "ab\u{1f4ee}");
    assert_eq!(delivery.state.as_str(), "delivered");
}

async fn what_is_in_flight_is_finished_and_recorded_before_the_worker_ends(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.hangs(&hook.url);
    app.something_happens("one").await;
    let working = app.keep_working();
    app.outside.webhook_sender.was_called(&hook.url, 1).await;
    let ending = working.stop();
    assert_eq!(app.states(&hook).await, ["waiting"]);
    assert!(!ending.is_finished());
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    ending.await.unwrap();
    assert_eq!(app.states(&hook).await, ["delivered"]);
}
