//! What a person types is not lost when there is no connection, or their session is over.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

const UNREACHED: &str = "[data-unreached]";

pub async fn go_offline(browser: &Browser, offline: bool) {
    browser.devtools("Network.enable", json!({})).await;
    let conditions = json!({
        "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
    });
    browser.devtools("Network.emulateNetworkConditions", conditions).await;
}

/// Presses a button while there is no connection, and once more when there is.
pub async fn send_offline_and_again(browser: &Browser, button: &str, field: &str, text: &str) {
    go_offline(browser, true).await;
    browser.click(button).await;
    browser
        .until("it says why", || async {
            browser.text(UNREACHED).await.contains("There is no connection to the server.")
        })
        .await;
    let shown = format!("{}{}", browser.text(field).await, browser.value(field).await);
    assert!(shown.contains(text), "{shown}");
    go_offline(browser, false).await;
    browser.click(button).await;
}

#[tokio::test]
async fn what_is_sent_without_a_connection_stays_and_is_sent_later() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let path = format!("{}/conversations/{id}", server.address);
    let browser = Browser::signed_in(&server, &server.ines).await;

    browser.goto(&format!("{path}?write=note")).await;
    browser.write("#body", "She is in a hurry.").await;
    send_offline_and_again(&browser, "[data-send]", "#body", "She is in a hurry.").await;
    browser.says("Noted. Only the team sees it.").await;

    browser.goto(&format!("{path}?write=reply")).await;
    browser.write("#body", "They left on Monday.").await;
    send_offline_and_again(&browser, "[data-send]", "#body", "They left on Monday.").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(server.latest(&id).await.0, "scheduled");

    browser.goto(&format!("{}/new", server.address)).await;
    browser.write("#to", "bo@y.example").await;
    browser.write("#subject", "Chairs").await;
    browser.write("#body", "They are here.").await;
    send_offline_and_again(&browser, "[data-send]", "#body", "They are here.").await;
    browser.sends_to("bo@y.example").await;

    let second = server.mail("cy@shop.example Cy", "Tables", "Where are they?", None).await;
    let draft = server.draft(second.conversation.as_str(), "They left.").await;
    browser.goto(&format!("{}/approvals/{draft}", server.address)).await;
    browser.write("#draft", "They left on Tuesday.").await;
    send_offline_and_again(&browser, "[data-send]", "#draft", "They left on Tuesday.").await;
    browser.sends_to("Cy").await;
    browser.close().await;
}

#[tokio::test]
async fn whoever_is_signed_out_keeps_the_page_and_sends_after_signing_in_elsewhere() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/conversations/{id}?write=reply", server.address)).await;
    browser.write("#body", "They left on Monday.").await;
    browser.driver.delete_all_cookies().await.unwrap();
    browser.click("[data-send]").await;
    browser
        .until("it says why", || async {
            browser.text(UNREACHED).await.contains("You are signed out.")
        })
        .await;
    assert!(browser.text("#body").await.contains("They left on Monday."));
    let writing = browser.driver.window().await.unwrap();
    let other = browser.driver.new_tab().await.unwrap();
    browser.driver.switch_to_window(other).await.unwrap();
    browser.sign_in(&server, &server.ines).await;
    browser.driver.switch_to_window(writing).await.unwrap();
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(server.latest(&id).await, ("scheduled".into(), "They left on Monday.".into()));
    browser.close().await;
}

#[tokio::test]
async fn without_scripts_the_text_is_back_after_signing_in() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    browser.goto(&format!("{}/conversations/{id}?write=reply", server.address)).await;
    browser.write("#body", "They left on Monday.").await;
    browser.driver.delete_all_cookies().await.unwrap();
    browser.click("[data-send]").await;
    browser
        .until("it asks who it is", || async { browser.path().await.starts_with("/sign-in") })
        .await;
    let next = browser.path().await.split_once("next=").unwrap().1.to_owned();
    let next = percent_decoded(&next);
    browser.sign_in(&server, &server.ines).await;
    browser.goto(&format!("{}{next}", server.address)).await;
    browser.says("Your text is here.").await;
    assert_eq!(browser.value("#body").await, "They left on Monday.");
    browser.close().await;
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, left @ ..] = rest {
        match (first, left) {
            (b'%', [a, b, left @ ..]) => {
                let hex = String::from_utf8_lossy(&[*a, *b]).into_owned();
                bytes.push(u8::from_str_radix(&hex, 16).unwrap());
                rest = left;
            }
            (byte, left) => {
                bytes.push(*byte);
                rest = left;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn t_and_the_beginning_of_a_tag_take_the_tag_that_the_list_shows() {
    let server = TestServer::open().await;
    let first = server.mail("ann@shop.example Ann", "Lamps", "Where are they?", None).await;
    let second = server.mail("bo@shop.example Bo", "Chairs", "Where are they?", None).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    for (mail, typed) in [(&first, "shipping"), (&second, "ship")] {
        browser.goto(&format!("{}/conversations/{}", server.address, mail.conversation)).await;
        browser.is_idle().await;
        browser.press("t").await;
        browser.press(typed).await;
        browser.press(Key::Enter).await;
        browser
            .until("the tag is there", || async { browser.text(".tag").await == "shipping" })
            .await;
        assert_eq!(browser.count(".head .tag").await, 1);
    }
    browser.goto(&format!("{}/new", server.address)).await;
    browser.is_idle().await;
    browser.press("cy@shop.example,").await;
    browser
        .until("the recipient is there", || async {
            browser.value("[name=to]").await.contains("cy@shop.example")
        })
        .await;
    browser.close().await;
}
