//! What invitations and cancellations of bookings say: with whom, about what, who cancelled and why.

use bookings::{booking, guest, load};
use serde_json::{Value, json};
use testing::*;

use super::bookings::{MONDAY, TUESDAY, body, bookable};

on_both!(
    each_entry_says_with_whom_and_the_hosts_has_the_answers,
    a_cancellation_says_who_cancelled_and_why_and_offers_nothing_to_cancel
);

const GUEST: &str = "ann@shop.example";
const HOST: &str = "owner@acme.example";

/// A mail with an entry for a calendar: its words, the method and the unfolded lines of the entry.
struct Invitation {
    to: String,
    words: String,
    method: String,
    entry: Vec<String>,
}

impl Invitation {
    fn value(&self, name: &str) -> &str {
        let start = |line: &&String| line.split([':', ';']).next() == Some(name);
        let line = self.entry.iter().find(start);
        line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value)
    }

    fn attendees(&self) -> Vec<&str> {
        let lines = self.entry.iter().filter(|line| line.starts_with("ATTENDEE"));
        lines.map(|line| line.rsplit(':').next().unwrap()).collect()
    }
}

/// What was mailed since the last time.
fn invitations(app: &TestApp, seen: &mut usize) -> Vec<Invitation> {
    let sent = app.outside.relay.attempts();
    let fresh = sent.iter().skip(*seen).filter_map(|mail| {
        let part = mail::calendar_part(&mail.bytes)?;
        let entry = String::from_utf8(part.bytes).unwrap().replace("\r\n ", "");
        let words = String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "");
        Some(Invitation {
            to: mail.recipients[0].clone(),
            words: words.split("BEGIN:VCALENDAR").next().unwrap().to_owned(),
            method: part.method.unwrap(),
            entry: entry.lines().map(str::to_owned).collect(),
        })
    });
    let fresh: Vec<Invitation> = fresh.collect();
    *seen = sent.len();
    fresh
}

fn to<'a>(all: &'a [Invitation], address: &str) -> &'a Invitation {
    all.iter().find(|one| one.to == address).unwrap_or_else(|| panic!("no mail to {address}"))
}

async fn made(app: &TestApp, key: &TestKey, start: &str) -> Value {
    let kind = app.get(key, "/booking-types").await.is(200).json()[0]["id"].clone();
    let mut asked = body(kind.as_str().unwrap(), start, GUEST);
    asked["answers"] =
        json!([{ "question": "What is it about?", "answer": "Order 20418; two lamps" }]);
    app.post(key, "/bookings", asked).await.is(201).json()
}

async fn each_entry_says_with_whom_and_the_hosts_has_the_answers(app: TestApp) {
    let key = app.key("read send").await;
    bookable(&app, "first-talk", 30, &[&app.owner]).await;
    let (made, mut seen) = (made(&app, &key, MONDAY).await, 0);
    app.work().await;
    let path = format!("/bookings/{}/move", text_of(&made, "id"));
    let before = invitations(&app, &mut seen);
    app.post(&key, &path, json!({ "startsAt": TUESDAY })).await.is(200);
    app.work().await;
    let after = invitations(&app, &mut seen);
    for all in [before, after] {
        let (guest, host) = (to(&all, GUEST), to(&all, HOST));
        assert_eq!(guest.value("SUMMARY"), "First talk with Olive Owner\\, Acme");
        assert_eq!(host.value("SUMMARY"), "First talk with Ann Shopper");
        for one in [guest, host] {
            assert_eq!(one.attendees(), [GUEST, HOST], "{:?}", one.entry);
            assert!(one.entry.iter().any(|line| line.starts_with("ATTENDEE;CN=Olive Owner;")));
            assert_eq!(one.value("ORGANIZER"), "mailto:support@acme.example");
        }
        let about = host.value("DESCRIPTION");
        assert!(about.contains("What is it about?\\nOrder 20418\\; two lamps"), "{about}");
        assert!(about.contains("Ann Shopper <ann@shop.example>"), "{about}");
        assert!(about.contains("https://mail.acme.example/calendar/bkg_"), "{about}");
        assert!(!guest.value("DESCRIPTION").contains("/calendar/bkg_"));
    }
}

async fn a_cancellation_says_who_cancelled_and_why_and_offers_nothing_to_cancel(app: TestApp) {
    let key = app.key("read send").await;
    bookable(&app, "first-talk", 30, &[&app.owner]).await;
    let by_agent = json!({ "reason": "We are ill" });
    for who in ["guest", "person", "agent", "silent guest"] {
        let id = text_of(&made(&app, &key, MONDAY).await, "id");
        app.work().await;
        let mut seen = app.outside.relay.attempts().len();
        let off = id.clone();
        match who {
            "agent" => {
                let path = format!("/bookings/{id}/cancel");
                app.post(&key, &path, by_agent.clone()).await.is(200);
            }
            "person" => {
                app.act(&app.owner, move |tx, cx| {
                    let found = load(tx, cx.actor, &off)?;
                    booking::cancel(tx, cx, &found, "We are ill")
                })
                .await;
            }
            _ => {
                let reason = if who == "guest" { "We are ill" } else { "" };
                let service = app.service(&app.support);
                app.act(&service, move |tx, cx| {
                    let found = load(tx, cx.actor, &off)?;
                    guest::cancel(tx, cx, &found, reason)
                })
                .await;
            }
        }
        app.work().await;
        let all = invitations(&app, &mut seen);
        let (guest, host) = (to(&all, GUEST), to(&all, HOST));
        let (to_guest, to_host) = match who {
            "agent" => ("we cancelled this appointment.", "Robo cancelled this appointment."),
            "person" => ("Olive Owner cancelled this", "You cancelled this appointment."),
            _ => ("you cancelled this appointment.", "Ann Shopper cancelled this appointment."),
        };
        assert!(guest.words.contains(to_guest), "{who}: {}", guest.words);
        assert!(host.words.contains(to_host), "{who}: {}", host.words);
        let is_silent = who == "silent guest";
        let why = if is_silent { "No reason was given." } else { "Reason: We are ill" };
        assert!(host.words.contains(why), "{who}: {}", host.words);
        assert_eq!(guest.words.contains("Reason: We are ill"), !is_silent, "{}", guest.words);
        for one in [guest, host] {
            assert_eq!(one.method, "CANCEL");
            let words = one.words.to_lowercase();
            assert!(!words.contains("move or cancel"), "{who}: {words}");
            assert!(!words.contains("/b/m/"), "{who}: {words}");
            assert!(!one.value("DESCRIPTION").contains("https://"), "{who}");
            assert!(one.value("DESCRIPTION").contains("cancelled this appointment"), "{who}");
            assert_eq!(one.attendees(), [GUEST, HOST]);
        }
        assert_eq!(guest.value("SUMMARY"), "First talk with Olive Owner\\, Acme");
        assert_eq!(host.value("SUMMARY"), "First talk with Ann Shopper");
    }
}
