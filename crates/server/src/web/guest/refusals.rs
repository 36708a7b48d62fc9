//! Refusals on customers' pages: they say what the customer can do, and lead back to the customer's own
//! page, never to the team's inbox.

use askama::Template;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use axum::middleware::Next;
use translation::t;

use crate::web::layout::filters;
use crate::web::layout::responses::{self, Refusal};

#[derive(Template)]
#[template(path = "guest_refusal.html", whitespace = "minimize")]
struct GuestRefusal {
    title: &'static str,
    sentence: String,
    back: String,
}

/// Shows a refusal on a customer's page in the customer's words.
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
    responses::html(response.status(), &GuestRefusal { title, sentence, back })
}

/// The customer's page that an address belongs to; `None` for the team's.
fn page_of_guest(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["b", kind @ ("m" | "o"), token, ..] => Some(format!("/b/{kind}/{token}")),
        ["b", workspace, kind, ..] => Some(format!("/b/{workspace}/{kind}")),
        [first @ ("u" | "s" | "b"), token, ..] => Some(format!("/{first}/{token}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::page_of_guest;

    #[test]
    fn an_address_of_a_customer_leads_to_the_customers_page() {
        for (path, page) in [
            ("/u/abc/items/1", Some("/u/abc")),
            ("/s/abc/open", Some("/s/abc")),
            ("/b/m/abc/code", Some("/b/m/abc")),
            ("/b/o/abc", Some("/b/o/abc")),
            ("/b/acme/call", Some("/b/acme/call")),
            ("/b/acme", Some("/b/acme")),
            ("/inbox", None),
            ("/", None),
        ] {
            assert_eq!(page_of_guest(path).as_deref(), page, "{path}");
        }
    }
}
