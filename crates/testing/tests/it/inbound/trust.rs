//! What makes a sender trusted: only what the team did, and only for mail that proves its sender.

use actions::conversations::blocked_senders;
use actions::inboxes::office_hours::{self, OfficeHoursInput};
use actions::writing::completion;
use actions::writing::compose::{self, NewReply};
use base::actor::Actor;
use base::email_address::EmailAddress;
use inbound::incoming_mail::FiledMail;
use inbound::{InboundMail, MailSource, ingest};
use mail::{Address, AuthorKind, Dmarc, Mail};
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use serde_json::json;
use testing::{DAY, MINUTE, SECOND, TestApp, letter, on_both, raw_with};

on_both!(
    a_held_scam_is_held_again_and_after_harmless_mail,
    automatic_replies_make_nobody_trusted,
    what_an_agent_sends_of_its_own_accord_makes_nobody_trusted,
    what_a_person_writes_or_releases_makes_a_sender_trusted,
    a_forged_sender_has_nothing_of_the_trust,
    an_empty_return_path_gets_no_automatic_reply,
    a_contact_is_known_once_the_team_wrote_to_them,
    only_whom_the_team_wrote_to_is_offered_and_nobody_blocked,
    a_forged_sender_renames_nobody,
    a_reference_says_nothing_after_a_failed_dmarc,
    numbered_customers_are_no_look_alikes_of_each_other,
    a_near_name_counts_once_a_correspondence_has_lasted
);

const SENDER: &str = "billing@lamp-parts.com";

/// Office hours on every day but this one.
fn closed_today(app: &TestApp) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let today = (app.now() / DAY + 3).rem_euclid(7) as usize;
    let open: Vec<&str> = DAYS.iter().copied().filter(|day| *day != DAYS[today]).collect();
    format!("{} 00:00-24:00", open.join(","))
}

/// A mail that the scam check holds, whoever else wrote before.
async fn scam(app: &TestApp, number: usize) -> FiledMail {
    let fields =
        format!("Message-ID: <scam{number}@lamp-parts.com>\r\nReply-To: pay@gmail.com\r\n");
    let text = "Your account has been suspended. Verify your password within 24 hours or it will be \
                closed: http://192.0.2.7/login\r\nPay the invoice in gift cards today.";
    app.arrives(&raw_with(&fields, SENDER, &format!("Account suspended {number}"), text)).await
}

async fn is_held(app: &TestApp, mail: &FiledMail) -> bool {
    let (ws, id) = (app.owner.ws, mail.conversation.clone());
    let read = app.app.store.read(move |tx| {
        tx.one::<(bool,)>("SELECT held FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, &id])
    });
    read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
}

async fn harmless(app: &TestApp, number: usize) -> FiledMail {
    let fields = format!("Message-ID: <hello{number}@lamp-parts.com>\r\n");
    app.arrives(&raw_with(&fields, SENDER, &format!("Hello {number}"), "Do you sell lamps?")).await
}

/// A person answers.
async fn answer(app: &TestApp, by: &Actor, mail: &FiledMail) {
    let to = compose::parties(SENDER).unwrap();
    let message = NewReply {
        body: "Yes, we do.".into(),
        format: TextFormat::Plain,
        recipients: RecipientList { to, ..RecipientList::default() },
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    };
    let id = mail.conversation.to_string();
    app.act(by, move |tx, cx| testing::send_reply(tx, cx, &id, &message)).await;
    app.pass(11 * MINUTE).await;
}

async fn a_held_scam_is_held_again_and_after_harmless_mail(app: TestApp) {
    let first = scam(&app, 1).await;
    assert!(is_held(&app, &first).await);
    let again = scam(&app, 2).await;
    assert!(is_held(&app, &again).await, "sent again");
    for number in 0..3 {
        let mail = harmless(&app, number).await;
        assert!(!is_held(&app, &mail).await);
    }
    let after = scam(&app, 3).await;
    assert!(is_held(&app, &after).await, "after harmless mail");
}

/// The inbox is closed and says so.
async fn close_office(app: &TestApp) {
    let hours = OfficeHoursInput {
        weekly: closed_today(app),
        zone: "UTC".into(),
        away_reply: "We are back tomorrow.".into(),
        ..OfficeHoursInput::default()
    };
    let mailbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &mailbox, &hours))
        .await;
}

async fn an_empty_return_path_gets_no_automatic_reply(app: TestApp) {
    close_office(&app).await;
    let mail = |number: usize, fields: &str| {
        let fields = format!("{fields}Message-ID: <null{number}@lamp-parts.com>\r\n");
        raw_with(&fields, &format!("a{number}@lamp-parts.com"), "Hello", "Do you sell lamps?")
    };
    for (number, (sender, fields)) in [
        (Some(""), ""),
        (Some(""), "Return-Path: <a1@lamp-parts.com>\r\n"),
        (None, "Return-Path: <>\r\n"),
        (None, "Return-Path: <> \r\nReturn-Path: <a3@lamp-parts.com>\r\n"),
        (None, "Return-Path:\r\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let delivery = InboundMail {
            sender: sender.map(str::to_owned),
            recipients: vec!["support@acme.example".into()],
            source: MailSource::OurServer,
            raw: mail(number, fields).into_bytes(),
        };
        ingest(&app.app, &*app.outside.authenticator, delivery).await;
    }
    app.pass(MINUTE).await;
    let sent = app.outside.relay.attempts();
    let to: Vec<_> = sent.iter().flat_map(|mail| mail.recipients.clone()).collect();
    assert!(!to.iter().any(|to| to.ends_with("@lamp-parts.com")), "{to:?}");
    let path = "b@lamp-parts.com";
    app.ingest_from(path, &["support@acme.example"], mail(9, "").as_bytes()).await;
    app.pass(MINUTE).await;
    let sent = app.outside.relay.attempts();
    assert!(sent.iter().any(|mail| mail.recipients == ["a9@lamp-parts.com"]), "others get one");
}

async fn automatic_replies_make_nobody_trusted(app: TestApp) {
    close_office(&app).await;
    let fields = "Message-ID: <away@lamp-parts.com>\r\n";
    let raw = raw_with(fields, SENDER, "Hello", "Do you sell lamps?");
    app.ingest_from(SENDER, &["support@acme.example"], raw.as_bytes()).await;
    app.pass(MINUTE).await;
    let sent = app.outside.relay.attempts();
    assert!(sent.iter().any(|mail| mail.recipients == [SENDER]), "the automatic reply left");
    assert_eq!(app.count("correspondents").await, 0);
    let after = scam(&app, 1).await;
    assert!(is_held(&app, &after).await);
}

async fn what_an_agent_sends_of_its_own_accord_makes_nobody_trusted(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = harmless(&app, 1).await;
    app.send_reply(&key, &mail.conversation, "Yes").await;
    let after = scam(&app, 1).await;
    assert!(is_held(&app, &after).await);
    // A person who approves what it drafted answers for it.
    let body = json!({ "body": "Yes, lamps.", "send": false });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    let drafts = app.drafts_in(&key, &mail).await;
    app.approve(&app.owner, &drafts[0], None).await;
    app.pass(11 * MINUTE).await;
    let after = scam(&app, 2).await;
    assert!(!is_held(&app, &after).await);
}

async fn what_a_person_writes_or_releases_makes_a_sender_trusted(app: TestApp) {
    let mail = harmless(&app, 1).await;
    answer(&app, &app.owner, &mail).await;
    let after = scam(&app, 1).await;
    assert!(!is_held(&app, &after).await);
}

async fn a_forged_sender_has_nothing_of_the_trust(app: TestApp) {
    let first = scam(&app, 1).await;
    app.release(&first.conversation).await;
    let proven = scam(&app, 2).await;
    assert!(!is_held(&app, &proven).await, "whoever was released may write again");
    for dmarc in [Dmarc::Absent, Dmarc::Fail] {
        app.outside.authenticator.says(dmarc);
        let forged = scam(&app, 3 + dmarc as usize).await;
        assert!(is_held(&app, &forged).await, "{dmarc:?}");
    }
}

async fn a_contact_is_known_once_the_team_wrote_to_them(app: TestApp) {
    let key = app.key("read send").await;
    let first = app.mail("ann@x.example", "First", "1").await;
    let second = app.mail("ann@x.example", "Second", "2").await;
    for mail in [&first, &second] {
        let known = app.read(&key, &mail.conversation).await["contact"]["known"].clone();
        assert_eq!(known, json!(false), "nobody makes themselves known");
    }
    app.send_reply(&key, &first.conversation, "Hello").await;
    for mail in [&first, &second] {
        let known = app.read(&key, &mail.conversation).await["contact"]["known"].clone();
        assert_eq!(known, json!(true));
    }
    // In the sandbox as well, where a name loses what nobody sees.
    let test = app.test_key("read write send").await;
    let simulate = async |subject: &str| {
        let name = "B\u{e0041}\u{e0042}\u{202e}o";
        let body =
            json!({ "from": "bo@y.test", "name": name, "subject": subject, "text": "Hello" });
        let done = app.post(&test, "/sandbox/inbound", body).await.is(201).json();
        done["conversationId"].as_str().unwrap().to_owned()
    };
    let one = simulate("One").await;
    simulate("Two").await;
    let contact = app.read(&test, &one).await["contact"].clone();
    assert_eq!(contact, json!({ "name": "Bo", "email": "bo@y.test", "known": false }));
    app.schedule(&test, &one, "Hello").await;
    app.pass(11 * MINUTE).await;
    assert_eq!(app.read(&test, &one).await["contact"]["known"], json!(true));
}

async fn only_whom_the_team_wrote_to_is_offered_and_nobody_blocked(app: TestApp) {
    let offered = async |typed: &'static str| {
        let found =
            app.act(&app.owner, move |tx, cx| completion::complete_recipient(tx, cx, typed));
        found.await.into_iter().map(|party| party.email).collect::<Vec<_>>()
    };
    let mail = harmless(&app, 1).await;
    assert!(offered("billing").await.is_empty(), "who only wrote");
    answer(&app, &app.owner, &mail).await;
    assert_eq!(offered("billing").await, [SENDER]);
    let email = EmailAddress::new(SENDER);
    app.act(&app.owner, move |tx, cx| blocked_senders::block_contact(tx, cx, &email)).await;
    assert!(offered("billing").await.is_empty(), "who is blocked");
}

async fn a_forged_sender_renames_nobody(app: TestApp) {
    let key = app.key("read").await;
    let name = async || {
        let read = app.get(&key, "/contacts/ann@x.example").await.is(200).json();
        read["name"].clone()
    };
    let from = |name: &str, dmarc: Dmarc| Mail {
        from: Address::new(Some(name), "ann@x.example"),
        dmarc,
        ..letter("ann@x.example", name, "Hello")
    };
    app.deliver(&app.support, from("Ann Lee", Dmarc::Absent)).await;
    assert_eq!(name().await, "Ann Lee");
    for dmarc in [Dmarc::Absent, Dmarc::Fail] {
        app.pass(2 * DAY).await;
        app.deliver(&app.support, from("Olive Owner", dmarc)).await;
        assert_eq!(name().await, "Ann Lee", "{dmarc:?}");
    }
    app.pass(2 * DAY).await;
    app.deliver(&app.support, from("Ann Lee-Jones", Dmarc::Pass)).await;
    assert_eq!(name().await, "Ann Lee-Jones");
}

async fn a_reference_says_nothing_after_a_failed_dmarc(app: TestApp) {
    let key = app.key("read").await;
    for (dmarc, expected) in
        [(Dmarc::Pass, json!("inv-7")), (Dmarc::Absent, json!("inv-7")), (Dmarc::Fail, json!(null))]
    {
        let count = app.events().await.len();
        let mail = Mail {
            delivered_to: "support+inv-7@acme.example".into(),
            dmarc,
            kind: AuthorKind::Person,
            ..letter(&format!("{}@x.example", dmarc as usize), "Invoice", "Paid")
        };
        let filed = app.deliver(&app.support, mail).await;
        assert_eq!(app.read(&key, &filed.conversation).await["reference"], expected, "{dmarc:?}");
        let types = app.event_types_since(count).await;
        let is_reply = types.iter().any(|kind| kind == "client.replied");
        assert_eq!(is_reply, dmarc != Dmarc::Fail, "{dmarc:?}");
        app.advance(SECOND);
    }
}

async fn numbered_customers_are_no_look_alikes_of_each_other(app: TestApp) {
    let key = app.key("read send").await;
    app.outside.authenticator.says(Dmarc::Absent);
    for number in 0..70 {
        let from = format!("ann@mail{number}.test");
        let fields = format!("Message-ID: <{number}@mail.test>\r\n");
        let mail = app.arrives(&raw_with(&fields, &from, "Order", "When does it come?")).await;
        let read = app.read(&key, &mail.conversation).await;
        assert_eq!(read["risk"], json!(null), "{from}: {}", read["riskReasons"]);
        app.send_reply(&key, &mail.conversation, "Soon").await;
        app.advance(DAY);
    }
}

async fn a_near_name_counts_once_a_correspondence_has_lasted(app: TestApp) {
    let key = app.key("read send").await;
    let arrives = async |number: usize, from: &str| {
        let fields = format!("Message-ID: <{number}@near.test>\r\n");
        let mail = app.arrives(&raw_with(&fields, from, "Order", "When does it come?")).await;
        let marked = app.read(&key, &mail.conversation).await["risk"] != json!(null);
        (mail, marked)
    };
    let (mail, _) = arrives(1, "ann@harborline.com").await;
    app.send_reply(&key, &mail.conversation, "Soon").await;
    assert!(!arrives(2, "bo@harborlime.com").await.1, "two new customers");
    assert!(arrives(3, "bo@harb0rline.com").await.1, "it looks the same");
    app.pass(20 * DAY).await;
    let (mail, _) = arrives(4, "ann@harborline.com").await;
    app.send_reply(&key, &mail.conversation, "Soon").await;
    assert!(arrives(5, "cy@harborlime.com").await.1, "a correspondence that lasts");
}
