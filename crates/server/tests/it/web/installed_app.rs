//! The app on a home screen: its manifest, the page without a connection, and what other apps share with it.

use crate::support::*;

on_both!(the_manifest_and_the_offline_page_name_nobody, what_is_shared_begins_a_message);

async fn the_manifest_and_the_offline_page_name_nobody(app: TestApp) {
    let stranger = app.browser();
    let manifest = stranger.get("/manifest.webmanifest").await.is(200);
    assert_eq!(manifest.answer.header("content-type"), "application/manifest+json");
    let read: serde_json::Value = serde_json::from_str(&manifest.text).unwrap();
    assert_eq!(read["start_url"], "/");
    for icon in read["icons"].as_array().unwrap() {
        stranger.get(icon["src"].as_str().unwrap()).await.is(200);
    }
    let owner = app.signed_in(&app.owner).await;
    for shortcut in read["shortcuts"].as_array().unwrap() {
        owner.get(shortcut["url"].as_str().unwrap()).await.is(200);
    }
    let page = owner.get("/offline").await.is(200);
    page.shows("Mailroom cannot be reached").hides("Olive").hides("Acme");
    owner.get("/inbox?view=open").await.is(200).shows("href=\"/manifest.webmanifest\"");
}

async fn what_is_shared_begins_a_message(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let shared = "/new?subject=A%20lamp&text=Look%20%3Cb%3E&link=https%3A%2F%2Fshop.example%2F1";
    let page = owner.get(shared).await.is(200);
    page.shows("A lamp").shows("Look &#60;b&#62;").shows("https://shop.example/1");
}
