//! A customer reads and answers a protected message: narrow, in the dark, without scripts and by keyboard;
//! and a program that scans mail opens its link.

use actions::writing::secure_messages;
use api::operations::ReplyInput;
use api::operations::reply;
use base::ids::MessageId;
use base::limits::UNDO_LIVE_MS;
use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

/// Ann is sent a protected message; the address of its page.
async fn protected(server: &TestServer, browser: &Browser) -> String {
    let received = server.mail("ann@shop.example Ann Shopper", "Lamps", "Hello", None).await;
    let input = ReplyInput {
        id: received.conversation.to_string(),
        body: "The account ends in 4711.".into(),
        send: true,
        secure: Some(true),
        ..ReplyInput::default()
    };
    let sent = server.app.act(&server.ines, move |tx, cx| reply(tx, cx, input.clone()));
    sent.await.unwrap();
    server.advance(UNDO_LIVE_MS + 1_000);
    browser.until("the mail leaves", async || server.mailed("/s/", 40).is_some()).await;
    format!("{}/s/{}", server.address, server.mailed("/s/", 40).unwrap())
}

#[tokio::test]
async fn a_customer_reads_and_answers_a_protected_message_on_a_phone() {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let (browser, axe) = (Browser::open(Kind::Usual).await, axe());
    let page = protected(&server, &browser).await;
    browser.resize(360, 740).await;
    let mut wrong = Vec::new();
    browser.goto(&page).await;
    wrong.extend(violations(&browser, &axe).await);
    browser.click(".btn.primary").await;
    browser.says("Enter the code from your mail").await;
    browser.until("the code comes", async || server.mailed("Your code: ", 9).is_some()).await;
    wrong.extend(violations(&browser, &axe).await);
    browser.write("#code", &server.mailed("Your code: ", 9).unwrap()).await;
    browser.click(".btn.primary").await;
    browser.says("The account ends in 4711.").await;
    for dark in [false, true] {
        browser.dark(dark).await;
        wrong.extend(violations(&browser, &axe).await);
    }
    let width = browser.script("return document.documentElement.scrollWidth").await;
    assert_eq!(width, 360, "nothing scrolls sideways");
    browser.write("#reply", "Thank you, I have it.").await;
    // A second click of an impatient customer.
    let twice = "const button = document.querySelector('.g-reply-box .btn.primary'); \
                 button.click(); button.click();";
    browser.script(twice).await;
    browser.says("Your reply has arrived").await;
    let answers = "return document.querySelectorAll('.g-thread .g-mine').length";
    assert_eq!(browser.script(answers).await, 1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}

/// Times that a scanner opens a link in each way.
const SCANS: usize = 20;
/// Elements of a page that the Tab key passes at most.
const STOPS: usize = 60;

/// Mails that have left for Ann. The sample's own mails to others fall due in between.
fn mails_to_ann(server: &TestServer) -> usize {
    let entries = std::fs::read_dir(server.outbox()).unwrap();
    let mails = entries.filter_map(|entry| std::fs::read(entry.ok()?.path()).ok());
    let to_ann = |mail: &Vec<u8>| {
        let text = String::from_utf8_lossy(mail);
        text.lines().any(|line| line.starts_with("To:") && line.contains("ann@shop.example"))
    };
    mails.filter(to_ann).count()
}

/// Pages, codes and sessions that somebody has opened, asked for and begun.
async fn traces(server: &TestServer) -> i64 {
    let counted = server.app.act(&server.ines, |tx, _| {
        let (count,): (i64,) = tx.one(
            "SELECT (SELECT count(*) FROM secure_links WHERE opened_at IS NOT NULL)
                  + (SELECT count(*) FROM one_time_codes) + (SELECT count(*) FROM guest_sessions)",
            &[],
        )?;
        Ok(count)
    });
    counted.await.unwrap()
}

#[tokio::test]
async fn a_scanner_that_opens_the_link_in_a_browser_changes_nothing_and_causes_no_mail() {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let usual = Browser::open(Kind::Usual).await;
    let page = protected(&server, &usual).await;
    let plain = Browser::open(Kind::WithoutScripts).await;
    assert_eq!(mails_to_ann(&server), 1, "the link");
    let before = (mails_to_ann(&server), traces(&server).await);
    for browser in [&usual, &plain] {
        for _ in 0..SCANS {
            browser.goto(&page).await;
        }
        browser.says("Send me the code").await;
    }
    // The page's own policy lets it fetch nothing.
    usual.devtools("Page.setBypassCSP", json!({ "enabled": true })).await;
    usual.goto(&page).await;
    let script = "return (async () => {
        for (let i = 0; i < SCANS; i++) {
            await fetch(location.href, { method: 'HEAD' });
            await fetch(location.href, { credentials: 'omit' });
            const link = document.createElement('link');
            link.rel = 'prefetch';
            link.href = location.href + '?' + i;
            const loaded = new Promise((done) => (link.onload = link.onerror = done));
            document.head.append(link);
            await loaded;
        }
        return document.body.textContent.includes('4711');
    })()";
    let fetched = usual.script(&script.replace("SCANS", &SCANS.to_string())).await;
    assert_eq!(fetched, false, "the words are not there");
    assert_eq!((mails_to_ann(&server), traces(&server).await), before);
    plain.close().await;
    usual.close().await;
}

/// Presses Tab until an element has the focus.
async fn tab_to(browser: &Browser, css: &str) {
    for _ in 0..STOPS {
        let wanted = browser.find(css).await.element_id();
        let active = browser.driver.active_element().await.map(|active| active.element_id());
        if active.is_ok_and(|active| active == wanted) {
            return;
        }
        // Keys that are sent to a field for files would be the name of one.
        browser.driver.action_chain().send_keys(Key::Tab).perform().await.unwrap();
    }
    panic!("the Tab key does not come to {css}");
}

#[tokio::test]
async fn without_scripts_and_with_keys_alone_a_customer_reads_answers_and_signs_out_for_good() {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let browser = Browser::open(Kind::WithoutScripts).await;
    let page = protected(&server, &browser).await;
    browser.goto(&page).await;
    tab_to(&browser, ".btn.primary").await;
    browser.press(Key::Enter).await;
    browser.says("Enter the code from your mail").await;
    browser.until("the code comes", async || server.mailed("Your code: ", 9).is_some()).await;
    tab_to(&browser, "#code").await;
    browser.press(server.mailed("Your code: ", 9).unwrap()).await;
    browser.press(Key::Enter).await;
    browser.says("The account ends in 4711.").await;
    tab_to(&browser, "#reply").await;
    browser.press("Thank you, I have it.").await;
    tab_to(&browser, ".g-reply-box .btn.primary").await;
    browser.press(Key::Enter).await;
    browser.says("Your reply has arrived").await;
    tab_to(&browser, ".g-time-left button").await;
    browser.press(Key::Enter).await;
    browser.says("You are signed out").await;
    browser.says("Send me the code").await;
    browser.driver.back().await.unwrap();
    browser.says("Send me the code").await;
    assert!(!browser.text("body").await.contains("4711"), "the back button shows it");
    browser.close().await;
}

#[tokio::test]
async fn the_back_button_shows_nothing_after_signing_out_and_after_taking_back() {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let browser = Browser::open(Kind::Usual).await;
    let page = protected(&server, &browser).await;
    for is_taken_back in [false, true] {
        browser.goto(&page).await;
        browser.click(".btn.primary").await;
        browser.says("Enter the code from your mail").await;
        browser.until("the code comes", async || server.mailed("Your code: ", 9).is_some()).await;
        browser.write("#code", &server.mailed("Your code: ", 9).unwrap()).await;
        browser.click(".btn.primary").await;
        browser.says("The account ends in 4711.").await;
        if is_taken_back {
            let revoked = server.app.act(&server.ines, |tx, cx| {
                let (id,): (MessageId,) =
                    tx.one("SELECT message FROM secure_links ORDER BY message DESC LIMIT 1", &[])?;
                secure_messages::revoke_secure(tx, cx, &id)
            });
            revoked.await.unwrap();
            browser.goto(&page).await;
            browser.says("This page is closed").await;
        } else {
            browser.click(".g-time-left button").await;
            browser.says("You are signed out").await;
        }
        browser.driver.back().await.unwrap();
        browser.until("it is loaded anew", async || !browser.text("body").await.is_empty()).await;
        assert!(!browser.text("body").await.contains("4711"), "the back button shows it");
        // The next code is another one.
        for file in std::fs::read_dir(server.outbox()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    browser.close().await;
}

#[tokio::test]
async fn the_composer_says_what_is_quoted_as_soon_as_the_lock_is_ticked() {
    let server = TestServer::open().await;
    let received = server.mail("ann@shop.example Ann Shopper", "Lamps", "Hello", None).await;
    let composer =
        format!("{}/conversations/{}?write=reply", server.address, received.conversation);
    let (quoted, nothing) =
        ("The message before is quoted below.", "Below a protected message nothing is quoted.");
    for kind in [Kind::WithoutScripts, Kind::Usual] {
        let browser = Browser::open(kind).await;
        browser.sign_in(&server, &server.ines).await;
        browser.goto(&composer).await;
        browser.says(quoted).await;
        assert!(!browser.text(".composer").await.contains(nothing));
        // By keyboard: the bar of buttons may lie over the box.
        browser.script("document.querySelector(`.composer [name='secure']`).focus()").await;
        browser.press(" ").await;
        browser.says(nothing).await;
        assert!(!browser.text(".composer").await.contains(quoted));
        browser.close().await;
    }
}
