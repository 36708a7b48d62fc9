//! Who books, moves and cancels: whoever may send from the inbox that writes to the guest.

use actions::inboxes::inbox_access::{self, InboxAccess};
use base::actor::Actor;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::json;
use testing::*;

use super::bookings::{MONDAY, TUESDAY, body, bookable, user};

on_both!(
    who_does_not_send_from_the_inbox_of_a_type_books_nothing_of_it,
    a_booking_of_a_conversation_is_changed_by_who_sends_from_its_inbox
);

const WEDNESDAY: &str = "2026-11-18T09:00:00.000Z";

fn sender(holder: AccessHolder) -> AccessEntry {
    AccessEntry { holder, may_see: true, may_send: true }
}

fn person(actor: &Actor) -> AccessHolder {
    AccessHolder::Person(user(actor))
}

/// The inbox that writes to guests, by default the team's first.
async fn give_support(app: &TestApp, everybody: bool, entries: Vec<AccessEntry>) {
    let id = app.support.id.clone();
    let access = InboxAccess { everybody, all_send: false, entries };
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access)).await;
}

async fn who_does_not_send_from_the_inbox_of_a_type_books_nothing_of_it(app: TestApp) {
    let sends = app.key("read send").await;
    let reads = app.key_of(&app.owner, "Reader", "read send", true).await;
    let test = app.test_key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let booked = app.post(&reads, "/bookings", body(&kind, MONDAY, "ann@shop.example")).await;
    let booked = text_of(&booked.is(201).json(), "id");
    let agent = AccessHolder::Agent(sends.id.clone());
    // First they see the inbox and do not send from it, then they do not see it either.
    for everybody in [true, false] {
        let entries = vec![sender(agent.clone()), sender(person(&app.owner))];
        give_support(&app, everybody, entries).await;
        let made = app.post(&reads, "/bookings", body(&kind, TUESDAY, "bob@shop.example")).await;
        assert!(made.is(403).error().contains("an inbox that you do not send from"));
        for (act, with) in [("move", json!({ "startsAt": TUESDAY })), ("cancel", json!({}))] {
            app.post(&reads, &format!("/bookings/{booked}/{act}"), with).await.is(403);
        }
        let slots = format!("/booking-types/{kind}/slots?from=2026-11-16&to=2026-11-16");
        app.get(&reads, &slots).await.is(200);
    }
    assert_eq!(app.count("bookings").await, 1);
    let path = format!("/bookings/{booked}/move");
    let moved = app.post(&sends, &path, json!({ "startsAt": TUESDAY })).await.is(200).json();
    let path = format!("/bookings/{}/cancel", text_of(&moved, "id"));
    app.post(&sends, &path, json!({})).await.is(200);
    app.post(&sends, "/bookings", body(&kind, MONDAY, "bob@shop.example")).await.is(201);

    let types = app.get(&test, "/booking-types").await.is(200).json();
    let sandbox = text_of(&types[0], "id");
    app.post(&test, "/bookings", body(&sandbox, TUESDAY, "ann@shop.test")).await.is(201);
}

async fn a_booking_of_a_conversation_is_changed_by_who_sends_from_its_inbox(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let filed = app.deliver(&billing, letter("ann@shop.example", "A talk", "When?")).await;
    give_support(&app, true, vec![sender(person(&app.owner))]).await;
    // The type writes from another inbox; this booking's mail comes from the conversation's.
    let mut asked = body(&kind, MONDAY, "ann@shop.example");
    asked["conversationId"] = json!(filed.conversation);
    let made = app.post(&key, "/bookings", asked).await.is(201).json();
    let path = format!("/bookings/{}/move", text_of(&made, "id"));
    let moved = app.post(&key, &path, json!({ "startsAt": WEDNESDAY })).await.is(200).json();
    let access =
        InboxAccess { everybody: true, all_send: false, entries: vec![sender(person(&app.owner))] };
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &billing.id, &access))
        .await;
    let path = format!("/bookings/{}/cancel", text_of(&moved, "id"));
    app.post(&key, &path, json!({})).await.is(403);
}
