//! Until when guests move and cancel: the hours of a type, what mails say, and guests who decline too late.

use base::error::Error;
use base::ids::UserId;
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::types::{BookingType, BookingTypeInput};
use bookings::{Booking, guest};
use inbound::Ingested;
use jobs::OutgoingMail;
use serde_json::{Value, json};
use testing::*;

use super::bookings::{MONDAY, TUESDAY, at, body};

on_both!(
    guests_move_and_cancel_until_the_moment_and_the_team_until_the_start,
    a_booking_keeps_the_hours_that_its_type_had,
    the_hours_of_a_type_have_a_limit,
    mails_say_until_when_it_can_be_moved_or_cancelled,
    a_guest_who_declines_too_late_cancels_nothing_and_is_heard
);

const WEDNESDAY: &str = "2026-11-18T09:00:00.000Z";
const GUEST: &str = "ann@shop.example";

fn input(host: &UserId, slug: &str, cancel_hours: i64) -> BookingTypeInput {
    BookingTypeInput {
        name: "First talk".into(),
        slug: slug.into(),
        cancel_hours,
        hosts: vec![host.clone()],
        ..BookingTypeInput::default()
    }
}

/// A type of the owner, who works from nine to five in Berlin.
async fn bookable(app: &TestApp, slug: &str, cancel_hours: i64) -> BookingType {
    let (host, slug) = (user(&app.owner), slug.to_owned());
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &host, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        actions::bookings::add_booking_type(tx, cx, &input(&host, &slug, cancel_hours))
    })
    .await
}

/// An appointment of a guest in Lisbon.
async fn booked(app: &TestApp, kind: &BookingType, starts_at: i64) -> Booking {
    let kind = kind.clone();
    app.act(&app.owner, move |tx, cx| {
        let guest = BookingGuest { name: "Ann", email: GUEST, zone: Some("Europe/Lisbon") };
        let new = NewBooking { starts_at, guest, answers: &[], conversation: None };
        booking::book(tx, cx, &kind, &new)
    })
    .await
}

async fn guest_moves(app: &TestApp, old: &Booking, starts_at: i64) -> Booking {
    let old = old.clone();
    let service = app.service(&app.support);
    app.act(&service, move |tx, cx| guest::reschedule(tx, cx, &old, starts_at)).await
}

/// The guest can neither move nor cancel it, and nothing changes.
async fn is_too_late(app: &TestApp, booking: &Booking) {
    let before = (app.count("bookings").await, app.events().await.len());
    let service = app.service(&app.support);
    let (one, two) = (booking.clone(), booking.clone());
    let moved = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        guest::reschedule(tx, cx, &one, at(WEDNESDAY) + HOUR)
    };
    let cancelled =
        move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| guest::cancel(tx, cx, &two, "Ill");
    for error in
        [app.expect_refusal(&service, moved).await, app.expect_refusal(&service, cancelled).await]
    {
        assert!(matches!(&error, Error::Conflict(why) if why.contains("too late")), "{error:?}");
    }
    assert_eq!((app.count("bookings").await, app.events().await.len()), before);
    let stands = format!("bookings WHERE id = '{}' AND status = 'booked'", booking.id);
    assert_eq!(app.count(&stands).await, 1);
}

async fn guests_move_and_cancel_until_the_moment_and_the_team_until_the_start(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "talk", 24).await;
    let first = booked(&app, &kind, at(TUESDAY)).await;
    assert_eq!(first.change_until(), at(MONDAY));
    app.advance(at(MONDAY) - 1 - app.now());
    let moved = guest_moves(&app, &first, at(TUESDAY) + 30 * MINUTE).await;
    assert_eq!(moved.change_until(), at(MONDAY) + 30 * MINUTE);
    let other = booked(&app, &kind, at(TUESDAY) + HOUR).await;

    // Exactly then, and later.
    app.advance(moved.change_until() - app.now());
    is_too_late(&app, &moved).await;
    app.advance(30 * MINUTE - 1);
    is_too_late(&app, &moved).await;
    let off = other.clone();
    let service = app.service(&app.support);
    app.act(&service, move |tx, cx| guest::cancel(tx, cx, &off, "Ill")).await;
    assert_eq!(app.count("bookings WHERE reason = 'Ill'").await, 1);
    // Cancelling once more changes nothing, whenever it comes.
    app.advance(HOUR);
    let service = app.service(&app.support);
    let again = app.act(&service, move |tx, cx| guest::cancel(tx, cx, &other, "Well")).await;
    assert_eq!(again.reason, "Ill");

    let path = format!("/bookings/{}/move", moved.id);
    let moved = app.post(&key, &path, json!({ "startsAt": WEDNESDAY })).await.is(200).json();
    app.advance(at(WEDNESDAY) - HOUR - app.now());
    let path = format!("/bookings/{}/cancel", text_of(&moved, "id"));
    app.post(&key, &path, json!({})).await.is(200);
}

async fn a_booking_keeps_the_hours_that_its_type_had(app: TestApp) {
    let kind = bookable(&app, "talk", 0).await;
    let first = booked(&app, &kind, at(TUESDAY)).await;
    assert_eq!(first.change_until(), first.starts_at);
    let (id, host) = (kind.id.clone(), user(&app.owner));
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::change_booking_type(tx, cx, &id, &input(&host, "talk", 48))
    })
    .await;
    app.advance(at(TUESDAY) - 1 - app.now());
    let moved = guest_moves(&app, &first, at(WEDNESDAY)).await;
    assert_eq!(moved.cancel_hours, 48);
    is_too_late(&app, &moved).await;
}

async fn the_hours_of_a_type_have_a_limit(app: TestApp) {
    assert_eq!(bookable(&app, "talk", 720).await.cancel_hours, 720);
    for hours in [-1, 721] {
        let host = user(&app.owner);
        let add = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            actions::bookings::add_booking_type(tx, cx, &input(&host, "other", hours))
        };
        let refused = format!("{:?}", app.expect_refusal(&app.owner, add).await);
        assert!(refused.contains("cancel-until"), "{refused}");
        assert!(refused.contains("must be a whole number from 0 to 720"), "{refused}");
    }
}

/// The mails to the guest that left, soft line breaks undone.
fn to_guest(app: &TestApp) -> Vec<String> {
    let sent = app.outside.relay.attempts();
    let own = sent.iter().filter(|mail| is_to_guest(mail));
    own.map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}

async fn mails_say_until_when_it_can_be_moved_or_cancelled(app: TestApp) {
    let kind = bookable(&app, "talk", 2).await;
    booked(&app, &kind, at(TUESDAY)).await;
    app.pass(at(TUESDAY) - 30 * MINUTE - app.now()).await;
    let letters = to_guest(&app);
    assert_eq!(letters.len(), 3, "the invitation and two reminders");
    let until = "Move or cancel it until Tuesday 17 November 2026, 07:00 (Lisbon):";
    let late = "It begins too soon to be moved or cancelled with this link.";
    for (number, letter) in letters.iter().enumerate() {
        // An hour before it is too late.
        let is_late = number == 2;
        assert_eq!(letter.contains(until), !is_late, "{letter}");
        assert_eq!(letter.contains(late), is_late, "{letter}");
        assert_eq!(letter.contains("Whoever has this link"), !is_late, "{letter}");
    }

    // Booked when it is too late already.
    let strict = bookable(&app, "strict", 48).await;
    booked(&app, &strict, at(WEDNESDAY)).await;
    app.work().await;
    let invitation = app.outside.relay.attempts().into_iter().rfind(is_to_guest).unwrap();
    let text = String::from_utf8_lossy(&invitation.bytes).replace("=\r\n", "");
    assert!(text.contains(late) && !text.contains("Move or cancel it"), "{text}");
    let entry = mail::calendar_part(&invitation.bytes).unwrap();
    let entry = String::from_utf8(entry.bytes).unwrap().replace("\r\n ", "");
    assert!(entry.contains("DESCRIPTION:See the appointment: https://"), "{entry}");
}

fn is_to_guest(mail: &OutgoingMail) -> bool {
    mail.recipients == [GUEST]
}

/// What a calendar program mails for a guest who declines.
fn decline(booking: &Value) -> String {
    let id = text_of(booking, "id");
    format!(
        "Message-ID: <{id}@shop.example>\r\nFrom: Ann Shopper <{GUEST}>\r\n\
         To: support@acme.example\r\nSubject: Declined: First talk\r\n\
         Date: Sun, 15 Nov 2026 09:00:00 +0000\r\nAuto-Submitted: auto-replied\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"b\"\r\n\r\n\
         --b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nAnn has declined.\r\n\
         --b\r\nContent-Type: text/calendar; charset=utf-8; method=REPLY\r\n\r\n\
         BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REPLY\r\nBEGIN:VEVENT\r\n\
         UID:{id}@mail.acme.example\r\nSEQUENCE:0\r\nDTSTART:20261117T090000Z\r\n\
         ATTENDEE;PARTSTAT=DECLINED:mailto:{GUEST}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n--b--\r\n"
    )
}

async fn a_guest_who_declines_too_late_cancels_nothing_and_is_heard(app: TestApp) {
    let key = app.key("read write send").await;
    let kind = bookable(&app, "talk", 24).await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", "Can we talk?").await;
    let mut made = Vec::new();
    for start in [TUESDAY, WEDNESDAY] {
        let mut asked = body(kind.id.as_str(), start, GUEST);
        asked["conversationId"] = json!(mail.conversation);
        made.push(app.post(&key, "/bookings", asked).await.is(201).json());
    }
    let to = ["support@acme.example"];
    app.advance(at(MONDAY) - 1 - app.now());
    let taken = app.ingest(&to, &decline(&made[0])).await;
    assert!(matches!(taken[0], Ok(Ingested::CalendarAnswer)), "{taken:?}");
    assert_eq!(app.count("bookings WHERE status = 'cancelled'").await, 1);

    // A day before the other one, to the millisecond.
    app.advance(at(TUESDAY) - app.now());
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    let heard = filed_mail(&app.ingest(&to, &decline(&made[1])).await[0]);
    assert_eq!(heard.conversation, mail.conversation);
    assert_eq!(app.count("bookings WHERE status = 'cancelled'").await, 1);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    let texts = texts(&messages, "text");
    assert!(texts.iter().any(|text| text.contains("Ann has declined.")), "{texts:?}");
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
}
