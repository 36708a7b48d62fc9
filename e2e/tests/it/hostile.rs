//! Mail that tries to act, in the real browser: nothing runs and nothing is fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;

use crate::house::House;
use crate::window::Window;

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
    let house = House::open().await;
    let (evil, visits) = evil().await;
    let window = Window::signed_in(&house, &house.ines).await;
    for attack in ATTACKS {
        let attack = attack.replace("EVIL", &evil);
        let raw = format!(
            "From: eve@evil.example\r\nSubject: Look\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Words</p>{attack}"
        );
        let received = house.mail("eve@evil.example Eve", &attack, &attack, Some(&raw)).await;
        let conversation = format!("{}/conversations/{}", house.address, received.conversation);
        for url in [
            conversation.clone(),
            format!("{conversation}/messages/{}/original", received.message),
            format!("{conversation}/messages/{}/html", received.message),
        ] {
            window.goto(&url).await;
            assert!(window.driver.get_alert_text().await.is_err(), "{attack}");
            assert_eq!(
                window.script("return top.hacked ?? null").await,
                serde_json::Value::Null,
                "{attack}"
            );
        }
        window.goto(&format!("{conversation}/messages/{}/original", received.message)).await;
        window.find("iframe").await.enter_frame().await.unwrap();
        assert!(window.text("body").await.starts_with("Words"), "{attack}");
        window.driver.enter_default_frame().await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    window.close().await;
}

#[tokio::test]
async fn pictures_are_fetched_only_when_asked_for_and_only_over_https() {
    let house = House::open().await;
    let (evil, visits) = evil().await;
    let window = Window::signed_in(&house, &house.ines).await;
    let secure = evil.replace("http:", "https:");
    let raw = format!(
        "From: ann@shop.example\r\nContent-Type: text/html\r\n\r\n<p>Words</p><img src=\"{secure}/a.png\"><img src=\"{evil}/b.png\">"
    );
    let received = house.mail("ann@shop.example Ann", "Pictures", "Words", Some(&raw)).await;
    let original = format!(
        "{}/conversations/{}/messages/{}/original",
        house.address, received.conversation, received.message
    );
    window.goto(&original).await;
    window.says("Pictures from other places are not fetched").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
    window.click(".banner a").await;
    window.until("the picture is asked for", || async { visits.load(Ordering::SeqCst) > 0 }).await;
    window.close().await;
}

/// A picture of 40 by 30 pixels.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAeAQAAAAB2pmFwAAAAD0lEQVR42mP4DwIMQ4oEAIsElWv6F0k/AAAAAElFTkSuQmCC";

#[tokio::test]
async fn pictures_that_a_mail_brought_are_shown_in_its_frame() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    let raw = format!(
        "From: ann@shop.example\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n\
         Content-Type: text/html\r\n\r\n<p>Words</p><img src=\"cid:lamp\">\r\n--b\r\n\
         Content-Type: image/png\r\nContent-ID: <lamp>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
         {PICTURE}\r\n--b--\r\n"
    );
    let received = house.mail("ann@shop.example Ann", "Lamp", "Words", Some(&raw)).await;
    let original = format!(
        "{}/conversations/{}/messages/{}/original",
        house.address, received.conversation, received.message
    );
    window.goto(&original).await;
    window.find("iframe").await.enter_frame().await.unwrap();
    let picture = window.find("img").await;
    window
        .until("the picture is there in its size", || async {
            picture.rect().await.is_ok_and(|rect| rect.width == 40.0 && rect.height == 30.0)
        })
        .await;
    window.driver.enter_default_frame().await.unwrap();
    window.close().await;
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
