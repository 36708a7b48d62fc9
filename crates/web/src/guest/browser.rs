//! The browser of a customer: a cookie that a mailed code is bound to, and the token of its forms.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::Response;
use axum::http::request::Parts;
use base::limits::GUEST_SESSION_MS;
use model::guests::guest_tokens::GuestTokenHash;

use crate::Web;
use crate::visitor::{CsrfToken, cookie};

const COOKIE_CHARS: usize = 48;

/// A customer's browser, known by a random cookie.
pub struct GuestBrowser {
    pub id: GuestTokenHash,
    /// What a form of this browser carries.
    pub csrf: CsrfToken,
    /// The cookie to set, if the browser has none.
    fresh: Option<String>,
}

impl FromRequestParts<Arc<Web>> for GuestBrowser {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Infallible> {
        let shaped = |token: &String| {
            token.len() == COOKIE_CHARS && token.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        let known = cookie(&parts.headers, web.guest_cookie()).filter(shaped);
        let fresh = known.is_none().then(|| web.app.ids.secret(COOKIE_CHARS));
        let token = known.or(fresh.clone()).unwrap_or_default();
        Ok(GuestBrowser { fresh, ..GuestBrowser::of(web, &token) })
    }
}

impl GuestBrowser {
    /// The browser that has this cookie.
    pub fn of(web: &Web, token: &str) -> GuestBrowser {
        let csrf = CsrfToken::of(token, &web.app.ids);
        GuestBrowser { id: GuestTokenHash::of(token), csrf, fresh: None }
    }

    /// Gives the browser its cookie with a page, if it has none yet.
    pub fn keep(&self, web: &Web, mut response: Response<Body>) -> Response<Body> {
        if let Some(token) = &self.fresh {
            web.set_guest(&mut response, token);
        }
        response
    }
}

impl Web {
    /// A new cookie for a browser, and its hash.
    pub fn new_guest(&self) -> (String, GuestTokenHash) {
        let token = self.app.ids.secret(COOKIE_CHARS);
        let hash = GuestTokenHash::of(&token);
        (token, hash)
    }

    pub fn set_guest(&self, response: &mut Response<Body>, token: &str) {
        self.set_cookie(response, self.guest_cookie(), token, GUEST_SESSION_MS / 1_000);
    }
}
