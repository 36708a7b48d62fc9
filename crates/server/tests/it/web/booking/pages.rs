//! The pages on which customers book: what happens when many want one time, and what they typed.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use bookings::types::{BookingQuestion, BookingTypeInput};
use jobs::OutgoingMail;
use serde_json::json;
use transport::http::Peer;

use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    of_200_at_once_one_gets_the_time_and_the_others_keep_what_they_typed,
    what_is_wrong_is_said_and_kept_and_another_zone_is_chosen_without_scripts,
    a_program_that_fills_every_field_holds_nothing,
    what_was_typed_goes_along_on_every_way,
    a_time_that_is_not_free_is_said_before_anything_is_typed,
    a_limit_keeps_what_was_typed,
    a_hold_that_ran_out_offers_the_times_again,
    a_guest_changes_the_address_and_the_answers_of_what_they_hold,
    the_link_of_a_reply_books_once_and_then_shows_what_it_booked,
    a_list_of_times_ends_with_a_whole_day_and_a_day_off_closes_no_weekday
);

const TRIES: usize = 200;
/// Monday 23 November 2026, 10:00 in Berlin, as pages and as the API write it.
const TEN: i64 = 1_795_424_400;
const TEN_ISO: &str = "2026-11-23T09:00:00.000Z";
const HALF_HOUR: i64 = 30 * 60;
/// The day before, on which nobody works.
const SUNDAY: i64 = TEN - 24 * 60 * 60;
const COOKIE: &str = "__Host-mailroom_guest";
const SHORT: &str = "/b/acme/short";
const TYPED: [(&str, &str); 3] =
    [("name", "Ann Shopper"), ("email", "ann@shop.example"), ("q0", "The lamp\nin the hall")];

/// Two types of the owner: half an hour, and an hour.
async fn bookable(app: &TestApp) -> (String, String) {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
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
            ids.push(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string());
        }
        Ok((ids.remove(0), ids.remove(0)))
    })
    .await
}

/// The token that a form of this page carries.
pub fn csrf_of(page: &Page) -> String {
    page.between("name=\"csrf\" value=\"", "\"").to_owned()
}

/// Posts what was typed, and these fields.
async fn post_typed(
    browser: &Browser<'_>,
    path: &str,
    csrf: &str,
    fields: &[(&str, &str)],
) -> Page {
    let mut all = vec![("csrf", csrf)];
    all.extend(fields);
    // The first of two fields with one name counts.
    all.extend(TYPED);
    browser.post_bare(path, &all).await
}

/// Holds a time; the address of its page, and the token in it.
async fn held(browser: &Browser<'_>, csrf: &str, at: i64) -> (String, String) {
    let at = at.to_string();
    let page = post_typed(browser, SHORT, csrf, &[("at", at.as_str())]).await.is(303);
    let path = page.answer.header("location").to_owned();
    let token = path.strip_prefix("/b/m/").unwrap().split('?').next().unwrap().to_owned();
    (path, token)
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
                    "Times in Kathmandu".to_owned(),
                    "<h2 tabindex=\"-1\" autofocus>".to_owned(),
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
    for nowhere in ["/b/%00/short", "/b/acme/%00"] {
        browser.get(nowhere).await.is(404);
    }
    let times = browser.get("/b/acme/short?from=2026-11-23").await.is(200);
    // Nobody has named a zone: times are in the host's, and no address says that it is the guest's.
    times.shows("data-zone-unknown=\"Europe/Berlin\"").shows(&format!("?at={TEN}\""));
    times.shows(">10:00<").shows("Monday").shows("It is 10:00 there now<");
    let times = browser.get("/b/acme/short?from=2026-11-23&zone=Asia/Kathmandu").await.is(200);
    times.hides("data-zone-unknown").shows(&format!("?at={TEN}&#38;zone=Asia/Kathmandu"));
    times.shows(">14:45<").shows("It is 14:45 there now, and 10:00 in Berlin, where they are");
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
    assert_eq!(page.text.matches("autofocus").count(), 1, "the first wrong field has the focus");
    page.shows("your time, Kathmandu");
    assert_eq!(app.count("bookings").await, 0);
    let foreign = [("at", at.as_str()), ("name", "Ann"), ("email", "ann@shop.example")];
    let page = browser.post_bare("/b/acme/short", &foreign).await.is(403);
    page.shows("This page is too old").shows("value=\"Ann\"");
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

async fn what_was_typed_goes_along_on_every_way(app: TestApp) {
    bookable(&app).await;
    let browser = app.browser();
    let page = browser.get(&format!("{SHORT}?at={TEN}")).await.is(200);
    page.shows("time in Berlin").hides("your time");
    let (csrf, at) = (csrf_of(&page), TEN.to_string());
    // Before anything is typed the way back is an address.
    let bare = [("csrf", csrf.as_str()), ("at", at.as_str()), ("step", "times")];
    browser.post_bare(SHORT, &bare).await.goes_to(SHORT);
    let kept = "name=\"q0\" value=\"The lamp\nin the hall\"";
    let times =
        post_typed(&browser, SHORT, &csrf, &[("at", at.as_str()), ("step", "times")]).await.is(200);
    times.shows("name=\"name\" value=\"Ann Shopper\"").shows(kept).hides("?at=");
    times.shows(&format!("name=\"pick\" value=\"{TEN}\""));
    let zone = [("step", "zone"), ("newZone", "Asia/Kathmandu")];
    let times = post_typed(&browser, SHORT, &csrf, &zone).await.is(200);
    times.shows(kept).shows("name=\"zone\" value=\"Asia/Kathmandu\"").shows(">14:45<");
    let later = post_typed(&browser, SHORT, &csrf, &[("from", "2026-11-30")]).await.is(200);
    later.shows(kept).shows("<span>30 November</span>").hides("<span>23 November</span>");
    let pick = (TEN + HALF_HOUR).to_string();
    let form = post_typed(&browser, SHORT, &csrf, &[("pick", pick.as_str())]).await.is(200);
    form.shows("value=\"Ann Shopper\"").shows("The lamp\nin the hall</textarea>");
    form.shows(&format!("name=\"at\" value=\"{pick}\"")).shows("10:30");
    assert_eq!(app.count("bookings").await, 0);
}

async fn a_time_that_is_not_free_is_said_before_anything_is_typed(app: TestApp) {
    bookable(&app).await;
    let browser = app.browser();
    let page = browser.get(&format!("{SHORT}?at={SUNDAY}")).await.is(200);
    page.shows("Sunday 22 November at 10:00 is not free").hides("id=\"email\"");
    page.shows(&format!("?at={}\"", TEN - 2 * HALF_HOUR)).hides("<span>20 November</span>");
    // After the last day that can be booked the next free times are those from today on.
    let far = browser.get(&format!("{SHORT}?at={}", TEN + 400 * 24 * 60 * 60)).await.is(200);
    far.shows("is not free").shows("<span>16 November</span>");
}

async fn a_limit_keeps_what_was_typed(app: TestApp) {
    const FORMS: usize = 30;
    bookable(&app).await;
    let browser = app.browser();
    let csrf = csrf_of(&browser.get(&format!("{SHORT}?at={TEN}")).await.is(200));
    let is_kept = |page: &Page| {
        page.shows("Wait a little").shows("What you wrote is kept below.");
        page.shows("value=\"Ann Shopper\"").shows("value=\"ann@shop.example\"");
        page.shows("The lamp\nin the hall</textarea>");
    };
    for number in 0..3 {
        held(&browser, &csrf, TEN + number * HALF_HOUR).await;
    }
    let next = (TEN + 3 * HALF_HOUR).to_string();
    let page = post_typed(&browser, SHORT, &csrf, &[("at", next.as_str())]).await.is(429);
    is_kept(&page);
    page.shows("Several times were held for this address today.");
    for _ in 4..FORMS {
        post_typed(&browser, SHORT, &csrf, &[("at", next.as_str()), ("name", "")]).await.is(422);
    }
    is_kept(&post_typed(&browser, SHORT, &csrf, &[("at", next.as_str())]).await.is(429));
    assert_eq!(app.count("bookings").await, 3);
}

async fn a_hold_that_ran_out_offers_the_times_again(app: TestApp) {
    bookable(&app).await;
    let browser = app.browser();
    let csrf = csrf_of(&browser.get(&format!("{SHORT}?at={TEN}")).await.is(200));
    let until = ((app.now() + 15 * MINUTE) / 1_000).to_string();
    let (path, token) = held(&browser, &csrf, TEN).await;
    assert_eq!(path, format!("/b/m/{token}?of=acme/short"));
    let page = browser.get(&path).await.is(200);
    page.shows("Held until 10:15").shows("at 10:00 and has eight digits.");
    page.shows("Valid until 10:10.").shows("Book Monday at 10:00").hides("Sent again");
    page.shows("Change the address").shows("Other times").shows("value=\"The lamp\nin the hall\"");
    // In another browser there is no code yet, and nothing of what was typed.
    let stranger = app.browser().get(&path).await.is(200);
    stranger.shows("Ask for a code in this browser").hides("The lamp");

    app.advance(MINUTE);
    let again = [("csrf", csrf.as_str()), ("of", "acme/short")];
    browser.post_bare(&format!("/b/m/{token}/again"), &again).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("Sent again at 10:01.");

    app.pass(14 * MINUTE).await;
    assert_eq!(app.count("bookings").await, 0);
    let page = browser.get(&path).await.is(409);
    page.shows("The time was held for 15 minutes").shows(&format!("?at={TEN}\""));
    let at = TEN.to_string();
    let late = [
        ("of", "acme/short"),
        ("until", until.as_str()),
        ("at", at.as_str()),
        ("code", "1234 5678"),
    ];
    let page = post_typed(&browser, &format!("/b/m/{token}/code"), &csrf, &late).await.is(409);
    page.shows("The time was held until 10:15").shows(&format!("name=\"at\" value=\"{TEN}\""));
    page.shows("value=\"Ann Shopper\"").shows("The lamp\nin the hall</textarea>");
    browser.get(&format!("/b/m/{token}")).await.is(404);
    held(&browser, &csrf, TEN).await;
}

async fn a_guest_changes_the_address_and_the_answers_of_what_they_hold(app: TestApp) {
    bookable(&app).await;
    let (browser, at) = (app.browser(), TEN.to_string());
    let csrf = csrf_of(&browser.get(&format!("{SHORT}?at={TEN}")).await.is(200));
    let (_, token) = held(&browser, &csrf, TEN).await;
    let change = [("at", at.as_str()), ("held", token.as_str()), ("step", "form")];
    let page = post_typed(&browser, SHORT, &csrf, &change).await.is(200);
    page.shows("Back to the code").shows(&format!("name=\"held\" value=\"{token}\""));
    page.shows("value=\"ann@shop.example\"");
    let bea = [("at", at.as_str()), ("held", token.as_str()), ("email", "bea@shop.example")];
    let page = post_typed(&browser, SHORT, &csrf, &bea).await.is(303);
    let path = page.answer.header("location").to_owned();
    assert!(!path.contains(&token), "{path}");
    assert_eq!(app.count("bookings WHERE guest_email = 'bea@shop.example'").await, 1);
    assert_eq!((app.count("bookings").await, app.count("host_bookings").await), (1, 1));
    browser.get(&path).await.is(200).shows("<b>bea@shop.example</b>");

    // The same address and time with another answer: the code stays, what was written last counts.
    let token = path.strip_prefix("/b/m/").unwrap().split('?').next().unwrap();
    let sofa =
        [("at", at.as_str()), ("held", token), ("email", "bea@shop.example"), ("q0", "The sofa")];
    post_typed(&browser, SHORT, &csrf, &sofa).await.goes_to(&path);
    assert_eq!(app.count("bookings WHERE answers LIKE '%sofa%'").await, 1);
    // The form was still open in the browser: the address that was typed last counts.
    let cleo = [("at", at.as_str()), ("email", "cleo@shop.example")];
    post_typed(&browser, SHORT, &csrf, &cleo).await.is(303);
    assert_eq!(app.count("bookings WHERE guest_email = 'cleo@shop.example'").await, 1);
    assert_eq!(app.count("bookings").await, 1);
    // Whoever only knows the token gives nothing back.
    let stranger = app.browser();
    let csrf = csrf_of(&stranger.get(&format!("{SHORT}?at={}", TEN + HALF_HOUR)).await.is(200));
    let half_past = (TEN + HALF_HOUR).to_string();
    let theirs = [("at", half_past.as_str()), ("held", token)];
    post_typed(&stranger, SHORT, &csrf, &theirs).await.is(303);
    assert_eq!(app.count("bookings").await, 2);
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 4, "one code for each hold");
}

async fn the_link_of_a_reply_books_once_and_then_shows_what_it_booked(app: TestApp) {
    let key = app.key("read draft send").await;
    let (kind, _) = bookable(&app).await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", "Can we talk?").await;
    let times = [TEN_ISO, "2026-11-24T09:00:00.000Z"];
    let reply = json!({
        "body": "Gladly.", "send": true, "booking": { "typeId": kind, "times": times },
    });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    let letter = app.outside.relay.attempts().remove(0);
    let text = String::from_utf8_lossy(&letter.bytes).replace("=\r\n", "");
    let token: String = text.split_once("/b/o/").unwrap().1.chars().take(40).collect();
    let link = format!("/b/o/{token}");
    let browser = app.browser();
    let page = browser.get(&format!("{link}?at={TEN}")).await.is(200);
    page.shows("You chose this in the mail").shows("data-zone-unknown");
    let (csrf, at) = (csrf_of(&page), TEN.to_string());
    browser.get(&format!("{link}?at={SUNDAY}")).await.is(200).shows("is not free");
    // Another time, another zone: what was typed goes along.
    let pick = (TEN + HALF_HOUR).to_string();
    let steps: [&[(&str, &str)]; 3] = [
        &[("pick", pick.as_str())],
        &[("step", "zone"), ("newZone", "Asia/Kathmandu")],
        &[("from", "2026-11-30")],
    ];
    for (step, times) in steps.into_iter().zip([3, 2, 2]) {
        let mut fields = step.to_vec();
        fields.push(("at", at.as_str()));
        let page = post_typed(&browser, &link, &csrf, &fields).await.is(200);
        page.shows("The lamp\nin the hall</textarea>");
        assert_eq!(page.text.matches("type=\"radio\"").count(), times, "{step:?}");
    }
    assert_eq!(app.count("bookings").await, 0);

    let page = post_typed(&browser, &link, &csrf, &[("at", at.as_str())]).await.is(303);
    let manage = page.answer.header("location").to_owned();
    browser.get(&manage).await.is(200).shows("It is booked, Ann.").shows("BOOKED");
    // The mail with the link may have been read by others: it shows the time, and no way to change it.
    let booked = app.browser().get(&link).await.is(200);
    booked.shows("It is booked, Ann.").shows("10:00").hides("/b/m/").hides("type=\"radio\"");
    for start in [&at, &pick] {
        post_typed(&browser, &link, &csrf, &[("at", start.as_str())]).await.goes_to(&link);
    }
    assert_eq!(app.count("bookings").await, 1);

    let page = browser.get(&format!("{manage}/move")).await.is(200);
    page.shows("Keep the time I have").shows("class=\"g-stub\"");
    page.hides(&format!("?at={TEN}")).shows(&format!("?at={pick}"));
    let asks = "Move the appointment to this time?";
    let page = browser.get(&format!("{manage}/move?at={SUNDAY}")).await.is(200);
    page.shows("Sunday 22 November at 10:00 is not free").hides(asks);
    let page = browser.get(&format!("{manage}/move?at={TEN}")).await.is(200);
    page.shows("It is at this time already").hides(asks);
    let page = browser.get(&format!("{manage}/move?at={pick}")).await.is(200);
    page.shows(asks).shows("it stays on Monday 23 November at 10:00.");
    let fields = [("csrf", csrf.as_str()), ("at", pick.as_str())];
    let moved = browser.post_bare(&format!("{manage}/move"), &fields).await.is(303);
    let moved = moved.answer.header("location").to_owned();
    browser.get(&moved).await.is(200).shows("It is moved, Ann.");
    browser.get(&manage).await.is(200).shows("This appointment was moved");
    browser.get(&link).await.is(200).shows("It is booked, Ann.").shows("10:30");

    // Moving the appointment uses up no offer of another one.
    let reply = json!({
        "body": "And once more.", "send": true, "booking": { "typeId": kind, "times": [times[1]] },
    });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    let letters = app.outside.relay.attempts();
    let link_in = |letter: &OutgoingMail| {
        let text = String::from_utf8_lossy(&letter.bytes).replace("=\r\n", "");
        let token = text.split_once("/b/o/")?.1.chars().take(40).collect::<String>();
        Some(format!("/b/o/{token}"))
    };
    let second = letters.iter().filter_map(link_in).find(|found| *found != link).unwrap();
    let fields = [("csrf", csrf.as_str()), ("at", at.as_str())];
    let moved = browser.post_bare(&format!("{moved}/move"), &fields).await.is(303);
    let moved = moved.answer.header("location").to_owned();
    browser.get(&second).await.is(200).shows("Pick a time");

    let fields = [("csrf", csrf.as_str()), ("reason", "")];
    browser.post_bare(&format!("{moved}/cancel"), &fields).await.goes_to(&moved);
    let page = browser.get(&moved).await.is(200);
    page.shows("This appointment is cancelled").shows("Cancelled by you on 15 November, ");
    browser.get(&link).await.is(200).shows("Pick a time").shows("type=\"radio\"");
}

async fn a_list_of_times_ends_with_a_whole_day_and_a_day_off_closes_no_weekday(app: TestApp) {
    bookable(&app).await;
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        // Both Wednesdays of the two weeks.
        for date in ["2026-11-25", "2026-12-02"] {
            actions::bookings::set_host_date(tx, cx, &person, (date, ""), "Away")?;
        }
        let input = BookingTypeInput {
            name: "A word".into(),
            slug: "word".into(),
            minutes: 5,
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input)
    })
    .await;
    let browser = app.browser();
    let page = browser.get("/b/acme/word?from=2026-11-23").await.is(200);
    // Five days of 96 times; the sixth would end in the middle.
    assert_eq!(page.text.matches("class=\"g-slot\"").count(), 5 * 96);
    page.shows("<span>30 November</span>").hides("<span>1 December</span>");
    page.shows("Later, from 1 December").shows("?from=2026-12-01");
    page.shows("Saturdays and Sundays are closed.").hides("Wednesdays");
    let next = browser.get("/b/acme/word?from=2026-12-01").await.is(200);
    next.shows("<span>1 December</span>");
}
