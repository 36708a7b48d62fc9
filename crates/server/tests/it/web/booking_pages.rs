//! The pages on which customers book: what happens when many want one time, and what they typed.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use inbox::actions;
use inbox::model::bookings::types::{BookingQuestion, BookingTypeInput};
use serde_json::json;
use server::http::Peer;

use crate::support::*;

on_both!(
    of_200_at_once_one_gets_the_time_and_the_others_keep_what_they_typed,
    what_is_wrong_is_said_and_kept_and_another_zone_is_chosen_without_scripts,
    a_program_that_fills_every_field_holds_nothing
);

const TRIES: usize = 200;
/// Monday 23 November 2026, 10:00 in Berlin, as pages and as the API write it.
const TEN: i64 = 1_795_424_400;
const TEN_ISO: &str = "2026-11-23T09:00:00.000Z";
const HALF_HOUR: i64 = 30 * 60;
const COOKIE: &str = "__Host-mailroom_guest";

/// Two types of the owner: half an hour, and an hour.
async fn bookable(app: &TestApp) -> (String, String) {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let mut ids = Vec::new();
        for (slug, minutes) in [("short", 30), ("long", 60)] {
            let input = BookingTypeInput {
                name: format!("A {slug} talk"),
                slug: slug.into(),
                minutes,
                step: Some(30),
                questions: vec![BookingQuestion { text: "About what?".into(), required: true }],
                hosts: vec![person.clone()],
                ..BookingTypeInput::default()
            };
            ids.push(actions::add_booking_type(tx, cx, &input)?.id.to_string());
        }
        Ok((ids.remove(0), ids.remove(0)))
    })
    .await
}

/// A form of a guest whose network is of their own.
fn form(path: &str, cookie: &str, fields: &[(&str, &str)], number: usize) -> Request<Body> {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let mut request = Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", format!("{COOKIE}={cookie}"))
        .header("host", "mail.acme.example")
        .body(Body::from(body))
        .unwrap();
    let network = Ipv4Addr::new(198, 51, (number / 250) as u8, (number % 250) as u8);
    let peer = Peer::new(network.into(), Arc::default());
    request.extensions_mut().insert(peer);
    request
}

async fn of_200_at_once_one_gets_the_time_and_the_others_keep_what_they_typed(app: TestApp) {
    let key = app.key("read send").await;
    let (short, _) = bookable(&app).await;
    let browser = app.browser();
    let page = browser.get(&format!("/b/acme/short?at={TEN}")).await.is(200);
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let cookie = browser.cookie(COOKIE).unwrap();
    let nodes = [app.router(), app.another_node().unwrap_or_else(|| app.router())];
    let mut tries = Vec::new();
    for number in 0..TRIES {
        let (name, email) = (format!("Guest {number}"), format!("guest{number}@shop.example"));
        // Half an hour at ten on the page and by the API, and an hour from half past nine.
        let asked = match number % 3 {
            0 => {
                let body = json!({
                    "typeId": short, "startsAt": TEN_ISO, "name": name, "email": email,
                });
                request("POST", "/bookings", Some(&key.key), Body::from(body.to_string()))
            }
            which => {
                let (slug, at) =
                    if which == 1 { ("short", TEN) } else { ("long", TEN - HALF_HOUR) };
                let (at, about) = (at.to_string(), format!("The lamp {number}"));
                let fields = [
                    ("csrf", csrf.as_str()),
                    ("at", at.as_str()),
                    ("zone", "Asia/Kathmandu"),
                    ("name", name.as_str()),
                    ("email", email.as_str()),
                    ("q0", about.as_str()),
                ];
                form(&format!("/b/acme/{slug}"), &cookie, &fields, number)
            }
        };
        let node = nodes[number % 2].clone();
        tries.push(tokio::spawn(async move { TestApp::send_to(&node, asked).await }));
    }
    let mut won = 0;
    for (number, one) in tries.into_iter().enumerate() {
        let answer = one.await.unwrap();
        let text = String::from_utf8_lossy(&answer.bytes);
        match answer.status {
            201 | 303 => won += 1,
            409 if number % 3 == 0 => {
                assert!(text.contains("is not free. The next free times are"), "{text}");
            }
            409 => {
                assert!(text.contains("Somebody else booked"), "{text}");
                for kept in [
                    format!("value=\"Guest {number}\""),
                    format!("value=\"guest{number}@shop.example\""),
                    format!("The lamp {number}</textarea>"),
                    "Times in Asia/Kathmandu".to_owned(),
                ] {
                    assert!(text.contains(&kept), "no {kept} in {text}");
                }
                assert!(text.contains("type=\"radio\" name=\"at\""), "{text}");
            }
            status => panic!("{status}: {text}"),
        }
    }
    assert_eq!(won, 1);
    let overlapping = "host_bookings a JOIN host_bookings b
        ON a.ws = b.ws AND a.person = b.person AND a.booking < b.booking
        AND a.pad_from < b.pad_to AND b.pad_from < a.pad_to";
    assert_eq!(app.count(overlapping).await, 0);
    assert_eq!((app.count("bookings").await, app.count("host_bookings").await), (1, 1));
}

async fn what_is_wrong_is_said_and_kept_and_another_zone_is_chosen_without_scripts(app: TestApp) {
    bookable(&app).await;
    let browser = app.browser();
    let times = browser.get("/b/acme/short?from=2026-11-23").await.is(200);
    times.shows("data-zone-unknown").shows(&format!("?at={TEN}&amp;zone=Europe/Berlin"));
    times.shows(">10:00<").shows("Monday");
    let times = browser.get("/b/acme/short?from=2026-11-23&zone=Asia/Kathmandu").await.is(200);
    times.hides("data-zone-unknown").shows(&format!("?at={TEN}&amp;zone=Asia/Kathmandu"));
    times.shows(">14:45<");
    let path = format!("/b/acme/short?at={TEN}&zone=Asia/Kathmandu");
    let page = browser.get(&path).await.is(200);
    page.shows("your time, Kathmandu").shows("10:00 to 10:30 in Berlin, where they are");
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let at = TEN.to_string();
    let fields = [
        ("csrf", csrf.as_str()),
        ("at", at.as_str()),
        ("zone", "Asia/Kathmandu"),
        ("name", "Ann <Shopper>"),
        ("email", "no address"),
        ("q0", ""),
    ];
    let page = browser.post_bare("/b/acme/short", &fields).await.is(422);
    page.shows("That is not an email address.").shows("Please answer this.");
    page.shows("value=\"Ann &#60;Shopper&#62;\"").shows("value=\"no address\"");
    page.shows("your time, Kathmandu");
    assert_eq!(app.count("bookings").await, 0);
    let foreign = [("at", at.as_str()), ("name", "Ann"), ("email", "ann@shop.example")];
    browser.post_bare("/b/acme/short", &foreign).await.is(403);
}

async fn a_program_that_fills_every_field_holds_nothing(app: TestApp) {
    bookable(&app).await;
    let browser = app.browser();
    let page = browser.get(&format!("/b/acme/short?at={TEN}")).await.is(200);
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let at = TEN.to_string();
    let fields = [
        ("csrf", csrf.as_str()),
        ("at", at.as_str()),
        ("name", "Ann"),
        ("email", "ann@shop.example"),
        ("q0", "Buy now"),
        ("site", "https://spam.example"),
    ];
    browser.post_bare("/b/acme/short", &fields).await.goes_to("/b/acme/short");
    assert_eq!(app.count("bookings").await, 0);
    app.work().await;
    assert!(app.outside.relay.attempts().is_empty());
}
