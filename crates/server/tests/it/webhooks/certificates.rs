//! Only a receiver that proves its name is told anything.

use transport::net::config::NetConfig;

use super::receiver::{Authority, HTTP1, Receiver, answer};
use super::*;

/// Posts to a receiver with a certificate of this authority for this name.
async fn post_to(
    authority: &Authority,
    name: &str,
    years: std::ops::Range<i32>,
    url_name: &str,
    trusted: &Authority,
) -> (WebhookResponse, usize) {
    let acceptor = authority.acceptor(name, HTTP1, |params| {
        params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
    });
    let receiver = Receiver::with_acceptor(OUTSIDE, acceptor, || answer(200, "")).await;
    let webhook_sender = courier_outside(trusted, LONG);
    let answer = post(&webhook_sender, format!("https://{url_name}:{}/", receiver.port)).await;
    (answer, receiver.seen().len())
}

#[tokio::test]
async fn a_certificate_must_be_valid_and_for_the_name() {
    let (ours, other) = (Authority::new(), Authority::new());
    let long = 2000..4000;
    for (authority, name, years, url_name, expected) in [
        (&ours, NAME, long.clone(), NAME, status(200, "")),
        (&ours, "*.example.com", long.clone(), NAME, status(200, "")),
        (&ours, NAME, long.clone(), "hooks.example.com.", status(200, "")),
        (
            &ours,
            "other.example.com",
            long.clone(),
            NAME,
            failed("The receiver's certificate is for another name."),
        ),
        (
            &other,
            NAME,
            long.clone(),
            NAME,
            failed("The receiver's certificate is from an authority that is not trusted."),
        ),
        (&ours, NAME, 2000..2001, NAME, failed("The receiver's certificate has expired.")),
        (&ours, NAME, 3000..4000, NAME, failed("The receiver's certificate is not valid yet.")),
    ] {
        let case = format!("{name} for {years:?} as {url_name}");
        let reached = usize::from(matches!(expected, WebhookResponse::Status { .. }));
        let got = post_to(authority, name, years, url_name, &ours).await;
        assert_eq!(got, (expected, reached), "{case}");
    }
}

#[tokio::test]
async fn a_receiver_without_tls_is_told_nothing() {
    let receiver = Receiver::plain(OUTSIDE, || answer(200, "")).await;
    let webhook_sender = courier_outside(&Authority::new(), LONG);
    let sentence = "No secure connection could be made.";
    assert_eq!(post(&webhook_sender, receiver.url()).await, failed(sentence));
    assert_eq!(receiver.seen().len(), 0);
}

#[tokio::test]
async fn a_literal_address_needs_a_certificate_for_that_address() {
    let authority = Authority::new();
    let ssrf_guard = SsrfGuard::new(Script::new([Err(NotFound)]), SsrfRules::new(true));
    let webhook_sender = HttpWebhookSender::new(ssrf_guard, authority.roots(), LONG).unwrap();
    for (name, expected) in [
        ("127.0.0.1", status(200, "")),
        (NAME, failed("The receiver's certificate is for another name.")),
    ] {
        let acceptor = authority.acceptor(name, HTTP1, |_| {});
        let receiver = Receiver::with_acceptor(OUTSIDE, acceptor, || answer(200, "")).await;
        let url = format!("https://127.0.0.1:{}/", receiver.port);
        assert_eq!(post(&webhook_sender, url).await, expected, "{name}");
    }
}

#[tokio::test]
async fn the_service_trusts_the_authorities_of_its_machine_and_no_other() {
    let config = NetConfig { dns: None, allow_private: true, ..NetConfig::default() };
    let webhook_sender = HttpWebhookSender::of(&config).unwrap();
    let acceptor = Authority::new().acceptor("127.0.0.1", HTTP1, |_| {});
    let receiver = Receiver::with_acceptor(OUTSIDE, acceptor, || answer(200, "")).await;
    let url = format!("https://127.0.0.1:{}/", receiver.port);
    let sentence = "The receiver's certificate is from an authority that is not trusted.";
    assert_eq!(post(&webhook_sender, url).await, failed(sentence));
    assert_eq!(receiver.seen().len(), 0);
}
