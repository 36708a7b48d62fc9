//! What goes wrong with mailboxes elsewhere, and what becomes of it.

use actions::inboxes::imap_accounts::{self, FetchFrom};

use super::{ADDRESS, Dovecot, PASSWORD, Running, health, letter, plain, set_up, subjects, vault};
use crate::support::{HOUR, MINUTE, SECOND, TestApp, eventually, on_both};

on_both!(
    a_wrong_password_is_told_in_a_sentence_and_tried_seldom,
    a_folder_that_is_not_there_is_told,
    a_password_that_another_key_sealed_is_told,
    a_server_that_is_down_is_called_less_and_less_often_until_it_is_back,
    after_an_hour_of_failures_the_owners_are_told_once_and_again_when_it_works,
    a_connection_that_is_cut_is_made_again_and_loses_nothing,
    mail_that_nobody_can_read_does_not_stop_the_rest,
    a_mail_that_is_too_large_stays_where_it_is_and_is_told,
    an_inbox_that_is_set_up_anew_is_taken_from_whoever_has_it,
    what_is_kept_of_a_password_does_not_show_it,
    only_who_administers_sets_fetching_up_and_only_for_an_inbox_there_is
);

async fn a_wrong_password_is_told_in_a_sentence_and_tried_seldom(app: TestApp) {
    let dovecot = Dovecot::start();
    let wrong = FetchFrom { sealed_password: "wrong secret".into(), ..plain() };
    let fetchers = set_up(&app, &dovecot, &wrong).await;
    fetchers.fetch_due().await.unwrap();
    let told = health(&app).await;
    let error = told.last_error.unwrap();
    assert!(error.starts_with("localhost does not accept the user name and password"), "{error}");
    assert!(!error.contains("secret") && !told.ok);
    let wait = told.next_attempt_at.unwrap().0 - app.now();
    assert!((4 * MINUTE..=6 * MINUTE).contains(&wait), "{wait}");
    assert_eq!(fetchers.fetch_due().await.unwrap(), 0, "not before its time");
}

async fn a_folder_that_is_not_there_is_told(app: TestApp) {
    let dovecot = Dovecot::start();
    let from = FetchFrom { folder: "Nowhere".into(), ..plain() };
    set_up(&app, &dovecot, &from).await.fetch_due().await.unwrap();
    let error = health(&app).await.last_error.unwrap();
    assert!(error.starts_with("localhost does not open the folder Nowhere"), "{error}");
}

async fn a_password_that_another_key_sealed_is_told(app: TestApp) {
    let dovecot = Dovecot::start();
    let fetchers = set_up(&app, &dovecot, &plain()).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let ids = &app.app.ids;
    let vault = node::vault::Vault::open(elsewhere.path(), ids).unwrap();
    let sealed_password = vault.seal(ids, &node::vault::imap_purpose(ADDRESS), "x");
    let from = FetchFrom { port: dovecot.tls_port, sealed_password, ..plain() };
    app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, ADDRESS, &from)).await;
    fetchers.fetch_due().await.unwrap();
    let error = health(&app).await.last_error.unwrap();
    assert!(error.starts_with("The password cannot be opened"), "{error}");
}

async fn a_server_that_is_down_is_called_less_and_less_often_until_it_is_back(app: TestApp) {
    let mut dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    dovecot.stop();
    let mut waits = Vec::new();
    for _ in 0..6 {
        assert_eq!(fetchers.fetch_due().await.unwrap(), 1);
        let wait = health(&app).await.next_attempt_at.unwrap().0 - app.now();
        waits.push(wait);
        app.advance(wait);
    }
    for (wait, expected) in waits.iter().zip([10, 20, 40, 80, 160, 320]) {
        let expected = expected * SECOND;
        assert!((expected * 8 / 10..=expected * 12 / 10).contains(wait), "{waits:?}");
    }
    let error = health(&app).await.last_error.unwrap();
    assert!(error.starts_with("localhost cannot be reached on port"), "{error}");
    dovecot.begin();
    fetchers.fetch_due().await.unwrap();
    let told = health(&app).await;
    assert!(told.ok && told.last_error.is_none());
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
}

async fn after_an_hour_of_failures_the_owners_are_told_once_and_again_when_it_works(app: TestApp) {
    let mut dovecot = Dovecot::start();
    let fetchers = set_up(&app, &dovecot, &plain()).await;
    dovecot.stop();
    let until = app.now() + 3 * HOUR;
    let mut told_at = None;
    while app.now() < until {
        fetchers.fetch_due().await.unwrap();
        app.work().await;
        if told_at.is_none() && !app.outside.relay.attempts().is_empty() {
            told_at = Some(app.now() - until + 3 * HOUR);
        }
        app.advance(health(&app).await.next_attempt_at.unwrap().0 - app.now());
    }
    assert!((HOUR..HOUR + 15 * MINUTE).contains(&told_at.unwrap()), "{told_at:?}");
    let mails = notices(&app);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("Subject: Mail for support@acme.example cannot be fetched"));
    assert!(mails[0].contains("localhost cannot be reached"), "{}", mails[0]);
    assert_eq!(app.outside.relay.attempts()[0].recipients, ["owner@acme.example"]);
    dovecot.begin();
    fetchers.fetch_due().await.unwrap();
    app.work().await;
    let mails = notices(&app);
    assert_eq!(mails.len(), 2);
    assert!(mails[1].contains("is fetched again"));
}

async fn a_connection_that_is_cut_is_made_again_and_loses_nothing(app: TestApp) {
    let mut dovecot = Dovecot::start();
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    let working = Running::start(fetchers.clone());
    dovecot.deliver(&letter(1));
    eventually(async || subjects(&app, &key).await.len() == 1).await;
    dovecot.stop();
    eventually(async || !health(&app).await.ok).await;
    dovecot.deliver(&letter(2));
    dovecot.begin();
    app.advance(MINUTE);
    eventually(async || subjects(&app, &key).await.len() == 2).await;
    working.stop().await;
}

async fn mail_that_nobody_can_read_does_not_stop_the_rest(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    dovecot.deliver("\r\n");
    dovecot.deliver("\u{0}\u{1}\u{2} not a mail \u{fffd}");
    dovecot.deliver(&format!(
        "From: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{}",
        "--b\r\nContent-Type: message/rfc822\r\n\r\n".repeat(3_000)
    ));
    dovecot.deliver(&letter(2));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    let told = health(&app).await;
    assert!(told.ok, "{told:?}");
    let subjects = subjects(&app, &key).await;
    for number in 1..=2 {
        assert!(subjects.contains(&format!("Lamp {number}")), "{subjects:?}");
    }
}

async fn a_mail_that_is_too_large_stays_where_it_is_and_is_told(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    dovecot.deliver(&format!("{}{}", letter(9), "0123456789abcdef\r\n".repeat(3_000_000)));
    dovecot.deliver(&letter(2));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    app.work().await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 2", "Lamp 1"]);
    let told = health(&app).await;
    assert_eq!((told.ok, told.fetched, told.skipped), (true, 2, 1));
    assert!(told.last_skipped.unwrap().contains("up to 50 MiB are fetched"));
    assert!(notices(&app)[0].contains("Subject: A mail to support@acme.example was not fetched"));
}

async fn an_inbox_that_is_set_up_anew_is_taken_from_whoever_has_it(app: TestApp) {
    let dovecot = Dovecot::start();
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    let working = Running::start(fetchers);
    eventually(async || health(&app).await.last_fetched_at.is_some()).await;
    app.act(&app.owner, |tx, cx| imap_accounts::stop_fetching(tx, cx, ADDRESS)).await;
    dovecot.deliver(&letter(1));
    working.stop().await;
    let again = set_up(&app, &dovecot, &plain()).await;
    again.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
}

async fn what_is_kept_of_a_password_does_not_show_it(app: TestApp) {
    let dovecot = Dovecot::start();
    set_up(&app, &dovecot, &plain()).await;
    let sql = "SELECT password FROM imap_accounts";
    let kept = app.app.store.read(move |tx| tx.one::<(String,)>(sql, &[]));
    let (kept,) = kept.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"));
    assert!(kept.starts_with("v1.") && !kept.contains("sesame"));
    let purpose = node::vault::imap_purpose(ADDRESS);
    assert_eq!(vault(&app).unseal(&purpose, &kept).unwrap(), PASSWORD);
}

async fn only_who_administers_sets_fetching_up_and_only_for_an_inbox_there_is(app: TestApp) {
    let ann = app.person("Ann").await;
    let by = |actor, address: &'static str| {
        let from = FetchFrom { port: 993, ..plain() };
        app.app.act(actor, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, address, &from))
    };
    assert!(by(&ann, ADDRESS).await.is_err());
    let told = by(&app.owner, "nobody@acme.example").await.unwrap_err().to_string();
    assert!(told.starts_with("address: is no inbox"), "{told}");
    let told = by(&app.owner, "sandbox@acme.test").await.unwrap_err().to_string();
    assert!(told.starts_with("address: is no inbox"), "{told}");
    for (from, field) in [
        (FetchFrom { host: "a b".into(), ..plain() }, "server"),
        (FetchFrom { username: String::new(), port: 1, ..plain() }, "server"),
        (FetchFrom { folder: "a\r\nb".into(), port: 1, ..plain() }, "folder"),
    ] {
        let set = app
            .app
            .act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, ADDRESS, &from));
        let told = set.await.unwrap_err().to_string();
        assert!(told.starts_with(field), "{told}");
    }
    let listed = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
    assert!(listed.is_empty());
}

fn notices(app: &TestApp) -> Vec<String> {
    let attempts = app.outside.relay.attempts();
    attempts.iter().map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}
