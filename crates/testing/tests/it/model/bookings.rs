//! Bookings: additions to the API, section 3.

use std::sync::Arc;

use actions::people::removal;
use base::actor::{Actor, Principal};
use base::error::Error;
use base::ids::UserId;
use base::time::Moment;
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::types::{self, BookingTypeInput};
use bookings::{Booking, BookingStatus, feed, guest};
use model::guests::guest_tokens::GuestTokenHash;
use model::people::one_time_codes::CodeEntry;
use serde_json::{Value, json};
use testing::*;

on_both!(
    a_booking_is_made_moved_and_cancelled_as_one_entry_of_every_calendar,
    a_time_is_given_once_however_many_want_it,
    a_reply_offers_times_and_what_is_picked_belongs_to_its_conversation,
    simulated_guests_book_and_cancel,
    an_unproven_address_gets_a_code_and_nothing_else,
    hosts_take_turns_and_a_booking_keeps_its_host,
    a_held_time_is_moved_only_after_its_code,
    a_hold_that_ended_is_not_booked_beside_another,
    a_removed_person_has_no_feed_and_is_not_offered
);

/// Monday 16 November 2026, 10:00 in Berlin.
pub(super) const MONDAY: &str = "2026-11-16T09:00:00.000Z";
pub(super) const TUESDAY: &str = "2026-11-17T09:00:00.000Z";

pub(super) fn user(actor: &Actor) -> UserId {
    match &actor.who {
        Principal::Person { id, .. } => id.clone(),
        _ => panic!("not a person"),
    }
}

pub(super) fn at(iso: &str) -> i64 {
    serde_json::from_value::<Moment>(json!(iso)).unwrap().0
}

/// A type of these hosts, who work from nine to five in Berlin.
pub(super) async fn bookable(app: &TestApp, slug: &str, minutes: i64, hosts: &[&Actor]) -> String {
    let hosts: Vec<UserId> = hosts.iter().map(|host| user(host)).collect();
    let slug = slug.to_owned();
    let work = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        for host in &hosts {
            let weekly = "mon-fri 09:00-12:00,13:00-17:00";
            actions::bookings::set_hours(tx, cx, host, "Europe/Berlin", weekly)?;
        }
        let input = BookingTypeInput {
            name: "First talk".into(),
            slug: slug.clone(),
            minutes,
            place: "By telephone".into(),
            hosts: hosts.clone(),
            ..BookingTypeInput::default()
        };
        Ok(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string())
    };
    app.act(&app.owner, work).await
}

pub(super) fn body(kind: &str, starts_at: &str, email: &str) -> Value {
    json!({ "typeId": kind, "startsAt": starts_at, "name": "Ann Shopper", "email": email })
}

/// A time that is held for a guest whose address is not proven.
async fn held(app: &TestApp, kind: &str, starts_at: i64) -> Booking {
    let kind = kind.to_owned();
    let work = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        let kind = types::load_active(tx, cx.actor, &kind)?;
        let guest = BookingGuest { name: "Ann", email: "ann@shop.example", zone: None };
        let new = NewBooking { starts_at, guest, answers: &[], conversation: None };
        booking::hold(tx, cx, &kind, &new)
    };
    app.act(&app.owner, work).await
}

/// Recipient, method and entry of each mail with an entry for a calendar.
fn entries(app: &TestApp) -> Vec<(String, String, String)> {
    let sent = app.outside.relay.attempts();
    let entry = |mail: &jobs::OutgoingMail| {
        let part = mail::calendar_part(&mail.bytes)?;
        let text = String::from_utf8(part.bytes).unwrap().replace("\r\n ", "");
        Some((mail.recipients[0].clone(), part.method.unwrap(), text))
    };
    sent.iter().filter_map(entry).collect()
}

fn line(entry: &str, name: &str) -> String {
    let found = entry.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    found.unwrap_or_else(|| panic!("{name}: {entry}")).to_owned()
}

async fn a_booking_is_made_moved_and_cancelled_as_one_entry_of_every_calendar(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "first-talk", 30, &[&app.owner]).await;
    let listed = app.get(&key, "/booking-types").await.is(200).json();
    assert_eq!(listed[0]["url"], "https://mail.acme.example/b/acme/first-talk");
    assert_eq!(listed.as_array().unwrap().len(), 1, "the sandbox's is not seen: {listed}");
    let day = format!("/booking-types/{kind}/slots?from=2026-11-16&to=2026-11-16");
    let slots = app.get(&key, &day).await.is(200).json();
    assert_eq!(slots.as_array().unwrap().len(), 14);
    assert_eq!(slots[0]["startsAt"], "2026-11-16T08:00:00.000Z");
    assert_eq!(slots[0]["local"], "Monday 16 November 2026, 09:00");
    let lisbon = app.get(&key, &format!("{day}&zone=Europe/Lisbon&limit=1")).await.json();
    assert_eq!(lisbon[0]["local"], "Monday 16 November 2026, 08:00");

    let made = app.post(&key, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await;
    let made = made.is(201).json();
    assert_eq!(
        (&made["status"], &made["endsAt"]),
        (&json!("booked"), &json!("2026-11-16T09:30:00.000Z"))
    );
    assert_eq!(made["host"]["name"], "Olive Owner");
    assert_eq!(app.get(&key, &day).await.json().as_array().unwrap().len(), 13);
    let taken = app.post(&key, "/bookings", body(&kind, MONDAY, "bob@shop.example")).await.is(409);
    let named = "The next free times are 2026-11-16T09:30:00.000Z, 2026-11-16T10:00:00.000Z, ";
    assert!(taken.error().contains(named), "{}", taken.error());

    let path = format!("/bookings/{}/move", text_of(&made, "id"));
    let moved = app.post(&key, &path, json!({ "startsAt": TUESDAY })).await.is(200).json();
    assert_eq!(moved["rescheduledFrom"], made["id"]);
    app.post(&key, &path, json!({ "startsAt": MONDAY })).await.is(409);
    let path = format!("/bookings/{}/cancel", text_of(&moved, "id"));
    for _ in 0..2 {
        let off = app.post(&key, &path, json!({ "reason": "Solved" })).await.is(200).json();
        assert_eq!((&off["status"], &off["ok"]), (&json!("cancelled"), &json!(true)));
    }
    app.work().await;
    let (mut seen, mut hosts) = (Vec::new(), 0);
    for (to, method, entry) in entries(&app) {
        assert_eq!(line(&entry, "METHOD"), method);
        assert!(entry.contains("ORGANIZER;CN=Acme:mailto:support@acme.example"), "{entry}");
        match to.as_str() {
            "ann@shop.example" => {
                let parts = ["UID", "SEQUENCE", "DTSTART"].map(|name| line(&entry, name));
                seen.push((method, parts));
            }
            _ => hosts += 1,
        }
    }
    let uid = format!("{}@mail.acme.example", text_of(&made, "id"));
    let entry = |method: &str, sequence: &str, start: &str| {
        (method.to_owned(), [uid.clone(), sequence.to_owned(), start.to_owned()])
    };
    seen.sort_by(|a, b| a.1[1].cmp(&b.1[1]));
    assert_eq!(
        seen,
        [
            entry("REQUEST", "0", "20261116T090000Z"),
            entry("REQUEST", "1", "20261117T090000Z"),
            entry("CANCEL", "2", "20261117T090000Z"),
        ]
    );
    assert_eq!(hosts, 3, "the host gets the same");
    assert_eq!(app.count("host_bookings").await, 0);
    let events = app.events().await;
    let told: Vec<&Value> =
        events.iter().filter(|e| e["type"].as_str().unwrap().starts_with("booking.")).collect();
    let types: Vec<&str> = told.iter().map(|e| e["type"].as_str().unwrap()).collect();
    let (created, cancelled) = ("booking.created", "booking.cancelled");
    assert_eq!(types, [created, cancelled, created, cancelled]);
    assert_eq!(told[1]["data"]["rescheduled_to"], moved["id"]);
    assert_eq!(told[2]["data"]["rescheduled_from"], made["id"]);
    assert_eq!(told[0]["data"]["conversation_id"], Value::Null);
    assert_eq!(told[3]["data"]["rescheduled_to"], Value::Null);
}

async fn a_time_is_given_once_however_many_want_it(app: TestApp) {
    const TRIES: usize = 100;
    let short = bookable(&app, "short", 30, &[&app.owner]).await;
    let long = bookable(&app, "long", 60, &[&app.owner]).await;
    let nodes = [Arc::new(app.app.clone()), Arc::new(app.on_another_node())];
    let mut tries = Vec::new();
    for number in 0..2 * TRIES {
        // The long one begins half an hour earlier: it overlaps, and starts at another time.
        let (kind, start) = match number % 2 {
            0 => (short.clone(), at(MONDAY) + 30 * MINUTE),
            _ => (long.clone(), at(MONDAY)),
        };
        let (node, actor) = (Arc::clone(&nodes[number / TRIES]), app.owner.clone());
        let email = format!("guest{number}@shop.example");
        tries.push(tokio::spawn(async move {
            node.act(&actor, move |tx, cx| {
                let kind = types::load_active(tx, cx.actor, &kind)?;
                let guest = BookingGuest { name: "Guest", email: &email, zone: None };
                let new = NewBooking { starts_at: start, guest, answers: &[], conversation: None };
                booking::book(tx, cx, &kind, &new)
            })
            .await
        }));
    }
    let (mut booked, mut refused) = (0, 0);
    for one in tries {
        match one.await.unwrap() {
            Ok(_) => booked += 1,
            Err(Error::Conflict(sentence)) => {
                assert!(sentence.contains("is not free. The next free times are"), "{sentence}");
                refused += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((booked, refused), (1, 2 * TRIES - 1));
    let overlapping = "host_bookings a JOIN host_bookings b
        ON a.ws = b.ws AND a.person = b.person AND a.booking < b.booking
        AND a.pad_from < b.pad_to AND b.pad_from < a.pad_to";
    assert_eq!(app.count(overlapping).await, 0);
    assert_eq!(app.count("bookings").await, 1);
}

async fn a_reply_offers_times_and_what_is_picked_belongs_to_its_conversation(app: TestApp) {
    let key = app.key("read draft send").await;
    let kind = bookable(&app, "first-talk", 30, &[&app.owner]).await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", "Can we talk?").await;
    let offer = |times: Value| json!({ "body": "Gladly.", "send": true, "booking": { "typeId": kind, "times": times } });
    let refused = app
        .on(&key, &mail.conversation, "replies", offer(json!(["2026-11-16T03:00:00Z"])))
        .await
        .is(400);
    assert!(
        refused.error().contains("is not free; the next free times are"),
        "{}",
        refused.error()
    );
    let sent = app.on(&key, &mail.conversation, "replies", offer(json!([MONDAY, TUESDAY]))).await;
    sent.is(201);
    app.pass(UNDO).await;
    let letters = app.outside.relay.attempts();
    let text = String::from_utf8_lossy(&letters[0].bytes).replace("=\r\n", "");
    assert!(text.contains("Pick one of these times (Europe/Berlin):"), "{text}");
    assert!(text.contains("- Monday 16 November 2026, 10:00: https://mail.acme.example/b/o/"));
    let token: String = text.split_once("/b/o/").unwrap().1.chars().take(40).collect();
    let app_of_guest = app.app.clone();
    let picked = app
        .app
        .store
        .write(move |tx| {
            let found = guest::offer_at(tx, &token, app_of_guest.clock.now())?;
            assert_eq!(found.offer.times.0, [at(MONDAY), at(TUESDAY)]);
            assert_eq!(found.offer.guest_name.as_deref(), Some("Ann Shopper"));
            let cx = app_of_guest.cx(&found.workspace.actor);
            let guest = BookingGuest {
                name: "Ann Shopper",
                email: &found.offer.guest_email,
                zone: Some("Europe/Lisbon"),
            };
            let new =
                NewBooking { starts_at: at(TUESDAY), guest, answers: &[], conversation: None };
            guest::book_offer(tx, &cx, &found, &new)
        })
        .await
        .unwrap();
    assert_eq!(picked.conversation, Some(mail.conversation.clone()));
    let path = format!("/bookings?conversation={}", mail.conversation);
    assert_eq!(app.get(&key, &path).await.json()[0]["conversationId"], json!(mail.conversation));
    let events = app.timeline_events(&key, &mail.conversation).await;
    assert!(
        events.iter().any(|(name, data)| name == "booked" && data["bookingId"] == json!(picked.id))
    );
    app.work().await;
    let guest_mail = entries(&app).into_iter().find(|(to, ..)| to == "ann@shop.example").unwrap();
    assert_eq!(line(&guest_mail.2, "DTSTART"), "20261117T090000Z");
    // A day and an hour before, guest and host are reminded; never twice.
    let before = app.outside.relay.attempts().len();
    app.pass(at(TUESDAY) - app.now() - 30 * MINUTE).await;
    let reminders = app.outside.relay.attempts();
    let to_guest = reminders[before..].iter().filter(|m| m.recipients[0] == "ann@shop.example");
    assert_eq!(to_guest.count(), 2);
}

async fn simulated_guests_book_and_cancel(app: TestApp) {
    let key = app.test_key("read write send").await;
    let types = app.get(&key, "/booking-types").await.is(200).json();
    assert_eq!(types.as_array().unwrap().len(), 1, "{types}");
    let kind = text_of(&types[0], "id");
    for (from, names) in [
        ("book@shop.test", vec!["booked"]),
        ("book-cancel@shop.test", vec!["booked", "booking-cancelled"]),
    ] {
        let id = app.simulate(&key, from).await;
        let reply = json!({ "body": "When?", "send": true, "booking": { "typeId": kind } });
        app.on(&key, &id, "replies", reply).await.is(201);
        app.pass(20 * SECOND).await;
        let events = app.timeline_events(&key, &id).await;
        let told: Vec<&str> = events
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| name.starts_with("book"))
            .collect();
        assert_eq!(told, names, "{from}");
    }
    let listed = app.get(&key, "/bookings?status=booked").await.json();
    assert_eq!(listed[0]["startsAt"], "2026-11-16T09:00:00.000Z", "{listed}");
    let live = app.key("read").await;
    assert_eq!(app.get(&live, "/bookings").await.json(), json!([]));
    let real = body(&kind, TUESDAY, "ann@shop.example");
    app.post(&key, "/bookings", real).await.is(400);
    app.post(&key, "/bookings", body(&kind, TUESDAY, "ann@shop.test")).await.is(201);
    assert!(app.outside.relay.attempts().is_empty(), "nothing leaves the sandbox");
}

async fn an_unproven_address_gets_a_code_and_nothing_else(app: TestApp) {
    let kind = bookable(&app, "first-talk", 30, &[&app.owner]).await;
    // Each guest has a browser of their own.
    let browser_of = GuestTokenHash::of;
    let hold = |email: &'static str, start: &'static str| {
        let (inner, kind) = (app.app.clone(), kind.clone());
        let work = move |tx: &mut db::Tx<'_>| {
            let workspace = guest::workspace_at(tx, "acme")?;
            let cx = inner.cx(&workspace.actor);
            let kind = types::load_active(tx, cx.actor, &kind)?;
            let guest = BookingGuest { name: "Ann", email, zone: None };
            let new = NewBooking { starts_at: at(start), guest, answers: &[], conversation: None };
            guest::hold(tx, &cx, &kind, &new, browser_of(email), "a network")
        };
        app.app.store.write(work)
    };
    let held = hold("ann@shop.example", MONDAY).await.unwrap();
    assert!(matches!(hold("bob@shop.example", MONDAY).await, Err(Error::Conflict(_))));
    app.work().await;
    let letters = app.outside.relay.attempts();
    assert_eq!(letters.len(), 1, "a code, and nothing to the host");
    assert!(mail::calendar_part(&letters[0].bytes).is_none());
    assert!(app.events().await.is_empty());
    let text = String::from_utf8_lossy(&letters[0].bytes).into_owned();
    let code: String = text.split_once("The code is ").unwrap().1.chars().take(9).collect();
    let enter = |typed: String, held: bookings::Booking| {
        let inner = app.app.clone();
        let work = move |tx: &mut db::Tx<'_>| {
            let workspace = guest::workspace_at(tx, "acme")?;
            let cx = inner.cx(&workspace.actor);
            let browser = browser_of("ann@shop.example");
            guest::enter_code(tx, &cx, &held, browser, "a network", &typed)
        };
        app.app.store.write(work)
    };
    let wrong = enter("0000 0000".into(), held.clone()).await.unwrap();
    assert_eq!(wrong, CodeEntry::Wrong { tries_left: 4 });
    assert_eq!(enter(code, held).await.unwrap(), CodeEntry::Right);
    app.work().await;
    assert_eq!(entries(&app).len(), 2, "guest and host are invited now");
    assert_eq!(app.event_types().await, ["booking.created"]);
    // Nobody proves this one, so its time is free again.
    hold("eve@shop.example", TUESDAY).await.unwrap();
    app.pass(15 * MINUTE).await;
    assert_eq!(app.count("bookings").await, 1);
    hold("bob@shop.example", TUESDAY).await.unwrap();
}

async fn hosts_take_turns_and_a_booking_keeps_its_host(app: TestApp) {
    let key = app.key("read send").await;
    let ines = app.person("Ines").await;
    let kind = bookable(&app, "any", 30, &[&app.owner, &ines]).await;
    let mut hosts = Vec::new();
    for start in [MONDAY, MONDAY, "2026-11-16T10:00:00.000Z", "2026-11-16T10:30:00.000Z"] {
        let made = app.post(&key, "/bookings", body(&kind, start, "ann@shop.example")).await;
        let made = made.is(201).json();
        hosts.push((text_of(&made["host"], "name"), text_of(&made, "id")));
    }
    app.post(&key, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await.is(409);
    let names: Vec<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "Olive Owner").count(), 2, "{names:?}");
    assert_ne!(names[0], names[1]);
    let path = format!("/bookings/{}/move", hosts[1].1);
    let moved = app.post(&key, &path, json!({ "startsAt": TUESDAY })).await.is(200).json();
    assert_eq!(moved["host"]["name"], json!(hosts[1].0));
    // A day off takes its host out of what is offered.
    let person = user(&ines);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_host_date(tx, cx, &person, ("2026-11-18", ""), "Away")
    })
    .await;
    for status in [201, 409] {
        let start = "2026-11-18T09:00:00.000Z";
        app.post(&key, "/bookings", body(&kind, start, "ann@shop.example")).await.is(status);
    }
}

async fn a_held_time_is_moved_only_after_its_code(app: TestApp) {
    let kind = bookable(&app, "first-talk", 30, &[&app.owner]).await;
    let held = held(&app, &kind, at(MONDAY)).await;
    let old = held.clone();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| booking::reschedule(tx, cx, &old, at(TUESDAY)))
        .await;
    assert!(matches!(&refused, Error::Conflict(why) if why.contains("only held")), "{refused:?}");
    assert_eq!(app.count("bookings WHERE status = 'held'").await, 1);
    assert_eq!(app.count("bookings").await, 1);
    let id = held.id.clone();
    app.act(&app.owner, move |tx, cx| booking::prove(tx, cx, &id)).await;
    // This copy is from before the code; what counts is how the booking stands now.
    let off = app.act(&app.owner, move |tx, cx| booking::cancel(tx, cx, &held, "")).await;
    assert_eq!(off.status, BookingStatus::Cancelled);
    assert_eq!(app.event_types().await, ["booking.created", "booking.cancelled"]);
}

async fn a_hold_that_ended_is_not_booked_beside_another(app: TestApp) {
    let key = app.key("read send").await;
    let short = bookable(&app, "short", 30, &[&app.owner]).await;
    let long = bookable(&app, "long", 60, &[&app.owner]).await;
    let late = held(&app, &short, at(MONDAY) + 30 * MINUTE).await;
    let gone = held(&app, &short, at(TUESDAY)).await;
    app.advance(15 * MINUTE);
    // The holds are over and no job has removed them: one overlaps, one begins at the same moment.
    for start in [MONDAY, TUESDAY] {
        app.post(&key, "/bookings", body(&long, start, "bob@shop.example")).await.is(201);
    }
    // A server whose clock is behind would still take the code.
    app.exec("UPDATE bookings SET holds_until = holds_until + 60000 WHERE status = 'held'").await;
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| booking::prove(tx, cx, &late.id)).await;
    assert!(matches!(&refused, Error::Conflict(why) if why.contains("not free")), "{refused:?}");
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| booking::prove(tx, cx, &gone.id)).await;
    assert!(matches!(refused, Error::NotFound(_)), "{refused:?}");
    app.pass(2 * MINUTE).await;
    assert_eq!(app.count("bookings").await, 2);
    assert_eq!(app.count("host_bookings").await, 2);
}

async fn a_removed_person_has_no_feed_and_is_not_offered(app: TestApp) {
    let key = app.key("read send").await;
    let ines = app.person("Ines").await;
    let kind = bookable(&app, "any", 30, &[&app.owner, &ines]).await;
    let mut made = Vec::new();
    for email in ["ann@shop.example", "bob@shop.example"] {
        let booking = app.post(&key, "/bookings", body(&kind, MONDAY, email)).await.is(201).json();
        made.push(text_of(&booking, "id"));
    }
    let person = user(&ines);
    let url = app
        .act(&app.owner, move |tx, cx| {
            feed::renew(tx, cx, &person)?;
            feed::url(tx, cx, &person)
        })
        .await;
    let token = url.unwrap().rsplit('/').next().unwrap().to_owned();
    let read = || {
        let (inner, token) = (app.app.clone(), token.clone());
        app.app.store.read(move |tx: &mut db::Tx<'_>| feed::at(tx, &inner, &token))
    };
    assert!(read().await.unwrap().contains("BEGIN:VEVENT"));

    let person = user(&ines);
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    assert!(format!("{refused:?}").contains("has an appointment ahead"), "{refused:?}");
    for id in made {
        app.post(&key, &format!("/bookings/{id}/cancel"), json!({})).await.is(200);
    }
    let person = user(&ines);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    assert!(matches!(read().await, Err(Error::NotFound(_))));
    for status in [201, 409] {
        app.post(&key, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await.is(status);
    }
}
