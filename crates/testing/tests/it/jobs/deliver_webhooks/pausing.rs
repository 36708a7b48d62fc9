//! When Mailroom or a person stops sending to a webhook, and what becomes of its events.

use base::actor::Role;
use jobs::{OutgoingMail, RelayOutcome};
use testing::{DAY, HOUR, Hears, MINUTE, TestApp, on_both};

on_both!(
    a_410_turns_the_webhook_off_and_tells_its_owner_once,
    after_a_410_nothing_more_is_sent_and_events_are_kept_as_skipped,
    a_whole_day_of_failures_pauses_the_webhook_and_not_a_moment_less,
    one_success_begins_the_day_anew,
    many_failures_at_the_end_of_the_day_make_one_mail,
    the_owners_mail_is_tried_again_when_the_relay_is_busy,
    while_a_webhook_is_paused_by_a_person_its_events_are_kept_as_skipped,
    a_resumed_webhook_has_a_clean_record,
    an_answer_that_comes_after_the_pause_does_not_plan_a_retry
);

fn text_of(parcel: &OutgoingMail) -> String {
    String::from_utf8(parcel.bytes.to_vec()).unwrap()
}

async fn a_410_turns_the_webhook_off_and_tells_its_owner_once(app: TestApp) {
    let ada = app.person_with("Ada", Role::Admin).await;
    let hook = app.hook_of(&ada, "receiver", Hears::Team).await;
    app.outside.webhook_sender.answers_status(&hook.url, 410);
    for number in 0..10 {
        app.something_happens(&format!("n{number}")).await;
    }
    app.pass(3 * DAY).await;
    assert_eq!(app.state_of(&hook).await, "off");
    let log = app.log(&hook).await;
    assert!(log.iter().all(|delivery| delivery.attempts.len() <= 1));
    let mails = app.outside.relay.attempts();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].recipients, ["ada@acme.example"]);
    assert!(mails[0].sender.starts_with("support+b_"), "{}", mails[0].sender);
    let text = text_of(&mails[0]);
    assert!(text.contains("<support@acme.example>"), "{text}");
    assert!(text.contains("A webhook was turned off"), "{text}");
    assert!(text.contains("410") && text.contains(hook.id.as_str()), "{text}");
    assert!(text.contains(&hook.url), "{text}");
    assert!(text.contains("Auto-Submitted: auto-generated"), "{text}");
}

async fn after_a_410_nothing_more_is_sent_and_events_are_kept_as_skipped(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    app.something_happens("waits").await;
    app.work().await;
    app.outside.webhook_sender.answers_status(&hook.url, 410);
    app.something_happens("gone").await;
    app.work().await;
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.something_happens("later").await;
    app.pass(2 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 2);
    assert_eq!(app.states(&hook).await, ["skipped", "failed", "skipped"]);
}

async fn a_whole_day_of_failures_pauses_the_webhook_and_not_a_moment_less(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.pass(DAY - 1).await;
    app.something_happens("two").await;
    app.work().await;
    assert_eq!(app.state_of(&hook).await, "active");
    assert!(app.outside.relay.attempts().is_empty());
    app.pass(1).await;
    app.something_happens("three").await;
    app.work().await;
    assert_eq!(app.state_of(&hook).await, "paused");
    let calls = app.calls_to(&hook).len();
    app.something_happens("four").await;
    app.pass(3 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), calls, "nothing is sent until someone resumes it");
    assert_eq!(app.states(&hook).await[0], "skipped");
    let mails = app.outside.relay.attempts();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].recipients, ["owner@acme.example"]);
    let text = text_of(&mails[0]);
    assert!(text.contains("A webhook was paused") && text.contains(&hook.url), "{text}");
}

async fn one_success_begins_the_day_anew(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.pass(12 * HOUR).await;
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.send_test_event(&hook).await;
    app.pass(12 * HOUR).await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.send_test_event(&hook).await;
    app.pass(DAY - 1).await;
    assert_eq!(app.state_of(&hook).await, "active");
    app.pass(1).await;
    app.send_test_event(&hook).await;
    app.work().await;
    assert_eq!(app.state_of(&hook).await, "paused");
}

async fn many_failures_at_the_end_of_the_day_make_one_mail(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.pass(DAY).await;
    for number in 0..20 {
        app.something_happens(&format!("n{number}")).await;
    }
    app.pass(2 * DAY).await;
    assert_eq!(app.state_of(&hook).await, "paused");
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn the_owners_mail_is_tried_again_when_the_relay_is_busy(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 410);
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.something_happens("one").await;
    app.pass(MINUTE - 1).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    app.pass(1).await;
    let attempts = app.outside.relay.attempts();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].bytes, attempts[1].bytes);
    app.pass(3 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 2);
}

async fn while_a_webhook_is_paused_by_a_person_its_events_are_kept_as_skipped(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 503);
    app.something_happens("waits").await;
    app.work().await;
    app.pause(&hook).await;
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    app.something_happens("meanwhile").await;
    app.send_test_event(&hook).await;
    app.pass(2 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 1);
    assert_eq!(app.states(&hook).await, ["skipped"; 3]);
    app.resume(&hook).await;
    app.pass(2 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 1, "what was skipped is redelivered by hand alone");
    app.something_happens("after").await;
    app.work().await;
    assert_eq!(app.calls_to(&hook).len(), 2);
    for delivery in app.log(&hook).await.iter().rev() {
        if delivery.state.as_str() == "skipped" {
            app.redeliver(&hook, &delivery.event).await;
        }
    }
    app.work().await;
    assert_eq!(app.states(&hook).await, ["delivered"; 4]);
    assert!(app.outside.relay.attempts().is_empty(), "nobody is told of what a person did");
}

async fn a_resumed_webhook_has_a_clean_record(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.pass(DAY).await;
    app.something_happens("two").await;
    app.pass(HOUR).await;
    assert_eq!(app.state_of(&hook).await, "paused");
    app.resume(&hook).await;
    app.something_happens("three").await;
    app.work().await;
    assert_eq!(app.state_of(&hook).await, "active");
    app.pass(DAY).await;
    app.something_happens("four").await;
    app.work().await;
    assert_eq!(app.state_of(&hook).await, "paused");
    assert_eq!(app.outside.relay.attempts().len(), 2);
}

async fn an_answer_that_comes_after_the_pause_does_not_plan_a_retry(app: TestApp) {
    let hook = app.hook("receiver").await;
    app.outside.webhook_sender.hangs(&hook.url);
    app.something_happens("one").await;
    app.keep_working();
    app.outside.webhook_sender.was_called(&hook.url, 1).await;
    app.pause(&hook).await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.work().await;
    app.pass(2 * DAY).await;
    assert_eq!(app.states(&hook).await, ["skipped"]);
    assert_eq!(app.calls_to(&hook).len(), 1);
}
