//! Limits of SMTP sessions and connections.

use std::time::Duration;

use mail::smtp::SessionLimits;
use server::mail_in::smtp::SmtpLimits;

use crate::support::{TestApp, on_both, raw};

on_both!(
    a_mail_has_so_many_recipients,
    one_address_has_so_many_connections_and_all_have_so_many,
    a_silent_client_is_hung_up_on,
    a_mail_that_trickles_in_is_hung_up_on_and_leaves_nothing,
    a_session_does_not_last_forever,
    mail_beyond_the_room_for_all_is_put_off,
    closing_doors_say_goodbye_and_finish_what_they_took
);

const SUPPORT: &str = "support@acme.example";

/// Short enough that a test does not wait, long enough that nothing but the rule ends it.
const SHORT: Duration = Duration::from_millis(200);

async fn a_mail_has_so_many_recipients(app: TestApp) {
    let session = SessionLimits { recipients: 3, ..SessionLimits::default() };
    let limits = SmtpLimits { session, ..SmtpLimits::default() };
    let doors = app.doors(limits, "").await;
    let mut client = doors.known_client().await;
    client.say("MAIL FROM:<ann@x.example>", "250 ").await;
    for tag in 0..3 {
        client.say(&format!("RCPT TO:<support+{tag}@acme.example>"), "250 ").await;
    }
    client.say("RCPT TO:<support@acme.example>", "452 4.5.3").await;
    client.say("DATA", "354 ").await;
    client.write(format!("{}.\r\n", raw("ann@x.example", "Lamp", "x")).as_bytes()).await;
    client.hears("250 ").await;
}

async fn one_address_has_so_many_connections_and_all_have_so_many(app: TestApp) {
    let each = SmtpLimits { connections_each: 2, ..SmtpLimits::default() };
    let all = SmtpLimits { connections: 2, ..SmtpLimits::default() };
    for limits in [each, all] {
        let doors = app.doors(limits, "").await;
        let first = doors.client().await;
        let _second = doors.client().await;
        let mut third =
            crate::support::Client::over(tokio::net::TcpStream::connect(doors.smtp).await.unwrap());
        third.hears("421 4.7.0").await;
        assert!(third.is_over().await);
        drop(first);
        crate::support::eventually(async || {
            let stream = tokio::net::TcpStream::connect(doors.smtp).await.unwrap();
            crate::support::Client::over(stream).next_is("220 ").await
        })
        .await;
    }
}

async fn a_silent_client_is_hung_up_on(app: TestApp) {
    let doors = app.doors(SmtpLimits { silence: SHORT, ..SmtpLimits::default() }, "").await;
    let mut client = doors.client().await;
    client.hears("421 4.4.2").await;
    assert!(client.is_over().await);
}

async fn a_mail_that_trickles_in_is_hung_up_on_and_leaves_nothing(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits { message_time: SHORT, ..SmtpLimits::default() }, "").await;
    let mut client = doors.known_client().await;
    client.say("MAIL FROM:<ann@x.example>", "250 ").await;
    client.say("RCPT TO:<support@acme.example>", "250 ").await;
    client.say("DATA", "354 ").await;
    client.trickle(SHORT / 20).await;
    client.hears("421 4.4.2").await;
    assert!(app.list(&key, "view=all").await.is_empty());
}

async fn a_session_does_not_last_forever(app: TestApp) {
    let doors = app.doors(SmtpLimits { session_time: SHORT, ..SmtpLimits::default() }, "").await;
    let mut client = doors.known_client().await;
    client.hears("421 4.4.2").await;
}

async fn mail_beyond_the_room_for_all_is_put_off(app: TestApp) {
    let limits = SmtpLimits { bytes_at_once: 100_000, ..SmtpLimits::default() };
    let doors = app.doors(limits, "").await;
    let mut client = doors.known_client().await;
    let large = raw("ann@x.example", "Lamp", &"0123456789abcdef\r\n".repeat(20_000));
    client.send(SUPPORT, &large, "452 4.3.1").await;
    client.send(SUPPORT, &raw("ann@x.example", "Lamp", "small"), "250 ").await;
}

async fn closing_doors_say_goodbye_and_finish_what_they_took(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut idle = doors.known_client().await;
    let mut busy = doors.known_client().await;
    busy.send(SUPPORT, &raw("ann@x.example", "Lamp", "text"), "250 ").await;
    doors.close();
    idle.hears("421 4.3.2").await;
    assert!(idle.is_over().await);
    busy.hears("421 4.3.2").await;
    doors.closed().await;
    assert_eq!(app.list(&key, "").await.len(), 1);
}
