//! Until when a guest moves or cancels: what their pages offer before that moment, and from it on.

use bookings::booking::{BookingGuest, NewBooking, book};
use bookings::manage_token;
use bookings::types::{BookingType, BookingTypeInput};
use serde_json::json;

use super::pages::csrf_of;
use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    the_page_of_a_guest_says_until_when_and_from_then_on_that_it_is_too_late,
    a_form_that_was_opened_before_and_comes_too_late_changes_nothing,
    a_guest_cancels_at_the_last_moment,
    a_guest_who_moves_to_a_near_time_is_told_that_it_cannot_be_changed_again,
    the_link_of_a_reply_says_until_when_the_appointment_can_be_changed
);

/// Monday 23 November 2026, 10:00 in Berlin, as pages write it.
const TEN: i64 = 1_795_424_400;
const HALF_HOUR: i64 = 30 * 60;
/// A day before, in Lisbon.
const UNTIL: &str = "Sunday 22 November, 09:00";
const LATE: &str = "You could move or cancel it with this link until Sunday 22 November, 09:00.";

/// A type of the owner whose appointments are moved and cancelled until a day before.
async fn bookable(app: &TestApp) -> BookingType {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "A talk".into(),
            slug: "talk".into(),
            cancel_hours: 24,
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input)
    })
    .await
}

/// An appointment at ten of a guest in Lisbon; the address of their page.
async fn booked(app: &TestApp) -> String {
    let kind = bookable(app).await;
    app.act(&app.owner, move |tx, cx| {
        let guest = BookingGuest {
            name: "Ann Shopper",
            email: "ann@shop.example",
            zone: Some("Europe/Lisbon"),
        };
        let new = NewBooking { starts_at: TEN * 1_000, guest, answers: &[], conversation: None };
        let booking = book(tx, cx, &kind, &new)?;
        Ok(format!("/b/m/{}", manage_token(tx, cx, &booking.id)?.as_str()))
    })
    .await
}

/// Moves the clock to so long before the start.
fn wait_until_before(app: &TestApp, before: i64) {
    app.advance(TEN * 1_000 - before - app.now());
}

/// The token of the guest's forms, from the page that asks before it cancels.
async fn csrf(browser: &Browser<'_>, manage: &str) -> String {
    csrf_of(&browser.get(&format!("{manage}/cancel")).await.is(200))
}

async fn the_page_of_a_guest_says_until_when_and_from_then_on_that_it_is_too_late(app: TestApp) {
    let (manage, browser) = (booked(&app).await, app.browser());
    let (moves, cancels) = (format!("{manage}/move"), format!("{manage}/cancel"));
    let with_time = format!("{moves}?at={}", TEN + HALF_HOUR);
    for before in [3 * DAY, DAY + 1] {
        wait_until_before(&app, before);
        let page = browser.get(&manage).await.is(200);
        page.shows(&format!(
            "You can move or cancel until {UNTIL}, with the link in the invitation."
        ));
        page.shows(&format!("href=\"{moves}\"")).shows(&format!("href=\"{cancels}\""));
        let page = browser.get(&moves).await.is(200);
        page.shows("You can move or cancel until 24 hours before.");
        browser.get(&with_time).await.is(200).shows("Move the appointment to this time?");
        browser.get(&cancels).await.is(200).shows("Cancel this appointment?");
    }
    for before in [DAY, HOUR] {
        wait_until_before(&app, before);
        let page = browser.get(&manage).await.is(200);
        page.shows(LATE).shows("answer the mail with the invitation").shows("appointment.ics");
        page.hides(&format!("href=\"{moves}\"")).hides(&format!("href=\"{cancels}\""));
        page.hides("You can move or cancel");
        for path in [&moves, &with_time, &cancels] {
            browser.get(path).await.goes_to(&manage);
        }
    }
    wait_until_before(&app, 0);
    let begun = browser.get(&manage).await.is(200);
    begun.hides(LATE).hides("You can move or cancel");
    browser.get(&moves).await.goes_to(&manage);
}

async fn a_form_that_was_opened_before_and_comes_too_late_changes_nothing(app: TestApp) {
    let (manage, browser) = (booked(&app).await, app.browser());
    let csrf = csrf(&browser, &manage).await;
    let at = (TEN + HALF_HOUR).to_string();
    let fields = [("csrf", csrf.as_str()), ("at", at.as_str()), ("reason", "I am ill")];
    for before in [DAY, DAY - 1, MINUTE] {
        wait_until_before(&app, before);
        for form in ["move", "cancel"] {
            let page = browser.post_bare(&format!("{manage}/{form}"), &fields).await.is(409);
            page.shows("Nothing was changed").shows(LATE).shows(&format!("href=\"{manage}\""));
            page.hides("Choose another time").hides("<form");
        }
    }
    assert_eq!(app.count("bookings").await, 1);
    assert_eq!(app.count("bookings WHERE status = 'booked' AND reason = ''").await, 1);
    browser.get(&manage).await.is(200).shows(LATE);
}

async fn a_guest_cancels_at_the_last_moment(app: TestApp) {
    let (manage, browser) = (booked(&app).await, app.browser());
    let csrf = csrf(&browser, &manage).await;
    wait_until_before(&app, DAY + 1);
    let fields = [("csrf", csrf.as_str()), ("reason", "I am ill")];
    let cancels = format!("{manage}/cancel");
    browser.post_bare(&cancels, &fields).await.goes_to(&manage);
    browser.get(&manage).await.is(200).shows("This appointment is cancelled");
    // What is cancelled stays so, and says so also when the form comes once more.
    wait_until_before(&app, DAY);
    browser.post_bare(&cancels, &fields).await.goes_to(&manage);
    browser.get(&manage).await.is(200).shows("This appointment is cancelled").hides(LATE);
}

async fn a_guest_who_moves_to_a_near_time_is_told_that_it_cannot_be_changed_again(app: TestApp) {
    let (manage, browser) = (booked(&app).await, app.browser());
    let csrf = csrf(&browser, &manage).await;
    // Nine is a day from now, ten an hour more.
    wait_until_before(&app, DAY + HOUR);
    let moves = format!("{manage}/move");
    let warning = "At this time it begins too soon to be moved or cancelled again with your link.";
    let later = browser.get(&format!("{moves}?at={}", TEN + HALF_HOUR)).await.is(200);
    later.shows("Move the appointment to this time?").hides(warning);
    let nine = (TEN - 2 * HALF_HOUR).to_string();
    let near = browser.get(&format!("{moves}?at={nine}")).await.is(200);
    near.shows("Move the appointment to this time?").shows(warning);
    let fields = [("csrf", csrf.as_str()), ("at", nine.as_str())];
    let moved = browser.post_bare(&moves, &fields).await.is(303);
    let moved = browser.get(moved.answer.header("location")).await.is(200);
    moved.shows("It is moved, Ann.").hides("You could move");
    moved.shows("It begins too soon to be moved or cancelled with this link.");
}

async fn the_link_of_a_reply_says_until_when_the_appointment_can_be_changed(app: TestApp) {
    let key = app.key("read draft send").await;
    let kind = bookable(&app).await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", "Can we talk?").await;
    let reply = json!({
        "body": "Gladly.", "send": true, "booking": { "typeId": kind.id.to_string() },
    });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    let letter = app.outside.relay.attempts().remove(0);
    let text = String::from_utf8_lossy(&letter.bytes).replace("=\r\n", "");
    let token: String = text.split_once("/b/o/").unwrap().1.chars().take(40).collect();
    let (link, browser) = (format!("/b/o/{token}"), app.browser());
    let at = TEN.to_string();
    let csrf = csrf_of(&browser.get(&format!("{link}?at={at}")).await.is(200));
    let fields = [("csrf", csrf.as_str()), ("at", at.as_str())];
    browser.post_bare(&link, &fields).await.is(303);
    // On the clock of the host: the guest has named no zone.
    let page = browser.get(&link).await.is(200);
    page.shows("moves or cancels the appointment until Sunday 22 November, 10:00.");
    wait_until_before(&app, DAY);
    let page = browser.get(&link).await.is(200);
    page.shows("It is too late to move or cancel with the link in it").hides("until Sunday");
}
