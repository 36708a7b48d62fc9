//! Answering in a browser.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use thirtyfour::prelude::*;

use crate::house::{House, program};
use crate::window::{Kind, Window};

#[tokio::test]
async fn the_first_sign_in_is_by_the_link_that_demo_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(program())
        .args(["demo", "--json", "--listen", "127.0.0.1:0", "--smtp-listen", "off", "--data"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(demo.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();

    let window = Window::open(Kind::Usual).await;
    window.goto(said["signInUrl"].as_str().unwrap()).await;
    window.says("This link signs you in as Ines Marti, once.").await;
    window.click(".btn.primary").await;
    window.says("For you").await;
    assert!(window.count(".row").await > 0);
    window.close().await;
    demo.kill().unwrap();
    demo.wait().unwrap();
}

#[tokio::test]
async fn an_answer_can_be_stopped_from_any_page() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    window.goto(&format!("{}/conversations/{id}", house.address)).await;
    window.click(".answer .btn.primary").await;
    window.write("#body", "Dear Ann,\n\nthey left on Tuesday.").await;
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    assert_eq!(
        house.latest(&id).await,
        ("scheduled".into(), "Dear Ann,\n\nthey left on Tuesday.".into())
    );

    window.goto(&format!("{}/settings/tags", house.address)).await;
    window
        .until("the time left is told", || async { window.text(".undo").await.contains(" min ") })
        .await;
    window.click(".undo .btn").await;
    window.says("Stopped. It is a draft again, nothing was sent.").await;
    assert_eq!(house.latest(&id).await.0, "draft");
    window.says("Waits for a person").await;
    assert_eq!(window.count(".undo").await, 0);
    window.close().await;
}

#[tokio::test]
async fn what_is_written_is_kept_without_being_sent() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let url = format!("{}/conversations/{}", house.address, received.conversation);
    window.goto(&format!("{url}?write=reply")).await;
    window.write("#body", "Half a sen").await;
    window.until("it says so", || async { window.text("[data-kept]").await == "Kept." }).await;
    window.goto(&format!("{}/leaving", house.address)).await;
    window.goto(&url).await;
    assert_eq!(window.find("#body").await.value().await.unwrap().unwrap(), "Half a sen");
    window.says("Kept from your last visit.").await;
    window.close().await;
}

#[tokio::test]
async fn two_people_on_one_conversation_see_each_other() {
    let house = House::open().await;
    let jonas = house.person("Jonas").await;
    let one = Window::signed_in(&house, &house.ines).await;
    let two = Window::signed_in(&house, &jonas).await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let url = format!("{}/conversations/{}", house.address, received.conversation);
    one.goto(&format!("{url}?write=reply")).await;
    one.write("#body", "My own answer").await;
    two.goto(&format!("{url}?write=note")).await;
    two.write("#body", "I take this one").await;
    one.says("Jonas is writing").await;
    two.click("[data-send]").await;
    one.says("I take this one").await;
    assert_eq!(one.find("#body").await.value().await.unwrap().unwrap(), "My own answer");

    two.goto(&format!("{url}?write=reply")).await;
    two.write("#body", "The other answer").await;
    two.press(Key::Control + Key::Enter).await;
    two.says("Your message to Ann Shop leaves at").await;
    one.says("There is a newer message above.").await;
    one.click("[data-send]").await;
    one.says("Jonas Feld answered while you were writing").await;
    assert_eq!(one.find("#body").await.value().await.unwrap().unwrap(), "My own answer");
    assert_eq!(house.latest(received.conversation.as_str()).await.1, "The other answer");
    one.close().await;
    two.close().await;
}
