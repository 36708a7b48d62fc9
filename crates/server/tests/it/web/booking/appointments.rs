//! Bookings in the app: offering times, appointments in their conversation, the calendar, the settings.

use serde_json::json;

use super::settings::bookable;
use crate::support::*;

on_both!(
    a_person_offers_times_and_sees_what_is_booked,
    what_is_wrong_with_an_offer_is_said_and_what_was_typed_stays,
    the_calendar_has_a_week_a_day_and_a_list,
    a_host_sets_holidays_stays_and_shares
);

const MONDAY: &str = "2026-11-23T09:00:00.000Z";

async fn a_person_offers_times_and_sees_what_is_booked(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app).await;
    let received = app.mail("ann@shop.example Ann", "A talk", "When can we talk?").await;
    let (id, browser) = (received.conversation.to_string(), app.signed_in(&app.owner).await);
    let path = format!("/conversations/{id}");
    browser.get(&path).await.is(200).shows("Offer times");
    let page = browser.get(&format!("{path}?write=times&first=2026-11-23")).await.is(200);
    page.shows("First talk, 30 minutes").shows(MONDAY);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [
        ("seen", seen.as_str()),
        ("to", "Ann <ann@shop.example>"),
        ("body", "Does one of these suit you?"),
        ("type", kind.as_str()),
        ("time", MONDAY),
        ("time", "2026-11-23T10:00:00.000Z"),
        ("keep", ""),
    ];
    browser.post(&format!("{path}/times"), &fields).await.goes_to(&path);
    let page = browser.get(&path).await.is(200);
    page.shows("Offers First talk, 30 minutes").shows("Monday 23 November 2026");
    browser.get("/approvals").await.is(200).shows("Offers First talk, 30 minutes");

    let fields =
        [("seen", "99"), ("to", "ann@shop.example"), ("body", "Or so?"), ("type", kind.as_str())];
    browser.post(&format!("{path}/times"), &fields).await.goes_to(&path);
    let letters = app.timeline(&key, &id, "message").await;
    let text = text_of(letters.last().unwrap(), "text");
    assert!(text.contains("Pick a time that suits you: "), "{text}");

    let asked = json!({
        "typeId": kind, "startsAt": MONDAY, "name": "Ann", "email": "ann@shop.example",
        "conversationId": id,
    });
    let booked = app.post(&key, "/bookings", asked).await.is(201).json();
    let page = browser.get(&path).await.is(200);
    page.shows(&format!("/calendar/{}#move-h", text_of(&booked, "id"))).shows("For Olive Owner: ");
}

async fn what_is_wrong_with_an_offer_is_said_and_what_was_typed_stays(app: TestApp) {
    let kind = bookable(&app).await;
    let received = app.mail("ann@shop.example Ann", "A talk", "When can we talk?").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}/times", received.conversation);
    let usual = [
        ("seen", "99"),
        ("to", "ann@shop.example"),
        ("body", "My words."),
        ("type", kind.as_str()),
    ];
    let six = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"]
        .map(|clock| format!("2026-11-23T{clock}:00.000Z"));
    let mut fields = usual.to_vec();
    fields.extend(six.iter().map(|time| ("time", time.as_str())));
    browser.post(&path, &fields).await.is(422).shows("Offer at most 5 times").shows("My words.");
    let mut fields = usual.to_vec();
    fields.push(("time", "2026-11-22T03:00:00.000Z"));
    browser.post(&path, &fields).await.is(422).shows("is not free any more").shows("My words.");
    let mut fields = usual.to_vec();
    fields.extend([("time", MONDAY), ("show", "2026-11-23")]);
    let page = browser.post(&path, &fields).await.is(422);
    page.shows("My words.").shows(&format!("value=\"{MONDAY}\" checked"));
}

async fn the_calendar_has_a_week_a_day_and_a_list(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app).await;
    let asked = |name: &str, start: &str| json!({ "typeId": kind, "startsAt": start, "name": name, "email": "ann@shop.example" });
    app.post(&key, "/bookings", asked("Ann Shopper", MONDAY)).await.is(201);
    let browser = app.signed_in(&app.owner).await;
    let week = browser.get("/calendar?day=2026-11-25").await.is(200);
    week.shows("Week of 23 November 2026").shows("Ann Shopper").shows("1 booked").shows("q5 x2");
    let day = browser.get("/calendar?view=day&day=2026-11-23").await.is(200);
    day.shows("Monday 23 November 2026").shows("Ann Shopper");
    let list = browser.get("/calendar?view=list&day=2026-11-23").await.is(200);
    list.shows("09:00 to 09:30").shows("Ann Shopper").shows("First talk");
    browser.get("/calendar?view=day&day=2026-11-24").await.is(200).shows("Nothing booked");
}

async fn a_host_sets_holidays_stays_and_shares(app: TestApp) {
    let kind = bookable(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let page = "/settings/bookings";
    let hours = [
        ("zone", "Europe/Berlin"),
        ("mon", "9-17"),
        ("tue", "09:00-12:00, 13:00-17:00"),
        ("holidays", "DE-BE"),
    ];
    browser.post("/settings/bookings/hours", &hours).await.goes_to(page);
    let shown = browser.get(page).await.is(200);
    shown.shows("25 December 2026 (Erster Weihnachtstag)");
    shown.shows("value=\"09:00-17:00\"").shows("value=\"09:00-12:00, 13:00-17:00\"");
    let stay = [("first", "2026-12-07"), ("last", "2026-12-11"), ("stayZone", "America/New_York")];
    browser.post("/settings/bookings/stays", &stay).await.goes_to(page);
    browser.get(page).await.is(200).shows("2026-12-07 to 2026-12-11").shows("America/New_York");
    browser.post("/settings/bookings/stays/2026-12-07", &[]).await.goes_to(page);
    browser.get(page).await.is(200).hides("2026-12-11");

    let person = user(&app.owner);
    let (weight, path) = (format!("weight-{person}"), format!("/settings/bookings/types/{kind}"));
    let fields = [
        ("name", "First talk"),
        ("slug", "first-talk"),
        ("minutes", "45"),
        ("step", "15"),
        ("hosts", person.as_str()),
        (weight.as_str(), "3"),
    ];
    browser.post(&path, &fields).await.goes_to(page);
    let shown = browser.get(&path).await.is(200);
    shown.shows("45").shows(&format!("name=\"{weight}\""));
}
