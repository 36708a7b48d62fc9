//! Lists, search and settings in a browser.

use crate::house::House;
use crate::window::{Window, pages};

#[tokio::test]
async fn a_key_made_in_the_app_works_over_rest() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/settings/keys", house.address)).await;
    window.write("#name", "Ledger").await;
    window.click("#new .btn.primary").await;
    window.says("Copy the key for Ledger now").await;
    let key = window.text("#key").await;
    assert!(key.starts_with("rk_live_"), "{key}");
    let me = window
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
    window.close().await;
}

#[tokio::test]
async fn search_finds_letters_by_words_and_their_beginnings() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    house.mail("ann@shop.example Ann Shop", "Two lamps", "The quixotic samovar", None).await;
    window.goto(&format!("{}/search", house.address)).await;
    window.write("[name=q]", "samovar quix").await;
    window.click(".searchbox .btn").await;
    window.says("Two lamps").await;
    assert_eq!(window.count(".hits > li").await, 1);
    window.write("[name=q]", "\"samovar quixotic\"").await;
    window.click(".searchbox .btn").await;
    window.says("No message says").await;
    window.close().await;
}

#[tokio::test]
async fn mail_appears_in_an_open_list_by_itself() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    let before = window.text("#live-count").await;
    house.mail("ann@shop.example Ann Shop", "Fresh from the wire", "Hello", None).await;
    window.says("Fresh from the wire").await;
    assert_ne!(window.text("#live-count").await, before);
    window.close().await;
}

#[tokio::test]
async fn the_first_page_is_light() {
    const BYTES: u64 = 100 * 1024;
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.devtools("Network.setCacheDisabled", serde_json::json!({ "cacheDisabled": true })).await;
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    window.find(".row").await;
    let weight = "const all = ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)); \
                  return all.reduce((sum, one) => sum + (one.transferSize || 0), 0)";
    let weight = window.script(weight).await.as_u64().unwrap();
    assert!((10_000..BYTES).contains(&weight), "{weight} bytes");
    window.close().await;
}

#[tokio::test]
async fn nothing_scrolls_sideways_on_a_phone_and_everything_can_be_reached() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    let pages = pages(&house, &window).await;
    for width in [320, 390] {
        window.resize(width, 700).await;
        for page in &pages {
            window.goto(&format!("{}{page}", house.address)).await;
            let widths = "return document.documentElement.scrollWidth - innerWidth";
            assert_eq!(window.script(widths).await, 0, "{page} at {width}");
            let shown = "return document.body.innerText.trim().length > 40";
            assert_eq!(window.script(shown).await, true, "{page} at {width}");
        }
    }
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    window.click(".rows li:first-child .row").await;
    window.find(".answer .btn.primary").await;
    window.click(".answer .btn.primary").await;
    window.write("#body", "From the bus").await;
    window.click("[data-send]").await;
    window.says("leaves at").await;
    window.close().await;
}
