//! What was typed when a session was over stands where it was written, once its writer signed in again.

use std::fs;
use std::path::Path;

use actions::people::removal;
use actions::sign_in::sign_in_reset;
use actions::workspace::deletion;
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use axum::http::Request;
use base::actor::Actor;
use base::ids::ConversationId;

use super::compose::upload;
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    after_a_session_ended_signing_in_leads_back_to_the_text,
    a_form_of_an_earlier_session_keeps_its_text_for_the_same_person,
    what_has_no_composer_is_shown_once,
    somebody_else_who_signs_in_does_not_get_the_text,
    a_long_reply_is_kept_whole_whatever_file_goes_with_it,
    a_long_form_without_files_is_kept_whole,
    a_protected_reply_with_a_file_comes_back_protected,
    a_text_that_is_too_long_is_refused_and_the_kept_one_stays,
    a_reply_without_a_text_leaves_the_kept_one,
    a_text_without_letters_is_shown_and_what_programs_read_is_not,
    a_text_that_could_not_be_put_back_is_there_at_the_next_try,
    what_was_typed_goes_with_its_writer_or_after_an_hour,
    the_address_of_every_form_leads_to_a_page,
    a_script_learns_who_is_signed_in
);

async fn end_sessions(app: &TestApp) {
    let ended = app.app.store.write(|tx| {
        tx.exec("DELETE FROM sessions", &[])?;
        Ok::<_, base::error::Error>(())
    });
    ended.await.unwrap();
}

/// Signs in by a link, in the same browser, and goes on to where the sign-in page leads.
async fn sign_in_again(browser: &Browser<'_>, person: &Actor, next: &str) -> Page {
    browser.sign_in(person).await;
    browser.get(next).await
}

/// The page that a response leads to after signing in.
fn next_of(page: &Page) -> String {
    let location = page.answer.header("location").to_owned();
    let query = location.strip_prefix("/sign-in?").unwrap_or_else(|| panic!("{location}"));
    let mut fields = url::form_urlencoded::parse(query.as_bytes());
    fields.find(|(name, _)| name == "next").unwrap().1.into_owned()
}

/// Signs in after a form was kept, and goes where the browser is led.
async fn come_back(browser: &Browser<'_>, person: &Actor, posted: Page) -> Page {
    let kept = posted.is(303).answer.header("location").to_owned();
    let next = next_of(&browser.get(&kept).await.is(303));
    sign_in_again(browser, person, &next).await
}

/// Has the owner's composer keep a reply.
async fn keep_reply(app: &TestApp, conversation: &ConversationId, text: &str) {
    let place = AutosaveKey::Conversation(conversation.clone());
    let reply = Autosave::new(AutosaveKind::Reply, text.into());
    app.act(&app.owner, move |tx, cx| autosaves::autosave(tx, cx, &place, &reply)).await;
}

async fn after_a_session_ended_signing_in_leads_back_to_the_text(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, me) = (mail.conversation.to_string(), user(&app.owner).to_string());
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{id}");
    browser.get(&format!("{path}?write=reply")).await.is(200).shows(&me);
    let reply = [
        ("writer", me.as_str()),
        ("kind", "reply"),
        ("to", "ann@shop.example"),
        ("body", "It leaves & comes tomorrow."),
    ];
    let note = [("writer", me.as_str()), ("kind", "note"), ("body", "She is in a hurry.")];
    let first = [
        ("writer", me.as_str()),
        ("kind", "new"),
        ("mailbox", app.support.id.as_str()),
        ("to", "bo@y.example"),
        ("subject", "Chairs"),
        ("body", "Your chairs are here."),
    ];
    for (form, fields, page, shown) in [
        (
            format!("{path}/reply"),
            &reply[..],
            format!("{path}?write=reply#body"),
            "comes tomorrow.",
        ),
        (
            format!("{path}/note"),
            &note[..],
            format!("{path}?write=note#body"),
            "She is in a hurry.",
        ),
        ("/new".into(), &first[..], "/new".into(), "Your chairs are here."),
    ] {
        end_sessions(&app).await;
        let with_file = [("bill.pdf", "application/pdf", &b"%PDF-1.4"[..])];
        let posted = match form.ends_with("/note") {
            true => browser.post(&form, fields).await.is(303),
            false => upload(&browser, &form, fields, &with_file).await.is(303),
        };
        let kept = posted.answer.header("location").to_owned();
        assert!(kept.starts_with("/unsent?then="), "{kept}");
        let next = next_of(&browser.get(&kept).await.is(303));
        let back = sign_in_again(&browser, &app.owner, &next).await.goes_to(&page);
        let composer = browser.get(back.answer.header("location")).await.is(200);
        composer.shows(shown).shows("Your text is here.");
        browser.get(&next).await.is(303);
        browser.remember_csrf().await;
    }
    let sent = app.count("messages WHERE direction = 'outbound'").await;
    assert_eq!(sent, 0, "nothing was sent");
    assert_eq!(app.count("notes").await, 0);
}

async fn a_form_of_an_earlier_session_keeps_its_text_for_the_same_person(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, me) = (mail.conversation.to_string(), user(&app.owner).to_string());
    let browser = app.signed_in(&app.owner).await;
    let before = browser.csrf();
    end_sessions(&app).await;
    browser.sign_in(&app.owner).await;
    let fields = [
        ("csrf", before.as_str()),
        ("writer", &me),
        ("kind", "note"),
        ("body", "From the other tab."),
    ];
    let path = format!("/conversations/{id}/note");
    let kept = browser.post_bare(&path, &fields).await.is(303);
    let page = browser.get(kept.answer.header("location")).await.is(303);
    browser.get(page.answer.header("location")).await.is(200).shows("From the other tab.");
    assert_eq!(app.count("notes").await, 0, "it was not sent");
    let bare = [("csrf", before.as_str()), ("body", "Whose is this?")];
    browser.post_bare(&path, &bare).await.is(403).shows("This page is too old");
}

async fn what_has_no_composer_is_shown_once(app: TestApp) {
    let (mail, me) = (app.mail("ann@x.example", "Lamps", "Hi").await, user(&app.owner).to_string());
    let key = app.key("draft").await;
    let draft = app.draft(&key, &mail.conversation, "They left.").await;
    let browser = app.signed_in(&app.owner).await;
    end_sessions(&app).await;
    let fields = [
        ("writer", me.as_str()),
        ("revision", "1"),
        ("seen", "2"),
        ("body", "They left <b>on Tuesday</b>."),
        ("password", "of somebody"),
    ];
    let posted = browser.post(&format!("/approvals/{draft}/approve"), &fields).await.is(303);
    let next = next_of(&browser.get(posted.answer.header("location")).await.is(303));
    let page = sign_in_again(&browser, &app.owner, &next).await.is(200);
    page.shows("They left &#60;b&#62;on Tuesday&#60;/b&#62;.").hides("of somebody");
    page.shows(&format!("href=\"/approvals/{draft}\""));
    browser.get(&next).await.goes_to(&format!("/approvals/{draft}"));
}

async fn somebody_else_who_signs_in_does_not_get_the_text(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, me) = (mail.conversation.to_string(), user(&app.owner).to_string());
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&app.owner).await;
    end_sessions(&app).await;
    let fields = [("writer", me.as_str()), ("kind", "note"), ("body", "Only mine.")];
    let posted = browser.post(&format!("/conversations/{id}/note"), &fields).await.is(303);
    let next = next_of(&browser.get(posted.answer.header("location")).await.is(303));
    let page = sign_in_again(&browser, &bo, &next).await.is(303);
    let page = browser.get(page.answer.header("location")).await.is(200);
    page.hides("Only mine.");
    let kept = app.count("sign_in_steps WHERE data LIKE '%mine%'").await;
    assert_eq!(kept, 0, "it is kept sealed");
    let page = sign_in_again(&browser, &app.owner, &next).await.is(303);
    browser.get(page.answer.header("location")).await.is(200).shows("Only mine.");
}

async fn a_long_reply_is_kept_whole_whatever_file_goes_with_it(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (path, me) = (format!("/conversations/{}", mail.conversation), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    let text = "я".repeat(30_000);
    let fields = [("writer", me.as_str()), ("kind", "reply"), ("body", &text)];
    for bytes in [0, 300_000, 3_000_000] {
        keep_reply(&app, &mail.conversation, "From before").await;
        end_sessions(&app).await;
        let file = vec![b'a'; bytes];
        let files = [("bill.txt", "text/plain", file.as_slice())];
        let posted = upload(&browser, &format!("{path}/reply"), &fields, &files).await;
        let page = come_back(&browser, &app.owner, posted).await;
        let page = browser.get(page.is(303).answer.header("location")).await.is(200);
        page.shows(&text).shows("Your text is here.").hides("From before");
        browser.remember_csrf().await;
    }
}

async fn a_long_form_without_files_is_kept_whole(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, me) = (mail.conversation.to_string(), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    let text = "я".repeat(4_000);
    let fields = [("writer", me.as_str()), ("kind", "note"), ("body", &text)];
    end_sessions(&app).await;
    let posted = browser.post(&format!("/conversations/{id}/note"), &fields).await;
    let page = come_back(&browser, &app.owner, posted).await.is(303);
    browser.get(page.answer.header("location")).await.is(200).shows(&text);
    end_sessions(&app).await;
    let large = [("email", "owner@acme.example"), ("password", text.as_str())];
    browser.post_bare("/sign-in", &large).await.goes_to("/sign-in?next=%2Fsign-in");
}

async fn a_protected_reply_with_a_file_comes_back_protected(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (path, me) = (format!("/conversations/{}", mail.conversation), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    let composer = browser.get(&format!("{path}?write=reply")).await.is(200);
    let place_of = |field: &str| composer.text.find(field).unwrap_or_else(|| panic!("no {field}"));
    assert!(
        place_of("name=\"secure\"") < place_of("name=\"files\""),
        "what stands behind a file is not read"
    );
    end_sessions(&app).await;
    let fields = [
        ("writer", me.as_str()),
        ("kind", "reply"),
        ("to", "ann@shop.example"),
        ("body", "Your code is 4711."),
        ("lock", "1"),
        ("secure", "1"),
    ];
    let files = [("bill.pdf", "application/pdf", &b"%PDF-1.4"[..])];
    let posted = upload(&browser, &format!("{path}/reply"), &fields, &files).await;
    let back = come_back(&browser, &app.owner, posted).await;
    let composer = browser.get(back.answer.header("location")).await.is(200);
    composer.shows("Your code is 4711.").shows("name=\"secure\" value=\"1\" checked");
}

async fn a_text_that_is_too_long_is_refused_and_the_kept_one_stays(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (path, me) = (format!("/conversations/{}", mail.conversation), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    keep_reply(&app, &mail.conversation, "From before").await;
    end_sessions(&app).await;
    let text = "a".repeat(1_100_000);
    let fields = [("writer", me.as_str()), ("kind", "reply"), ("body", &text)];
    let reply = format!("{path}/reply");
    upload(&browser, &reply, &fields, &[]).await.is(413).shows("That is too long");
    browser.post(&reply, &fields).await.is(413).shows("That is too long");
    assert_eq!(app.count("sign_in_steps WHERE kind = 'form'").await, 0);
    let page = sign_in_again(&browser, &app.owner, &format!("{path}?write=reply")).await;
    page.is(200).shows("From before");
}

async fn a_reply_without_a_text_leaves_the_kept_one(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (path, me) = (format!("/conversations/{}", mail.conversation), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    keep_reply(&app, &mail.conversation, "From before").await;
    end_sessions(&app).await;
    let fields =
        [("writer", me.as_str()), ("kind", "reply"), ("to", "bo@y.example"), ("body", " ")];
    let posted = upload(&browser, &format!("{path}/reply"), &fields, &[]).await;
    let page = come_back(&browser, &app.owner, posted).await.is(200);
    page.shows("bo@y.example").hides("Your text is here.");
    browser.get(&format!("{path}?write=reply")).await.is(200).shows("From before");
}

async fn a_text_without_letters_is_shown_and_what_programs_read_is_not(app: TestApp) {
    let (mail, me) = (app.mail("ann@x.example", "Lamps", "Hi").await, user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    end_sessions(&app).await;
    let fields = [("writer", me.as_str()), ("body", "+49 30 901820")];
    let posted = browser.post("/contacts/ann@x.example/notes", &fields).await;
    let page = come_back(&browser, &app.owner, posted).await.is(200);
    page.shows("+49 30 901820").shows("What you typed");
    browser.remember_csrf().await;
    end_sessions(&app).await;
    let fields = [
        ("writer", me.as_str()),
        ("type", "a-type-from-the-list"),
        ("time", "2031-01-02T03:04"),
        ("nice-1", "is-ticked"),
        ("body", "12:30?"),
    ];
    let posted =
        browser.post(&format!("/conversations/{}/times", mail.conversation), &fields).await;
    let page = come_back(&browser, &app.owner, posted).await.is(200);
    page.shows("12:30?").hides("a-type-from-the-list").hides("2031-01-02").hides("is-ticked");
}

async fn a_text_that_could_not_be_put_back_is_there_at_the_next_try(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, me) = (mail.conversation.to_string(), user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    end_sessions(&app).await;
    let fields = [("writer", me.as_str()), ("kind", "note"), ("body", "Not lost.")];
    let posted = browser.post(&format!("/conversations/{id}/note"), &fields).await.is(303);
    let next = next_of(&browser.get(posted.answer.header("location")).await.is(303));
    app.exec("ALTER TABLE autosaves RENAME TO autosaves_away").await;
    sign_in_again(&browser, &app.owner, &next).await.is(500);
    app.exec("ALTER TABLE autosaves_away RENAME TO autosaves").await;
    let page = browser.get(&next).await.is(303);
    browser.get(page.answer.header("location")).await.is(200).shows("Not lost.");
    assert_eq!(app.count("sign_in_steps WHERE kind = 'form'").await, 0, "it is used up");
}

async fn what_was_typed_goes_with_its_writer_or_after_an_hour(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    end_sessions(&app).await;
    let note = format!("/conversations/{}/note", mail.conversation);
    let leave = async |writer: &Actor| {
        let writer = user(writer);
        let fields = [("writer", writer.as_str()), ("kind", "note"), ("body", "Of mine.")];
        browser.post(&note, &fields).await.is(303);
    };
    let count = async || app.count("sign_in_steps WHERE kind = 'form'").await;
    leave(&bo).await;
    app.pass(59 * MINUTE).await;
    assert_eq!(count().await, 1);
    app.pass(2 * MINUTE).await;
    assert_eq!(count().await, 0, "it has expired");
    leave(&bo).await;
    leave(&app.owner).await;
    let id = user(&bo);
    app.act(&app.owner, move |tx, cx| sign_in_reset::reset_sign_in(tx, cx, &id)).await;
    assert_eq!(count().await, 1, "the owner's is left");
    leave(&bo).await;
    let id = user(&bo);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    assert_eq!(count().await, 1, "the owner's is left");
    app.act(&app.owner, |tx, cx| deletion::delete_workspace(tx, cx, "Acme")).await;
    assert_eq!(count().await, 0);
}

/// Every address that takes forms only, from the routers themselves.
fn form_paths() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for file in [
        "web/src/lib.rs",
        "web/src/secure_pages/mod.rs",
        "web/src/booking/mod.rs",
        "web/src/upload/mod.rs",
        "settings_pages/src/lib.rs",
        "side_column/src/lib.rs",
        "agent_pages/src/lib.rs",
        "developer_site/src/lib.rs",
        "help/src/lib.rs",
    ] {
        let source = fs::read_to_string(crates.join(file)).unwrap();
        for route in source.split(".route(").skip(1) {
            let route = route.split(".route(").next().unwrap();
            let Some(path) = route.split('"').nth(1).filter(|path| path.starts_with('/')) else {
                continue;
            };
            let handlers = route.split_once(path).unwrap().1;
            let handlers = handlers.split(".merge(").next().unwrap();
            if handlers.contains("post(") && !handlers.contains("get(") {
                paths.push(path.to_owned());
            }
        }
    }
    paths
}

async fn the_address_of_every_form_leads_to_a_page(app: TestApp) {
    let mail = app.mail("ann@x.example", "Lamps", "Hi").await;
    let owner = app.signed_in(&app.owner).await;
    let paths = form_paths();
    assert!(paths.len() > 100, "{}", paths.len());
    for path in paths {
        let real = path
            .replace("/conversations/{id}", &format!("/conversations/{}", mail.conversation))
            .replace("{mailbox}", app.support.id.as_str())
            .replace("{address}", "ann@x.example");
        let visited: String = real.replace(['{', '}'], "");
        let page = owner.get(&visited).await.is(303);
        let location = page.answer.header("location").to_owned();
        let there = owner.get(&location).await;
        // A made-up id leads to a page that says that there is nothing.
        let fits = matches!(there.status, 200 | 303)
            || (visited.contains("id") || path.contains('{')) && there.status == 404;
        assert!(fits, "{path} leads to {location}: {}", there.status);
        if ["/u/", "/s/", "/b/"].iter().any(|guest| path.starts_with(guest)) {
            assert!(location.starts_with(&visited[..3]), "{path} leads to {location}");
        }
    }
    let nobody = app.browser();
    let request = Request::post(format!("/conversations/{}/status", mail.conversation))
        .header("content-type", "application/x-www-form-urlencoded")
        .header(
            "referer",
            format!("http://mail.acme.example/conversations/{}?view=open", mail.conversation),
        );
    let page = nobody.send(request, "csrf=&status=closed".into()).await;
    assert_eq!(next_of(&page.is(303)), format!("/conversations/{}?view=open", mail.conversation));
}

async fn a_script_learns_who_is_signed_in(app: TestApp) {
    app.browser().get("/session").await.is(401);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get("/session").await.is(200);
    page.shows(&format!("\"person\":\"{}\"", user(&app.owner))).shows("\"csrf\":\"");
    end_sessions(&app).await;
    owner.get("/session").await.is(401);
}
