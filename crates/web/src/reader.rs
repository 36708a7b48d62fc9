//! The language of a page: what its reader chose, else what the browser asks for.
//!
//! A cookie remembers the choice, so that it counts before it is known whose page it is.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, header};
use axum::middleware::Next;
use translation::{Language, Reader, ReaderChoice};

use crate::Web;
use crate::visitor::cookie;

const LANGUAGE: &str = "mailroom_language";
const REMEMBERED_SECONDS: i64 = 365 * 24 * 60 * 60;

/// Runs a request in the language of its reader, and remembers what they chose.
pub async fn speak(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let asked = of_browser(request.headers());
    let before = cookie(request.headers(), LANGUAGE).and_then(|code| Language::parse(&code));
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

fn of_browser(headers: &HeaderMap) -> Language {
    let field = headers.get(header::ACCEPT_LANGUAGE).and_then(|field| field.to_str().ok());
    field.and_then(Language::from_accept_language).unwrap_or_default()
}

/// Goes on in the language that the person chose.
pub fn know(reader: &Reader, me: &SignedIn) {
    reader.know(choice(&me.language));
}

/// The choice that a code stands for; nothing stands for the browser's language.
pub fn choice(code: &str) -> ReaderChoice {
    Language::parse(code).map_or(ReaderChoice::Browser, ReaderChoice::Language)
}
