//! Mail is filed in every inbox it came to, once.

use actions::inboxes::setup::{NewWorkspace, add_mailbox, set_up_workspace};
use inbound::imap::FetchProtocol;
use inbound::{
    FetchedMail, InboundMail, Ingested, MailSource, find_inbox, find_recipient, ingest_sent,
};
use mail::Dmarc;
use testing::{TestApp, filed_mail, on_both, raw, raw_with, user};

use super::dates::claimed_by;
use super::{secret, sent};

on_both!(
    a_mail_is_filed_with_its_bytes_and_everything_it_says,
    a_plus_tag_is_a_reference_wherever_the_address_stands,
    each_inbox_gets_its_own_and_strangers_get_none,
    the_same_mail_again_is_known_with_or_without_a_message_id,
    our_own_mail_that_comes_back_is_dropped,
    a_mail_that_carries_our_marks_and_is_another_is_filed,
    a_notice_that_comes_back_is_dropped,
    of_the_folder_of_sent_mail_our_notices_are_left_out_and_nothing_else,
    a_mail_that_goes_in_circles_is_not_kept,
    a_workspace_has_one_secret_and_no_other_has_it,
    an_address_leads_to_an_inbox_whatever_its_case_and_tag,
    the_postmasters_mail_goes_to_the_domains_oldest_team_inbox,
    a_new_workspaces_inbox_takes_mail_at_once
);

const SUPPORT: &str = "support@acme.example";

async fn a_mail_is_filed_with_its_bytes_and_everything_it_says(app: TestApp) {
    let key = app.key("read").await;
    let mail = raw("\"Keller, Ann\" <Ann@X.example>", "=?utf-8?q?L=C3=A4mp?=", "It is broken.");
    let received = app.arrives(&mail).await;
    let read = app.read(&key, &received.conversation).await;
    assert_eq!(read["subject"], "Lämp");
    assert_eq!(read["contact"]["email"], "ann@x.example");
    assert_eq!(read["contact"]["name"], "Keller, Ann");
    assert_eq!(read["timeline"][0]["text"], "It is broken.");
    assert_eq!(app.event_types().await, ["turn.changed"]);
    let (ws, blobs) = (app.owner.ws, app.app.blobs.clone());
    let kept = app.act(&app.owner, move |tx, _| {
        let (hash,): (String,) = tx.one("SELECT raw_hash FROM messages WHERE ws = ?1", &[&ws])?;
        blobs.get(tx, ws, &hash)
    });
    assert_eq!(kept.await.unwrap(), mail.as_bytes());
}

async fn a_plus_tag_is_a_reference_wherever_the_address_stands(app: TestApp) {
    let key = app.key("read").await;
    for (place, to, fields) in [
        ("envelope", &["support+inv-1@acme.example"][..], ""),
        ("second", &["Support@acme.example", "SUPPORT+Inv-1@acme.example"], ""),
        ("delivered", &[SUPPORT], "Delivered-To: support+inv-1@acme.example\r\n"),
        ("cc", &[SUPPORT], "Cc: support+inv-1@acme.example\r\n"),
    ] {
        let fields = format!("Message-ID: <{place}@x.example>\r\n{fields}");
        let mail = raw_with(&fields, "ann@x.example", place, "text");
        let taken = app.ingest(to, &mail).await;
        let read = app.read(&key, &filed_mail(&taken[0]).conversation).await;
        assert_eq!(read["reference"], "inv-1", "{place}");
    }
}

async fn each_inbox_gets_its_own_and_strangers_get_none(app: TestApp) {
    let key = app.key("read").await;
    app.team_inbox("sales@acme.example", "Sales").await;
    app.other_workspace("Other").await;
    let to = [
        SUPPORT,
        "sales@acme.example",
        "support@other.example",
        "support+x1@acme.example",
        "nobody@acme.example",
        &app.sandbox.address,
    ];
    let taken = app.ingest(&to, &raw("ann@x.example", "Lamp", "text")).await;
    let (support, sales, other) =
        (filed_mail(&taken[0]), filed_mail(&taken[1]), filed_mail(&taken[2]));
    assert_ne!(support.conversation, sales.conversation);
    assert_eq!(filed_mail(&taken[3]), support);
    assert_eq!(taken[4..], [Ok(Ingested::NoInbox), Ok(Ingested::NoInbox)]);
    assert_eq!(app.list(&key, "").await.len(), 2);
    app.get(&key, &format!("/conversations/{}", other.conversation)).await.is(404);
    assert!(app.list(&app.test_key("read").await, "").await.is_empty());
}

async fn the_same_mail_again_is_known_with_or_without_a_message_id(app: TestApp) {
    let key = app.key("read").await;
    for mail in [raw("ann@x.example", "Lamp", "one"), raw_with("", "ann@x.example", "Lamp", "two")]
    {
        let first = app.arrives(&mail).await;
        let again = app.ingest(&[SUPPORT], &mail).await;
        assert_eq!(again, [Ok(Ingested::Duplicate(first))]);
    }
    assert_eq!(app.list(&key, "").await[0]["messageCount"], 2);
}

async fn our_own_mail_that_comes_back_is_dropped(app: TestApp) {
    let (message, _) = sent(&app).await;
    let before = app.list(&app.key("read").await, "view=all").await;
    let marks = marks(&app, &message).await;
    let footer = format!("{TEXT}\r\n__\r\nYou are on this list.");
    for (fields, text) in [
        (marks.both(), TEXT),
        (marks.loop_field.clone(), TEXT),
        (marks.message_id_field.clone(), TEXT),
        (format!("{}Message-ID: <rewritten@relay.example>\r\n", marks.loop_field), &footer),
    ] {
        let mail = raw_with(&fields, "Robo <support@acme.example>", "Re: Lamp", text);
        assert_eq!(app.ingest(&[SUPPORT], &mail).await, [Ok(Ingested::OwnCopy)], "{fields}");
    }
    assert_eq!(app.list(&app.key("read").await, "view=all").await, before);
}

async fn a_mail_that_carries_our_marks_and_is_another_is_filed(app: TestApp) {
    let (message, _) = sent(&app).await;
    let other = app
        .send_reply(
            &app.key("send").await,
            &app.mail("ben@x.example", "Chair", "text").await.conversation,
            "Another answer",
        )
        .await;
    let (marks, others) = (marks(&app, &message).await, marks(&app, &other).await);
    let quoted = format!("I am glad to hear that.\r\n> {TEXT}");
    let ours = "support@acme.example";
    for (from, fields, text) in [
        // A client that copies fields when it answers or forwards.
        ("ann@x.example", &marks.loop_field, quoted.as_str()),
        ("ann@x.example", &marks.loop_field, TEXT),
        // Marks that were lifted from a mail of ours.
        ("eve@evil.example", &marks.both(), "Pay here instead."),
        (ours, &marks.both(), "Pay here instead."),
        (ours, &marks.loop_field, "Pay there instead."),
        (ours, &others.both(), TEXT),
        // The mark that mail of an older version carries.
        (ours, &"X-Mailroom-Loop: 0123456789abcdefghjkmnpq\r\n".to_owned(), "Old."),
    ] {
        app.arrives(&raw_with(fields, from, "Re: Lamp", text)).await;
    }
    app.outside.authenticator.says(Dmarc::Fail);
    app.arrives(&raw_with(&marks.both(), ours, "Re: Lamp", &format!("{TEXT} Pay here."))).await;
}

async fn a_notice_that_comes_back_is_dropped(app: TestApp) {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        model::people::notices::notify(
            tx,
            cx,
            &person,
            &model::people::notices::Notice { subject: "Hello", text: "Look." },
        )
    })
    .await;
    app.work().await;
    let notice = app.outside.relay.attempts().remove(0).bytes;
    let taken = app.ingest_from("", &[SUPPORT], &notice).await;
    assert_eq!(taken, [Ok(Ingested::OwnCopy)]);
    let other = String::from_utf8(notice.to_vec())
        .unwrap()
        .replace("Message-ID: <notice.", "Message-ID: <x.");
    assert!(matches!(
        app.ingest_from("", &[SUPPORT], other.as_bytes()).await[0],
        Ok(Ingested::Filed(_))
    ));
}

async fn of_the_folder_of_sent_mail_our_notices_are_left_out_and_nothing_else(app: TestApp) {
    let account = claimed_by(&app, SUPPORT, FetchProtocol::Graph).await;
    let mark = mail::loop_mark(&secret(&app).await, "msg_0123456789").unwrap();
    let marked = format!("{}: {mark}\r\n", mail::LOOP_FIELD);
    let forged = format!("{}: 0123456789.abc\r\n", mail::LOOP_FIELD);
    for (number, fields, from, is_notice) in [
        (1, marked.as_str(), SUPPORT, true),
        (2, "", SUPPORT, false),
        (3, forged.as_str(), SUPPORT, false),
        (4, marked.as_str(), "other@acme.example", false),
    ] {
        let fields = format!("Message-ID: <notice.{number}@elsewhere.example>\r\n{fields}");
        let mail = raw_with(&fields, from, "Lamp", "It left on Tuesday.");
        let mail = mail.replace("To: support@acme.example", "To: mara@customer.example");
        let delivery = InboundMail {
            sender: None,
            recipients: Vec::new(),
            source: MailSource::OurServer,
            raw: mail.into_bytes(),
        };
        let fetched = FetchedMail { account: account.clone(), internal_date: Some(app.now()) };
        let taken = ingest_sent(&app.app, delivery, fetched).await.unwrap();
        match is_notice {
            true => assert_eq!(taken, Ingested::OwnCopy, "{number}"),
            false => drop(filed_mail(&Ok(taken))),
        }
    }
}

async fn a_mail_that_goes_in_circles_is_not_kept(app: TestApp) {
    let key = app.key("read").await;
    let hops =
        |count: usize| "Received: from a by b; Sun, 15 Nov 2026 09:00:00 +0000\r\n".repeat(count);
    let circling = raw_with(&hops(51), "ann@x.example", "Lamp", "text");
    assert_eq!(app.ingest(&[SUPPORT], &circling).await, [Ok(Ingested::MailLoop)]);
    assert!(app.list(&key, "view=all").await.is_empty());
    app.arrives(&raw_with(&hops(50), "ann@x.example", "Lamp", "text")).await;
}

async fn a_workspace_has_one_secret_and_no_other_has_it(app: TestApp) {
    let first = secret(&app).await;
    assert_eq!(first.len(), 32);
    assert_eq!(secret(&app).await, first);
    let other = app.other_workspace("Other").await;
    let others = app.act(&other, |tx, cx| {
        Ok(model::installation::mail_secret::mail_secret(tx, cx)?.as_bytes().to_vec())
    });
    assert_ne!(others.await, first);
}

async fn an_address_leads_to_an_inbox_whatever_its_case_and_tag(app: TestApp) {
    for (address, found) in [
        ("support@acme.example", true),
        ("SUPPORT+anything@Acme.Example", true),
        ("sandbox@acme.test", false),
        ("support@acme.example.evil.example", false),
        ("support", false),
        ("", false),
    ] {
        let inbox = app.act(&app.owner, move |tx, _| find_inbox(tx, address)).await;
        assert_eq!(inbox.is_some(), found, "{address}");
    }
}

async fn the_postmasters_mail_goes_to_the_domains_oldest_team_inbox(app: TestApp) {
    app.team_inbox("sales@acme.example", "Sales").await;
    app.team_inbox("hello@second.example", "Second").await;
    let olive = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        add_mailbox(tx, cx, "olive@private.example", "Private", Some(&olive))
    })
    .await;
    app.other_workspace("Other").await;
    for (recipient, found) in [
        ("postmaster", Some("support@acme.example")),
        ("POSTMASTER+x1@Acme.example", Some("support@acme.example")),
        ("postmaster@second.example", Some("hello@second.example")),
        ("postmaster@other.example", Some("support@other.example")),
        ("postmaster@private.example", None),
        ("postmaster@acme.test", None),
        ("postmaster@elsewhere.example", None),
        ("postmaster@example", None),
        ("postmaster@", None),
        ("abuse@acme.example", None),
    ] {
        let inbox = app.act(&app.owner, move |tx, _| find_recipient(tx, recipient)).await;
        let address = inbox.map(|inbox| inbox.mailbox.address);
        assert_eq!(address.as_deref(), found, "{recipient}");
    }
    app.team_inbox("postmaster@acme.example", "Postmaster").await;
    let own = app.act(&app.owner, |tx, _| find_recipient(tx, "postmaster@acme.example")).await;
    assert_eq!(own.unwrap().mailbox.address, "postmaster@acme.example");
}

async fn a_new_workspaces_inbox_takes_mail_at_once(app: TestApp) {
    let new = NewWorkspace {
        name: "Fresh".into(),
        owner_email: "o@fresh.example".into(),
        owner_name: "O".into(),
        inbox: "hello@fresh.example".into(),
        inbox_name: "Hello".into(),
    };
    app.act(&app.owner, move |tx, cx| set_up_workspace(tx, cx, &new)).await;
    let taken = app.ingest(&["hello@fresh.example"], &raw("ann@x.example", "Hi", "text")).await;
    filed_mail(&taken[0]);
}

/// The text of the message that [`sent`] sends.
const TEXT: &str = "A new one is on its way";

/// What a message of ours carries as it leaves.
struct Marks {
    message_id_field: String,
    loop_field: String,
}

impl Marks {
    fn both(&self) -> String {
        format!("{}{}", self.message_id_field, self.loop_field)
    }
}

async fn marks(app: &TestApp, message: &str) -> Marks {
    let mark = mail::loop_mark(&secret(app).await, message).unwrap();
    Marks {
        message_id_field: format!("Message-ID: <{}>\r\n", app.header_id(message).await),
        loop_field: format!("{}: {mark}\r\n", mail::LOOP_FIELD),
    }
}
