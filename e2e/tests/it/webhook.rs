//! Making a webhook and seeing its log, with a receiver that really listens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

/// Listens on this machine and answers every request with the status it is told.
async fn receiver(status: Arc<AtomicU16>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/in", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let status = status.load(Ordering::SeqCst);
            tokio::spawn(async move {
                let mut bytes = [0; 8192];
                let _ = stream.read(&mut bytes).await;
                let words = "the till is closed";
                let answer = format!(
                    "HTTP/1.1 {status} Told\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
                    words.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_webhook_is_made_tested_and_its_log_shows_what_was_answered() {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let status = Arc::new(AtomicU16::new(503));
    let url = receiver(Arc::clone(&status)).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/webhooks", server.address)).await;
    browser.write("#url", &url).await;
    browser.click("#new .btn.primary").await;
    browser.says("Copy the secret now").await;
    assert!(browser.text(".secret").await.starts_with("whsec_"));
    browser.click(".once .btn:not(.primary)").await;
    browser.says("No event was meant for this webhook yet").await;

    browser.click(".page-head .btn").await;
    browser.says("A test event is on its way").await;
    browser.says("Tried again").await;
    browser.says("Failing since").await;
    browser.click(".log summary").await;
    browser.says("503 Service Unavailable").await;
    browser.says("the till is closed").await;

    status.store(200, Ordering::SeqCst);
    browser.click(".log .more .btn").await;
    browser.says("It is on its way once more").await;
    browser.says("Delivered").await;
    browser.click(".seg a:nth-child(2)").await;
    browser.says("No delivery of the last 30 days is like that").await;
    browser.click(".seg a:nth-child(4)").await;
    browser.says("webhook.test").await;
    browser.close().await;
}

#[tokio::test]
async fn a_snoozed_conversation_comes_back_by_the_clock() {
    const THREE_HOURS: i64 = 3 * 60 * 60 * 1_000;
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser
        .goto(&format!("{}/conversations/{}?view=open", server.address, received.conversation))
        .await;
    browser.press("s").await;
    browser.click(".menu[open] [name=until]").await;
    browser.says("Snoozed. It comes back by itself.").await;
    assert!(!browser.text(".rows").await.contains("Two lamps"));
    browser.goto(&format!("{}/inbox?view=snoozed", server.address)).await;
    browser.says("Two lamps").await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    server.advance(THREE_HOURS + 1_000);
    browser.says("Two lamps").await;
    browser.click(".rows .row").await;
    browser.says("brought this back, its time had come").await;
    browser.close().await;
}
