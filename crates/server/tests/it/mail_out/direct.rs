//! Direct delivery, with names from a real DNS server and mail servers on addresses of this machine:
//! 127.0.0.1 to 127.0.0.9 stand for the internet, 127.0.0.10 for a private network.

use std::net::{IpAddr, Ipv4Addr};

use transport::mail_out::MxRelay;
use transport::net::dns_lookup::Lookup;

use super::names::Zone;
use super::sts::Published;
use super::*;

const PRIVATE: &str = "127.0.0.10";

async fn direct(zone: Zone, port: u16, options: &str, authority: &Authority) -> MxRelay {
    direct_with(zone, port, options, authority, Published::default()).await
}

/// With policies that domains publish.
pub async fn direct_with(
    zone: Zone,
    port: u16,
    options: &str,
    authority: &Authority,
    policies: Published,
) -> MxRelay {
    let lookup = Lookup::at(Some(zone.serve().await)).unwrap();
    let options = format!("mx:?port={port}{options}").parse().unwrap();
    let may_dial = |ip| ip != IpAddr::V4(Ipv4Addr::new(127, 0, 0, 10));
    let helo = "mail.acme.example".into();
    let policies = Arc::new(policies);
    MxRelay::new(&options, helo, lookup, may_dial, authority.roots(), patience(), policies).unwrap()
}

/// A server of its own for each address, all on one port.
pub async fn peers(addresses: &[&str], manner: Manner) -> (u16, Vec<Peer>) {
    let first = Peer::start_at(&format!("{}:0", addresses[0]), manner.clone()).await;
    let port = first.address.port();
    let mut peers = vec![first];
    for address in &addresses[1..] {
        peers.push(Peer::start_at(&format!("{address}:{port}"), manner.clone()).await);
    }
    (port, peers)
}

#[tokio::test]
async fn a_mail_goes_to_the_best_server_of_each_domain_and_recipients_of_one_share_it() {
    let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
    let (port, peers) = peers(&addresses, offering(OFFERS)).await;
    let zone = Zone::default()
        .mx("one.example", 20, "backup.one.example")
        .mx("one.example", 10, "mx.one.example")
        .address("mx.one.example", addresses[0])
        .address("backup.one.example", addresses[1])
        .address("two.example", addresses[2]);
    let relay = direct(zone, port, "", &Authority::new()).await;
    let mail = mail(&["a@one.example", "b@two.example", "c@one.example"]);
    assert_eq!(relay.send(&mail).await, vec![RelayOutcome::Delivered; 3]);
    let to = |peer: &Peer| peer.seen().mails.iter().map(|mail| mail.to.clone()).collect::<Vec<_>>();
    assert_eq!(to(&peers[0]), [["RCPT TO:<a@one.example>", "RCPT TO:<c@one.example>"]]);
    assert_eq!(to(&peers[2]), [["RCPT TO:<b@two.example>"]], "a domain without MX takes it itself");
    assert_eq!(peers[1].seen().sessions, 0);
}

#[tokio::test]
async fn the_next_server_is_tried_when_the_best_cannot_be_spoken_to() {
    let (port, peers) = peers(&["127.0.0.1", "127.0.0.2"], offering(OFFERS)).await;
    let zone = Zone::default()
        .mx("one.example", 10, "down.one.example")
        .mx("one.example", 20, "sick.one.example")
        .mx("one.example", 30, "well.one.example")
        .address("down.one.example", "127.0.0.9")
        .address("sick.one.example", "127.0.0.1")
        .address("well.one.example", "127.0.0.2");
    peers[0].behaves(Manner { says: vec![("greeting", "554 no")], ..offering(OFFERS) });
    let relay = direct(zone, port, "", &Authority::new()).await;
    assert_eq!(relay.send(&mail(&["a@one.example"])).await, [RelayOutcome::Delivered]);
    assert_eq!((peers[0].seen().mails.len(), peers[1].seen().mails.len()), (0, 1));
}

#[tokio::test]
async fn a_refusal_of_the_best_server_is_not_carried_to_another() {
    let (port, peers) = peers(&["127.0.0.1", "127.0.0.2"], offering(OFFERS)).await;
    let zone = || {
        Zone::default()
            .mx("one.example", 10, "a.one.example")
            .mx("one.example", 20, "b.one.example")
            .address("a.one.example", "127.0.0.1")
            .address("b.one.example", "127.0.0.2")
    };
    for (manner, expected) in [
        (Manner { says: vec![("RCPT", "550 5.1.1 no")], ..offering(OFFERS) }, "never"),
        (Manner { cuts: Some("."), ..offering(OFFERS) }, "later"),
    ] {
        peers[0].behaves(manner);
        let relay = direct(zone(), port, "", &Authority::new()).await;
        let outcomes = relay.send(&mail(&["a@one.example"])).await;
        assert!(told(&outcomes[0]).starts_with(expected), "{outcomes:?}");
        assert_eq!(peers[1].seen().sessions, 0, "who may have it is not sent it again");
    }
}

#[tokio::test]
async fn where_nobody_takes_mail_it_fails_and_where_nobody_can_tell_it_waits() {
    let zone = Zone::default()
        .mx("null.example", 0, ".")
        .mx("lost.example", 10, "nowhere.lost.example")
        .mx("private.example", 10, "mx.private.example")
        .address("mx.private.example", PRIVATE)
        .mx("down.example", 10, "mx.down.example")
        .address("mx.down.example", "127.0.0.9");
    let (port, _peers) = peers(&["127.0.0.1"], offering(OFFERS)).await;
    let relay = direct(zone, port, "", &Authority::new()).await;
    let to = [
        "a@null.example",
        "a@lost.example",
        "a@nothing.example",
        "a@private.example",
        "a@broken.example",
        "a@down.example",
        "a@[127.0.0.1]",
    ];
    let outcomes = relay.send(&mail(&to)).await;
    let expected = [
        "never: null.example takes no mail",
        "never: lost.example has no server that takes mail",
        "never: nothing.example has no server that takes mail",
        "never: private.example leads into a private network",
        "later: broken.example: its servers could not be looked up",
        "later: down.example: no connection",
        "never: this is not an address that mail can go to",
    ];
    for (outcome, expected) in outcomes.iter().zip(expected) {
        assert!(told(outcome).starts_with(expected), "{outcome:?}, not {expected}");
    }
}

#[tokio::test]
async fn both_kinds_of_addresses_are_tried() {
    let peer = Peer::start_at("[::1]:0", offering(OFFERS)).await;
    let zone = Zone::default()
        .mx("six.example", 10, "mx.six.example")
        .address("mx.six.example", "::1")
        .address("mx.six.example", "127.0.0.9");
    let relay = direct(zone, peer.address.port(), "", &Authority::new()).await;
    assert_eq!(relay.send(&mail(&["a@six.example"])).await, [RelayOutcome::Delivered]);
}

#[tokio::test]
async fn encryption_is_taken_when_offered_and_given_up_only_where_that_was_chosen() {
    let (ours, other) = (Authority::new(), Authority::new());
    let good = Some(ours.acceptor("mx.one.example", &[], |_| {}));
    let bad = Some(other.acceptor("elsewhere.example", &[], |_| {}));
    let refuses = Manner { says: vec![("STARTTLS", "454 no")], ..offering(&["STARTTLS"]) };
    for (case, manner, options, arrives) in [
        (
            "a checked certificate",
            Manner { tls: good.clone(), ..offering(&["STARTTLS"]) },
            "",
            true,
        ),
        ("any certificate", Manner { tls: bad.clone(), ..offering(&["STARTTLS"]) }, "", true),
        ("none offered", offering(&[]), "", true),
        ("offered, then refused", refuses.clone(), "", false),
        ("the same with a fallback", refuses, "&tls=fallback", true),
        ("required", Manner { tls: good, ..offering(&["STARTTLS"]) }, "&tls=required", true),
        ("required, any", Manner { tls: bad, ..offering(&["STARTTLS"]) }, "&tls=required", false),
        ("required, none offered", offering(&[]), "&tls=required", false),
    ] {
        let peer = Peer::start(manner).await;
        let zone = Zone::default()
            .mx("one.example", 10, "mx.one.example")
            .address("mx.one.example", "127.0.0.1");
        let relay = direct(zone, peer.address.port(), options, &ours).await;
        let outcomes = relay.send(&mail(&["a@one.example"])).await;
        assert_eq!(outcomes[0] == RelayOutcome::Delivered, arrives, "{case}: {outcomes:?}");
        let encrypted = peer.seen().commands.iter().any(|said| said.starts_with("tls MAIL"));
        let offered = case.contains("certificate") || case == "required";
        assert_eq!(encrypted, offered, "{case}");
    }
}

#[tokio::test]
async fn a_session_with_a_domains_server_is_used_again() {
    let (port, peers) = peers(&["127.0.0.1"], offering(OFFERS)).await;
    let zone = Zone::default().address("one.example", "127.0.0.1");
    let relay = direct(zone, port, "", &Authority::new()).await;
    for _ in 0..3 {
        assert_eq!(relay.send(&mail(&["a@one.example"])).await, [RelayOutcome::Delivered]);
    }
    assert_eq!((peers[0].seen().sessions, peers[0].seen().mails.len()), (1, 3));
}
