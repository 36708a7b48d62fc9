//! The sorting helper in a browser: topics, decisions, what comes of them, and forgetting.

use crate::browser::Browser;
use crate::test_server::TestServer;

#[tokio::test]
async fn topics_are_made_decided_on_learned_and_forgotten() {
    let server = TestServer::open().await;
    let working = server.keep_working();
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/helpers", server.address)).await;
    browser.write("#name", "Lost parts").await;
    browser.write("#words", "screw, missing part, instructions").await;
    browser.click("#edit .btn.primary").await;
    browser.says("Saved. New conversations are sorted by it.").await;

    let first = server.mail("ann@shop.example Ann Shop", "Shelf", "A screw is missing", None).await;
    let open = |id: &str| format!("{}/conversations/{id}", server.address);
    browser.goto(&open(first.conversation.as_str())).await;
    browser.says("Looks like Lost parts.").await;
    browser.press("y").await;
    browser.says("sorted this: Lost parts").await;

    let text = "Another screw is missing, and the instructions too";
    let second = server.mail("bo@shop.example Bo Shop", "Table", text, None).await;
    browser.goto(&open(second.conversation.as_str())).await;
    browser.says("Like one mail that was sorted so.").await;
    browser.press("x").await;
    browser.says("sorted this: no topic").await;

    browser.goto(&format!("{}/inbox?view=open&topic=Lost+parts", server.address)).await;
    browser.says("Shelf").await;
    assert_eq!(browser.count(".rows > li").await, 1);

    browser.goto(&format!("{}/settings/helpers", server.address)).await;
    browser.click(".fold summary").await;
    browser.click("form[action$='/forget'] button").await;
    browser.says("0 decisions about topics").await;
    browser.close().await;
    drop(working);
}
