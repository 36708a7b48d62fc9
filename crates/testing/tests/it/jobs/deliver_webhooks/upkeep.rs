//! Looking after webhooks is for owners and admins, and leaves nothing behind.

use actions::integrations::delivery_log::{self, LogFilter};
use base::actor::{Actor, Role};
use base::app::Cx;
use base::error::Error;
use base::ids::{EventId, WebhookId};
use testing::{DAY, Hears, TestApp, on_both};

on_both!(
    only_owners_and_admins_look_after_webhooks,
    what_one_does_not_look_after_is_not_there,
    a_deleted_webhook_hears_nothing_more_and_its_log_is_gone,
    an_answer_that_comes_after_the_webhook_was_deleted_leaves_nothing_behind
);

const DUTIES: [&str; 7] = ["rotate", "pause", "resume", "test", "log", "redeliver", "delete"];

fn perform(
    tx: &mut db::Tx<'_>,
    cx: &Cx<'_>,
    duty: &str,
    hook: &WebhookId,
    event: &EventId,
) -> base::error::Result<()> {
    match duty {
        "rotate" => delivery_log::rotate_secret(tx, cx, hook).map(drop),
        "pause" => delivery_log::pause_webhook(tx, cx, hook),
        "resume" => delivery_log::resume_webhook(tx, cx, hook),
        "test" => delivery_log::send_test_event(tx, cx, hook).map(drop),
        "log" => delivery_log::delivery_log(tx, cx, hook, &LogFilter::default()).map(drop),
        "redeliver" => delivery_log::redeliver(tx, cx, hook, event),
        "delete" => delivery_log::delete_webhook(tx, cx, hook),
        other => panic!("nobody can {other}"),
    }
}

/// Does each duty as somebody; what came of it.
async fn outcomes(app: &TestApp, actor: &Actor, hook: &WebhookId, event: &EventId) -> Vec<String> {
    let mut outcomes = Vec::new();
    for duty in DUTIES {
        let (hook, event) = (hook.clone(), event.clone());
        let done = app.app.act(actor, move |tx, cx| perform(tx, cx, duty, &hook, &event)).await;
        outcomes.push(match done {
            Ok(()) => "done".to_owned(),
            Err(Error::Forbidden(_)) => "forbidden".to_owned(),
            Err(Error::NotFound(what)) => format!("no {what}"),
            Err(error) => panic!("{duty}: {error}"),
        });
    }
    outcomes
}

async fn only_owners_and_admins_look_after_webhooks(app: TestApp) {
    let key = app.key("read write draft send record").await;
    let agent = app.agent(&key).await;
    let max = app.person_with("Max", Role::Member).await;
    let ada = app.person_with("Ada", Role::Admin).await;
    for (name, actor, outcome) in [
        ("max", &max, "forbidden"),
        ("agent", &agent, "forbidden"),
        ("ada", &ada, "done"),
        ("owner", &app.owner, "done"),
    ] {
        let hook = app.hook(name).await;
        let event = app.send_test_event(&hook).await;
        app.work().await;
        assert_eq!(outcomes(&app, actor, &hook.id, &event).await, [outcome; 7], "{name}");
    }
}

async fn what_one_does_not_look_after_is_not_there(app: TestApp) {
    let ada = app.person_with("Ada", Role::Admin).await;
    let other = app.other_workspace("Globex").await;
    let team = app.hook("team").await;
    let mine = app.hook_of(&app.owner, "mine", Hears::Private).await;
    let nowhere = WebhookId::parse("whk_00000000000000000000000000").unwrap();
    for (actor, hook) in [(&other, &team.id), (&ada, &mine.id), (&app.owner, &nowhere)] {
        let event = app.send_test_event(&team).await;
        let refused = outcomes(&app, actor, hook, &event).await;
        assert_eq!(refused, ["no webhook"; 7], "{hook}");
    }
    app.work().await;
    assert_eq!(app.state_of(&mine).await, "active");
    assert_eq!(app.calls_to(&team).len(), 3);
}

async fn a_deleted_webhook_hears_nothing_more_and_its_log_is_gone(app: TestApp) {
    let (hook, other) = (app.hook("receiver").await, app.hook("other").await);
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("one").await;
    app.work().await;
    let id = hook.id.clone();
    app.act(&app.owner, move |tx, cx| delivery_log::delete_webhook(tx, cx, &id)).await;
    app.something_happens("two").await;
    app.pass(2 * DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 1);
    assert_eq!(app.calls_to(&other).len(), 2);
    assert_eq!(left_of(&app, &hook.id).await, 0);
}

async fn an_answer_that_comes_after_the_webhook_was_deleted_leaves_nothing_behind(app: TestApp) {
    for (number, code) in [200, 410, 500].into_iter().enumerate() {
        let hook = app.hook(&format!("receiver{number}")).await;
        app.outside.webhook_sender.hangs(&hook.url);
        app.send_test_event(&hook).await;
        app.keep_working();
        app.outside.webhook_sender.was_called(&hook.url, 1).await;
        let id = hook.id.clone();
        app.act(&app.owner, move |tx, cx| delivery_log::delete_webhook(tx, cx, &id)).await;
        app.outside.webhook_sender.answers_status(&hook.url, code);
        app.work().await;
        assert_eq!(left_of(&app, &hook.id).await, 0, "{code}");
    }
    assert!(app.outside.relay.attempts().is_empty());
}

/// Rows of a webhook, its deliveries and their tries.
async fn left_of(app: &TestApp, hook: &WebhookId) -> i64 {
    let hook = hook.clone();
    let (count,): (i64,) = app
        .act(&app.owner, move |tx, _| {
            Ok(tx.one(
                "SELECT (SELECT count(*) FROM webhooks WHERE id = ?1)
                      + (SELECT count(*) FROM deliveries WHERE webhook = ?1)
                      + (SELECT count(*) FROM delivery_attempts WHERE webhook = ?1)",
                &[&hook],
            )?)
        })
        .await;
    count
}
