//! The page of one webhook.

use crate::support::*;

on_both!(
    a_webhook_is_tested_and_its_log_shows_every_try,
    the_log_is_narrowed_by_state_and_event,
    a_long_log_goes_on_behind_older,
    a_rotated_secret_is_shown_once_and_a_deleted_webhook_is_gone
);

const URL: &str = "https://hooks.example.com/in";

/// Adds a webhook in the app; answers the path of its page and its secret.
async fn added(browser: &crate::web::browser::Browser<'_>) -> (String, String) {
    let page = browser.post("/settings/webhooks", &[("url", URL), ("hears", "team")]).await.is(200);
    let id = page.between("href=\"/settings/webhooks/whk_", "\"").to_owned();
    let secret = format!("whsec_{}", page.between("whsec_", "<"));
    (format!("/settings/webhooks/whk_{id}"), secret)
}

async fn a_webhook_is_tested_and_its_log_shows_every_try(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (path, secret) = added(&browser).await;
    browser
        .get(&path)
        .await
        .is(200)
        .shows("No event was meant for this webhook yet")
        .hides(&secret);
    app.outside.webhook_sender.answers_status(URL, 503);
    browser.post(&format!("{path}/test"), &[]).await.goes_to(&path);
    browser
        .get(&path)
        .await
        .shows("On its way")
        .shows("no try")
        .shows("A test event is on its way");
    app.work().await;
    let page = browser.get(&path).await.is(200);
    page.shows("Tried again").shows("1 try").shows("503 Service Unavailable").shows("says 503");
    page.shows("webhook.test")
        .shows("Failing since")
        .shows("&#34;type&#34;:&#34;webhook.test&#34;");
    app.outside.webhook_sender.answers_status(URL, 204);
    app.pass(MINUTE).await;
    let page = browser.get(&path).await.is(200);
    page.shows("Delivered</span>").shows("2 tries").shows("204 No Content").hides("Failing since");
    let event = page.between("<li id=\"", "\"").to_owned();
    browser.post(&format!("{path}/events/{event}/again"), &[]).await.goes_to(&path);
    app.work().await;
    browser.get(&path).await.shows("3 tries");
    let ids: Vec<String> = app
        .outside
        .webhook_sender
        .calls_to(URL)
        .iter()
        .map(|call| call.headers.iter().find(|(name, _)| *name == "webhook-id").unwrap().1.clone())
        .collect();
    assert_eq!(ids, vec![event; 3]);
}

async fn the_log_is_narrowed_by_state_and_event(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (path, _) = added(&browser).await;
    app.mail("ann@shop.example", "Lamps", "Hello").await;
    app.work().await;
    browser.post(&format!("{path}/pause"), &[]).await.goes_to(&path);
    browser.get(&path).await.shows("Paused. What is meant for it is kept");
    app.mail("bo@shop.example", "Chairs", "Hello").await;
    browser
        .get(&format!("{path}?state=delivered"))
        .await
        .is(200)
        .shows("Delivered</span>")
        .hides("Skipped</span>");
    let skipped = browser.get(&format!("{path}?state=skipped")).await.is(200);
    skipped.shows("Skipped</span>").hides("Delivered</span>").shows("Resume the webhook first");
    browser
        .get(&format!("{path}?state=failed"))
        .await
        .is(200)
        .shows("No delivery of the last 30 days is like that");
    browser
        .get(&format!("{path}?event=webhook.test"))
        .await
        .is(200)
        .shows("No delivery of the last 30 days");
    browser
        .get(&format!("{path}?event=turn.changed&state=skipped"))
        .await
        .is(200)
        .shows("<code>turn.changed</code>");
    browser
        .get(&format!("{path}?event=nonsense&state=odd&before=evt_"))
        .await
        .is(200)
        .shows("turn.changed");
    let event = skipped.between("<li id=\"", "\"").to_owned();
    browser.post(&format!("{path}/events/{event}/again"), &[]).await.goes_to(&path);
    browser.get(&path).await.shows("Nothing was sent: resume the webhook first");
    assert_eq!(app.outside.webhook_sender.calls_to(URL).len(), 1);
    browser.post(&format!("{path}/resume"), &[]).await.goes_to(&path);
    browser.post(&format!("{path}/events/{event}/again"), &[]).await.goes_to(&path);
    app.work().await;
    assert_eq!(app.outside.webhook_sender.calls_to(URL).len(), 2);
}

async fn a_long_log_goes_on_behind_older(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (path, _) = added(&browser).await;
    for n in 0..51 {
        app.mail(&format!("c{n}@shop.example"), "Lamps", "Hello").await;
    }
    let page = browser.get(&path).await.is(200);
    let older =
        page.between("<p class=\"more\"><a class=\"btn\" href=\"", "\"").replace("#log", "");
    let rest = browser.get(&older).await.is(200);
    assert_eq!(
        (page.text.matches("<li id=\"evt_").count(), rest.text.matches("<li id=\"evt_").count()),
        (50, 1)
    );
    rest.hides("rel=\"next\"");
}

async fn a_rotated_secret_is_shown_once_and_a_deleted_webhook_is_gone(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (path, secret) = added(&browser).await;
    let page = browser.post(&format!("{path}/rotate"), &[]).await.is(200);
    let new = format!("whsec_{}", page.between("whsec_", "<"));
    assert_ne!(new, secret);
    browser.get(&path).await.is(200).hides(&new).shows("The old one signs too until");
    browser.post(&format!("{path}/delete"), &[]).await.goes_to("/settings/webhooks");
    browser.get("/settings/webhooks").await.shows("Deleted, with its log").hides(URL);
    browser.get(&path).await.is(404);
}
