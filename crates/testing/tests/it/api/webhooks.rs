//! Additions to the API, section 9: webhooks that a key adds, lists and deletes.

use serde_json::{Value, json};
use testing::{Hears, TestApp, fields, on_both, text_of};

on_both!(
    a_key_that_administers_adds_lists_and_deletes_webhooks,
    a_webhook_hears_what_all_hear_and_what_it_chose,
    only_the_scope_admin_is_for_webhooks,
    a_webhook_that_a_key_does_not_see_is_not_there,
    a_paused_key_lists_webhooks_and_changes_none,
    what_a_key_does_to_webhooks_is_in_the_audit_log
);

fn hook(events: &[&str]) -> Value {
    json!({ "url": "https://shop.example/hook", "events": events })
}

async fn a_key_that_administers_adds_lists_and_deletes_webhooks(app: TestApp) {
    let key = app.key("admin").await;
    let made = app.post(&key, "/webhooks", hook(&[])).await.is(201).json();
    assert_eq!(fields(&made), ["events", "format", "id", "secret", "url"]);
    assert!(text_of(&made, "secret").starts_with("whsec_"));
    let listed = app.get(&key, "/webhooks").await.is(200).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!(fields(&listed[0]), ["createdAt", "events", "format", "id", "state", "url"]);
    assert_eq!((&listed[0]["id"], &listed[0]["url"]), (&made["id"], &made["url"]));
    let path = format!("/webhooks/{}", text_of(&made, "id"));
    assert_eq!(app.delete(&key, &path).await.is(200).json(), json!({ "ok": true }));
    app.delete(&key, &path).await.is(404);
    assert_eq!(app.get(&key, "/webhooks").await.is(200).json(), json!([]));
}

async fn a_webhook_hears_what_all_hear_and_what_it_chose(app: TestApp) {
    let key = app.key("admin").await;
    let chosen = hook(&["message.flagged", "client.replied"]);
    let made = app.post(&key, "/webhooks", chosen).await.is(201).json();
    let hears = |name: &str| made["events"].as_array().unwrap().contains(&json!(name));
    assert!(hears("message.flagged") && hears("client.replied") && hears("message.sent"));
    assert!(!hears("message.failed"));
    let listed = app.get(&key, "/webhooks").await.is(200).json();
    assert_eq!(listed[0]["events"], made["events"]);
    let refused = app.post(&key, "/webhooks", hook(&["mail.eaten"])).await.is(400);
    assert!(refused.error().starts_with("events: mail.eaten is no event; there are "));
}

async fn only_the_scope_admin_is_for_webhooks(app: TestApp) {
    let key = app.key("read write draft send record").await;
    let made = app.hook("shop").await;
    app.get(&key, "/webhooks").await.is(403);
    app.post(&key, "/webhooks", hook(&[])).await.is(403);
    app.delete(&key, &format!("/webhooks/{}", made.id)).await.is(403);
    assert_eq!(app.state_of(&made).await, "active");
}

async fn a_webhook_that_a_key_does_not_see_is_not_there(app: TestApp) {
    let (live, test) = (app.key("admin").await, app.test_key("admin").await);
    let ann = app.person_with("Ann", base::actor::Role::Admin).await;
    let of_team = app.hook("shop").await;
    let of_ann = app.hook_of(&ann, "ann", Hears::Private).await;
    let of_sandbox = app.hook_of(&app.owner, "sand", Hears::Sandbox).await;
    for (key, sees, others) in
        [(&live, &of_team, [&of_ann, &of_sandbox]), (&test, &of_sandbox, [&of_ann, &of_team])]
    {
        let listed = app.get(key, "/webhooks").await.is(200).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(text_of(&listed[0], "id"), sees.id.to_string());
        for other in others {
            app.delete(key, &format!("/webhooks/{}", other.id)).await.is(404);
        }
    }
}

async fn a_paused_key_lists_webhooks_and_changes_none(app: TestApp) {
    let key = app.key("send admin").await;
    let made = app.hook("shop").await;
    app.post(&key, "/agents/me/pause", json!({})).await.is(200);
    app.post(&key, "/webhooks", hook(&[])).await.is(403);
    app.delete(&key, &format!("/webhooks/{}", made.id)).await.is(403);
    let listed = app.get(&key, "/webhooks").await.is(200).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
}

async fn what_a_key_does_to_webhooks_is_in_the_audit_log(app: TestApp) {
    let key = app.key("admin").await;
    let made = app.post(&key, "/webhooks", hook(&["message.flagged"])).await.is(201).json();
    app.delete(&key, &format!("/webhooks/{}", text_of(&made, "id"))).await.is(200);
    let agent = key.id.clone();
    let acts = app
        .act(&app.owner, move |tx, cx| {
            let found: Vec<(String, String)> = tx.all(
                "SELECT action, thing FROM audit_log WHERE ws = ?1 AND actor = ?2 ORDER BY action",
                &[&cx.actor.ws, &agent],
            )?;
            Ok(found)
        })
        .await;
    let actions: Vec<&str> = acts.iter().map(|(action, _)| action.as_str()).collect();
    assert_eq!(actions, ["webhook-added", "webhook-deleted", "webhook-events-chosen"]);
    assert!(acts.iter().all(|(_, thing)| thing == "https://shop.example/hook"));
}
