//! Several processes on one PostgreSQL.

use std::collections::BTreeSet;

use jobs::WebhookRequest;
use testing::{Backend, MINUTE, TestApp, eventually, header, run};

fn ids(calls: &[WebhookRequest]) -> BTreeSet<String> {
    calls.iter().map(|call| header(call, "webhook-id").to_owned()).collect()
}

#[test]
fn two_processes_share_the_deliveries_and_one_takes_over_what_the_other_was_killed_with() {
    run(Backend::Postgres, share_and_take_over);
}

async fn share_and_take_over(app: TestApp) {
    let hook = app.hook("receiver").await;
    for number in 0..50 {
        app.something_happens(&format!("n{number}")).await;
    }
    let doomed = app.another_process();
    doomed.outside.webhook_sender.hangs(&hook.url);
    doomed.work();
    doomed.outside.webhook_sender.was_called(&hook.url, 16).await;
    app.work().await;
    let (theirs, ours) = (ids(&doomed.outside.webhook_sender.calls()), ids(&app.calls_to(&hook)));
    assert_eq!((theirs.len(), ours.len()), (16, 34));
    assert!(theirs.is_disjoint(&ours), "none is tried by both");
    doomed.kill();
    app.pass(MINUTE - 1).await;
    assert_eq!(app.calls_to(&hook).len(), 34);
    app.pass(1).await;
    let calls = app.calls_to(&hook);
    assert_eq!(calls.len(), 50);
    assert_eq!(ids(&calls[34..]), theirs);
    assert_eq!(app.states(&hook).await, ["delivered"; 50]);
}

#[test]
fn a_late_failure_does_not_undo_what_another_process_delivered() {
    run(Backend::Postgres, late_failure);
}

async fn late_failure(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.something_happens("one").await;
    let slow = app.another_process();
    slow.outside.webhook_sender.hangs(&hook.url);
    slow.work();
    slow.outside.webhook_sender.was_called(&hook.url, 1).await;
    app.advance(MINUTE);
    app.work().await;
    assert_eq!(app.states(&hook).await, ["delivered"]);
    slow.outside.webhook_sender.answers_status(&hook.url, 500);
    eventually(async || app.log(&hook).await[0].attempts.len() == 2).await;
    let delivery = app.log(&hook).await.remove(0);
    assert_eq!(delivery.state.as_str(), "delivered");
    assert_eq!(delivery.next_attempt_at, None);
    slow.kill();
}
