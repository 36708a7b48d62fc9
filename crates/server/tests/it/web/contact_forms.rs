//! Contact forms: what comes in by them, what is wrong or looks like a program's, and their settings.

use actions::inboxes::contact_forms::add_contact_form;
use actions::people::removal;
use axum::body::Body;
use axum::http::Request;
use base::actor::Role;
use base::ids::MailboxId;
use base::limits::{FORM_LEAST_MS, FORM_OPEN_MS, FORM_POSTS_PER_NETWORK, TAG_CHARS};
use contact_forms::form_texts::parse_texts;
use contact_forms::{
    ContactForm, ContactFormInput, FormAnswerUse, FormCondition, FormField, FormFieldKind,
    FormProof,
};
use mail::Mail;
use serde_json::{Value, json};

use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    what_is_written_comes_in_like_mail_and_the_answer_threads,
    what_is_wrong_is_said_and_everything_typed_is_kept,
    what_looks_like_a_program_is_held_and_not_lost,
    a_network_that_sends_many_has_to_wait_and_keeps_its_words,
    another_site_may_show_the_form_in_a_frame,
    an_address_that_is_only_typed_joins_no_conversation_and_gets_no_mail,
    owners_and_admins_make_forms_for_the_inboxes_that_they_see,
    a_form_ends_with_its_inbox,
    a_form_ends_with_the_person_whose_inbox_it_is_for,
    an_answer_asks_for_more_fields_and_fills_the_conversation,
    files_are_checked_like_uploads_and_come_with_the_message,
    the_form_speaks_the_language_of_its_reader,
    a_form_that_comes_from_elsewhere_is_looked_at_once_more
);

pub(super) const PATH: &str = "/f/contact";
const SITE: &str = "https://shop.example/help?from=footer";
const TYPED: [(&str, &str); 6] = [
    ("name", "Ann Shopper"),
    ("email", "ann@shop.example"),
    ("message", "Where is my order?\nIt should have come on Monday."),
    ("f-order_number", "A-20418"),
    ("f-about", "A return"),
    ("f-terms", "yes"),
];

fn field(label: &str, kind: FormFieldKind, required: bool, choices: &[&str]) -> FormField {
    FormField {
        key: String::new(),
        label: label.into(),
        kind,
        required,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        becomes: None,
        when: None,
    }
}

pub(super) fn input(mailbox: &MailboxId) -> ContactFormInput {
    ContactFormInput {
        mailbox: mailbox.clone(),
        slug: "contact".into(),
        title: "Write to us".into(),
        intro: "We answer within a day.".into(),
        thanks: "We have it and answer soon.".into(),
        fields: vec![
            field("Order number", FormFieldKind::Reference, true, &[]),
            field("About", FormFieldKind::Choice, false, &["A return", "Something else"]),
            field("Day", FormFieldKind::Date, false, &[]),
            field("Terms", FormFieldKind::Consent, true, &[]),
        ],
        sites: vec!["shop.example".into()],
        tag: String::new(),
        proof: FormProof::Doubt,
        texts: Default::default(),
    }
}

pub(super) async fn contact_form(app: &TestApp) -> ContactForm {
    let input = input(&app.support.id);
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &input)).await
}

/// Opens the form and lets the time pass that writing takes; what its page carries.
pub(super) async fn open(app: &TestApp, browser: &Browser<'_>, path: &str) -> String {
    let page = browser.get(path).await.is(200);
    app.advance(FORM_LEAST_MS);
    page.between("name=\"made\" value=\"", "\"").to_owned()
}

/// Posts these fields, and what is typed otherwise.
pub(super) async fn send(
    browser: &Browser<'_>,
    path: &str,
    made: &str,
    fields: &[(&str, &str)],
) -> Page {
    let mut all = vec![("made", made)];
    all.extend(fields);
    // The first of two fields with one name counts.
    all.extend(TYPED);
    browser.post_bare(path, &all).await
}

async fn what_is_written_comes_in_like_mail_and_the_answer_threads(app: TestApp) {
    contact_form(&app).await;
    let (key, browser) = (app.key("read draft send").await, app.browser());
    let opened = Request::get(PATH).header("referer", SITE);
    let page = browser.send(opened, Body::empty()).await.is(200);
    page.shows("Write to us").shows("We answer within a day.").shows("Order number");
    assert!(page.answer.headers.get("set-cookie").is_none());
    let (made, site) = (page.between("name=\"made\" value=\"", "\""), SITE);
    app.advance(FORM_LEAST_MS);
    let (sent, before) = (format!("{PATH}?sent"), app.events().await.len());
    send(&browser, PATH, made, &[("page", site)]).await.goes_to(&sent);
    browser.get(&sent).await.is(200).shows("We have it and answer soon.");

    let listed = app.list(&key, "").await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    let read = app.read(&key, &id).await;
    assert_eq!((&read["subject"], &read["risk"]), (&json!("Write to us"), &Value::Null));
    assert_eq!(read["contact"]["email"], "ann@shop.example");
    assert_eq!(read["contact"]["known"], false);
    assert_eq!(read["source"], json!({ "type": "form", "form": "contact", "page": SITE }));
    let fields = json!({ "order_number": "A-20418", "about": "A return", "terms": true });
    assert_eq!(read["fields"], fields);
    let text = read["timeline"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Where is my order?\nIt should"), "{text}");
    assert!(text.contains("Order number: A-20418\n"), "{text}");
    let told = app.event_types_since(before).await;

    // The back button and a second click send it again.
    send(&browser, PATH, made, &[("page", site)]).await.goes_to(&sent);
    assert_eq!((app.count("form_posts").await, app.list(&key, "").await.len()), (1, 1));

    let reply = json!({ "body": "It left today.", "send": true });
    app.on(&key, &id, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    let mut mails = app.outside.relay.attempts();
    mails.retain(|mail| mail.recipients == ["ann@shop.example"]);
    assert_eq!(mails.len(), 1);
    let text = String::from_utf8_lossy(&mails[0].bytes).into_owned();
    let (_, rest) = text.split_once("Message-ID:").expect("a Message-ID");
    let (_, rest) = rest.split_once('<').unwrap();
    let message_id = rest.split_once('>').unwrap().0.to_owned();
    let answer = Mail {
        answers: vec![message_id],
        ..letter("ann@shop.example Ann Shopper", "Re: Write to us", "Thank you!")
    };
    let filed = app.deliver(&app.support, answer).await;
    assert_eq!(filed.conversation.to_string(), id);
    let before = app.events().await.len();
    let plain = app.mail("bo@lamps.example Bo", "Lamps", "Hello").await;
    assert_eq!(app.event_types_since(before).await, told);
    let plain = app.read(&key, &plain.conversation).await;
    assert_eq!((plain.get("source"), &plain["fields"]), (None, &json!({})));
}

async fn what_is_wrong_is_said_and_everything_typed_is_kept(app: TestApp) {
    contact_form(&app).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    for (wrong, sentence) in [
        (("name", " "), "Please say your name."),
        (("email", "ann"), "That is not an email address."),
        (("message", "\n"), "Please write a message."),
        (("f-order_number", ""), "Please answer this."),
        (("f-about", "A lamp"), "Please choose one."),
        (("f-day", "some day"), "That is not a date."),
        (("f-terms", ""), "Please tick this."),
    ] {
        let page = send(&browser, PATH, &made, &[wrong]).await.is(422);
        page.shows(sentence).shows("aria-invalid=\"true\"");
        if wrong.0 != "message" {
            page.shows("It should have come on Monday.</textarea>");
        }
        if wrong.0 != "f-order_number" {
            page.shows("value=\"A-20418\"");
        }
    }
    let page = send(&browser, PATH, "", &[]).await.is(422);
    page.shows("open for too long").shows("value=\"Ann Shopper\"");
    app.advance(FORM_OPEN_MS);
    let page = send(&browser, PATH, &made, &[]).await.is(422);
    assert_eq!(app.count("form_posts").await, 0);
    let again = page.between("name=\"made\" value=\"", "\"");
    app.advance(FORM_LEAST_MS);
    send(&browser, PATH, again, &[]).await.is(303);
    assert_eq!(app.count("form_posts").await, 1);

    let german = Request::get(PATH).header("accept-language", "de");
    let page = browser.send(german, Body::empty()).await.is(200);
    page.shows("<html lang=\"de\"").shows("Ihre Nachricht");
    browser.get("/f/nowhere").await.is(404);
}

async fn what_looks_like_a_program_is_held_and_not_lost(app: TestApp) {
    contact_form(&app).await;
    let browser = app.browser();
    let links = "https://a.example https://b.example https://c.example https://d.example";
    let mut held = 0;
    for fields in [("site", "https://a.example"), ("message", links)] {
        let made = open(&app, &browser, PATH).await;
        // A code is asked for, with which it goes on at once.
        send(&browser, PATH, &made, &[fields]).await.is(200);
        held += 1;
        assert_eq!(app.count("conversations WHERE held = TRUE").await, held, "{fields:?}");
    }
    let page = browser.get(PATH).await.is(200);
    let made = page.between("name=\"made\" value=\"", "\"");
    send(&browser, PATH, made, &[]).await.is(200);
    assert_eq!(app.count("conversations WHERE held = TRUE").await, held + 1);
    assert_eq!(app.count("form_posts").await, held + 1);
}

async fn a_network_that_sends_many_has_to_wait_and_keeps_its_words(app: TestApp) {
    contact_form(&app).await;
    let browser = app.browser();
    for number in 0..FORM_POSTS_PER_NETWORK {
        let made = open(&app, &browser, PATH).await;
        let message = format!("Question {number}");
        assert!(send(&browser, PATH, &made, &[("message", &message)]).await.status < 400);
    }
    let made = open(&app, &browser, PATH).await;
    let page = send(&browser, PATH, &made, &[]).await.is(429);
    page.shows("from your network").shows("It should have come on Monday.</textarea>");
    assert_eq!(app.count("form_posts").await, FORM_POSTS_PER_NETWORK);
}

async fn another_site_may_show_the_form_in_a_frame(app: TestApp) {
    contact_form(&app).await;
    let (browser, path) = (app.browser(), format!("{PATH}/embed"));
    let own = browser.get(PATH).await.is(200);
    assert_eq!(own.answer.header("x-frame-options"), "DENY");
    let page = browser.get(&path).await.is(200);
    let policy = page.answer.header("content-security-policy");
    let sites = "frame-ancestors 'self' https://shop.example;";
    assert!(policy.contains(sites) && !policy.contains("'none'; base"), "{policy}");
    assert!(page.answer.headers.get("x-frame-options").is_none());
    assert!(page.answer.headers.get("set-cookie").is_none());
    let made = open(&app, &browser, &path).await;
    let page = send(&browser, &path, &made, &[("name", "")]).await.is(422);
    assert!(page.answer.header("content-security-policy").contains(sites));
    let sent = format!("{path}?sent");
    send(&browser, &path, &made, &[]).await.goes_to(&sent);
    let page = browser.get(&sent).await.is(200);
    assert!(page.answer.headers.get("x-frame-options").is_none());
}

async fn an_address_that_is_only_typed_joins_no_conversation_and_gets_no_mail(app: TestApp) {
    contact_form(&app).await;
    let mail = app.mail("ann@shop.example Ann", "Write to us", "My account is 12").await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    send(&browser, PATH, &made, &[]).await.is(303);
    let place = format!("messages WHERE conversation = '{}'", mail.conversation);
    assert_eq!(app.count(&place).await, 1);
    assert_eq!(app.count("conversations WHERE contact_email = 'ann@shop.example'").await, 2);
    app.work().await;
    assert!(
        app.outside.relay.attempts().iter().all(|mail| mail.recipients != ["ann@shop.example"])
    );
}

async fn owners_and_admins_make_forms_for_the_inboxes_that_they_see(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let inbox = app.support.id.to_string();
    let fields = [
        ("title", "Write to us"),
        ("slug", "contact"),
        ("mailbox", inbox.as_str()),
        ("intro", ""),
        ("thanks", ""),
        ("label-1", "Order number"),
        ("type-1", "reference"),
        ("required-1", "on"),
    ];
    let wrong: Vec<_> = [("slug", "Our Form")].into_iter().chain(fields).collect();
    let page = browser.post("/settings/forms", &wrong).await.is(422);
    page.shows("lower-case letters").shows("value=\"Order number\"").shows("value=\"Our Form\"");
    browser.post("/settings/forms", &fields).await.goes_to("/settings/forms");
    let page = browser.get("/settings/forms").await.is(200);
    page.shows("/f/contact").shows("support@acme.example");
    let id = format!("frm_{}", page.between("href=\"/settings/forms/frm_", "\""));
    let path = format!("/settings/forms/{id}");
    browser.get(&path).await.is(200).shows("/f/contact/embed").shows("value=\"order_number\"");
    app.browser().get(PATH).await.is(200).shows("name=\"f-order_number\"");
    let changed: Vec<_> = [("title", "Help")].into_iter().chain(fields).collect();
    browser.post(&path, &changed).await.goes_to(&path);
    app.browser().get(PATH).await.is(200).shows("Help");

    let long = "x".repeat(TAG_CHARS + 1);
    let choices = format!("A return\n{long}");
    let tag = [("type-1", "choice"), ("choices-1", choices.as_str()), ("becomes-1", "tag")];
    let wrong: Vec<_> = tag.into_iter().chain(fields).collect();
    browser.post(&path, &wrong).await.is(422).shows("A tag has 1 to");

    let member = app.signed_in(&app.person("Bo").await).await;
    member.get("/settings/forms").await.is(403);
    member.post("/settings/forms", &fields).await.is(403);
    member.post(&format!("{path}/remove"), &[]).await.is(403);
    let admin = app.person_with("Cleo", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let own = ContactFormInput { slug: "own".into(), ..input(&private.id) };
    let own = app.act(&admin, move |tx, cx| add_contact_form(tx, cx, &own)).await;
    browser.get("/settings/forms").await.is(200).hides("/f/own");
    let theirs = format!("/settings/forms/{}", own.id);
    browser.get(&theirs).await.is(404);
    browser.post(&theirs, &fields).await.is(404);
    browser.post(&format!("{theirs}/remove"), &[]).await.is(404);

    browser.post(&format!("{path}/remove"), &[]).await.goes_to("/settings/forms");
    app.browser().get(PATH).await.is(404);
    app.browser().get("/f/own").await.is(200);
}

async fn a_form_ends_with_its_inbox(app: TestApp) {
    let admin = app.person_with("Cleo", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let form = input(&private.id);
    app.act(&admin, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    send(&browser, PATH, &made, &[]).await.is(303);
    let (id, address) = (private.id.clone(), private.address.to_string());
    app.act(&admin, move |tx, cx| {
        actions::workspace::deletion::delete_inbox(tx, cx, &id, &address).map(|_| ())
    })
    .await;
    for gone in [PATH, "/f/%00", "/f/%00/embed"] {
        browser.get(gone).await.is(404);
        send(&browser, gone, &made, &[]).await.is(404);
    }
    app.pass(HOUR).await;
    assert_eq!((app.count("form_posts").await, app.count("contact_forms").await), (0, 0));
}

async fn a_form_ends_with_the_person_whose_inbox_it_is_for(app: TestApp) {
    let admin = app.person_with("Cleo", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let form = input(&private.id);
    app.act(&admin, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    let person = user(&admin);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    browser.get(PATH).await.is(404);
    send(&browser, PATH, &made, &[]).await.is(404);
    // Another form may have the address.
    contact_form(&app).await;
    browser.get(PATH).await.is(200);
}

/// What the conversation of the newest post is.
pub(super) async fn newest(app: &TestApp, key: &TestKey) -> Value {
    let listed = app.list(key, "?status=open").await;
    let id = listed[0]["id"].as_str().expect("a conversation").to_owned();
    app.read(key, &id).await
}

async fn an_answer_asks_for_more_fields_and_fills_the_conversation(app: TestApp) {
    let admin = app.key("read write admin").await;
    app.act(&app.owner, |tx, cx| {
        let field = model::fields::CustomField {
            key: "quantity".into(),
            owner: model::fields::FieldOwner::Conversation,
            kind: model::fields::FieldKind::Number,
            choices: db::Json(Vec::new()),
        };
        model::fields::add(tx, cx, &field)?;
        model::conversations::topics::add(tx, cx, "A return", "back").map(drop)
    })
    .await;
    let mut about = field("About", FormFieldKind::Choice, true, &["A return", "Something else"]);
    about.becomes = Some(FormAnswerUse::Topic);
    let mut order = field("Order", FormFieldKind::Reference, true, &[]);
    let mut number = field("Number", FormFieldKind::Text, false, &[]);
    number.becomes = FormAnswerUse::parse("field.quantity");
    for later in [&mut order, &mut number] {
        later.when = FormCondition::parse("about=A return");
    }
    let form = ContactFormInput {
        fields: vec![about, order, number],
        tag: "website".into(),
        ..input(&app.support.id)
    };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let page = browser.get(PATH).await.is(200);
    page.shows("name=\"f-about\"").hides("name=\"f-order\"").hides("name=\"f-number\"");
    let made = open(&app, &browser, PATH).await;
    let first = [("asked", "about"), ("f-about", "A return")];
    let page = send(&browser, PATH, &made, &first).await.is(422);
    page.shows("More questions follow").shows("name=\"f-order\"").shows("Ann Shopper");
    let mut fields =
        vec![("asked", "about order number"), ("f-about", "A return"), ("f-order", "A-7")];
    fields.push(("f-number", "many"));
    send(&browser, PATH, &made, &fields).await.is(422).shows("number");
    fields[3].1 = "3";
    send(&browser, PATH, &made, &fields).await.is(303);
    let read = newest(&app, &admin).await;
    assert_eq!((&read["reference"], &read["tags"]), (&json!("A-7"), &json!(["website"])));
    assert_eq!(read["topic"], "A return", "{read}");
    assert_eq!(read["fields"]["quantity"], 3);
    assert_eq!(read["fields"]["order"], "A-7");

    // What is not asked for any more says nothing.
    let made = open(&app, &browser, PATH).await;
    let fields = [("asked", "about order"), ("f-about", "Something else"), ("f-order", "A-8")];
    send(&browser, PATH, &made, &fields).await.is(303);
    assert_eq!(newest(&app, &admin).await["reference"], Value::Null);
}

/// Posts a form with a file.
async fn send_file(browser: &Browser<'_>, made: &str, name: &str, bytes: &str) -> Page {
    let mut body = String::new();
    for (field, value) in [("made", made), ("asked", "terms photo")].into_iter().chain(TYPED) {
        body.push_str(&format!(
            "--b\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
        ));
    }
    body.push_str(&format!(
        "--b\r\nContent-Disposition: form-data; name=\"f-photo\"; filename=\"{name}\"\r\n\
         Content-Type: text/plain\r\n\r\n{bytes}\r\n--b--\r\n"
    ));
    let request = Request::post(PATH).header("content-type", "multipart/form-data; boundary=b");
    browser.send(request, Body::from(body)).await
}

async fn files_are_checked_like_uploads_and_come_with_the_message(app: TestApp) {
    let key = app.key("read").await;
    let form = ContactFormInput {
        fields: vec![
            field("Terms", FormFieldKind::Consent, true, &[]),
            field("Photo", FormFieldKind::Files, true, &[]),
        ],
        ..input(&app.support.id)
    };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    browser.get(PATH).await.is(200).shows("type=\"file\"").shows("multipart/form-data");
    let made = open(&app, &browser, PATH).await;
    let page = send(&browser, PATH, &made, &[]).await.is(422);
    page.shows("Please choose a file.").shows("It should have come on Monday.</textarea>");
    let page = send_file(&browser, &made, "run.exe", "MZ\u{0}\u{1}").await.is(422);
    page.shows("was not taken").shows("Choose your files again").shows("Ann Shopper");
    assert_eq!(app.count("form_posts").await, 0);
    send_file(&browser, &made, "order.txt", "Two lamps, one arrived.").await.is(303);
    assert_eq!(app.count("documents WHERE filename = 'order.txt'").await, 1);
    let read = newest(&app, &key).await;
    assert_eq!(read["timeline"][0]["attachments"][0]["filename"], "order.txt", "{read}");
}

async fn the_form_speaks_the_language_of_its_reader(app: TestApp) {
    let key = app.key("read").await;
    let german =
        "[de]\ntitle = Schreiben Sie uns\nfield.about = Thema\nfield.about.1 = Rücksendung\n";
    let form = ContactFormInput { texts: parse_texts(german).unwrap(), ..input(&app.support.id) };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let request = Request::get(PATH).header("accept-language", "de");
    let page = browser.send(request, Body::empty()).await.is(200);
    page.shows("Schreiben Sie uns").shows("Thema").shows(">Rücksendung</option>");
    page.shows("value=\"A return\"").shows("dir=\"ltr\"");
    let made = page.between("name=\"made\" value=\"", "\"");
    app.advance(FORM_LEAST_MS);
    send(&browser, PATH, made, &[]).await.is(303);
    assert_eq!(newest(&app, &key).await["fields"]["about"], "A return");
}

async fn a_form_that_comes_from_elsewhere_is_looked_at_once_more(app: TestApp) {
    contact_form(&app).await;
    let browser = app.browser();
    let page = browser.post_bare(PATH, &TYPED).await.is(422);
    page.shows("look at it once more").shows("value=\"Ann Shopper\"");
    assert_eq!(app.count("form_posts").await, 0);
    let made = page.between("name=\"made\" value=\"", "\"").to_owned();
    app.advance(FORM_LEAST_MS);
    send(&browser, PATH, &made, &[]).await.is(303);
    assert_eq!(app.count("conversations WHERE held = FALSE").await, 1);
}
