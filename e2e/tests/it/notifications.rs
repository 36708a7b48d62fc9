//! The settings of notices in a real browser: with scripts it subscribes and shows what is pushed, by keyboard and
//! without scripts everything else works.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

/// A browser without a maker's push service says what one with it would.
const SUBSCRIBES: &str = "PushManager.prototype.subscribe = async (wish) => ({ toJSON: () => ({
    endpoint: `http://127.0.0.1:9/push?key=${wish.applicationServerKey.length}`,
    keys: {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  }) });
  PushManager.prototype.getSubscription = async () => null;";

async fn shown(browser: &Browser) -> Value {
    let script = "navigator.serviceWorker.ready.then((worker) => worker.getNotifications())
        .then((all) => all.map((one) => [one.title, one.body, one.tag, one.data.url]))
        .then(arguments[0])";
    browser.driver.execute_async(script, Vec::new()).await.unwrap().json().clone()
}

#[tokio::test]
async fn a_browser_subscribes_and_shows_what_is_pushed() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let origin = json!({ "origin": server.address, "permissions": ["notifications"] });
    browser.devtools("Browser.grantPermissions", origin).await;
    let here = format!("{}/settings/notifications", server.address);
    browser.goto(&here).await;
    assert_eq!(violations(&browser, &axe()).await, Vec::<String>::new());
    browser
        .until("the script runs", || async {
            browser.count("form[data-subscribe] .btn:enabled").await == 1
        })
        .await;
    browser.script(SUBSCRIBES).await;
    browser.click("form[data-subscribe] .btn").await;
    browser.says("This browser gets notices from now on").await;
    browser.says("This one").await;
    assert_eq!(violations(&browser, &axe()).await, Vec::<String>::new());

    let notice = json!({
        "title": "New reply from Ann", "body": "Lamps", "url": "/inbox", "tag": "cnv_1",
    });
    browser.devtools("ServiceWorker.enable", json!({})).await;
    browser
        .until("the notice is shown", || async {
            let message = json!({
                "origin": server.address, "registrationId": "0", "data": notice.to_string(),
            });
            browser.devtools("ServiceWorker.deliverPushMessage", message).await;
            shown(&browser).await == json!([["New reply from Ann", "Lamps", "cnv_1", "/inbox"]])
        })
        .await;
    browser.click("form[action$='/remove'] .btn").await;
    browser.says("No browser gets notices yet").await;
    browser.close().await;
}

#[tokio::test]
async fn what_one_is_told_of_is_chosen_by_keyboard_and_without_scripts() {
    let server = TestServer::open().await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    let here = format!("{}/settings/notifications", server.address);
    browser.goto(&here).await;
    assert_eq!(browser.count("form[data-subscribe] .btn:disabled").await, 1);
    // From the first tick to the choice beside it.
    let tick = browser.find("#b-mentioned").await;
    tick.send_keys(" ").await.unwrap();
    browser.press(Key::Tab + "I").await;
    browser.click("form[action='/settings/notifications'] .btn.primary").await;
    browser.says("Saved. It applies from now on.").await;
    assert_eq!(browser.count("#b-mentioned:checked").await, 0);
    assert_eq!(browser.value("[name=mail-mentioned]").await, "digest");
    let enter = async |css| browser.find(css).await.send_keys(Key::Enter + "").await.unwrap();
    enter("a[href*='/settings/notifications/inboxes/']").await;
    browser.says("As everywhere (In the digest)").await;
    enter("main form.card .btn.primary").await;
    browser.says("Saved. It applies from now on.").await;
    enter("form[action$='/test'] .btn").await;
    browser.says("A test notice is on its way").await;
    browser.close().await;
}
