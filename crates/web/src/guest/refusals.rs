//! Refusals on customers' pages: they say what the customer can do, and lead back to the customer's own
//! page, never to the team's inbox.

use askama::Template;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, header};
use axum::middleware::Next;
use translation::t;

use crate::layout::filters;
use crate::layout::responses::{self, Refusal};

#[derive(Template)]
#[template(path = "guest_refusal.html", whitespace = "minimize")]
struct GuestRefusal {
    title: &'static str,
    sentence: String,
    back: String,
}

/// Shows a refusal on a customer's page in the customer's words, with all its other headers.
pub async fn show_to_guests(request: Request, next: Next) -> Response<Body> {
    let Some(back) = page_of_guest(request.uri().path()) else { return next.run(request).await };
    let mut response = next.run(request).await;
    let Some(refusal) = response.extensions_mut().remove::<Refusal>() else { return response };
    let Refusal { title, sentence, is_foreign } = refusal;
    let sentence = if is_foreign {
        t!("It was open for too long, or came from another site. Nothing was sent. Open the page \
            again and repeat it.")
        .to_owned()
    } else {
        sentence
    };
    let (mut parts, _) = response.into_parts();
    let page = responses::html(parts.status, &GuestRefusal { title, sentence, back });
    let (of_page, body) = page.into_parts();
    parts.status = of_page.status;
    for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
        parts.headers.remove(&name);
        parts.headers.extend(of_page.headers.get(&name).map(|value| (name, value.clone())));
    }
    Response::from_parts(parts, body)
}

/// True for the address of a page that customers read. Whoever approves by mail is of the team.
pub fn is_for_customers(path: &str) -> bool {
    page_of_guest(path).is_some() && !path.starts_with("/approve/")
}

/// The customer's page that an address belongs to; `None` for the team's.
fn page_of_guest(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["b", kind @ ("m" | "o"), token, ..] => Some(format!("/b/{kind}/{token}")),
        ["f", slug, "embed", ..] => Some(format!("/f/{slug}/embed")),
        ["me"] => Some("/me".to_owned()),
        ["me", workspace, ..] => Some(format!("/me/{workspace}")),
        ["b", workspace, kind, ..] => Some(format!("/b/{workspace}/{kind}")),
        ["help", ..] => Some("/help".to_owned()),
        [first @ ("u" | "s" | "b" | "r" | "f" | "approve"), token, ..] => {
            Some(format!("/{first}/{token}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::middleware::from_fn;
    use base::error::Error;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;
    use crate::layout::responses::PageError;

    #[tokio::test]
    async fn during_an_outage_a_customer_is_led_to_the_customers_page() {
        let fail = async || PageError::Domain(Error::from(db::StoreError::Unreachable));
        let pages = Router::new().fallback(fail).layer(from_fn(show_to_guests));
        for (path, back) in [
            ("/u/abc", "href=\"/u/abc\""),
            ("/s/abc/open", "href=\"/s/abc\""),
            ("/b/acme/call", "href=\"/b/acme/call\""),
            ("/inbox", "Back to the inbox"),
        ] {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            let response = pages.clone().oneshot(request).await.expect("a response");
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(response.headers().contains_key(header::RETRY_AFTER), "{path}");
            let bytes = response.into_body().collect().await.expect("a page").to_bytes();
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains(back), "{path}: {text}");
            assert_eq!(text.contains("Back to the inbox"), path == "/inbox");
        }
    }

    #[test]
    fn an_address_of_a_customer_leads_to_the_customers_page() {
        for (path, page) in [
            ("/u/abc/items/1", Some("/u/abc")),
            ("/s/abc/open", Some("/s/abc")),
            ("/r/abc/stop", Some("/r/abc")),
            ("/approve/abc/approve", Some("/approve/abc")),
            ("/b/m/abc/code", Some("/b/m/abc")),
            ("/b/o/abc", Some("/b/o/abc")),
            ("/b/acme/call", Some("/b/acme/call")),
            ("/b/acme", Some("/b/acme")),
            ("/f/contact", Some("/f/contact")),
            ("/me", Some("/me")),
            ("/me/acme/c/cnv_1", Some("/me/acme")),
            ("/f/contact/embed", Some("/f/contact/embed")),
            ("/help/en/refunds", Some("/help")),
            ("/inbox", None),
            ("/", None),
        ] {
            assert_eq!(page_of_guest(path).as_deref(), page, "{path}");
        }
    }
}
