//! Approving drafts in a browser.

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn an_agents_draft_is_approved_with_an_edit() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let draft = server.draft(&id, "They left on Monday. Kind regards, Robo").await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/approvals/{draft}", server.address)).await;
    browser.says("Answers the question").await;
    browser.says("Where are they?").await;
    assert!(browser.text(".decide [data-send]").await.starts_with("Approve"));
    browser.write("#draft", "They left on Tuesday. Kind regards, Ines").await;
    browser
        .until("the change is shown", || async {
            browser.text("#changes del").await == "Monday."
                && browser.count("#changes ins").await == 2
        })
        .await;
    browser.says("You changed 2 places against Robo's draft").await;
    assert!(browser.text(".decide [data-send]").await.starts_with("Approve with changes"));
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    let sent = server.latest(&id).await;
    assert_eq!(sent, ("scheduled".into(), "They left on Tuesday. Kind regards, Ines".into()));
    browser.close().await;
}

#[tokio::test]
async fn when_the_customer_writes_meanwhile_the_page_says_so_and_asks_again() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let draft = server.draft(&id, "They left on Monday.").await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/approvals/{draft}", server.address)).await;
    browser.find("[data-send]").await;
    server.advance(1_000);
    server
        .mail("ann@shop.example Ann Shop", "Re: Two lamps", "Never mind, they are here.", None)
        .await;
    browser.says("There is a newer message in this conversation.").await;
    browser.click("[data-send]").await;
    browser.says("after this draft was made").await;
    browser.says("Never mind, they are here.").await;
    assert_eq!(server.latest(&id).await.0, "draft");
    assert!(browser.text("[data-send]").await.starts_with("Approve anyway"));
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(server.latest(&id).await.0, "scheduled");
    browser.close().await;
}

#[tokio::test]
async fn a_draft_is_discarded_with_a_reason() {
    let server = TestServer::open().await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let draft = server.draft(received.conversation.as_str(), "No idea.").await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/approvals/{draft}", server.address)).await;
    browser.click("#discarding summary").await;
    browser.write("#reason", "Too curt").await;
    browser.click("#discarding .btn.danger[formaction]").await;
    browser.says("Discarded. The customer never saw it.").await;
    browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
    browser.says("discarded the draft: Too curt").await;
    browser.close().await;
}
