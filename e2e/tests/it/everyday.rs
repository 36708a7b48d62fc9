//! Lists, search and settings in a browser.

use std::cell::Cell;

use serde_json::json;
use thirtyfour::prelude::Key;

use crate::support::browser::{Browser, Kind, pages};
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

#[tokio::test]
async fn a_row_of_the_list_is_low_on_every_width_and_one_line_where_it_fits() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    server.mail("ann@shop.example Ann Shop", &"Long words ".repeat(20), "Hello", None).await;
    let highest = "return Math.max(...[...document.querySelectorAll('.rows > li')] \
                   .map((row) => row.getBoundingClientRect().height))";
    let lines = "return new Set([...document.querySelector('.rows .row').children].map((part) => { \
                   const { top, height } = part.getBoundingClientRect(); \
                   return Math.round((top + height / 2) / 8); })).size";
    for (width, most, is_one_line) in
        [(1440, 44.0, true), (1280, 44.0, true), (1279, 72.0, false), (390, 72.0, false)]
    {
        browser.resize(width, 800).await;
        for view in ["open", "held"] {
            browser.goto(&format!("{}/inbox?view={view}", server.address)).await;
            browser.find(".rows .row").await;
            let height = browser.script(highest).await.as_f64().unwrap();
            assert!(height <= most, "{height} px at {width} in {view}");
            let lines = browser.script(lines).await.as_u64().unwrap();
            assert_eq!(lines <= 2, is_one_line, "{lines} lines at {width} in {view}");
        }
    }
    browser.close().await;
}

/// The addresses of the entries of the menu of the settings that are in sight.
async fn menu(browser: &Browser) -> Vec<String> {
    let entries = "return [...document.querySelectorAll('.sub-group a')] \
                   .filter((one) => one.checkVisibility()).map((one) => one.getAttribute('href'))";
    serde_json::from_value(browser.script(entries).await).unwrap()
}

#[tokio::test]
async fn the_settings_are_narrowed_as_one_types_and_searched_with_enter() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/tags", server.address)).await;
    let group = menu(&browser).await;
    assert!(group.contains(&"/settings/tags".to_owned()) && group.len() < 8, "{group:?}");
    browser.is_idle().await;
    browser.write(".sub-find input", "Vacation").await;
    browser
        .until("one entry is left", || async { menu(&browser).await == ["/settings/bookings"] })
        .await;
    browser.press(Key::Enter).await;
    browser.find(".set-hits a[href='/settings/bookings']").await;
    assert_eq!(browser.path().await, "/settings?q=Vacation");
    browser.click(".set-hits a").await;
    browser.find(".sub-group[open] a[aria-current][href='/settings/bookings']").await;
    browser.goto(&format!("{}/settings", server.address)).await;
    browser.is_idle().await;
    browser.write(".searchbox input", "absentword").await;
    browser.says("Nothing in the settings is called that.").await;
    browser.close().await;

    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/tags", server.address)).await;
    browser.write(".sub-find input", "vacation").await;
    browser.press(Key::Enter).await;
    browser.find(".set-hits a[href='/settings/bookings']").await;
    browser.close().await;
}

#[tokio::test]
async fn a_list_keeps_its_place_on_every_width() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    for n in 0..25 {
        let from = format!("c{n}@shop.example Customer {n}");
        server.mail(&from, &format!("Question {n:02}"), "Hello", None).await;
        server.advance(1_000);
    }
    let row = |subject: &str| {
        format!(
            "const row = [...document.querySelectorAll('.rows .row')] \
               .find((one) => one.textContent.includes('{subject}'));"
        )
    };
    let in_sight = async |subject: &str| {
        let script = format!(
            "{} if (!row || !location.pathname.startsWith('/inbox')) return false; \
             const {{ top, bottom }} = row.getBoundingClientRect(); \
             return top >= 0 && bottom <= innerHeight",
            row(subject)
        );
        browser.until(subject, || async { browser.script(&script).await == true }).await;
    };
    let open = async |subject: &str| {
        browser.find(".row").await;
        browser.is_idle().await;
        let script =
            format!("{} row.scrollIntoView({{ block: 'center' }}); row.click()", row(subject));
        browser.script(&script).await;
        browser
            .until("it is open", || async { browser.path().await.starts_with("/conversations/") })
            .await;
        browser.find(".letter").await;
        browser.is_idle().await;
    };
    for (width, subject, next) in
        [(1440, "Question 05", "Question 04"), (390, "Question 08", "Question 07")]
    {
        browser.resize(width, 800).await;
        browser.goto(&format!("{}/inbox?view=open", server.address)).await;
        open(subject).await;
        browser.press("u").await;
        in_sight(subject).await;
        open(subject).await;
        browser.driver.back().await.unwrap();
        in_sight(subject).await;
        open(subject).await;
        browser.press("e").await;
        browser.says("Closed.").await;
        browser.is_idle().await;
        browser.press("u").await;
        in_sight(next).await;
    }
    browser.close().await;
}

#[tokio::test]
async fn the_title_and_the_icon_say_how_much_waits() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received = server.mail("ann@shop.example Ann Shop", "Lamps", "Hello", None).await;
    browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
    browser.is_idle().await;
    let waits = "return Number(document.querySelector('link[data-waiting]').dataset.waiting)";
    let before = browser.script(waits).await.as_u64().unwrap();
    browser.press("m").await;
    browser.says("gave this to Ines Marti").await;
    browser
        .until("it is counted", || async {
            browser.driver.title().await.unwrap() == format!("({}) Lamps · Mailroom", before + 1)
        })
        .await;
    let icon = browser.find("link[data-waiting]").await.attr("href").await.unwrap().unwrap();
    assert!(icon.contains("mark-news."), "{icon}");
    browser.close().await;
}

/// A finger goes over the first row of the list.
async fn swipe(browser: &Browser, across: i32, down: i32) {
    let middle = "const { top, height } = document.querySelector('.rows .row').getBoundingClientRect(); \
                  return Math.round(top + height / 2)";
    let y = browser.script(middle).await.as_i64().unwrap();
    let x = 195 - across / 2;
    let touch = async |kind: &str, points: serde_json::Value| {
        let event = json!({ "type": kind, "touchPoints": points });
        browser.devtools("Input.dispatchTouchEvent", event).await;
    };
    touch("touchStart", json!([{ "x": x, "y": y }])).await;
    for step in 1..=6 {
        let point = json!([{ "x": x + across * step / 6, "y": y + i64::from(down * step / 6) }]);
        touch("touchMove", point).await;
    }
    touch("touchEnd", json!([])).await;
}

/// Scrolls back to the first row, and waits until nothing moves any more.
async fn comes_to_rest(browser: &Browser) {
    let place = "const row = document.querySelector('.rows .row'); \
                 row.scrollIntoView({ block: 'center', behavior: 'instant' }); \
                 return Math.round(row.getBoundingClientRect().top)";
    let before = Cell::new(None);
    browser
        .until("a list at rest", async || {
            let now = browser.script(place).await.as_i64();
            now.is_some() && before.replace(now) == now
        })
        .await;
}

/// Swipes until the page takes it: a busy browser may lose a touch.
pub async fn swipe_away(browser: &Browser, across: i32) {
    let watch = "window.pressed = false; \
                 document.addEventListener('click', () => { window.pressed = true; }, true)";
    browser
        .until("a swipe that is taken", async || {
            comes_to_rest(browser).await;
            browser.script(watch).await;
            swipe(browser, across, 0).await;
            // Nothing is known of it on the page that comes next.
            browser.script("return window.pressed !== false").await == true
        })
        .await;
}

#[tokio::test]
async fn a_swipe_closes_or_snoozes_a_row_and_can_be_undone() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    server.mail("ann@shop.example Ann Shop", "Swiped letter", "Hello", None).await;
    browser.resize(390, 800).await;
    browser.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    let first = async |is_there: bool| {
        browser
            .until("the first row", || async {
                browser.text(".rows .row").await.contains("Swiped letter") == is_there
            })
            .await;
        browser.is_idle().await;
    };
    first(true).await;
    // A short way, and one that scrolls, do nothing.
    swipe(&browser, -40, 0).await;
    swipe(&browser, -60, -200).await;
    assert_eq!(browser.count(".tick input:checked, [data-news], .swiped").await, 0);
    assert_eq!(browser.path().await, "/inbox?view=open");
    for across in [-250, 250] {
        swipe_away(&browser, across).await;
        first(false).await;
        browser.click("[data-news] [data-key=z]").await;
        first(true).await;
    }
    browser.close().await;
}
