//! The code that proves the address of a contact form's post: what asks for it, and what it opens.

use actions::inboxes::contact_forms::add_contact_form;
use base::limits::{DAY_MS, FORM_CODES_PER_ADDRESS_DAY, FORM_STRANGERS, MINUTE_MS};
use contact_forms::{ContactFormInput, FormProof};
use mail::{Envelope, Mail};
use serde_json::Value;

use crate::support::*;
use crate::web::contact_forms::{PATH, contact_form, input, newest, open, send};

on_both!(
    a_code_proves_the_address_and_releases_the_message,
    a_code_releases_nothing_that_came_by_another_way,
    what_is_corrected_on_the_way_back_comes_in_too,
    an_address_gets_few_codes_a_day_however_many_forms_name_it,
    a_thousand_posts_of_programs_hardly_come_in_unmarked_and_honest_ones_are_kept
);

/// The code in the newest mail to an address.
fn code_to(app: &TestApp, email: &str) -> String {
    let sent = app.outside.relay.attempts();
    let mut mails = sent.iter().rev().map(|sent| mail::parse(&sent.bytes, Envelope::default()));
    let mail = mails.find(|mail| mail.to.iter().any(|to| to.email == email)).expect("a mail");
    assert!(!mail.subject.chars().any(|c| c.is_ascii_digit()), "{}", mail.subject);
    let (_, code) = mail.original.split_once("Your code: ").expect("a code");
    code.chars().take(9).collect()
}

async fn a_code_proves_the_address_and_releases_the_message(app: TestApp) {
    let key = app.key("read").await;
    let form = ContactFormInput { proof: FormProof::Always, ..input(&app.support.id) };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    let page = send(&browser, PATH, &made, &[]).await.is(200);
    page.shows("Is this address yours?").shows("ann@shop.example");
    assert!(page.answer.headers.get("set-cookie").is_none());
    assert_eq!(app.count("conversations WHERE held = TRUE").await, 1);
    // Another time the same page mails no other code.
    send(&browser, PATH, &made, &[]).await.is(200);
    app.work().await;
    assert_eq!(app.count("one_time_codes").await, 1);
    let code = code_to(&app, "ann@shop.example");
    let enter = async |made: &str, code: &str| {
        let fields = [("made", made), ("code", code)];
        browser.post_bare(&format!("{PATH}/code"), &fields).await
    };
    let other = open(&app, &browser, PATH).await;
    enter(&other, &code).await.goes_to(PATH);
    enter(&made, "0000 0000").await.is(401).shows("That is not the code");
    let before = app.events().await.len();
    enter(&made, &code).await.goes_to(&format!("{PATH}?sent"));
    assert_eq!(app.count("conversations WHERE held = TRUE").await, 0);
    let told = app.event_types_since(before).await;
    assert!(told.iter().any(|name| name == "turn.changed"), "{told:?}");
    let read = newest(&app, &key).await;
    assert_eq!(read["risk"], Value::Null);
    enter(&made, &code).await.goes_to(&format!("{PATH}?sent"));
    let again = [("made", made.as_str()), ("again", "1")];
    browser.post_bare(&format!("{PATH}/code"), &again).await.goes_to(&format!("{PATH}?sent"));
}

async fn a_code_releases_nothing_that_came_by_another_way(app: TestApp) {
    let (proof, fields) = (FormProof::Always, Vec::new());
    let form = ContactFormInput { proof, fields, ..input(&app.support.id) };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    send(&browser, PATH, &made, &[]).await.is(200);
    app.work().await;
    // Anybody can write under her address, and the title of the form is its subject.
    let words = "Our bank has changed: pay the open bills to the new account.";
    let mail = letter("ann@shop.example Ann", "Write to us", words);
    let scam = app.deliver(&app.support, Mail { warning: held_warning(), ..mail }).await;
    let place = format!("messages WHERE conversation = '{}'", scam.conversation);
    assert_eq!(app.count(&place).await, 2);
    let (before, code) = (app.events().await.len(), code_to(&app, "ann@shop.example"));
    let fields = [("made", made.as_str()), ("code", code.as_str())];
    browser.post_bare(&format!("{PATH}/code"), &fields).await.goes_to(&format!("{PATH}?sent"));
    assert_eq!(app.count("conversations WHERE held = TRUE").await, 1);
    assert_eq!(app.count("form_posts WHERE proof = 'proven'").await, 1);
    let told = app.event_types_since(before).await;
    assert!(!told.iter().any(|name| name == "client.replied"), "{told:?}");
}

async fn what_is_corrected_on_the_way_back_comes_in_too(app: TestApp) {
    let form = ContactFormInput { proof: FormProof::Always, ..input(&app.support.id) };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let made = open(&app, &browser, PATH).await;
    let wrong = [("email", "ann@shpo.example")];
    send(&browser, PATH, &made, &wrong).await.is(200).shows("ann@shpo.example");
    // The same page again, from the back button, with the right address, and a second click.
    let page = send(&browser, PATH, &made, &[]).await.is(200);
    page.shows("ann@shop.example").hides("ann@shpo.example");
    send(&browser, PATH, &made, &[]).await.is(200).shows("ann@shop.example");
    assert_eq!(app.count("form_posts").await, 2);
    app.work().await;
    let mails = app.outside.relay.attempts();
    let to = |email: &str| mails.iter().filter(|mail| mail.recipients == [email]).count();
    assert_eq!((to("ann@shpo.example"), to("ann@shop.example")), (1, 1));
    // The code belongs to the page that follows, and what it proves is the second message.
    let next = page.between("name=\"made\" value=\"", "\"").to_owned();
    let code = code_to(&app, "ann@shop.example");
    let enter = async |made: &str| {
        let fields = [("made", made), ("code", code.as_str())];
        browser.post_bare(&format!("{PATH}/code"), &fields).await
    };
    enter(&made).await.is(401);
    enter(&next).await.goes_to(&format!("{PATH}?sent"));
    let proven = "form_posts p JOIN messages m ON m.ws = p.ws AND m.id = p.message
                  WHERE p.proof = 'proven' AND m.from_email = 'ann@shop.example'";
    assert_eq!(app.count(proven).await, 1);
    assert_eq!(app.count("conversations WHERE held = TRUE").await, 1);
}

async fn an_address_gets_few_codes_a_day_however_many_forms_name_it(app: TestApp) {
    let form = ContactFormInput { proof: FormProof::Always, ..input(&app.support.id) };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &form)).await;
    let browser = app.browser();
    let send_one = async || {
        let made = open(&app, &browser, PATH).await;
        let page = send(&browser, PATH, &made, &[]).await.is(200);
        app.work().await;
        let all = app.outside.relay.attempts();
        let theirs = all.iter().filter(|mail| mail.recipients == ["ann@shop.example"]);
        (page, theirs.count() as i64)
    };
    for number in 1..=FORM_CODES_PER_ADDRESS_DAY {
        assert_eq!(send_one().await.1, number);
        // The limits of a quarter of an hour are over.
        app.advance(16 * MINUTE_MS);
    }
    let (page, mails) = send_one().await;
    assert_eq!(mails, FORM_CODES_PER_ADDRESS_DAY);
    page.shows("Is this address yours?").shows("You can ask for another one after");
    // What was written is with the team, as before.
    assert_eq!(app.count("form_posts").await, FORM_CODES_PER_ADDRESS_DAY + 1);
    app.advance(DAY_MS);
    assert_eq!(send_one().await.1, FORM_CODES_PER_ADDRESS_DAY + 1);
}

/// Posts of each kind of program.
const POSTS: usize = 334;

async fn a_thousand_posts_of_programs_hardly_come_in_unmarked_and_honest_ones_are_kept(
    app: TestApp,
) {
    contact_form(&app).await;
    let browser = app.browser();
    let (mut sent, subjects) = (0, ["lamps", "your site", "a partnership", "prices", "a visit"]);
    for number in 0..POSTS {
        // A naive one knows the fields of the page and fills them all in, at once.
        let page = browser.get(PATH).await.is(200);
        let made = page.between("name=\"made\" value=\"", "\"").to_owned();
        let words = format!("Buy {} at https://a{number}.example", subjects[number % 5]);
        let email = format!("n{number}@bulk{number}.example");
        let fields =
            [("message", words.as_str()), ("email", &email), ("site", "https://a.example")];
        sent += usize::from(send(&browser, PATH, &made, &fields).await.status == 303);
        // A browser without a head leaves the trap alone and waits as long as people do.
        let made = open(&app, &browser, PATH).await;
        app.advance(10_000);
        let email = format!("h{number}@mail.example");
        let words = format!("Hello, I would like to talk about {}.", subjects[number % 5]);
        let fields = [("message", words.as_str()), ("email", &email)];
        send(&browser, PATH, &made, &fields).await;
        // A slow one comes every quarter of an hour, with other words and another name each time.
        app.advance(16 * MINUTE_MS);
        let made = open(&app, &browser, PATH).await;
        let (name, email) = (format!("Eve {number}"), format!("e{number}@other{number}.example"));
        let words =
            format!("{} number {number} for {}?", subjects[number % 3], subjects[number % 5]);
        let fields = [("name", name.as_str()), ("message", &words), ("email", &email)];
        send(&browser, PATH, &made, &fields).await;
    }
    assert!(sent <= POSTS);
    let unmarked = app.count("conversations WHERE held = FALSE AND risk IS NULL").await;
    assert!(unmarked <= FORM_STRANGERS, "{unmarked} came in without a mark");
    // Somebody honest, by keyboard and without a script, is held and can show that the address is theirs.
    let (all, held) = ("form_posts", "conversations WHERE held = TRUE");
    let before = (app.count(all).await, app.count(held).await);
    let made = open(&app, &browser, PATH).await;
    send(&browser, PATH, &made, &[]).await.is(200).shows("Is this address yours?");
    assert_eq!((app.count(all).await, app.count(held).await), (before.0 + 1, before.1 + 1));
    app.work().await;
    let code = code_to(&app, "ann@shop.example");
    let fields = [("made", made.as_str()), ("code", code.as_str())];
    browser.post_bare(&format!("{PATH}/code"), &fields).await.goes_to(&format!("{PATH}?sent"));
    assert_eq!(app.count(held).await, before.1);
}
