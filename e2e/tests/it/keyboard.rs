//! The app by keyboard alone.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_letter_is_found_answered_and_stopped_with_keys_alone() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    server.mail("ann@shop.example Ann Shop", "First letter", "One", None).await;
    server.advance(1_000);
    let received = server.mail("bo@shop.example Bo Shop", "Second letter", "Two", None).await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.find(".row").await;
    browser.press("jj").await;
    let chosen = browser.driver.active_element().await.unwrap().text().await.unwrap();
    assert!(chosen.contains("First letter"), "{chosen}");
    browser.press("k").await;
    browser.press(Key::Enter).await;
    browser
        .until("it is open", || async { browser.path().await.starts_with("/conversations/") })
        .await;
    assert!(browser.path().await.contains(received.conversation.as_str()));
    browser.press("r").await;
    browser.find("#body").await;
    browser.press("Typed with care").await;
    browser.press(Key::Control + Key::Enter).await;
    browser.sends_to("Bo Shop").await;
    browser.find(".toast.leaves.goes").await;
    assert_eq!(server.latest(received.conversation.as_str()).await.0, "scheduled");
    browser.press("z").await;
    browser.says("Stopped, nothing was sent.").await;
    browser
        .until("it can be written on", || async {
            browser.text("#body").await == "Typed with care"
        })
        .await;
    browser.press(Key::Control + Key::Enter).await;
    browser.sends_to("Bo Shop").await;
    browser.find(".toast.leaves.goes").await;

    browser.press("m").await;
    browser.says("gave this to Ines Marti").await;
    browser.press("t").await;
    browser.press("urgent").await;
    browser.press(Key::Enter).await;
    browser.says("added the tag urgent").await;
    browser.press("e").await;
    browser.says("Closed.").await;
    browser.press("?").await;
    browser.says("Next, previous conversation").await;
    browser.press("/").await;
    browser.until("search is open", || async { browser.path().await == "/search" }).await;
    browser.press("ga").await;
    assert_eq!(browser.path().await, "/search", "keys are letters while somebody types");
    browser.press(Key::Escape).await;
    browser.press("ga").await;
    browser.until("to approve", || async { browser.path().await == "/approvals" }).await;
    browser.close().await;
}

#[tokio::test]
async fn the_palette_acts_on_the_open_conversation_and_goes_anywhere() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received = server.mail("ann@shop.example Ann Shop", "First letter", "One", None).await;
    let path = format!("/conversations/{}", received.conversation);
    browser.goto(&format!("{}{path}", server.address)).await;
    browser.press(Key::Control + "k").await;
    browser.find(".palette [role=combobox]:focus").await;
    browser.press("clo").await;
    browser
        .until("the act comes first", || async {
            browser.text(".palette [aria-selected=true] b").await == "Close"
        })
        .await;
    browser.press(Key::Enter).await;
    browser.says("Closed.").await;
    browser.press(Key::Control + "k").await;
    browser.find(".palette [role=combobox]:focus").await;
    browser.press("first let").await;
    browser
        .until("the conversation is found", || async {
            browser.text(".palette [aria-selected=true] b").await == "First letter"
        })
        .await;
    browser.press(Key::Enter).await;
    browser.until("it is open again", || async { browser.path().await == path }).await;
    browser.press(Key::Control + "k").await;
    browser.find(".palette [role=combobox]:focus").await;
    browser.press(Key::Escape).await;
    browser.until("it is gone", || async { browser.count(".palette").await == 0 }).await;
    browser.close().await;
}

#[tokio::test]
async fn escape_closes_the_completion_and_keeps_what_was_typed() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/search", server.address)).await;
    browser.find("[data-completes]:focus").await;
    browser.press("lamp fro").await;
    browser.find("[data-completes][aria-expanded=true]").await;
    browser.press(Key::Escape).await;
    browser.find("[data-completes][aria-expanded=false]:focus").await;
    let field = browser.driver.active_element().await.unwrap();
    assert_eq!(field.value().await.unwrap().as_deref(), Some("lamp fro"));
    browser.press("m").await;
    browser.press(Key::Tab).await;
    assert_eq!(field.value().await.unwrap().as_deref(), Some("lamp from:"));
    browser.close().await;
}

#[tokio::test]
async fn keys_on_rows_keep_their_place_and_their_ticks() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    for (from, subject) in [
        ("ann@shop.example Ann Shop", "First letter"),
        ("bo@shop.example Bo Shop", "Second letter"),
        ("cy@shop.example Cy Shop", "Third letter"),
    ] {
        server.mail(from, subject, "One", None).await;
        server.advance(1_000);
    }
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.find(".row").await;
    browser.press("jj").await;
    browser.press("s").await;
    browser.find(".bulk [name=until]:focus").await;
    browser.press(Key::Escape).await;
    browser.find(".tick input:checked").await;
    browser.press("e").await;
    browser
        .until("the row below has the focus", || async {
            browser.text(".row:focus").await.contains("First letter")
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn shift_ticks_rows_on_the_way_and_they_become_one_conversation() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let inbox = server.add_inbox("Workshop").await;
    for subject in ["First letter", "Second letter", "Third letter"] {
        server.mail_to(&inbox, "ann@shop.example Ann Shop", subject, "One").await;
        server.advance(1_000);
    }
    browser.goto(&format!("{}/inbox?mailbox={}", server.address, inbox.id)).await;
    browser.find(".row").await;
    let ticked = async |number: usize| {
        let what = format!("{number} are ticked");
        browser
            .until(&what, || async { browser.count(".tick input:checked").await == number })
            .await;
    };
    let focused = async |subject: &str| {
        browser
            .until(subject, || async { browser.text(".row:focus").await.contains(subject) })
            .await;
    };
    browser.press("j").await;
    focused("Third letter").await;
    browser.press(Key::Shift + "jj").await;
    ticked(2).await;
    focused("First letter").await;
    let said = "return document.querySelector('[data-selection]').textContent";
    assert_eq!(browser.script(said).await, "2 selected");
    browser.press(Key::Escape).await;
    ticked(0).await;
    focused("First letter").await;
    assert_eq!(browser.script(said).await, "Nothing selected");
    browser.press(Key::Shift + "kk").await;
    ticked(2).await;
    focused("Third letter").await;
    browser.click(".bulk [type=reset]").await;
    ticked(0).await;
    focused("Second letter").await;
    browser.press("k").await;
    browser.press(Key::Shift + "jj").await;
    browser.press("x").await;
    ticked(3).await;
    browser.click(".bulk-acts > .menu:last-of-type > summary").await;
    browser.click(".bulk [value=merge]").await;
    browser.says("Merged 3 conversations into the oldest of them.").await;
    assert_eq!(browser.count(".rows .row").await, 1);
    browser.press("z").await;
    browser.says("Undone.").await;
    assert_eq!(browser.count(".rows .row").await, 3);
    browser.close().await;
}

#[tokio::test]
async fn the_focus_stays_on_its_button_when_the_head_changes() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let url = format!("{}/conversations/{}", server.address, received.conversation);
    browser.goto(&url).await;
    browser.is_idle().await;
    browser.script("document.querySelector('.head-acts [data-key=e]').focus()").await;
    let other = Browser::signed_in(&server, &server.person("Jonas").await).await;
    other.goto(&url).await;
    browser.find("#live-head .presence").await;
    browser.find(".head-acts [data-key=e]:focus").await;
    browser.press(Key::Enter).await;
    browser.says("Closed.").await;
    browser.close().await;
    other.close().await;
}

const HTML: &str = "From: Ann <ann@shop.example>\r\nContent-Type: text/html\r\n\r\n\
    <p>Words as sent</p>";

/// A key goes to what has the focus, be it in a frame.
async fn strike(browser: &Browser, key: &str) {
    for kind in ["keyDown", "keyUp"] {
        browser
            .devtools("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "text": key }))
            .await;
    }
}

#[tokio::test]
async fn keys_work_after_a_click_into_a_mail() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received = server.mail("ann@shop.example Ann Shop", "Lamps", "Plain", Some(HTML)).await;
    let path = format!("/conversations/{}", received.conversation);
    browser.goto(&format!("{}{path}?view=open", server.address)).await;
    let into_mail = async || {
        browser.find("iframe.mail[style]").await;
        browser.click("iframe.mail").await;
        let is_in = "return document.activeElement.matches('iframe.mail')";
        browser
            .until("the mail has the focus", || async { browser.script(is_in).await == true })
            .await;
    };
    into_mail().await;
    strike(&browser, "j").await;
    browser.find(".row:focus").await;
    into_mail().await;
    strike(&browser, "n").await;
    browser
        .until("a note is written", || async { browser.path().await.contains("write=note") })
        .await;
    browser.goto(&format!("{}{path}?view=open", server.address)).await;
    into_mail().await;
    strike(&browser, "e").await;
    browser.says("Closed.").await;
    browser.close().await;
}

#[tokio::test]
async fn the_sheet_of_keys_has_those_of_the_page() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received = server.mail("ann@shop.example Ann Shop", "Lamps", "Hello", None).await;
    browser.goto(&format!("{}/leaving", server.address)).await;
    browser.is_idle().await;
    browser.press("?").await;
    let keys = browser.text("dialog.sheet[open]").await;
    assert!(keys.contains("New conversation") && !keys.contains("Reply to all"), "{keys}");
    browser.press(Key::Escape).await;
    browser.until("it is closed", || async { browser.count("dialog.sheet").await == 0 }).await;
    let path = format!("/conversations/{}?view=open", received.conversation);
    browser.goto(&format!("{}{path}", server.address)).await;
    browser.is_idle().await;
    browser.press("?").await;
    let keys = browser.text("dialog.sheet[open]").await;
    let fits = keys.contains("Note for the team") && keys.contains("Next, previous conversation");
    assert!(fits && !keys.contains("Approve and go to the next"), "{keys}");
    browser.press("n").await;
    browser
        .until("a note is written", || async { browser.path().await.contains("write=note") })
        .await;
    browser.goto(&format!("{}/keyboard", server.address)).await;
    browser.says("Approve and go to the next").await;
    browser.close().await;
}
