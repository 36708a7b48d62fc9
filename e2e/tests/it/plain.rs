//! The app without script.

use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

#[tokio::test]
async fn without_scripts_one_reads_answers_stops_and_approves() {
    let server = TestServer::open().await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.click(".rows li:first-child .row").await;
    browser.says("Where are they?").await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "They left on Tuesday.").await;
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    browser.click(".toast.leaves .btn").await;
    browser.says("Stopped, nothing was sent.").await;
    assert_eq!(browser.value("#body").await, "They left on Tuesday.");
    browser.write("#body", "They left on **Wednesday**.").await;
    browser.click("[name=keep]").await;
    browser.says("Kept as a draft.").await;
    browser.click(".letter.draft .acts a").await;
    assert_eq!(
        browser.text(".letter.draft noscript strong, .letter.draft .rich-text strong").await,
        "Wednesday"
    );
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(server.latest(&id).await, ("scheduled".into(), "They left on Wednesday.".into()));
    browser.goto(&format!("{}/conversations/{id}", server.address)).await;
    browser.click(".head-acts .menu:has([name=to]) > summary").await;
    browser.click("#conversation button[value=me]").await;
    browser.says("gave this to Ines Marti").await;
    browser.close().await;
}

#[tokio::test]
async fn without_scripts_ticked_rows_are_cleared_and_merged() {
    let server = TestServer::open().await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    for subject in ["First letter", "Second letter"] {
        server.mail("ann@shop.example Ann Shop", subject, "One", None).await;
        server.advance(1_000);
    }
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    for row in ["1", "2"] {
        browser.click(&format!(".rows li:nth-child({row}) .tick input")).await;
    }
    assert_eq!(browser.count(".tick input:checked").await, 2);
    browser.click(".bulk [type=reset]").await;
    assert_eq!(browser.count(".tick input:checked").await, 0);
    for row in ["1", "2"] {
        browser.click(&format!(".rows li:nth-child({row}) .tick input")).await;
    }
    browser.click(".bulk-acts > .menu:last-of-type > summary").await;
    browser.click(".bulk [value=merge]").await;
    browser.says("Merged 2 conversations into the older one.").await;
    browser.click(".toast form[action='/undo'] button").await;
    browser.says("Undone.").await;
    browser.close().await;
}
