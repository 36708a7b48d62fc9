//! The column beside a conversation, and the panel of the owner's app in it.

use std::sync::{Arc, Mutex};

use base::concurrency::future::BoxFuture;
use base::panel_answers::{PanelCall, PanelCaller, PanelReply};
use serde_json::{Value, json};

use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    the_column_is_a_page_of_its_own_and_a_part_without_the_layout,
    an_item_is_linked_by_its_address_and_shown,
    the_panel_shows_blocks_as_plain_text_and_so_many_lines,
    a_button_of_the_panel_is_pressed_by_a_form,
    the_page_of_a_conversation_never_asks_the_app
);

const URL: &str = "https://hooks.example.com/panel";

/// An app that answers the same to everybody, and counts the calls.
struct App {
    reply: Mutex<Value>,
    calls: Mutex<Vec<Value>>,
}

impl PanelCaller for App {
    fn post<'a>(&'a self, call: &'a PanelCall) -> BoxFuture<'a, PanelReply> {
        self.calls.lock().unwrap().push(serde_json::from_str(&call.body).unwrap());
        let body = self.reply.lock().unwrap().to_string().into_bytes();
        Box::pin(async move { PanelReply::Answer { code: 200, body, is_whole: true } })
    }
}

/// Registers an app in the settings that answers with these blocks.
async fn register(app: &TestApp, browser: &Browser<'_>, blocks: Value) -> Arc<App> {
    let reply = Mutex::new(json!({ "blocks": blocks }));
    let answering = Arc::new(App { reply, calls: Mutex::default() });
    app.app.panels.connect(answering.clone());
    let form = [("name", "the shop"), ("url", URL)];
    browser.post("/settings/panel/team", &form).await.is(200).shows("whsec_");
    answering
}

async fn the_column_is_a_page_of_its_own_and_a_part_without_the_layout(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let first = app.mail("gia@wines.example Gia", "Cellar", "One").await.conversation;
    let second = app.mail("gia@wines.example Gia", "Corks", "Two").await.conversation;
    app.mail("enzo@wines.example Enzo", "Shelves", "Three").await;
    let form = [("key", "plan"), ("on", "contact"), ("type", "text"), ("choices", "")];
    browser.post("/settings/fields", &form).await.is(303);
    let path = format!("/conversations/{first}");
    let page = browser.get(&path).await.is(200);
    page.shows(&format!("{path}/side?part=1")).shows("href=\"#side\"").hides("Not set");
    let page = browser.get(&format!("{path}/side")).await.is(200);
    page.shows("<nav").shows("Not set").shows(&second.to_string()).shows("wines.example");
    page.shows("/contacts/enzo@wines.example").shows("Back to the conversation");
    let part = browser.get(&format!("{path}/side?part=1&view=waiting")).await.is(200);
    part.hides("<nav").hides("<html").shows("Not set").shows("value=\"view=waiting\"");
    browser.post(&format!("{path}/watch"), &[("act", "follow")]).await.is(303);
    let part = browser.get(&format!("{path}/side?part=1")).await.is(200);
    part.shows("Unfollow").shows("Olive Owner");
}

async fn an_item_is_linked_by_its_address_and_shown(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let id = app.mail("gia@wines.example Gia", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}");
    let refused = browser.post(&format!("{path}/links"), &[("url", "a lamp")]).await.is(422);
    refused.shows("The address must be the page of an item").shows("value=\"a lamp\"");
    let issue = [("url", "https://github.com/acme/shop/issues/12"), ("from", "view=open")];
    browser.post(&format!("{path}/links"), &issue).await.is(303);
    app.exec("UPDATE conversation_links SET title = '<b>Lamps', state = 'closed'").await;
    let part = browser.get(&format!("{path}/side?part=1")).await.is(200);
    part.shows("href=\"https://github.com/acme/shop/issues/12\"").shows("acme/shop#12");
    part.shows("GitHub · Closed").shows("&#60;b&#62;Lamps").hides("<b>Lamps");
    browser.get(&path).await.is(200).shows("linked acme/shop#12");
    let link = format!("lnk_{}", part.between("value=\"lnk_", "\""));
    browser.post(&format!("{path}/links/remove"), &[("link", link.as_str())]).await.is(303);
    browser.get(&format!("{path}/side?part=1")).await.is(200).hides("acme/shop#12");
    browser.post(&format!("{path}/links/remove"), &[("link", link.as_str())]).await.is(404);
}

async fn the_panel_shows_blocks_as_plain_text_and_so_many_lines(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let rows: Vec<Value> = (0..12).map(|n| json!([format!("row {n}"), "<b>bold</b>"])).collect();
    let blocks = json!([
        { "type": "badge", "text": "Gold", "tone": "ok" },
        { "type": "table", "columns": ["Order", ""], "rows": rows },
        { "type": "text", "text": "beyond the eighth line" },
        { "type": "link", "text": "Open", "url": "https://shop.example/c/1?a=b&c=\"d\"" },
    ]);
    let shop = register(&app, &browser, blocks).await;
    let id = app.mail("gia@wines.example Gia", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}/panel");
    let part = browser.get(&format!("{path}?part=1")).await.is(200);
    part.shows("status ok").shows("row 6").hides("row 7").hides("beyond the eighth");
    part.hides("<b>bold").shows("&#60;b&#62;bold").shows("There is more in the app.");
    part.shows("href=\"https://shop.example/c/1?a=b&#38;c=%22d%22\"").shows("<small>shop.example");
    part.shows("rel=\"noopener noreferrer nofollow\"");
    let page = browser.get(&path).await.is(200);
    page.shows("<nav").shows("the shop").shows("row 6");
    assert_eq!(shop.calls.lock().unwrap().len(), 1, "the answer of the last minute");
    let settings = browser.get("/settings/panel").await.is(200);
    settings.shows("the shop").shows(URL);
    let log = browser.get("/settings/audit").await.is(200);
    log.shows("set the app of the customer panel");
}

async fn a_button_of_the_panel_is_pressed_by_a_form(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let blocks = json!([{ "type": "button", "id": "refund:1", "text": "Refund" }]);
    let shop = register(&app, &browser, blocks).await;
    let id = app.mail("gia@wines.example Gia", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}/panel");
    let part = browser.get(&format!("{path}?part=1")).await.is(200);
    let press = part.between("name=\"press\" value=\"", "\"").to_owned();
    let form = [("button", "refund:1"), ("press", press.as_str()), ("from", "view=waiting")];
    let done = browser.post(&format!("{path}/press"), &form).await.is(200);
    done.shows("Done: Refund").shows(&format!("/conversations/{id}?view=waiting"));
    let pressed = shop.calls.lock().unwrap()[1].clone();
    assert_eq!(pressed["button"], "refund:1");
    assert_eq!(pressed["person"], "Olive Owner");
    browser.get(&format!("/conversations/{id}")).await.is(200).shows("pressed “Refund”");
    let wrong = [("button", "delete"), ("press", ""), ("from", "")];
    browser.post(&format!("{path}/press"), &wrong).await.is(404);
}

async fn the_page_of_a_conversation_never_asks_the_app(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let shop = register(&app, &browser, json!([])).await;
    let id = app.mail("gia@wines.example Gia", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}");
    browser.get(&path).await.is(200);
    let part = browser.get(&format!("{path}/side?part=1")).await.is(200);
    part.shows("Ask “the shop”").shows(&format!("{path}/panel?part=1"));
    assert_eq!(shop.calls.lock().unwrap().len(), 0);
    let part = browser.get(&format!("{path}/panel?part=1")).await.is(200);
    part.shows("“the shop” does not know this address.");
    browser.post("/settings/panel/team/remove", &[]).await.goes_to("/settings/panel");
    browser.get(&format!("{path}/side?part=1")).await.is(200).hides("the shop");
}
