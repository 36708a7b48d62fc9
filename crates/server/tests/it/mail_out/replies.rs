//! What a server says, and what becomes of the mail.

use super::*;

#[tokio::test]
async fn a_mail_arrives_as_it_was_with_its_envelope() {
    for offers in [OFFERS, &[]] {
        let peer = Peer::start(offering(offers)).await;
        let everyone = ["mara@customer.example", "bo@customer.example", "mära@bücher.example"];
        let recipients = if offers.is_empty() { &everyone[..2] } else { &everyone[..] };
        let mail = mail(recipients);
        let outcomes = plain(&peer).send(&mail).await;
        assert!(outcomes.iter().all(|outcome| *outcome == RelayOutcome::Delivered), "{outcomes:?}");
        let seen = peer.seen();
        assert_eq!(seen.mails.len(), 1);
        assert_eq!(seen.mails[0].text.as_bytes(), *mail.bytes);
        let start = "MAIL FROM:<support+b_1_abc@acme.example>";
        assert!(seen.mails[0].from.starts_with(start), "{seen:?}");
        assert_eq!(seen.mails[0].to[0], "RCPT TO:<mara@customer.example>");
        if offers.len() > 1 {
            assert_eq!(seen.mails[0].to[2], "RCPT TO:<mära@xn--bcher-kva.example>");
            assert_eq!(seen.mails[0].from, format!("{start} SIZE=39 SMTPUTF8"));
        }
        assert_eq!(seen.commands[0], "EHLO mail.acme.example");
    }
}

#[tokio::test]
async fn what_a_server_says_decides_whether_a_mail_is_tried_again() {
    for (command, said, expected) in [
        ("greeting", "220 ready", "delivered"),
        ("greeting", "421 later", "later: relay: the server greeted with 421"),
        ("greeting", "554 5.7.1 go away", "later: relay: the server greeted with 554 5.7.1"),
        ("EHLO", "502 what", "delivered"),
        ("EHLO", "550 no", "later: relay: the server answered 550 to EHLO"),
        ("MAIL", "451 4.3.0 busy", "later: the server answered 451 4.3.0 to MAIL"),
        ("MAIL", "421 bye", "later: relay: the server answered 421 to MAIL"),
        ("MAIL", "550 5.7.1 no", "never: the server answered 550 5.7.1 to MAIL"),
        ("MAIL", "530 5.7.0 log in", "later: the server answered 530 5.7.0 to MAIL"),
        ("RCPT", "250 fine", "delivered"),
        ("RCPT", "251 will forward", "delivered"),
        ("RCPT", "450 4.2.0 greylisted", "later: the server answered 450 4.2.0 to RCPT"),
        ("RCPT", "550 5.1.1 nobody", "never: the server answered 550 5.1.1 to RCPT"),
        ("RCPT", "552 too many", "later: the server answered 552 to RCPT"),
        ("DATA", "451 busy", "later: the server answered 451 to DATA"),
        ("DATA", "554 5.5.1 no", "never: the server answered 554 5.5.1 to DATA"),
        ("DATA", "250 what", "later: the server answered 250 to DATA"),
        (".", "452 4.3.1 full", "later: the server answered 452 4.3.1 to the mail"),
        (".", "554 5.7.1 Hello is spam", "never: the server answered 554 5.7.1 to the mail"),
        (".", "421 4.3.2 bye", "later: the server answered 421 4.3.2 to the mail"),
    ] {
        for offers in [OFFERS, &[]] {
            let manner = Manner { says: vec![(command, said)], ..offering(offers) };
            let peer = Peer::start(manner).await;
            let outcome = sent(&plain(&peer)).await;
            assert_eq!(told(&outcome), expected, "{command}: {said}");
            let arrived = usize::from(expected == "delivered");
            assert_eq!(peer.seen().mails.len(), arrived, "{command}: {said}");
        }
    }
}

#[tokio::test]
async fn each_recipient_has_an_answer_of_their_own() {
    for offers in [OFFERS, &[]] {
        let manner = Manner {
            says: vec![("RCPT TO:<no", "550 5.1.1 nobody"), ("RCPT TO:<later", "450 4.2.0 wait")],
            ..offering(offers)
        };
        let peer = Peer::start(manner).await;
        let mail = mail(&["no@x.example", "yes@x.example", "later@x.example", "not an address"]);
        let outcomes = plain(&peer).send(&mail).await;
        let told: Vec<String> = outcomes.iter().map(told).collect();
        assert_eq!(
            told,
            [
                "never: the server answered 550 5.1.1 to RCPT",
                "delivered",
                "later: the server answered 450 4.2.0 to RCPT",
                "never: this is not an address that mail can go to",
            ]
        );
        assert_eq!(peer.seen().mails[0].to, ["RCPT TO:<yes@x.example>"]);
    }
}

#[tokio::test]
async fn what_a_server_cannot_take_is_not_sent_to_it() {
    let peer = Peer::start(offering(&["SIZE 10"])).await;
    let expected = "never: the mail is larger than the server takes";
    assert_eq!(told(&sent(&plain(&peer)).await), expected);
    let peer = Peer::start(offering(&["SIZE 0"])).await;
    assert_eq!(sent(&plain(&peer)).await, RelayOutcome::Delivered);
    let outcomes = plain(&peer).send(&mail(&["mära@x.example"])).await;
    let expected = "never: the server does not take addresses with letters beyond ASCII";
    assert_eq!(told(&outcomes[0]), expected);
}

#[tokio::test]
async fn a_server_that_does_not_speak_smtp_or_does_not_stop_is_left() {
    for said in ["HTTP/1.1 400 Bad Request", "220-and\r\n220-so\r\nfoo"] {
        let peer =
            Peer::start(Manner { says: vec![("greeting", said)], ..Manner::default() }).await;
        let expected = "later: relay: no answer to the connection: it does not speak SMTP";
        assert_eq!(told(&sent(&plain(&peer)).await), expected, "{said}");
    }
    let endless: &'static str = Box::leak("220-on\r\n".repeat(200).into_boxed_str());
    let long: &'static str = Box::leak("2".repeat(5_000).into_boxed_str());
    for (said, reason) in
        [(endless, "it said more than a reply holds"), (long, "it said more than fits a line")]
    {
        let peer =
            Peer::start(Manner { says: vec![("greeting", said)], ..Manner::default() }).await;
        let expected = format!("later: relay: no answer to the connection: {reason}");
        assert_eq!(told(&sent(&plain(&peer)).await), expected);
    }
}
