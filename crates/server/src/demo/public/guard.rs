//! What stands before all pages and calls of a public demo: counts of each network, small bodies, and what a
//! visitor cannot reach. It spares the machine; that nothing leaves is a rule of the layers below, which hold
//! without it: samples refuse what leads outside, and the process is sealed off.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use base::error::Error;
use http_body_util::Limited;
use serde_json::json;
use translation::msg;
use transport::http::{ClientNetwork, Peer};
use web::layout::responses::{PageError, see_other};
use web::visitor::has_session_cookie;

use super::PublicDemo;

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
/// The largest body of a form, call or upload.
const BODY_BYTES: usize = 512 * 1_024;
/// Requests and changes of one network in a minute.
const REQUESTS_A_MINUTE: u32 = 900;
const CHANGES_A_MINUTE: u32 = 120;
const RETRY_SECONDS: &str = "60";
/// Where visits begin.
const DOOR: &str = "/demo";

const NOT_HERE: &str =
    msg!("This is not in the demo: nothing leaves it, and everybody signs in with one button.");
const TOO_LARGE: &str = msg!("In the demo a form or file has 512 KB at most.");
const TOO_MANY: &str = msg!("Too much came from your network in a minute. Wait a moment.");
const IS_FULL: &str =
    msg!("The demo is full just now, so it takes in nothing more. Try again later.");

/// Pages and forms that lead outside or into somebody's account, with all that is below them.
const CLOSED: &[&str] = &[
    "/authorize",
    "/hooks",
    "/register",
    "/settings/apps",
    "/settings/inboxes/connect",
    "/settings/outgoing",
    "/settings/services",
    "/settings/sign-in",
    "/settings/webhooks",
    "/sign-in-link",
    "/sign-out",
    "/token",
];
/// Forms of pages that can be looked at.
const CLOSED_FORMS: &[&str] = &[
    "/settings/bookings/calendars",
    "/settings/data",
    "/settings/drafting",
    "/settings/linked-items",
    "/settings/notifications/browsers",
    "/settings/notifications/key",
    "/settings/notifications/test",
    "/settings/panel",
    "/settings/people",
    "/settings/you/password",
    "/sign-in",
];
/// What leads outside of a single inbox: the last part of its address.
const CLOSED_OF_INBOX: &[&str] = &["outgoing", "plus-tags", "records", "sign-in", "test-mail"];
/// Pages that people without an account open. A visitor writes what stands there, so nobody sees them who is not on a
/// visit.
const FOR_GUESTS: &[&str] = &["/approve", "/b", "/f", "/help", "/me", "/r", "/s", "/u"];
/// Links for people and their pages of signing in.
const SIGN_IN: &str = "/sign-in";
const PICTURES_OF_OTHERS: &str = "/pictures/remote/";

pub async fn guard(
    State(demo): State<Arc<PublicDemo>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let mut response = match refusal(&demo, &request) {
        Some(response) => response,
        None => {
            let request = request.map(|body| Body::new(Limited::new(body, BODY_BYTES)));
            next.run(request).await
        }
    };
    let none = HeaderValue::from_static("noindex, nofollow, noarchive");
    response.headers_mut().insert(ROBOTS, none);
    response
}

/// The response to what is not let through.
fn refusal(demo: &PublicDemo, request: &Request) -> Option<Response<Body>> {
    let path = request.uri().path();
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let (network, now) = (network(request), demo.app.clock.now());
    let is_many = !demo.networks.may_ask(&network, REQUESTS_A_MINUTE, now)
        || changes && !demo.networks.may_change(&network, CHANGES_A_MINUTE, now);
    if is_many {
        return Some(refuse(path, StatusCode::TOO_MANY_REQUESTS, TOO_MANY));
    }
    // Where a page asks for a sign-in, a visit is over or was never begun.
    if !changes && path == SIGN_IN {
        return Some(see_other(DOOR));
    }
    if is_closed(path, changes) {
        return Some(refuse(path, StatusCode::FORBIDDEN, NOT_HERE));
    }
    let is_for_guests = FOR_GUESTS.iter().any(|start| is_at_or_below(path, start));
    if is_for_guests && !has_session_cookie(request.headers()) {
        return Some(see_other(DOOR));
    }
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > BODY_BYTES as u64) {
        return Some(refuse(path, StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE));
    }
    (changes && demo.is_full()).then(|| refuse(path, StatusCode::SERVICE_UNAVAILABLE, IS_FULL))
}

/// Who asks, as far as it is known.
fn network(request: &Request) -> String {
    match request.extensions().get::<Peer>() {
        Some(peer) => ClientNetwork::of(peer.client(request.headers())).to_string(),
        None => "unknown".into(),
    }
}

fn is_at_or_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_closed(path: &str, changes: bool) -> bool {
    let is_below = |start: &&str| is_at_or_below(path, start);
    let of_inbox = path.strip_prefix("/settings/inboxes/").and_then(|rest| rest.rsplit_once('/'));
    CLOSED.iter().any(is_below)
        || changes && CLOSED_FORMS.iter().any(is_below)
        || path.strip_prefix(SIGN_IN).is_some_and(|rest| rest.starts_with('/'))
        || path.contains(PICTURES_OF_OTHERS)
        || of_inbox.is_some_and(|(_, act)| CLOSED_OF_INBOX.contains(&act))
}

/// A page for people, and JSON for programs.
fn refuse(path: &str, status: StatusCode, sentence: &'static str) -> Response<Body> {
    let is_program = ["/api", "/mcp"].iter().any(|start| path.starts_with(start));
    let mut response = if is_program {
        let mut response = Response::new(Body::from(json!({ "error": sentence }).to_string()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    } else {
        PageError::Domain(Error::Forbidden(sentence.into())).into_response()
    };
    *response.status_mut() = status;
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        let wait = HeaderValue::from_static(RETRY_SECONDS);
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::is_closed;

    #[test]
    fn what_leads_outside_is_closed_and_the_rest_is_open() {
        for (path, changes, closed) in [
            ("/settings/outgoing", false, true),
            ("/settings/webhooks/wh_1", false, true),
            ("/settings/inboxes/connect/google", true, true),
            ("/settings/inboxes/mbx_1/records", true, true),
            ("/settings/inboxes/mbx_1", true, false),
            ("/settings/people", true, true),
            ("/settings/people", false, false),
            ("/settings/data/delete", true, true),
            ("/sign-in", true, true),
            ("/sign-in/abc", false, true),
            ("/sign-in-link", true, true),
            ("/conversations/c/messages/m/html/pictures/remote/0", false, true),
            ("/conversations/c/reply", true, false),
            ("/settings/tags", false, false),
            ("/api/v1/conversations", false, false),
        ] {
            assert_eq!(is_closed(path, changes), closed, "{path}");
        }
    }
}
