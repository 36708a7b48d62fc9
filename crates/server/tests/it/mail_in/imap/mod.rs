//! Fetching mail by IMAP from a real Dovecot.

mod sent;
mod troubles;

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use actions::inboxes::imap_accounts::{self, FetchFrom, FetchedInbox, MailHistory};
use inbound::imap::{self, FetchProtocol, PostFetchAction, Security};
use inbound::{BelievedResults, MailSource};
use model::mailboxes::mailbox_grants::MailAuth;
use node::vault::{Vault, imap_purpose};
use rustls::RootCertStore;
use server::mail_in::imap::{Fetchers, ImapTiming};
use testing::{Dovecot, MAILBOX_PASSWORD as PASSWORD, MAILBOX_USER as USER};
use tokio_util::sync::CancellationToken;
use transport::mail_oauth::{AccessTokens, NoTokens};

use crate::support::{
    Backend, DAY, SECOND, TestApp, TestKey, dialling, eventually, on_both, run, texts,
};

on_both!(
    what_is_in_the_mailbox_becomes_conversations_in_its_order,
    history_is_listed_by_when_its_mailbox_took_it,
    nothing_is_fetched_twice,
    a_server_that_numbers_its_mails_anew_brings_nothing_twice_and_loses_nothing,
    what_was_there_before_is_left_alone_where_that_is_asked_for,
    history_is_brought_in_as_far_back_as_is_asked_for,
    a_filed_mail_is_marked_or_moved_where_that_is_asked_for,
    the_server_tells_of_new_mail_while_it_is_listened_to,
    a_server_that_tells_nothing_by_itself_is_asked,
    tls_may_begin_later_but_not_never,
    the_address_that_a_mail_was_delivered_to_carries_its_reference,
    the_word_of_the_mailboxs_own_server_is_taken_about_senders,
    of_two_processes_one_fetches_an_inbox
);

const ADDRESS: &str = "support@acme.example";

async fn what_is_in_the_mailbox_becomes_conversations_in_its_order(app: TestApp) {
    let dovecot = Dovecot::start();
    for number in 1..=3 {
        dovecot.deliver(&letter(number));
    }
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    assert_eq!(fetchers.fetch_due().await.unwrap(), 1);
    assert_eq!(subjects(&app, &key).await, ["Lamp 3", "Lamp 2", "Lamp 1"]);
    let read = app.list(&key, "").await[2].clone();
    let read = app.read(&key, &read["id"].as_str().unwrap()).await;
    assert_eq!(read["timeline"][0]["text"], "It is broken, says 1.");
    let health = health(&app).await;
    assert_eq!((health.ok, health.fetched, health.skipped), (true, 3, 0));
    assert!(health.last_fetched_at.is_some() && health.last_error.is_none());
    let unread = dovecot.mails("").iter().all(|name| !name.contains('S'));
    assert!(unread, "nothing is changed there: {:?}", dovecot.mails(""));
}

async fn history_is_listed_by_when_its_mailbox_took_it(app: TestApp) {
    let dovecot = Dovecot::start();
    let at = |millis: i64| UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs());
    for (number, days) in [(1, 2), (2, 400), (3, 30)] {
        dovecot.deliver_at(&letter(number), at(app.now() - days * DAY));
    }
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    app.mail("cara@x.example", "Today", "text").await;
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await, ["Today", "Lamp 1", "Lamp 3", "Lamp 2"]);
    let taken = base::time::Moment(app.now() - 2 * DAY).iso();
    assert_eq!(app.list(&key, "").await[1]["lastMessageAt"], taken);
}

async fn nothing_is_fetched_twice(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    for number in 2..=4 {
        fetchers.fetch_due().await.unwrap();
        dovecot.deliver(&letter(number));
        app.advance(61_000);
    }
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await.len(), 4);
    assert_eq!(health(&app).await.fetched, 4);
}

async fn a_server_that_numbers_its_mails_anew_brings_nothing_twice_and_loses_nothing(app: TestApp) {
    let mut dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    dovecot.deliver(&without_id("Nameless"));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    dovecot.deliver(&letter(2));
    dovecot.number_anew();
    app.advance(61_000);
    fetchers.fetch_due().await.unwrap();
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    let mut subjects = subjects(&app, &key).await;
    subjects.sort();
    assert_eq!(subjects, ["Lamp 1", "Lamp 2", "Nameless"]);
}

async fn what_was_there_before_is_left_alone_where_that_is_asked_for(app: TestApp) {
    let mut dovecot = Dovecot::start();
    let at = |millis: i64| UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs());
    dovecot.deliver_at(&letter(1), at(app.now() - DAY));
    let from = FetchFrom { history: MailHistory::Nothing, ..plain() };
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &from).await);
    fetchers.fetch_due().await.unwrap();
    assert!(subjects(&app, &key).await.is_empty());
    dovecot.deliver_at(&letter(2), at(app.now() + SECOND));
    app.advance(61_000);
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await, ["Lamp 2"]);
    dovecot.number_anew();
    app.advance(61_000);
    fetchers.fetch_due().await.unwrap();
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    assert_eq!(subjects(&app, &key).await, ["Lamp 2"]);
}

async fn history_is_brought_in_as_far_back_as_is_asked_for(app: TestApp) {
    let dovecot = Dovecot::start();
    let at = |millis: i64| UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs());
    for (number, days) in [(1, 40), (2, 32), (3, 5), (4, 1)] {
        dovecot.deliver_at(&letter(number), at(app.now() - days * DAY));
    }
    let from = FetchFrom { history: MailHistory::Days(30), ..plain() };
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &from).await);
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await, ["Lamp 4", "Lamp 3"]);
    let nothing = Dovecot::start();
    nothing.deliver_at(&letter(5), at(app.now() - 90 * DAY));
    app.act(&app.owner, |tx, cx| imap_accounts::stop_fetching(tx, cx, ADDRESS)).await;
    let fetchers = set_up(&app, &nothing, &from).await;
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await.len(), 2, "nothing is that new");
}

async fn a_filed_mail_is_marked_or_moved_where_that_is_asked_for(app: TestApp) {
    for capability in ["", "IMAP4rev1 UIDPLUS", "IMAP4rev1"] {
        let dovecot = Dovecot::with_capability(capability);
        dovecot.deliver(&letter(1));
        let from = FetchFrom { after: PostFetchAction::Seen, ..plain() };
        let fetchers = set_up(&app, &dovecot, &from).await;
        fetchers.fetch_due().await.unwrap();
        assert!(dovecot.mails("")[0].ends_with('S'), "{:?}", dovecot.mails(""));
        dovecot.deliver(&letter(2));
        let from = FetchFrom { after: PostFetchAction::Move("Müll & Co".into()), ..plain() };
        let fetchers = set_up(&app, &dovecot, &from).await;
        fetchers.fetch_due().await.unwrap();
        let moved = dovecot.mails(".M&APw-ll &- Co");
        assert_eq!(moved.len(), 1, "{capability}: {:?}", health(&app).await);
        let left = dovecot.mails("").iter().filter(|name| !name.contains('T')).count();
        assert_eq!(left, 1, "{capability}: {:?}", dovecot.mails(""));
        app.act(&app.owner, |tx, cx| imap_accounts::stop_fetching(tx, cx, ADDRESS)).await;
    }
}

async fn the_server_tells_of_new_mail_while_it_is_listened_to(app: TestApp) {
    let dovecot = Dovecot::start();
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    let working = Running::start(fetchers);
    eventually(async || dovecot.log().contains("Login: ")).await;
    for number in 1..=2 {
        dovecot.deliver(&letter(number));
        let count = number as usize;
        eventually(async || subjects(&app, &key).await.len() == count).await;
    }
    assert_eq!(dovecot.log().matches("Login: ").count(), 1, "{}", dovecot.log());
    working.stop().await;
}

async fn a_server_that_tells_nothing_by_itself_is_asked(app: TestApp) {
    let dovecot = Dovecot::with_capability("IMAP4rev1");
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    let working = Running::start(fetchers);
    eventually(async || dovecot.log().contains("Login: ")).await;
    dovecot.deliver(&letter(1));
    eventually(async || subjects(&app, &key).await.len() == 1).await;
    working.stop().await;
}

async fn tls_may_begin_later_but_not_never(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    let later = FetchFrom { security: Security::StartTls, port: dovecot.port, ..plain() };
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &later).await);
    fetchers.fetch_due().await.unwrap();
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
    let fetchers = fetchers_trusting(&app, RootCertStore::empty());
    app.advance(61_000);
    fetchers.fetch_due().await.unwrap();
    let error = health(&app).await.last_error.unwrap();
    assert!(error.starts_with("The certificate of localhost is not trusted"), "{error}");
}

async fn the_address_that_a_mail_was_delivered_to_carries_its_reference(app: TestApp) {
    let dovecot = Dovecot::start();
    let to = "Delivered-To: support+INV-7@acme.example\r\n";
    dovecot.deliver(&format!("{to}{}", letter(1)));
    let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
    fetchers.fetch_due().await.unwrap();
    assert_eq!(app.list(&key, "").await[0]["reference"], "inv-7");
}

async fn the_word_of_the_mailboxs_own_server_is_taken_about_senders(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    set_up(&app, &dovecot, &plain()).await.fetch_due().await.unwrap();
    dovecot.deliver(&letter(2));
    let from = FetchFrom { trusts: Some("MX.acme.example".into()), ..plain() };
    set_up(&app, &dovecot, &from).await.fetch_due().await.unwrap();
    let (guessed, chosen) =
        (BelievedResults::of_host("localhost"), BelievedResults::of_server("mx.acme.example"));
    let sources = app.outside.authenticator.sources();
    assert_eq!(sources, [guessed, chosen].map(|believed| MailSource::Mailbox { believed }));
}

async fn of_two_processes_one_fetches_an_inbox(app: TestApp) {
    let dovecot = Dovecot::start();
    dovecot.deliver(&letter(1));
    let first = set_up(&app, &dovecot, &plain()).await;
    let second = fetchers_trusting(&app, dovecot.roots.clone());
    let (a, b) = tokio::join!(first.fetch_due(), second.fetch_due());
    assert_eq!(a.unwrap() + b.unwrap(), 1);
    assert_eq!(dovecot.log().matches("Login: ").count(), 1, "{}", dovecot.log());
}

#[test]
fn a_server_that_was_killed_fetches_at_once_when_it_is_back() {
    run(Backend::Sqlite, |app: TestApp| async move {
        let dovecot = Dovecot::start();
        dovecot.deliver(&letter(1));
        let (key, fetchers) = (app.key("read").await, set_up(&app, &dovecot, &plain()).await);
        // The killed process has its claim, and the clock stands still: it does not lapse.
        let (ids, now) = (app.app.ids.clone(), app.now());
        let claimed = app.app.store.write(move |tx| imap::claim_due(tx, &ids, now, 1));
        assert_eq!(claimed.await.unwrap().len(), 1);
        assert_eq!(fetchers.fetch_due().await.unwrap(), 0);
        let working = Running::start(fetchers);
        eventually(async || subjects(&app, &key).await.len() == 1).await;
        working.stop().await;
    });
}

/// Fetching in the background.
struct Running {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn start(fetchers: Fetchers) -> Running {
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        Running { stop, task: tokio::spawn(async move { fetchers.run(stopped).await }) }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

fn plain() -> FetchFrom {
    FetchFrom {
        protocol: FetchProtocol::Imap,
        host: "localhost".into(),
        port: 0,
        security: Security::Tls,
        username: USER.into(),
        auth: MailAuth::Password,
        sealed_password: PASSWORD.into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Everything,
        by_operator: true,
    }
}

/// Fetches the support inbox's mail from this server; the password given is sealed first.
async fn set_up(app: &TestApp, dovecot: &Dovecot, from: &FetchFrom) -> Fetchers {
    let mut from = from.clone();
    if from.port == 0 {
        from.port = dovecot.tls_port;
    }
    let sealed = vault(app).seal(&app.app.ids, &imap_purpose(ADDRESS), &from.sealed_password);
    from.sealed_password = sealed;
    app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, ADDRESS, &from)).await;
    fetchers_trusting(app, dovecot.roots.clone())
}

pub fn fetchers_trusting(app: &TestApp, roots: RootCertStore) -> Fetchers {
    fetchers_with(app, roots, Arc::new(NoTokens))
}

/// The same, with the access tokens of mailboxes that were signed in to.
pub fn fetchers_with(
    app: &TestApp,
    roots: RootCertStore,
    tokens: Arc<dyn AccessTokens>,
) -> Fetchers {
    let pace = ImapTiming {
        idle: Duration::from_secs(60),
        poll: Duration::from_millis(100),
        answering: Duration::from_secs(20),
        ..ImapTiming::default()
    };
    let authenticator = app.outside.authenticator.clone();
    let guard = dialling(RootCertStore::empty(), false).guard;
    Fetchers::new(app.app.clone(), authenticator, vault(app), tokens, roots, guard, pace).unwrap()
}

fn vault(app: &TestApp) -> Vault {
    Vault::open(app.folder(), &app.app.ids).unwrap()
}

async fn health(app: &TestApp) -> FetchedInbox {
    let mut all = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn subjects(app: &TestApp, key: &TestKey) -> Vec<String> {
    texts(&app.list(key, "limit=100").await, "subject")
}

fn letter(number: u32) -> String {
    format!(
        "From: Bruno <bruno{number}@keller.example>\r\nTo: support@acme.example\r\n\
         Subject: Lamp {number}\r\nMessage-ID: <{number}@keller.example>\r\n\r\n\
         It is broken, says {number}.\r\n"
    )
}

fn without_id(subject: &str) -> String {
    format!("From: cara@x.example\r\nSubject: {subject}\r\n\r\nHello\r\n")
}
