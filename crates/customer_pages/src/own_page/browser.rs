//! The browser of a customer on the page of one workspace: what is proven there opens nothing elsewhere.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use web::Web;
use web::guest::GuestBrowser;

/// A browser by the cookie that it has for the workspace of the address.
pub(super) struct WorkspaceBrowser(pub GuestBrowser);

impl WorkspaceBrowser {
    pub fn of(parts: &Parts, web: &Web) -> WorkspaceBrowser {
        let slug = slug_in(parts.uri.path());
        WorkspaceBrowser(GuestBrowser::of_workspace(web, &parts.headers, slug))
    }
}

impl FromRequestParts<Arc<Web>> for WorkspaceBrowser {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Infallible> {
        Ok(WorkspaceBrowser::of(parts, web))
    }
}

/// The slug in the address of a page, `/me/acme/c/…`; empty where there can be none, because it becomes part of the
/// name of a cookie.
fn slug_in(path: &str) -> &str {
    let slug = path.strip_prefix("/me/").and_then(|rest| rest.split('/').next());
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    slug.filter(|slug| slug.bytes().all(plain)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_slug_names_a_cookie() {
        assert_eq!(slug_in("/me/acme"), "acme");
        assert_eq!(slug_in("/me/acme-2/c/cnv_1"), "acme-2");
        for path in ["/me", "/me/", "/me/%00", "/me/a;b", "/me/a=b/c/d"] {
            assert_eq!(slug_in(path), "", "{path}");
        }
    }
}
