//! Files, saved replies and mentions, as people use them.

use thirtyfour::prelude::*;

use crate::house::House;
use crate::window::{Kind, Window};

#[tokio::test]
async fn files_and_a_saved_reply_go_into_a_letter() {
    let house = House::open().await;
    house.furnish().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.txt");
    std::fs::write(&file, "what it costs").unwrap();
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let path = format!("{}/conversations/{}", house.address, received.conversation);
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{path}?write=reply")).await;
    window.write("#body", "First. ").await;
    window.press(Key::Control + ".").await;
    window.press(Key::Enter).await;
    window
        .until("the saved reply is in the letter", || async {
            let body = window.find("#body").await.value().await.unwrap().unwrap();
            body == "First. Hello Ann"
        })
        .await;
    window.find("#files").await.send_keys(file.to_str().unwrap()).await.unwrap();
    window.says("invoice.txt").await;
    let body = window.find("#body").await.value().await.unwrap().unwrap();
    assert_eq!(body, "First. Hello Ann");
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    window.says("invoice.txt").await;
    window.close().await;
}

#[tokio::test]
async fn files_and_saved_replies_need_no_script() {
    let house = House::open().await;
    house.furnish().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.txt");
    std::fs::write(&file, "what it costs").unwrap();
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let window = Window::open(Kind::WithoutScripts).await;
    window.sign_in(&house, &house.ines).await;
    let path = format!("{}/conversations/{}", house.address, received.conversation);
    window.goto(&format!("{path}?write=reply")).await;
    window.write("#body", "First.").await;
    window.click("#saved summary").await;
    window.click("#saved button").await;
    window.until("the reply", || async { window.value("#body").await.contains("Hello") }).await;
    window.find("#files").await.send_keys(file.to_str().unwrap()).await.unwrap();
    window.click("[data-attach-now]").await;
    window.says("invoice.txt").await;
    let body = window.find("#body").await.value().await.unwrap().unwrap();
    assert_eq!(body, "First.\n\nHello Ann");
    window.click("[data-send]").await;
    window.says("leaves at").await;
    window.close().await;
}

#[tokio::test]
async fn a_mention_rings_the_bell_of_an_open_page() {
    let house = House::open().await;
    let jonas = house.person("Jonas").await;
    let window = Window::signed_in(&house, &jonas).await;
    window.goto(&format!("{}/mentions", house.address)).await;
    window.click(".page-head .btn:not(.only-phone)").await;
    window
        .until("the bell is quiet", || async {
            window.count(".to[href='/mentions'] .count").await == 0
        })
        .await;
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let other = Window::signed_in(&house, &house.ines).await;
    let path = format!("{}/conversations/{}", house.address, received.conversation);
    other.goto(&format!("{path}?write=note")).await;
    other.write("#body", "Over to you, @Jonas").await;
    other.click("[data-send]").await;
    other.says("Noted.").await;
    window.find(".to[href='/mentions'] .count.hot").await;
    window.click(".to[href='/mentions']").await;
    window.says("Over to you, @Jonas").await;
    window.click(".hits a").await;
    window.says("Where are they?").await;
    window
        .until("the bell is quiet again", || async {
            window.count(".to[href='/mentions'] .count").await == 0
        })
        .await;
    window.close().await;
    other.close().await;
}
