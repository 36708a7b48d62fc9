//! The browser of a customer: the cookies that mailed codes are bound to, and the token of its forms.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use base::limits::GUEST_COOKIE_MS;
use model::guests::guest_tokens::GuestTokenHash;

use crate::Web;
use crate::visitor::{CsrfToken, cookie};

const COOKIE_CHARS: usize = 48;
/// Changes whenever somebody signs out.
const LEFT_COOKIE: &str = "mailroom_left";
const LEFT_CHARS: usize = 8;
const LEFT_SECONDS: i64 = 60;

/// A customer's browser, known by a random cookie.
pub struct GuestBrowser {
    pub id: GuestTokenHash,
    /// What a form of this browser carries.
    pub csrf: CsrfToken,
    /// The name of the cookie.
    cookie: String,
    /// The cookie to set, if the browser has none.
    fresh: Option<String>,
}

impl FromRequestParts<Arc<Web>> for GuestBrowser {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Infallible> {
        Ok(GuestBrowser::by_cookie(web, &parts.headers, web.guest_cookie().to_owned()))
    }
}

impl GuestBrowser {
    /// The browser on the pages of one workspace, where it has a cookie of its own: what begins or ends there changes
    /// nothing in another workspace. The pages are named by letters that a cookie's name may have.
    pub fn of_workspace(web: &Web, headers: &HeaderMap, pages: &str) -> GuestBrowser {
        GuestBrowser::by_cookie(web, headers, format!("{}-{pages}", web.guest_cookie()))
    }

    /// The same browser under a new cookie, which it gets with the next page.
    pub fn with_new_cookie(&self, web: &Web, token: String) -> GuestBrowser {
        let browser = GuestBrowser::with_token(web, self.cookie.clone(), &token);
        GuestBrowser { fresh: Some(token), ..browser }
    }

    fn by_cookie(web: &Web, headers: &HeaderMap, name: String) -> GuestBrowser {
        let shaped = |token: &String| {
            token.len() == COOKIE_CHARS && token.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        let known = cookie(headers, &name).filter(shaped);
        let fresh = known.is_none().then(|| web.app.ids.secret(COOKIE_CHARS));
        let token = known.or(fresh.clone()).unwrap_or_default();
        GuestBrowser { fresh, ..GuestBrowser::with_token(web, name, &token) }
    }

    fn with_token(web: &Web, cookie: String, token: &str) -> GuestBrowser {
        let csrf = CsrfToken::of(token, &web.app.ids);
        GuestBrowser { id: GuestTokenHash::of(token), csrf, cookie, fresh: None }
    }

    /// Gives the browser its cookie with a page, if it has none yet.
    pub fn keep(&self, web: &Web, mut response: Response<Body>) -> Response<Body> {
        if let Some(token) = &self.fresh {
            web.set_cookie(&mut response, &self.cookie, token, GUEST_COOKIE_MS / 1_000);
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

    /// Has a browser that keeps pages for its back button drop them: it does when such a cookie changes.
    pub fn drop_kept_pages(&self, response: &mut Response<Body>) {
        self.set_cookie(response, LEFT_COOKIE, &self.app.ids.secret(LEFT_CHARS), LEFT_SECONDS);
    }
}
