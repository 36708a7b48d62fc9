//! Documents of OAuth clients are fetched under the rules that hold for webhooks, and are about their own
//! address.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use transport::webhooks::Pages;
use web::fetch_client_document;

use super::receiver::{Authority, HTTP1, HTTP2, Receiver};
use super::*;

const JSON: &str = "application/json; charset=utf-8";

fn pages(leads_to: IpAddr, authority: &Authority, deadline: Duration) -> Pages {
    let ssrf_guard = SsrfGuard::new(Script::always(&[leads_to]), rules());
    Pages::new(ssrf_guard, authority.roots(), deadline).unwrap()
}

/// A site with a document about its own address, which has `filling` bytes to spare.
async fn site(
    authority: &Authority,
    (status, kind): (u16, &'static str),
    filling: usize,
) -> (Receiver, String) {
    let address = Arc::<OnceLock<String>>::default();
    let own = Arc::clone(&address);
    let receiver = Receiver::answering(authority, HTTP2, move || {
        let document = json!({
            "client_id": own.get(),
            "client_name": "Quill",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "policy_uri": "x".repeat(filling),
        });
        let response = Response::builder().status(status).header("Content-Type", kind);
        let response = response.header("Location", "/elsewhere");
        response.body(Body::from(document.to_string())).unwrap()
    })
    .await;
    let url = receiver.url();
    address.set(url.clone()).unwrap();
    (receiver, url)
}

#[tokio::test]
async fn a_document_of_a_client_is_json_about_its_own_address() {
    let authority = Authority::new();
    for kind in [JSON, "application/client-metadata+json"] {
        let (receiver, url) = site(&authority, (200, kind), 0).await;
        let found = fetch_client_document(&pages(OUTSIDE, &authority, LONG), &url).await;
        assert_eq!(found.expect(kind).name.as_deref(), Some("Quill"));
        assert_eq!(receiver.only().method, "GET");
        let other = format!("{url}/other");
        let found = fetch_client_document(&pages(OUTSIDE, &authority, LONG), &other).await;
        assert!(found.is_none(), "a document about another address");
    }
}

/// The documents of known clients have five to ten kilobytes.
#[tokio::test]
async fn a_document_of_sixty_kilobytes_is_read_and_a_larger_one_is_not() {
    let authority = Authority::new();
    for (filling, is_read) in [(60 * 1024, true), (64 * 1024, false), (8 * 1024 * 1024, false)] {
        let (_receiver, url) = site(&authority, (200, JSON), filling).await;
        let found = fetch_client_document(&pages(OUTSIDE, &authority, LONG), &url).await;
        assert_eq!(found.is_some(), is_read, "{filling}");
    }
}

#[tokio::test]
async fn a_redirect_an_error_and_another_kind_of_page_are_no_document() {
    let authority = Authority::new();
    for answer in
        [(301, JSON), (307, JSON), (404, JSON), (500, JSON), (200, "text/html"), (200, "")]
    {
        let (receiver, url) = site(&authority, answer, 0).await;
        let found = fetch_client_document(&pages(OUTSIDE, &authority, LONG), &url).await;
        assert!(found.is_none(), "{answer:?}");
        receiver.only();
    }
}

#[tokio::test]
async fn a_document_in_a_private_network_or_of_an_unproven_site_is_not_fetched() {
    let (authority, other) = (Authority::new(), Authority::new());
    let (_receiver, url) = site(&authority, (200, JSON), 0).await;
    for (case, pages, url) in [
        ("private", pages(INSIDE, &authority, LONG), url.clone()),
        ("unproven", pages(OUTSIDE, &other, LONG), url.clone()),
        ("clear", pages(OUTSIDE, &authority, LONG), url.replace("https", "http")),
    ] {
        assert!(fetch_client_document(&pages, &url).await.is_none(), "{case}");
    }
}

#[tokio::test]
async fn a_site_that_says_nothing_is_given_up() {
    let authority = Authority::new();
    let silent = Receiver::scripted(&authority, |_stream| std::future::pending()).await;
    let slow = pages(OUTSIDE, &authority, SHORT);
    assert!(fetch_client_document(&slow, &silent.url()).await.is_none());
    // A compressed answer is not unpacked, so it cannot grow.
    let packed = Receiver::answering(&authority, HTTP1, || {
        let response = Response::builder().header("Content-Type", JSON);
        response
            .header("Content-Encoding", "gzip")
            .body(Body::from(vec![0x1f, 0x8b, 8, 0]))
            .unwrap()
    })
    .await;
    let found = fetch_client_document(&pages(OUTSIDE, &authority, LONG), &packed.url()).await;
    assert!(found.is_none());
}
