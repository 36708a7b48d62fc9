//! Bounces and complaints change the message they are about.

use inbound::Ingested;
use serde_json::{Value, json};
use testing::{TestApp, filed_mail, on_both};

use super::{secret, sent};

on_both!(
    a_bounce_to_the_return_path_turns_sent_into_failed,
    a_bounce_is_known_by_the_signed_message_id_that_it_returns,
    the_same_bounce_twice_counts_once,
    a_mail_that_is_late_or_delivered_has_not_failed,
    a_server_that_gave_up_has_failed_whatever_its_number,
    a_forged_bounce_changes_nothing_and_is_filed_apart,
    a_bounce_for_another_workspaces_message_changes_nothing,
    a_report_of_an_address_that_the_message_did_not_go_to_changes_nothing,
    of_several_recipients_only_who_bounced_does_not_have_it,
    a_complaint_is_recorded_when_it_returns_our_message_id,
    a_bounce_does_not_reopen_what_went_on_since,
    a_bounced_message_says_why
);

async fn a_bounce_to_the_return_path_turns_sent_into_failed(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    let events = app.events().await.len();
    let taken = app.ingest_from("", &[&path], dsn("failed", "5.1.1", None).as_bytes()).await;
    assert_eq!(filed_mail(&taken[0]).conversation.as_str(), conversation);
    let read = app.read(&key, &conversation).await;
    assert_eq!(status_of(&read, &message), "failed");
    assert_eq!(read["status"], "open", "the customer waits for nothing");
    let happened = app.timeline_events(&key, &conversation).await;
    assert!(
        happened.contains(&("bounced".into(), json!({ "messageId": message }))),
        "{happened:?}"
    );
    assert_eq!(app.event_types_since(events).await, ["turn.changed"]);
}

async fn a_bounce_is_known_by_the_signed_message_id_that_it_returns(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let id = mail::signed_message_id(&secret(&app).await, &message, "acme.example");
    app.ingest_from("", &["support@acme.example"], dsn("failed", "5.1.1", Some(&id)).as_bytes())
        .await;
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "failed");
}

async fn the_same_bounce_twice_counts_once(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    let bounce = dsn("failed", "5.1.1", None);
    app.ingest_from("", &[&path], bounce.as_bytes()).await;
    let again = app.ingest_from("", &[&path], bounce.as_bytes()).await;
    assert!(matches!(again[0], Ok(Ingested::Duplicate(_))), "{again:?}");
    let other = bounce.replace("dsn-1@", "dsn-2@");
    app.ingest_from("", &[&path], other.as_bytes()).await;
    let happened = app.timeline_events(&key, &conversation).await;
    assert_eq!(happened.iter().filter(|(event, _)| event == "bounced").count(), 1);
}

async fn a_mail_that_is_late_or_delivered_has_not_failed(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    for (action, status) in [("delayed", "4.4.7"), ("delivered", "2.0.0"), ("relayed", "2.0.0")] {
        let report = dsn(action, status, None).replace("dsn-1@", &format!("{action}@"));
        let taken = app.ingest_from("", &[&path], report.as_bytes()).await;
        assert_eq!(filed_mail(&taken[0]).conversation.as_str(), conversation, "{action}");
        let read = app.read(&key, &conversation).await;
        assert_eq!(status_of(&read, &message), "sent", "{action}");
        assert_eq!(read["status"], "waiting", "{action}");
    }
}

async fn a_server_that_gave_up_has_failed_whatever_its_number(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    app.ingest_from("", &[&path], dsn("failed", "4.4.7", None).as_bytes()).await;
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "failed");
}

async fn a_forged_bounce_changes_nothing_and_is_filed_apart(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let header_id = app.header_id(&message).await;
    let before = app.read(&key, &conversation).await;
    let id = message.strip_prefix("msg_").unwrap();
    let unsigned = format!("msg.{id}.0123456789abcdef01234567@acme.example");
    for (place, (to, about)) in [
        ("support@acme.example".to_owned(), unsigned),
        (format!("support+b_{id}_0000000000000000@acme.example"), "x@y.example".to_owned()),
        ("support@acme.example".to_owned(), format!("{header_id}.example")),
    ]
    .into_iter()
    .enumerate()
    {
        let forged = dsn("failed", "5.1.1", Some(&about)).replace("dsn-1@", &format!("f{place}@"));
        let taken = app.ingest_from("", &[&to], forged.as_bytes()).await;
        assert_ne!(filed_mail(&taken[0]).conversation.as_str(), conversation, "{to}");
    }
    assert_eq!(app.read(&key, &conversation).await, before);
}

async fn a_bounce_for_another_workspaces_message_changes_nothing(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let other = app.other_workspace("Other").await;
    let foreign = app.act(&other, |tx, cx| {
        Ok(model::installation::mail_secret::mail_secret(tx, cx)?.as_bytes().to_vec())
    });
    let path = mail::return_path(&foreign.await, "support@other.example", &message).unwrap();
    let taken = app.ingest_from("", &[&path], dsn("failed", "5.1.1", None).as_bytes()).await;
    filed_mail(&taken[0]);
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "sent");
}

async fn a_report_of_an_address_that_the_message_did_not_go_to_changes_nothing(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    let forged = dsn("failed", "5.1.1", None).replace("ann@x.example", "victim@y.example");
    let taken = app.ingest_from("", &[&path], forged.as_bytes()).await;
    filed_mail(&taken[0]);
    let read = app.read(&key, &conversation).await;
    assert_eq!(status_of(&read, &message), "sent");
    assert_eq!(read["status"], "waiting");
    let happened = app.timeline_events(&key, &conversation).await;
    assert!(!happened.iter().any(|(event, _)| event == "bounced"), "{happened:?}");
}

async fn of_several_recipients_only_who_bounced_does_not_have_it(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    app.exec(&format!(
        "UPDATE messages SET
            to_list = '[{{\"name\":null,\"email\":\"ann@x.example\"}},{{\"name\":null,\"email\":\"ben@y.example\"}}]',
            bcc_list = '[{{\"name\":null,\"email\":\"cleo@z.example\"}}]'
         WHERE id = '{message}'"
    )).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    let report = |place: usize, email: &str| {
        let report = dsn("failed", "5.1.1", None).replace("ann@x.example", email);
        report.replace("dsn-1@", &format!("dsn-{place}@"))
    };
    for (place, email) in
        ["BEN@y.example", "ben@y.example", "cleo@z.example"].into_iter().enumerate()
    {
        app.ingest_from("", &[&path], report(place, email).as_bytes()).await;
    }
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "sent");
    let bounced = |happened: Vec<(String, Value)>| -> Vec<Value> {
        let bounced = happened.into_iter().filter(|(event, _)| event == "bounced");
        bounced.map(|(_, data)| data).collect()
    };
    let told = |email: &str| json!({ "messageId": message, "recipients": [email] });
    let expected = [told("ben@y.example"), told("cleo@z.example")];
    assert_eq!(bounced(app.timeline_events(&key, &conversation).await), expected);
    app.ingest_from("", &[&path], report(9, "ann@x.example").as_bytes()).await;
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "failed");
}

async fn a_complaint_is_recorded_when_it_returns_our_message_id(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let id = mail::signed_message_id(&secret(&app).await, &message, "acme.example");
    app.ingest_from("", &["support@acme.example"], complaint(&id).as_bytes()).await;
    let happened = app.timeline_events(&key, &conversation).await;
    let expected = ("spam-complaint".to_owned(), json!({ "email": "ann@x.example" }));
    assert!(happened.contains(&expected), "{happened:?}");
    assert_eq!(status_of(&app.read(&key, &conversation).await, &message), "sent");
    let forged = complaint("msg.1.2@acme.example").replace("arf-1@", "arf-2@");
    app.ingest_from("", &["support@acme.example"], forged.as_bytes()).await;
    let complaints = |happened: Vec<(String, Value)>| {
        happened.iter().filter(|(event, _)| event == "spam-complaint").count()
    };
    assert_eq!(complaints(app.timeline_events(&key, &conversation).await), 1);
}

async fn a_bounce_does_not_reopen_what_went_on_since(app: TestApp) {
    let key = app.key("send").await;
    let (message, conversation) = sent(&app).await;
    let path = mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
    later(&app, &key, &conversation).await;
    app.ingest_from("", &[&path], dsn("failed", "5.1.1", None).as_bytes()).await;
    let read = app.read(&key, &conversation).await;
    assert_eq!(status_of(&read, &message), "failed");
    assert_eq!(read["status"], "waiting");
}

/// A further message leaves.
async fn later(app: &TestApp, key: &testing::TestKey, conversation: &str) {
    app.advance(1_000);
    app.send_reply(key, &conversation, "One more thing").await;
}

async fn a_bounced_message_says_why(app: TestApp) {
    let key = app.key("read").await;
    for (status, code, text) in
        [("5.1.1", "5.1.1", "There is no such address."), ("5.0.0", "bounced", "It came back.")]
    {
        let (message, conversation) = sent(&app).await;
        let path =
            mail::return_path(&secret(&app).await, "support@acme.example", &message).unwrap();
        let bounce = dsn("failed", status, None).replace("dsn-1@", &format!("{message}@"));
        app.ingest_from("", &[&path], bounce.as_bytes()).await;
        let read = app.read(&key, &conversation).await;
        let timeline = read["timeline"].as_array().unwrap();
        let found = timeline.iter().find(|item| item["id"] == message).unwrap();
        assert_eq!(found["reason"], json!({ "code": code, "text": text }));
    }
}

fn status_of(read: &Value, message: &str) -> String {
    let timeline = read["timeline"].as_array().unwrap();
    let found = timeline.iter().find(|item| item["id"] == message).unwrap();
    found["status"].as_str().unwrap().to_owned()
}

/// A delivery status notification, which may return the header of the mail it is about.
fn dsn(action: &str, status: &str, about: Option<&str>) -> String {
    let returned = about.map_or(String::new(), |id| {
        format!(
            "--b\r\nContent-Type: text/rfc822-headers\r\n\r\n\
             From: support@acme.example\r\nTo: ann@x.example\r\nSubject: Re: Lamp\r\n\
             Message-ID: <{id}>\r\n\r\n"
        )
    });
    format!(
        "Message-ID: <dsn-1@mx.x.example>\r\nFrom: MAILER-DAEMON@mx.x.example\r\n\
         To: support@acme.example\r\nSubject: Delivery status\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nAbout your mail to ann@x.example.\r\n\
         --b\r\nContent-Type: message/delivery-status\r\n\r\n\
         Reporting-MTA: dns; mx.x.example\r\n\r\n\
         Final-Recipient: rfc822; ann@x.example\r\nAction: {action}\r\nStatus: {status}\r\n\r\n\
         {returned}--b--\r\n"
    )
}

fn complaint(about: &str) -> String {
    format!(
        "Message-ID: <arf-1@provider.example>\r\nFrom: feedback@provider.example\r\n\
         To: support@acme.example\r\nSubject: A complaint\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nSomebody called this spam.\r\n\
         --b\r\nContent-Type: message/feedback-report\r\n\r\n\
         Feedback-Type: abuse\r\nUser-Agent: Provider/1\r\nVersion: 1\r\n\r\n\
         --b\r\nContent-Type: message/rfc822\r\n\r\n\
         From: support@acme.example\r\nTo: ann@x.example\r\nSubject: Re: Lamp\r\n\
         Message-ID: <{about}>\r\n\r\nA new one\r\n--b--\r\n"
    )
}
