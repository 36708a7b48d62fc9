//! Recipients, rich text, pictures, forwarding and new conversations in a browser.

use thirtyfour::prelude::*;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The Markdown that the form sends.
async fn source(browser: &Browser, field: &str) -> String {
    let script = format!("return document.querySelector('form[data-keep] [name={field}]').value");
    browser.script(&script).await.as_str().unwrap().to_owned()
}

async fn open(server: &TestServer, browser: &Browser, write: &str) -> String {
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let path = format!("{}/conversations/{}", server.address, received.conversation);
    browser.goto(&format!("{path}?write={write}")).await;
    received.conversation.to_string()
}

#[tokio::test]
async fn recipients_are_chips_that_keys_add_and_remove() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    server.mail("giulia@wines.example Giulia Pellegrini", "Wine", "Hello", None).await;
    server.written_to("giulia@wines.example").await;
    open(&server, &browser, "reply").await;
    browser.until("a chip", || async { browser.count(".pill").await == 1 }).await;
    browser.click(".goes-to > summary").await;
    browser.find("#to").await.focus().await.unwrap();
    browser.press("pelle").await;
    browser.find("#to-list [role=option][aria-selected=true]").await;
    browser.press(Key::Enter).await;
    browser.until("two chips", || async { browser.count(".pill").await == 2 }).await;
    assert_eq!(
        source(&browser, "to").await,
        "Ann Shop <ann@shop.example>, Giulia Pellegrini <giulia@wines.example>"
    );
    browser.press("bo@club.example,").await;
    browser.until("three chips", || async { browser.count(".pill").await == 3 }).await;
    browser.press(Key::Backspace + Key::Backspace).await;
    browser.until("one chip", || async { browser.count(".pill").await == 1 }).await;
    browser.press("nonsense,").await;
    browser.find(".pill.bad").await;
    browser.write("#body", "Kept words").await;
    browser.click("[data-send]").await;
    browser.says("nonsense is not an e-mail address").await;
    assert_eq!(browser.text("#body").await, "Kept words");
    browser.close().await;
}

#[tokio::test]
async fn the_folded_line_says_who_gets_a_copy() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    open(&server, &browser, "reply").await;
    browser.until("a chip", || async { browser.count(".pill").await == 1 }).await;
    browser.click(".goes-to > summary").await;
    browser.click(".copies > summary").await;
    browser.find("#cc").await.focus().await.unwrap();
    browser.press("bo@club.example,").await;
    browser.until("two chips", || async { browser.count(".pill").await == 2 }).await;
    browser.click(".goes-to > summary").await;
    browser
        .until("the line has both", || async {
            let line = browser.text(".goes-to > summary").await;
            line.contains("Ann Shop <ann@shop.example>, Cc bo@club.example")
                && !line.contains("Bcc")
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn typed_markdown_becomes_formatting_and_arrives_formatted() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let id = open(&server, &browser, "reply").await;
    browser.find("#body").await.click().await.unwrap();
    browser.press("It was **twice** and *late*.").await;
    browser.press(Key::Enter).await;
    browser.press("- one").await;
    browser.press(Key::Enter).await;
    browser.press("two [here](https://acme.example/a)").await;
    browser
        .until("it is Markdown", || async {
            source(&browser, "body").await.trim_end()
                == "It was **twice** and *late*.\n\n- one\n- two [here](https://acme.example/a)"
        })
        .await;
    assert_eq!(browser.text("#body strong, #body b").await, "twice");
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert_eq!(browser.text(".letter.out .rich-text strong").await, "twice");
    assert_eq!(browser.count(".letter.out .rich-text li").await, 2);
    let (status, text) = server.latest(&id).await;
    assert_eq!(status, "scheduled");
    assert_eq!(text, "It was twice and late.\n\n- one\n- two here (https://acme.example/a)");
    // Stopped, it is in the editor as it was.
    browser.click(".toast.leaves .btn").await;
    browser.says("Stopped, nothing was sent.").await;
    assert_eq!(browser.text("#body strong").await, "twice");
    browser.press(" And so on.").await;
    browser
        .until("the Markdown is whole", || async {
            source(&browser, "body")
                .await
                .starts_with("It was **twice** and *late*.\n\n- one\n- two")
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn a_picture_is_pasted_into_the_text() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    open(&server, &browser, "reply").await;
    browser.find("#body").await.click().await.unwrap();
    let paste = format!(
        "const bytes = Uint8Array.from(atob('{PICTURE}'), (sign) => sign.charCodeAt(0)); \
         const data = new DataTransfer(); \
         data.items.add(new File([bytes], 'so.png', {{ type: 'image/png' }})); \
         document.getElementById('body').dispatchEvent( \
           new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }}))"
    );
    browser.script(&paste).await;
    browser
        .until("the picture is loaded", || async {
            let loaded = "return document.querySelector('#body img')?.naturalWidth ?? 0";
            browser.script(loaded).await == 1
        })
        .await;
    assert!(source(&browser, "body").await.starts_with("![so.png](cid:enc_"));
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    let shown = "return document.querySelector('.letter.out .rich-text img').naturalWidth";
    browser.until("it is shown", || async { browser.script(shown).await == 1 }).await;
    browser.close().await;
}

#[tokio::test]
async fn a_new_conversation_is_begun_with_a_key() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.find(".row").await;
    browser.press("c").await;
    browser.until("the page", || async { browser.path().await == "/new" }).await;
    browser.find("#to").await.click().await.unwrap();
    browser.press("Ann Shop <ann@shop.example>,").await;
    browser.write("#subject", "Your lamp").await;
    browser.write("#body", "It is here.").await;
    browser.until("it is kept", || async { browser.text("[data-kept]").await == "Kept." }).await;
    browser.goto(&format!("{}/new", server.address)).await;
    browser.until("it is there", || async { browser.text("#body").await == "It is here." }).await;
    browser.click("[data-send]").await;
    browser.sends_to("Ann Shop").await;
    assert!(browser.path().await.starts_with("/conversations/cnv_"));
    browser.close().await;
}

#[tokio::test]
async fn a_message_is_forwarded_by_keyboard() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let received =
        server.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
    browser.find(".answer").await;
    browser.press("f").await;
    browser.says("Goes along: the message of Ann Shop").await;
    browser.find("#to").await.click().await.unwrap();
    browser.press("pelz@bank.example,").await;
    browser.click("[data-send]").await;
    browser.says("leaves at").await;
    browser.says("Forwarded").await;
    browser.close().await;
}

#[tokio::test]
async fn a_name_completes_in_a_note_whatever_its_accents() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    open(&server, &browser, "note").await;
    browser.find("#body").await.click().await.unwrap();
    browser.press("Ask @jó").await;
    browser.find("#mention-list [role=option]").await;
    browser.press(Key::Enter).await;
    browser.until("the name", || async { browser.value("#body").await == "Ask @Jonas " }).await;
    browser.close().await;
}

#[tokio::test]
async fn what_just_happened_covers_neither_navigation_nor_composer_and_goes() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let id = open(&server, &browser, "reply").await;
    let composer = format!("{}/conversations/{id}?write=reply", server.address);
    for (width, height) in [(1440, 900), (1024, 768), (390, 700)] {
        browser.resize(width, height).await;
        browser.goto(&composer).await;
        browser.write("#body", "On its way").await;
        browser.click("[data-send]").await;
        browser.find(".answer .btn.primary").await;
        browser.goto(&composer).await;
        browser.find(".toast.leaves").await;
        let script = "scrollTo(0, document.body.scrollHeight); \
            const toasts = [...document.querySelectorAll('.toast')]; \
            const places = toasts.map((toast) => toast.getBoundingClientRect()); \
            const apart = (css) => { \
                const other = document.querySelector(css)?.getBoundingClientRect(); \
                return !other || other.width === 0 || places.every((toast) => \
                    other.bottom <= toast.top + 1 || other.top >= toast.bottom - 1 \
                    || other.right <= toast.left + 1 || other.left >= toast.right - 1); \
            }; \
            return ['.nav', '.nav-me', '.head-acts', '.writer-foot'].every(apart)";
        assert_eq!(browser.script(script).await, true, "{width}");
    }
    let gone = "return [...document.querySelectorAll('.toast')] \
        .every((toast) => getComputedStyle(toast).visibility === 'hidden')";
    browser.until("the toast goes", || async { browser.script(gone).await == true }).await;
    browser.close().await;
}
