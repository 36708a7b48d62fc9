//! Look-alikes of people that a workspace corresponds with.

use mail::Dmarc;
use serde_json::Value;
use testing::{DAY, TestApp, on_both, raw};

on_both!(
    a_look_alike_of_somebody_we_answered_is_warned_of,
    who_only_wrote_to_us_is_nobody_to_look_like,
    two_that_we_both_know_are_no_look_alikes,
    public_providers_look_like_nobody,
    a_team_inbox_learns_nothing_of_whom_a_private_one_knows,
    however_many_are_known_few_rows_are_read
);

/// Whether a mail is warned of as coming from a look-alike.
async fn looks_alike(app: &TestApp, from: &str, subject: &str) -> bool {
    let received = app.arrives(&raw(from, subject, "Please look at the new figures.")).await;
    let key = app.key("read").await;
    let read = app.read(&key, &received.conversation).await;
    let reasons = read["riskReasons"].as_array().unwrap().iter();
    reasons.filter_map(Value::as_str).any(|reason| reason.contains("which you know"))
}

/// Somebody writes and is answered.
async fn corresponds(app: &TestApp, from: &str) {
    let key = app.key("send").await;
    let mail = app.mail(from, &format!("From {from}"), "Hello").await;
    app.send_reply(&key, &mail.conversation, "Hello back").await;
}

async fn a_look_alike_of_somebody_we_answered_is_warned_of(app: TestApp) {
    corresponds(&app, "bruno@keller-lamps.example").await;
    assert!(looks_alike(&app, "bruno@keller-larnps.example", "Invoice").await);
    assert!(!looks_alike(&app, "cara@keller-lamps.example", "Order").await);
    assert!(!looks_alike(&app, "dan@other-shop.example", "Hello").await);
}

async fn who_only_wrote_to_us_is_nobody_to_look_like(app: TestApp) {
    app.arrives(&raw("eve@keller-larnps.example", "First", "Hello")).await;
    assert!(!looks_alike(&app, "bruno@keller-lamps.example", "Invoice").await);
}

async fn two_that_we_both_know_are_no_look_alikes(app: TestApp) {
    corresponds(&app, "bruno@keller-lamps.example").await;
    corresponds(&app, "bruno@kellerlamps.example").await;
    assert!(!looks_alike(&app, "cara@kellerlamps.example", "Invoice").await);
}

async fn public_providers_look_like_nobody(app: TestApp) {
    corresponds(&app, "bruno@gmail.com").await;
    corresponds(&app, "bruno@mails.com").await;
    app.outside.authenticator.says(Dmarc::Pass);
    assert!(!looks_alike(&app, "eve@mail.com", "Invoice").await);
}

async fn a_team_inbox_learns_nothing_of_whom_a_private_one_knows(app: TestApp) {
    let private = app.private_inbox(&app.owner).await;
    let service = app.service(&private);
    app.act(&service, |tx, cx| {
        Ok(tx.exec(
            "INSERT INTO correspondents (ws, circle, domain, last_at) VALUES (?1, ?2, ?3, 1)",
            &[&cx.actor.ws, cx.actor.circles.pair().0, &"keller-lamps.example"],
        )?)
    })
    .await;
    assert!(!looks_alike(&app, "bruno@keller-larnps.example", "Invoice").await);
}

async fn however_many_are_known_few_rows_are_read(app: TestApp) {
    app.act(&app.owner, |tx, cx| {
        for number in 0..1_000i64 {
            tx.exec(
                "INSERT INTO correspondents (ws, circle, domain, last_at) VALUES (?1, 'team', ?2, ?3)",
                &[&cx.actor.ws, &format!("modem-{number}-{number}-{number}.example"), &(cx.now - number * DAY)],
            )?;
        }
        Ok(())
    })
    .await;
    assert!(looks_alike(&app, "a@modern-7-7-7.example", "Invoice").await);
    assert!(!looks_alike(&app, "a@modern-900-900-900.example", "Order").await);
}
