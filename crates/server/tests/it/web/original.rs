use crate::both;
use crate::support::*;

const RAW: &str = "From: Ann <ann@shop.example>\r\nSubject: Lamps\r\nContent-Type: text/html\r\n\r\n\
    <p>Hello</p><script>alert(1)</script><img src=https://track.example/x.png>";

/// A mail that came over a wire.
async fn with_original(app: &TestApp, raw: &str) -> (String, String) {
    let blob = app.app.blobs.put(raw.as_bytes()).unwrap();
    let incoming = app.incoming(&app.support, letter("ann@shop.example", "Lamps", "Hello"));
    let incoming = inbox::Incoming { raw: Some(blob), ..incoming };
    let (service, mailbox) = (app.service(&app.support), app.support.clone());
    let received = app
        .act(&service, move |tx, cx| {
            inbox::blobs::keep(tx, cx.actor.ws, incoming.raw.as_ref().unwrap())?;
            inbox::receive(tx, cx, &mailbox, &incoming)
        })
        .await;
    (received.conversation.to_string(), received.message.to_string())
}

both! {
    async fn a_mail_as_it_came_is_shown_in_a_frame_that_can_do_nothing(app) {
        let (conversation, message) = with_original(&app, RAW).await;
        let browser = app.signed_in(&app.owner).await;
        let path = format!("/conversations/{conversation}/messages/{message}/original");
        browser.get(&format!("/conversations/{conversation}")).await.is(200).shows(&path);
        let page = browser.get(&path).await.is(200);
        page.shows("sandbox=\"allow-popups allow-popups-to-escape-sandbox\"").shows("Fetch them this once").hides("<script>alert");
        let frame = browser.get(&path.replace("/original", "/html")).await.is(200);
        frame.shows("<p>Hello</p>").hides("script");
        let policy = frame.answer.header("content-security-policy").to_owned();
        assert!(policy.contains("sandbox") && policy.contains("img-src data:;"), "{policy}");
        assert!(!policy.contains("script-src"), "{policy}");
        assert_eq!(frame.answer.header("referrer-policy"), "no-referrer");
        assert_eq!(frame.answer.header("x-frame-options"), "SAMEORIGIN");
        let asked = browser.get(&format!("{}?pictures", path.replace("/original", "/html"))).await.is(200);
        assert!(asked.answer.header("content-security-policy").contains("img-src data: https:;"));
        browser.get(&format!("{path}?pictures")).await.is(200).hides("Fetch them").shows("/html?pictures");
    }

    async fn a_mail_that_was_not_kept_has_no_original(app) {
        let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
        let browser = app.signed_in(&app.owner).await;
        let conversation = format!("/conversations/{}", received.conversation);
        browser.get(&conversation).await.is(200).hides("Show original");
        browser.get(&format!("{conversation}/messages/{}/original", received.message)).await.is(404);
        let (_, elsewhere) = with_original(&app, RAW).await;
        browser.get(&format!("/conversations/{}/messages/{elsewhere}/original", nowhere())).await.is(404);
    }
}
