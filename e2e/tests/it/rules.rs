//! A rule that assigns, and the report that shows it.

use thirtyfour::prelude::Key;

use crate::support::axe::{axe, violations};
use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_rule_assigns_and_the_report_shows_it() {
    let server = TestServer::open().await;
    let working = server.keep_working();
    let browser = Browser::signed_in(&server, &server.ines).await;
    let page = format!("{}/settings/rules", server.address);
    browser.goto(&page).await;
    choose(&browser, "[aria-label='Condition 1, what']", "subject").await;
    browser.write("[aria-label='Condition 1, value']", "lamp").await;
    choose(&browser, "[aria-label='Act 1, what']", "assign").await;
    browser.write("[aria-label='Act 1, value']", "Ines Marti").await;
    add_act(&browser).await;
    browser.says("Changed, not saved").await;
    let axe = axe();
    assert_eq!(violations(&browser, &axe).await, Vec::<String>::new());
    assert_eq!(browser.value("[aria-label='Condition 1, value']").await, "lamp");
    choose(&browser, "[aria-label='Act 2, what']", "tag").await;
    browser.write("[aria-label='Act 2, value']", "lamps").await;
    browser.write("#name", "Lamps to Ines").await;
    // It saves, and removes no row.
    browser.press(Key::Enter).await;
    browser.says("Tried on the last").await;
    assert_eq!(browser.value("[aria-label='Act 2, value']").await, "lamps");
    assert_eq!(violations(&browser, &axe).await, Vec::<String>::new());
    browser.click(".rules .on form[action$='/switch'] button").await;
    browser.says("Switched on. It acts from the next mail on.").await;

    let mail = server.mail("ann@shop.example Ann Shop", "A lamp", "It is broken", None).await;
    browser.goto(&format!("{}/conversations/{}", server.address, mail.conversation)).await;
    browser.says("The rule “Lamps to Ines” gave this to Ines Marti").await;

    let report = format!("{}/reports", server.address);
    browser
        .until("the report has the tag", || async {
            browser.goto(&report).await;
            server.advance(3_000);
            browser.text("body").await.contains("lamps")
        })
        .await;
    assert_eq!(violations(&browser, &axe).await, Vec::<String>::new());
    browser.close().await;
    drop(working);
}

/// Adds an empty second row of what a rule does, in which one goes on.
pub async fn add_act(browser: &Browser) {
    browser.click("#edit [name=add][value=act]").await;
    browser.find("[aria-label='Act 2, what']:focus").await;
}

/// Chooses from a menu of the form.
pub async fn choose(browser: &Browser, css: &str, value: &str) {
    browser.script(&format!("document.querySelector(\"{css}\").value = '{value}'")).await;
}
