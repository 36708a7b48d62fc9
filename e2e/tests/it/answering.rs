//! Answering in a browser.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use thirtyfour::prelude::*;

use crate::support::browser::{Browser, Kind};
use crate::support::test_server::{TestServer, program};

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

    let browser = Browser::open(Kind::Usual).await;
    browser.goto(said["signInUrl"].as_str().unwrap()).await;
    browser.says("This link signs you in as Ines Marti, once.").await;
    browser.click(".btn.primary").await;
    browser.says("For you").await;
    assert!(browser.count(".row").await > 0);
    browser.close().await;
    demo.kill().unwrap();
    demo.wait().unwrap();
}

#[tokio::test]
async fn an_answer_can_be_stopped_from_any_page() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    browser.goto(&format!("{}/conversations/{id}", server.address)).await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "Dear Ann,\n\nthey left on Tuesday.").await;
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(
        server.latest(&id).await,
        ("scheduled".into(), "Dear Ann,\n\nthey left on Tuesday.".into())
    );

    browser.goto(&format!("{}/settings/tags", server.address)).await;
    browser
        .until("the time left is told", || async {
            browser.text(".toast.leaves [data-countdown]").await.ends_with(" s")
        })
        .await;
    browser.click(".toast.leaves .btn").await;
    browser.says("Stopped, nothing was sent.").await;
    assert_eq!(server.latest(&id).await.0, "", "it is no draft of the team");
    browser
        .until("it is in the composer again", || async {
            browser.text("#body").await == "Dear Ann,\nthey left on Tuesday."
        })
        .await;
    assert_eq!(browser.count(".toast.leaves").await, 0);
    browser.close().await;
}

#[tokio::test]
async fn what_is_written_is_kept_without_being_sent() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let url = format!("{}/conversations/{}", server.address, received.conversation);
    browser.goto(&format!("{url}?write=reply")).await;
    browser.write("#body", "Half a sen").await;
    browser.until("it says so", || async { browser.text("[data-kept]").await == "Kept." }).await;
    browser.goto(&format!("{}/leaving", server.address)).await;
    browser.goto(&url).await;
    assert_eq!(browser.text("#body").await, "Half a sen");
    browser.says("Kept from your last visit.").await;
    browser.close().await;
}

#[tokio::test]
async fn two_people_on_one_conversation_see_each_other() {
    let server = TestServer::open().await;
    let jonas = server.person("Jonas").await;
    let one = Browser::signed_in(&server, &server.ines).await;
    let two = Browser::signed_in(&server, &jonas).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let url = format!("{}/conversations/{}", server.address, received.conversation);
    one.goto(&format!("{url}?write=reply")).await;
    one.write("#body", "My own answer").await;
    two.goto(&format!("{url}?write=note")).await;
    two.write("#body", "I take this one").await;
    one.says("Jonas is writing").await;
    two.click("[data-send]").await;
    one.says("I take this one").await;
    assert_eq!(one.text("#body").await, "My own answer");

    two.goto(&format!("{url}?write=reply")).await;
    two.write("#body", "The other answer").await;
    two.press(Key::Control + Key::Enter).await;
    two.sends_to("Ann Shop").await;
    one.says("There is a newer message above.").await;
    one.click("[data-send]").await;
    one.says("Jonas Feld answered while you were writing").await;
    assert_eq!(one.text("#body").await, "My own answer");
    assert_eq!(server.latest(received.conversation.as_str()).await.1, "The other answer");
    one.close().await;
    two.close().await;
}
