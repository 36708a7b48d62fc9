//! Two mails with one Message-ID: which of them is a duplicate, and where the others go.

use base::email_address::EmailAddress;
use base::states::Direction;
use inbound::history::{
    CountedIdentities, ImportOutcome, ImportTarget, ImportedMail, import, preview,
};
use inbound::imap::FetchProtocol;
use inbound::{Ingested, find_inbox};
use testing::{HOUR, MINUTE, TestApp, filed_mail, on_both, raw_with, texts};

use super::dates::{claimed_by, fetched, received};

on_both!(
    mails_with_one_message_id_and_other_words_are_all_filed,
    a_delivery_that_comes_on_two_ways_is_one_mail,
    a_mail_without_a_date_is_told_apart_by_every_byte,
    mail_from_before_contents_were_hashed_is_compared_by_what_it_says,
    a_mailbox_that_is_connected_by_another_protocol_brings_nothing_twice,
    whoever_takes_a_message_id_first_keeps_no_mail_out_and_gets_no_answer,
    a_message_id_that_many_mails_have_names_none_of_them,
    a_dry_run_counts_files_with_one_message_id_as_the_import_does
);

const SUPPORT: &str = "support@acme.example";
const CONSTANT: &str = "Message-ID: <1@printer.example>\r\n";

async fn mails_with_one_message_id_and_other_words_are_all_filed(app: TestApp) {
    let key = app.key("read").await;
    let mails = [
        raw_with(CONSTANT, "printer@x.example", "Toner", "The toner is low."),
        raw_with(CONSTANT, "printer@x.example", "Toner", "The toner is empty."),
        raw_with(CONSTANT, "printer@x.example", "Paper", "The toner is low."),
        raw_with(CONSTANT, "scanner@x.example", "Toner", "The toner is low."),
        raw_with("Message-ID: 1\r\n", "printer@x.example", "Toner", "The toner is low."),
        raw_with("Message-ID: 1\r\n", "printer@x.example", "Toner", "The toner is gone."),
    ];
    let mut messages = Vec::new();
    for mail in &mails {
        messages.push(app.arrives(mail).await);
    }
    for (mail, first) in mails.iter().zip(messages) {
        let again = app.ingest(&[SUPPORT], mail).await;
        assert_eq!(again, [Ok(Ingested::Duplicate(first))], "{mail}");
    }
    assert_eq!(app.count("messages").await, mails.len() as i64);
    assert_eq!(app.search_subjects(&key, "empty").await.len(), 1);
}

async fn a_delivery_that_comes_on_two_ways_is_one_mail(app: TestApp) {
    let mail = raw_with(CONSTANT, "ann@x.example", "Lamp", "It is broken.");
    let first = app.arrives(&mail).await;
    let trace =
        "Received: from mx.x.example by mx.acme.example; Sun, 15 Nov 2026 09:00:01 +0000\r\n";
    let other_way = format!("{trace}X-Spam-Status: No\r\n{mail}");
    let unix = other_way.replace("\r\n", "\n");
    for again in [other_way, unix, format!("{mail}\r\n")] {
        let taken = app.ingest_from("ann@x.example", &[SUPPORT], again.as_bytes()).await;
        assert_eq!(taken, [Ok(Ingested::Duplicate(first.clone()))], "{again}");
    }
    // A list that adds its footer sends another mail.
    let with_footer = format!("{mail}-- \r\nYou are on this list.\r\n");
    filed_mail(&app.ingest(&[SUPPORT], &with_footer).await[0]);
}

async fn a_mail_without_a_date_is_told_apart_by_every_byte(app: TestApp) {
    let alarm =
        format!("{CONSTANT}From: alarm@x.example\r\nSubject: Alarm\r\n\r\nThe door is open.\r\n");
    let first = app.arrives(&alarm).await;
    assert_eq!(app.ingest(&[SUPPORT], &alarm).await, [Ok(Ingested::Duplicate(first))]);
    app.arrives(&format!("Received: from a by b; at nine\r\n{alarm}")).await;
    app.arrives(&format!("Received: from a by b; at ten\r\n{alarm}")).await;
}

async fn mail_from_before_contents_were_hashed_is_compared_by_what_it_says(app: TestApp) {
    let mail = raw_with(CONSTANT, "ann@x.example", "Lamp", "It is broken.");
    let first = app.arrives(&mail).await;
    let service = app.service(&app.support);
    app.act(&service, |tx, _| Ok(tx.exec("UPDATE messages SET content_hash = NULL", &[])?)).await;
    for again in [mail.clone(), format!("Received: from a by b\r\n{mail}")] {
        assert_eq!(app.ingest(&[SUPPORT], &again).await, [Ok(Ingested::Duplicate(first.clone()))]);
    }
    filed_mail(&app.ingest(&[SUPPORT], &mail.replace("broken", "repaired")).await[0]);
    filed_mail(&app.ingest(&[SUPPORT], &mail.replace("ann@", "eve@")).await[0]);
}

/// A mail whose parts a server writes with a boundary of its own.
fn in_parts(boundary: &str, text: &str) -> String {
    let fields = format!(
        "{CONSTANT}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\r\n"
    );
    let part = format!("--{boundary}\r\nContent-Type: text/plain\r\n\r\n{text}\r\n");
    raw_with(&fields, "ann@x.example", "Lamp", &format!("{part}--{boundary}--"))
}

async fn a_mailbox_that_is_connected_by_another_protocol_brings_nothing_twice(app: TestApp) {
    let account = claimed_by(&app, SUPPORT, FetchProtocol::Imap).await;
    let at = app.now() - HOUR;
    let first = received(fetched(&app, &account, &in_parts("a", "It is broken."), at).await);
    for (boundary, protocol) in [("b", FetchProtocol::Graph), ("c", FetchProtocol::Imap)] {
        app.advance(MINUTE);
        let account = claimed_by(&app, SUPPORT, protocol).await;
        let again = fetched(&app, &account, &in_parts(boundary, "It is broken."), at).await;
        assert_eq!(again, Ingested::Duplicate(first.clone()), "{protocol:?}");
        // Other words, another time and what comes in from now on are another mail.
        let words = in_parts(boundary, &format!("It is broken again, says {boundary}."));
        received(fetched(&app, &account, &words, at).await);
        let time =
            in_parts(&format!("{boundary}1"), "It is broken.").replace("09:00:00", "05:00:00");
        received(fetched(&app, &account, &time, at).await);
        let new = in_parts(&format!("{boundary}2"), "It is broken.");
        received(fetched(&app, &account, &new, app.now()).await);
    }
    filed_mail(&app.ingest(&[SUPPORT], &in_parts("d", "It is broken.")).await[0]);
}

async fn whoever_takes_a_message_id_first_keeps_no_mail_out_and_gets_no_answer(app: TestApp) {
    let key = app.key("read").await;
    let taken = app.arrives(&raw_with(CONSTANT, "eve@evil.example", "Lamp", "Hello")).await;
    let own = app.arrives(&raw_with(CONSTANT, "ann@x.example", "My lamp", "It is broken.")).await;
    assert_ne!(own.conversation, taken.conversation);
    let fields = "Message-ID: <2@x.example>\r\nIn-Reply-To: <1@printer.example>\r\n";
    let next =
        app.arrives(&raw_with(fields, "ann@x.example", "Another subject", "Any news?")).await;
    assert_eq!(next.conversation, own.conversation);
    let read = app.timeline(&key, &own.conversation, "message").await;
    assert_eq!(texts(&read, "text"), ["It is broken.", "Any news?"]);
}

async fn a_message_id_that_many_mails_have_names_none_of_them(app: TestApp) {
    let mut conversations = Vec::new();
    for number in 0..25 {
        let subject = format!("Alarm {number}");
        let mail = raw_with(CONSTANT, "alarm@x.example", &subject, "The door is open.");
        conversations.push(app.arrives(&mail).await.conversation);
    }
    let fields = "Message-ID: <2@x.example>\r\nReferences: <1@printer.example>\r\n";
    let next = app.arrives(&raw_with(fields, "alarm@x.example", "Closed", "It is closed.")).await;
    assert!(!conversations.contains(&next.conversation));
    // The subject still says where an answer belongs.
    let answer =
        raw_with(&fields.replace("<2@", "<3@"), "alarm@x.example", "Re: Alarm 7", "It is closed.");
    assert_eq!(app.arrives(&answer).await.conversation, conversations[7]);
}

async fn a_dry_run_counts_files_with_one_message_id_as_the_import_does(app: TestApp) {
    let address = app.support.address.to_string();
    let found = app.app.store.read(move |tx| find_inbox(tx, &address)).await.unwrap();
    let own = std::iter::once(EmailAddress::new(SUPPORT)).collect::<std::collections::HashSet<_>>();
    let target = ImportTarget { inbox: found.unwrap(), own: own.into() };
    let mail = raw_with(CONSTANT, "ann@x.example", "Lamp", "It is broken.");
    let sent = raw_with("Message-ID: <2@x>\r\n", SUPPORT, "Lamp", "It is on its way.")
        .replace("To: support@acme.example", "To: ann@x.example");
    let mails = [
        mail.clone(),
        mail.replace("broken", "repaired"),
        mail.clone(),
        format!("Received: from a by b\r\n{mail}"),
        sent,
        raw_with("", "ben@x.example", "Chair", "No id"),
        raw_with("", "ben@x.example", "Chair", "No id"),
    ];
    let read = || mails.iter().map(|raw| ImportedMail { raw: raw.clone().into(), taken_at: None });
    let mut counted = CountedIdentities::default();
    let (first, rest) = (read().take(3).collect(), read().skip(3).collect());
    let mut said = preview(&app.app, &target, first, &mut counted).await.unwrap();
    said.extend(preview(&app.app, &target, rest, &mut counted).await.unwrap());
    assert_eq!(app.count("messages").await, 0);
    let done = import(&app.app, &target, read().collect()).await.unwrap();
    let kinds = |outcomes: &[ImportOutcome]| {
        let kind = |outcome: &ImportOutcome| match outcome {
            ImportOutcome::Filed { direction: Direction::Inbound, .. } => "received",
            ImportOutcome::Filed { direction: Direction::Outbound, .. } => "sent",
            ImportOutcome::Known => "known",
            ImportOutcome::SameContent => "same content",
            ImportOutcome::Completed { .. } => "completed",
        };
        outcomes.iter().map(kind).collect::<Vec<_>>()
    };
    let expected = ["received", "received", "known", "same content", "sent", "received", "known"];
    assert_eq!(kinds(&done), expected);
    assert_eq!(kinds(&said), expected);
    let mut counted = CountedIdentities::default();
    let again = preview(&app.app, &target, read().collect(), &mut counted).await.unwrap();
    assert!(!kinds(&again).contains(&"received"), "{again:?}");
}
