//! Answers of calendar programs to invitations: what is only an answer, and what somebody has to read.

use bookings::types::{BookingType, BookingTypeInput};
use inbound::Ingested;
use mail::Dmarc;
use serde_json::{Value, json};
use testing::*;

use super::bookings::{TUESDAY, body};

on_both!(
    an_answer_without_words_is_no_news,
    words_in_an_accepting_answer_join_the_conversation_of_the_booking,
    words_in_a_declining_answer_are_filed_and_it_cancels,
    an_answer_from_somebody_else_is_a_mail_like_any_other,
    words_that_fail_dmarc_are_filed_apart,
    letters_that_nobody_sees_are_in_no_booking
);

const SUPPORT: &str = "support@acme.example";
const GUEST: &str = "ann@shop.example";

async fn bookable(app: &TestApp) -> BookingType {
    let host = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &host, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "First talk".into(),
            slug: "talk".into(),
            hosts: vec![host.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input)
    })
    .await
}

/// A booking in a conversation that is closed, and that conversation.
async fn booked(app: &TestApp) -> (TestKey, Value, String) {
    let key = app.key("read write send").await;
    let kind = bookable(app).await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", "Can we talk?").await;
    let mut asked = body(kind.id.as_str(), TUESDAY, GUEST);
    asked["conversationId"] = json!(mail.conversation);
    let booking = app.post(&key, "/bookings", asked).await.is(201).json();
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    (key, booking, mail.conversation.to_string())
}

struct CalendarMail<'a> {
    from: &'a str,
    status: &'a str,
    text: &'a str,
    /// Within the event, and as parameters of the attendee.
    comment: &'a str,
    parameters: &'a str,
}

impl Default for CalendarMail<'_> {
    fn default() -> Self {
        let text = "Ann Shopper has accepted this invitation.";
        CalendarMail { from: GUEST, status: "ACCEPTED", text, comment: "", parameters: "" }
    }
}

impl CalendarMail<'_> {
    fn raw(&self, booking: &Value) -> String {
        let id = text_of(booking, "id");
        let CalendarMail { from, status, text, comment, parameters } = self;
        format!(
            "Message-ID: <{id}@shop.example>\r\nFrom: Ann Shopper <{from}>\r\n\
             To: {SUPPORT}\r\nSubject: {status}: First talk\r\n\
             Date: Sun, 15 Nov 2026 09:00:00 +0000\r\nAuto-Submitted: auto-replied\r\n\
             MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"b\"\r\n\r\n\
             --b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n\
             --b\r\nContent-Type: text/calendar; charset=utf-8; method=REPLY\r\n\r\n\
             BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REPLY\r\nBEGIN:VEVENT\r\n\
             UID:{id}@mail.acme.example\r\nSEQUENCE:0\r\nDTSTART:20261117T090000Z\r\n{comment}\
             ATTENDEE;PARTSTAT={status}{parameters}:mailto:{GUEST}\r\n\
             END:VEVENT\r\nEND:VCALENDAR\r\n--b--\r\n"
        )
    }
}

async fn an_answer_without_words_is_no_news(app: TestApp) {
    let (key, booking, conversation) = booked(&app).await;
    let google = "Ann Shopper has accepted this invitation.\r\n\r\nFirst talk\r\nTuesday 17 Nov\r\n\
        \r\nInvitation from Google Calendar: https://calendar.google.com/calendar/";
    for text in ["", "Ann Shopper has accepted this invitation.", google, "Ann hat zugesagt."] {
        for status in ["ACCEPTED", "TENTATIVE"] {
            let mail = CalendarMail { text, status, ..CalendarMail::default() }.raw(&booking);
            let taken = app.ingest(&[SUPPORT], &mail).await;
            assert_eq!(taken, [Ok(Ingested::CalendarAnswer)], "{text}");
        }
    }
    assert_eq!(app.read(&key, &conversation).await["status"], "closed");
}

async fn words_in_an_accepting_answer_join_the_conversation_of_the_booking(app: TestApp) {
    let (key, booking, conversation) = booked(&app).await;
    let google =
        "Ann Shopper has accepted this invitation.\r\n\r\nhttps://calendar.google.com/calendar/";
    for (answer, words) in [
        (CalendarMail { text: "I bring the lamp along.", ..Default::default() }, "bring the lamp"),
        (
            CalendarMail {
                text: "I have accepted, but can we talk by phone?",
                ..Default::default()
            },
            "by phone",
        ),
        (
            CalendarMail { text: "Mein Mann hat abgesagt, ich komme allein", ..Default::default() },
            "ich komme allein",
        ),
        (
            CalendarMail {
                text: "Book a time with me: https://calendar.google.com/calendar/u/0",
                ..Default::default()
            },
            "Book a time",
        ),
        (
            CalendarMail { comment: "COMMENT:Is there parking?\r\n", ..Default::default() },
            "Is there parking?",
        ),
        (
            CalendarMail {
                text: google,
                parameters: ";X-RESPONSE-COMMENT=\"My dog comes too\"",
                ..Default::default()
            },
            "My dog comes too",
        ),
    ] {
        let heard = filed_mail(&app.ingest(&[SUPPORT], &answer.raw(&booking)).await[0]);
        assert_eq!(heard.conversation.as_str(), conversation, "{words}");
        let shown = app.timeline(&key, &conversation, "message").await;
        assert!(texts(&shown, "text").iter().any(|text| text.contains(words)), "{shown:?}");
        assert_eq!(app.read(&key, &conversation).await["status"], "open");
    }
    assert_eq!(app.count("bookings WHERE status = 'cancelled'").await, 0);
}

async fn words_in_a_declining_answer_are_filed_and_it_cancels(app: TestApp) {
    let (key, booking, conversation) = booked(&app).await;
    let mail = CalendarMail {
        status: "DECLINED",
        text: "I am ill. Does next week suit you?",
        ..CalendarMail::default()
    };
    let heard = filed_mail(&app.ingest(&[SUPPORT], &mail.raw(&booking)).await[0]);
    assert_eq!(heard.conversation.as_str(), conversation);
    assert_eq!(app.count("bookings WHERE status = 'cancelled'").await, 1);
    let shown = app.timeline(&key, &conversation, "message").await;
    assert!(texts(&shown, "text").iter().any(|text| text.contains("I am ill.")), "{shown:?}");
}

async fn an_answer_from_somebody_else_is_a_mail_like_any_other(app: TestApp) {
    let (_, booking, conversation) = booked(&app).await;
    let mail = CalendarMail { from: "eve@evil.example", ..CalendarMail::default() };
    let heard = filed_mail(&app.ingest(&[SUPPORT], &mail.raw(&booking)).await[0]);
    assert_ne!(heard.conversation.as_str(), conversation);
}

async fn words_that_fail_dmarc_are_filed_apart(app: TestApp) {
    let (_, booking, conversation) = booked(&app).await;
    app.outside.authenticator.says(Dmarc::Fail);
    let mail = CalendarMail { text: "Pay here instead.", ..CalendarMail::default() };
    let heard = filed_mail(&app.ingest(&[SUPPORT], &mail.raw(&booking)).await[0]);
    assert_ne!(heard.conversation.as_str(), conversation);
}

async fn letters_that_nobody_sees_are_in_no_booking(app: TestApp) {
    let key = app.key("read write send").await;
    let kind = bookable(&app).await;
    let hidden = "\u{e0049}\u{e0067}\u{e006e}\u{202e}";
    let mut asked = body(kind.id.as_str(), TUESDAY, GUEST);
    asked["name"] = json!(hidden);
    let refused = app.post(&key, "/bookings", asked.clone()).await.is(400).json();
    assert_eq!(refused["error"], "name: must have letters that can be seen");
    asked["name"] = json!(format!("Ann{hidden} Shopper"));
    let booking = app.post(&key, "/bookings", asked).await.is(201).json();
    assert_eq!(booking["guest"]["name"], "Ann Shopper", "{booking}");
}
