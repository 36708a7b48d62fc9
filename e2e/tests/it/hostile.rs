//! Mail that tries to act, in the real browser: nothing runs and nothing is fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mail::Attachment;
use tokio::net::TcpListener;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

/// `EVIL` stands for an address that counts its visitors.
const ATTACKS: &[&str] = &[
    "<script>top.hacked = 1; fetch('EVIL')</script>",
    "<img src=x onerror=\"top.hacked = 1\">",
    "<img src=\"EVIL/pixel.png\">",
    "<img srcset=\"EVIL/set.png 1x\">",
    "<picture><source srcset=\"EVIL/source.png\"><img></picture>",
    "<video src=\"EVIL/v.mp4\" autoplay poster=\"EVIL/p.png\"></video><audio src=\"EVIL/a.mp3\" autoplay></audio>",
    "<svg><script>top.hacked = 1</script><image href=\"EVIL/i.svg\"/><use href=\"EVIL/u.svg#x\"/></svg>",
    "<svg onload=\"top.hacked = 1\"><animate onbegin=\"top.hacked = 1\" attributeName=x dur=1s></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=top.hacked=1&gt;\">",
    "<iframe src=\"EVIL/frame\"></iframe><iframe srcdoc=\"<script>top.hacked=1</script>\"></iframe>",
    "<object data=\"EVIL/o\"></object><embed src=\"EVIL/e\"><applet code=\"EVIL/a\"></applet>",
    "<link rel=stylesheet href=\"EVIL/s.css\"><link rel=prefetch href=\"EVIL/p\"><link rel=dns-prefetch href=\"EVIL\">",
    "<style>@import 'EVIL/i.css'; body { background: url(EVIL/b.png) }</style>",
    "<p style=\"background: url(EVIL/x.png)\">x</p><table background=\"EVIL/t.png\"><tr><td>x</table>",
    "<meta http-equiv=refresh content=\"0;url=EVIL/refresh\">",
    "<base href=\"EVIL/\"><img src=\"relative.png\">",
    "<form action=\"EVIL/f\"><input name=p autofocus onfocus=\"top.hacked = 1\"><button>Go</button></form>",
    "<a href=\"javascript:top.hacked=1\">x</a><a href=\"data:text/html,<script>top.hacked=1</script>\">y</a>",
    "<body onload=\"top.hacked = 1\" background=\"EVIL/body.png\">",
    "<details open ontoggle=\"top.hacked = 1\"><summary>x</summary></details>",
    "<noscript><p title=\"</noscript><img src=x onerror=top.hacked=1>\"></noscript>",
    "<x onclick=\"top.hacked=1\" tabindex=1 autofocus onfocus=\"top.hacked=1\">x</x>",
    "<template><img src=x onerror=top.hacked=1></template>",
    "<input type=image src=\"EVIL/input.png\"><marquee onstart=\"top.hacked=1\">x</marquee>",
];

#[tokio::test]
async fn mail_that_attacks_runs_nothing_and_fetches_nothing() {
    let server = TestServer::open().await;
    let (evil, visits) = evil().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    for attack in ATTACKS {
        let attack = attack.replace("EVIL", &evil);
        let raw = format!(
            "From: eve@evil.example\r\nSubject: Look\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Words</p>{attack}"
        );
        let received = server.mail("eve@evil.example Eve", &attack, &attack, Some(&raw)).await;
        let conversation = format!("{}/conversations/{}", server.address, received.conversation);
        for url in [
            conversation.clone(),
            format!("{conversation}/messages/{}/original", received.message),
            format!("{conversation}/messages/{}/html", received.message),
        ] {
            browser.goto(&url).await;
            // Alone, the mail's page is sandboxed: nothing runs in it, the wait for idleness neither.
            if !url.ends_with("/html") {
                browser.is_idle().await;
            }
            assert!(browser.driver.get_alert_text().await.is_err(), "{attack}");
            assert_eq!(
                browser.script("return top.hacked ?? null").await,
                serde_json::Value::Null,
                "{attack}"
            );
        }
        browser.goto(&format!("{conversation}/messages/{}/original", received.message)).await;
        browser.find("iframe").await.enter_frame().await.unwrap();
        assert!(browser.text("body").await.contains("Words"), "{attack}");
        browser.driver.enter_default_frame().await.unwrap();
    }
    // What a page asked for is on its way before the browser asks for the next one.
    browser.goto(&format!("{}/help", server.address)).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    browser.close().await;
}

#[tokio::test]
async fn an_attached_mail_that_attacks_runs_nothing_and_fetches_nothing() {
    let server = TestServer::open().await;
    let (evil, visits) = evil().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let mails = ATTACKS.iter().enumerate().map(|(number, attack)| {
        let attack = attack.replace("EVIL", &evil);
        let raw = format!(
            "From: eve@evil.example\r\nSubject: {attack}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Words</p>{attack}"
        );
        Attachment {
            filename: format!("{number}.eml"),
            content_type: "message/rfc822".into(),
            bytes: raw.into_bytes(),
        }
    });
    let mails: Vec<Attachment> = mails.collect();
    for some in mails.chunks(8) {
        let received =
            server.mail_with("eve@evil.example Eve", "Look", "Attached", some.to_vec()).await;
        browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
        browser.find(&format!("[id='{}']", received.message)).await;
        let pages = format!(
            "return [...document.querySelectorAll('#{} .file')].map((file) => file.href)",
            received.message
        );
        let pages = browser.script(&pages).await;
        let pages: Vec<&str> =
            pages.as_array().unwrap().iter().filter_map(|p| p.as_str()).collect();
        assert_eq!(pages.len(), some.len());
        for page in pages {
            browser.goto(page).await;
            browser.is_idle().await;
            assert!(browser.driver.get_alert_text().await.is_err(), "{page}");
            let hacked = browser.script("return top.hacked ?? null").await;
            assert_eq!(hacked, serde_json::Value::Null, "{page}");
        }
    }
    browser.goto(&format!("{}/help", server.address)).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    browser.close().await;
}

#[tokio::test]
async fn pictures_are_fetched_only_when_asked_for_and_only_over_https() {
    let server = TestServer::open().await;
    let (evil, visits) = evil().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let secure = evil.replace("http:", "https:");
    let raw = format!(
        "From: ann@shop.example\r\nContent-Type: text/html\r\n\r\n<p>Words</p><img src=\"{secure}/a.png\"><img src=\"{evil}/b.png\">"
    );
    let received = server.mail("ann@shop.example Ann", "Pictures", "Words", Some(&raw)).await;
    let original = format!(
        "{}/conversations/{}/messages/{}/original",
        server.address, received.conversation, received.message
    );
    browser.goto(&original).await;
    browser.says("Pictures from other places are not fetched").await;
    browser.is_idle().await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    browser.goto(&format!("{}/help", server.address)).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0, "nothing was on its way either");
    browser.goto(&original).await;
    browser.click(".banner a").await;
    browser.until("the picture is asked for", || async { visits.load(Ordering::SeqCst) > 0 }).await;
    browser.close().await;
}

/// A picture of 40 by 30 pixels.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAeAQAAAAB2pmFwAAAAD0lEQVR42mP4DwIMQ4oEAIsElWv6F0k/AAAAAElFTkSuQmCC";

#[tokio::test]
async fn pictures_that_a_mail_brought_are_shown_in_its_frame() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let raw = format!(
        "From: ann@shop.example\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n\
         Content-Type: text/html\r\n\r\n<p>Words</p><img src=\"cid:lamp\">\r\n--b\r\n\
         Content-Type: image/png\r\nContent-ID: <lamp>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
         {PICTURE}\r\n--b--\r\n"
    );
    let received = server.mail("ann@shop.example Ann", "Lamp", "Words", Some(&raw)).await;
    let original = format!(
        "{}/conversations/{}/messages/{}/original",
        server.address, received.conversation, received.message
    );
    browser.goto(&original).await;
    browser.find("iframe").await.enter_frame().await.unwrap();
    let picture = browser.find("img").await;
    browser
        .until("the picture is there in its size", || async {
            picture.rect().await.is_ok_and(|rect| rect.width == 40.0 && rect.height == 30.0)
        })
        .await;
    browser.driver.enter_default_frame().await.unwrap();
    browser.close().await;
}

/// An address that counts who comes.
async fn evil() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&visits);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, visits)
}
