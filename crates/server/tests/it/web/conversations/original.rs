//! The page of a mail's original.

use crate::support::*;

on_both!(
    a_mail_as_it_came_is_shown_in_a_frame_that_can_do_nothing,
    pictures_that_a_mail_brought_come_by_address_to_who_may_see_it,
    html_beyond_the_bounds_is_shown_as_its_text_with_a_sentence,
    a_mail_that_was_not_kept_has_no_original,
    a_conversation_whose_files_are_gone_opens_and_says_what_is_lost
);

const RAW: &str = "From: Ann <ann@shop.example>\r\nSubject: Lamps\r\nContent-Type: text/html\r\n\r\n\
    <p>Hello</p><script>alert(1)</script><img src=https://track.example/x.png>";

const WITH_PICTURES: &str = "From: Ann <ann@shop.example>\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:one\"><img src=\"cid:bad\">\r\n\
    --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
    iVBORw0KGgo=\r\n\
    --b\r\nContent-Type: image/svg+xml\r\nContent-ID: <bad>\r\n\r\n<svg/>\r\n--b--\r\n";

/// A mail that came over a wire.
async fn with_original(app: &TestApp, raw: &str) -> (String, String) {
    let blob = app.app.blobs.put(raw.as_bytes()).unwrap();
    let incoming = app.incoming(&app.support, letter("ann@shop.example", "Lamps", "Hello"));
    let incoming = inbound::incoming_mail::IncomingMail { raw: Some(blob), ..incoming };
    let (service, mailbox) = (app.service(&app.support), app.support.clone());
    let received = app
        .act(&service, move |tx, cx| {
            base::files::blobs::keep(tx, cx.actor.ws, incoming.raw.as_ref().unwrap())?;
            inbound::receive::receive(tx, cx, &mailbox, &incoming)
        })
        .await;
    (received.conversation.to_string(), received.message.to_string())
}

async fn a_mail_as_it_came_is_shown_in_a_frame_that_can_do_nothing(app: TestApp) {
    let (conversation, message) = with_original(&app, RAW).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{conversation}/messages/{message}/original");
    browser.get(&format!("/conversations/{conversation}")).await.is(200).shows(&path);
    let page = browser.get(&path).await.is(200);
    page.shows("sandbox=\"allow-same-origin allow-popups allow-popups-to-escape-sandbox\"")
        .shows("Fetch them this once")
        .hides("<script>alert");
    let frame = browser.get(&path.replace("/original", "/html")).await.is(200);
    frame.shows("<p>Hello</p>").hides("script").shows("1 remote picture is not shown");
    let policy = frame.answer.header("content-security-policy").to_owned();
    let pictures = path.replace("/original", "/html/pictures/");
    assert!(policy.contains("sandbox allow-same-origin allow-popups "), "{policy}");
    assert!(policy.ends_with(&pictures) || policy.ends_with("img-src 'self'"), "{policy}");
    assert!(!policy.contains("script-src") && !policy.contains("data:"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("https:"), "{policy}");
    assert_eq!(frame.answer.header("referrer-policy"), "no-referrer");
    assert_eq!(frame.answer.header("x-frame-options"), "SAMEORIGIN");
    let asked =
        browser.get(&format!("{}?pictures", path.replace("/original", "/html"))).await.is(200);
    asked.shows("/pictures/remote/0").hides("Show pictures");
    assert_eq!(asked.answer.header("content-security-policy"), policy, "they come through us");
    browser
        .get(&format!("{path}?pictures"))
        .await
        .is(200)
        .hides("Fetch them")
        .shows("/html?pictures");
}

async fn pictures_that_a_mail_brought_come_by_address_to_who_may_see_it(app: TestApp) {
    let (conversation, message) = with_original(&app, WITH_PICTURES).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{conversation}/messages/{message}");
    let frame = browser.get(&format!("{path}/html")).await.is(200);
    frame.shows(&format!("src=\"{path}/html/pictures/2\"")).hides("data:").hides("pictures/3");
    for pictures in ["pictures", "html/pictures"] {
        let picture = browser.get(&format!("{path}/{pictures}/2")).await.is(200);
        assert_eq!(picture.answer.header("content-type"), "image/png");
        assert_eq!(picture.answer.header("x-content-type-options"), "nosniff");
        assert!(picture.answer.header("cache-control").starts_with("private, max-age="));
        assert!(picture.answer.header("content-security-policy").contains("sandbox"));
        for other in ["0", "1", "3", "99", "x", "-1", "18446744073709551616"] {
            browser.get(&format!("{path}/{pictures}/{other}")).await.is(404);
        }
        let elsewhere = format!("/conversations/{}/messages/{message}/{pictures}/2", nowhere());
        browser.get(&elsewhere).await.is(404);
    }
}

async fn html_beyond_the_bounds_is_shown_as_its_text_with_a_sentence(app: TestApp) {
    let html = format!("<p>Hello there</p>{}", "<div><b>".repeat(100_000));
    let raw = format!("From: ann@shop.example\r\nContent-Type: text/html\r\n\r\n{html}");
    let (conversation, message) = with_original(&app, &raw).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{conversation}/messages/{message}");
    let page = browser.get(&format!("{path}/original")).await.is(200);
    page.shows("too large or too deeply nested to be shown").shows("Hello there");
    page.hides("<iframe");
    browser.get(&format!("{path}/html")).await.is(404);
}

async fn a_mail_that_was_not_kept_has_no_original(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    let conversation = format!("/conversations/{}", received.conversation);
    browser.get(&conversation).await.is(200).hides("Show original");
    browser.get(&format!("{conversation}/messages/{}/original", received.message)).await.is(404);
    let (_, elsewhere) = with_original(&app, RAW).await;
    browser
        .get(&format!("/conversations/{}/messages/{elsewhere}/original", nowhere()))
        .await
        .is(404);
}

/// As after a restore that skipped damaged files.
async fn a_conversation_whose_files_are_gone_opens_and_says_what_is_lost(app: TestApp) {
    let noise: String = app.app.ids.bytes::<200_000>().iter().map(|b| format!("{b:02x}")).collect();
    let raw = format!("{RAW}<!-- {noise} -->");
    let (conversation, message) = with_original(&app, &raw).await;
    let mut files = Vec::new();
    for folder in std::fs::read_dir(app.blob_folder()).unwrap().flatten() {
        let inside = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        files.extend(inside.map(|file| file.path()));
    }
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::remove_file(&files[0]).unwrap();
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox").await.is(200).shows("Lamps");
    let page = format!("/conversations/{conversation}");
    browser.get(&page).await.is(200).shows("Hello");
    let original = format!("{page}/messages/{message}/original");
    browser.get(&original).await.is(500).shows("lost or damaged");
    let key = app.key("read").await;
    app.get(&key, &format!("/conversations/{conversation}?original=true")).await.is(200);
}
