//! The mails with the codes of customer pages: their language, and the subject that the page names.

use bookings::types::BookingTypeInput;
use mail::{Envelope, ParsedMail};

use super::pages::csrf_of;
use crate::support::*;

on_both!(
    the_code_of_a_booking_comes_in_the_language_of_the_page,
    a_protected_page_names_the_subject_of_the_mail_in_whatever_language_it_is_read
);

/// Monday 23 November 2026, 10:00 in Berlin, in seconds.
const TEN: i64 = 1_795_424_400;

/// The newest mail that left for an address.
fn newest(app: &TestApp, email: &str) -> ParsedMail {
    let sent = app.outside.relay.attempts();
    let mut mails = sent.iter().rev().map(|sent| mail::parse(&sent.bytes, Envelope::default()));
    mails.find(|mail| mail.to.iter().any(|to| to.email == email)).expect("a mail")
}

async fn the_code_of_a_booking_comes_in_the_language_of_the_page(app: TestApp) {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "A talk".into(),
            slug: "talk".into(),
            minutes: 30,
            step: Some(30),
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input).map(drop)
    })
    .await;
    for (language, at, email, subject, lead, held) in [
        (
            "de",
            TEN,
            "ann@shop.example",
            "Ihr Code für die Terminbuchung bei Acme",
            "Der Code ist ",
            "15 Minuten lang reserviert",
        ),
        (
            "en",
            TEN + 3_600,
            "bo@shop.example",
            "Your code for booking a time with Acme",
            "The code is ",
            "held for 15 minutes",
        ),
    ] {
        let browser = app.browser();
        browser.set_cookie("mailroom_language", language);
        let page = browser.get(&format!("/b/acme/talk?at={at}")).await.is(200);
        let (csrf, at) = (csrf_of(&page), at.to_string());
        let fields =
            [("csrf", csrf.as_str()), ("at", at.as_str()), ("name", "Ann"), ("email", email)];
        let page = browser.post_bare("/b/acme/talk", &fields).await.is(303);
        let path = page.answer.header("location").to_owned();
        let (place, _) = path.split_once('?').unwrap();
        for _ in 0..2 {
            app.work().await;
            let mail = newest(&app, email);
            assert_eq!(mail.subject, subject);
            assert!(mail.original.contains(held), "{}", mail.original);
            browser.get(&path).await.is(200).shows(subject);
            // Another one is in the same language.
            let again = [("csrf", csrf.as_str())];
            browser.post_bare(&format!("{place}/again"), &again).await.is(303);
        }
        app.work().await;
        let mail = newest(&app, email);
        let (_, code) = mail.original.split_once(lead).expect("a code");
        let code: String = code.chars().take(9).collect();
        let entered = [("csrf", csrf.as_str()), ("code", code.as_str())];
        browser.post_bare(&format!("{place}/code"), &entered).await.goes_to(place);
    }
}

async fn a_protected_page_names_the_subject_of_the_mail_in_whatever_language_it_is_read(
    app: TestApp,
) {
    let ann = app.protected("Hidden words").await;
    for (language, subject) in [("de", "Ihr Code für Acme"), ("en", "Your code for Acme")] {
        app.exec(&format!("UPDATE conversations SET language = '{language}'")).await;
        let browser = app.browser();
        ann.press(&browser, "code", &[]).await.goes_to(&ann.path);
        app.work().await;
        assert_eq!(newest(&app, "ann@shop.example").subject, subject);
        browser.get(&ann.path).await.is(200).shows(&format!("The subject is “{subject}”"));
        browser.set_cookie("mailroom_language", "de");
        browser.get(&ann.path).await.is(200).shows(&format!("Der Betreff ist „{subject}“"));
    }
}
