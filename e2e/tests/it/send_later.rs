//! Choosing a time at which a message leaves, in a browser: a reply of one's own and an agent's draft.

use actions::writing::autosaves::{self, AutosaveKey};
use base::ids::ConversationId;
use thirtyfour::prelude::*;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

/// Three days ahead on the reader's clock, as an English reader's fields show it: `4 Nov 2026 14:30`.
const IN_THREE_DAYS: &str = "const at = new Date(Date.now() + 3 * 864e5); \
    const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']; \
    const two = (number) => String(number).padStart(2, '0'); \
    const typed = `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()} \
        ${two(at.getHours())}:${two(at.getMinutes())}`.replace(/\\s+/g, ' ');";

/// Chooses a day and a time in a field; answers what stands in it.
async fn choose(browser: &Browser, css: &str) -> String {
    browser.find(css).await;
    let script = format!(
        "{IN_THREE_DAYS} const field = document.querySelector('{css}'); field.value = typed; \
         field.dispatchEvent(new Event('input', {{ bubbles: true }})); return field.value"
    );
    browser.script(&script).await.as_str().unwrap().to_owned()
}

/// True when what Ines writes in a conversation is kept with a time to leave.
async fn is_kept_with_time(server: &TestServer, conversation: &ConversationId) -> bool {
    let place = AutosaveKey::Conversation(conversation.clone());
    let read = server.app.act(&server.ines, move |tx, cx| autosaves::load_autosave(tx, cx, &place));
    read.await.unwrap().is_some_and(|saved| saved.times.leaves_at.is_some())
}

#[tokio::test]
async fn a_chosen_time_is_kept_and_comes_back_when_the_message_is_stopped() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let url = format!("{}/conversations/{id}", server.address);
    browser.goto(&format!("{url}?write=reply")).await;
    browser.write("#body", "They come by sea.").await;
    browser.click(".composer .later summary").await;
    let chosen = choose(&browser, "#later-at").await;
    let has_time = || async {
        browser.value("#later-at").await == chosen
            && browser.count(".composer .acts > button[name='later']").await == 1
    };
    browser.until("it is kept", || is_kept_with_time(&server, &received.conversation)).await;
    browser.says("Kept.").await;
    browser.goto(&format!("{}/leaving", server.address)).await;
    browser.goto(&url).await;
    browser.until("the time is there again", has_time).await;
    assert_eq!(browser.text("#body").await, "They come by sea.");

    browser.click(".composer .acts > button[name='later']").await;
    browser.says("Anyone on the team can stop it.").await;
    assert_eq!(server.latest(&id).await, ("scheduled".into(), "They come by sea.".into()));
    browser.says("Leaves on").await;
    browser.click("form.strip[action$='/stop'] .btn").await;
    browser.says("Stopped, nothing was sent.").await;
    browser.until("the time came back", has_time).await;
    assert_eq!(browser.text("#body").await, "They come by sea.");
    browser.close().await;
}

#[tokio::test]
async fn a_draft_is_approved_for_a_time_and_offered_it_again_when_it_is_stopped() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let draft = server.draft(&id, "They come by sea.").await;
    browser.goto(&format!("{}/approvals/{draft}", server.address)).await;
    browser.click(".decide .later summary").await;
    choose(&browser, "#later-at").await;
    browser.click(".decide .later .menu-line button:not([data-pick])").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(server.latest(&id).await.0, "scheduled");

    browser.goto(&format!("{}/conversations/{id}", server.address)).await;
    browser.says("Leaves on").await;
    browser.click("form.strip[action$='/stop'] .btn").await;
    browser.says("It is a draft again, nothing was sent.").await;
    browser.says("Approve, leaves on").await;
    assert_eq!(server.latest(&id).await.0, "draft");

    // By keyboard: Enter in the field of the time approves for that time.
    browser.click(".letter.draft .later summary").await;
    let field = format!("#later-{draft}");
    choose(&browser, &field).await;
    browser.script(&format!("document.querySelector('{field}').focus()")).await;
    browser.press(Key::Enter).await;
    browser.says("Anyone on the team can stop it.").await;
    browser.says("Leaves on").await;
    assert_eq!(server.latest(&id).await.0, "scheduled");
    browser.close().await;
}
