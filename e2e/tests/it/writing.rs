//! Files, saved replies and mentions, as people use them.

use thirtyfour::prelude::*;

use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

#[tokio::test]
async fn files_and_a_saved_reply_go_into_a_letter() {
    let server = TestServer::open().await;
    server.furnish().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.txt");
    std::fs::write(&file, "what it costs").unwrap();
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{path}?write=reply")).await;
    browser.write("#body", "First. ").await;
    browser.press(Key::Control + ".").await;
    browser.press("greetings thanks").await;
    browser.press(Key::Enter).await;
    browser
        .until("the saved reply is in the letter", || async {
            browser.text("#body").await == "First. Hello Ann"
        })
        .await;
    browser.find("#files").await.send_keys(file.to_str().unwrap()).await.unwrap();
    browser.says("invoice.txt").await;
    assert_eq!(browser.text("#body").await, "First. Hello Ann");
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    browser.says("invoice.txt").await;
    browser.close().await;
}

#[tokio::test]
async fn a_saved_reply_is_put_in_by_the_beginning_of_its_name() {
    let server = TestServer::open().await;
    server.furnish().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{path}?write=reply")).await;
    browser.write("#body", "First. ").await;
    browser.press(";zzz ;tha").await;
    browser.find("#saved-list [aria-selected=true]").await;
    browser.press(Key::Enter).await;
    browser
        .until("the saved reply is in the letter", || async {
            browser.text("#body").await.contains("Hello Ann")
        })
        .await;
    let text = browser.text("#body").await;
    assert!(text.contains(";zzz") && !text.contains(";tha"), "{text}");
    browser.close().await;
}

#[tokio::test]
async fn files_and_saved_replies_need_no_script() {
    let server = TestServer::open().await;
    server.furnish().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.txt");
    std::fs::write(&file, "what it costs").unwrap();
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    browser.goto(&format!("{path}?write=reply")).await;
    browser.write("#body", "First.").await;
    browser.click("#saved summary").await;
    browser.click("#saved button").await;
    browser.until("the reply", || async { browser.value("#body").await.contains("Hello") }).await;
    browser.find("#files").await.send_keys(file.to_str().unwrap()).await.unwrap();
    browser.click("[data-attach-now]").await;
    browser.says("invoice.txt").await;
    let body = browser.find("#body").await.value().await.unwrap().unwrap();
    assert!(body.starts_with("First.\n\nHello Ann"), "{body}");
    browser.click("[data-send]").await;
    browser.says("leaves at").await;
    browser.close().await;
}

#[tokio::test]
async fn a_mention_rings_the_bell_of_an_open_page() {
    let server = TestServer::open().await;
    let jonas = server.person("Jonas").await;
    let browser = Browser::signed_in(&server, &jonas).await;
    browser.goto(&format!("{}/mentions", server.address)).await;
    browser.click(".page-head .btn:not(.only-phone)").await;
    browser
        .until("the bell is quiet", || async {
            browser.count(".to[href='/mentions'] .count").await == 0
        })
        .await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let other = Browser::signed_in(&server, &server.ines).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    other.goto(&format!("{path}?write=note")).await;
    other.write("#body", "Over to you, @Jonas").await;
    other.click("[data-send]").await;
    other.says("Noted.").await;
    browser.find(".to[href='/mentions'] .count.hot").await;
    browser.click(".to[href='/mentions']").await;
    browser.says("Over to you, @Jonas").await;
    browser.click(".hits a").await;
    browser.says("Where are they?").await;
    browser
        .until("the bell is quiet again", || async {
            browser.count(".to[href='/mentions'] .count").await == 0
        })
        .await;
    browser.close().await;
    other.close().await;
}

#[tokio::test]
async fn saved_replies_are_in_sight_on_a_phone() {
    let server = TestServer::open().await;
    server.furnish().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.resize(390, 700).await;
    browser.goto(&format!("{path}?write=reply")).await;
    browser.click("#saved > summary").await;
    let seen = "const reply = document.querySelector('#saved .menu-body button'); \
        const { left, right, top } = reply.getBoundingClientRect(); \
        return reply.contains(document.elementFromPoint((left + right) / 2, top + 8))";
    browser.until("a reply is seen", || async { browser.script(seen).await == true }).await;
    browser.close().await;
}

#[tokio::test]
async fn files_that_were_chosen_for_a_saved_reply_are_named() {
    let server = TestServer::open().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.txt");
    std::fs::write(&file, "what it costs").unwrap();
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/replies", server.address)).await;
    assert_eq!(browser.text("[data-file-names]").await, "");
    browser.find("#files").await.send_keys(file.to_str().unwrap()).await.unwrap();
    browser
        .until("its name is there", || async {
            browser.text("[data-file-names]").await == "invoice.txt"
        })
        .await;
    browser.close().await;
}
