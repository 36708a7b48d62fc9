//! Reading mail in a browser: details, invitations, previews, long threads.

use mail::Attachment;

use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

const HTML: &str = "From: Ann <ann@shop.example>\r\nX-Mailer: Quill\r\nContent-Type: text/html\r\n\r\n\
    <p>Words as sent</p>";

const INVITATION: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\n\
    DTSTART:20270311T130000Z\r\nDTEND:20270311T140000Z\r\nSUMMARY:Visit to the workshop\r\n\
    ORGANIZER;CN=Ann Shop:mailto:ann@shop.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn attached(filename: &str, content_type: &str, bytes: &[u8]) -> Attachment {
    Attachment {
        filename: filename.into(),
        content_type: content_type.into(),
        bytes: bytes.to_vec(),
    }
}

#[tokio::test]
async fn details_open_and_the_header_is_one_click_away() {
    for kind in [Kind::Usual, Kind::WithoutScripts] {
        let server = TestServer::open().await;
        let browser = Browser::open(kind).await;
        browser.sign_in(&server, &server.ines).await;
        let received = server.mail("ann@shop.example Ann Shop", "Lamps", "Plain", Some(HTML)).await;
        let conversation = format!("{}/conversations/{}", server.address, received.conversation);
        browser.goto(&conversation).await;
        assert!(!browser.text("#conversation").await.contains("It was not checked."));
        browser.click(".letter:not(.brief) .recips > summary").await;
        browser.says("It was not checked.").await;
        browser.says("ann@shop.example").await;
        browser.click(".sentas .as a:first-of-type").await;
        browser.says("Plain").await;
        assert_eq!(browser.count("iframe.mail").await, 0);
        browser.goto(&conversation).await;
        browser.click(".letter:not(.brief) .recips > summary").await;
        browser.click(".recips .facts a").await;
        browser.says("Quill").await;
        browser.close().await;
    }
}

#[tokio::test]
async fn invitations_cards_previews_and_attached_mails_are_readable() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let card = b"BEGIN:VCARD\r\nFN:Ann Shop\r\nTEL:+49 40 5550\r\nEND:VCARD\r\n";
    let sheet = model::documents::pdf::sheet("Invoice 1", &["Total 12.00 EUR"]);
    let files = vec![
        attached("visit.ics", "text/calendar", INVITATION.as_bytes()),
        attached("ann.vcf", "text/vcard", card),
        attached("invoice.pdf", "application/pdf", &sheet),
        attached("before.eml", "message/rfc822", HTML.as_bytes()),
    ];
    let received = server.mail_with("ann@shop.example Ann Shop", "Visit", "Come by", files).await;
    let conversation = format!("{}/conversations/{}", server.address, received.conversation);
    for (width, dark) in [(1440, false), (390, false), (390, true)] {
        browser.resize(width, 800).await;
        browser.dark(dark).await;
        browser.goto(&conversation).await;
        browser.says("Visit to the workshop").await;
        browser.says("Thursday 11 March 2027").await;
        browser.says("+49 40 5550").await;
        let loaded = "const preview = document.querySelector('img.preview'); preview.scrollIntoView(); \
                      return preview.complete && preview.naturalWidth > 60";
        browser
            .until("the preview is there", || async { browser.script(loaded).await == true })
            .await;
        let wide = "return document.documentElement.scrollWidth - innerWidth";
        assert_eq!(browser.script(wide).await, 0, "at {width}");
        assert_eq!(violations(&browser, &axe()).await, Vec::<String>::new(), "at {width}");
    }
    browser.click(".file[href*='/mail/top']").await;
    browser.says("A message that came as a file.").await;
    assert_eq!(violations(&browser, &axe()).await, Vec::<String>::new());
    browser.find("iframe").await.enter_frame().await.unwrap();
    browser.says("Words as sent").await;
    browser.driver.enter_default_frame().await.unwrap();
    browser.close().await;
}

#[tokio::test]
async fn a_long_thread_opens_at_the_first_unread_message_and_goes_on_in_parts() {
    let server = TestServer::open().await;
    let first = server.mail("ann@shop.example Ann Shop", "Lamps", "Letter 000.", None).await;
    let thread = async |numbers: std::ops::Range<usize>| {
        for number in numbers {
            server.advance(1_000);
            let text = format!("Letter {number:03}. {}", "It is about the lamps. ".repeat(30));
            server.mail("ann@shop.example Ann Shop", "Re: Lamps", &text, None).await;
        }
    };
    thread(1..60).await;
    let conversation = format!("{}/conversations/{}", server.address, first.conversation);
    let mut next = 60;
    for (kind, width) in [(Kind::Usual, 1440), (Kind::Usual, 390), (Kind::WithoutScripts, 1440)] {
        let browser = Browser::open(kind).await;
        browser.sign_in(&server, &server.ines).await;
        browser.resize(width, 800).await;
        server.advance(60_000);
        server.mark_read(&first).await;
        server.advance(60_000);
        thread(next..next + 4).await;
        browser.goto(&conversation).await;
        let opening = browser.find("[data-opens]").await.text().await.unwrap();
        assert!(opening.contains(&format!("Letter {next:03}")), "{opening}");
        browser
            .until("the first unread is seen", || async { browser.is_seen("[data-opens]").await })
            .await;
        let earlier = browser.find("a[rel=prev]").await.attr("href").await.unwrap().unwrap();
        browser.goto(&format!("{}{earlier}", server.address)).await;
        browser.says("Newest messages").await;
        next += 4;
        browser.close().await;
    }
}
