//! Lists, search and settings in a browser.

use crate::support::browser::{Browser, pages};
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_key_made_in_the_app_works_over_rest() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/keys", server.address)).await;
    browser.write("#name", "Ledger").await;
    browser.click("#new .btn.primary").await;
    browser.says("Copy the key for Ledger now").await;
    let key = browser.text("#key").await;
    assert!(key.starts_with("rk_live_"), "{key}");
    let me = browser
        .driver
        .execute_async(
            "const [key, done] = arguments; \
             fetch('/api/v1/me', { headers: { authorization: 'Bearer ' + key } }) \
               .then((answer) => answer.json()).then(done)",
            vec![key.into()],
        )
        .await
        .unwrap();
    assert_eq!(me.json()["agent"]["name"], "Ledger");
    browser.close().await;
}

#[tokio::test]
async fn search_finds_letters_by_words_and_their_beginnings() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    server.mail("ann@shop.example Ann Shop", "Two lamps", "The quixotic samovar", None).await;
    browser.goto(&format!("{}/search", server.address)).await;
    browser.write("[name=q]", "samovar quix").await;
    browser.click(".searchbox .btn").await;
    browser.says("Two lamps").await;
    assert_eq!(browser.count(".hits > li").await, 1);
    browser.write("[name=q]", "\"samovar quixotic\"").await;
    browser.click(".searchbox .btn").await;
    browser.says("No message says").await;
    browser.write("[name=q]", "samovar absentword").await;
    browser.click(".searchbox .btn").await;
    browser.click(".op a[aria-label='Remove absentword']").await;
    browser.says("1 conversation").await;
    assert_eq!(browser.value("[name=q]").await, "samovar");
    browser.close().await;
}

#[tokio::test]
async fn mail_appears_in_an_open_list_by_itself() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    let before = browser.text("#live-count").await;
    server.mail("ann@shop.example Ann Shop", "Fresh from the wire", "Hello", None).await;
    browser.says("Fresh from the wire").await;
    assert_ne!(browser.text("#live-count").await, before);
    browser.close().await;
}

#[tokio::test]
async fn the_first_page_is_light() {
    const BYTES: u64 = 100 * 1024;
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser
        .devtools("Network.setCacheDisabled", serde_json::json!({ "cacheDisabled": true }))
        .await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.find(".row").await;
    let weight = "const all = ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)); \
                  return all.reduce((sum, one) => sum + (one.transferSize || 0), 0)";
    let weight = browser.script(weight).await.as_u64().unwrap();
    assert!((3_000..BYTES).contains(&weight), "{weight} bytes");
    browser.close().await;
}

#[tokio::test]
async fn nothing_scrolls_sideways_on_a_phone_and_everything_can_be_reached() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let pages = pages(&server, &browser).await;
    for width in [320, 390] {
        browser.resize(width, 700).await;
        for page in &pages {
            browser.goto(&format!("{}{page}", server.address)).await;
            let widths = "return document.documentElement.scrollWidth - innerWidth";
            assert_eq!(browser.script(widths).await, 0, "{page} at {width}");
            let shown = "return document.body.innerText.trim().length > 40";
            assert_eq!(browser.script(shown).await, true, "{page} at {width}");
        }
    }
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.click(".rows li:first-child .row").await;
    browser.find(".answer .btn.primary").await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "From the bus").await;
    browser.click("[data-send]").await;
    browser.says("leaves at").await;
    browser.close().await;
}
