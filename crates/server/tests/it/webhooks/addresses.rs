//! Only public addresses are called: looked up and judged before every send, and dialled as judged.

use tokio::net::TcpListener;

use super::receiver::{Authority, HTTP1, Receiver, answer};
use super::*;

const PRIVATE: &str =
    "The address must be a public address, and its name leads into a private network.";
const NOT_FOUND: &str = "The address's name could not be found.";

fn refused(sentence: &str) -> WebhookResponse {
    WebhookResponse::Refused(sentence.into())
}

#[tokio::test]
async fn a_name_that_moves_between_check_and_send_is_dialled_where_it_was_checked() {
    let authority = Authority::new();
    let outside = Receiver::answering(&authority, HTTP1, || answer(200, "outside")).await;
    let listener = TcpListener::bind((INSIDE, outside.port)).await.unwrap();
    let inside = Receiver::listening(listener, outside.port, |_| async {});
    // What the second question would be told, if the client asked one of its own.
    let script = Script::new([Ok(vec![OUTSIDE]), Ok(vec![INSIDE])]);
    let webhook_sender = webhook_sender(script.clone(), &authority, LONG);
    assert_eq!(post(&webhook_sender, outside.url()).await, status(200, "outside"));
    assert_eq!(script.asked().len(), 1);
    assert_eq!(post(&webhook_sender, outside.url()).await, refused(PRIVATE));
    assert_eq!((outside.seen().len(), inside.connections()), (1, 0));
}

#[tokio::test]
async fn a_name_is_checked_before_every_send_even_over_a_kept_connection() {
    let authority = Authority::new();
    let receiver = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let public = || Ok(vec![OUTSIDE]);
    let script = Script::new([public(), public(), Ok(vec![INSIDE]), public()]);
    let webhook_sender = webhook_sender(script.clone(), &authority, LONG);
    for expected in [status(200, ""), status(200, ""), refused(PRIVATE), status(200, "")] {
        assert_eq!(post(&webhook_sender, receiver.url()).await, expected);
    }
    assert_eq!(script.asked().len(), 4);
    assert_eq!((receiver.seen().len(), receiver.connections()), (3, 1));
}

#[tokio::test]
async fn one_private_address_among_public_ones_bars_them_all() {
    let authority = Authority::new();
    let receiver = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    for addresses in [&[OUTSIDE, INSIDE], &[INSIDE, OUTSIDE], &[INSIDE, INSIDE]] {
        let webhook_sender = webhook_sender(Script::always(addresses), &authority, LONG);
        assert_eq!(post(&webhook_sender, receiver.url()).await, refused(PRIVATE));
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn names_that_lead_to_any_network_set_aside_are_refused() {
    let authority = Authority::new();
    for inside in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "fd00::1",
        "fe80::1",
    ] {
        let script = Script::always(&[inside.parse().unwrap()]);
        let ssrf_guard = SsrfGuard::new(script, SsrfRules::new(false));
        let webhook_sender = HttpWebhookSender::new(ssrf_guard, authority.roots(), LONG).unwrap();
        let answer = post(&webhook_sender, format!("https://{NAME}/")).await;
        assert_eq!(answer, refused(PRIVATE), "{inside}");
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_a_failure() {
    let authority = Authority::new();
    for nothing in [Ok(Vec::new()), Err(NotFound)] {
        let webhook_sender = webhook_sender(Script::new([nothing]), &authority, LONG);
        let answer = post(&webhook_sender, format!("https://{NAME}/")).await;
        assert_eq!(answer, failed(NOT_FOUND));
    }
}

#[tokio::test]
async fn a_name_that_nobody_answers_for_costs_no_more_than_the_deadline() {
    struct Silent;
    impl Resolver for Silent {
        fn look_up<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
            Box::pin(std::future::pending())
        }
    }
    let webhook_sender = webhook_sender(Arc::new(Silent), &Authority::new(), SHORT);
    let sentence = "The address's name could not be found within 0.3 seconds.";
    assert_eq!(post(&webhook_sender, format!("https://{NAME}/")).await, failed(sentence));
}

#[tokio::test]
async fn a_name_is_complete_and_no_search_domain_is_added() {
    let script = Script::new([Err(NotFound)]);
    let webhook_sender = webhook_sender(script.clone(), &Authority::new(), LONG);
    post(&webhook_sender, format!("https://{NAME}/")).await;
    post(&webhook_sender, format!("https://{NAME}./")).await;
    post(&webhook_sender, "https://München.example.com/").await;
    let complete = format!("{NAME}.");
    assert_eq!(script.asked(), [&*complete, &*complete, "xn--mnchen-3ya.example.com."]);
}

#[tokio::test]
async fn a_literal_address_is_judged_on_its_own() {
    let authority = Authority::new();
    let receiver = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let script = Script::always(&[OUTSIDE]);
    let webhook_sender = webhook_sender(script.clone(), &authority, LONG);
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]", "localhost"] {
        let answer = post(&webhook_sender, format!("https://{host}:{}/hook", receiver.port)).await;
        let sentence = "The address must be a public address, not one of a private network.";
        assert_eq!(answer, refused(sentence), "{host}");
    }
    assert_eq!((receiver.connections(), script.asked().len()), (0, 0));
}

#[tokio::test]
async fn an_address_that_is_wrong_on_its_face_is_refused() {
    let authority = Authority::new();
    let receiver = Receiver::plain(OUTSIDE, || answer(200, "")).await;
    let webhook_sender = courier_outside(&authority, LONG);
    for (url, sentence) in [
        (format!("http://{NAME}:{}/", receiver.port), "The address must start with https://."),
        (format!("https://user:pw@{NAME}/"), "The address must not hold a user name or password."),
        ("nonsense".into(), "The address must be an address such as https://example.com/hook."),
    ] {
        assert_eq!(post(&webhook_sender, url).await, refused(sentence));
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn the_next_address_is_dialled_when_one_does_not_answer() {
    let authority = Authority::new();
    let receiver = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let rules = SsrfRules { is_public: |_| true, ..SsrfRules::new(false) };
    let ssrf_guard = SsrfGuard::new(Script::always(&[INSIDE, OUTSIDE]), rules);
    let webhook_sender = HttpWebhookSender::new(ssrf_guard, authority.roots(), LONG).unwrap();
    assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, ""));
}

#[tokio::test]
async fn development_may_call_private_and_http_addresses() {
    let receiver = Receiver::plain(OUTSIDE, || answer(200, "here")).await;
    let resolver = Arc::new(transport::webhooks::SystemResolver::default());
    let ssrf_guard = SsrfGuard::new(resolver, SsrfRules::new(true));
    let webhook_sender =
        HttpWebhookSender::new(ssrf_guard, Authority::new().roots(), LONG).unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/hook", receiver.port);
        assert_eq!(post(&webhook_sender, url).await, status(200, "here"), "{host}");
    }
}
