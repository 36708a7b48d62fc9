//! Direct delivery to domains that publish how their mail must be encrypted (MTA-STS, RFC 8461).

use std::collections::HashMap;
use std::sync::Mutex;

use base::concurrency::future::BoxFuture;
use tokio_rustls::TlsAcceptor;
use transport::mail_out::PolicySource;

use super::direct::{direct_with, peers};
use super::names::Zone;
use super::*;

/// Policies by domain, and how often each was fetched. A domain without one cannot be reached.
#[derive(Clone, Default)]
pub struct Published {
    texts: HashMap<&'static str, String>,
    fetched: Arc<Mutex<Vec<String>>>,
}

impl Published {
    fn policy(mode: &str, servers: &[&str]) -> Published {
        let servers: String = servers.iter().map(|server| format!("mx: {server}\r\n")).collect();
        let text = format!("version: STSv1\r\nmode: {mode}\r\n{servers}max_age: 86400\r\n");
        Published { texts: HashMap::from([("one.example", text)]), ..Published::default() }
    }

    fn fetched(&self) -> Vec<String> {
        self.fetched.lock().unwrap().clone()
    }
}

impl PolicySource for Published {
    fn fetch<'a>(&'a self, domain: &'a str) -> BoxFuture<'a, Result<String, String>> {
        self.fetched.lock().unwrap().push(domain.to_owned());
        let text = self.texts.get(domain).cloned();
        Box::pin(async move { text.ok_or("nobody is there".into()) })
    }
}

/// A domain with a policy and one server on this machine.
fn one_server() -> Zone {
    Zone::default()
        .text("_mta-sts.one.example", "v=STSv1; id=1;")
        .mx("one.example", 10, "mx.one.example")
        .address("mx.one.example", "127.0.0.1")
}

fn encrypting(tls: TlsAcceptor) -> Manner {
    Manner { tls: Some(tls), ..offering(&["STARTTLS"]) }
}

#[tokio::test]
async fn an_enforced_policy_wants_a_named_server_that_proves_its_name() {
    let (ours, other) = (Authority::new(), Authority::new());
    let good = || encrypting(ours.acceptor("mx.one.example", &[], |_| {}));
    let (named, elsewhere) = (["*.one.example"], ["mx.two.example"]);
    let asks = "its MTA-STS policy asks for servers that prove their name";
    for (case, manner, servers, expected) in [
        ("proven", good(), &named, "delivered"),
        ("another name", encrypting(ours.acceptor("x.example", &[], |_| {})), &named, asks),
        ("a stranger", encrypting(other.acceptor("mx.one.example", &[], |_| {})), &named, asks),
        ("no encryption", offering(&[]), &named, asks),
        ("not named", good(), &elsewhere, "no server that its MTA-STS policy names was found"),
    ] {
        let peer = Peer::start(manner).await;
        let policies = Published::policy("enforce", servers);
        let port = peer.address.port();
        let relay = direct_with(one_server(), port, "&tls=fallback", &ours, policies).await;
        for _ in 0..2 {
            let outcome = told(&relay.send(&mail(&["a@one.example"])).await[0]);
            assert!(outcome.ends_with(expected), "{case}: {outcome}");
            let waits = outcome.starts_with("later: one.example: ");
            assert!(waits || expected == "delivered", "{case}: {outcome}");
        }
        let seen = peer.seen();
        let mails = if expected == "delivered" { 2 } else { 0 };
        assert_eq!(seen.mails.len(), mails, "{case}");
        assert!(!seen.commands.iter().any(|said| said.starts_with("MAIL")), "{case}: in clear");
    }
}

#[tokio::test]
async fn servers_that_an_enforced_policy_does_not_name_are_passed_over() {
    let authority = Authority::new();
    let manner = encrypting(authority.acceptor("good.one.example", &[], |_| {}));
    let (port, peers) = peers(&["127.0.0.1", "127.0.0.2"], manner).await;
    let zone = Zone::default()
        .text("_mta-sts.one.example", "v=STSv1; id=1;")
        .mx("one.example", 5, "evil.example")
        .mx("one.example", 10, "good.one.example")
        .address("evil.example", "127.0.0.1")
        .address("good.one.example", "127.0.0.2");
    let policies = Published::policy("enforce", &["good.one.example"]);
    let relay = direct_with(zone, port, "", &authority, policies).await;
    assert_eq!(relay.send(&mail(&["a@one.example"])).await, [RelayOutcome::Delivered]);
    assert_eq!((peers[0].seen().sessions, peers[1].seen().mails.len()), (0, 1));
}

#[tokio::test]
async fn a_policy_under_test_and_none_at_all_change_nothing() {
    let authority = Authority::new();
    for (case, policies, fetched) in [
        ("testing", Published::policy("testing", &["mx.two.example"]), 1),
        ("none", Published::policy("none", &[]), 1),
        ("unreachable", Published::default(), 1),
    ] {
        let peer = Peer::start(offering(&[])).await;
        let port = peer.address.port();
        let relay = direct_with(one_server(), port, "", &authority, policies.clone()).await;
        for _ in 0..3 {
            let outcomes = relay.send(&mail(&["a@one.example"])).await;
            assert_eq!(outcomes, [RelayOutcome::Delivered], "{case}");
        }
        assert_eq!(policies.fetched(), vec!["one.example"; fetched], "{case}");
    }
}

#[tokio::test]
async fn a_domain_that_announces_no_policy_is_not_asked_for_one() {
    let peer = Peer::start(offering(&[])).await;
    let zone = Zone::default()
        .mx("one.example", 10, "mx.one.example")
        .address("mx.one.example", "127.0.0.1");
    let policies = Published::policy("enforce", &["mx.two.example"]);
    let authority = Authority::new();
    let port = peer.address.port();
    let relay = direct_with(zone, port, "", &authority, policies.clone()).await;
    assert_eq!(relay.send(&mail(&["a@one.example"])).await, [RelayOutcome::Delivered]);
    assert!(policies.fetched().is_empty());
}
