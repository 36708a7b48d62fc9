//! The language of a page: what its reader chose, else what the browser asks for. Pages for customers speak more
//! languages than the app does.
//!
//! A cookie remembers the choice, so that it counts before it is known whose page it is.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, header};
use axum::middleware::Next;
use translation::{Language, Reader, ReaderChoice};

use crate::Web;
use crate::guest::refusals::is_for_customers;
use crate::visitor::cookie;

const LANGUAGE: &str = "mailroom_language";
const REMEMBERED_SECONDS: i64 = 365 * 24 * 60 * 60;

/// Runs a request in the language of its reader, and remembers what they chose.
pub async fn speak(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let asked = of_browser(&request);
    let before = cookie(request.headers(), LANGUAGE).and_then(|code| language_of_app(&code));
    let reader = Reader::with_earlier(asked, before.unwrap_or(asked));
    let mut response = reader.clone().scope(next.run(request)).await;
    let remembers = match reader.choice() {
        Some(ReaderChoice::Language(language)) if before != Some(language) => {
            Some((language.code(), REMEMBERED_SECONDS))
        }
        Some(ReaderChoice::Browser) if before.is_some() => Some(("", 0)),
        _ => None,
    };
    if let Some((code, seconds)) = remembers {
        web.set_cookie(&mut response, LANGUAGE, code, seconds);
    }
    response
}

fn of_browser(request: &Request) -> Language {
    let field = request.headers().get(header::ACCEPT_LANGUAGE);
    let field = field.and_then(|field| field.to_str().ok()).unwrap_or_default();
    let asked = if is_for_customers(request.uri().path()) {
        Language::of_customer_from_accept_language(field)
    } else {
        Language::from_accept_language(field)
    };
    asked.unwrap_or_default()
}

fn language_of_app(code: &str) -> Option<Language> {
    Language::parse(code).filter(|language| language.is_of_app())
}

/// Goes on in the language that the person chose.
pub fn know(reader: &Reader, me: &SignedIn) {
    reader.know(choice(&me.language));
}

/// The choice that a code stands for; nothing stands for the browser's language.
pub fn choice(code: &str) -> ReaderChoice {
    language_of_app(code).map_or(ReaderChoice::Browser, ReaderChoice::Language)
}
