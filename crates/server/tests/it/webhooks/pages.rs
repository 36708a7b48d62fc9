//! Pages of strangers are fetched under the rules that hold for webhooks.

use axum::body::Body;
use axum::http::Response;
use transport::webhooks::Pages;

use super::receiver::{Authority, HTTP1, HTTP2, Receiver, answer};
use super::*;

fn pages(leads_to: IpAddr, authority: &Authority, deadline: Duration) -> Pages {
    let ssrf_guard = SsrfGuard::new(Script::always(&[leads_to]), rules());
    Pages::new(ssrf_guard, authority.roots(), deadline).unwrap()
}

#[tokio::test]
async fn a_page_comes_with_its_status_and_kind_and_no_redirect_is_followed() {
    let authority = Authority::new();
    for protocols in [HTTP1, HTTP2] {
        for code in [200, 301, 404] {
            let receiver = Receiver::answering(&authority, protocols, move || {
                Response::builder()
                    .status(code)
                    .header("Content-Type", "Text/Plain; charset=utf-8")
                    .header("Location", "/elsewhere")
                    .body(Body::from("hello"))
                    .unwrap()
            })
            .await;
            let page = pages(OUTSIDE, &authority, LONG).get(&receiver.url(), 5).await.unwrap();
            let body = String::from_utf8(page.body).unwrap();
            assert_eq!((page.status, &*page.kind, &*body), (code, "text/plain", "hello"));
            assert_eq!(receiver.only().method, "GET");
        }
    }
}

#[tokio::test]
async fn a_page_that_is_too_large_late_private_or_unproven_is_not_had() {
    let (ours, other) = (Authority::new(), Authority::new());
    let receiver = Receiver::answering(&ours, HTTP1, || answer(200, "hello")).await;
    let url = receiver.url();
    let silent = Receiver::scripted(&ours, |_stream| std::future::pending()).await;
    for (case, pages, url, expected) in [
        ("large", pages(OUTSIDE, &ours, LONG), &url, "The page is larger than 4 bytes."),
        ("late", pages(OUTSIDE, &ours, SHORT), &silent.url(), "No answer came within"),
        ("private", pages(INSIDE, &ours, LONG), &url, "private network"),
        ("unproven", pages(OUTSIDE, &other, LONG), &url, "authority that is not trusted"),
        ("clear", pages(OUTSIDE, &ours, LONG), &url.replace("https", "http"), "https://"),
    ] {
        let sentence = pages.get(url, 4).await.unwrap_err();
        assert!(sentence.contains(expected), "{case}: {sentence}");
        assert!(!sentence.contains("127.0.0."), "{case}: {sentence}");
    }
}
