//! When a mail was sent, and when it arrived.

use actions::conversations::open_conversation;
use actions::conversations::timeline::TimelinePart;
use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use actions::inboxes::setup;
use actions::people::removal;
use actions::writing::approvals;
use base::time::Moment;
use inbound::imap::{self, FetchProtocol, ImapAccount, PostFetchAction, Security};
use inbound::{BelievedResults, FetchedMail, InboundMail, Ingested, MailSource, ingest_fetched};
use serde_json::Value;
use testing::{DAY, HOUR, MINUTE, SECOND, TestApp, TestKey, on_both, raw_with, user};

on_both!(
    a_live_mail_is_dated_by_its_sender_and_listed_by_its_arrival,
    a_date_that_cannot_be_is_not_believed,
    fetched_mail_is_listed_by_when_its_mailbox_took_it,
    fetched_history_threads_by_its_own_time,
    a_fetched_mail_that_is_older_than_the_last_look_is_still_unread,
    a_customers_mail_that_came_after_a_draft_is_newer_whatever_its_date,
    nothing_is_filed_for_an_inbox_that_is_not_fetched_any_more,
    after_a_kill_an_inbox_is_claimed_again_within_a_minute
);

const SUPPORT: &str = "support@acme.example";

/// A mail with this `Date:`, or with none.
fn dated(from: &str, subject: &str, date: Option<&str>) -> String {
    let id: String = subject.chars().filter(char::is_ascii_alphanumeric).collect();
    let mail = raw_with(&format!("Message-ID: <{id}@x.example>\r\n"), from, subject, subject);
    let date = date.map_or(String::new(), |date| format!("Date: {date}\r\n"));
    mail.replace("Date: Sun, 15 Nov 2026 09:00:00 +0000\r\n", &date)
}

/// When the first message of a conversation was sent, and where the conversation is listed.
async fn times(app: &TestApp, key: &TestKey, id: &impl ToString) -> [Value; 2] {
    let read = app.read(key, id).await;
    [read["timeline"][0]["at"].clone(), read["lastMessageAt"].clone()]
}

/// A claim on the support inbox, fetched from elsewhere.
async fn account(app: &TestApp) -> ImapAccount {
    claimed(app, SUPPORT).await
}

async fn claimed(app: &TestApp, address: &str) -> ImapAccount {
    claimed_by(app, address, FetchProtocol::Imap).await
}

/// A claim on an inbox that is connected by this protocol, anew where it was another.
pub(super) async fn claimed_by(
    app: &TestApp,
    address: &str,
    protocol: FetchProtocol,
) -> ImapAccount {
    let from = FetchFrom {
        protocol,
        host: "localhost".into(),
        port: 993,
        security: Security::Tls,
        username: "ann".into(),
        auth: model::mailboxes::mailbox_grants::MailAuth::Password,
        sealed_password: "x".into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Everything,
        by_operator: true,
    };
    let address = address.to_owned();
    app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, &address, &from))
        .await;
    let (ids, now) = (app.app.ids.clone(), app.now());
    let claim = app.app.store.write(move |tx| imap::claim_due(tx, &ids, now, 1));
    claim.await.unwrap().remove(0)
}

pub(super) async fn fetched(
    app: &TestApp,
    account: &ImapAccount,
    raw: &str,
    internal_date: i64,
) -> Ingested {
    let delivery = InboundMail {
        sender: None,
        recipients: vec![SUPPORT.into()],
        source: MailSource::Mailbox { believed: BelievedResults::default() },
        raw: raw.as_bytes().to_vec(),
    };
    let fetched = FetchedMail { account: account.clone(), internal_date: Some(internal_date) };
    let authenticator = &*app.outside.authenticator;
    ingest_fetched(&app.app, authenticator, delivery, fetched).await.unwrap()
}

pub(super) fn received(taken: Ingested) -> inbound::incoming_mail::FiledMail {
    match taken {
        Ingested::Filed(received) => received,
        other => panic!("{other:?}"),
    }
}

fn iso(at: i64) -> Value {
    Moment(at).iso().into()
}

async fn a_live_mail_is_dated_by_its_sender_and_listed_by_its_arrival(app: TestApp) {
    let key = app.key("read").await;
    app.arrives(&dated("cara@x.example", "Newer", Some("Sun, 15 Nov 2026 09:00:00 +0000"))).await;
    app.advance(MINUTE);
    let late = dated("ann@x.example", "Late", Some("Sun, 15 Nov 2026 03:00:00 +0100"));
    let late = app.arrives(&late).await;
    let sent = app.now() - MINUTE - 7 * HOUR;
    assert_eq!(times(&app, &key, &late.conversation).await, [iso(sent), iso(app.now())]);
    assert_eq!(app.subjects(&key, "").await, ["Late", "Newer"], "what has just come is on top");
}

async fn a_date_that_cannot_be_is_not_believed(app: TestApp) {
    let key = app.key("read").await;
    for (place, date) in [
        Some("Mon, 16 Nov 2026 09:00:00 +0000"),
        Some("Thu, 01 Jan 1970 00:00:00 +0000"),
        Some("Sun, 31 Dec 1989 23:59:59 +0000"),
        Some("yesterday"),
        None,
    ]
    .into_iter()
    .enumerate()
    {
        let mail = dated("ann@x.example", &format!("Odd {place}"), date);
        let odd = app.arrives(&mail).await;
        let now = iso(app.now());
        assert_eq!(times(&app, &key, &odd.conversation).await, [now.clone(), now], "{date:?}");
    }
}

async fn fetched_mail_is_listed_by_when_its_mailbox_took_it(app: TestApp) {
    let key = app.key("read").await;
    let account = account(&app).await;
    app.mail("today@x.example", "Today", "text").await;
    let internal = app.now() - 40 * DAY;
    let old = dated("ann@x.example", "Old", Some("Mon, 05 Oct 2026 09:00:00 +0000"));
    let old = received(fetched(&app, &account, &old, internal).await);
    let sent = app.now() - 41 * DAY;
    assert_eq!(times(&app, &key, &old.conversation).await, [iso(sent), iso(internal)]);
    let undated = dated("ben@x.example", "Undated", None);
    let undated = received(fetched(&app, &account, &undated, internal + DAY).await);
    let there = iso(internal + DAY);
    assert_eq!(times(&app, &key, &undated.conversation).await, [there.clone(), there]);
    assert_eq!(app.subjects(&key, "").await, ["Today", "Undated", "Old"]);
    let ahead = dated("cleo@x.example", "Ahead", None);
    let ahead = received(fetched(&app, &account, &ahead, app.now() + DAY).await);
    let now = iso(app.now());
    assert_eq!(times(&app, &key, &ahead.conversation).await, [now.clone(), now]);
}

async fn fetched_history_threads_by_its_own_time(app: TestApp) {
    let key = app.key("read").await;
    let account = account(&app).await;
    let recent = app.mail("ann@x.example", "Lamp", "text").await;
    let at = |days: i64| app.now() - days * DAY;
    let mail = |number: u32| {
        dated("ann@x.example", "Re: Lamp", None).replace("ReLamp@", &format!("{number}@"))
    };
    let first = received(fetched(&app, &account, &mail(1), at(400)).await);
    assert_ne!(first.conversation, recent.conversation, "years lie between them");
    let second = received(fetched(&app, &account, &mail(2), at(380)).await);
    assert_eq!(second.conversation, first.conversation);
    let third = received(fetched(&app, &account, &mail(3), at(20)).await);
    assert_eq!(third.conversation, recent.conversation);
    let read = app.read(&key, &recent.conversation).await;
    assert_eq!(read["lastMessageAt"], iso(app.now()), "an older mail does not move it back");
    assert_eq!(read["timeline"][0]["id"], third.message.as_str(), "the timeline goes by time");
    let listed = app.list(&key, "").await;
    assert_eq!(listed[0]["snippet"], "text", "the snippet is of the latest");
}

async fn a_fetched_mail_that_is_older_than_the_last_look_is_still_unread(app: TestApp) {
    let account = account(&app).await;
    let first = app.mail("ann@x.example", "Lamp", "text").await;
    app.advance(MINUTE);
    let id = first.conversation.to_string();
    let read = id.clone();
    app.act(&app.owner, move |tx, cx| open_conversation::mark_read(tx, cx, &read)).await;
    let reply = dated("ann@x.example", "Re: Lamp", None);
    let reply = received(fetched(&app, &account, &reply, app.now() - 30 * SECOND).await);
    assert_eq!(reply.conversation, first.conversation);
    let seen = app.act(&app.owner, move |tx, cx| {
        Ok(open_conversation::read_conversation(tx, cx, &id, &TimelinePart::Newest)?.is_news())
    });
    assert!(seen.await);
}

async fn a_customers_mail_that_came_after_a_draft_is_newer_whatever_its_date(app: TestApp) {
    let key = app.key("draft").await;
    let first = app.mail("ann@x.example", "Lamp", "text").await;
    app.advance(MINUTE);
    app.draft(&key, &first.conversation, "It left.").await;
    app.advance(MINUTE);
    let late = dated("ann@x.example", "Re: Lamp", Some("Sat, 14 Nov 2026 09:00:00 +0000"));
    assert_eq!(app.arrives(&late).await.conversation, first.conversation);
    let queued = app.act(&app.owner, approvals::queue).await;
    assert!(queued[0].wrote_meanwhile, "the customer wrote since");
}

async fn nothing_is_filed_for_an_inbox_that_is_not_fetched_any_more(app: TestApp) {
    let key = app.key("read").await;
    let ann = app.person("Ann").await;
    let private = app.private_inbox(&ann).await;
    let mut account = account(&app).await;
    let address = private.address.to_string();
    let other = account.clone();
    // Somebody else has taken the inbox over.
    account.holder = "another".into();
    let mail = dated("ben@x.example", "Stale", None);
    assert_eq!(fetched(&app, &account, &mail, app.now()).await, Ingested::NoInbox);
    app.act(&app.owner, |tx, cx| imap_accounts::stop_fetching(tx, cx, SUPPORT)).await;
    assert_eq!(fetched(&app, &other, &mail, app.now()).await, Ingested::NoInbox);
    assert!(app.list(&key, "view=all").await.is_empty());
    let claimed = claimed(&app, &address).await;
    let removed = user(&ann);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &removed)).await;
    let next = app.app.store.read(imap::next_due).await.unwrap();
    assert_eq!(next, None, "removal ends the fetching");
    // The address is free and becomes the team's: what was under way must not come there.
    let team = address.clone();
    app.act(&app.owner, move |tx, cx| setup::add_mailbox(tx, cx, &team, "Reused", None)).await;
    let delivery = InboundMail {
        sender: None,
        recipients: vec![address],
        source: MailSource::Mailbox { believed: BelievedResults::default() },
        raw: mail.into_bytes(),
    };
    let stale = FetchedMail { account: claimed, internal_date: None };
    let taken = ingest_fetched(&app.app, &*app.outside.authenticator, delivery, stale).await;
    assert_eq!(taken, Ok(Ingested::NoInbox));
    assert!(app.list(&key, "view=all").await.is_empty());
}

async fn after_a_kill_an_inbox_is_claimed_again_within_a_minute(app: TestApp) {
    let killed = account(&app).await;
    let claim = |now: i64| {
        let ids = app.app.ids.clone();
        app.app.store.write(move |tx| imap::claim_due(tx, &ids, now, 1))
    };
    assert!(claim(app.now() + MINUTE - 1).await.unwrap().is_empty());
    let again = claim(app.now() + MINUTE).await.unwrap();
    assert_eq!(again.len(), 1);
    assert_ne!(again[0].holder, killed.holder);
}
