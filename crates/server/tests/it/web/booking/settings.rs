//! Settings of bookings: the types with what they would be offered at, why not, and hours in the reader's language.

use base::ids::UserId;
use bookings::types::BookingTypeInput;

use crate::support::*;
use crate::web::browser::Page;

on_both!(
    a_type_shows_what_it_would_be_offered_at,
    a_day_is_explained_with_what_takes_its_starts,
    what_is_wrong_with_a_type_or_hours_is_said_at_its_field,
    a_type_has_hours_until_which_guests_cancel,
    hours_are_typed_and_shown_in_the_language_of_the_reader
);

const PAGE: &str = "/settings/bookings";

/// A type of the owner, who works from nine to five in Berlin.
pub async fn bookable(app: &TestApp) -> String {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "First talk".into(),
            slug: "first-talk".into(),
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        Ok(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string())
    })
    .await
}

/// The fields of the type's form, as its page has them.
fn type_form<'a>(host: &'a UserId, others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("name", "First talk"),
        ("slug", "first-talk"),
        ("minutes", "30"),
        ("step", "30"),
        ("hosts", host.as_str()),
    ];
    fields.retain(|(name, _)| !others.iter().any(|(other, _)| other == name));
    fields.extend(others);
    fields
}

async fn a_type_shows_what_it_would_be_offered_at(app: TestApp) {
    let (kind, person) = (bookable(&app).await, user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    // From Sunday on, the weekdays of two weeks, each with 16 half hours.
    let list = browser.get(PAGE).await.is(200);
    list.shows("160 free, 0 booked").shows("Olive Owner").shows("/first-talk</code>");
    list.shows("Open</span>").hides("Nothing offered");
    let path = format!("/settings/bookings/types/{kind}");
    let page = browser.get(&path).await.is(200);
    page.shows("160 free, 0 booked")
        .shows("Monday 16 November")
        .shows("<li class=\"g-time\">08:00</li>");
    page.shows("Saturday 21 November").shows("No hours");

    let off = type_form(&person, &[("inactive", "")]);
    browser.post(&path, &off).await.goes_to(PAGE);
    browser.get(PAGE).await.is(200).shows("Off</span>").hides("160 free");
    browser.get(&path).await.is(200).shows("These times would be offered.");
    let soon = type_form(&person, &[("notice", "30"), ("noticeUnit", "days")]);
    browser.post(&path, &soon).await.goes_to(PAGE);
    let list = browser.get(PAGE).await.is(200);
    list.shows("Nothing free, 0 booked").shows("Nothing offered</span>").shows("Why?");
    let page = browser.get(&path).await.is(200);
    page.shows("<option value=\"days\" selected>").shows("0 of 16 starts are offered.");
    page.shows("too soon").shows("href=\"#notice\"");
    page.shows("The next free time of this type: Tuesday 15 December 2026, 09:00.");
}

async fn a_day_is_explained_with_what_takes_its_starts(app: TestApp) {
    let key = app.key("read send").await;
    let (kind, person) = (bookable(&app).await, user(&app.owner));
    let asked = serde_json::json!({
        "typeId": kind, "startsAt": "2026-11-23T09:00:00.000Z", "name": "Ann",
        "email": "ann@shop.example",
    });
    app.post(&key, "/bookings", asked).await.is(201);
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/bookings/types/{kind}");
    let day = |date: &str| format!("{path}?host={person}&day={date}");
    let page = browser.get(&day("2026-11-23")).await.is(200);
    page.shows("15 of 16 starts are offered.").shows("starts in the hours of Olive Owner");
    page.shows("<b>\u{2212}1</b>taken by bookings").shows("10:00 to 10:30").shows("See the day");
    page.shows("Times in Europe/Berlin.").shows("<svg class=\"g-dayline\"");

    let date = [("date", "2026-11-25"), ("hours", ""), ("note", "")];
    browser.post("/settings/bookings/dates", &date).await.goes_to(PAGE);
    browser.get(&day("2026-11-25")).await.is(200).shows("No hours on this day.");
    let hours =
        [("zone", "Europe/Berlin"), ("thu", "9-10"), ("fri", "9-10"), ("holidays", "DE-BE")];
    browser.post("/settings/bookings/hours", &hours).await.goes_to(PAGE);
    browser.get(&day("2026-12-25")).await.is(200).shows("A public holiday.");
    let near = type_form(&person, &[("horizonDays", "5")]);
    browser.post(&path, &near).await.goes_to(PAGE);
    let page = browser.get(&day("2026-11-26")).await.is(200);
    page.shows("too far away").shows("it is booked at most 5 days ahead").shows("#horizonDays");

    // What cannot be explained leads to a day that can; a member sees it and changes nothing.
    for query in ["day=2020-01-01", "day=9999-12-31", "day=never", "host=usr_nobody"] {
        browser.get(&format!("{path}?{query}")).await.is(200).shows("Olive Owner, ");
    }
    let member = app.person("Mia").await;
    let member = app.signed_in(&member).await;
    let page = member.get(&day("2026-11-26")).await.is(200);
    page.shows("too far away").hides("#horizonDays").hides("Save the type");
    member.post(&path, &near).await.is(403);
}

async fn what_is_wrong_with_a_type_or_hours_is_said_at_its_field(app: TestApp) {
    let (kind, person) = (bookable(&app).await, user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/bookings/types/{kind}");
    let wrong = [
        ("name", "Another name"),
        ("minutes", "half an hour"),
        ("notice", "90"),
        ("noticeUnit", "days"),
        ("cancelUntil", "721"),
    ];
    let page = browser.post(&path, &type_form(&person, &wrong)).await.is(422);
    page.shows("must be a whole number from 0 to 720").shows("id=\"cancelUntil-e\"");
    page.shows("value=\"721\"");
    page.shows("must be a whole number from 5 to 720").shows("id=\"minutes-e\"");
    page.shows("must be a whole number, and at most 30 days").shows("value=\"half an hour\"");
    page.shows("value=\"Another name\"").shows("<option value=\"days\" selected>");
    browser.get(&path).await.is(200).hides("Another name");

    let new = type_form(&person, &[("name", "Second talk"), ("slug", "Not a slug")]);
    let page = browser.post("/settings/bookings/types", &new).await.is(422);
    page.shows("lower-case letters, digits and -")
        .shows("id=\"slug-e\"")
        .shows("value=\"Second talk\"");
    let nobody = [("name", "Second talk"), ("slug", "second-talk")];
    let page = browser.post("/settings/bookings/types", &nobody).await.is(422);
    page.shows("must be 1 to 50 people").shows("id=\"hosts-e\"");
    browser.get(PAGE).await.is(200).hides("Second talk");

    let hours =
        [("zone", "Nowhere"), ("mon", "9-12"), ("tue", "in the morning"), ("wed", "9-12, 11-13")];
    let page = browser.post("/settings/bookings/hours", &hours).await.is(422);
    page.shows("Hours are written as 09:00-12:00,13:00-17:00.").shows("id=\"tue-e\"");
    page.shows("The hours of a day overlap.").shows("value=\"in the morning\"");
    let hours = [("zone", "Nowhere"), ("mon", "9-12")];
    let page = browser.post("/settings/bookings/hours", &hours).await.is(422);
    page.shows("must be a time zone such as Europe/Berlin").shows("id=\"zone-e\"");
    let kept = browser.get(PAGE).await.is(200);
    kept.shows("value=\"09:00-17:00\"").hides("value=\"9-12\"").shows("value=\"Europe/Berlin\"");
}

async fn a_type_has_hours_until_which_guests_cancel(app: TestApp) {
    let (kind, person) = (bookable(&app).await, user(&app.owner));
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/bookings/types/{kind}");
    let field = |page: &Page| {
        let (_, rest) = page.text.split_once("id=\"cancelUntil\"").expect("a field");
        rest.split_once("value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    };
    assert_eq!(field(&browser.get(&path).await.is(200)), "0");
    browser.get(PAGE).await.is(200).shows("hours before").shows("Cancel until");
    let day = type_form(&person, &[("cancelUntil", "24")]);
    browser.post(&path, &day).await.goes_to(PAGE);
    assert_eq!(field(&browser.get(&path).await.is(200)), "24");
    assert_eq!(app.count("booking_types WHERE cancel_hours = 24").await, 1);
    let new = [
        ("name", "Second talk"),
        ("slug", "second-talk"),
        ("hosts", person.as_str()),
        ("cancelUntil", "48"),
    ];
    browser.post("/settings/bookings/types", &new).await.goes_to(PAGE);
    assert_eq!(app.count("booking_types WHERE cancel_hours = 48").await, 1);
}

async fn hours_are_typed_and_shown_in_the_language_of_the_reader(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let speak = async |language: &str| {
        let here = "/settings/you";
        browser.post("/settings/you/language", &[("language", language)]).await.goes_to(here);
    };
    speak("de").await;
    let path = format!("/settings/hours/{}", app.support.id);
    browser.get(&path).await.is(200).shows("placeholder=\"Mo-Do 08:00-17:00; Fr 08:00-15:00\"");
    let hours = |weekly| [("weekly", weekly), ("zone", "Europe/Berlin")];
    browser.post(&path, &hours("Mo-Do 8-17; Freitag 8-15")).await.goes_to("/settings/rules");
    let german = "Mo-Do 08:00-17:00; Fr 08:00-15:00";
    browser.get("/settings/rules").await.is(200).shows(&format!("{german}, Europe/Berlin"));
    browser.get(&path).await.is(200).shows(&format!("value=\"{german}\""));
    browser.get(PAGE).await.is(200).shows("<label for=\"mon\">Montag</label>");
    let refused = browser.post(&path, &hours("Feiertag 8-17")).await.is(422);
    refused.shows("value=\"Feiertag 8-17\"");

    speak("en").await;
    let english = "mon-thu 08:00-17:00; fri 08:00-15:00";
    browser.get("/settings/rules").await.is(200).shows(&format!("{english}, Europe/Berlin"));
    browser.post(&path, &hours("Mo-Mi 9-12; thu 9-12")).await.goes_to("/settings/rules");
    browser.get(&path).await.is(200).shows("value=\"mon-thu 09:00-12:00\"");
    browser.get(PAGE).await.is(200).shows("<label for=\"mon\">Monday</label>");
}
