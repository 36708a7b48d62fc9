//! A connection that is cut: nothing is lost, and nothing is sent twice where that can be known.

use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_mail_waits_wherever_the_connection_is_cut_and_is_delivered_once_it_is_not() {
    for step in ["greeting", "EHLO", "MAIL", "RCPT", "DATA"] {
        for offers in [OFFERS, &[]] {
            let peer = Peer::start(Manner { cuts: Some(step), ..offering(offers) }).await;
            let relay = plain(&peer);
            let outcome = sent(&relay).await;
            assert!(outcome.is_temporary(), "{step}: {outcome:?}");
            assert_eq!(peer.seen().mails.len(), 0, "{step}");
            peer.behaves(offering(offers));
            assert_eq!(sent(&relay).await, RelayOutcome::Delivered, "{step}");
            assert_eq!(peer.seen().mails.len(), 1, "{step}");
        }
    }
}

/// Whether the server has the mail cannot be known then; it is tried again with its Message-ID.
#[tokio::test]
async fn a_cut_instead_of_the_verdict_is_tried_again() {
    let peer = Peer::start(Manner { cuts: Some("."), ..offering(OFFERS) }).await;
    let outcome = sent(&plain(&peer)).await;
    let expected = "later: the connection broke before the server had taken the mail";
    assert_eq!(told(&outcome), expected);
}

#[tokio::test]
async fn a_recipient_refused_before_the_cut_stays_refused() {
    let manner = Manner {
        cuts: Some("DATA"),
        says: vec![("RCPT TO:<no", "550 5.1.1 nobody")],
        ..offering(OFFERS)
    };
    let peer = Peer::start(manner).await;
    let outcomes = plain(&peer).send(&mail(&["no@x.example", "yes@x.example"])).await;
    assert!(matches!(outcomes[0], RelayOutcome::Never(_)), "{outcomes:?}");
    assert!(matches!(outcomes[1], RelayOutcome::Later(_)), "{outcomes:?}");
}

#[tokio::test]
async fn a_server_that_is_silent_is_left_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let text = format!("smtp://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let short = SmtpTimeouts { command: Duration::from_millis(50), ..patience() };
    let relay = smarthost_named(&text, &Authority::new(), short);
    let expected = "later: relay: no answer to the connection: it took too long";
    assert_eq!(told(&sent(&relay).await), expected);
}

#[tokio::test]
async fn nobody_at_the_address_or_behind_the_name_is_later() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let relay = smarthost_named(&format!("smtp://{address}"), &Authority::new(), patience());
    assert!(told(&sent(&relay).await).starts_with("later: relay: no connection: "));
    let relay = smarthost_named("smtp://nobody.invalid", &Authority::new(), patience());
    assert_eq!(told(&sent(&relay).await), "later: relay: its name could not be found");
}
