//! What goes with a letter: hidden copies, files, saved replies.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Request;

use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    a_hidden_copy_is_delivered_and_in_no_header,
    files_are_added_removed_and_sent_with_the_letter,
    too_many_or_too_large_files_are_refused_with_what_was_typed,
    files_of_a_foreign_form_are_not_taken_in,
    a_saved_reply_is_put_in_with_the_customers_name,
    whom_a_draft_goes_to_is_changed_before_it_is_approved,
    half_sent_forms_of_one_member_hold_up_nobody_else,
    a_first_mail_begins_at_its_recipients_and_in_the_inbox_used_last
);

/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const BOUNDARY: &str = "a-boundary-of-a-browser";

/// A form with files, as a browser sends it.
fn multipart(fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend(head.bytes().chain(value.bytes()).chain(*b"\r\n"));
    }
    for (name, kind, bytes) in files {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\
             Content-Type: {kind}\r\n\r\n"
        );
        body.extend(head.bytes().chain(bytes.iter().copied()).chain(*b"\r\n"));
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    body
}

pub async fn upload(
    browser: &Browser<'_>,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &str, &[u8])],
) -> Page {
    let csrf = browser.csrf();
    let mut all = vec![("csrf", csrf.as_str())];
    all.extend(fields);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = Request::post(path).header("content-type", kind);
    browser.send(request, Body::from(multipart(&all, files))).await
}

async fn a_hidden_copy_is_delivered_and_in_no_header(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("cc", "bo@shop.example"),
        ("bcc", "cy@shop.example, dee@shop.example"),
        ("body", "Hi"),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let page = browser.get(&path).await;
    page.shows("to ann@shop.example, and 3 others").shows("<dt>Bcc</dt>");
    page.shows("<code>cy@shop.example</code>, <code>dee@shop.example</code>");
    app.pass(11 * MINUTE).await;
    let parcel = app.outside.relay.attempts().pop().unwrap();
    assert_eq!(
        parcel.recipients,
        ["ann@shop.example", "bo@shop.example", "cy@shop.example", "dee@shop.example"]
    );
    let mail = String::from_utf8_lossy(&parcel.bytes).into_owned();
    assert!(mail.contains("bo@shop.example") && !mail.contains("cy@shop.example"), "{mail}");
    let bad = [("seen", "9"), ("to", "ann@shop.example"), ("bcc", "nobody"), ("body", "Mine")];
    browser
        .post(&format!("{path}/reply"), &bad)
        .await
        .is(422)
        .shows("nobody is not an e-mail address")
        .shows("Mine");
}

async fn files_are_added_removed_and_sent_with_the_letter(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let (reply, key) = (format!("{path}/reply"), app.key("read").await);
    let browser = app.signed_in(&app.owner).await;
    let files: [(&str, &str, &[u8]); 3] = [
        ("../invoice.pdf", "application/pdf", b"%PDF-1.4 of it"),
        ("photo.png", "image/png", b"\x89PNG\r\n\x00"),
        ("wrong.txt", "text/plain", b"not this one"),
    ];
    let fields =
        [("seen", "9"), ("to", "ann@shop.example"), ("body", "Half a sen"), ("attach", "")];
    upload(&browser, &reply, &fields, &files).await.goes_to(&format!("{path}?write=reply#body"));
    let page = browser.get(&path).await.is(200);
    page.shows("invoice.pdf")
        .shows("photo.png")
        .shows("wrong.txt")
        .shows("Half a sen")
        .hides("../invoice");
    let wrong = page
        .text
        .rsplit("name=\"remove\" value=\"")
        .next()
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("body", "Half a sentence"),
        ("remove", wrong.as_str()),
    ];
    browser.post(&reply, &fields).await.goes_to(&format!("{path}?write=reply#body"));
    browser.get(&path).await.hides("wrong.txt").shows("Half a sentence");

    let bo = app.person("Bo").await;
    let other = app.signed_in(&bo).await;
    other.get(&path).await.is(200).hides("invoice.pdf");
    let pending = page.between("href=\"/attachments/", "\"").to_owned();
    other.get(&format!("/attachments/{pending}")).await.is(404);
    browser.get(&format!("/attachments/{pending}")).await.is(200);

    let fields = [("seen", "9"), ("to", "ann@shop.example"), ("body", "A sentence.")];
    let more: [(&str, &str, &[u8]); 1] = [("terms.txt", "text/plain", b"be kind")];
    upload(&browser, &reply, &fields, &more).await.goes_to(&path);
    let message = app.timeline(&key, &received.conversation, "message").await.pop().unwrap();
    let names: Vec<&str> = message["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["filename"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["invoice.pdf", "photo.png", "terms.txt"]);
    let page = other.get(&path).await.is(200);
    let file = page.between("href=\"/attachments/", "?shown\"").to_owned();
    let file = other.get(&format!("/attachments/{file}")).await.is(200);
    assert_eq!(file.text, "%PDF-1.4 of it");
    assert_eq!(file.answer.header("content-type"), "application/octet-stream");

    app.pass(11 * MINUTE).await;
    let mail = app.outside.relay.attempts().pop().unwrap().bytes;
    let mail = String::from_utf8_lossy(&mail).into_owned();
    assert!(mail.contains("multipart/mixed") && mail.contains("JVBERi0xLjQgb2YgaXQ="), "{mail}");
    browser.get(&format!("{path}?write=reply")).await.hides("name=\"remove\"");
}

async fn too_many_or_too_large_files_are_refused_with_what_was_typed(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let reply = format!("{path}/reply");
    let browser = app.signed_in(&app.owner).await;
    let fields = [("seen", "9"), ("to", "ann@shop.example"), ("body", "My words")];
    let large = vec![7; 15 * 1024 * 1024 + 1];
    let files: [(&str, &str, &[u8]); 1] = [("large.bin", "x/y", &large)];
    let page = upload(&browser, &reply, &fields, &files).await.is(422);
    page.shows("at most 20 files, of 15 MB together").shows("My words").hides("large.bin");
    let many = vec![("a.txt", "text/plain", &b"a"[..]); 21];
    upload(&browser, &reply, &fields, &many)
        .await
        .is(422)
        .shows("at most 20 files")
        .shows("My words");
    upload(&browser, &reply, &[("body", "x"), ("attach", "")], &many[..15]).await.is(303);
    upload(&browser, &reply, &fields, &many[..6]).await.is(422).shows("at most 20 files");
    let key = app.key("read").await;
    assert_eq!(app.timeline(&key, &received.conversation, "message").await.len(), 1);
    browser.post(&reply, &[("discard", "")]).await.goes_to(&path);
    browser.get(&format!("{path}?write=reply")).await.hides("a.txt");
}

async fn files_of_a_foreign_form_are_not_taken_in(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let reply = format!("/conversations/{}/reply", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let files: [(&str, &str, &[u8]); 1] = [("a.txt", "text/plain", b"a")];
    let csrf = browser.csrf();
    for fields in [vec![], vec![("csrf", "wrong")]] {
        let request = Request::post(&reply).header("content-type", &kind);
        browser.send(request, Body::from(multipart(&fields, &files))).await.is(403);
    }
    let request =
        Request::post(&reply).header("content-type", &kind).header("sec-fetch-site", "cross-site");
    browser.send(request, Body::from(multipart(&[("csrf", &csrf)], &files))).await.is(403);
    let request = Request::post(&reply).header("content-type", &kind);
    app.browser().send(request, Body::from(multipart(&[("csrf", &csrf)], &files))).await.is(303);
    let request = Request::post(&reply).header("content-type", &kind);
    browser.send(request, Body::from("--a-boundary-of-a-browser\r\nnonsense")).await.is(413);
    browser
        .get(&format!("/conversations/{}?write=reply", received.conversation))
        .await
        .hides("a.txt");
}

async fn a_saved_reply_is_put_in_with_the_customers_name(app: TestApp) {
    let received = app.mail("ann@shop.example Ann Shop", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    let fields = [
        ("name", "Thanks"),
        ("body", "Hello {{first_name|there}},\r\nthanks for \"{{subject}}\". {{my_first_name}}"),
    ];
    browser.post("/settings/replies", &fields).await.goes_to("/settings/replies");
    let page = browser.get("/settings/replies").await.is(200);
    page.shows("Thanks").shows("Saved. Everyone on the team can use it.");
    let id = format!("sav_{}", page.between("/settings/replies/sav_", "#"));
    browser.get(&format!("{path}?write=reply")).await.shows(&format!("/saved/{id}"));
    let text = browser.post(&format!("{path}/saved/{id}"), &[]).await.is(200);
    assert_eq!(text.text, "<p>Hello Ann,<br>thanks for \"Lamps\". Bo</p>", "for the editor");
    browser.get("/settings/replies").await.is(200).shows("<td data-l=\"Used\">once");
    let form =
        [("seen", "9"), ("to", "ann@shop.example"), ("body", "Before"), ("insert", id.as_str())];
    browser
        .post(&format!("{path}/reply"), &form)
        .await
        .goes_to(&format!("{path}?write=reply#body"));
    browser.get(&path).await.shows("Before\n\nHello Ann,\nthanks for &#34;Lamps&#34;. Bo");

    let bad = [("name", "thanks"), ("body", "Hello {{frist_name}}")];
    let page = browser.post("/settings/replies", &bad).await.is(422);
    page.shows("Another saved reply has this name")
        .shows("There is no {{frist_name}}")
        .shows("Hello {{frist_name}}");
    browser
        .post("/settings/replies", &[("name", " "), ("body", "")])
        .await
        .is(422)
        .shows("Give it a name")
        .shows("Write something first");
    let changed = [("name", "Many thanks"), ("body", "Hi")];
    browser.post(&format!("/settings/replies/{id}"), &changed).await.goes_to("/settings/replies");
    browser.get(&format!("/settings/replies/{id}")).await.is(200).shows("value=\"Many thanks\"");
    browser.post(&format!("/settings/replies/{id}/delete"), &[]).await.goes_to("/settings/replies");
    browser.get(&format!("/settings/replies/{id}")).await.is(404);
    browser.post(&format!("{path}/saved/{id}"), &[]).await.is(404);
}

async fn whom_a_draft_goes_to_is_changed_before_it_is_approved(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let key = app.key("read draft").await;
    let draft = app.draft(&key, &received.conversation, "A draft").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/approvals/{draft}")).await.is(200);
    page.shows("value=\"Ann &#60;ann@shop.example&#62;\"");
    let approve = format!("/approvals/{draft}/approve");
    let bad = [
        ("revision", "1"),
        ("seen", "9"),
        ("body", "Mine"),
        ("to", "nobody"),
        ("cc", "bo@shop.example"),
    ];
    let page = browser.post(&approve, &bad).await.is(422);
    page.shows("nobody is not an e-mail address").shows("Mine").shows("bo@shop.example");
    let none = [("revision", "1"), ("seen", "9"), ("body", "Mine"), ("to", "")];
    browser.post(&approve, &none).await.is(422).shows("Say who it goes to");
    let save = [
        ("revision", "1"),
        ("body", "Mine"),
        ("to", "ann@shop.example"),
        ("bcc", "boss@acme.example"),
    ];
    browser
        .post(&format!("/approvals/{draft}/save"), &save)
        .await
        .goes_to(&format!("/approvals/{draft}"));
    browser.get(&format!("/approvals/{draft}")).await.shows("value=\"boss@acme.example\"");
    let good = [
        ("revision", "2"),
        ("seen", "9"),
        ("body", "Mine"),
        ("to", "ann@shop.example, bo@shop.example"),
        ("cc", ""),
        ("bcc", ""),
    ];
    browser.post(&approve, &good).await.goes_to("/approvals");
    app.pass(11 * MINUTE).await;
    let parcel = app.outside.relay.attempts().pop().unwrap();
    assert_eq!(parcel.recipients, ["ann@shop.example", "bo@shop.example"]);
}

async fn half_sent_forms_of_one_member_hold_up_nobody_else(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let reply = format!("/conversations/{}/reply", received.conversation);
    let bo = app.person("Bo").await;
    let (one, two) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let session = two.cookie("__Host-mailroom_session").unwrap();
    let (csrf, large) = (two.csrf(), vec![7; 100_000]);
    let whole = multipart(&[("csrf", &csrf), ("body", "Hm")], &[("half.bin", "x/y", &large)]);
    let mut halves = Vec::new();
    for _ in 0..8 {
        let (sender, body) = pieces();
        let request = Request::post(&reply)
            .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
            .header("cookie", format!("__Host-mailroom_session={session}"))
            .body(body)
            .unwrap();
        let router = app.router();
        let sending = tokio::spawn(async move { TestApp::send_to(&router, request).await });
        sender.send(Ok(Bytes::copy_from_slice(&whole[..50_000]))).await.unwrap();
        halves.push((sender, sending));
    }
    let read = || halves.iter().all(|(sender, _)| sender.capacity() == sender.max_capacity());
    eventually(async || read()).await;
    let fields = [("seen", "9"), ("to", "ann@shop.example"), ("body", "Hi")];
    let files: [(&str, &str, &[u8]); 1] = [("whole.bin", "x/y", &large)];
    let others = async {
        upload(&one, &reply, &fields, &files).await.is(303);
        upload(&two, &reply, &fields, &[]).await.is(303);
    };
    tokio::time::timeout(PATIENCE, others).await.expect("they are taken");
    halves.iter().for_each(|(_, sending)| sending.abort());
}

async fn a_first_mail_begins_at_its_recipients_and_in_the_inbox_used_last(app: TestApp) {
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let owner = app.signed_in(&app.owner).await;
    let chosen = |id: &str| format!("<option value=\"{id}\" selected>");
    let page = owner.get("/new").await.is(200);
    let to = page.between("name=\"to\"", ">").to_owned();
    assert!(to.contains("autofocus"), "{to}");
    for inbox in [app.support.id.as_str(), sales.id.as_str(), app.support.id.as_str()] {
        let fields =
            [("mailbox", inbox), ("to", "ann@x.example"), ("subject", "Hi"), ("body", "Hello")];
        owner.post("/new", &fields).await.is(303);
        owner.get("/new").await.is(200).shows(&chosen(inbox));
    }
    let asked = owner.get(&format!("/new?mailbox={}", sales.id)).await.is(200);
    asked.shows(&chosen(sales.id.as_str()));
}
