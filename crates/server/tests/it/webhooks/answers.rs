//! What the receiver gets, and what is made of its answer.

use axum::http::Version;
use transport::webhooks::BODY_BYTES;

use super::receiver::{Authority, HTTP1, HTTP2, Receiver, answer, write};
use super::*;

#[tokio::test]
async fn an_event_arrives_as_the_stored_bytes_with_its_headers() {
    for (protocols, version) in [(HTTP1, Version::HTTP_11), (HTTP2, Version::HTTP_2)] {
        let authority = Authority::new();
        let receiver = Receiver::answering(&authority, protocols, || answer(200, "thanks")).await;
        let webhook_sender = courier_outside(&authority, LONG);
        let event = r#"{"id": "evt_1",  "note": "grüße"}"#;
        let call = WebhookRequest {
            url: format!("https://{NAME}:{}/hook?key=1#part", receiver.port),
            headers: vec![
                ("webhook-id", "evt_1".into()),
                ("webhook-timestamp", "1794733200".into()),
                ("webhook-signature", "v1,aaaa v1,bbbb".into()),
            ],
            body: event.into(),
        };
        assert_eq!(webhook_sender.post(&call).await, status(200, "thanks"));
        let seen = receiver.only();
        assert_eq!(seen.method, "POST");
        assert_eq!(seen.version, version);
        assert_eq!(seen.uri.path_and_query().unwrap(), "/hook?key=1");
        assert_eq!(seen.body, event);
        assert_eq!(seen.header("webhook-id"), "evt_1");
        assert_eq!(seen.header("webhook-timestamp"), "1794733200");
        assert_eq!(seen.header("webhook-signature"), "v1,aaaa v1,bbbb");
        assert_eq!(seen.header("content-type"), "application/json");
        assert_eq!(seen.header("user-agent"), concat!("Mailroom/", env!("CARGO_PKG_VERSION")));
        assert_eq!(seen.header("accept-encoding"), "", "nothing is unpacked");
    }
}

#[tokio::test]
async fn the_receiver_is_asked_for_under_its_own_name() {
    for (protocols, version) in [(HTTP1, Version::HTTP_11), (HTTP2, Version::HTTP_2)] {
        let authority = Authority::new();
        let receiver = Receiver::answering(&authority, protocols, || answer(204, "")).await;
        let webhook_sender = courier_outside(&authority, LONG);
        assert_eq!(post(&webhook_sender, receiver.url()).await, status(204, ""));
        let seen = receiver.only();
        let host = match version {
            Version::HTTP_2 => seen.uri.authority().unwrap().to_string(),
            _ => seen.header("host").to_owned(),
        };
        assert_eq!(host, format!("{NAME}:{}", receiver.port));
        assert_eq!(seen.sni.as_deref(), Some(NAME));
    }
}

#[tokio::test]
async fn every_status_is_an_answer() {
    let authority = Authority::new();
    for code in [200, 201, 202, 204, 304, 400, 401, 404, 410, 429, 500, 503, 599] {
        let receiver = Receiver::answering(&authority, HTTP1, move || answer(code, "")).await;
        let webhook_sender = courier_outside(&authority, LONG);
        assert_eq!(post(&webhook_sender, receiver.url()).await, status(code, ""));
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let authority = Authority::new();
    let elsewhere = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    for code in [301, 302, 303, 307, 308] {
        let target = elsewhere.url();
        let receiver = Receiver::answering(&authority, HTTP1, move || {
            let mut answer = answer(code, "moved");
            answer.headers_mut().insert("location", target.parse().unwrap());
            answer
        })
        .await;
        let webhook_sender = courier_outside(&authority, LONG);
        assert_eq!(post(&webhook_sender, receiver.url()).await, status(code, "moved"));
        assert_eq!(receiver.seen().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn the_start_of_a_long_body_is_kept() {
    let long = "abcdefgh".repeat(10_000);
    for protocols in [HTTP1, HTTP2] {
        let (authority, body) = (Authority::new(), long.clone());
        let receiver =
            Receiver::answering(&authority, protocols, move || answer(200, body.clone())).await;
        let webhook_sender = courier_outside(&authority, LONG);
        assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, &long[..BODY_BYTES]));
    }
}

#[tokio::test]
async fn a_body_that_is_not_text_is_shown_as_far_as_it_is() {
    let authority = Authority::new();
    let receiver =
        Receiver::answering(&authority, HTTP1, || answer(500, b"bad \xff\xfe\0 day".as_slice()))
            .await;
    let webhook_sender = courier_outside(&authority, LONG);
    let shown = "bad \u{fffd}\u{fffd}\u{fffd} day";
    assert_eq!(post(&webhook_sender, receiver.url()).await, status(500, shown));
}

#[tokio::test]
async fn a_cut_inside_a_character_leaves_no_half_of_it() {
    let authority = Authority::new();
    let body = format!("a{}", "ü".repeat(BODY_BYTES));
    let expected = format!("a{}", "ü".repeat((BODY_BYTES - 1) / 2));
    let receiver = Receiver::answering(&authority, HTTP1, move || answer(200, body.clone())).await;
    let webhook_sender = courier_outside(&authority, LONG);
    assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, &expected));
}

#[tokio::test]
async fn an_answer_whose_body_breaks_off_is_still_an_answer() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf").await;
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, "half"));
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_a_failure() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"220 mail.example.com ESMTP\r\n").await;
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    assert_eq!(post(&webhook_sender, receiver.url()).await, failed("The answer was not HTTP."));
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_a_failure() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |_| async {}).await;
    let webhook_sender = courier_outside(&authority, LONG);
    let sentence = "The connection broke before an answer came.";
    assert_eq!(post(&webhook_sender, receiver.url()).await, failed(sentence));
}

#[tokio::test]
async fn an_answer_of_endless_headers_is_a_failure() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\n").await;
        while write(&mut stream, &b"x-more: and more\r\n".repeat(100)).await {}
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    assert_eq!(post(&webhook_sender, receiver.url()).await, failed("The answer was not HTTP."));
}

#[tokio::test]
async fn a_receiver_that_does_not_listen_is_a_failure() {
    let authority = Authority::new();
    let listener = std::net::TcpListener::bind((OUTSIDE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let webhook_sender = courier_outside(&authority, LONG);
    let sentence = "The receiver refused the connection.";
    assert_eq!(post(&webhook_sender, format!("https://{NAME}:{port}/")).await, failed(sentence));
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_a_failure_that_names_it() {
    let authority = Authority::new();
    let receiver = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let webhook_sender = courier_outside(&authority, LONG);
    let mut call = call(receiver.url());
    call.headers.push(("webhook-id", "evt_1\r\nx-more: 1".into()));
    assert_eq!(webhook_sender.post(&call).await, failed("The header webhook-id cannot be sent."));
    assert_eq!(receiver.seen().len(), 0);
}
