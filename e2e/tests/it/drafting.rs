//! The drafting helper in a browser: its draft with its sources, and its pause.

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_helpers_draft_is_approved_with_its_sources() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/search?q=sister", server.address)).await;
    browser.click("a[href^='/conversations/']").await;
    browser.says("Drafting helper").await;
    assert_eq!(browser.text(".letter.draft .kind").await, "helper");
    assert!(browser.text(".sources").await.contains("Gift cards"));
    assert!(browser.text(".letter.draft .letter-body").await.contains("Hello Amelie"));
    let id = browser.path().await.trim_start_matches("/conversations/").to_owned();
    browser.click(".letter.draft .btn.primary").await;
    browser.sends_to("Amelie Roth").await;
    let (status, text) = server.latest(&id).await;
    assert_eq!(status, "scheduled");
    assert!(text.ends_with("Ines"), "in the name of who approved it: {text}");
    browser.close().await;
}

#[tokio::test]
async fn a_source_leads_to_its_answer_which_can_be_changed() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/search?q=sister", server.address)).await;
    browser.click("a[href^='/conversations/']").await;
    browser.click(".sources a").await;
    browser.find("#title").await;
    assert_eq!(browser.value("#title").await, "Gift cards");
    browser.write("#title", "Gift cards and vouchers").await;
    browser.click("form.card .btn.primary").await;
    browser.says("Gift cards and vouchers").await;
    browser.close().await;
}

#[tokio::test]
async fn a_paused_inbox_says_so_and_goes_on_when_it_is_resumed() {
    let server = TestServer::open().await;
    let pause = |tx: &mut db::Tx<'_>| {
        tx.exec("UPDATE mailboxes SET drafting_paused_at = 1 WHERE drafting = 'answers'", &[])
    };
    assert_eq!(server.app.store.write(pause).await.unwrap(), 1);
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/drafting", server.address)).await;
    browser.says("Drafting pauses here").await;
    browser.click("form.card:has(.banner) .btn.primary").await;
    browser.says("Saved. It applies from the next mail on.").await;
    assert_eq!(browser.count("form.card .banner").await, 0);
    browser.close().await;
}
