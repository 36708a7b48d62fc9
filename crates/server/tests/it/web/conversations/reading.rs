//! Reading mail: details, plain text, invitations, attached mails, previews, parts and compression.

use actions::conversations::open_conversation;
use axum::body::Body;
use axum::http::Request;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use mail::{Attachment, Authentication, Dmarc, Mail};
use model::authentication::SenderAuthentication;

use super::pictures::png;
use crate::support::*;

on_both!(
    details_name_everybody_and_say_what_was_proven,
    the_header_is_a_page_of_its_own,
    html_and_plain_text_are_switched_in_place,
    links_in_notes_can_be_followed,
    invitations_and_cards_are_shown_and_hostile_ones_are_harmless,
    a_mail_that_came_as_a_file_is_read_with_its_files,
    previews_are_small_and_made_once,
    pictures_of_a_sender_can_always_be_shown,
    pictures_of_one_mail_are_parsed_once_and_seen_by_who_may,
    a_long_thread_comes_in_parts_and_opens_at_what_is_unread,
    a_page_stays_small_whatever_is_attached,
    a_page_stays_small_however_much_is_unread,
    pages_are_compressed_for_our_own_pages_alone
);

/// A mail that came over the wire.
async fn wire(app: &TestApp, raw: &str, mail: Mail, dmarc: Option<Dmarc>) -> FiledMail {
    let blob = app.app.blobs.put(raw.as_bytes()).unwrap();
    let found = |dmarc| Authentication { dmarc, ..Authentication::default() };
    let authentication = dmarc.map(|dmarc| SenderAuthentication::from(&found(dmarc)));
    let mail = Mail { has_html: raw.contains("text/html"), ..mail };
    let incoming =
        IncomingMail { raw: Some(blob), authentication, ..app.incoming(&app.support, mail) };
    let (service, mailbox) = (app.service(&app.support), app.support.clone());
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &mailbox, &incoming)).await
}

fn attached(filename: &str, content_type: &str, bytes: &[u8]) -> Attachment {
    Attachment {
        filename: filename.into(),
        content_type: content_type.into(),
        bytes: bytes.to_vec(),
    }
}

const HTML: &str = "Received: from mx.example\r\n\tby us\r\nFrom: Ann <ann@shop.example>\r\n\
    X-Odd: <script>alert(1)</script>\r\nContent-Type: text/html\r\n\r\n\
    <p>Hello</p><img src=https://track.example/x.png>";

async fn details_name_everybody_and_say_what_was_proven(app: TestApp) {
    let address = |name: &str| mail::Address::new(Some(name), &format!("{name}@x.example"));
    let mut mail = letter("ann@shop.example Ann", "Lamps", "Hello");
    mail.to = vec![address("<b>bo")];
    mail.cc = (0..12).map(|n| address(&format!("cy{n}"))).collect();
    let received = wire(&app, HTML, mail, Some(Dmarc::Pass)).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let page = browser.get(&path).await.is(200);
    page.shows("to &#60;b&#62;bo, and 12 others").shows("<details class=\"recips\">");
    page.shows("<code>cy9@x.example</code>").hides("cy10@x.example").shows("and 2 more");
    page.shows("Sender proven").shows("It is really from shop.example (DMARC passed).");
    page.shows("<h3").shows("Message from Ann").hides("<b>bo");
    let unchecked = app.mail("cy@shop.example", "Chairs", "Hello").await;
    let page = browser.get(&format!("/conversations/{}", unchecked.conversation)).await.is(200);
    page.shows("It was not checked.").hides("Sender proven").hides("All header fields");
    let forged = letter("eve@shop.example", "Tables", "Hello");
    let forged = wire(&app, &HTML.replace("Ann", "Eve"), forged, Some(Dmarc::Fail)).await;
    let page = browser.get(&format!("/conversations/{}", forged.conversation)).await.is(200);
    page.shows("Sender not proven").shows("DMARC failed");
}

async fn the_header_is_a_page_of_its_own(app: TestApp) {
    let received = wire(&app, HTML, letter("ann@shop.example", "Lamps", "Hello"), None).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let headers = format!("{path}/messages/{}/headers", received.message);
    browser.get(&path).await.is(200).shows(&headers).hides("X-Odd");
    let page = browser.get(&headers).await.is(200);
    page.shows("<dt>X-Odd</dt>").shows("from mx.example by us").hides("<script>alert");
    browser.get(&format!("{path}/messages/msg_0/headers")).await.is(404);
}

async fn html_and_plain_text_are_switched_in_place(app: TestApp) {
    let text = "Plain words, https://shop.example/lamps";
    let received = wire(&app, HTML, letter("ann@shop.example", "Lamps", text), None).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let page = browser.get(&format!("{path}?view=open")).await.is(200);
    page.shows("<iframe").hides("Plain words,</a>").shows("view=open&#38;text=msg_");
    let switch = format!("{path}?view=open&text={}", received.message);
    let page = browser.get(&switch).await.is(200);
    page.hides("<iframe").shows("Plain words").shows("Show as sent");
    page.shows("href=\"https://shop.example/lamps\"").shows("rel=\"noopener noreferrer\"");
    let original = format!("{path}/messages/{}/original", received.message);
    browser.get(&original).await.is(200).shows("<iframe").shows("?as=text");
    browser.get(&format!("{original}?as=text")).await.is(200).hides("<iframe").shows("Hello");
}

async fn links_in_notes_can_be_followed(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let body = "See https://shop.example/a?b=1&c=2 or javascript:alert(1)";
    browser.post(&format!("{path}/note"), &[("body", body)]).await.is(303);
    let page = browser.get(&path).await.is(200);
    page.shows("href=\"https://shop.example/a?b=1&#38;c=2\"").hides("href=\"javascript:");
}

const INVITATION: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\nSEQUENCE:1\r\n\
    DTSTART;TZID=America/New_York:20261124T090000\r\nDTEND;TZID=America/New_York:20261124T094500\r\n\
    SUMMARY:<b>Talk</b>\r\nLOCATION:https://meet.example/7\r\nORGANIZER;CN=Ann:mailto:ann@x.example\r\n\
    ATTENDEE;CN=Bo;PARTSTAT=ACCEPTED:mailto:bo@x.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

async fn invitations_and_cards_are_shown_and_hostile_ones_are_harmless(app: TestApp) {
    let mut mail = letter("ann@shop.example", "Talk", "Come");
    let card = b"BEGIN:VCARD\r\nFN:Ann <i>Shop</i>\r\nTEL:+49 40 1\r\nEND:VCARD\r\n";
    let bomb = format!("BEGIN:VCALENDAR\r\n{}", "BEGIN:VEVENT\r\n".repeat(4_000));
    mail.attachments = vec![
        attached("invite.ics", "text/calendar", INVITATION.as_bytes()),
        attached("ann.vcf", "text/vcard", card),
        attached("bomb.ics", "text/calendar", bomb.as_bytes()),
        attached("broken.ics", "text/calendar", b"no calendar"),
        attached("large.ics", "text/calendar", &vec![b'x'; 100_000]),
    ];
    let received = app.deliver(&app.support, mail).await;
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    page.shows("Updated invitation").shows("&#60;b&#62;Talk&#60;/b&#62;").hides("<b>Talk</b>");
    page.shows("Tuesday 24 November 2026, 15:00 to 15:45 (Europe/Berlin)");
    page.shows("Tuesday 24 November 2026, 09:00 to 09:45 (America/New_York)");
    page.shows("href=\"https://meet.example/7\"").shows("From Ann").shows("Bo (accepts)");
    page.shows("Ann &#60;i&#62;Shop&#60;/i&#62;").shows("+49 40 1");
    page.shows("The calendar file cannot be read.").shows("large.ics");
    let mut mail = letter("ann@shop.example", "Off", "Sorry");
    let off = INVITATION.replace("REQUEST", "CANCEL");
    mail.attachments = vec![attached("invite.ics", "text/calendar", off.as_bytes())];
    let received = app.deliver(&app.support, mail).await;
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    page.shows("Cancelled").shows("class=\"invite off\"");
}

fn with_mail(subject: &str, inner: &str) -> String {
    format!(
        "From: Eve <eve@x.example>\r\nSubject: {subject}\r\n\
         Content-Type: multipart/mixed; boundary=\"b{0}\"\r\n\r\n--b{0}\r\n\
         Content-Type: text/html\r\n\r\n<p>In {subject}</p><script>alert(1)</script>\
         <img src=https://track.example/x.png>\r\n--b{0}\r\n\
         Content-Type: message/rfc822\r\n\r\n{inner}\r\n--b{0}--\r\n",
        inner.len()
    )
}

async fn a_mail_that_came_as_a_file_is_read_with_its_files(app: TestApp) {
    let leaf = "From: Zed <zed@y.example>\r\nSubject: Leaf\r\n\
        Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\n\
        The core, https://y.example/z\r\n--c\r\nContent-Type: text/html; name=evil.html\r\n\
        Content-Disposition: attachment; filename=evil.html\r\n\r\n<script>alert(2)</script>\r\n--c--\r\n";
    let mails = (0..6).fold(leaf.to_owned(), |inner, n| with_mail(&format!("Level {n}"), &inner));
    let mut mail = letter("ann@shop.example", "Forwarded", "See below");
    let junk = attached("junk.eml", "message/rfc822", &[0xff; 4_000]);
    mail.attachments = vec![
        attached("mail.eml", "message/rfc822", mails.as_bytes()),
        attached("leaf.eml", "application/octet-stream", leaf.as_bytes()),
        junk,
        attached("paper.pdf", "application/pdf", b"%PDF"),
    ];
    let received = app.deliver(&app.support, mail).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    let documents: Vec<String> = page
        .text
        .split("href=\"/documents/")
        .skip(1)
        .map(|rest| format!("/documents/{}", rest.split(['/', '?', '"']).next().unwrap()))
        .collect();
    let top = format!("{}/mail/top", documents[0]);
    page.shows(&format!("href=\"{top}\"")).shows("A message, ");
    let opened = browser.get(&top).await.is(200);
    opened.shows("Level 5").shows("<iframe").hides("<script>alert").shows("mail/top-0\"");
    let frame = browser.get(&format!("{top}/html")).await.is(200);
    frame.shows("<p>In Level 5</p>").hides("script").shows("1 remote picture is not shown");
    assert!(frame.answer.header("content-security-policy").contains("sandbox allow-same-origin"));
    let asked = browser.get(&format!("{top}/html?pictures")).await.is(200);
    asked.shows(&format!("{top}/html/pictures/remote/0"));
    browser.get(&format!("{top}-0-0-0")).await.is(200).shows("Level 2").hides("top-0-0-0-0");
    for missing in ["-0-0-0-0", "-1", "-9", "-x", ";"] {
        browser.get(&format!("{top}{missing}")).await.is(404);
    }
    let second = format!("{}/mail/top", documents[1]);
    let opened = browser.get(&second).await.is(200);
    opened.shows("The core").shows("href=\"https://y.example/z\"").shows("evil.html");
    let file = browser.get(&format!("{second}/files/0?shown")).await.is(200);
    assert_eq!(file.answer.header("content-type"), "application/octet-stream");
    assert!(file.answer.header("content-disposition").starts_with("attachment"));
    browser.get(&format!("{second}/files/1")).await.is(404);
    browser.get(&format!("{}/mail/top", documents[3])).await.is(404);
    let status = browser.get(&format!("{}/mail/top", documents[2])).await.status;
    assert!(status == 200 || status == 404, "{status}");
}

/// A picture of 300 by 200 pixels.
fn picture() -> Vec<u8> {
    png(300, 200, |x, y| (x * y % 251) as u8)
}

async fn previews_are_small_and_made_once(app: TestApp) {
    let mut mail = letter("ann@shop.example", "Papers", "Here");
    let sheet = model::documents::pdf::sheet("Invoice 1", &["Total 12.00 EUR"]);
    mail.attachments = vec![
        attached("a.png", "image/png", &picture()),
        attached("b.pdf", "application/pdf", &sheet),
        attached("c.png", "image/png", b"\x89PNG\r\n\x1a\nnot really"),
        attached("d.txt", "text/plain", b"words"),
    ];
    let received = app.deliver(&app.support, mail).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    let previews: Vec<String> = page
        .text
        .split(" src=\"/documents/")
        .skip(1)
        .map(|rest| format!("/documents/{}", rest.split('"').next().unwrap()))
        .collect();
    assert_eq!(previews.len(), 3, "{previews:?}");
    page.hides("data:image").shows("?shown\" target=\"_blank\"");
    for (path, is_made) in previews.iter().zip([true, true, false]) {
        let preview = browser.get(path).await.is(200);
        let kind = preview.answer.header("content-type").to_owned();
        assert_eq!(kind == "image/jpeg", is_made, "{path}: {kind}");
        assert!(preview.answer.bytes.len() <= 30 * 1024);
        assert!(preview.answer.header("content-security-policy").contains("sandbox"));
    }
    let again = browser.get(&previews[0]).await.is(200);
    assert!(again.answer.header("cache-control").starts_with("private, max-age="));
    assert_eq!(app.count("previews WHERE preview IS NOT NULL").await, 2);
    assert_eq!(app.count("previews WHERE attempts = 1").await, 1);
    browser.get("/documents/doc_0/preview").await.is(404);
    let library = browser.get("/documents").await.is(200);
    library.shows(&format!("src=\"{}\"", previews[0])).hides("src=\"/documents/doc_?shown");
}

async fn pictures_of_a_sender_can_always_be_shown(app: TestApp) {
    let proven = Some(Dmarc::Pass);
    let received = wire(&app, HTML, letter("ann@shop.example", "Lamps", "Hello"), proven).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let message = format!("{path}/messages/{}", received.message);
    browser.get(&path).await.is(200).shows("Always show pictures from ann@shop.example");
    browser.get(&format!("{message}/html")).await.is(200).hides("/pictures/remote/0");
    let back = format!("{path}#{}", received.message);
    browser.post(&format!("{message}/show-pictures"), &[]).await.goes_to(&back);
    browser.get(&path).await.is(200).shows("Only when I ask");
    browser.get(&format!("{message}/html")).await.is(200).shows("/pictures/remote/0");
    for unproven in [None, Some(Dmarc::Absent), Some(Dmarc::Fail)] {
        let raw = HTML.replace("Hello", &format!("Hello, {unproven:?}"));
        let forged = wire(&app, &raw, letter("ann@shop.example", "Chairs", "Hi"), unproven).await;
        let forged = format!("/conversations/{}/messages/{}", forged.conversation, forged.message);
        browser.get(&format!("{forged}/html")).await.is(200).hides("/pictures/remote/0");
    }
    let other = app.person("Bo").await;
    let other = app.signed_in(&other).await;
    other.get(&format!("{message}/html")).await.is(200).hides("/pictures/remote/0");
    browser.get("/settings/you").await.is(200).shows("ann@shop.example");
    let email = ("email", "ann@shop.example");
    browser.post("/settings/you/pictures", &[email]).await.goes_to("/settings/you");
    browser.get("/settings/you").await.is(200).hides("ann@shop.example");
    browser.get(&format!("{message}/html")).await.is(200).hides("/pictures/remote/0");
    browser.post(&format!("{message}/show-pictures"), &[]).await.is(303);
    browser.post(&format!("{message}/hide-pictures"), &[]).await.goes_to(&back);
    browser.get(&path).await.is(200).shows("Always show pictures from");
}

async fn pictures_of_one_mail_are_parsed_once_and_seen_by_who_may(app: TestApp) {
    let raw = "From: Ann <ann@shop.example>\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:one\">\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        iVBORw0KGgo=\r\n--b--\r\n";
    let received = wire(&app, raw, letter("ann@shop.example", "Lamps", "Hello"), None).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}/messages/{}", received.conversation, received.message);
    let first = browser.get(&format!("{path}/pictures/2")).await.is(200);
    // The bytes are gone; what was taken apart is kept.
    app.exec("UPDATE blobs SET packed = NULL").await;
    let again = browser.get(&format!("{path}/pictures/2")).await.is(200);
    assert_eq!(first.answer.bytes, again.answer.bytes);
    browser.get(&format!("{path}/pictures/9")).await.is(404);
    app.browser().get(&format!("{path}/pictures/2")).await.is(303);
    let elsewhere = path.replace(received.conversation.as_str(), &nowhere());
    browser.get(&format!("{elsewhere}/pictures/2")).await.is(404);
}

async fn a_long_thread_comes_in_parts_and_opens_at_what_is_unread(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Letter 000").await;
    for n in 1..60 {
        app.advance(SECOND);
        app.mail("ann@shop.example", "Re: Lamps", &format!("Letter {n:03}")).await;
    }
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let page = browser.get(&format!("{path}?view=open")).await.is(200);
    page.shows("Letter 059").shows("Letter 040").hides("Letter 039").shows("Earlier messages");
    let older = page.between("rel=\"prev\"", ">");
    assert!(older.is_empty(), "{older}");
    let (before, _) = page.text.split_once("\" rel=\"prev\"").unwrap();
    let older = before.rsplit_once("href=\"").unwrap().1.replace("&#38;", "&");
    let second = browser.get(&older).await.is(200);
    second.shows("Letter 039").shows("Letter 020").hides("Letter 019").hides("Letter 040");
    second.shows("Newest messages").shows("Earlier messages");
    browser.get(&format!("{path}?before=nonsense")).await.is(404);
    // Somebody of whom no page has written a read mark.
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    app.advance(HOUR);
    let id = received.conversation.to_string();
    app.act(&bo, move |tx, cx| open_conversation::mark_read(tx, cx, &id)).await;
    app.advance(HOUR);
    for n in 60..63 {
        app.advance(SECOND);
        app.mail("ann@shop.example", "Re: Lamps", &format!("Letter {n:03}")).await;
    }
    let page = browser.get(&path).await.is(200);
    let (_, opening) = page.text.split_once(" data-opens").unwrap();
    let (opening, _) = opening.split_once("</li>").unwrap();
    assert!(opening.contains("autofocus") && opening.contains("Letter 060"), "{opening}");
    assert_eq!(page.text.matches("autofocus").count(), 1);
    let writing = browser.get(&format!("{path}?write=reply")).await.is(200);
    let (timeline, _) = writing.text.split_once("</ol>").unwrap();
    assert!(!timeline.contains("autofocus") && timeline.contains("from-end"));
}

async fn a_page_stays_small_whatever_is_attached(app: TestApp) {
    const PAGE: usize = 100 * 1024;
    for n in 0..60 {
        let subject = format!("Question {n} about a lamp that was ordered some weeks ago");
        app.mail(&format!("customer{n}@shop.example Customer"), &subject, "Where is it?").await;
    }
    let mut conversation = None;
    let long = "A long line of words that says very little. ".repeat(400);
    for n in 0..30 {
        let mut mail = letter("ann@shop.example", "Lamps", &format!("{n} {long}"));
        let name = |f: usize| format!("a rather long name of a picture {n}-{f}.png");
        mail.attachments = (0..40).map(|f| attached(&name(f), "image/png", b"x")).collect();
        app.advance(SECOND);
        conversation = Some(app.deliver(&app.support, mail).await.conversation);
    }
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", conversation.unwrap());
    let page = browser.get(&path).await.is(200);
    assert!(page.text.len() < PAGE, "{} bytes", page.text.len());
    page.shows("32 more files").shows("The message goes on.");
    let library = browser.get("/documents").await.is(200);
    assert!(library.text.len() < PAGE, "{} bytes", library.text.len());
}

async fn a_page_stays_small_however_much_is_unread(app: TestApp) {
    let mail = |n: usize| {
        let words = "Some words about a lamp that does not work. ".repeat(20);
        format!(
            "From: ann@shop.example\r\nTo: support@acme.example\r\nSubject: Lamps\r\n\
             Message-ID: <{n}@shop.example>\r\nContent-Type: text/html\r\n\r\n\
             <p>Letter {n:03}</p><p>{words}</p><img src=\"https://x.example/a.png\">\r\n"
        )
    };
    let first = testing::filed_mail(&app.ingest(&["support@acme.example"], &mail(0)).await[0]);
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    app.advance(HOUR);
    let id = first.conversation.to_string();
    app.act(&bo, move |tx, cx| open_conversation::mark_read(tx, cx, &id)).await;
    for n in 1..=60 {
        app.advance(SECOND);
        app.ingest(&["support@acme.example"], &mail(n)).await;
    }
    let page = browser.get(&format!("/conversations/{}", first.conversation)).await.is(200);
    assert!(page.text.len() < 100 * 1024, "{} bytes", page.text.len());
    // The first that is unread is open: a frame, which has no words in the page.
    page.shows("10:00:21 UTC").hides("10:00:20 UTC");
    page.shows("Letter 022").shows("Letter 060").shows("Show the whole message");
}

async fn pages_are_compressed_for_our_own_pages_alone(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", &"Hello there. ".repeat(300)).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", received.conversation);
    let plain = browser.get(&path).await.is(200);
    assert!(plain.answer.headers.get("content-encoding").is_none());
    let ask = |encoding: &'static str, site: &'static str| {
        let request = Request::get(&path).header("accept-encoding", encoding);
        browser.send(request.header("sec-fetch-site", site), Body::empty())
    };
    for (accepted, encoding) in [("gzip, deflate, br, zstd", "zstd"), ("gzip", "gzip")] {
        for site in ["same-origin", "none"] {
            let packed = ask(accepted, site).await.is(200);
            assert_eq!(packed.answer.header("content-encoding"), encoding);
            assert!(packed.answer.bytes.len() * 3 < plain.text.len());
        }
    }
    for site in ["cross-site", "same-site"] {
        let packed = ask("gzip, zstd", site).await.is(200);
        assert!(packed.answer.headers.get("content-encoding").is_none(), "{site}");
    }
    let sizes: std::collections::HashSet<usize> = [
        ask("zstd", "none").await.answer.bytes.len(),
        ask("zstd", "none").await.answer.bytes.len(),
        ask("zstd", "none").await.answer.bytes.len(),
        ask("zstd", "none").await.answer.bytes.len(),
        ask("zstd", "none").await.answer.bytes.len(),
    ]
    .into();
    assert!(sizes.len() > 1, "a page's size is not exact: {sizes:?}");
    let live = Request::get(format!("/live?conversation={}", received.conversation))
        .header("accept-encoding", "zstd")
        .header("sec-fetch-site", "same-origin")
        .header("cookie", cookies(&browser))
        .body(Body::empty())
        .unwrap();
    let response = tower::ServiceExt::oneshot(app.router(), live).await.unwrap();
    assert!(response.headers().get("content-encoding").is_none());
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let first = plain.between("name=\"csrf\" value=\"", "\"").to_owned();
    let second = browser.get(&path).await;
    assert_ne!(first, second.between("name=\"csrf\" value=\"", "\""), "it is masked anew");
    let fields = [("csrf", first.as_str()), ("body", "An old page still works")];
    browser.post_bare(&format!("{path}/note"), &fields).await.is(303);
}

fn cookies(browser: &crate::web::browser::Browser<'_>) -> String {
    let name = "__Host-mailroom_session";
    format!("{name}={}", browser.cookie(name).unwrap())
}
