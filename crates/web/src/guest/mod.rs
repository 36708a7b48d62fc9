//! What all pages for customers share: the link is the permission, and it is a secret.
//!
//! Opening a page changes nothing, because programs that scan mail open links too: every effect is a
//! form. A link that is unknown, taken back or not for this reader has one answer.
//!
//! Customers read the texts of this folder.

pub mod browser;
pub mod form;
pub mod rating;
pub mod refusals;

use actions::sign_in::sessions;
use axum::body::Body;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderValue, Response};
use base::error::Error;
use base::limits::UNKNOWN_LINKS_PER_NETWORK;

use crate::Web;
use crate::layout::responses::PageError;
use crate::visitor::Visitor;

pub use browser::GuestBrowser;
pub use form::GuestForm;

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// The address is a secret: it is not sent to other sites, and search engines do not index it.
pub async fn keep_secret(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(ROBOTS, HeaderValue::from_static("noindex, nofollow, noarchive"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Web {
    /// Unknown links are counted for each client network; one at the limit has to wait.
    pub async fn or_miss<T>(
        &self,
        visitor: &Visitor,
        outcome: base::error::Result<T>,
    ) -> Result<T, PageError> {
        let error = match outcome {
            Err(error @ Error::NotFound("page")) => error,
            outcome => return Ok(outcome?),
        };
        let (what, now) = (format!("link {}", visitor.place), self.app.clock.now());
        let few = self
            .app
            .store
            .write(move |tx| {
                sessions::count_sign_in_attempt(tx, &what, UNKNOWN_LINKS_PER_NETWORK, now)
            })
            .await?;
        Err(if few { PageError::Domain(error) } else { PageError::TooManyAttempts })
    }
}
