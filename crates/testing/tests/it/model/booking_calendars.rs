//! Hosts' calendars and hours: read again before a booking, unreadable ones, public holidays, shares.

use std::sync::{Arc, Mutex};

use actions::writing::compose;
use base::ids::MessageId;
use bookings::calendars::{CalendarAnswer, CalendarKind, CalendarSource, NewCalendar};
use bookings::types::BookingTypeInput;
use jobs::{BoxFuture, CalendarReader};
use serde_json::{Value, json};
use testing::*;

use super::bookings::{MONDAY, TUESDAY, body, bookable, user};

on_both!(
    an_unreadable_calendar_warns_its_host_after_an_hour_and_stops_offering_them_after_a_day,
    a_calendar_is_read_again_just_before_a_booking,
    a_public_holiday_is_a_day_off_unless_the_date_has_hours,
    turns_follow_the_shares_of_hosts,
    a_team_offers_times_in_a_reply_and_sees_offer_and_booking_in_the_conversation,
    a_draft_that_offers_times_is_not_approved_for_later
);

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A calendar whose server answers as the test says.
struct ScriptedCalendar(Mutex<CalendarAnswer>);

impl CalendarReader for ScriptedCalendar {
    fn read<'a>(&'a self, _: &'a CalendarSource) -> BoxFuture<'a, CalendarAnswer> {
        Box::pin(async { self.0.lock().unwrap().clone() })
    }
}

impl ScriptedCalendar {
    fn says(&self, answer: CalendarAnswer) {
        *self.0.lock().unwrap() = answer;
    }
}

fn calendar(events: &str) -> CalendarAnswer {
    let bytes = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n");
    CalendarAnswer::Feed { bytes: bytes.into_bytes(), etag: String::new() }
}

fn failed() -> CalendarAnswer {
    CalendarAnswer::Failed("The server answered with the status 500.".into())
}

/// The owner's calendar, read once and empty.
async fn subscribed(app: &mut TestApp) -> Arc<ScriptedCalendar> {
    let script = Arc::new(ScriptedCalendar(Mutex::new(calendar(""))));
    app.set_calendars(script.clone());
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        let new = NewCalendar {
            kind: CalendarKind::Ics,
            address: "https://calendar.test/secret.ics".into(),
            user: String::new(),
            password: String::new(),
        };
        actions::bookings::add_busy_calendar(tx, cx, &person, &new)
    })
    .await;
    app.work().await;
    script
}

async fn free_times(app: &TestApp, key: &TestKey, kind: &str, day: &str) -> usize {
    let path = format!("/booking-types/{kind}/slots?from={day}&to={day}");
    match app.get(key, &path).await.is(200).json() {
        Value::Array(slots) => slots.len(),
        other => panic!("{other}"),
    }
}

fn warnings(app: &TestApp) -> usize {
    let sent = app.outside.relay.attempts();
    let is_warning = |mail: &&jobs::OutgoingMail| {
        String::from_utf8_lossy(&mail.bytes).contains("Your calendar cannot be read")
    };
    sent.iter().filter(is_warning).count()
}

async fn an_unreadable_calendar_warns_its_host_after_an_hour_and_stops_offering_them_after_a_day(
    mut app: TestApp,
) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let script = subscribed(&mut app).await;
    let day = "2026-11-25";
    let all = free_times(&app, &key, &kind, day).await;
    assert!(all > 0);

    script.says(failed());
    app.pass(65 * MINUTE).await;
    assert_eq!(warnings(&app), 0, "it fails for less than an hour");
    app.pass(10 * MINUTE).await;
    assert_eq!(warnings(&app), 1);
    app.pass(20 * HOUR).await;
    assert_eq!(warnings(&app), 1, "the host is told once");
    assert_eq!(free_times(&app, &key, &kind, day).await, all);
    app.pass(4 * HOUR).await;
    assert_eq!(free_times(&app, &key, &kind, day).await, 0);

    script.says(CalendarAnswer::Unchanged);
    app.pass(10 * MINUTE).await;
    assert_eq!(free_times(&app, &key, &kind, day).await, all);
}

async fn a_calendar_is_read_again_just_before_a_booking(mut app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let script = subscribed(&mut app).await;
    let busy = "BEGIN:VEVENT\r\nUID:a@calendar.test\r\nDTSTART:20261116T083000Z\r\n\
                DTEND:20261116T093000Z\r\nEND:VEVENT\r\n";
    script.says(calendar(busy));
    app.advance(5 * MINUTE);
    let worker = app.keep_working();
    app.post(&key, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await.is(409);

    // One that cannot be read is not waited for; what is known counts.
    script.says(failed());
    app.advance(5 * MINUTE);
    app.post(&key, "/bookings", body(&kind, TUESDAY, "ann@shop.example")).await.is(201);
    app.advance(5 * MINUTE);
    app.post(&key, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await.is(409);
    drop(worker);
}

async fn a_public_holiday_is_a_day_off_unless_the_date_has_hours(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let day = "2026-12-25";
    assert!(free_times(&app, &key, &kind, day).await > 0);
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| actions::bookings::set_holidays(tx, cx, &person, "DE-BE"))
        .await;
    assert_eq!(free_times(&app, &key, &kind, day).await, 0);
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_host_date(tx, cx, &person, (day, "10:00-11:00"), "")
    })
    .await;
    assert_eq!(free_times(&app, &key, &kind, day).await, 2);
    let person = user(&app.owner);
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            actions::bookings::set_holidays(tx, cx, &person, "Atlantis")
        })
        .await;
    assert!(format!("{refused:?}").contains("holidays"), "{refused:?}");
}

async fn turns_follow_the_shares_of_hosts(app: TestApp) {
    let key = app.key("read send").await;
    let ines = app.person("Ines").await;
    bookable(&app, "hours", 30, &[&app.owner, &ines]).await;
    let (owner, other) = (user(&app.owner), user(&ines));
    let kind = app
        .act(&app.owner, move |tx, cx| {
            let input = BookingTypeInput {
                name: "Shared".into(),
                slug: "shared".into(),
                hosts: vec![owner.clone(), other.clone()],
                weights: vec![(owner.clone(), 1), (other.clone(), 2)],
                ..BookingTypeInput::default()
            };
            Ok(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string())
        })
        .await;
    let mut of_ines = 0;
    for hour in 8..14 {
        if hour == 11 {
            continue;
        }
        let start = format!("2026-11-16T{hour:02}:00:00.000Z");
        let made = app.post(&key, "/bookings", body(&kind, &start, "ann@shop.example")).await;
        of_ines += usize::from(made.is(201).json()["host"]["name"] == json!("Ines Teammate"));
    }
    let start = "2026-11-16T14:30:00.000Z";
    let made = app.post(&key, "/bookings", body(&kind, start, "ann@shop.example")).await;
    of_ines += usize::from(made.is(201).json()["host"]["name"] == json!("Ines Teammate"));
    assert_eq!(of_ines, 4, "of six");
}

async fn a_team_offers_times_in_a_reply_and_sees_offer_and_booking_in_the_conversation(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let filed = app.mail("ann@shop.example", "A talk", "When can we talk?").await;
    let conversation = filed.conversation.to_string();
    let (wanted, offered) = (conversation.clone(), kind.clone());
    app.act(&app.owner, move |tx, cx| {
        let message = compose::NewReply {
            body: "Any of these?".into(),
            format: model::messages::written_text::TextFormat::Plain,
            recipients: model::messages::recipients::RecipientList {
                to: compose::parties("ann@shop.example").unwrap(),
                ..model::messages::recipients::RecipientList::default()
            },
            close: false,
            send: false,
            forwards: None,
            secure: None,
            times: outbound::scheduling::MessageTimes::default(),
        };
        let times = vec![serde_json::from_value(json!(MONDAY)).unwrap()];
        let offer = bookings::offers::OfferInput { type_id: offered.clone(), times };
        testing::offer_times(tx, cx, &wanted, &message, &offer)
    })
    .await;
    let wanted = conversation.clone();
    let found = app
        .act(&app.owner, move |tx, cx| {
            actions::conversation_bookings::conversation_bookings(tx, cx, &wanted)
        })
        .await;
    assert_eq!(found.offers.len(), 1);
    assert_eq!(found.offers[0].times.len(), 1);
    assert!(found.bookings.is_empty());

    let mut asked = body(&kind, MONDAY, "ann@shop.example");
    asked["conversationId"] = json!(conversation);
    app.post(&key, "/bookings", asked).await.is(201);
    let found = app
        .act(&app.owner, move |tx, cx| {
            actions::conversation_bookings::conversation_bookings(tx, cx, &conversation)
        })
        .await;
    assert_eq!(found.bookings.len(), 1);
}

async fn a_draft_that_offers_times_is_not_approved_for_later(app: TestApp) {
    let key = app.key("read draft").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let filed = app.mail("ann@shop.example", "A talk", "When can we talk?").await;
    let reply = json!({ "body": "Any of these?", "booking": { "typeId": kind } });
    let draft = app.on(&key, &filed.conversation, "replies", reply).await.is(201).json();
    let id = MessageId::parse(&text_of(&draft, "messageId")).unwrap();
    let (wanted, at) = (id.clone(), app.now() + HOUR);
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            testing::approve_draft_at(tx, cx, &wanted, 1, "Any of these?", Some(at))
        })
        .await;
    assert!(refused.to_string().contains("offers times cannot wait"), "{refused}");
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &id, 1, "Any of these?"))
        .await;
}
