//! Certificates that an ACME server issues: when they are ordered, who orders, and what all nodes see.

use base::app::App;
use model::installation::acme::{
    self, AcmeAccount, AcmeCertificate, AcmeChallenge, ChallengeKind, FIRST_PAUSE_MS,
    IssuedCertificate, LEASE_MS, LONGEST_ASKED_PAUSE_MS, LONGEST_PAUSE_MS,
};
use testing::{DAY, HOUR, MINUTE, TestApp, on_both};

on_both!(
    an_order_is_taken_by_one_node_and_by_another_after_its_lease,
    a_certificate_is_renewed_at_two_thirds_of_its_lifetime_or_a_little_earlier,
    a_failure_keeps_the_certificate_and_the_next_order_is_at_least_an_hour_later,
    a_pause_grows_with_each_failure_and_follows_the_server,
    challenges_are_answered_by_every_node_until_the_order_is_over,
    another_server_is_asked_at_once_and_another_host_begins_anew,
    keys_and_accounts_are_sealed,
    whether_to_renew_is_asked_every_few_hours_by_one_node,
);

const HOST: &str = "mail.acme.example";
const DIRECTORY: &str = "https://ca.example/directory";

async fn plan(app: &App, host: &'static str, directory: &'static str) {
    let now = app.clock.now();
    let set = move |tx: &mut db::Tx<'_>| acme::set_plan(tx, host, directory, now);
    app.store.write(set).await.unwrap();
}

async fn known(app: &App) -> AcmeCertificate {
    app.store.read(|tx| acme::certificate(tx, HOST)).await.unwrap().expect("a plan")
}

async fn claim(app: &App) -> bool {
    let now = app.clock.now();
    app.store.write(move |tx| acme::claim_order(tx, HOST, now)).await.unwrap()
}

async fn ask(app: &App) -> bool {
    let now = app.clock.now();
    app.store.write(move |tx| acme::claim_question(tx, HOST, now)).await.unwrap()
}

async fn fail(app: &App, allowed_from: Option<i64>) -> AcmeCertificate {
    let (now, failures) = (app.clock.now(), known(app).await.failures + 1);
    let next = acme::retry_time(&app.ids, now, failures, allowed_from);
    let why = "no such name\n(dns)";
    app.store.write(move |tx| acme::fail(tx, HOST, why, now, next)).await.unwrap();
    known(app).await
}

async fn succeed(app: &App, lifetime: i64) -> IssuedCertificate {
    let now = app.clock.now();
    let issued = IssuedCertificate {
        chain: format!("chain of {now}"),
        private_key: format!("key of {now}"),
        issued_at: now,
        expires_at: now + lifetime,
    };
    let next = acme::renewal_time(&app.ids, issued.issued_at, issued.expires_at);
    let (own, keep) = (app.clone(), issued.clone());
    app.store.write(move |tx| acme::succeed(tx, &own, HOST, &keep, next)).await.unwrap();
    issued
}

async fn serve(app: &App) -> Option<IssuedCertificate> {
    let own = app.clone();
    app.store.read(move |tx| acme::issued_certificate(tx, &own, HOST)).await.unwrap()
}

async fn an_order_is_taken_by_one_node_and_by_another_after_its_lease(app: TestApp) {
    let other = app.on_another_node();
    plan(&app.app, HOST, DIRECTORY).await;
    plan(&other, HOST, DIRECTORY).await;
    assert!(known(&app.app).await.problem().unwrap().contains("self-signed"));
    let (one, two) = tokio::join!(claim(&app.app), claim(&other));
    assert!(one != two, "one of them orders: {one} {two}");
    // An operator asks for one while it is under way.
    let now = app.now();
    app.app.store.write(move |tx| acme::move_order(tx, HOST, now)).await.unwrap();
    assert!(!claim(&other).await);
    app.advance(LEASE_MS);
    assert!(claim(&other).await, "the first node is gone");
    // A node that dies again and again does not order more than once an hour.
    app.advance(LEASE_MS);
    assert!(!claim(&app.app).await);
    app.advance(FIRST_PAUSE_MS - LEASE_MS);
    assert!(claim(&app.app).await);
}

async fn a_certificate_is_renewed_at_two_thirds_of_its_lifetime_or_a_little_earlier(app: TestApp) {
    plan(&app.app, HOST, DIRECTORY).await;
    for lifetime in [90 * DAY, 6 * DAY, HOUR] {
        let issued = succeed(&app.app, lifetime).await;
        let found = known(&app.app).await;
        let after = found.next_at - issued.issued_at;
        let latest = lifetime / 3 * 2;
        assert!((latest - lifetime / 30..=latest).contains(&after), "{lifetime}: {after}");
        assert_eq!((found.expires_at, found.problem()), (Some(issued.expires_at), None));
        assert!(!claim(&app.app).await, "none is due");
        app.advance(after);
        assert!(claim(&app.app).await);
    }
}

async fn a_failure_keeps_the_certificate_and_the_next_order_is_at_least_an_hour_later(
    app: TestApp,
) {
    plan(&app.app, HOST, DIRECTORY).await;
    let issued = succeed(&app.app, 90 * DAY).await;
    app.advance(60 * DAY);
    assert!(claim(&app.app).await);
    let failed = fail(&app.app, None).await;
    assert_eq!(failed.failure.as_deref(), Some("no such name(dns)"));
    assert_eq!((failed.failures, failed.failed_at), (1, Some(app.now())));
    let said = failed.problem().unwrap();
    assert!(said.contains(HOST) && !said.contains("no such name"), "{said}");
    assert!(serve(&app.app).await == Some(issued.clone()));
    // A restart does not bring the next order forward.
    plan(&app.app, HOST, DIRECTORY).await;
    app.advance(HOUR - MINUTE);
    assert!(!claim(&app.app).await);
    app.advance(FIRST_PAUSE_MS / 10 + MINUTE);
    assert!(claim(&app.app).await);
    assert!(serve(&app.app).await == Some(issued));
    succeed(&app.app, 90 * DAY).await;
    assert_eq!(known(&app.app).await.failures, 0);
}

async fn a_pause_grows_with_each_failure_and_follows_the_server(app: TestApp) {
    plan(&app.app, HOST, DIRECTORY).await;
    let mut before = 0;
    for _ in 0..12 {
        let pause = fail(&app.app, None).await.next_at - app.now();
        assert!((FIRST_PAUSE_MS..=LONGEST_PAUSE_MS / 10 * 11).contains(&pause), "{pause}");
        assert!(pause > before || before >= LONGEST_PAUSE_MS, "{before} {pause}");
        before = pause;
    }
    let asked = app.now() + 3 * DAY;
    assert_eq!(fail(&app.app, Some(asked)).await.next_at, asked);
    let never = fail(&app.app, Some(i64::MAX)).await;
    assert_eq!(never.next_at, app.now() + LONGEST_ASKED_PAUSE_MS);
    assert!(fail(&app.app, Some(0)).await.next_at >= app.now() + LONGEST_PAUSE_MS);
}

async fn challenges_are_answered_by_every_node_until_the_order_is_over(app: TestApp) {
    let other = app.on_another_node();
    let publish = |kind: ChallengeKind, token: &str| {
        let challenge = AcmeChallenge {
            kind,
            token: token.to_owned(),
            key_authorization: format!("{token}.account"),
        };
        app.app.store.write(move |tx| acme::publish_challenge(tx, HOST, &challenge))
    };
    publish(ChallengeKind::Http01, "over-http").await.unwrap();
    publish(ChallengeKind::TlsAlpn01, "in-tls").await.unwrap();
    let http = |host: &'static str, token: &'static str| {
        other.store.read(move |tx| acme::http_answer(tx, host, token))
    };
    let tls = |host: &'static str| other.store.read(move |tx| acme::tls_answer(tx, host));
    assert_eq!(http(HOST, "over-http").await.unwrap().as_deref(), Some("over-http.account"));
    assert_eq!(tls(HOST).await.unwrap().as_deref(), Some("in-tls.account"));
    // Each way answers its own challenges, for its own host.
    assert_eq!(http(HOST, "in-tls").await.unwrap(), None);
    assert_eq!(http(HOST, "other").await.unwrap(), None);
    assert_eq!(http("other.example", "over-http").await.unwrap(), None);
    assert_eq!(tls("other.example").await.unwrap(), None);
    app.app.store.write(acme::clear_challenges).await.unwrap();
    assert_eq!(http(HOST, "over-http").await.unwrap(), None);
    assert_eq!(tls(HOST).await.unwrap(), None);
}

async fn another_server_is_asked_at_once_and_another_host_begins_anew(app: TestApp) {
    plan(&app.app, HOST, "https://staging.example/directory").await;
    let issued = succeed(&app.app, 90 * DAY).await;
    app.advance(MINUTE);
    plan(&app.app, HOST, DIRECTORY).await;
    assert!(serve(&app.app).await == Some(issued), "it is served until the next is there");
    assert!(claim(&app.app).await);
    plan(&app.app, "desk.acme.example", DIRECTORY).await;
    let gone = app.app.store.read(|tx| acme::certificate(tx, HOST)).await.unwrap();
    assert_eq!(gone, None);
}

async fn keys_and_accounts_are_sealed(app: TestApp) {
    plan(&app.app, HOST, DIRECTORY).await;
    let issued = succeed(&app.app, DAY).await;
    let own = app.app.clone();
    let account = AcmeAccount { contact: String::new(), credentials: "the account's key".into() };
    let keep = move |tx: &mut db::Tx<'_>| acme::keep_account(tx, &own, DIRECTORY, &account);
    app.app.store.write(keep).await.unwrap();
    let rows = app.app.store.read(|tx| {
        tx.one::<(String, String)>(
            "SELECT c.private_key, a.credentials
             FROM acme_certificates c JOIN acme_accounts a ON a.directory = c.directory",
            &[],
        )
    });
    let (key, credentials) = rows.await.unwrap();
    assert!(!key.contains("key of") && !credentials.contains("the account's key"));
    assert!(serve(&app.on_another_node()).await == Some(issued));
    let own = app.app.clone();
    let read = app.app.store.read(move |tx| acme::account(tx, &own, DIRECTORY)).await.unwrap();
    assert_eq!(read.expect("an account").credentials, "the account's key");
    app.app.store.write(|tx| acme::drop_account(tx, DIRECTORY)).await.unwrap();
    let own = app.app.clone();
    let read = app.app.store.read(move |tx| acme::account(tx, &own, DIRECTORY)).await.unwrap();
    assert!(read.is_none());
}

async fn whether_to_renew_is_asked_every_few_hours_by_one_node(app: TestApp) {
    let other = app.on_another_node();
    plan(&app.app, HOST, DIRECTORY).await;
    assert!(!ask(&app.app).await, "there is no certificate yet");
    succeed(&app.app, 90 * DAY).await;
    assert!(!ask(&app.app).await);
    app.advance(acme::ASK_EVERY_MS);
    let (one, two) = tokio::join!(ask(&app.app), ask(&other));
    assert!(one != two, "one of them asks: {one} {two}");
    app.advance(acme::ASK_EVERY_MS);
    assert!(ask(&other).await);
}
