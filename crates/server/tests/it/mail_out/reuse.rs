//! Sessions that carry several mails.

use super::*;

#[tokio::test]
async fn one_session_carries_one_mail_after_the_other() {
    let peer = Peer::start(offering(OFFERS)).await;
    let relay = plain(&peer);
    for _ in 0..5 {
        assert_eq!(sent(&relay).await, RelayOutcome::Delivered);
    }
    let seen = peer.seen();
    assert_eq!((seen.sessions, seen.mails.len()), (1, 5));
}

#[tokio::test]
async fn a_refused_mail_does_not_end_a_session_and_the_next_begins_clean() {
    let manner = Manner { says: vec![("RCPT TO:<no", "550 5.1.1 nobody")], ..offering(OFFERS) };
    let peer = Peer::start(manner).await;
    let relay = plain(&peer);
    let refused = relay.send(&mail(&["no@x.example"])).await;
    assert!(matches!(refused[0], RelayOutcome::Never(_)), "{refused:?}");
    assert_eq!(sent(&relay).await, RelayOutcome::Delivered);
    let seen = peer.seen();
    assert_eq!((seen.sessions, seen.mails.len()), (1, 1));
    assert!(seen.commands.contains(&"RSET".to_owned()));
}

#[tokio::test]
async fn a_session_that_the_server_ended_meanwhile_costs_no_mail() {
    let peer = Peer::start(Manner { mails_each: Some(1), ..offering(OFFERS) }).await;
    let relay = plain(&peer);
    for _ in 0..3 {
        assert_eq!(sent(&relay).await, RelayOutcome::Delivered);
    }
    let seen = peer.seen();
    assert_eq!((seen.sessions, seen.mails.len()), (3, 3), "each once");
}

#[tokio::test]
async fn there_are_never_more_sessions_than_places() {
    let peer = Peer::start(offering(OFFERS)).await;
    let relay = Arc::new(plain(&peer));
    let sendings = (0..40).map(|_| {
        let relay = relay.clone();
        tokio::spawn(async move { sent(&*relay).await })
    });
    for sending in sendings.collect::<Vec<_>>() {
        assert_eq!(sending.await.unwrap(), RelayOutcome::Delivered);
    }
    let seen = peer.seen();
    assert_eq!(seen.mails.len(), 40);
    assert!(seen.sessions <= 8, "{}", seen.sessions);
}
