//! Tags on pages.

use base::actor::Role;
use serde_json::json;

use crate::support::{TestApp, letter, on_both};

on_both!(a_tag_of_a_private_inbox_is_on_no_page_of_others);

async fn a_tag_of_a_private_inbox_is_on_no_page_of_others(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns = app.key_of(&ann, "Anns", "write", true).await;
    let hers = app.private_inbox(&ann).await;
    let to_ann = app.deliver(&hers, letter("a@x.example", "Ann", "text")).await;
    app.on(&anns, &to_ann.conversation, "tags", json!({ "add": ["DIVORCE", "vip"] })).await.is(200);
    let secret = app.get(&anns, "/tags").await.json()[0]["id"].as_str().unwrap().to_owned();
    let browser = app.signed_in(&app.owner).await;
    browser.get(&format!("/inbox?tag={secret}")).await.is(404);
    browser.get("/inbox?view=open").await.is(200).hides("DIVORCE");
    browser.get("/settings/tags").await.is(200).hides("DIVORCE");
    let rename = format!("/settings/tags/{secret}/rename");
    browser.post(&rename, &[("name", "other")]).await.is(404);
}
