//! A customer's own page: who gets in, what they see and do, and what nobody else learns.

mod proof;

use actions::workspace::customer_page::set_customer_page;
use actions::workspace::suspension;
use axum::body::Body;
use axum::http::Request;
use base::actor::{Actor, Circle, Role};
use base::ids::ConversationId;
use base::limits::{CODE_TRIES, GUEST_SESSION_IDLE_MS, GUEST_SESSION_MS};
use customers::CustomerPageMode;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use mail::{Envelope, Mail};
use model::authentication::SenderAuthentication;
use model::mailboxes;
use serde_json::json;

use crate::support::*;
use crate::web::browser::{Browser, Page};
use crate::web::upload::pdf;

on_both!(
    a_proven_address_reads_and_answers_its_own_conversations,
    a_workspace_without_room_takes_no_answer_and_the_words_are_kept,
    what_was_being_written_comes_along_when_the_session_has_ended,
    the_words_of_a_page_that_was_open_over_night_are_kept,
    an_answer_reaches_the_conversation_that_its_own_was_merged_into,
    what_one_page_sends_twice_is_filed_once_and_its_files_are_checked_and_shown,
    nothing_tells_whether_an_address_is_known,
    a_code_counts_in_its_browser_alone_and_allows_few_tries,
    what_is_the_teams_or_somebody_elses_is_not_there,
    one_conversation_shows_each_participant_their_own_mail_and_links,
    what_somebody_quotes_tells_them_nothing_of_what_others_wrote,
    held_mail_is_not_there_and_the_conversation_stays_readable,
    a_session_opens_no_page_of_the_team_and_none_of_another_workspace,
    the_page_is_off_until_it_is_switched_on,
    data_goes_along_and_its_deletion_is_asked_for,
    forms_from_elsewhere_are_refused,
    replies_name_the_page_where_the_owner_wants_it
);

const ME: &str = "/me/acme";
const ANN: &str = "ann@shop.example";
const BO: &str = "bo@lamps.example";
const EVE: &str = "eve@shop.example";

async fn switch(app: &TestApp, owner: &Actor, mode: CustomerPageMode) {
    app.act(owner, move |tx, cx| set_customer_page(tx, cx, mode)).await;
}

/// The page is on, and Ann has written.
async fn lamp(app: &TestApp) -> String {
    switch(app, &app.owner, CustomerPageMode::On).await;
    let mail = app.mail("ann@shop.example Ann", "My lamp", "Where is it?").await;
    mail.conversation.to_string()
}

/// Ann has written to another workspace with the page.
async fn lamp_of_globex(app: &TestApp) -> ConversationId {
    let other = app.other_workspace("Globex").await;
    switch(app, &other, CustomerPageMode::On).await;
    let seen = app.act(&other, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
    let inbox = seen.into_iter().next().unwrap();
    let service = Actor::system(other.ws, other.workspace.clone(), inbox.circle.clone());
    let incoming = app.incoming(&inbox, letter(ANN, "Their lamp", "Words to Globex"));
    let receive = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        inbound::receive::receive(tx, cx, &inbox, &incoming)
    };
    app.act(&service, receive).await.conversation
}

fn csrf(page: &Page) -> String {
    page.between("name=\"csrf\" value=\"", "\"").to_owned()
}

/// Posts a form of the front or the list, with its token.
async fn press(browser: &Browser<'_>, what: &str, fields: &[(&str, &str)]) -> Page {
    press_at(browser, ME, what, fields).await
}

/// The same on the page of a workspace.
async fn press_at(browser: &Browser<'_>, page: &str, what: &str, fields: &[(&str, &str)]) -> Page {
    let token = csrf(&browser.get(page).await.is(200));
    let mut all = vec![("csrf", token.as_str())];
    all.extend(fields);
    browser.post_bare(&format!("{page}/{what}"), &all).await
}

/// The code in the newest mail to an address, if there is one.
fn code_to(app: &TestApp, email: &str) -> Option<String> {
    let sent = app.outside.relay.attempts();
    let mails = sent.iter().rev().map(|sent| mail::parse(&sent.bytes, Envelope::default()));
    let mut to_them = mails.filter(|mail| mail.to.iter().any(|to| to.email == email));
    let mail = to_them.find(|mail| mail.original.contains("Your code: "))?;
    let (_, code) = mail.original.split_once("Your code: ")?;
    Some(code.chars().take(9).collect())
}

async fn sign_in(app: &TestApp, browser: &Browser<'_>, email: &str) {
    sign_in_at(app, browser, ME, email).await;
}

async fn sign_in_at(app: &TestApp, browser: &Browser<'_>, page: &str, email: &str) {
    press_at(browser, page, "code", &[("email", email)]).await.is(200);
    app.work().await;
    let code = code_to(app, email).expect("a code");
    press_at(browser, page, "open", &[("email", email), ("code", &code)]).await.goes_to(page);
}

/// Posts an answer with these fields, and a file where there is one.
async fn send_answer(
    browser: &Browser<'_>,
    path: &str,
    fields: &[(&str, &str)],
    file: Option<(&str, &[u8])>,
) -> Page {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(format!("{head}{value}\r\n").as_bytes());
    }
    if let Some((name, bytes)) = file {
        let head = "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=";
        body.extend_from_slice(format!("{head}\"{name}\"\r\n\r\n").as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    let request = Request::post(format!("{path}/reply"))
        .header("content-type", "multipart/form-data; boundary=b");
    browser.send(request, Body::from(body)).await
}

/// Opens a conversation and answers it.
async fn answer(browser: &Browser<'_>, path: &str, text: &str) -> Page {
    let page = browser.get(path).await.is(200);
    let (token, form) = (csrf(&page), page.between("name=\"form_id\" value=\"", "\"").to_owned());
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", text)];
    send_answer(browser, path, &fields, None).await
}

/// A mail that comes into this conversation, whoever writes.
async fn join(app: &TestApp, id: &str, mail: Mail) -> FiledMail {
    join_checked(app, id, mail, None).await
}

/// The same of a mail whose sender was checked.
async fn join_checked(
    app: &TestApp,
    id: &str,
    mail: Mail,
    authentication: Option<SenderAuthentication>,
) -> FiledMail {
    let joins = ConversationId::parse(id);
    let incoming = IncomingMail { joins, authentication, ..app.incoming(&app.support, mail) };
    let (service, inbox) = (app.service(&app.support), app.support.clone());
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &inbox, &incoming)).await
}

async fn a_proven_address_reads_and_answers_its_own_conversations(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read write draft send").await;
    app.send_reply(&key, &id, "It left today.").await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    browser.get(ME).await.is(200).shows("My lamp").shows("Waits for you").shows(ANN);
    let path = format!("{ME}/c/{id}");
    let page = browser.get(&path).await.is(200);
    page.shows("Where is it?").shows("It left today.");
    // Each letter stands beside its writer's mark: its column is the second one.
    page.shows("class=\"who customer\"").shows("class=\"who person\"");
    answer(&browser, &path, "Thank you!").await.goes_to(&format!("{path}?sent#sent"));
    browser.get(&format!("{path}?sent")).await.is(200).shows("Your reply has arrived");
    let read = app.read(&key, &id).await;
    assert_eq!((&read["status"], &read["contact"]["known"]), (&json!("open"), &json!(false)));
    let texts = app.timeline(&key, &id, "message").await;
    assert_eq!(texts.last().unwrap()["text"], "Thank you!");
    answer(&browser, &path, " ").await.is(422).shows("Write something");

    // Another browser with the address alone has nothing, and after a while this one neither.
    app.browser().get(&path).await.goes_to(ME);
    app.advance(GUEST_SESSION_IDLE_MS + MINUTE);
    browser.get(&path).await.goes_to(ME);
    browser.get(ME).await.is(200).shows("Send me the code").hides("My lamp");
    sign_in(&app, &browser, ANN).await;
    press(&browser, "sign-out", &[]).await.goes_to(&format!("{ME}?left"));
    browser.get(&format!("{ME}?left")).await.is(200).shows("You are signed out").hides("My lamp");
    browser.get(&path).await.goes_to(ME);
}

async fn a_workspace_without_room_takes_no_answer_and_the_words_are_kept(app: TestApp) {
    let path = format!("{ME}/c/{}", lamp(&app).await);
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let ws = app.owner.ws;
    let sql = "INSERT INTO workspace_limits (ws, what, hard) VALUES";
    app.exec(&format!("{sql} ({ws}, 'messages', 1)")).await;
    let page = answer(&browser, &path, "Thank you!").await.is(422);
    page.shows("This is closed for now").shows("Thank you!");
    assert_eq!(app.count("messages").await, 1);
}

async fn what_was_being_written_comes_along_when_the_session_has_ended(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read").await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let path = format!("{ME}/c/{id}");
    let page = browser.get(&path).await.is(200);
    let token = csrf(&page);
    let fields = [("csrf", token.as_str()), ("text", "A <long> answer")];
    app.advance(GUEST_SESSION_IDLE_MS + MINUTE);
    let page = send_answer(&browser, &path, &fields, None).await.is(401);
    page.shows("You are signed out").shows("A &#60;long&#62; answer").hides("Where is it?");
    let left = [("c", id.as_str()), ("text", "A <long> answer"), ("email", ANN)];
    press(&browser, "code", &left).await.is(200).shows("A &#60;long&#62; answer");
    app.work().await;
    let code = code_to(&app, ANN).expect("a code");
    let mut open = left.to_vec();
    open.push(("code", code.as_str()));
    let page = press(&browser, "open", &open).await.is(200);
    page.shows("Where is it?").shows("A &#60;long&#62; answer");
    // The page has a form of the new session, and nothing was sent yet.
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 1);
    let (token, form) = (csrf(&page), page.between("name=\"form_id\" value=\"", "\"").to_owned());
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", "It is here")];
    send_answer(&browser, &path, &fields, None).await.goes_to(&format!("{path}?sent#sent"));
}

async fn the_words_of_a_page_that_was_open_over_night_are_kept(app: TestApp) {
    let id = lamp(&app).await;
    let browser = app.browser();
    let front = browser.get(ME).await.is(200);
    let cookie = front.answer.header("set-cookie").to_owned();
    sign_in(&app, &browser, ANN).await;
    let path = format!("{ME}/c/{id}");
    let token = csrf(&browser.get(&path).await.is(200));
    app.advance(GUEST_SESSION_MS + MINUTE);
    // A browser that has dropped the cookie would send a form that nobody knows as ours.
    let (_, seconds) = cookie.split_once("Max-Age=").expect("an end");
    let seconds: i64 = seconds.split(';').next().unwrap().parse().expect("seconds");
    assert!(seconds * 1_000 > GUEST_SESSION_MS + MINUTE, "{cookie}");
    let fields = [("csrf", token.as_str()), ("text", "A long answer")];
    let page = send_answer(&browser, &path, &fields, None).await.is(401);
    page.shows("You are signed out").shows("A long answer").hides("Where is it?");
}

async fn an_answer_reaches_the_conversation_that_its_own_was_merged_into(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read write").await;
    app.advance(MINUTE);
    let other = app.mail("ann@shop.example Ann", "My invoice", "Which one?").await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let path = format!("{ME}/c/{id}");
    let page = browser.get(&path).await.is(200);
    let (token, form) = (csrf(&page), page.between("name=\"form_id\" value=\"", "\"").to_owned());
    let into = json!({ "into": other.conversation.to_string() });
    app.on(&key, &id, "merge", into).await.is(200);
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", "The last one")];
    send_answer(&browser, &path, &fields, None).await.goes_to(&format!("{path}?sent#sent"));
    let page = browser.get(&path).await.is(200);
    page.shows("Where is it?").shows("Which one?").shows("The last one");
}

async fn what_one_page_sends_twice_is_filed_once_and_its_files_are_checked_and_shown(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read").await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let path = format!("{ME}/c/{id}");
    let page = browser.get(&path).await.is(200);
    let (token, form) = (csrf(&page), page.between("name=\"form_id\" value=\"", "\"").to_owned());
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", "A picture")];
    let paper = pdf("Of the lamp");
    for _ in 0..2 {
        let sent =
            send_answer(&browser, &path, &fields, Some(("lamp.pdf", paper.as_slice()))).await;
        sent.goes_to(&format!("{path}?sent#sent"));
    }
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 2);
    let page = browser.get(&path).await.is(200);
    let file = format!("{path}/files/{}", page.shows("lamp.pdf").between("/files/", "\""));
    assert_eq!(browser.get(&file).await.is(200).answer.bytes, paper);
    app.browser().get(&file).await.goes_to(ME);
    let program = Some(("lamp.exe", b"MZ\x90\0".as_slice()));
    let refused = send_answer(&browser, &path, &fields, program).await.is(422);
    refused.shows("was not taken").shows("A picture");
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 2);
}

async fn nothing_tells_whether_an_address_is_known(app: TestApp) {
    lamp(&app).await;
    let mut pages = Vec::new();
    for email in [ANN, EVE] {
        let browser = app.browser();
        let page = press(&browser, "code", &[("email", email)]).await.is(200);
        let shown = page.text.replace(email, "").replace(&csrf(&page), "");
        let headers = page.answer.header_list();
        let wrong = press(&browser, "open", &[("email", email), ("code", "1234 567")]).await;
        let wrong = wrong.is(401);
        let refused = wrong.text.replace(email, "").replace(&csrf(&wrong), "");
        pages.push((shown, headers.len(), refused));
    }
    assert_eq!(pages[0], pages[1]);
    app.work().await;
    assert!(code_to(&app, ANN).is_some() && code_to(&app, EVE).is_none());
    // As many codes can be asked for.
    let browser = app.browser();
    let mut answers = Vec::new();
    for email in [ANN, EVE] {
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(press(&browser, "code", &[("email", email)]).await.status);
        }
        answers.push(statuses);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].last(), Some(&429));
    press(&browser, "code", &[("email", "nobody")]).await.is(422).shows("not an email address");
}

async fn a_code_counts_in_its_browser_alone_and_allows_few_tries(app: TestApp) {
    lamp(&app).await;
    let (browser, other) = (app.browser(), app.browser());
    press(&browser, "code", &[("email", ANN)]).await.is(200);
    app.work().await;
    let code = code_to(&app, ANN).expect("a code");
    // Neither another browser nor another address.
    press(&other, "open", &[("email", ANN), ("code", &code)]).await.is(401);
    press(&browser, "open", &[("email", EVE), ("code", &code)]).await.is(401);
    for _ in 0..CODE_TRIES {
        press(&browser, "open", &[("email", ANN), ("code", "1")]).await.is(401);
    }
    let late = press(&browser, "open", &[("email", ANN), ("code", &code)]).await.is(401);
    late.shows("That code has run out");
    assert_eq!(app.count("customer_sessions").await, 0);
    // A code counts once.
    sign_in(&app, &browser, ANN).await;
    let used = code_to(&app, ANN).expect("a code");
    press(&browser, "sign-out", &[]).await.is(303);
    press(&browser, "open", &[("email", ANN), ("code", &used)]).await.is(401);
}

async fn what_is_the_teams_or_somebody_elses_is_not_there(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read write draft send").await;
    app.on(&key, &id, "notes", json!({ "body": "A secret note" })).await.is(201);
    app.draft(&key, &id, "A secret draft").await;
    app.schedule(&key, &id, "A secret until it leaves").await;
    let others = app.mail("bo@lamps.example Bo", "Of Bo", "Words of Bo").await;
    let spam = app.mail("ann@shop.example Ann", "Advertising", "Buy this").await;
    let sql =
        format!("UPDATE conversations SET removed = 'spam' WHERE id = '{}'", spam.conversation);
    app.exec(&sql).await;
    let admin = app.person_with("Cleo", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let mine = app.deliver(&private, letter(ANN, "To Cleo", "For you alone")).await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let page = browser.get(ME).await.is(200);
    page.shows("My lamp").shows("To Cleo").hides("Of Bo").hides("Advertising");
    browser.get(&format!("{ME}/c/{id}")).await.is(200).shows("Where is it?").hides("A secret");
    browser.get(&format!("{ME}/c/{}", mine.conversation)).await.is(200).shows("For you alone");
    for gone in [&others.conversation, &spam.conversation] {
        browser.get(&format!("{ME}/c/{gone}")).await.is(404);
        browser.get(&format!("{ME}/c/{gone}/files/doc_1")).await.is(404);
    }
    // Nor in the download.
    let data = press(&browser, "data", &[]).await.is(200);
    data.shows("Where is it?").shows("For you alone").hides("A secret");
    data.hides("Buy this").hides("Words of Bo");
}

async fn one_conversation_shows_each_participant_their_own_mail_and_links(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read write draft send").await;
    app.ask_in(&key, &id, json!([{ "label": "Passport" }])).await;
    app.pass(UNDO).await;
    let copied = Mail {
        cc: vec![mail::Address::new(None, ANN)],
        ..letter("bo@lamps.example Bo", "Of Bo", "Words of Bo")
    };
    join(&app, &id, copied).await;
    let path = format!("{ME}/c/{id}");
    let (ann, bo) = (app.browser(), app.browser());
    sign_in(&app, &ann, ANN).await;
    let page = ann.get(&path).await.is(200);
    page.shows("Where is it?").shows("asked you for documents").shows("/u/");
    // Mail of others that names her in a line is not shown as if it came from the team.
    page.hides("Words of Bo");
    sign_in(&app, &bo, BO).await;
    bo.get(ME).await.is(200).shows("Of Bo").hides("My lamp");
    let page = bo.get(&path).await.is(200);
    page.shows("Words of Bo").hides("Where is it?").hides("My lamp").hides("/u/");
}

async fn what_somebody_quotes_tells_them_nothing_of_what_others_wrote(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read").await;
    join(&app, &id, letter("bo@lamps.example Bo", "Of Bo", "Words of Bo")).await;
    let (browser, path) = (app.browser(), format!("{ME}/c/{id}"));
    sign_in(&app, &browser, BO).await;
    // A quote is taken off where the conversation has its words: those of Ann are not his to try.
    for (text, kept) in [
        ("> Words of Bo\n\nMine.", "Mine."),
        ("> Where is it?\n\nMine.", "> Where is it?\n\nMine."),
        ("> Where is the cat?\n\nMine.", "> Where is the cat?\n\nMine."),
    ] {
        app.advance(MINUTE);
        answer(&browser, &path, text).await.is(303);
        assert_eq!(app.timeline(&key, &id, "message").await.last().unwrap()["text"], kept);
    }
}

async fn held_mail_is_not_there_and_the_conversation_stays_readable(app: TestApp) {
    let id = lamp(&app).await;
    let scam = Mail { warning: held_warning(), ..letter(ANN, "My lamp", "Held words") };
    join(&app, &id, scam).await;
    let alone = Mail { warning: held_warning(), ..letter(ANN, "Prize", "Other held words") };
    let alone = app.deliver(&app.support, alone).await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    browser.get(ME).await.is(200).shows("My lamp").hides("Prize");
    let page = browser.get(&format!("{ME}/c/{id}")).await.is(200);
    page.shows("Where is it?").hides("Held words");
    browser.get(&format!("{ME}/c/{}", alone.conversation)).await.is(404);
}

async fn a_session_opens_no_page_of_the_team_and_none_of_another_workspace(app: TestApp) {
    let id = lamp(&app).await;
    let theirs = lamp_of_globex(&app).await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    browser.get(ME).await.is(200).shows("My lamp").hides("Their lamp");
    browser.get("/me/globex").await.is(200).shows("Send me the code").hides("Their lamp");
    browser.get(&format!("{ME}/c/{theirs}")).await.is(404);
    browser.get(&format!("/me/globex/c/{theirs}")).await.goes_to("/me/globex");
    browser.get(&format!("/me/globex/c/{id}")).await.goes_to("/me/globex");
    press(&browser, "data", &[]).await.is(200).hides("Words to Globex");
    // Two have the page: each is found by its own address.
    browser.get("/me").await.is(404);
    for path in ["/inbox", "/settings/you"] {
        assert_eq!(browser.get(path).await.status, 303, "{path}");
    }
    // Who works for the team is nobody's customer by it.
    let owner = app.signed_in(&app.owner).await;
    owner.get(ME).await.is(200).shows("Send me the code").hides("My lamp");
    let operator = Actor::system(app.owner.ws, app.owner.workspace.clone(), Circle::team());
    app.act(&operator, |tx, cx| suspension::suspend(tx, cx, "The bill")).await;
    for path in [ME.to_owned(), format!("{ME}/c/{id}")] {
        browser.get(&path).await.is(503).shows("Closed for now").hides("My lamp");
    }
}

async fn the_page_is_off_until_it_is_switched_on(app: TestApp) {
    let browser = app.browser();
    for path in [ME, "/me", "/me/nowhere", "/me/%00"] {
        browser.get(path).await.is(404);
    }
    let owner = app.signed_in(&app.owner).await;
    let path = "/settings/customer-page";
    owner.get(path).await.is(200).hides("/me/acme");
    owner.post(path, &[("mode", "on")]).await.goes_to(path);
    owner.get(path).await.is(200).shows("/me/acme");
    owner.post(path, &[("mode", "perhaps")]).await.is(400);
    browser.get("/me").await.goes_to(ME);
    browser.get(ME).await.is(200);
    let member = app.signed_in(&app.person("Bo").await).await;
    member.get(path).await.is(403);
    member.post(path, &[("mode", "off")]).await.is(403);
    app.mail("ann@shop.example Ann", "My lamp", "Where is it?").await;
    sign_in(&app, &browser, ANN).await;
    owner.post(path, &[("mode", "off")]).await.goes_to(path);
    browser.get(ME).await.is(404);
    assert_eq!(app.count("customer_sessions").await, 0);
    assert_eq!(app.count("audit_log WHERE action = 'customer-page-changed'").await, 2);
}

async fn data_goes_along_and_its_deletion_is_asked_for(app: TestApp) {
    lamp(&app).await;
    let key = app.key("read").await;
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let data = press(&browser, "data", &[]).await.is(200);
    assert!(data.answer.bytes.starts_with(b"PK\x03\x04"));
    assert!(data.answer.header("content-disposition").contains("your-data.zip"));
    data.shows("your-data.json").shows("My lamp");
    for status in [200, 200, 429] {
        let again = press(&browser, "data", &[]).await.is(status);
        assert_eq!(again.text.contains("You took your data along several times"), status == 429);
    }
    let before = app.list(&key, "").await.len();
    app.advance(MINUTE);
    for _ in 0..2 {
        press(&browser, "forget", &[]).await.goes_to(&format!("{ME}#data"));
    }
    let listed = app.list(&key, "").await;
    assert_eq!(listed.len(), before + 1, "{listed:?}");
    assert_eq!(listed[0]["subject"], "Please delete my data");
    assert_eq!(listed[0]["tags"], json!(["delete my data"]));
    browser.get(ME).await.is(200).shows("You asked Acme to delete your data");
}

async fn forms_from_elsewhere_are_refused(app: TestApp) {
    let id = lamp(&app).await;
    let key = app.key("read").await;
    let browser = app.browser();
    for what in ["code", "open"] {
        let fields = [("csrf", "x"), ("email", ANN), ("code", "1234 5678")];
        browser.get(ME).await.is(200);
        browser.post_bare(&format!("{ME}/{what}"), &fields).await.is(403);
    }
    sign_in(&app, &browser, ANN).await;
    let foreign = csrf(&app.browser().get(ME).await.is(200));
    for what in ["data", "forget", "sign-out"] {
        browser.post_bare(&format!("{ME}/{what}"), &[("csrf", &foreign)]).await.is(403);
    }
    let path = format!("{ME}/c/{id}");
    let fields = [("csrf", foreign.as_str()), ("text", "Not of Ann")];
    send_answer(&browser, &path, &fields, None).await.is(403);
    send_answer(&app.browser(), &path, &fields, None).await.is(403);
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 1);
    assert_eq!(app.count("deletion_requests").await, 0);
    browser.get(ME).await.is(200).shows("My lamp");
}

async fn replies_name_the_page_where_the_owner_wants_it(app: TestApp) {
    let key = app.key("read write draft send").await;
    let mail = app.mail("ann@shop.example Ann", "My lamp", "Where is it?").await;
    for (mode, is_named) in [(CustomerPageMode::On, false), (CustomerPageMode::Linked, true)] {
        switch(&app, &app.owner, mode).await;
        app.schedule(&key, &mail.conversation, &format!("Answer {}", mode.as_str())).await;
        app.pass(UNDO).await;
        let sent = app.outside.relay.attempts();
        let last = mail::parse(&sent.last().unwrap().bytes, Envelope::default());
        assert_eq!(last.original.contains("/me/acme"), is_named, "{}", last.original);
    }
}
