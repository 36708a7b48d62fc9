//! A webhook of a chat in the settings, and what the links under its messages lead to.

use base::limits::CHAT_LINK_MS;
use serde_json::Value;

use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    a_chat_is_added_and_its_address_is_not_shown_again,
    a_link_asks_to_sign_in_and_acts_only_when_its_button_is_pressed,
    a_link_is_of_one_act_on_one_conversation_for_a_while,
    a_link_opens_nothing_that_its_reader_does_not_see
);

const URL: &str = "https://hooks.chat.example/services/T0001/B0002/abcdefghijklmnopqrstwxyz";

/// Adds the chat in the app; answers the path of its page.
async fn add_chat(browser: &Browser<'_>) -> String {
    let fields = [("url", URL), ("format", "slack"), ("hears", "team")];
    let page = browser.post("/settings/webhooks", &fields).await.is(303);
    page.answer.header("location").to_owned()
}

/// The paths of the links of an act in what was posted to the chat, the latest last.
fn links(app: &TestApp, act: &str) -> Vec<String> {
    let calls = app.outside.webhook_sender.calls_to(URL);
    let bodies = calls.iter().map(|call| serde_json::from_str::<Value>(&call.body).unwrap());
    let start = format!("{PUBLIC_URL}/from-chat/{act}/");
    let paths = bodies.filter_map(|body| {
        let text = body["blocks"][2]["text"]["text"].as_str()?.to_owned();
        let (_, rest) = text.split_once(&start)?;
        Some(format!("/from-chat/{act}/{}", rest.split('|').next()?))
    });
    paths.collect()
}

async fn a_chat_is_added_and_its_address_is_not_shown_again(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/webhooks").await.is(200).shows("Mattermost").shows("Microsoft Teams");
    let path = add_chat(&browser).await;
    for page in [browser.get(&path).await, browser.get("/settings/webhooks").await] {
        page.is(200).shows("hooks.chat.example/…wxyz").shows("Slack").hides("abcdefgh");
    }
    browser.get(&path).await.hides("Rotate the secret").shows("draft.waiting");
    browser.post(&format!("{path}/test"), &[]).await.goes_to(&path);
    app.work().await;
    browser.get(&path).await.shows("webhook.test").hides("abcdefgh");
    assert_eq!(app.outside.webhook_sender.calls_to(URL).len(), 1);
}

async fn a_link_asks_to_sign_in_and_acts_only_when_its_button_is_pressed(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    add_chat(&browser).await;
    let mail = app.mail("petra@shop.example Petra", "Lamps", "Hello").await;
    app.work().await;
    let path = links(&app, "close").pop().expect("a link");
    let is_open = format!("conversations WHERE id = '{}' AND status = 'open'", mail.conversation);
    let nobody = app.browser();
    nobody.get(&path).await.is(303);
    browser
        .get(&path)
        .await
        .is(200)
        .shows("Close this conversation?")
        .shows("Lamps")
        .hides("Hello");
    browser.post_bare(&path, &[]).await;
    assert_eq!(app.count(&is_open).await, 1);
    let there = format!("/conversations/{}", mail.conversation);
    browser.post(&path, &[]).await.goes_to(&there);
    assert_eq!(app.count(&is_open).await, 0);
    browser.get(&path).await.is(200).shows("It is closed already");
    let take = links(&app, "assign").pop().expect("a link");
    browser.get(&take).await.is(200).shows("Take this conversation?");
    browser.post(&take, &[]).await.goes_to(&there);
    browser.get(&take).await.is(200).shows("It is yours already");
}

async fn a_link_is_of_one_act_on_one_conversation_for_a_while(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    add_chat(&browser).await;
    let one = app.mail("ann@x.example", "One", "Hello").await;
    let two = app.mail("bo@x.example", "Two", "Hello").await;
    app.work().await;
    let path =
        links(&app, "close").into_iter().find(|path| path.contains(one.conversation.as_str()));
    let path = path.expect("a link");
    for forged in [
        path.replace("/close/", "/assign/"),
        path.replace("/close/", "/approve/"),
        path.replace(one.conversation.as_str(), two.conversation.as_str()),
        path.replace(path.rsplit('/').nth(1).unwrap(), "9999999999999"),
        format!("{}0", &path[..path.len() - 1]),
        format!("{}1", &path[..path.len() - 1]),
    ] {
        if forged != path {
            browser.get(&forged).await.is(404);
            browser.post(&forged, &[]).await.is(404);
        }
    }
    app.pass(CHAT_LINK_MS).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get(&path).await.is(200).shows("This link has run out");
    browser.post(&path, &[]).await.goes_to(&path);
    assert_eq!(app.count("conversations WHERE status = 'open'").await, 2);
}

async fn a_link_opens_nothing_that_its_reader_does_not_see(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    add_chat(&browser).await;
    let mail = app.mail("ann@x.example", "Lamps", "Hello").await;
    app.work().await;
    let path = links(&app, "close").pop().expect("a link");
    let id = mail.conversation.to_string();
    app.exec(&format!("UPDATE conversations SET circle = 'usr_elsewhere' WHERE id = '{id}'")).await;
    browser.get(&path).await.is(404).hides("Lamps");
    browser.post(&path, &[]).await.is(404);
}
