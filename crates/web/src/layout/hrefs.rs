//! Addresses of pages that several pages lead to.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays as it is in the address of a page.
const KEPT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'@').remove(b'.').remove(b'-').remove(b'_').remove(b'+');

/// The address of somebody's page.
pub fn contact_href(email: &str) -> String {
    format!("/contacts/{}", utf8_percent_encode(email, KEPT))
}
