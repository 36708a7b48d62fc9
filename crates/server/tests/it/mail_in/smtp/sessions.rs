//! SMTP sessions from greeting to goodbye.

use inbound::MailSource;
use server::mail_in::smtp::SmtpLimits;
use tokio::net::UnixStream;

use crate::support::{Client, TestApp, on_both, raw, raw_with};

on_both!(
    a_mail_sent_by_smtp_is_there_when_the_server_says_so,
    only_our_inboxes_are_recipients_and_nobody_elses,
    lmtp_answers_for_each_recipient,
    the_postmaster_is_somebody_of_the_team_by_smtp_and_lmtp,
    a_trusted_network_is_not_the_sender,
    the_same_mail_sent_again_is_acknowledged_and_stored_once,
    a_mail_in_circles_is_put_off,
    a_suspended_workspace_puts_its_mail_off_at_rcpt_to,
    trouble_of_ours_is_told_as_such_and_nothing_is_acknowledged,
    many_clients_at_once_lose_nothing
);

const SUPPORT: &str = "support@acme.example";

async fn a_mail_sent_by_smtp_is_there_when_the_server_says_so(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    let mail = raw("Ann <ann@x.example>", "Lamp", ".\r\n..dotted");
    client.send(SUPPORT, &mail, "250 2.0.0").await;
    assert_eq!(app.subjects(&key, "").await, ["Lamp"]);
    let read = app.read(&key, &app.list(&key, "").await[0]["id"].as_str().unwrap()).await;
    assert_eq!(read["timeline"][0]["text"], ".\n..dotted");
    client.send(SUPPORT, &raw("Ben <ben@x.example>", "Chair", "text"), "250 ").await;
    client.say("QUIT", "221 ").await;
    assert!(client.is_over().await);
    assert_eq!(app.list(&key, "").await.len(), 2);
    let source = MailSource::Sender { ip: [127, 0, 0, 1].into(), helo: "client.x.example".into() };
    assert_eq!(app.outside.authenticator.sources(), [source.clone(), source]);
}

async fn only_our_inboxes_are_recipients_and_nobody_elses(app: TestApp) {
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    client.say("MAIL FROM:<support@acme.example>", "250 ").await;
    for stranger in [
        "ann@x.example",
        "nobody@acme.example",
        "support@elsewhere.example",
        "support%elsewhere.example@acme.example",
        "sandbox@acme.test",
        "postmaster@elsewhere.example",
        "postmaster@acme.test",
        "postmaster@cme.example",
        "postmaster@%.example",
        "postmasters@acme.example",
    ] {
        client.say(&format!("RCPT TO:<{stranger}>"), "550 5.1.1").await;
    }
    client.say("DATA", "503 ").await;
    client.say("RCPT TO:<Support+Inv-7@ACME.example>", "250 ").await;
    client.say("RCPT TO:<@relay.example:support@acme.example>", "250 ").await;
}

async fn lmtp_answers_for_each_recipient(app: TestApp) {
    let key = app.key("read").await;
    app.team_inbox("sales@acme.example", "Sales").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let stream = UnixStream::connect(&doors.lmtp).await.unwrap();
    let mut client = Client::greeted(stream, "220 ").await;
    client.say("LHLO mx.acme.example", "250 ").await;
    client.say("MAIL FROM:<ann@x.example>", "250 ").await;
    client.say("RCPT TO:<support@acme.example>", "250 ").await;
    client.say("RCPT TO:<nobody@acme.example>", "550 ").await;
    client.say("RCPT TO:<sales@acme.example>", "250 ").await;
    client.say("DATA", "354 ").await;
    client.write(format!("{}.\r\n", raw("ann@x.example", "Lamp", "text")).as_bytes()).await;
    client.hears("250 ").await;
    client.hears("250 ").await;
    client.say("QUIT", "221 ").await;
    assert_eq!(app.list(&key, "").await.len(), 2);
    assert_eq!(app.outside.authenticator.sources(), [MailSource::OurServer]);
}

async fn the_postmaster_is_somebody_of_the_team_by_smtp_and_lmtp(app: TestApp) {
    let key = app.key("read").await;
    app.team_inbox("sales@acme.example", "Sales").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    for (to, subject) in [("Postmaster", "Bare"), ("PostMaster@ACME.example", "With domain")] {
        client.send(to, &raw("ann@x.example", subject, "text"), "250 2.0.0").await;
    }
    let stream = UnixStream::connect(&doors.lmtp).await.unwrap();
    let mut client = Client::greeted(stream, "220 ").await;
    client.say("LHLO mx.acme.example", "250 ").await;
    client.send("postmaster@acme.example", &raw("ann@x.example", "LMTP", "text"), "250 ").await;
    assert_eq!(app.subjects(&key, &format!("mailbox={}", app.support.id)).await.len(), 3);
}

async fn a_trusted_network_is_not_the_sender(app: TestApp) {
    let doors = app.doors(SmtpLimits::default(), "127.0.0.0/8").await;
    let mut client = doors.known_client().await;
    client.send(SUPPORT, &raw("ann@x.example", "Lamp", "text"), "250 ").await;
    assert_eq!(app.outside.authenticator.sources(), [MailSource::OurServer]);
}

async fn the_same_mail_sent_again_is_acknowledged_and_stored_once(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mail = raw("ann@x.example", "Lamp", "text");
    for _ in 0..2 {
        doors.known_client().await.send(SUPPORT, &mail, "250 ").await;
    }
    assert_eq!(app.list(&key, "").await[0]["messageCount"], 1);
}

async fn a_mail_in_circles_is_put_off(app: TestApp) {
    let doors = app.doors(SmtpLimits::default(), "").await;
    let circling = raw_with(&"Received: from a by b\r\n".repeat(51), "ann@x.example", "Lamp", "x");
    doors.known_client().await.send(SUPPORT, &circling, "450 4.4.6").await;
}

async fn a_suspended_workspace_puts_its_mail_off_at_rcpt_to(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    let ws = app.owner.ws;
    app.exec(&format!("INSERT INTO resting_workspaces (ws, suspended_at) VALUES ({ws}, 1)")).await;
    client.say("MAIL FROM:<ann@x.example>", "250 ").await;
    client.say(&format!("RCPT TO:<{SUPPORT}>"), "452 4.2.1").await;
    client.say("RSET", "250 ").await;
    app.exec("DELETE FROM resting_workspaces").await;
    client.send(SUPPORT, &raw("ann@x.example", "Lamp", "text"), "250 ").await;
    assert_eq!(app.list(&key, "").await.len(), 1);
}

async fn trouble_of_ours_is_told_as_such_and_nothing_is_acknowledged(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    app.exec("ALTER TABLE participants RENAME TO elsewhere").await;
    client.send(SUPPORT, &raw("ann@x.example", "Lamp", "text"), "451 4.3.0").await;
    app.exec("ALTER TABLE elsewhere RENAME TO participants").await;
    assert!(app.list(&key, "view=all").await.is_empty());
    client.send(SUPPORT, &raw("ann@x.example", "Lamp", "text"), "250 ").await;
    assert_eq!(app.list(&key, "").await[0]["messageCount"], 1);
}

async fn many_clients_at_once_lose_nothing(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let clients = (0..12).map(|client| {
        let doors = &doors;
        async move {
            let mut session = doors.known_client().await;
            for mail in 0..5 {
                let from = format!("c{client}@x.example");
                let raw = raw(&from, &format!("Mail {client} {mail}"), "text");
                session.send(SUPPORT, &raw, "250 ").await;
            }
        }
    });
    let mut all: Vec<_> = clients.map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        all.retain_mut(|client| client.as_mut().poll(cx).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    assert_eq!(app.list(&key, "limit=100").await.len(), 60);
}
