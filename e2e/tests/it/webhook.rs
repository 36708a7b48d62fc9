//! Making a webhook and seeing its log, with a receiver that really listens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::house::House;
use crate::window::Window;

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
    let house = House::open().await;
    let _working = house.keep_working();
    let status = Arc::new(AtomicU16::new(503));
    let url = receiver(Arc::clone(&status)).await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/settings/webhooks", house.address)).await;
    window.write("#url", &url).await;
    window.click("#new .btn.primary").await;
    window.says("Copy the secret now").await;
    assert!(window.text(".secret").await.starts_with("whsec_"));
    window.click(".once .btn:not(.primary)").await;
    window.says("No event was meant for this webhook yet").await;

    window.click(".page-head .btn").await;
    window.says("A test event is on its way").await;
    window.says("Tried again").await;
    window.says("Failing since").await;
    window.click(".log summary").await;
    window.says("503 Service Unavailable").await;
    window.says("the till is closed").await;

    status.store(200, Ordering::SeqCst);
    window.click(".log .more .btn").await;
    window.says("It is on its way once more").await;
    window.says("Delivered").await;
    window.click(".seg a:nth-child(2)").await;
    window.says("No delivery of the last 30 days is like that").await;
    window.click(".seg a:nth-child(4)").await;
    window.says("webhook.test").await;
    window.close().await;
}

#[tokio::test]
async fn a_snoozed_conversation_comes_back_by_the_clock() {
    const THREE_HOURS: i64 = 3 * 60 * 60 * 1_000;
    let house = House::open().await;
    let _working = house.keep_working();
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let window = Window::signed_in(&house, &house.ines).await;
    window
        .goto(&format!("{}/conversations/{}?view=open", house.address, received.conversation))
        .await;
    window.press("s").await;
    window.click(".menu[open] [name=until]").await;
    window.says("Snoozed. It comes back by itself.").await;
    assert!(!window.text(".rows").await.contains("Two lamps"));
    window.goto(&format!("{}/inbox?view=snoozed", house.address)).await;
    window.says("Two lamps").await;
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    house.advance(THREE_HOURS + 1_000);
    window.says("Two lamps").await;
    window.click(".rows .row").await;
    window.says("brought this back, its time had come").await;
    window.close().await;
}
