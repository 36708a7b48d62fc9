//! Days that are typed in the reader's form, and picked in a month with keys alone.

use thirtyfour::prelude::*;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_day_is_picked_with_keys_alone() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let field = "#from";
    let is = async |wanted: &str| {
        browser.until(wanted, || async { browser.value(field).await == wanted }).await;
    };
    let open = async || {
        browser.script("document.querySelector('[data-pick=from]').focus()").await;
        browser.press(Key::Enter).await;
        browser.find("dialog.month [aria-pressed=true]:focus").await;
    };
    browser.goto(&format!("{}/reports?from=2026-01-31&to=2026-02-20", server.address)).await;
    browser.is_idle().await;
    is("31 Jan 2026").await;
    for (keys, picked) in [
        (vec![Key::Right], "1 Feb 2026"),
        (vec![Key::Down], "8 Feb 2026"),
        (vec![Key::Up, Key::Left], "31 Jan 2026"),
        (vec![Key::PageDown], "28 Feb 2026"),
        (vec![Key::PageUp], "28 Jan 2026"),
    ] {
        open().await;
        for key in keys {
            browser.press(key).await;
        }
        browser.press(Key::Enter).await;
        browser.find("[data-pick=from]:focus").await;
        is(picked).await;
    }
    open().await;
    browser.press(Key::Right).await;
    browser.press(Key::Escape).await;
    browser.find("[data-pick=from]:focus").await;
    is("28 Jan 2026").await;

    browser.write(field, "2 Feb 2026").await;
    browser.press(Key::Enter).await;
    browser
        .until("the report begins then", || async {
            browser.path().await.contains("from=2+Feb+2026")
        })
        .await;
    is("2 Feb 2026").await;
    browser.write(field, "soon").await;
    browser.press(Key::Enter).await;
    browser.says("The first day must be a date").await;
    is("soon").await;
    browser.close().await;
}
