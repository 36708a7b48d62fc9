//! A customer reads and answers a protected message: without scripts, narrow, and in the dark.

use inbox::api::operations::{ReplyInput, reply};
use inbox::base::limits::UNDO_LIVE_MS;

use crate::axe::{axe, violations};
use crate::browser::{Browser, Kind};
use crate::test_server::TestServer;

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
    browser.click(".g-reply-box .btn.primary").await;
    browser.says("Your reply has arrived").await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}
