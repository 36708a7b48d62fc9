//! Fetches MTA-STS policies.

use std::time::Duration;

use base::concurrency::future::BoxFuture;
use rustls::RootCertStore;

use super::PolicySource;
use crate::net::https_fetch::{FetchedPage, Pages};
use crate::net::ssrf_guard::SsrfGuard;

/// How long a policy may take to come, and its bytes (section 3.3).
const PATIENCE: Duration = Duration::from_secs(10);
const POLICY_BYTES: usize = 64 * 1024;

/// Policies where domains publish them: on the web, from servers that prove their name.
pub struct WebPolicies(Pages);

impl WebPolicies {
    pub fn new(ssrf_guard: SsrfGuard, roots: RootCertStore) -> Result<WebPolicies, String> {
        Pages::new(ssrf_guard, roots, PATIENCE).map(WebPolicies)
    }
}

impl PolicySource for WebPolicies {
    fn fetch<'a>(&'a self, domain: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let url = format!("https://mta-sts.{domain}/.well-known/mta-sts.txt");
            text(self.0.get(&url, POLICY_BYTES).await?)
        })
    }
}

/// Only a plain text that the server has is a policy; a redirect leads nowhere (section 3.3).
fn text(page: FetchedPage) -> Result<String, String> {
    if page.status != 200 {
        return Err(format!("the answer was {}", page.status));
    }
    if page.kind != "text/plain" {
        return Err("it is not plain text".into());
    }
    String::from_utf8(page.body).map_err(|_| "it is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_text_that_was_found_is_taken() {
        for (status, kind, body, taken) in [
            (200, "text/plain", &b"version: STSv1"[..], true),
            (201, "text/plain", b"version: STSv1", false),
            (301, "text/plain", b"version: STSv1", false),
            (404, "text/plain", b"version: STSv1", false),
            (200, "text/html", b"version: STSv1", false),
            (200, "", b"version: STSv1", false),
            (200, "text/plain", b"\xff", false),
        ] {
            let page =
                FetchedPage { status, kind: kind.into(), location: None, body: body.to_vec() };
            assert_eq!(text(page).is_ok(), taken, "{status} {kind} {body:?}");
        }
    }
}
