//! Encryption and passwords.

use tokio_rustls::TlsAcceptor;

use super::*;

const LOGIN: &str = "smtp://ann%40acme:p%3Ass@";

fn acceptor(authority: &Authority, name: &str) -> Option<TlsAcceptor> {
    Some(authority.acceptor(name, &[], |_| {}))
}

fn encrypting(authority: &Authority, name: &str, offers: &[&'static str]) -> Manner {
    Manner { tls: acceptor(authority, name), ..offering(offers) }
}

#[tokio::test]
async fn a_connection_is_encrypted_when_the_server_offers_it_and_the_password_only_then() {
    let authority = Authority::new();
    for (offers, words) in [
        (&["STARTTLS", "AUTH PLAIN LOGIN"][..], &["tls AUTH PLAIN AGFubkBhY21lAHA6c3M="][..]),
        (
            &["STARTTLS", "AUTH LOGIN"][..],
            &["tls AUTH LOGIN", "tls YW5uQGFjbWU=", "tls cDpzcw=="][..],
        ),
    ] {
        let peer = Peer::start(encrypting(&authority, "127.0.0.1", offers)).await;
        assert_eq!(sent(&smarthost(LOGIN, &peer, "", &authority)).await, RelayOutcome::Delivered);
        let commands = peer.seen().commands;
        assert_eq!(commands[..2], ["EHLO mail.acme.example", "STARTTLS"]);
        assert_eq!(commands[2], "tls EHLO mail.acme.example");
        assert_eq!(commands[3..3 + words.len()], *words);
    }
}

#[tokio::test]
async fn a_password_is_not_sent_in_clear_unless_it_was_said_so() {
    let peer = Peer::start(offering(&["AUTH PLAIN"])).await;
    let authority = Authority::new();
    let outcome = sent(&smarthost(LOGIN, &peer, "", &authority)).await;
    let expected = "later: relay: the server offers no encryption, and a password is not sent \
                    without it";
    assert_eq!(told(&outcome), expected);
    assert!(!peer.seen().commands.iter().any(|said| said.starts_with("AUTH")));
    assert_eq!(
        sent(&smarthost(LOGIN, &peer, "?tls=none", &authority)).await,
        RelayOutcome::Delivered
    );
}

#[tokio::test]
async fn a_wrong_password_keeps_the_mail_waiting_and_is_told_to_nobody() {
    let authority = Authority::new();
    let manner = Manner {
        says: vec![("AUTH", "535 5.7.8 no")],
        ..encrypting(&authority, "127.0.0.1", &["STARTTLS", "AUTH PLAIN"])
    };
    let peer = Peer::start(manner).await;
    let relay = smarthost(LOGIN, &peer, "", &authority);
    let expected =
        "later: relay: the server does not accept the user name and password (535 5.7.8)";
    assert_eq!(told(&sent(&relay).await), expected);
}

#[tokio::test]
async fn what_was_required_is_not_given_up() {
    let (ours, other) = (Authority::new(), Authority::new());
    for (case, manner, options, arrives) in [
        ("not offered", offering(&[]), "", true),
        ("not offered, but required", offering(&[]), "?tls=required", false),
        ("offered", encrypting(&ours, "127.0.0.1", &["STARTTLS"]), "?tls=required", true),
        ("offered, not wanted", encrypting(&ours, "127.0.0.1", &["STARTTLS"]), "?tls=none", true),
        ("another name", encrypting(&ours, "mail.example", &["STARTTLS"]), "", false),
        ("another authority", encrypting(&other, "127.0.0.1", &["STARTTLS"]), "", false),
        (
            "offered and refused",
            Manner { says: vec![("STARTTLS", "454 no")], ..offering(&["STARTTLS"]) },
            "",
            false,
        ),
        (
            "words slipped in before",
            Manner {
                says: vec![("STARTTLS", "220 go\r\n250 fine")],
                ..encrypting(&ours, "127.0.0.1", &["STARTTLS"])
            },
            "",
            false,
        ),
    ] {
        let peer = Peer::start(manner).await;
        let outcome = sent(&smarthost("smtp://", &peer, options, &ours)).await;
        assert_eq!(outcome == RelayOutcome::Delivered, arrives, "{case}: {outcome:?}");
        assert!(arrives || outcome.is_temporary(), "{case}: {outcome:?}");
        assert_eq!(peer.seen().mails.len(), usize::from(arrives), "{case}");
    }
}

#[tokio::test]
async fn smtps_is_encrypted_before_the_first_word() {
    let authority = Authority::new();
    let manner = Manner { implicit: true, ..encrypting(&authority, "127.0.0.1", &["AUTH PLAIN"]) };
    let peer = Peer::start(manner).await;
    let relay = smarthost("smtps://ann:x@", &peer, "", &authority);
    assert_eq!(sent(&relay).await, RelayOutcome::Delivered);
    assert!(peer.seen().commands.iter().all(|said| said.starts_with("tls ")));
    let plain = Peer::start(offering(&[])).await;
    let impatient = SmtpTimeouts { command: Duration::from_millis(200), ..patience() };
    let text = format!("smtps://127.0.0.1:{}", plain.address.port());
    let outcome = sent(&smarthost_named(&text, &authority, impatient)).await;
    assert!(outcome.is_temporary(), "{outcome:?}");
}
