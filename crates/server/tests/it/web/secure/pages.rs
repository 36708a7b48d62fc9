//! The page of a secure message, as a customer uses it without scripts, and the lock of the composer.

use actions::inboxes::office_hours;
use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::*;
use crate::web::browser::{Browser, Page};
use crate::web::upload::pdf;

on_both!(
    opening_a_link_however_often_and_however_changes_nothing_and_mails_nothing,
    with_the_code_a_customer_reads_answers_and_signs_out,
    a_forwarded_link_is_useless_and_a_form_from_elsewhere_is_refused,
    what_is_taken_back_is_closed_at_the_readers_next_click,
    a_new_link_for_one_recipient_opens_no_page_of_the_others,
    what_was_being_written_comes_along_when_the_session_has_ended,
    a_file_that_could_run_is_refused_and_the_text_is_kept,
    a_person_protects_a_reply_with_its_files_and_the_lock_stays_on,
    who_may_not_protect_messages_is_not_offered_the_lock,
    a_draft_that_is_approved_in_the_conversation_keeps_its_words,
    documents_that_are_asked_for_securely_are_behind_the_same_code,
    uploads_to_a_protected_request_are_not_read_and_end_with_its_page,
    an_old_unsent_text_does_not_take_the_lock_off,
    many_replies_of_one_link_have_to_wait_and_the_text_is_kept,
    links_of_earlier_versions_go_on_to_work,
    until_when_a_page_is_open_is_said_on_the_clock_of_the_inbox
);

/// A customer whom a secure message went to.
pub(in crate::web) struct Reader<'a> {
    pub app: &'a TestApp,
    pub key: TestKey,
    pub conversation: String,
    pub message: String,
    pub path: String,
}

impl TestApp {
    /// Ann is sent a secure message.
    pub(in crate::web) async fn protected(&self, words: &str) -> Reader<'_> {
        let key = self.key("read write draft send").await;
        let mail = self.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
        let body = json!({ "body": words, "secure": true, "send": true });
        let made = self.on(&key, &mail.conversation, "replies", body).await.is(201).json();
        self.pass(UNDO).await;
        let path = format!("/s/{}", after(self, "/s/", 40));
        let (conversation, message) = (mail.conversation.to_string(), text_of(&made, "messageId"));
        Reader { app: self, key, conversation, message, path }
    }
}

/// What follows a mark in the newest mail that has it.
pub(in crate::web) fn after(app: &TestApp, mark: &str, chars: usize) -> String {
    let mails = app.outside.relay.attempts();
    let found = mails.iter().rev().find_map(|mail| {
        let text = String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "");
        text.split_once(mark).map(|(_, rest)| rest.chars().take(chars).collect::<String>())
    });
    found.expect("a mail with it")
}

pub(in crate::web) fn csrf(page: &Page) -> String {
    page.between("name=\"csrf\" value=\"", "\"").to_owned()
}

/// The id of the form of an answer; nothing on a page without one.
pub(in crate::web) fn form_id(page: &Page) -> String {
    let form = page.text.split_once("name=\"form_id\" value=\"");
    form.map(|(_, rest)| rest.split('"').next().unwrap().to_owned()).unwrap_or_default()
}

impl Reader<'_> {
    /// Presses the button of a page, with these fields.
    pub async fn press(&self, browser: &Browser<'_>, what: &str, fields: &[(&str, &str)]) -> Page {
        let page = browser.get(&self.path).await;
        let token = csrf(&page);
        let mut all = vec![("csrf", token.as_str())];
        all.extend(fields);
        browser.post_bare(&format!("{}/{what}", self.path), &all).await
    }

    /// Proves the address in a browser.
    pub async fn sign_in(&self, browser: &Browser<'_>) {
        self.press(browser, "code", &[]).await.goes_to(&self.path);
        self.app.work().await;
        let code = after(self.app, "Your code: ", 9);
        self.press(browser, "open", &[("code", &code)]).await.goes_to(&self.path);
    }

    pub async fn reply(&self, browser: &Browser<'_>, text: &str, file: (&str, &[u8])) -> Page {
        let page = browser.get(&self.path).await;
        let (token, form) = (csrf(&page), form_id(&page));
        let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", text)];
        post_form(browser, &format!("{}/reply", self.path), &fields, &[file]).await
    }
}

/// Posts a form with files.
pub(in crate::web) async fn post_form(
    browser: &Browser<'_>,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &[u8])],
) -> Page {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(format!("{head}{value}\r\n").as_bytes());
    }
    for (name, bytes) in files {
        let head = "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=";
        body.extend_from_slice(format!("{head}\"{name}\"\r\n\r\n").as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    let request = Request::post(path).header("content-type", "multipart/form-data; boundary=b");
    browser.send(request, Body::from(body)).await
}

async fn opening_a_link_however_often_and_however_changes_nothing_and_mails_nothing(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let mailed = app.outside.relay.attempts().len();
    let before = app.timeline_events(&ann.key, &ann.conversation).await;
    for round in 0..20 {
        let browser = app.browser();
        let page = match round % 3 {
            0 => browser.get(&ann.path).await,
            1 => browser.send(Request::head(&ann.path), Body::empty()).await,
            _ => {
                let prefetch = Request::get(&ann.path).header("sec-purpose", "prefetch");
                browser.send(prefetch, Body::empty()).await
            }
        };
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("Hidden") && !page.text.contains("ann@shop.example"));
        assert_eq!(page.answer.header("referrer-policy"), "no-referrer");
        assert_eq!(page.answer.header("cache-control"), "no-store");
        assert!(page.answer.header("x-robots-tag").contains("noindex"));
        browser.get(&format!("{}/files/enc_0", ann.path)).await.is(404);
    }
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), mailed);
    assert_eq!(app.timeline_events(&ann.key, &ann.conversation).await, before);
    assert_eq!(app.count("one_time_codes").await + app.count("guest_sessions").await, 0);
}

async fn with_the_code_a_customer_reads_answers_and_signs_out(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    let front = browser.get(&ann.path).await;
    assert!(front.text.contains("Send me the code") && front.text.contains("a•••••@shop.example"));
    ann.press(&browser, "code", &[]).await.goes_to(&ann.path);
    app.work().await;
    let wrong = ann.press(&browser, "open", &[("code", "1")]).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text.contains("You have 4 tries left."), "{}", wrong.text);
    let code = after(&app, "Your code: ", 9);
    ann.press(&browser, "open", &[("code", &code)]).await.goes_to(&ann.path);
    let page = browser.get(&ann.path).await;
    assert!(page.text.contains("Hidden words") && page.text.contains("Sign out"));
    let sent = ann.reply(&browser, "My account", ("card.pdf", &pdf("4711"))).await;
    sent.goes_to(&format!("{}?sent#sent", ann.path));
    let page = browser.get(&ann.path).await;
    let file = page.between("/files/", "\"").to_owned();
    let download = browser.get(&format!("{}/files/{file}", ann.path)).await.is(200);
    assert!(download.answer.bytes.starts_with(b"%PDF"));
    let messages = app.timeline(&ann.key, &ann.conversation, "message").await;
    let answer = messages.last().unwrap();
    assert_eq!((&answer["secure"], &answer["text"]), (&json!(true), &json!("My account")));
    assert_eq!(answer["attachments"][0]["filename"], "card.pdf");
    let person = app.signed_in(&app.owner).await;
    let shown = person.get(&format!("/conversations/{}", ann.conversation)).await;
    assert!(shown.text.contains("My account") && shown.text.contains("Protected"));
    let team = format!("/protected/{}/{file}", text_of(answer, "id"));
    assert!(person.get(&team).await.is(200).answer.bytes.starts_with(b"%PDF"));
    let left = format!("{}?signed-out", ann.path);
    ann.press(&browser, "sign-out", &[]).await.goes_to(&left);
    let out = browser.get(&left).await.is(200);
    out.shows("You are signed out").shows("Send me the code").hides("Hidden words");
    assert_eq!(out.answer.header("cache-control"), "no-store");
    browser.get(&ann.path).await.is(200).hides("Hidden words");
    browser.get(&format!("{}/files/{file}", ann.path)).await.is(404);
}

async fn a_forwarded_link_is_useless_and_a_form_from_elsewhere_is_refused(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let (own, other) = (app.browser(), app.browser());
    ann.sign_in(&own).await;
    let page = other.get(&ann.path).await;
    assert!(!page.text.contains("Hidden words"));
    let code = after(&app, "Your code: ", 9);
    assert_eq!(ann.press(&other, "open", &[("code", &code)]).await.status, 401);
    for what in ["code", "open", "sign-out", "ask", "read"] {
        let refused = own.post_bare(&format!("{}/{what}", ann.path), &[("csrf", "00")]).await;
        assert_eq!(refused.status, 403, "{what}");
        refused.shows("Open the page again").shows(&format!("href=\"{}\"", ann.path));
        refused.hides("Back to the inbox").hides("before you signed in");
        assert_eq!(refused.answer.header("referrer-policy"), "no-referrer");
        assert!(refused.answer.header("x-robots-tag").contains("noindex"));
    }
    let file = own.post_bare(&format!("{}/files/att_1", ann.path), &[]).await.is(405);
    file.shows("This address takes a visit").hides("Back to the inbox");
    assert!(file.answer.header("allow").contains("GET"));
    for path in ["/s/x", &format!("/s/{}", "0".repeat(40))] {
        let missing = other.get(path).await.is(404);
        assert!(missing.text.contains("There is nothing here"));
    }
}

async fn what_is_taken_back_is_closed_at_the_readers_next_click(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let person = app.signed_in(&app.owner).await;
    let revoked = person.post(&format!("/messages/{}/revoke", ann.message), &[]).await;
    revoked.goes_to(&format!("/conversations/{}#{}", ann.conversation, ann.message));
    let page = browser.get(&ann.path).await;
    assert_eq!(page.status, 410);
    assert!(page.text.contains("This page is closed") && !page.text.contains("Hidden words"));
    let late = ann.reply(&browser, "Too late", ("a.pdf", b"")).await.is(410);
    assert!(late.text.contains("Your reply was not sent") && late.text.contains("Too late"));
    ann.press(&browser, "ask", &[]).await.goes_to(&ann.path);
    assert!(browser.get(&ann.path).await.text.contains("Asked at"));
    person.post(&format!("/messages/{}/new-link", ann.message), &[]).await;
    app.work().await;
    assert_eq!(browser.get(&ann.path).await.status, 404, "the old link is dead");
    let again = format!("/s/{}", after(&app, "/s/", 40));
    assert!(browser.get(&again).await.is(200).text.contains("Hidden words"), "still signed in");
}

async fn a_new_link_for_one_recipient_opens_no_page_of_the_others(app: TestApp) {
    let key = app.key("read write draft send").await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
    let body = json!({ "body": "Hidden words", "secure": true, "send": true,
        "to": ["ann@shop.example"], "cc": ["ben@shop.example"] });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    app.pass(UNDO).await;
    let path_of = |email: &str| {
        let mails = app.outside.relay.attempts();
        let mail = mails.iter().rev().find(|mail| mail.recipients == [email]).expect("a mail");
        let text = String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "");
        let token: String = text.split_once("/s/").unwrap().1.chars().take(40).collect();
        format!("/s/{token}")
    };
    let message = text_of(&made, "messageId");
    let conversation = mail.conversation.to_string();
    let reader = |path: String| Reader {
        app: &app,
        key: key.clone(),
        conversation: conversation.clone(),
        message: message.clone(),
        path,
    };
    let (ann, ben) = (reader(path_of("ann@shop.example")), reader(path_of("ben@shop.example")));
    let (at_ann, at_ben) = (app.browser(), app.browser());
    ben.sign_in(&at_ben).await;
    let person = app.signed_in(&app.owner).await;
    person.post(&format!("/messages/{message}/revoke"), &[]).await.is(303);
    ann.press(&at_ann, "ask", &[]).await.goes_to(&ann.path);
    person.post(&format!("/messages/{message}/new-link"), &[]).await.is(303);
    app.work().await;
    let ann = reader(path_of("ann@shop.example"));
    ann.sign_in(&at_ann).await;
    at_ann.get(&ann.path).await.is(200).shows("Hidden words");
    let closed = at_ben.get(&ben.path).await.is(410);
    assert!(!closed.text.contains("Hidden words"));
}

async fn what_was_being_written_comes_along_when_the_session_has_ended(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let token = csrf(&browser.get(&ann.path).await);
    app.advance(31 * MINUTE);
    let fields = [("csrf", token.as_str()), ("text", "Half a letter")];
    let out = post_form(&browser, &format!("{}/reply", ann.path), &fields, &[]).await;
    assert_eq!(out.status, 401);
    assert!(out.text.contains("You are signed out") && out.text.contains("Half a letter"));
    let draft = [("csrf", &*csrf(&out)), ("text", "Half a letter")];
    let asked = browser.post_bare(&format!("{}/code", ann.path), &draft).await.is(200);
    assert!(asked.text.contains("Half a letter"));
    app.work().await;
    let code = after(&app, "Your code: ", 9);
    let draft = [("csrf", &*csrf(&asked)), ("text", "Half a letter"), ("code", &code)];
    browser.get(&format!("{}/open", ann.path)).await.goes_to(&ann.path);
    let page = browser.post_bare(&format!("{}/open", ann.path), &draft).await.is(200);
    assert!(page.text.contains("Hidden words") && page.text.contains("Half a letter"));
}

async fn a_file_that_could_run_is_refused_and_the_text_is_kept(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let refused = ann.reply(&browser, "Here it is", ("setup.exe", b"MZ\x90\0 a program")).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("setup.exe") && refused.text.contains("Here it is"));
    assert_eq!(app.timeline(&ann.key, &ann.conversation, "message").await.len(), 2);
}

async fn a_person_protects_a_reply_with_its_files_and_the_lock_stays_on(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let person = app.signed_in(&app.owner).await;
    let place = format!("/conversations/{}", mail.conversation);
    let composer = person.get(&format!("{place}?write=reply")).await;
    assert!(composer.text.contains("Protect this message"), "{}", composer.text);
    let token = person.csrf();
    let fields = [
        ("csrf", token.as_str()),
        ("lock", "1"),
        ("secure", "1"),
        ("body", "canaryword"),
        ("attach", ""),
    ];
    let file = pdf("canarybytes");
    let files = [("canaryname.pdf", file.as_slice())];
    post_form(&person, &format!("{place}/reply"), &fields, &files).await.is(303);
    let again = person.get(&format!("{place}?write=reply")).await;
    assert!(again.text.contains("canaryname.pdf") && again.text.contains("canaryword"));
    let fields = [
        ("to", "ann@shop.example"),
        ("seen", "99"),
        ("body", "canaryword"),
        ("lock", "1"),
        ("secure", "1"),
    ];
    person.post(&format!("{place}/reply"), &fields).await;
    app.pass(UNDO).await;
    for (table, column) in
        [("autosaves", "body"), ("attachments", "filename"), ("messages", "text")]
    {
        let found = app.count(&format!("{table} WHERE {column} LIKE '%canary%'")).await;
        assert_eq!(found, 0, "{table}");
    }
    let ann = Reader {
        app: &app,
        key: app.key("read").await,
        conversation: mail.conversation.to_string(),
        message: String::new(),
        path: format!("/s/{}", after(&app, "/s/", 40)),
    };
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let page = browser.get(&ann.path).await;
    assert!(page.text.contains("canaryword") && page.text.contains("canaryname.pdf"));
    ann.reply(&browser, "Thanks", ("", b"")).await.is(303);
    let composer = person.get(&format!("{place}?write=reply")).await;
    assert!(composer.text.contains("answered on a protected page"), "{}", composer.text);
    let list = person.get("/inbox?view=open").await;
    assert!(list.text.contains("Protected message"), "{}", list.text);
}

async fn who_may_not_protect_messages_is_not_offered_the_lock(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
    let composer = format!("/conversations/{}?write=reply", mail.conversation);
    let member = app.person("Bo").await;
    let (member, owner) = (app.signed_in(&member).await, app.signed_in(&app.owner).await);
    let lock = "Protect this message";
    member.get(&composer).await.is(200).shows(lock);
    app.exec("UPDATE workspaces SET secure_senders = 'admins'").await;
    member.get(&composer).await.is(200).hides(lock);
    owner.get(&composer).await.is(200).shows(lock);
}

async fn a_draft_that_is_approved_in_the_conversation_keeps_its_words(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({ "body": "Drafted words", "secure": true });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = text_of(&made, "messageId");
    let person = app.signed_in(&app.owner).await;
    let shown = person.get(&format!("/approvals/{id}")).await.is(200);
    assert!(shown.text.contains("Drafted words") && shown.text.contains("protected page"));
    let fields = [("revision", "1"), ("seen", "99"), ("next", "/approvals")];
    person.post(&format!("/approvals/{id}/approve"), &fields).await.is(303);
    app.pass(UNDO).await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    let sent = messages.last().unwrap();
    assert_eq!((&sent["text"], &sent["status"]), (&json!("Drafted words"), &json!("sent")));
}

/// Ann is asked for a document in a secure message; with the address of the upload page.
async fn asked_securely(app: &TestApp) -> (Reader<'_>, String) {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({
        "documents": [{ "label": "Canarypaper" }], "message": "Canarywords", "secure": true,
        "send": true,
    });
    let asked = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    app.pass(UNDO).await;
    assert_eq!(app.count("document_requests WHERE note IS NOT NULL").await, 0);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    let text = text_of(messages.last().unwrap(), "text");
    let upload = format!("/u/{}", &text.split_once("/u/").unwrap().1[..40]);
    let ann = Reader {
        app,
        key,
        conversation: mail.conversation.to_string(),
        message: text_of(&asked, "messageId"),
        path: format!("/s/{}", after(app, "/s/", 40)),
    };
    (ann, upload)
}

async fn documents_that_are_asked_for_securely_are_behind_the_same_code(app: TestApp) {
    let (ann, upload) = asked_securely(&app).await;
    let browser = app.browser();
    let closed = browser.get(&upload).await;
    assert_eq!(closed.status, 401);
    assert!(closed.text.contains("Prove your address first") && !closed.text.contains("Canary"));
    browser.post_bare(&upload, &[]).await.is(401);
    ann.sign_in(&browser).await;
    assert!(browser.get(&ann.path).await.text.contains(&upload));
    assert!(browser.get(&upload).await.is(200).text.contains("Canarypaper"));
    app.pass(8 * DAY).await;
    for mail in app.outside.relay.attempts() {
        let text = String::from_utf8_lossy(&mail.bytes).into_owned();
        assert!(!text.contains("Canary") && !text.contains("/u/"), "{text}");
    }
    let events = app.timeline_events(&ann.key, &ann.conversation).await;
    assert!(events.iter().any(|(name, _)| name == "reminded"), "{events:?}");
}

async fn uploads_to_a_protected_request_are_not_read_and_end_with_its_page(app: TestApp) {
    let (ann, upload) = asked_securely(&app).await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let item = browser.get(&upload).await.is(200).between("/items/", "\"").to_owned();
    let file = pdf("Passport");
    let files = [("passport.pdf", file.as_slice())];
    post_form(&browser, &format!("{upload}/items/{item}"), &[], &files).await.is(303);
    browser.post_bare(&upload, &[]).await.is(303);
    assert_eq!(app.count("documents").await, 1);
    assert_eq!(app.count("documents WHERE extract_at IS NOT NULL").await, 0);
    let person = app.signed_in(&app.owner).await;
    person.post(&format!("/messages/{}/revoke", ann.message), &[]).await.is(303);
    browser.get(&upload).await.is(401);
    let announced = json!({ "item": 0, "name": "a.pdf", "size": 5 }).to_string();
    let request = Request::post(format!("{upload}/uploads"));
    browser.send(request, Body::from(announced)).await.is(401);
}

async fn an_old_unsent_text_does_not_take_the_lock_off(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let person = app.signed_in(&app.owner).await;
    let place = format!("/conversations/{}", ann.conversation);
    let composer = format!("{place}?write=reply");
    let locked = "name=\"secure\" value=\"1\" checked";
    let fields = [("lock", "1"), ("body", "Old words"), ("attach", "")];
    person.post(&format!("{place}/reply"), &fields).await.is(303);
    let before = person.get(&composer).await;
    assert!(before.text.contains("Old words") && !before.text.contains(locked));
    let browser = app.browser();
    ann.sign_in(&browser).await;
    ann.reply(&browser, "Thanks", ("", b"")).await.is(303);
    person.get(&composer).await.shows("Old words").shows(locked);
    let fields = [("to", "ann@shop.example"), ("seen", "1"), ("lock", "1"), ("body", "Old words")];
    let meanwhile = person.post(&format!("{place}/reply"), &fields).await;
    meanwhile.shows("Old words").shows(locked);
}

async fn many_replies_of_one_link_have_to_wait_and_the_text_is_kept(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    for _ in 0..20 {
        ann.reply(&browser, "", ("", b"")).await.is(400);
    }
    let refused = ann.reply(&browser, "One more", ("", b"")).await.is(429);
    assert!(refused.text.contains("One more") && refused.text.contains("many replies"));
}

async fn links_of_earlier_versions_go_on_to_work(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let old = "z".repeat(40);
    app.exec(&format!("UPDATE document_requests SET token_hash = NULL, old_token = '{old}'")).await;
    assert_eq!(model::installation::sealing::seal_plain_secrets(&app.app).await.unwrap(), 1);
    assert_eq!(app.count(&format!("document_requests WHERE old_token = '{old}'")).await, 0);
    let page = app.browser().get(&format!("/u/{old}")).await.is(200);
    assert!(page.text.contains("Passport"));
    app.pass(3 * DAY).await;
    assert_eq!(after(&app, "/u/", 40), old, "a reminder names it again");
    ann.call("GET", "", &[], Body::empty()).await.is(404);
}

async fn until_when_a_page_is_open_is_said_on_the_clock_of_the_inbox(app: TestApp) {
    let hours = office_hours::OfficeHoursInput {
        weekly: "mon-sun 00:00-24:00".into(),
        zone: "America/New_York".into(),
        ..office_hours::OfficeHoursInput::default()
    };
    let mailbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &mailbox, &hours))
        .await;
    let ann = app.protected("Hidden words").await;
    let mail =
        String::from_utf8_lossy(&app.outside.relay.attempts().pop().unwrap().bytes).into_owned();
    let mail = mail.replace("=\r\n", "").replace("\r\n", " ");
    let until = mail.split("open until ").nth(1).and_then(|rest| rest.split(").").next()).unwrap();
    let until = format!("{until})");
    assert!(until.ends_with("(New York)") && until.contains(", "), "{until}");
    let browser = app.browser();
    browser.set_cookie("mailroom_zone", "Asia%2FTokyo");
    browser.get(&ann.path).await.is(200).shows(&until);
    ann.sign_in(&browser).await;
    browser.get(&ann.path).await.is(200).shows(&format!("Open until {until}"));
}
