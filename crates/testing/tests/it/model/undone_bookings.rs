//! Undoing the bookings that an agent planned, made, moved and cancelled.

use bookings::booking;
use model::conversations::agent_acts::AgentActKind;
use outbound::agent_undo::{self, ActTarget, AgentUndo};
use serde_json::json;
use testing::*;

use super::bookings::{MONDAY, TUESDAY, at, body, bookable};

on_both!(
    a_planned_booking_is_stopped_and_nobody_hears_of_it,
    a_booking_that_was_made_is_cancelled_and_the_guest_is_told,
    a_booking_that_belongs_to_no_conversation_is_undone_too,
    a_booking_that_somebody_moved_is_left,
    a_booking_that_is_over_is_left,
    a_planned_cancellation_is_stopped_and_one_that_was_done_is_left
);

const ANN: &str = "ann@shop.example";

/// The id of a booking of a known customer by an agent, which is made in ten minutes.
async fn planned(app: &TestApp, key: &TestKey) -> String {
    let kind = bookable(app, "talk", 30, &[&app.owner]).await;
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    app.exec("UPDATE contacts SET standing = 'trusted'").await;
    let mut input = body(&kind, MONDAY, ANN);
    input["conversationId"] = json!(mail.conversation.to_string());
    let made = app.post(key, "/bookings", input).await.is(201).json();
    assert_eq!(made["status"], "held");
    text_of(&made, "id")
}

async fn undo_since(app: &TestApp, key: &TestKey, since: i64) -> AgentUndo {
    app.advance(SECOND);
    let agent = key.id.clone();
    app.act(&app.owner, move |tx, cx| agent_undo::undo_since(tx, cx, &agent, since)).await
}

fn undone(outcome: &AgentUndo) -> Vec<AgentActKind> {
    outcome.undone.iter().map(|step| step.kind).collect()
}

fn left(outcome: &AgentUndo) -> Vec<AgentActKind> {
    outcome.left.iter().map(|step| step.kind).collect()
}

fn mails_to_ann(app: &TestApp) -> usize {
    let sent = app.outside.relay.attempts();
    sent.iter().filter(|mail| mail.recipients.iter().any(|to| to == ANN)).count()
}

async fn are(app: &TestApp, id: &str, status: &str) -> i64 {
    app.count(&format!("bookings WHERE id = '{id}' AND status = '{status}'")).await
}

async fn a_planned_booking_is_stopped_and_nobody_hears_of_it(app: TestApp) {
    let key = app.agent_key("send").await;
    let id = planned(&app, &key).await;
    let outcome = undo_since(&app, &key, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (vec![AgentActKind::Booked], Vec::new()));
    assert_eq!(app.count(&format!("bookings WHERE id = '{id}'")).await, 0);
    app.pass(DAY).await;
    assert_eq!(mails_to_ann(&app), 0);
}

async fn a_booking_that_was_made_is_cancelled_and_the_guest_is_told(app: TestApp) {
    let key = app.agent_key("send").await;
    let id = planned(&app, &key).await;
    app.pass(11 * MINUTE).await;
    assert_eq!((are(&app, &id, "booked").await, mails_to_ann(&app)), (1, 1));
    let outcome = undo_since(&app, &key, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (vec![AgentActKind::Booked], Vec::new()));
    app.work().await;
    assert_eq!((are(&app, &id, "cancelled").await, mails_to_ann(&app)), (1, 2));
}

async fn a_booking_that_belongs_to_no_conversation_is_undone_too(app: TestApp) {
    let key = app.key("send").await;
    let kind = bookable(&app, "talk", 30, &[&app.owner]).await;
    let made = app.post(&key, "/bookings", body(&kind, MONDAY, ANN)).await.is(201).json();
    assert_eq!((&made["status"], &made["conversationId"]), (&json!("booked"), &json!(null)));
    let id = text_of(&made, "id");
    app.work().await;
    let outcome = undo_since(&app, &key, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (vec![AgentActKind::Booked], Vec::new()));
    assert_eq!(outcome.undone[0].on, ActTarget::Booking(id.clone()));
    app.work().await;
    assert_eq!((are(&app, &id, "cancelled").await, mails_to_ann(&app)), (1, 2));
    let again = undo_since(&app, &key, 0).await;
    assert!(again.undone.is_empty() && again.left.is_empty());
}

async fn a_booking_that_somebody_moved_is_left(app: TestApp) {
    let key = app.agent_key("send").await;
    let id = planned(&app, &key).await;
    app.pass(11 * MINUTE).await;
    let moved = app.act(&app.owner, move |tx, cx| {
        let found = bookings::load(tx, cx.actor, &id)?;
        booking::reschedule(tx, cx, &found, at(TUESDAY))
    });
    let moved = moved.await.id.to_string();
    let outcome = undo_since(&app, &key, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (Vec::new(), vec![AgentActKind::Booked]));
    assert_eq!(are(&app, &moved, "booked").await, 1);
}

async fn a_booking_that_is_over_is_left(app: TestApp) {
    let key = app.agent_key("send").await;
    let id = planned(&app, &key).await;
    app.pass(2 * DAY).await;
    let outcome = undo_since(&app, &key, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (Vec::new(), vec![AgentActKind::Booked]));
    assert_eq!(are(&app, &id, "booked").await, 1);
}

async fn a_planned_cancellation_is_stopped_and_one_that_was_done_is_left(app: TestApp) {
    let key = app.agent_key("send").await;
    let id = planned(&app, &key).await;
    app.pass(11 * MINUTE).await;
    let (since, cancel) = (app.now(), format!("/bookings/{id}/cancel"));
    app.post(&key, &cancel, json!({})).await.is(200);
    let outcome = undo_since(&app, &key, since).await;
    assert_eq!((undone(&outcome), left(&outcome)), (vec![AgentActKind::Rebooked], Vec::new()));
    app.pass(11 * MINUTE).await;
    assert_eq!((are(&app, &id, "booked").await, mails_to_ann(&app)), (1, 1));
    let program = app.key("send").await;
    app.post(&program, &cancel, json!({})).await.is(200);
    let outcome = undo_since(&app, &program, 0).await;
    assert_eq!((undone(&outcome), left(&outcome)), (Vec::new(), vec![AgentActKind::Rebooked]));
    assert_eq!(are(&app, &id, "cancelled").await, 1);
}
