//! The HTML of mail as it leaves: logo and colour of the workspace, lists as tables, and the customer's mail as it
//! looked.

use actions::workspace::branding_settings::set_branding;
use mail::{Envelope, ParsedMail};
use model::branding::{Branding, LogoChange, clean_logo};
use serde_json::json;
use testing::{LOGO, LOGO_COMMENT, TestApp, UNDO, filed_mail, on_both};

on_both!(
    a_reply_has_the_logo_and_the_colour_of_its_workspace_and_fetches_nothing,
    mail_has_neither_where_the_workspace_keeps_them_for_pages,
    the_checklist_of_a_request_is_a_table_with_a_button,
    a_reply_quotes_the_mail_of_the_customer_as_it_looked
);

async fn brand(app: &TestApp, colour: &'static str, in_mail: bool) -> Branding {
    let logo = LogoChange::Replace(clean_logo(LOGO).unwrap());
    app.act(&app.owner, move |tx, cx| set_branding(tx, cx, colour, in_mail, &logo)).await
}

/// The newest mail that left: its text with nothing folded, and as it is read.
fn newest(app: &TestApp) -> (String, ParsedMail) {
    let bytes = app.outside.relay.attempts().pop().expect("a mail").bytes;
    let text = String::from_utf8_lossy(&bytes).replace("=\r\n", "").replace("=3D", "=");
    (text, mail::parse(&bytes, Envelope::default()))
}

async fn a_reply_has_the_logo_and_the_colour_of_its_workspace_and_fetches_nothing(app: TestApp) {
    let branding = brand(&app, "#f2c14e", true).await;
    assert!(branding.is_darkened() && branding.colour != "#f2c14e");
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "Look at https://acme.example/lamp").await;
    app.pass(UNDO).await;
    let (sent, _) = newest(&app);
    let name = branding.logo_name.as_deref().expect("a logo");
    assert!(sent.contains(&format!("Content-ID: <logo-{name}@acme.example>")), "{sent}");
    assert!(sent.contains(&format!("src=\"cid:logo-{name}@acme.example\" alt=\"Acme\"")), "{sent}");
    assert!(sent.contains(&format!("<a style=\"color:{}\" href=", branding.colour)), "{sent}");
    assert!(!sent.contains("src=\"http") && !sent.contains(LOGO_COMMENT), "{sent}");
}

async fn mail_has_neither_where_the_workspace_keeps_them_for_pages(app: TestApp) {
    let branding = brand(&app, "#7a4a12", false).await;
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "Look at https://acme.example/lamp").await;
    app.pass(UNDO).await;
    let (sent, _) = newest(&app);
    assert!(!sent.contains("cid:logo") && !sent.contains(&branding.colour), "{sent}");
}

async fn the_checklist_of_a_request_is_a_table_with_a_button(app: TestApp) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example", "Lamp", "Where is it?").await;
    let asks = json!({
        "documents": [{ "label": "Passport", "description": "The page with your photo" }],
        "dueDate": "2026-11-30",
        "send": true,
    });
    app.on(&key, &mail.conversation, "document-requests", asks).await.is(201);
    app.pass(UNDO).await;
    let (sent, read) = newest(&app);
    assert!(sent.contains("<b>Passport</b><br>The page with your photo</td>"), "{sent}");
    assert!(sent.contains("Upload the documents</span></a>"), "{sent}");
    assert!(sent.contains("<p>Please send it by 30 November 2026.</p>"), "{sent}");
    assert!(read.original.contains("\n- Passport\n"), "{}", read.original);
}

async fn a_reply_quotes_the_mail_of_the_customer_as_it_looked(app: TestApp) {
    let raw = "From: ann@shop.example\r\nTo: support@acme.example\r\nSubject: Fee\r\n\
        Message-ID: <fee@shop.example>\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/related; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/html\r\n\r\n<p>My order:</p><table><tr><td onclick=\"x()\">Oak</td></tr>\
        </table><script>alert(1)</script><img src=\"cid:seal\"><img src=\"https://x.example/t.png\">\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <seal>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        iVBORw0KGgo=\r\n--b--\r\n";
    let received = filed_mail(&app.ingest(&["support@acme.example"], raw).await[0]);
    let key = app.key("read send").await;
    app.schedule(&key, &received.conversation, "It is walnut.").await;
    app.pass(UNDO).await;
    let (sent, read) = newest(&app);
    let quoted = sent.split_once("type=\"cite\"").expect("a quotation").1;
    assert!(quoted.contains("<td>Oak</td>") && quoted.contains("src=\"cid:quoted-"), "{sent}");
    for gone in ["alert(1)", "onclick", "x.example/t.png"] {
        assert!(!quoted.contains(gone), "{gone} in {sent}");
    }
    assert!(sent.contains("Content-ID: <quoted-"), "{sent}");
    assert_eq!(read.text, "It is walnut.", "our own trimmer leaves the words alone");
}
